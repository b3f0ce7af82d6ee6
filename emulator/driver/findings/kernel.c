#include "emulator/driver/findings/kernel.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/memory/initcheck.h"

#include <stdlib.h>
#include <string.h>

struct exec_racecheck *racecheck_begin(void)
{
    return races_watching() ? exec_racecheck_create() : NULL;
}

/* ---- what a kernel did that nothing orders -------------------------------------------------- */

static const enum trace_access accesses[EXEC_ACCESS_COUNT] = {
    [EXEC_LOAD] = ACCESS_READ, [EXEC_STORE] = ACCESS_WRITE, [EXEC_ATOMIC] = ACCESS_ATOMIC};

static bool same_warp(const struct exec_racecheck_side *a, const struct exec_racecheck_side *b,
                      const uint32_t block[3])
{
    const struct exec_racecheck_side *sides[] = {a, b};
    uint32_t linear[2];
    if (!a->known || !b->known) return true; /* of its own warp only the last is known */
    for (int i = 0; i < 2; i++)
        linear[i] =
            sides[i]->thread[0] + block[0] * (sides[i]->thread[1] + block[1] * sides[i]->thread[2]);
    return linear[0] / 32 == linear[1] / 32;
}

static void take_side(struct trace_record *found, int which, const struct exec_racecheck_side *from)
{
    struct trace_side *side = &found->finding.sides[which];
    side->access = (uint8_t)accesses[from->access];
    side->known = from->known;
    memcpy(side->block, from->block, sizeof side->block);
    memcpy(side->thread, from->thread, sizeof side->thread);
    finding_line(found, which, from->file, from->line);
}

static enum trace_finding_id id_of(const struct exec_racecheck_found *wrong)
{
    const bool warp = same_warp(&wrong->first, &wrong->second, wrong->block_size);
    switch (wrong->wrong) {
    case EXEC_WRONG_SHARED:
        return warp ? FINDING_SHARED_RACE_IN_WARP : FINDING_SHARED_RACE;
    case EXEC_WRONG_GLOBAL:
        return warp ? FINDING_GLOBAL_RACE_IN_WARP : FINDING_GLOBAL_RACE;
    case EXEC_WRONG_COPY:
        return FINDING_COPY_NOT_AWAITED;
    case EXEC_WRONG_BLOCKS:
        return FINDING_RACE_BETWEEN_BLOCKS;
    case EXEC_WRONG_UNFENCED:
        return FINDING_RACE_UNFENCED;
    case EXEC_WRONG_VOLATILE:
        return FINDING_RACE_OF_VOLATILE;
    case EXEC_WRONG_BARRIER:
        break;
    }
    return FINDING_BARRIERS_APART;
}

static void report(const struct operation *operation, const struct exec_racecheck_found *wrong)
{
    const struct exec_racecheck_side *other = &wrong->first, *this = &wrong->second;
    const bool of_threads = wrong->wrong == EXEC_WRONG_SHARED || wrong->wrong == EXEC_WRONG_GLOBAL;
    /* The one that reads is named first, or the one that ran later: which of the two did means
     * nothing. */
    if (of_threads && other->access == EXEC_LOAD && other->known) {
        other = &wrong->second;
        this = &wrong->first;
    }
    struct trace_record found =
        finding_at_work(id_of(wrong), &operation->record, operation->stream_caller);
    take_side(&found, 0, this);
    take_side(&found, 1, other);
    if (wrong->region != NULL) {
        finding_memory(&found, 0, wrong->region);
        found.address = wrong->region->address + wrong->offset;
    }
    found.finding.numbers[0] = wrong->offset;
    found.bytes = wrong->bytes;
    found.count = wrong->count;
    finding_put(&found);
}

void racecheck_end(struct operation *operation, struct exec_racecheck *watch)
{
    if (watch == NULL) return;
    for (size_t i = 0; i < exec_racecheck_count(watch); i++)
        report(operation, exec_racecheck_at(watch, i));
    exec_racecheck_destroy(watch);
}

/* ---- memory that nothing has written ------------------------------------------------------- */

void initcheck_allocated(const struct memory_region *region)
{
    if (races_watching()) memory_initcheck_follow(region);
}

void initcheck_pending(uint64_t address)
{
    const struct memory_region *region = races_watching() ? memory_find(address) : NULL;
    if (region != NULL) memory_initcheck_give(region);
}

