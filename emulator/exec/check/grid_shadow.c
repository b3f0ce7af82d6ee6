#include "emulator/exec/check/grid_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/exec/check/proof.h"
#include "emulator/exec/check/racecheck.h"

enum { WIDEST = 32 };

/* A store that conflicts with another block's touch, and the bytes from before it: it is reported
 * only if it changes them. */
struct exec_doubt {
    const unsigned char *host;
    unsigned char before[WIDEST];
    struct exec_owners *owners; /* NULL: found by check/causality.h */
    uint64_t offset;
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
           !worker->function->info.converses && !worker->function->info.fences &&
           region->address != launch->heap_address && !exec_proof_holds(worker->proven, region);
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

/* Returns where to describe a finding that counts only if the store changes memory; NULL: no room.
 * `owners` NULL: found by check/causality.h. */
static struct exec_racecheck_found *doubt(const struct exec_warp *warp,
                                          const struct exec_region_cache *cache, uint64_t offset,
                                          uint32_t bytes, struct exec_owners *owners)
{
    struct exec_worker *worker = warp->worker;
    enum { ROOM = 2 * EXEC_LANES };
    if (bytes > WIDEST || worker->doubt_count == ROOM) return NULL;
    if (worker->doubts == NULL) worker->doubts = calloc(ROOM, sizeof *worker->doubts);
    if (worker->doubts == NULL) return NULL;
    struct exec_doubt *new = &worker->doubts[worker->doubt_count++];
    new->host = (const unsigned char *)(uintptr_t)(cache->low + offset + cache->delta);
    new->owners = owners;
    new->offset = offset;
    new->me = exec_owner_of(warp->block->index);
    __atomic_thread_fence(
        __ATOMIC_ACQUIRE); /* a mark that is seen implies its store: exec_grid_shadow_settle */
    memcpy(new->before, new->host, bytes);
    return &new->found;
}

void exec_grid_shadow_settle(struct exec_worker *worker)
{
    for (uint32_t k = 0; k < worker->doubt_count; k++) {
        struct exec_doubt *doubt = &worker->doubts[k];
        const uint32_t bytes = doubt->found.bytes;
        if (memcmp(doubt->host, doubt->before, bytes) == 0) continue;
        if (doubt->owners != NULL)
            exec_owners_own(doubt->owners, EXEC_STORE, doubt->offset, bytes, doubt->me);
        exec_racecheck_add(worker->launch->watch, &doubt->found);
    }
    worker->doubt_count = 0;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* stores before marks, see doubt() */
    for (uint32_t k = 0; k < worker->own_count; k++) {
        const struct exec_grid_shadow_mark *mark = &worker->owns[k];
        if (mark->bytes != 0)
            exec_owners_own(mark->owners, EXEC_STORE, mark->offset, mark->bytes, mark->me);
        else
            exec_owners_own_some(mark->owners, EXEC_STORE, mark->offset, &mark->some, mark->me);
    }
    worker->own_count = 0;
}

/* Returns room for a mark. Full: the instruction is not a plain store, whose marks would be settled
 * with the next instruction. */
static struct exec_grid_shadow_mark *next_mark(struct exec_worker *worker)
{
    if (worker->own_count == EXEC_LANES) exec_grid_shadow_settle(worker);
    return &worker->owns[worker->own_count++];
}

void exec_grid_shadow_later(struct exec_worker *worker, struct exec_owners *owners, uint64_t offset,
                            uint32_t bytes, uint8_t me)
{
    struct exec_grid_shadow_mark *mark = next_mark(worker);
    mark->owners = owners;
    mark->offset = offset;
    mark->bytes = bytes;
    mark->me = me;
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
    /* For other blocks, an atomic of block scope is a load and a store. */
    const enum exec_access access = cache->block_scope ? EXEC_STORE : cache->access;
    const uint8_t me = exec_owner_of(warp->block->index);
    exec_owners_see(cache->owners, access);
    static const enum exec_access others[] = {EXEC_STORE, EXEC_LOAD, EXEC_ATOMIC};
    const size_t count = access == EXEC_STORE ? sizeof others / sizeof *others : 1;
    for (size_t k = 0; k < count; k++) {
        if (!exec_owners_seen(cache->owners, others[k])) continue;
        const uint32_t at = exec_owners_stranger(cache->owners, others[k], offset, bytes, me);
        if (at == bytes) continue;
        if (access == EXEC_STORE) {
            struct exec_racecheck_found *found = doubt(warp, cache, offset, bytes, cache->owners);
            if (found != NULL) *found = describe(warp, inst, cache, lane, offset, bytes, others[k]);
        } else {
            const struct exec_racecheck_found found =
                describe(warp, inst, cache, lane, offset + at, bytes, others[k]);
            exec_racecheck_add(warp->worker->launch->watch, &found);
        }
        return;
    }
    if (access == EXEC_STORE)
        exec_grid_shadow_later(warp->worker, cache->owners, offset, bytes, me);
    else
        exec_owners_add(cache->owners, access, offset, bytes, me);
}

/* ---- lanes apart, a sector at a time ----------------------------------------------------------
 */

/* The bytes of one sector that neighbouring lanes access. */
struct piece {
    uint64_t offset; /* of the sector */
    struct exec_owned_some some;
};

/* Returns how many pieces the lanes' accesses are. `bytes` of an aligned access lie in one sector.
 * Each piece's owners and memory are fetched meanwhile: those of scattered places are seldom in a
 * cache. */
static size_t pieces_of(const struct exec_region_cache *cache, const uint64_t *address,
                        uint32_t mask, uint32_t bytes, struct piece pieces[EXEC_LANES])
{
    uint8_t turned[2 * EXEC_OWNED_SECTOR] = {0}; /* an access at byte `at`, from that byte back */
    size_t count = 0;
    memset(turned + EXEC_OWNED_SECTOR, 0xff, bytes);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t offset = address[__builtin_ctz(rest)] - cache->low;
        const uint32_t at = (uint32_t)(offset % EXEC_OWNED_SECTOR);
        const exec_owned *lane = (const exec_owned *)(turned + EXEC_OWNED_SECTOR - at);
        if (count == 0 || pieces[count - 1].offset != offset - at) {
            pieces[count].offset = offset - at;
            memcpy(&pieces[count++].some, lane, EXEC_OWNED_SECTOR);
            __builtin_prefetch(cache->owners->bytes[EXEC_STORE] + offset - at);
            __builtin_prefetch((const void *)(uintptr_t)(cache->low + offset + cache->delta), 1);
            continue;
        }
        exec_owned *piece = (exec_owned *)pieces[count - 1].some.bytes;
        for (unsigned k = 0; k < EXEC_OWNED_PARTS; k++) piece[k] |= lane[k];
    }
    return count;
}

