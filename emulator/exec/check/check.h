/* exec_check: what is noticed while a kernel runs, and tells nobody but the launch's exec_racecheck
 * and exec_footprint: races of threads and of blocks, touches of what an asynchronous copy may
 * still fill. What machine/ and ops/ tell it, and the instructions that lower/ puts before others.
 * It stops nothing, calls nothing of the other rooms, and changes nothing that a kernel computes.
 *
 * Rows of a full warp are judged in line: block_shadow.h, grid_shadow.h; shared memory's cells:
 * shadow.h. What a launch's owner reads afterwards: racecheck.h, footprint.h.
 */
#ifndef OVERLAP_EXEC_CHECK_CHECK_H
#define OVERLAP_EXEC_CHECK_CHECK_H

#include "emulator/exec/block.h"
#include "emulator/exec/check/racecheck.h"

/* ---- shared memory: check/shadow.c ----------------------------------------------------------- */

/* For `bytes` of memory and a launch that wants to know; without cells yet. NULL: no memory. */
struct exec_shadow *exec_shadow_create(uint32_t bytes);
void exec_shadow_destroy(struct exec_shadow *shadow);

/* All that was done before comes before all that will be done: by the block, by one warp. */
void exec_shadow_order(const struct exec_block *block);
/* The same by the block's barrier, but for what these lanes of each warp, which have exited and did
 * not come to it, have stored to shared memory. */
void exec_shadow_order_without(const struct exec_block *block, const uint32_t *absent);
void exec_shadow_order_warp(const struct exec_warp *warp);

/* Lane `lane` touches `bytes` bytes at `offset` of shared memory, at `inst`'s place in the source.
 */
void exec_shadow_touch(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset, uint64_t bytes, enum exec_access access);

/* ---- global memory, by threads of a block: check/block_shadow.c ------------------------------ */

/* Whether what is touched there is judged. */
bool exec_block_shadow_judges(const struct exec_worker *worker, const struct memory_region *region);
void exec_block_shadow_destroy(struct exec_block_shadow *near); /* NULL is fine */

/* Lanes `mask` touch `count` elements of `element` bytes at their `address`, all through the
 * instruction's cache; a store by a row of ops/memory.def has its values in the slots. */
void exec_block_shadow_lanes(struct exec_warp *warp, const struct exec_inst *inst,
                             const struct exec_region_cache *cache, const uint64_t *address,
                             uint32_t mask, uint32_t element, uint32_t count);

/* Where element `k`, of `element` bytes, of what a lane is about to store stands in its slots: of a
 * row of ops/memory.def, or of row "watch" before it. */
static inline const unsigned char *exec_stored(const struct exec_warp *warp,
                                               const struct exec_inst *inst, unsigned lane,
                                               uint32_t k, uint32_t element)
{
    const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};
    return (const unsigned char *)exec_slot(warp, slots[k & 3]) + lane * (element == 8 ? 8u : 4u);
}

/* Which lane went last to each of some places; two that are 64 units apart are taken for one. */
struct exec_places {
    uint8_t latest[64]; /* 1 + the lane; 0: none yet */
};
/* Lane `lane` goes to unit `at`: answers 1 + the lane before it there; 0: there was none. */
static inline unsigned exec_places_visit(struct exec_places *places, uint64_t at, unsigned lane)
{
    uint8_t *place = &places->latest[at % sizeof places->latest];
    const unsigned before = *place;
    *place = (uint8_t)(lane + 1);
    return before;
}

/* Lanes of a row of ops/memory.def are about to store, at their address + `delta` on the host, what
 * each has made of what was there (EXEC_LOOK_UPDATES): of two that differ one is lost. Of
 * EXEC_LOOK_COUNTS those that do not are found by their cells. Told of lanes one by one,
 * exec_block_shadow_lanes does not see it. */
void exec_block_shadow_lost(const struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, const uint64_t *address,
                            uint64_t delta, uint32_t mask, uint32_t element, uint32_t count);

/* Lane `lane` loads or changes atomically `bytes` bytes at `address`. */
void exec_block_shadow_lane(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                            uint32_t bytes);

/* ---- global memory, by blocks of a grid: check/grid_shadow.c --------------------------------- */

/* Whether what is touched through `cache` is judged. */
bool exec_grid_shadow_judges(const struct exec_worker *worker, const struct memory_region *region);

