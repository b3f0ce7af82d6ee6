/* exec_check: the race check and the related checks that observe a running kernel: races between
 * threads and between blocks, accesses to memory that an asynchronous copy may still be filling,
 * and so on. This header has what machine/ and ops/ call, and the instructions that lower/ puts
 * before others. Results go only to the launch's exec_racecheck and exec_footprint. The room never
 * stops a kernel, calls no other room, and changes nothing that a kernel computes.
 *
 * Terms: a touch is one thread's access as a check sees it; it is race-checked by comparing it with
 * earlier touches. A row is a full warp's access to adjacent elements. A site is the index of a
 * source position. A program is watched if it was lowered with these instructions.
 *
 * Fast paths for rows are inline in block_shadow.h and grid_shadow.h; the shadow cells are in
 * shadow.h. What the launch's owner reads afterwards is in racecheck.h and footprint.h.
 */
#ifndef OVERLAP_EXEC_CHECK_CHECK_H
#define OVERLAP_EXEC_CHECK_CHECK_H

#include "emulator/exec/block.h"
#include "emulator/exec/check/racecheck.h"

/* ---- shared memory: check/shadow.c ----------------------------------------------------------- */

/* Makes a shadow for `bytes` of memory of a race-checked launch, without cells yet. NULL: no
 * memory. */
struct exec_shadow *exec_shadow_create(uint32_t bytes);
void exec_shadow_destroy(struct exec_shadow *shadow);

/* Orders everything that the block, or one warp, has done before everything that it will do. */
void exec_shadow_order(const struct exec_block *block);
/* The same for a barrier of the block, except for what the lanes `absent` of each warp, which
 * exited without reaching the barrier, have stored to shared memory: that stays unordered. */
void exec_shadow_order_without(const struct exec_block *block, const uint32_t *absent);
/* The same for a phase of a barrier object, except for what a warp has done in shared memory since
 * it last told of anything: nobody can know of that. Tracked outside of clusters only. */
void exec_shadow_order_phase(const struct exec_block *block);
/* A lane of the warp arrives at a barrier object, or meets a fence: what the warp has done so far
 * may be known to others from now on. */
void exec_shadow_pass_on(const struct exec_warp *warp);
void exec_shadow_order_warp(const struct exec_warp *warp);
/* A .sync instruction of these lanes is complete: the same for them, or for the whole warp if no
 * other lane of it is left. */
void exec_shadow_order_lanes(const struct exec_warp *warp, uint32_t lanes);

/* Race-checks an access by lane `lane` to `bytes` bytes at `offset` of shared memory. */
void exec_shadow_touch(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset, uint64_t bytes, enum exec_access access);

/* Checks the copy that lane `lane` begins to those bytes against what other warps have loaded. */
void exec_shadow_overwrite(const struct exec_warp *warp, const struct exec_inst *inst,
                           unsigned lane, uint64_t offset, uint64_t bytes);

/* ---- global memory, by threads of a block: check/block_shadow.c ------------------------------ */

/* Returns true when accesses to the region are race-checked between the threads of a block. */
bool exec_block_shadow_judges(const struct exec_worker *worker, const struct memory_region *region);
void exec_block_shadow_destroy(struct exec_block_shadow *near); /* NULL is fine */

/* Race-checks accesses by the lanes of `mask` to `count` elements of `element` bytes at their
 * `address`, all through the instruction's cache. For a store the values are in the slots of a row
 * of ops/memory.def. */
void exec_block_shadow_lanes(struct exec_warp *warp, const struct exec_inst *inst,
                             const struct exec_region_cache *cache, const uint64_t *address,
                             uint32_t mask, uint32_t element, uint32_t count);

/* Returns where element `k`, of `element` bytes, of the value that a lane is about to store is in
 * its slots. `inst` is a row of ops/memory.def or the row "watch" before it. */
static inline const unsigned char *exec_stored(const struct exec_warp *warp,
                                               const struct exec_inst *inst, unsigned lane,
                                               uint32_t k, uint32_t element)
{
    const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};
    return (const unsigned char *)exec_slot(warp, slots[k & 3]) + lane * (element == 8 ? 8u : 4u);
}

/* Returns true if that store by the lane changes any of its `count` elements in `memory`. */
static inline bool exec_stores_new(const struct exec_warp *warp, const struct exec_inst *inst,
                                   unsigned lane, const unsigned char *memory, uint32_t element,
                                   uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (memcmp(memory + k * (size_t)element, exec_stored(warp, inst, lane, k, element),
                   element) != 0)
            return true;
    return false;
}

/* The lane that last went to each place, in a small table: places that are a multiple of 64 units
 * apart share an entry. */
struct exec_places {
    uint8_t latest[64]; /* 1 + the lane; 0: none yet */
};
/* Enters lane `lane` at unit `at`. Returns 1 + the previous lane there, or 0. */
static inline unsigned exec_places_visit(struct exec_places *places, uint64_t at, unsigned lane)
{
    uint8_t *place = &places->latest[at % sizeof places->latest];
    const unsigned before = *place;
    *place = (uint8_t)(lane + 1);
    return before;
}

/* Returns true if no two lanes of `mask` access the same place: their addresses, multiples of
 * `bytes`, ascend, or descend, or have places of their own. False: two may. */
