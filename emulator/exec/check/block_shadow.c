#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/check/proof.h"

#include <stdlib.h>
#include <string.h>

/* Touches per line that found no place, on average, after which the block stops recording until its
 * next barrier. */
enum { CROWD = 4 };

bool exec_block_shadow_judges(const struct exec_worker *worker, const struct memory_region *region)
{
    const struct exec_launch *launch = worker->launch;
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return launch->watch != NULL && worker->function->program->watched &&
           launch->footprint != NULL && threads > 1 && region->address != launch->heap_address &&
           !exec_proof_holds(worker->proven, region);
}

void exec_block_shadow_destroy(struct exec_block_shadow *near)
{
    if (near == NULL) return;
    exec_shadow_destroy(near->shadow);
    free(near->lines);
    free(near);
}

void exec_block_shadow_forget(struct exec_block_shadow *near)
{
    memset(near->lines, 0, (near->mask + (size_t)1) * sizeof *near->lines);
}

static struct exec_block_shadow *create(uint32_t lines)
{
    struct exec_block_shadow *near = calloc(1, sizeof *near);
    if (near == NULL) return NULL;
    near->mask = lines - 1;
    near->shadow = exec_shadow_create(lines * EXEC_NEAR_LINE);
    near->lines = calloc(lines, sizeof *near->lines);
    if (near->shadow != NULL && near->lines != NULL) {
        near->shadow->atomics_alone = true;
        return near;
    }
    exec_block_shadow_destroy(near);
    return NULL;
}

struct exec_block_shadow *exec_block_shadow_make(struct exec_block *block)
{
    uint32_t lines = EXEC_NEAR_LEAST;
    while (lines < block->warp_count * EXEC_LANES / 2) lines *= 2;
    block->near = create(lines);
    if (block->near != NULL && block->shadow != NULL) { /* both have the same moments */
        block->near->shadow->time = block->shadow->time;
        block->near->shadow->floor = block->shadow->floor;
        memcpy(block->near->shadow->warp_floor, block->shadow->warp_floor,
               sizeof block->shadow->warp_floor);
    }
    if (block->near != NULL)
        block->near->shadow->converses = block->shadow != NULL && block->shadow->converses;
    return block->near;
}

uint64_t exec_block_shadow_address(const struct exec_block_shadow *near, uint64_t offset)
{
    return (near->lines[offset >> EXEC_NEAR_LINE_BITS].line << EXEC_NEAR_LINE_BITS) +
           offset % EXEC_NEAR_LINE;
}

bool exec_block_shadow_open(struct exec_block_shadow *near, struct exec_block_shadow_line *line,
                            uint32_t unit)
{
    struct exec_shadow *shadow = near->shadow;
    const uint32_t lane = 1u << line->lane_bits;
    if (!exec_shadow_tells(shadow, line->row && lane < unit ? lane : unit)) return false;
    if (line->row) exec_block_shadow_fill(near, line);
    return true;
}

/* A touch of bytes by one thread, line by line. `same`: a store that does not change them. */
static void touch_bytes(const struct exec_touch *touch, struct exec_block_shadow *near,
                        uint64_t address, uint32_t bytes, uint32_t unit, bool same)
{
    while (bytes > 0) {
        const uint32_t at = (uint32_t)(address % EXEC_NEAR_LINE);
        const uint32_t here = bytes < EXEC_NEAR_LINE - at ? bytes : EXEC_NEAR_LINE - at;
        bool fresh;
        struct exec_block_shadow_line *line = exec_block_shadow_find(
            near, address >> EXEC_NEAR_LINE_BITS, touch->access == EXEC_LOAD, &fresh);
        if (line == NULL)
            near->crowded++;
        else if (!exec_block_shadow_open(near, line, unit))
            return;
        else if (same)
            exec_touch_same(touch, exec_block_shadow_offset(near, line) + at, here);
        else
            exec_touch_cells(touch, exec_block_shadow_offset(near, line) + at, here);
        address += here;
        bytes -= here;
    }
}