/* Lane `lane` touches `bytes` bytes at `address` through `cache`. */
void exec_grid_shadow_touch(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                            uint32_t bytes);
/* The stores have been done now. Those that met another block's touch and changed something are
 * told, and all are marked: not before, or another worker would find the mark, and not yet the
 * value that it may be about to store as well. */
void exec_grid_shadow_settle(struct exec_worker *worker);
static inline bool exec_grid_shadow_unsettled(const struct exec_worker *worker)
{
    return (worker->doubt_count | worker->own_count) != 0;
}
/* A warp has waited at `look` for a block that started after its own, while `waiting` blocks did
 * nothing else. */
void exec_grid_shadow_waited(const struct exec_warp *warp, const struct exec_inst *look,
                             uint64_t waiting);
/* To be marked then. */
void exec_grid_shadow_later(struct exec_worker *worker, struct exec_owners *owners, uint64_t offset,
                            uint32_t bytes, uint8_t me);

/* ---- asynchronous copies: check/async.c ------------------------------------------------------ */

void exec_async_destroy(struct exec_async *async); /* NULL is fine */
/* Another block begins. NULL is fine. */
void exec_async_reset(struct exec_async *async);

/* Lane `lane` asks for a copy to `offset` of shared memory; `object`: the offset of the barrier
 * object that it tells, or EXEC_ASYNC_OWN: the thread's own groups. In a block that is watched. */
#define EXEC_ASYNC_OWN UINT64_MAX
void exec_async_begin(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, uint64_t object);
/* The lane's bulk copy to global memory, of its open group, reads these bytes. */
void exec_async_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes);
/* All of the lane's own copies so far are to be waited for at a barrier object. */
void exec_async_hand_over(const struct exec_warp *warp, unsigned lane);
/* A phase of the object has been seen to be complete. */
void exec_async_seen(const struct exec_warp *warp, uint64_t object);

/* Whether any copy is under way. */
bool exec_async_any(const struct exec_block *block);

/* ---- instructions that lowering puts before others ------------------------------------------- */

/* In programs that are to be watched. They are none of the program's: nothing counts them. */

/* Row "watch" (ops/racecheck.c): an access that may be of shared memory. Slots a: address, d, b,
 * c, e: the values that a store stores, as the access has them; imm: offset; cache: EXEC_WATCH
 * bits; guard: as exec_guarded. */
/* What the row leaves: the lanes of `mask`, one by one. */
void exec_shadow_racecheck(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask);

/* What lowering puts in the place of cp.async.commit_group; and of cp.async.wait_group, which
 * leaves imm groups, and wait_all, imm EXEC_ASYNC_ALL. None of the program's: nothing counts them.
 */
#define EXEC_ASYNC_ALL UINT64_MAX
exec_handler exec_async_commit, exec_async_wait;
/* The same before cp.async.bulk.commit_group and cp.async.bulk.wait_group. */
exec_handler exec_async_bulk_commit, exec_async_bulk_wait;

/* The lanes whose guard holds. */
static inline uint32_t exec_racecheck_lanes(const struct exec_warp *warp,
                                            const struct exec_inst *inst)
{
    if (inst->guard == EXEC_NO_GUARD) return warp->mask;
    const uint32_t predicate = *(const uint32_t *)exec_slot(warp, inst->guard >> 1);
    return warp->mask & (inst->guard & 1 ? ~predicate : predicate);
}

enum {
    EXEC_WATCH_COUNT_SHIFT = 8,     /* bits 0 to 7: bytes of an element; 8 to 11: elements */
    EXEC_WATCH_ACCESS_SHIFT = 12,   /* enum exec_access, 2 bits */
    EXEC_WATCH_WIDE = 1 << 14,      /* the address has 64 bits */
    EXEC_WATCH_GENERIC = 1 << 15,   /* and is generic */
    EXEC_WATCH_VALUES = 1 << 16,    /* a store's values are in the slots */
    EXEC_WATCH_COPY = 1 << 17,      /* a store by an asynchronous copy */
    EXEC_WATCH_COUNTS = 1 << 18,    /* a store as EXEC_LOOK_COUNTS has it */
    EXEC_WATCH_EXCHANGES = 1 << 19, /* an atomic that stores whatever was there */
};

/* The instruction of a fence beyond the block, before it: check/causality.c. */
exec_handler exec_causality_fence;

#endif
