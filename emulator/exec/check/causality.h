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
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model).
 */
#ifndef OVERLAP_EXEC_CHECK_CAUSALITY_H
#define OVERLAP_EXEC_CHECK_CAUSALITY_H

#include "emulator/exec/check/check.h"

struct exec_causality;

/* For a grid of so many blocks; NULL: no memory, or too many to be told apart. */
struct exec_causality *exec_causality_create(uint64_t blocks);
void exec_causality_destroy(struct exec_causality *causality); /* NULL is fine */
/* Others have a say from now on: nothing is found any more. */
void exec_causality_give_up(struct exec_causality *causality); /* NULL is fine */

/* Whether accesses of `warp`'s worker to `region` are judged. */
bool exec_causality_judges(const struct exec_worker *worker, const struct memory_region *region);

/* Lane `lane` is about to access `bytes` bytes at `address`, by an instruction that `looks` (enum
 * exec_look) describes. */
void exec_causality_touch(struct exec_warp *warp, const struct exec_inst *inst,
                          const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                          uint32_t bytes);
/* The same for what is in no region: the barrier of a grid. */
void exec_causality_meet(const struct exec_warp *warp, const struct exec_inst *inst,
                         uint64_t address, enum exec_access access);

#endif
