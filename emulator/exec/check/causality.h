/* exec_causality: race check between the blocks of a grid that synchronise with each other. It
 * covers kernels with fences beyond block scope, volatile or ordered accesses, and cooperative
 * launches; all other kernels are checked by check/grid_shadow.h. Private to emulator/exec. Such
 * grids run on one worker, so nothing is locked.
 *
 * It implements the memory consistency model of PTX with vector clocks, one per block:
 *  - a release pattern is a fence of scope gpu or sys, or a release, followed by a strong store or
 *    an atomic: what the block did before the fence is passed on with the value;
 *  - a block that reads that value, by any load or atomic, knows what was passed on. A chain of
 *    atomics passes on what each of them knows;
 *  - its plain loads may rely on that once anything in the block has acquired it: the read itself,
 *    a fence of scope gpu or sys behind it, or a barrier. Other loads may find in the L1 cache what
 *    was there before. Loads with .cg or .cv do not look there.
 * A plain store of one block and a later plain access of another are a race unless they are ordered
 * this way. So is a read-modify-write by two volatile accesses against another block's. And so is a
 * store, plain or volatile, against a load or an atomic of another block that has been told since:
 * by a strong load or an atomic, with a value that decides something, it has read what the first
 * block stored behind the store, or what was told in turn by those who had read that. Without that,
 * strong accesses may come at any time; those whose values decide something (flags) always may.
 *
 * The check is weaker than the model, so that it reports no correct program: a block counts as one
 * thread, and its fence or barrier as a fence of each of its threads; a store behind a flag that
 * was read needs no fence, nor does a load before another block overwrites the data (CUB's scans
 * pass on what depends on their reads); a strong load needs none at all; other strong and plain
 * accesses to the same bytes are no race, nor are accesses to memory that the host shares, nor a
 * look before the act (grid_shadow.h), nor a store of what is there already. Atomics of scope .cta
 * order nothing here. One case of strong and plain accesses is a race: a plain load, behind a
 * barrier of its block, of what another block changes by an atomic of one warp after another of its
 * warps has told that it is done, with no barrier between the two.
 *
 * Most memory is only accessed by whole rows of one block. So a line of memory has a single cell
 * for the part that a row touched, until another part is touched. A block that repeats an access
 * there, with no other access in between and without having acquired anything new, changes nothing:
 * exec_causality_is_old recognises this without reading the cell.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model).
 */
#ifndef OVERLAP_EXEC_CHECK_CAUSALITY_H
#define OVERLAP_EXEC_CHECK_CAUSALITY_H

#include "emulator/exec/check/check.h"

enum { EXEC_CAUSAL_LINE_BITS = 7, EXEC_CAUSAL_LINE = 1 << EXEC_CAUSAL_LINE_BITS /* bytes */ };

/* What an instruction does to memory, as bits. In exec_causal.old the block's moment is in the bits
 * above. A moment is a number unique to one block; it ends whenever the block's clock changes. */
enum exec_deed {
    EXEC_DEED_LOAD = 1,
    EXEC_DEED_STORE = 2,
    EXEC_DEED_STRONG_LOAD = 4,
    EXEC_DEED_STRONG_STORE = 8,
    EXEC_DEED_MODIFY = 16,
    EXEC_DEED_NEW = 32, /* the slow path must always see it */
    EXEC_DEED_BITS = 6,
};

struct exec_causal_line;

/* The shadow state of a region. */
struct exec_causal {
    uint64_t low;  /* address of the first line */
    uint64_t *old; /* per line: moment and deeds of the block that touched all of it last */
    struct exec_causal_line *lines; /* `count` of them */
    uint64_t count;
    uint64_t first, end; /* range of lines touched so far */
    const struct memory_region *region;
    struct exec_causal *next;
};

/* For a grid of `blocks` blocks. NULL: no memory. */
struct exec_causality *exec_causality_create(uint64_t blocks);
void exec_causality_destroy(struct exec_causality *causality); /* NULL is fine */
/* A block begins. The first one that is beyond those that can be told apart turns the check off:
 * what it passes on is not known. Blocks begin in the order of their indexes, so of a large grid
 * those are checked that come first. NULL is fine. */
void exec_causality_begin_block(struct exec_causality *causality, uint64_t block);
/* Turns the check off for good, because something outside of the grid may order its blocks. */
void exec_causality_give_up(struct exec_causality *causality); /* NULL is fine */
/* Returns true while the check is on: blocks have synchronised through device memory only. NULL:
 * false. */
bool exec_causality_judges(const struct exec_causality *causality);

/* To be called when `inst`'s `cache` has a new region. Sets cache->causal, if the region is
 * race-checked, and cache->deed. */
void exec_causality_meet_region(const struct exec_warp *warp, const struct exec_inst *inst,
                                struct exec_region_cache *cache);

/* Race-checks an access of `bytes` bytes by lane `lane`, or by each lane of a row from `address`
 * on. */
void exec_causality_touch(struct exec_warp *warp, const struct exec_inst *inst,
                          const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                          uint32_t bytes);
void exec_causality_row(struct exec_warp *warp, const struct exec_inst *inst,
                        const struct exec_region_cache *cache, uint64_t address, uint32_t bytes);
/* The block arrives at the grid's barrier (an atomic), or looks whether the others have (a load).
 * Cooperative groups' grid.sync() does nothing else in the grid's workspace. */
void exec_causality_meet_grid(const struct exec_warp *warp, const struct exec_inst *inst,
                              enum exec_access access);

/* A barrier of the block is complete. */
void exec_causality_meet_block(const struct exec_block *block);
/* The barrier of a cluster is complete. releases[k]: block k passes on everything it has done; else
 * only what came before its last fence. */
void exec_causality_meet(struct exec_block *const *blocks, uint32_t count, const bool *releases);
/* The same for synchronisation through shared memory of the cluster's block `home`; all flags there
 * count as one place. */
void exec_causality_meet_cluster(const struct exec_warp *warp, const struct exec_block *home,
                                 enum exec_access access, bool releases);

/* Returns true when an access through `cache`, which is race-checked, can find or change
 * anything. */
static inline bool exec_causality_wanted(const struct exec_region_cache *cache)
{
    return cache->deed != EXEC_DEED_LOAD || cache->causal->end != 0;
}

/* Returns true when the row, `bytes` bytes per lane, consists of whole lines in which the block has
 * done the same before and nothing relevant has happened since. */
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
