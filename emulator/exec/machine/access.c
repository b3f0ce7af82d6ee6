/* The slow path of memory accesses: from a lane's address to its bytes, for accesses that the fast
 * path of ops/memory.c does not settle. */
#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/check/grid_shadow.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/private.h"

#include <stddef.h>
#include <string.h>

/* Returns the bytes that a window's address stands for, for `lane`, and sets *left to how many
 * follow. */
static unsigned char *window_bytes(struct exec_warp *warp, unsigned lane, uint64_t address,
                                   bool store, uint64_t *left)
{
    uint64_t offset = address & ~EXEC_WINDOW_MASK;
    const struct exec_block *home;
    unsigned char *base;
    uint64_t size;
    switch (address & EXEC_WINDOW_MASK) {
    case EXEC_WINDOW_SHARED:
        home = exec_cluster_home(warp->block, offset);
        if (home == NULL || home->ended) return NULL;
        offset &= ~EXEC_RANK_MASK;
        base = home->shared;
        size = warp->worker->shared_bytes;
        break;
    case EXEC_WINDOW_LOCAL:
        base = warp->local + lane * warp->local_stride;
        size = warp->local_stride;
        break;
    case EXEC_WINDOW_PARAM:
        /* Parameters are read-only: size 0 refuses a store. */
        base = (unsigned char *)(uintptr_t)warp->worker->launch->parameters;
        size = store ? 0 : warp->worker->function->info.parameter_bytes;
        break;
    case EXEC_WINDOW_GRID:
        base = warp->worker->grid_workspace;
        size = warp->worker->launch->cooperative ? EXEC_GRID_WORKSPACE : 0;
        break;
    default:
        return NULL;
    }
    if (offset >= size) return NULL;
    *left = size - offset;
    return base + offset;
}

/* Adds what a cache entry of the worker has recorded to the launch's footprint. */
static void cache_flush(const struct exec_worker *worker, struct exec_region_cache *cache)
{
    if (cache->marks == NULL) return;
    exec_mark_run(cache, worker->alone);
    if (cache->touched >= cache->untouched) return;
    const struct exec_position *position = &worker->function->program->positions[cache->position];
    exec_footprint_add_site(worker->launch->footprint,
                            &(struct exec_footprint_site){.region = cache->region,
                                                          .access = cache->access,
                                                          .first = cache->touched,
                                                          .end = cache->untouched,
                                                          .file = position->file,
                                                          .line = position->line,
                                                          .widest = cache->widest,
                                                          .strong = cache->strong,
                                                          .deaf = cache->deaf,
                                                          .updates = cache->updates});
}

void exec_touches_settle(struct exec_worker *worker)
{
    const size_t count = worker->cache_count + 1;
    exec_grid_shadow_settle(worker);
    if (worker->launch->footprint != NULL)
        for (size_t i = 0; i < count; i++) cache_flush(worker, &worker->caches[i]);
    exec_pending_settle(&worker->pending);
    memset(worker->caches, 0, count * sizeof *worker->caches);
}

/* Returns the bitmap for the instruction's accesses; NULL: not recorded. In a called function it is
 * not known whether the kernel has executed griddepcontrol.wait, so its accesses do not count as
 * early. */
static uint64_t *marks_of(const struct exec_warp *warp, const struct exec_inst *inst,
                          const struct memory_region *region, enum exec_access access)
{
    const struct exec_launch *launch = warp->worker->launch;
    if (launch->footprint == NULL || region->address == launch->unseen) return NULL;
    uint64_t *bits = exec_footprint_bits(launch->footprint, region, access);
    const bool early =
        launch->early != NULL && warp->frame->parent == NULL &&
        !(exec_looks_of(warp->worker->function->program, inst) & EXEC_LOOK_AFTER_WAIT);
    return early && bits != NULL ? exec_footprint_bits(launch->early, region, access) : bits;
}

/* Makes `region` the one that the instruction's cache is for. */
static void cache_fill(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       const struct memory_region *region, enum exec_access access, uint32_t bytes)
{
    struct exec_worker *worker = warp->worker;
    struct exec_region_cache *cache = exec_cache_of(worker, inst);
    struct exec_footprint *footprint = worker->launch->footprint;
    if (footprint != NULL) cache_flush(worker, cache);
    *cache = (struct exec_region_cache){
        .low = region->address,
        .size = region->size,
        .delta = (uint64_t)(uintptr_t)region->bytes - region->address,
        .read_only = region->read_only,
        .access = access,
        .marks = marks_of(warp, inst, region, access),
        .run = {.next = UINT64_MAX},
        .pending = &worker->pending,
        .touched = UINT64_MAX,
        .widest = bytes,
        .region = region,
        .position = exec_place_of(warp, warp->frame, inst, lane),
    };
    const struct exec_program *program = worker->function->program;
    const unsigned looks = exec_looks_of(program, inst);
    if (cache->marks == NULL) return;
    cache->strong = access == EXEC_ATOMIC || (looks & (EXEC_LOOK_STRONG | EXEC_LOOK_PAST_L1)) != 0;
    cache->deaf = access == EXEC_ATOMIC && (looks & EXEC_LOOK_DATA) != 0;
    if (cache->strong && access != EXEC_LOAD) exec_footprint_tell(footprint, region);
    if (inst->cache < program->groups_room) cache->group = program->groups[inst->cache];
    cache->grouped = (cache->group.before | cache->group.after | cache->group.follows) != 0;
    cache->updates = access == EXEC_STORE && (looks & EXEC_LOOK_UPDATES) != 0 && !cache->grouped;
    exec_causality_meet_region(warp, inst, cache);
    cache->judged = cache->causal != NULL;
    if ((looks & EXEC_LOOK_ALL) == EXEC_LOOK_ALL) return;
    const bool judges_blocks = exec_grid_shadow_judges(worker, region);
    const bool between_blocks = judges_blocks && !(looks & EXEC_LOOK_BLOCKS);
    const bool between_threads =
        exec_block_shadow_judges(worker, region) && !(looks & EXEC_LOOK_THREADS);
    if (!between_blocks && !between_threads) return;
    cache->owners = exec_footprint_owners(footprint, region, judges_blocks);
    cache->between_blocks = cache->owners != NULL && between_blocks;
    cache->block_scope = access == EXEC_ATOMIC && (looks & EXEC_LOOK_BLOCK_SCOPE) != 0;
    cache->between_threads = cache->owners != NULL && between_threads;
    cache->judged |= cache->between_blocks | cache->between_threads;
    cache->early = cache->between_blocks && access == EXEC_LOAD ? EXEC_EARLY : 0;
}