void initcheck_written(const struct races_rows *rows)
{
    const struct memory_region *region = races_watching() ? memory_find(rows->address) : NULL;
    if (region == NULL) return;
    const uint64_t first = rows->address - region->address;
    for (uint64_t z = 0; z < rows->depth; z++)
        for (uint64_t y = 0; y < rows->height; y++)
            memory_initcheck_set(region, first + z * rows->slice + y * rows->pitch, rows->width);
}

/* `site`: of a kernel, with the line; NULL: of a copy. */
static void report_unwritten(enum trace_finding_id id, const struct operation *operation,
                             const struct memory_region *region, uint64_t offset, uint64_t bytes,
                             const struct exec_footprint_site *site)
{
    struct trace_record found = finding_at_work(id, &operation->record, operation->stream_caller);
    finding_memory(&found, 0, region);
    found.address = region->address + offset;
    found.bytes = bytes;
    found.finding.numbers[0] = offset;
    found.finding.sides[0].access = ACCESS_READ;
    if (site != NULL) {
        found.finding.sides[0].access = (uint8_t)accesses[site->access];
        finding_line(&found, 0, site->file, site->line);
    }
    finding_put(&found);
}

void initcheck_copied(struct operation *operation, const struct races_rows *rows)
{
    const struct memory_region *region = races_watching() ? memory_find(rows->address) : NULL;
    if (region == NULL || !memory_initcheck_never(region)) return;
    report_unwritten(FINDING_COPY_OF_UNWRITTEN, operation, region, rows->address - region->address,
                     rows->width * rows->height * rows->depth, NULL);
}

/* The line of the kernel that reads there; the widest of what reads the region at once. */
static struct exec_footprint_site site_at(const struct exec_footprint *footprint,
                                          const struct memory_region *region, uint64_t offset)
{
    struct exec_footprint_site found = {.line = 0};
    for (size_t i = 0; i < exec_footprint_site_count(footprint); i++) {
        const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
        if (site->region != region || site->access == EXEC_STORE) continue;
        if (site->widest > found.widest) found.widest = site->widest;
        if (site->first > offset || site->end <= offset) continue;
        if (found.line != 0 && site->line >= found.line) continue;
        found.file = site->file;
        found.line = site->line;
    }
    return found;
}

/* Reads that one block more than needed makes at the end of an allocation. */
static bool is_padding(const struct memory_region *region, const struct memory_unwritten *hole,
                       uint64_t block_bytes)
{
    uint64_t most = region->size / 2;
    if (block_bytes < most) most = block_bytes;
    return memory_initcheck_some(region) && hole->first >= region->size - most;
}

static void look_for_holes(struct operation *operation, const struct exec_footprint *footprint,
                           const struct exec_footprint_region *touched, uint64_t block_threads)
{
    const struct memory_region *region = touched->region;
    static const enum exec_access reads[] = {EXEC_LOAD, EXEC_ATOMIC};
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        const uint64_t *bits = touched->bits[reads[i]];
        struct memory_unwritten hole;
        unsigned unit = 1;
        if (bits == NULL) continue;
        const uint32_t widest = site_at(footprint, region, 0).widest;
        while (unit < widest && unit < 64) unit *= 2;
        if (!memory_initcheck_find(region, bits, unit, &hole) ||
            is_padding(region, &hole, block_threads * unit))
            continue;
        struct exec_footprint_site site = site_at(footprint, region, hole.first);
        site.access = reads[i];
        report_unwritten(FINDING_READ_OF_UNWRITTEN, operation, region, hole.first, hole.bytes,
                         &site);
    }
}

void initcheck_launched(struct operation *operation, const struct exec_footprint *footprint,
                        const void *parameters, size_t bytes, uint64_t block_threads)
{
    if (!races_watching()) return;
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, (const char *)parameters + at, sizeof value);
        const struct memory_region *region =
            memory_is_device_address(value) ? memory_find(value) : NULL;
        if (region != NULL) memory_initcheck_give(region);
    }
    for (size_t i = 0; footprint != NULL && i < exec_footprint_region_count(footprint); i++) {
        const struct exec_footprint_region *touched = exec_footprint_region_at(footprint, i);
        if (touched->bits[EXEC_STORE] != NULL)
            memory_initcheck_set_bits(touched->region, touched->bits[EXEC_STORE]);
        look_for_holes(operation, footprint, touched, block_threads);
        if (touched->bits[EXEC_ATOMIC] != NULL)
            memory_initcheck_set_bits(touched->region, touched->bits[EXEC_ATOMIC]);
    }
}
