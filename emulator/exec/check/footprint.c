#include "emulator/exec/check/footprint.h"
#include "emulator/base/array.h"
#include "emulator/base/pages.h"
#include "emulator/exec/check/owners.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/memory/memory.h"

struct exec_footprint {
    pthread_mutex_t lock;
    struct exec_footprint_region *regions;
    size_t region_count, region_room;
    struct exec_footprint_site *sites;
    size_t site_count, site_room;
    bool sites_lost; /* some bits may lie outside of all sites */
    void (*met)(void *user, const struct memory_region *region);
    void (*tells)(void *user, const struct exec_footprint *footprint,
                  const struct memory_region *region);
    void *user;
};

struct exec_footprint *
exec_footprint_create(void (*met)(void *user, const struct memory_region *region), void *user)
{
    struct exec_footprint *footprint = calloc(1, sizeof *footprint);
    if (footprint == NULL) return NULL;
    pthread_mutex_init(&footprint->lock, NULL);
    footprint->met = met;
    footprint->user = user;
    return footprint;
}

void exec_footprint_listen(struct exec_footprint *footprint,
                           void (*tells)(void *user, const struct exec_footprint *footprint,
                                         const struct memory_region *region))
{
    footprint->tells = tells;
}

/* Adds a window to `count` ascending ones that are apart, joined with those that it meets. Where
 * there is no room for another, its neighbour grows. Returns their new number. */
static size_t window_add(struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS], size_t count,
                         struct exec_footprint_window added)
{
    size_t at = 0, end;
    while (at < count && windows[at].end < added.first) at++;
    for (end = at; end < count && windows[end].first <= added.end; end++) {
        if (windows[end].first < added.first) added.first = windows[end].first;
        if (windows[end].end > added.end) added.end = windows[end].end;
    }
    if (end == at && count == EXEC_FOOTPRINT_WINDOWS) {
        if (at == count) added.first = windows[--at].first;
        if (windows[at].end > added.end) added.end = windows[at].end;
        end = at + 1;
    }
    memmove(&windows[at + 1], &windows[end], (count - end) * sizeof *windows);
    windows[at] = added;
    return count + 1 - (end - at);
}

size_t exec_footprint_windows(const struct exec_footprint *footprint,
                              const struct exec_footprint_region *region, enum exec_access access,
                              struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS])
{
    enum { WORD = 64 };
    size_t count = 0;
    if (region->bits[access] == NULL) return 0;
    if (footprint->sites_lost) {
        windows[0] = (struct exec_footprint_window){0, region->words * WORD};
        return 1;
    }
    for (size_t i = 0; i < footprint->site_count; i++) {
        const struct exec_footprint_site *site = &footprint->sites[i];
        if (site->region != region->region || site->access != access) continue;
        const struct exec_footprint_window window = {site->first / WORD * WORD,
                                                     (site->end + WORD - 1) / WORD * WORD};
        count = window_add(windows, count, window);
    }
    return count;
}

/* Clears the bitmaps, so that the next launch, which mostly has the same regions, gets them as
 * zeros. */
static void bits_clear(const struct exec_footprint *footprint)
{
    for (size_t i = 0; i < footprint->region_count; i++) {
        const struct exec_footprint_region *region = &footprint->regions[i];
        for (enum exec_access access = 0; access < EXEC_ACCESS_COUNT; access++) {
            struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS];
            const size_t count = exec_footprint_windows(footprint, region, access, windows);
            for (size_t k = 0; k < count; k++)
                memset((unsigned char *)region->bits[access] + windows[k].first / 8, 0,
                       (windows[k].end - windows[k].first) / 8);
        }
    }
}

/* Returns how many bytes of the region may have been accessed. */
static uint64_t touched_of(const struct exec_footprint *footprint,
                           const struct exec_footprint_region *region)
{
    uint64_t bytes = 0;
    for (enum exec_access access = 0; access < EXEC_ACCESS_COUNT; access++) {
        struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS];
        const size_t count = exec_footprint_windows(footprint, region, access, windows);
        for (size_t k = 0; k < count; k++) bytes += windows[k].end - windows[k].first;
    }
    return bytes;
}

void exec_footprint_pause(struct exec_footprint *footprint)
{
    footprint->sites_lost = true;
}

void exec_footprint_destroy(struct exec_footprint *footprint)
{
    if (footprint == NULL) return;
    if (!footprint->sites_lost) bits_clear(footprint);
    for (size_t i = 0; i < footprint->region_count; i++) {
        const struct exec_footprint_region *region = &footprint->regions[i];
        const uint64_t touched = touched_of(footprint, region);
        for (int k = 0; k < EXEC_ACCESS_COUNT; k++)
            (footprint->sites_lost ? pages_give : pages_give_zeroed)(
                region->bits[k], region->words * sizeof *region->bits[k]);
        exec_owners_destroy(region->owners, touched);
    }
    free(footprint->regions);
    free(footprint->sites);
    pthread_mutex_destroy(&footprint->lock);
    free(footprint);
}

