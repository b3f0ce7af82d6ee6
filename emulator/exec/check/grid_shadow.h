/* exec_grid_shadow: which block of a grid touched each byte of global memory, and what two of them
 * do to the same byte that nothing orders. Private to emulator/exec.
 *
 * Nothing orders plain accesses of two blocks of one kernel, so two blocks that touch the same
 * byte, of which one at least writes, race. What is never accused:
 *  - kernels that converse (exec_function_info), have a fence beyond the block, or are launched to
 *    cooperate: their blocks may make an order of their own. They are check/causality.h's;
 *  - two atomics, and an atomic against a load; the heap of malloc in kernels;
 *  - a store of the value that is there already, unless nobody else had touched the byte before it;
 *  - a load whose address a store or an atomic further on in the function has too, which some way
 *    leads to: a look before the act. The act is judged, the look is not.
 * What is read before anything is stored to the same allocation is remembered of the first
 * EXEC_EARLY bytes of each instruction and worker: a race of more with a later store is found from
 * where the other side reads, or in the blocks that follow. A byte's owner is a number from 1 to
 * 254 that a block shares with every 254th other: a race of those with each other alone is not
 * seen.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model); CUDA Programming Guide, "Thread
 * Hierarchy".
 */
#ifndef OVERLAP_EXEC_CHECK_GRID_SHADOW_H
#define OVERLAP_EXEC_CHECK_GRID_SHADOW_H

#include "emulator/exec/check/causality.h"
#include "emulator/exec/check/owners.h"

/* ---- a warp's row of neighbouring elements, all at once -------------------------------------- */

/* Whether no other block has touched what is stored to. */
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

/* The same as exec_grid_shadow_touch for every lane; false: nothing was done, and lane by lane it
 * has to be. */
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

/* Whether a load of bytes of these sectors leaves nothing that is not there already. */
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

/* Something that causality.h has found: at once, or of a store where it has changed something. */
void exec_grid_shadow_found(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t offset,
                            uint32_t bytes, enum exec_wrong wrong,
                            const struct exec_racecheck_side *first);

/* Whether a touch through `cache` is worth looking at: what nobody has stored to, anybody reads. */
static inline bool exec_grid_shadow_wanted(const struct exec_region_cache *cache)
{
    if (cache->causal != NULL) return exec_causality_wanted(cache);
    return cache->between_blocks && (cache->access != EXEC_LOAD || cache->early != 0 ||
                                     exec_owners_seen(cache->owners, EXEC_STORE));
}

#endif