/* Returns true if enough of the access's bytes lie in the allocation, which has `left` of them
 * from the access on. Of a word that is looked at and swapped for a narrower value in it one byte
 * will do, as for cuda::atomic_ref of a char: on a GPU an allocation's last word is whole, and what
 * is behind the end stays as it was. */
static bool is_inside(const struct exec_warp *warp, const struct exec_inst *inst, uint64_t left,
                      uint32_t bytes, enum exec_access access)
{
    if (left >= bytes) return true;
    if (left == 0 || bytes != 4 || access == EXEC_STORE) return false;
    const unsigned looks = exec_looks_of(warp->worker->function->program, inst);
    return (looks & (access == EXEC_LOAD ? EXEC_LOOK_BLOCKS : EXEC_LOOK_SWAPS)) != 0;
}

bool exec_reaches(const struct exec_launch *launch, const struct memory_region *region, bool store)
{
    return launch->reaches == NULL || launch->reaches(launch->reaching, region, store);
}

static bool may_access(const struct exec_warp *warp, const struct memory_region *region, bool store)
{
    return !(store && region->read_only) && exec_reaches(warp->worker->launch, region, store);
}

/* Returns where a load finds its bytes of which some lie in the padding behind an allocation; NULL:
 * there is no such padding. Nobody is asked whether the bytes in front of it were written. */
static unsigned char *padded(const struct exec_warp *warp, uint64_t address, uint32_t bytes)
{
    enum { MOST = 256 }; /* of padding */
    const struct memory_region *region = memory_find(address & ~(uint64_t)(MOST - 1));
    const uint64_t offset = region != NULL ? address - region->address : 0;
    if (region == NULL || offset + bytes > region->size + region->padding ||
        !may_access(warp, region, false))
        return NULL;
    return region->bytes + offset;
}

/* Resolves an access that is a multiple of `size` away from 0 and touches `bytes` bytes. */
static unsigned char *resolve(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                              uint64_t address, uint32_t size, uint32_t bytes,
                              enum exec_access access, bool generic)
{
    const bool store = access != EXEC_LOAD;
    if (!(address & (size - 1))) {
        if ((address >> 56) == 1) {
            uint64_t left;
            unsigned char *host = generic ? window_bytes(warp, lane, address, store, &left) : NULL;
            if (host != NULL && (address & EXEC_WINDOW_MASK) == EXEC_WINDOW_GRID)
                exec_causality_meet_grid(warp, inst, access);
            if (host != NULL && is_inside(warp, inst, left, bytes, access)) return host;
        } else {
            const struct memory_region *region = memory_find(address);
            const uint64_t left = region != NULL ? region->size - (address - region->address) : 0;
            struct exec_region_cache *cache = exec_cache_of(warp->worker, inst);
            const bool known = region != NULL && cache->region == region && cache->access == access;
            if (region != NULL && is_inside(warp, inst, left, bytes, access) &&
                (known || may_access(warp, region, store))) {
                if (!known) cache_fill(warp, inst, lane, region, access, bytes);
                exec_mark(cache, address, left < bytes ? (uint32_t)left : bytes);
                if (exec_grid_shadow_wanted(cache))
                    exec_grid_shadow_touch(warp, inst, cache, lane, address, bytes);
                if (access != EXEC_STORE && exec_block_shadow_wanted(cache))
                    exec_block_shadow_lane(warp, inst, cache, lane, address, bytes);
                return region->bytes + (address - region->address);
            }
            unsigned char *behind = store ? NULL : padded(warp, address, bytes);
            if (behind != NULL) return behind;
        }
    }
    exec_stop_access(warp, inst, lane, address, size, access, generic);
    return NULL;
}

unsigned char *exec_resolve(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t size, enum exec_access access, bool generic)
{
    return resolve(warp, inst, lane, address, size, size, access, generic);
}

unsigned char *exec_resolve_part(struct exec_warp *warp, const struct exec_inst *inst,
                                 unsigned lane, uint64_t address, uint32_t size, uint32_t bytes)
{
    return resolve(warp, inst, lane, address, size, bytes, EXEC_LOAD, false);
}

const unsigned char *exec_peek(struct exec_warp *warp, unsigned lane, uint64_t address,
                               size_t *size)
{
    uint64_t left = 0;
    const unsigned char *bytes = NULL;
    if ((address >> 56) == 1) {
        bytes = window_bytes(warp, lane, address, false, &left);
    } else {
        const struct memory_region *region = memory_find(address);
        if (region != NULL) {
            bytes = region->bytes + (address - region->address);
            left = region->size - (address - region->address);
        }
    }
    *size = bytes != NULL ? left : 0;
    return bytes;
}
