#include "emulator/exec/check/grid_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/exec/check/racecheck.h"

enum { WIDEST = 32 };

/* A store that met what another block did, and what was there before it. */
struct exec_doubt {
    const unsigned char *host;
    unsigned char before[WIDEST];
    uint8_t *writers;
    struct exec_racecheck_found found;
    uint8_t me;
};

bool exec_grid_shadow_judges(const struct exec_worker *worker, const struct memory_region *region)
{
    const struct exec_launch *launch = worker->launch;
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    return launch->watch != NULL && worker->function->program->watched &&
           launch->footprint != NULL && blocks > 1 && !launch->cooperative &&
           launch->cluster[0] * launch->cluster[1] * launch->cluster[2] <= 1 &&
           !worker->function->info.converses && !worker->function->fences &&
           region->address != launch->heap_address;
}

static struct exec_racecheck_found describe(const struct exec_warp *warp,
                                            const struct exec_inst *inst,
                                            const struct exec_region_cache *cache, unsigned lane,
                                            uint64_t offset, uint32_t bytes, enum exec_access other)
{
    const struct exec_worker *worker = warp->worker;
    const struct exec_position *position = &worker->function->program->positions[inst->position];
    const uint32_t *size = worker->launch->block;
    const uint32_t thread = warp->index * EXEC_LANES + lane;
    const uint32_t *block = warp->block->position;
    const bool both = cache->block_scope && other == EXEC_STORE;
    return (struct exec_racecheck_found){
        .wrong = cache->block_scope ? EXEC_WRONG_SCOPE : EXEC_WRONG_BLOCKS,
        .first = {.access = both ? EXEC_ATOMIC : other},
        .second = {.access = cache->access,
                   .file = position->file,
                   .line = position->line,
                   .known = true,
                   .block = {block[0], block[1], block[2]},
                   .thread = {thread % size[0], thread / size[0] % size[1],
                              thread / size[0] / size[1]}},
        .region = cache->region,
        .offset = offset,
        .bytes = bytes,
        .block_size = {size[0], size[1], size[2]},
        .block_index = warp->block->index,
        .count = 1,
    };
}

static bool stranger(uint8_t owner, uint8_t me)
{
    return owner != 0 && owner != me;
}

/* The first byte whose owner is a stranger, or `bytes`. */
EXEC_OWNER_RACES static uint32_t first_stranger(const uint8_t *owners, uint32_t bytes, uint8_t me)
{
    uint32_t i = 0;
    while (i < bytes && !stranger(owners[i], me)) i++;
    return i;
}

/* Nearly all bytes are nobody's yet, or the block's own: eight at once. */
EXEC_OWNER_RACES static void own(uint8_t *owners, uint32_t bytes, uint8_t me)
{
    const uint64_t mine = me * UINT64_C(0x0101010101010101);
    uint32_t i = 0;
    for (; i + sizeof mine <= bytes; i += (uint32_t)sizeof mine) {
        uint64_t before;
        memcpy(&before, owners + i, sizeof before);
        if (before != 0 && before != mine) break;
        memcpy(owners + i, &mine, sizeof mine);
    }
    exec_grid_shadow_own(owners + i, bytes - i, me);
}

/* The same of what one lane touches: mostly four bytes, of one owner or of many. */
EXEC_OWNER_RACES static inline void own_lane(uint8_t *owners, uint32_t bytes, uint8_t me)
{
    const uint32_t mine = me * UINT32_C(0x01010101), many = UINT32_MAX;
    uint32_t before = 1;
    if (bytes == sizeof before) memcpy(&before, owners, sizeof before);
    if (bytes == sizeof before && (before == mine || before == many)) return;
    if (bytes == sizeof before && before == 0)
        memcpy(owners, &mine, sizeof mine);
    else
        own(owners, bytes, me);
}

/* Where to put what is found if the store turns out to change something; NULL: no room. `writers`
 * NULL: of check/causality.h. */
static struct exec_racecheck_found *doubt(const struct exec_warp *warp,
                                          const struct exec_region_cache *cache, uint64_t offset,
                                          uint32_t bytes, uint8_t *writers)
{
    struct exec_worker *worker = warp->worker;
    enum { ROOM = 2 * EXEC_LANES };
    if (bytes > WIDEST || worker->doubt_count == ROOM) return NULL;
    if (worker->doubts == NULL) worker->doubts = calloc(ROOM, sizeof *worker->doubts);
    if (worker->doubts == NULL) return NULL;
    struct exec_doubt *new = &worker->doubts[worker->doubt_count++];
    new->host = (const unsigned char *)(uintptr_t)(cache->low + offset + cache->delta);
    new->writers = writers;
    new->me = exec_owner_of(warp->block->index);
    __atomic_thread_fence(
        __ATOMIC_ACQUIRE); /* whose mark is seen, has stored: exec_grid_shadow_settle */
    memcpy(new->before, new->host, bytes);
    return &new->found;
}

