/* exec_grid_shadow: race check between the blocks of a grid on global memory. Keeps which block
 * touched each byte, and reports touches of the same byte by two blocks that nothing orders.
 * Private to emulator/exec.
 *
 * Nothing orders plain accesses of two blocks of one kernel, so two blocks that touch the same
 * byte, at least one of them writing, race. Never reported are:
 *  - kernels that converse (exec_function_info), have a fence beyond block scope, or are launched
 *    cooperatively: their blocks may order their accesses. check/causality.h checks them;
 *  - two atomics, and an atomic against a load; the heap of malloc in kernels;
 *  - a store of the value that memory already holds, if another block has touched the byte before.
 *    (If none has, the store is recorded like any other);
 *  - a load from an address that a reachable later atomic of the function uses too, or a store, if
 *    what was loaded can decide what the thread does, before the next grid.sync(), or becomes a
 *    part of what is stored: a look before the act. The act is race-checked, the look is not.
 * Loads before the first store to the same allocation are recorded only for the first EXEC_EARLY
 * bytes of each instruction and worker. A race of later loads with a store is found only if some
 * block loads after the store. A byte's owner is a number from 1 to 254, which a block shares with
 * every 254th other: a race among only those is missed.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model); CUDA Programming Guide, "Thread
 * Hierarchy".
 */
#ifndef OVERLAP_EXEC_CHECK_GRID_SHADOW_H
#define OVERLAP_EXEC_CHECK_GRID_SHADOW_H

#include "emulator/exec/check/causality.h"
#include "emulator/exec/check/owners.h"

/* ---- fast path: a warp's row of adjacent elements -------------------------------------------- */

/* Returns true when no other block has touched the bytes of the store. */
static inline bool exec_grid_shadow_is_own(const struct exec_region_cache *cache, uint64_t offset,
                                           uint32_t bytes, uint8_t me)
{
    const struct exec_owners *owners = cache->owners;
    return exec_owners_free(owners, EXEC_STORE, offset, bytes, me) &&
           (!exec_owners_seen(owners, EXEC_LOAD) ||
            exec_owners_free(owners, EXEC_LOAD, offset, bytes, me)) &&
           (!exec_owners_seen(owners, EXEC_ATOMIC) ||
            exec_owners_free(owners, EXEC_ATOMIC, offset, bytes, me));
}

/* exec_grid_shadow_touch for every lane of the row. Returns false if it did nothing and the slow
 * path must handle each lane. */
static inline bool exec_grid_shadow_row(struct exec_worker *worker,
                                        const struct exec_region_cache *cache, uint64_t address,
                                        uint32_t bytes, bool store, uint8_t me)
{
    struct exec_owners *owners = cache->owners;
    const uint64_t offset = address - cache->low;
    if (store) {
        exec_owners_see(owners, EXEC_STORE);
        if (!exec_grid_shadow_is_own(cache, offset, bytes, me)) return false;
        exec_grid_shadow_later(worker, owners, offset, bytes, me);
    } else {
        if (!exec_owners_free(owners, EXEC_STORE, offset, bytes, me)) return false;
        exec_owners_see(owners, EXEC_LOAD);
        exec_owners_own(owners, EXEC_LOAD, offset, bytes, me);
    }
    return true;
}

/* Returns true when recording this load would change nothing: every sector already has `me` as its
 * reader, and no other block has stored to it. */
EXEC_OWNER_RACES static inline bool exec_grid_shadow_is_known(const struct exec_region_cache *cache,
                                                              const struct exec_span *span,
                                                              uint8_t me)
{
    const struct exec_owners *owners = cache->owners;
    if (cache->causal != NULL || cache->access != EXEC_LOAD || !exec_span_is_few(span))
        return false;
    const uint64_t last = (span->end - 1 - cache->low) / EXEC_OWNED_SECTOR;
    for (uint64_t k = (span->first - cache->low) / EXEC_OWNED_SECTOR; k <= last; k++)
        if (exec_owner_is_stranger(owners->sectors[EXEC_STORE][k], me) ||
            owners->sectors[EXEC_LOAD][k] != me)
            return false;
    return true;
}

/* exec_grid_shadow_touch for the lanes of `mask`, whose accesses are aligned and lie in `span`. */
void exec_grid_shadow_lanes(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, const uint64_t *address,
                            uint32_t mask, uint32_t bytes, const struct exec_span *span);

/* Reports a race that causality.h has found: at once, or for a store when it has changed memory. */
void exec_grid_shadow_found(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t offset,
                            uint32_t bytes, enum exec_wrong wrong,
                            const struct exec_racecheck_side *first);

/* Returns true when a touch through `cache` can find or change anything. Loads from memory that
 * nobody has stored to are no race. */
static inline bool exec_grid_shadow_wanted(const struct exec_region_cache *cache)
{
    if (cache->causal != NULL) return exec_causality_wanted(cache);
    return cache->between_blocks && (cache->access != EXEC_LOAD || cache->early != 0 ||
                                     exec_owners_seen(cache->owners, EXEC_STORE));
}

#endif