static inline bool exec_places_apart(const uint64_t *address, uint32_t mask, uint32_t bytes)
{
    const uint32_t behind = mask & (mask - 1);
    bool up = true, down = true;
    unsigned before = (unsigned)__builtin_ctz(mask);
    for (uint32_t rest = behind; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        up &= address[l] > address[before];
        down &= address[l] < address[before];
        before = l;
    }
    struct exec_places places = {{0}};
    for (uint32_t rest = mask; !up && !down && rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if (exec_places_visit(&places, address[l] / bytes, l) != 0) return false;
    }
    return true;
}

/* Reports lost updates among lanes of a row of ops/memory.def that are about to store values
 * computed from what the memory held (EXEC_LOOK_UPDATES): where two lanes store different values to
 * the same address, one update is lost. `address` + `delta` is the host address. Equal values of
 * EXEC_LOOK_COUNTS stores are found by their cells instead. exec_block_shadow_lanes calls this
 * function itself unless it is given a single lane. */
void exec_block_shadow_lost(const struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, const uint64_t *address,
                            uint64_t delta, uint32_t mask, uint32_t element, uint32_t count);

/* Race-checks a load or an atomic by lane `lane` of `bytes` bytes at `address`. */
void exec_block_shadow_lane(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                            uint32_t bytes);

/* ---- global memory, by blocks of a grid: check/grid_shadow.c --------------------------------- */

/* Returns true when accesses to the region are race-checked between blocks. */
bool exec_grid_shadow_judges(const struct exec_worker *worker, const struct memory_region *region);

/* Race-checks an access by lane `lane` to `bytes` bytes at `address` through `cache`. */
void exec_grid_shadow_touch(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                            uint32_t bytes);
/* To be called when the pending stores have been executed. Reports those that conflicted with
 * another block and changed memory, and records the owners of all. Recording them earlier would let
 * another worker see the owner but not yet the value, which it may be about to store as well. */
void exec_grid_shadow_settle(struct exec_worker *worker);
static inline bool exec_grid_shadow_unsettled(const struct exec_worker *worker)
{
    return (worker->doubt_count | worker->own_count) != 0;
}
/* Reports that a warp polled at `look` for a block that had not started, while `waiting` blocks did
 * nothing but poll. */
void exec_grid_shadow_waited(const struct exec_warp *warp, const struct exec_inst *look,
                             uint64_t waiting);
/* Adds a store whose owner exec_grid_shadow_settle records. */
void exec_grid_shadow_later(struct exec_worker *worker, struct exec_owners *owners, uint64_t offset,
                            uint32_t bytes, uint8_t me);

/* ---- asynchronous copies: check/async.c ------------------------------------------------------ */

void exec_async_destroy(struct exec_async *async); /* NULL is fine */
/* Prepares for another block. NULL is fine. */
void exec_async_reset(struct exec_async *async);

/* Records a copy that lane `lane` issues to `offset` of shared memory. `object`: the offset of the
 * barrier object that the copy completes on, or EXEC_ASYNC_OWN if the thread waits for its own
 * groups. Only for race-checked blocks. */
#define EXEC_ASYNC_OWN UINT64_MAX
void exec_async_begin(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, uint64_t object);
/* Records that the lane's bulk copy to global memory, of its open group, reads these bytes. */
void exec_async_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes);
/* The lane lets a barrier object track all of its own copies so far; they count as complete. */
void exec_async_hand_over(const struct exec_warp *warp, unsigned lane);
/* Some thread has seen a phase of the object complete. */
void exec_async_seen(const struct exec_warp *warp, uint64_t object);

/* Returns true while any copy is under way. */
bool exec_async_any(const struct exec_block *block);

/* ---- instructions inserted by lowering ------------------------------------------------------- */

/* Only in watched programs. They are not part of the program, so no instruction count includes
 * them. */

/* Row "watch" (ops/racecheck.c), before an access that may be to shared memory. Slots: a address;
 * d, b, c, e the values of a store, as in the access itself. imm: offset; cache: EXEC_WATCH bits;
 * guard: as in exec_racecheck_lanes. */
/* The slow path of that row: race-checks the lanes of `mask` one by one. */
void exec_shadow_racecheck(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask);
/* The same with EXEC_WATCH_LOOKS: checks nothing, and records that the warp has read what atomics
 * have written there. */
void exec_shadow_look(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask);

/* Replace cp.async.commit_group; and cp.async.wait_group, which leaves `imm` groups pending, or
 * wait_all, with imm EXEC_ASYNC_ALL. */
#define EXEC_ASYNC_ALL UINT64_MAX
exec_handler exec_async_commit, exec_async_wait;
/* The same, inserted before cp.async.bulk.commit_group and cp.async.bulk.wait_group. */
exec_handler exec_async_bulk_commit, exec_async_bulk_wait;

/* Returns the active lanes whose guard holds. */
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
    EXEC_WATCH_COPY = 1 << 17,      /* the access is a store by an asynchronous copy */
    EXEC_WATCH_COUNTS = 1 << 18,    /* a store with EXEC_LOOK_COUNTS */
    EXEC_WATCH_EXCHANGES = 1 << 19, /* an atomic that stores regardless of the old value */
    EXEC_WATCH_SWAPS = 1 << 20,     /* atom.cas: what it compares with and stores is in d and b */
    EXEC_WATCH_LOOKS = 1 << 21,     /* a load that looks before an atomic on the same address */
};

/* Inserted before a fence beyond block scope: check/causality.c. */
exec_handler exec_causality_fence;

#endif