void exec_grid_shadow_settle(struct exec_worker *worker)
{
    for (uint32_t k = 0; k < worker->doubt_count; k++) {
        struct exec_doubt *doubt = &worker->doubts[k];
        const uint32_t bytes = doubt->found.bytes;
        if (memcmp(doubt->host, doubt->before, bytes) == 0) continue;
        if (doubt->writers != NULL) own(doubt->writers, bytes, doubt->me);
        exec_racecheck_add(worker->launch->watch, &doubt->found);
    }
    worker->doubt_count = 0;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* the values first: doubt() */
    for (uint32_t k = 0; k < worker->own_count; k++)
        own(worker->owns[k].owners, worker->owns[k].bytes, worker->owns[k].me);
    worker->own_count = 0;
}

void exec_grid_shadow_later(struct exec_worker *worker, uint8_t *owners, uint32_t bytes, uint8_t me)
{
    /* Full: of an instruction that is no plain store, and settles with the next one. */
    if (worker->own_count == EXEC_LANES) exec_grid_shadow_settle(worker);
    worker->owns[worker->own_count++] = (struct exec_grid_shadow_mark){owners, bytes, me};
}

void exec_grid_shadow_touch(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                            uint32_t bytes)
{
    if (cache->causal != NULL) {
        exec_causality_touch(warp, inst, cache, lane, address, bytes);
        return;
    }
    const uint64_t offset = address - cache->low;
    /* To other blocks it is a load and a store. */
    const enum exec_access access = cache->block_scope ? EXEC_STORE : cache->access;
    const uint8_t me = exec_owner_of(warp->block->index);
    exec_owners_see(cache->owners, access);
    static const enum exec_access others[] = {EXEC_STORE, EXEC_LOAD, EXEC_ATOMIC};
    const size_t count = access == EXEC_STORE ? sizeof others / sizeof *others : 1;
    for (size_t k = 0; k < count; k++) {
        if (!exec_owners_seen(cache->owners, others[k])) continue;
        const uint8_t *owners = exec_owners_of(cache, others[k], offset);
        const uint32_t at = first_stranger(owners, bytes, me);
        if (at == bytes) continue;
        if (access == EXEC_STORE) {
            struct exec_racecheck_found *found =
                doubt(warp, cache, offset, bytes, exec_owners_of(cache, EXEC_STORE, offset));
            if (found != NULL) *found = describe(warp, inst, cache, lane, offset, bytes, others[k]);
        } else {
            const struct exec_racecheck_found found =
                describe(warp, inst, cache, lane, offset + at, bytes, others[k]);
            exec_racecheck_add(warp->worker->launch->watch, &found);
        }
        return;
    }
    uint8_t *owners = exec_owners_of(cache, access, offset);
    if (access == EXEC_STORE)
        exec_grid_shadow_later(warp->worker, owners, bytes, me);
    else
        own_lane(owners, bytes, me);
}

void exec_grid_shadow_found(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t offset,
                            uint32_t bytes, enum exec_wrong wrong,
                            const struct exec_racecheck_side *first)
{
    struct exec_racecheck_found now;
    struct exec_racecheck_found *found =
        cache->access == EXEC_STORE ? doubt(warp, cache, offset, bytes, NULL) : &now;
    if (found == NULL) return;
    *found = describe(warp, inst, cache, lane, offset, bytes, first->access);
    found->wrong = wrong;
    found->first = *first;
    if (found == &now) exec_racecheck_add(warp->worker->launch->watch, &now);
}

void exec_grid_shadow_waited(const struct exec_warp *warp, const struct exec_inst *look,
                             uint64_t waiting)
{
    const struct exec_worker *worker = warp->worker;
    const struct exec_position *position = &worker->function->program->positions[look->position];
    const uint32_t *size = worker->launch->block, *block = warp->block->position;
    const uint32_t thread =
        warp->index * EXEC_LANES + (warp->live ? (uint32_t)__builtin_ctz(warp->live) : 0);
    const struct exec_racecheck_side side = {
        .file = position->file,
        .line = position->line,
        .known = true,
        .block = {block[0], block[1], block[2]},
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]}};
    exec_racecheck_add(worker->launch->watch,
                       &(struct exec_racecheck_found){.wrong = EXEC_WRONG_LATER,
                                                      .first = side,
                                                      .second = side,
                                                      .waiting = waiting,
                                                      .block_size = {size[0], size[1], size[2]},
                                                      .block_index = warp->block->index,
                                                      .count = 1});
}
