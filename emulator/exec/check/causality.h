/* exec_causality: what orders the blocks of a grid that talk to each other, and which of their
 * accesses nothing orders. For kernels with fences beyond the block, volatile or ordered accesses,
 * or a grid that is launched to cooperate; the others are check/grid_shadow.h's. Private to
 * emulator/exec. Such grids run in one worker: nothing is locked.
 *
 * After the memory consistency model of PTX, by vector clocks, one per block:
 *  - a release pattern is a fence of scope gpu or sys, or a release, and behind it a strong store
 *    or an atomic: what the block did before the fence is passed on with the value;
 *  - whoever reads that value, by whatever load or atomic, takes it over. A chain of atomics passes
 *    on what each of them found.
 * A plain store of one block and a plain access of another behind it are a race unless so ordered.
 * So is a read-modify-write by two volatile accesses against another block's.
 *
 * What is asked for less than the model does, so that nobody is accused: a block counts as one, its
 * fence as each thread's; a read needs no fence, neither behind a flag nor before what another
 * block overwrites (CUB's scans hand on what depends on their reads); strong accesses and plain
 * ones of the same bytes are not held against each other, nor anything in what the host or a look
 * before the act (grid_shadow.h) has to do with. Scope .cta orders nothing here.
 *
 * Most memory is only ever touched by whole rows of one block. So a line of memory has one cell for
 * all that a row has touched of it, until somebody touches another part; and who does again what he
 * did there, without having learned anything and with nobody in between, changes nothing:
 * exec_causality_is_old sees that without a look at the cell.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model).
 */
#ifndef OVERLAP_EXEC_CHECK_CAUSALITY_H
#define OVERLAP_EXEC_CHECK_CAUSALITY_H

#include "emulator/exec/check/check.h"

enum { EXEC_CAUSAL_LINE_BITS = 7, EXEC_CAUSAL_LINE = 1 << EXEC_CAUSAL_LINE_BITS /* bytes */ };

/* What an instruction does to memory, bits. A block's moment, which ends whenever what it knows
 * changes, stands above them. */
enum exec_deed {
    EXEC_DEED_LOAD = 1,
    EXEC_DEED_STORE = 2,
    EXEC_DEED_STRONG_LOAD = 4,
    EXEC_DEED_STRONG_STORE = 8,
    EXEC_DEED_MODIFY = 16,
    EXEC_DEED_NEW = 32, /* it always has to be looked at */
    EXEC_DEED_BITS = 6,
};

struct exec_causal_line;

/* What is known of a region. */
struct exec_causal {
    uint64_t low;                   /* where its first line begins */
    uint64_t *old;                  /* of each line: who touched all of it last: moment, deeds */
    struct exec_causal_line *lines; /* so many */
    uint64_t count;
    uint64_t first, end; /* those that have been touched */
    const struct memory_region *region;
    struct exec_causal *next;
};

/* For a grid of so many blocks; NULL: no memory, or too many to be told apart. */
struct exec_causality *exec_causality_create(uint64_t blocks);
void exec_causality_destroy(struct exec_causality *causality); /* NULL is fine */
/* Others have a say from now on: nothing is found any more. */
void exec_causality_give_up(struct exec_causality *causality); /* NULL is fine */
/* Whether the blocks have told each other things in memory of the device alone. NULL: no. */
bool exec_causality_judges(const struct exec_causality *causality);

/* `cache` is `inst`'s from now on, and has its region: whether that is judged, and what it does. */
void exec_causality_meet_region(const struct exec_warp *warp, const struct exec_inst *inst,
                                struct exec_region_cache *cache);

/* Lane `lane`, or every lane of a row from `address` on, is about to access `bytes` bytes, by an
 * instruction that its `looks` (enum exec_look) describe. */
void exec_causality_touch(struct exec_warp *warp, const struct exec_inst *inst,
                          const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                          uint32_t bytes);
void exec_causality_row(struct exec_warp *warp, const struct exec_inst *inst,
                        const struct exec_region_cache *cache, uint64_t address, uint32_t bytes);
/* The same for what is in no region: the barrier of a grid. */
void exec_causality_meet_grid(const struct exec_warp *warp, const struct exec_inst *inst,
                              uint64_t address, enum exec_access access);

/* The barrier of a cluster's blocks is complete; `releases`: of each, whether it passes on what it
 * has done, or only what came before its last fence. */
void exec_causality_meet(struct exec_block *const *blocks, uint32_t count, const bool *releases);
/* The same for what they tell each other in shared memory: all that is told there to `home` counts
 * as one place. */
void exec_causality_meet_cluster(const struct exec_warp *warp, const struct exec_block *home,
                                 enum exec_access access, bool releases);

/* Whether an access through `cache`, which is judged, is worth looking at. */
static inline bool exec_causality_wanted(const struct exec_region_cache *cache)
{
    return cache->deed != EXEC_DEED_LOAD || cache->causal->end != 0;
}

/* Whether the row of `bytes` bytes a lane is of whole lines in which the block has done the same
 * before, and nothing else has happened since that matters. */
static inline __attribute__((always_inline)) bool
exec_causality_is_old(const struct exec_block *block, const struct exec_region_cache *cache,
                      uint64_t address, uint32_t bytes)
{
    if (cache->causal == NULL || bytes < 4) return false;
    const uint64_t offset = address - cache->causal->low;
    const uint64_t *old = cache->causal->old + (offset >> EXEC_CAUSAL_LINE_BITS);
    const uint64_t deed = cache->deed, others = ((1 << EXEC_DEED_BITS) - 1) & ~deed;
    uint64_t wrong = offset % EXEC_CAUSAL_LINE;
    for (uint32_t k = 0; k < bytes / 4; k++) wrong |= (old[k] & ~others) ^ (block->moment | deed);
    return wrong == 0;
}

#endif