static bool are_free(const struct exec_owners *owners, enum exec_access access,
                     const struct piece *pieces, size_t count, uint8_t me)
{
    for (size_t k = 0; k < count; k++)
        if (!exec_owners_some_free(owners, access, pieces[k].offset, &pieces[k].some, me))
            return false;
    return true;
}

/* Returns true if the accesses of a full warp are one piece of memory, in whatever order. */
static bool is_row(const uint64_t *address, uint32_t mask, uint32_t bytes,
                   const struct exec_span *span)
{
    const uint32_t shift = (uint32_t)__builtin_ctz(bytes);
    uint32_t there = 0;
    if (mask != EXEC_ALL || span->end - span->first != (uint64_t)EXEC_LANES * bytes) return false;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        there |= 1u << ((address[l] - span->first) >> shift & (EXEC_LANES - 1));
    return there == EXEC_ALL;
}

/* Records plain accesses that are no race. Returns false, without effect, if one may be. */
static bool touch_together(struct exec_worker *worker, const struct exec_region_cache *cache,
                           const uint64_t *address, uint32_t mask, uint32_t bytes,
                           const struct exec_span *span, uint8_t me)
{
    struct exec_owners *owners = cache->owners;
    struct piece pieces[EXEC_LANES];
    const bool store = cache->access == EXEC_STORE;
    if (cache->causal != NULL || cache->access == EXEC_ATOMIC || bytes > EXEC_OWNED_SECTOR)
        return false;
    if (is_row(address, mask, bytes, span))
        return exec_grid_shadow_row(worker, cache, span->first, EXEC_LANES * bytes, store, me);
    const size_t count = pieces_of(cache, address, mask, bytes, pieces);
    exec_owners_see(owners, cache->access);
    if (!are_free(owners, EXEC_STORE, pieces, count, me)) return false;
    for (int access = EXEC_LOAD; store && access < EXEC_ACCESS_COUNT; access++)
        if (access != EXEC_STORE && exec_owners_seen(owners, (enum exec_access)access) &&
            !are_free(owners, (enum exec_access)access, pieces, count, me))
            return false;
    for (size_t k = 0; k < count; k++) {
        if (!store) {
            exec_owners_own_some(owners, EXEC_LOAD, pieces[k].offset, &pieces[k].some, me);
            continue;
        }
        struct exec_grid_shadow_mark *mark = next_mark(worker);
        mark->owners = owners;
        mark->offset = pieces[k].offset;
        mark->bytes = 0;
        mark->me = me;
        mark->some = pieces[k].some;
    }
    return true;
}

void exec_grid_shadow_lanes(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, const uint64_t *address,
                            uint32_t mask, uint32_t bytes, const struct exec_span *span)
{
    if (touch_together(warp->worker, cache, address, mask, bytes, span,
                       exec_owner_of(warp->block->index)))
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        exec_grid_shadow_touch(warp, inst, cache, l, address[l], bytes);
    }
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