static void store(const struct exec_touch *touch, struct exec_block_shadow *near, unsigned lane,
                  uint64_t address, uint32_t element, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++, address += element) {
        const unsigned char *memory =
            (const unsigned char *)(uintptr_t)(address + touch->cache->delta);
        const bool same =
            memcmp(memory, exec_stored(touch->warp, touch->inst, lane, k, element), element) == 0;
        touch_bytes(touch, near, address, element, element, same);
    }
}

/* ---- lost updates ---------------------------------------------------------------------------- */

/* Returns true if two lanes store the same elements. */
static bool stores_same(const struct exec_warp *warp, const struct exec_inst *inst, unsigned a,
                        unsigned b, uint32_t element, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (memcmp(exec_stored(warp, inst, a, k, element), exec_stored(warp, inst, b, k, element),
                   element) != 0)
            return false;
    return true;
}

void exec_block_shadow_lost(const struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, const uint64_t *address,
                            uint64_t delta, uint32_t mask, uint32_t element, uint32_t count)
{
    struct exec_places places = {{0}};
    const unsigned looks = exec_looks_of(warp->worker->function->program, inst);
    const uint32_t thread = warp->index * EXEC_LANES, bytes = element * count;
    uint32_t changing = 0;
    if (!(looks & EXEC_LOOK_UPDATES) || exec_places_apart(address, mask, bytes)) return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t host = address[l] + delta, offset = host - cache->delta - cache->low;
        if (cache->size < bytes || offset > cache->size - bytes) continue;
        if (exec_stores_new(warp, inst, l, (const unsigned char *)(uintptr_t)host, element, count))
            changing |= 1u << l;
        const unsigned before = exec_places_visit(&places, address[l] / element, l);
        if (before == 0 || address[before - 1] != address[l] ||
            !((changing >> l | changing >> (before - 1)) & 1) ||
            stores_same(warp, inst, before - 1, l, element, count))
            continue;
        const struct exec_reported one = {thread + before - 1, inst->position, EXEC_STORE, true};
        const struct exec_reported other = {thread + l, inst->position, EXEC_STORE, true};
        exec_report(warp, EXEC_WRONG_LOST, &one, &other, cache->region, offset, bytes);
    }
}

void exec_block_shadow_lanes(struct exec_warp *warp, const struct exec_inst *inst,
                             const struct exec_region_cache *cache, const uint64_t *address,
                             uint32_t mask, uint32_t element, uint32_t count)
{
    struct exec_block_shadow *near = exec_block_shadow_of(warp);
    struct exec_touch touch;
    if (near == NULL) return;
    const bool stores = cache->access == EXEC_STORE;
    if (stores) exec_owners_see(cache->owners, EXEC_STORE);
    if (stores && (mask & (mask - 1)) != 0)
        exec_block_shadow_lost(warp, inst, cache, address, cache->delta, mask, element, count);
    /* A block that touches far more lines between two barriers than it has gains nothing from
     * recording them. */
    if (near->crowded_at != near->shadow->floor) {
        near->crowded_at = near->shadow->floor;
        near->crowded = 0;
    }
    if (near->crowded > CROWD * near->mask) return;
    exec_touch_begin(&touch, warp, inst, near->shadow, cache, cache->access, element * count);
    touch.counts =
        stores && (exec_looks_of(warp->worker->function->program, inst) & EXEC_LOOK_COUNTS) != 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        exec_touch_by(&touch, l);
        if (cache->access == EXEC_STORE)
            store(&touch, near, l, address[l], element, count);
        else
            touch_bytes(&touch, near, address[l], element * count, element, false);
    }
}

void exec_block_shadow_lane(struct exec_warp *warp, const struct exec_inst *inst,
                            const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                            uint32_t bytes)
{
    uint64_t addresses[EXEC_LANES];
    addresses[lane] = address;
    exec_block_shadow_lanes(warp, inst, cache, addresses, 1u << lane, bytes, 1);
}
