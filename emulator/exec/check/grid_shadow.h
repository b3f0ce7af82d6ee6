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

enum { EXEC_OWNERS = 254, EXEC_OWNED_BY_MANY = 255 };

static inline uint8_t exec_owner_of(uint64_t block)
{
    return (uint8_t)(block % EXEC_OWNERS + 1);
}

/* ---- a warp's row of neighbouring elements, all at once -------------------------------------- */

/* Owners are not locked: two workers may miss each other, never see what is not. */
#define EXEC_OWNER_RACES __attribute__((no_sanitize("thread")))

EXEC_OWNER_RACES static inline bool exec_grid_shadow_free(const uint8_t *owners, uint32_t bytes,
                                                          uint8_t me)
{
    uint8_t stranger = 0; /* as wide as what is looked at: then so many more at once */
    for (uint32_t i = 0; i < bytes; i++)
        stranger |= (uint8_t)((owners[i] != 0) & (owners[i] != me));
    return !stranger;
}

EXEC_OWNER_RACES static inline void exec_grid_shadow_own(uint8_t *owners, uint32_t bytes,
                                                         uint8_t me)
{
    for (uint32_t i = 0; i < bytes; i++)
        owners[i] = owners[i] == 0 || owners[i] == me ? me : (uint8_t)EXEC_OWNED_BY_MANY;
}

static inline uint8_t *exec_owners_of(const struct exec_region_cache *cache,
                                      enum exec_access access, uint64_t offset)
{
    return cache->owners->maps + (uint64_t)access * cache->owners->stride + offset;
}

static inline bool exec_owners_seen(const struct exec_owners *owners, enum exec_access access)
{
    return __atomic_load_n(&owners->seen, __ATOMIC_RELAXED) >> access & 1;
}

static inline void exec_owners_see(struct exec_owners *owners, enum exec_access access)
{
    if (!exec_owners_seen(owners, access))
        __atomic_fetch_or(&owners->seen, 1u << access, __ATOMIC_RELAXED);
}

/* A page of the maps that is read before it is written to is mapped twice, and the second time
 * stops every worker for a moment: whoever comes to a page first writes. Changes no owner. */
static inline void exec_owners_reach(struct exec_region_cache *cache, enum exec_access access,
                                     uint64_t offset)
{
    enum { PAGE_BITS = 12 };
    const uint64_t page = (offset >> PAGE_BITS) + 1;
    if (cache->owned_page == page) return;
    cache->owned_page = page;
    __atomic_fetch_or(exec_owners_of(cache, EXEC_STORE, offset), 0, __ATOMIC_RELAXED);
    if (access != EXEC_STORE)
        __atomic_fetch_or(exec_owners_of(cache, access, offset), 0, __ATOMIC_RELAXED);
}

/* The same as exec_grid_shadow_touch for every lane; false: nothing was done, and lane by lane it
 * has to be. */
EXEC_OWNER_RACES static inline bool exec_grid_shadow_row(struct exec_worker *worker,
                                                         struct exec_region_cache *cache,
                                                         uint64_t address, uint32_t bytes,
                                                         bool store, uint8_t me)
{
    struct exec_owners *owners = cache->owners;
    const uint64_t offset = address - cache->low;
    uint8_t *writers = exec_owners_of(cache, EXEC_STORE, offset);
    uint8_t *readers = exec_owners_of(cache, EXEC_LOAD, offset);
    exec_owners_reach(cache, store ? EXEC_STORE : EXEC_LOAD, offset);
    if (store) {
        exec_owners_see(owners, EXEC_STORE);
        if (!exec_grid_shadow_free(writers, bytes, me) ||
            (exec_owners_seen(owners, EXEC_LOAD) && !exec_grid_shadow_free(readers, bytes, me)) ||
            (exec_owners_seen(owners, EXEC_ATOMIC) &&
             !exec_grid_shadow_free(exec_owners_of(cache, EXEC_ATOMIC, offset), bytes, me)))
            return false;
        exec_grid_shadow_later(worker, writers, bytes, me);
    } else {
        if (!exec_grid_shadow_free(writers, bytes, me)) return false;
        exec_owners_see(owners, EXEC_LOAD);
        exec_grid_shadow_own(readers, bytes, me);
    }
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