void exec_footprint_join(struct exec_footprint *footprint, const struct exec_footprint *other)
{
    for (size_t i = 0; i < other->region_count; i++) {
        const struct exec_footprint_region *from = &other->regions[i];
        for (int access = 0; access < EXEC_ACCESS_COUNT; access++) {
            if (from->bits[access] == NULL) continue;
            uint64_t *bits = exec_footprint_bits(footprint, from->region, (enum exec_access)access);
            for (uint64_t k = 0; bits != NULL && k < from->words; k++)
                bits[k] |= from->bits[access][k];
        }
    }
}

size_t exec_footprint_region_count(const struct exec_footprint *footprint)
{
    return footprint->region_count;
}

const struct exec_footprint_region *exec_footprint_region_at(const struct exec_footprint *footprint,
                                                             size_t index)
{
    return &footprint->regions[index];
}

bool exec_footprint_has_all_sites(const struct exec_footprint *footprint)
{
    return !footprint->sites_lost;
}

size_t exec_footprint_site_count(const struct exec_footprint *footprint)
{
    return footprint->site_count;
}

const struct exec_footprint_site *exec_footprint_site_at(const struct exec_footprint *footprint,
                                                         size_t index)
{
    return &footprint->sites[index];
}

void exec_footprint_empty(struct exec_footprint *footprint)
{
    bits_clear(footprint);
    footprint->site_count = 0;
}

static struct exec_footprint_region *region_find(struct exec_footprint *footprint,
                                                 const struct memory_region *region)
{
    for (size_t i = 0; i < footprint->region_count; i++)
        if (footprint->regions[i].region == region) return &footprint->regions[i];
    if (!array_grow(&footprint->regions, footprint->region_count, &footprint->region_room,
                    sizeof *footprint->regions))
        return NULL;
    struct exec_footprint_region *found = &footprint->regions[footprint->region_count++];
    *found = (struct exec_footprint_region){.region = region, .words = (region->size + 63) / 64};
    if (footprint->met != NULL) footprint->met(footprint->user, region);
    return found;
}

uint64_t *exec_footprint_bits(struct exec_footprint *footprint, const struct memory_region *region,
                              enum exec_access access)
{
    uint64_t *bits = NULL;
    pthread_mutex_lock(&footprint->lock);
    struct exec_footprint_region *found = region_find(footprint, region);
    if (found != NULL) {
        if (found->bits[access] == NULL)
            found->bits[access] = pages_take(found->words * sizeof *found->bits[access]);
        bits = found->bits[access];
    }
    pthread_mutex_unlock(&footprint->lock);
    return bits;
}

struct exec_owners *exec_footprint_owners(struct exec_footprint *footprint,
                                          const struct memory_region *region, bool maps)
{
    struct exec_owners *owners = NULL;
    pthread_mutex_lock(&footprint->lock);
    struct exec_footprint_region *found = region_find(footprint, region);
    if (found != NULL) {
        if (found->owners == NULL) found->owners = exec_owners_create(region->size, maps);
        owners = found->owners;
    }
    pthread_mutex_unlock(&footprint->lock);
    return owners;
}

void exec_footprint_tell(struct exec_footprint *footprint, const struct memory_region *region)
{
    pthread_mutex_lock(&footprint->lock);
    struct exec_footprint_region *found = region_find(footprint, region);
    if (found != NULL && !found->tells) {
        found->tells = true;
        if (footprint->tells != NULL) footprint->tells(footprint->user, footprint, region);
    }
    pthread_mutex_unlock(&footprint->lock);
}

void exec_footprint_add_site(struct exec_footprint *footprint,
                             const struct exec_footprint_site *site)
{
    pthread_mutex_lock(&footprint->lock);
    size_t i = 0;
    for (; i < footprint->site_count; i++) {
        struct exec_footprint_site *known = &footprint->sites[i];
        if (known->region != site->region || known->access != site->access ||
            known->line != site->line || known->file != site->file || known->deaf != site->deaf)
            continue;
        if (site->first < known->first) known->first = site->first;
        if (site->end > known->end) known->end = site->end;
        if (site->widest > known->widest) known->widest = site->widest;
        known->strong |= site->strong;
        known->updates &= site->updates;
        break;
    }
    const bool is_new = i == footprint->site_count;
    if (is_new && array_grow(&footprint->sites, footprint->site_count, &footprint->site_room,
                             sizeof *footprint->sites))
        footprint->sites[footprint->site_count++] = *site;
    else if (is_new)
        footprint->sites_lost = true;
    pthread_mutex_unlock(&footprint->lock);
}
