#include "emulator/exec/check/proxy.h"
#include "emulator/exec/check/shadow.h"
#include "emulator/exec/check/unread.h"
#include "emulator/exec/machine/tensor_map.h"

#include <stdlib.h>

enum {
    UNIT = 16, /* bytes: bulk copies consist of these */
    MAPS = 4,  /* changed maps without a fence: the latest are kept */
};

struct changed_map {
    uint64_t address;
    uint32_t thread, site;
};

/* Times are moments of check/shadow.h. */
struct exec_proxy {
    uint64_t serial; /* of the block that `fenced` and the maps belong to */
    int32_t fenced;  /* time of the latest fence by any thread */
    uint32_t map_count;
    struct changed_map maps[MAPS]; /* the first map_count are valid, or all */
    size_t units;                  /* of shared memory */
    uint32_t filled[]; /* per unit: position + 1 of the latest bulk copy that filled it; 0: none */
};

void exec_proxy_destroy(struct exec_proxy *proxy)
{
    free(proxy);
}

/* Returns NULL if the block is not race-checked or there is no memory. */
static struct exec_proxy *proxy_of(struct exec_block *block)
{
    const struct exec_shadow *shadow = block->shadow;
    if (shadow == NULL) return NULL;
    const size_t units = shadow->bytes / UNIT + 1;
    if (block->proxy == NULL) {
        block->proxy = calloc(1, sizeof *block->proxy + units * sizeof *block->proxy->filled);
        if (block->proxy == NULL) return NULL;
        block->proxy->units = units;
    }
    if (block->proxy->serial != block->serial) {
        block->proxy->serial = block->serial;
        block->proxy->fenced = block->began - 1;
        block->proxy->map_count = 0;
    }
    return block->proxy;
}

int exec_proxy_fence(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_proxy *proxy = proxy_of(warp->block);
    warp->instructions--;
    if (proxy != NULL && exec_racecheck_lanes(warp, inst))
        proxy->fenced = warp->block->shadow->time;
    return EXEC_GO;
}

void exec_proxy_fills(const struct exec_warp *warp, const struct exec_inst *inst, uint64_t offset,
                      uint32_t bytes)
{
    struct exec_proxy *proxy = proxy_of(warp->block);
    if (proxy == NULL) return;
    for (uint64_t unit = offset / UNIT; unit * UNIT < offset + bytes && unit < proxy->units; unit++)
        proxy->filled[unit] = inst->position + 1;
}

void exec_proxy_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint32_t bytes)
{
    const struct exec_shadow *shadow = warp->block->shadow;
    const struct exec_proxy *proxy = proxy_of(warp->block);
    if (proxy == NULL || shadow->cells[EXEC_KEPT_WRITE] == NULL) return;
    for (uint64_t at = offset; at < offset + bytes && at < shadow->bytes;
         at += 1u << shadow->shift) {
        const size_t index = (size_t)(at >> shadow->shift);
        const int32_t cell = shadow->cells[EXEC_KEPT_WRITE][index];
        const uint32_t site = shadow->sites[EXEC_KEPT_WRITE][index];
        if (cell >> EXEC_SHADOW_TIME <= proxy->fenced || exec_unread_is(cell) ||
            site + 1 == proxy->filled[at / UNIT])
            continue;
        const struct exec_reported first = {(uint32_t)cell & EXEC_SHADOW_THREAD, site, EXEC_STORE,
                                            true};
        const struct exec_reported second = {warp->index * EXEC_LANES + lane, inst->position,
                                             EXEC_LOAD, true};
        exec_report(warp, EXEC_WRONG_PROXY, &first, &second, NULL, at, bytes);
        return;
    }
}

/* ---- tensor maps ----------------------------------------------------------------------------- */

int exec_proxy_map_fence(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_proxy *proxy = proxy_of(warp->block);
    warp->instructions--;
    if (proxy != NULL && exec_racecheck_lanes(warp, inst)) proxy->map_count = 0;
    return EXEC_GO;
}

void exec_proxy_map_changed(const struct exec_warp *warp, const struct exec_inst *inst,
                            unsigned lane, uint64_t address)
{
    struct exec_proxy *proxy = proxy_of(warp->block);
    if (proxy == NULL || address & EXEC_WINDOW_BIT) return;
    proxy->maps[proxy->map_count++ % MAPS] =
        (struct changed_map){address, warp->index * EXEC_LANES + lane, inst->position};
}

void exec_proxy_map_used(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                         uint64_t address)
{
    const struct exec_proxy *proxy = proxy_of(warp->block);
    const struct memory_region *region = NULL;
    if (proxy == NULL) return;
    for (uint32_t k = 0; k < MAPS && k < proxy->map_count; k++) {
        const struct changed_map *map = &proxy->maps[k];
        if (map->address != address || (region = memory_find(address)) == NULL) continue;
        const struct exec_reported first = {map->thread, map->site, EXEC_STORE, true};
        const struct exec_reported second = {warp->index * EXEC_LANES + lane, inst->position,
                                             EXEC_LOAD, true};
        exec_report(warp, EXEC_WRONG_PROXY, &first, &second, region, address - region->address,
                    EXEC_TENSOR_MAP_BYTES);
        return;
    }
}
