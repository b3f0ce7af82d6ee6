#include "emulator/driver/findings/initcheck.h"
#include "emulator/base/array.h"
#include "emulator/driver/core/python.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/kernel.h"
#include "emulator/memory/initcheck.h"

#include <string.h>

enum { PYTHON_ELEMENT = 16 /* an array element's largest size in bytes */ };

/* ---- pending writers and held findings ------------------------------------------------------ */

/* An operation that is pending and may write to a region. */
struct writer {
    struct timeline_when when;
    uint64_t region; /* NO_REGION: it is not pending any more */
};
enum { NO_REGION = 0 };

/* A finding about a reader that is held back, because a pending writer may turn it into a race. */
struct held {
    struct trace_record found;
    struct timeline_when reader;
    uint64_t region, first, end; /* bytes read, as offsets in the region */
};

static struct {
    /* In the order of submission, in which most end: those before `writer_first` have ended. */
    struct writer *writers;
    size_t writer_first, writer_count, writer_room;
    struct held *held;
    size_t held_count, held_room;
} wait;

static bool has_writer(uint64_t region)
{
    for (size_t i = wait.writer_first; i < wait.writer_count; i++)
        if (wait.writers[i].region == region) return true;
    return false;
}

static void put_unless_pending(const struct operation *operation,
                               const struct memory_region *region, const struct trace_record *found,
                               uint64_t first, uint64_t end)
{
    if (has_writer(region->id) &&
        array_grow(&wait.held, wait.held_count, &wait.held_room, sizeof *wait.held))
        wait.held[wait.held_count++] =
            (struct held){*found, timeline_op_when(operation->op), region->id, first, end};
    else
        finding_put(found);
}

/* Reports the held findings whose regions have no pending writer any more. */
static void tell_held(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < wait.held_count; i++) {
        if (has_writer(wait.held[i].region))
            wait.held[kept++] = wait.held[i];
        else
            finding_put(&wait.held[i].found);
    }
    wait.held_count = kept;
}

static bool is_of(const struct writer *writer, struct timeline_when when)
{
    return writer->when.track == when.track && writer->when.sequence == when.sequence;
}

/* Forgets the writers at the beginning that have ended. */
static void writers_pass(void)
{
    while (wait.writer_first < wait.writer_count &&
           wait.writers[wait.writer_first].region == NO_REGION)
        wait.writer_first++;
    if (wait.writer_first == wait.writer_count) wait.writer_first = wait.writer_count = 0;
}

static void writer_add(const struct timeline_op *op, uint64_t region)
{
    const size_t left = wait.writer_count - wait.writer_first;
    if (wait.writer_first > left) {
        memmove(wait.writers, wait.writers + wait.writer_first, left * sizeof *wait.writers);
        wait.writer_first = 0;
        wait.writer_count = left;
    }
    if (array_grow(&wait.writers, wait.writer_count, &wait.writer_room, sizeof *wait.writers))
        wait.writers[wait.writer_count++] = (struct writer){timeline_op_when(op), region};
}

/* The operation has run. Its regions were added one after the other. */
static void writer_end(const struct timeline_op *op)
{
    const struct timeline_when when = timeline_op_when(op);
    size_t i = wait.writer_first;
    while (i < wait.writer_count && !is_of(&wait.writers[i], when)) i++;
    for (; i < wait.writer_count && is_of(&wait.writers[i], when); i++)
        wait.writers[i].region = NO_REGION;
    writers_pass();
}

/* The region has ended. */
static void writers_end(uint64_t region)
{
    for (size_t i = wait.writer_first; i < wait.writer_count; i++)
        if (wait.writers[i].region == region) wait.writers[i].region = NO_REGION;
    writers_pass();
}

static void writer_ran(const struct timeline_op *op)
{
    if (wait.writer_count > 0) writer_end(op);
    if (wait.held_count > 0) tell_held();
}

/* Returns true if `op`, which writes what `held` read, is not ordered after it. */
static bool is_race(const struct held *held, const struct timeline_op *op)
{
    return !timeline_happens_before(held->reader, op, TIMELINE_ON_GPUS);
}

/* A kernel was given a region: drops held findings of copies that may have been meant to run after
 * it. */
static void copies_excused(const struct timeline_op *op, const struct memory_region *region)
{
    size_t kept = 0;
    for (size_t i = 0; i < wait.held_count; i++) {
        const struct held *held = &wait.held[i];
        if (held->region == region->id && held->found.finding.id == FINDING_COPY_OF_UNWRITTEN &&
            is_race(held, op))
            continue;
        wait.held[kept++] = *held;
    }
    wait.held_count = kept;
}

static bool any_bit(const uint64_t *bits, uint64_t first, uint64_t end)
{
    for (uint64_t at = first; bits != NULL && at < end; at++)
        if (bits[at / 64] >> at % 64 & 1) return true;
    return false;
}

/* A kernel wrote: drops held findings of unordered readers of the same bytes. */
static void kernels_excused(const struct timeline_op *op,
                            const struct exec_footprint_region *touched)
{
    size_t kept = 0;
    for (size_t i = 0; i < wait.held_count; i++) {
        const struct held *held = &wait.held[i];
        if (held->region == touched->region->id &&
            (any_bit(touched->bits[EXEC_STORE], held->first, held->end) ||
             any_bit(touched->bits[EXEC_ATOMIC], held->first, held->end)) &&
            is_race(held, op))
            continue;
        wait.held[kept++] = *held;
    }
    wait.held_count = kept;
}

/* A copy or a memset writes these bytes: drops held findings of unordered readers of them. */
static void readers_excused(const struct timeline_op *op, uint64_t region, uint64_t first,
                            uint64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < wait.held_count; i++) {
        const struct held *held = &wait.held[i];
        if (held->region == region && held->first < end && first < held->end && is_race(held, op))
            continue;
        wait.held[kept++] = *held;
    }
    wait.held_count = kept;
}

/* ---- writes --------------------------------------------------------------------------------- */

void initcheck_begins(const struct memory_region *region)
{
    if (!races_watching()) return;
    if (region->kind == MEMORY_MANAGED)
        memory_initcheck_follow_host(region);
    else
        memory_initcheck_follow(region);
}

/* Called while only the host has accessed the region: reports it if the host has only read it. */
static void look_at_host(const struct memory_region *region)
{
    if (!memory_initcheck_is_hosts(region)) return;
    if (memory_initcheck_only_read(region)) {
        struct trace_record found = finding_at_work(
            FINDING_HOST_READS_UNWRITTEN, &(struct trace_record){.caller = region->caller}, 0);
        finding_memory(&found, 0, region);
        found.address = region->address;
        found.bytes = region->size;
        found.object = region->id;
        finding_put(&found);
    }
    memory_initcheck_shared(region);
}

void initcheck_given(uint64_t address)
{
    const struct memory_region *region = races_watching() ? memory_find(address) : NULL;
    if (region != NULL) look_at_host(region);
}

void initcheck_touched(const struct memory_region *region)
{
    memory_initcheck_shared(region);
}

void initcheck_met(const struct exec_footprint *footprint)
{
    for (size_t i = 0; footprint != NULL && i < exec_footprint_region_count(footprint); i++)
        memory_initcheck_shared(exec_footprint_region_at(footprint, i)->region);
}

void initcheck_ends(const struct memory_region *region)
{
    look_at_host(region);
    if (wait.writer_count > 0) writers_end(region->id);
    if (wait.held_count > 0) tell_held();
}

void initcheck_last(void)
{
    wait.writer_first = wait.writer_count = 0;
    tell_held();
    for (size_t i = 0; i < memory_count(); i++) look_at_host(memory_at(i));
}

void initcheck_pending(const struct timeline_op *op, uint64_t address)
{
    const struct memory_region *region = races_watching() ? memory_find(address) : NULL;
    if (region != NULL && memory_initcheck_follows(region)) writer_add(op, region->id);
}

void initcheck_written(const struct operation *operation, const struct races_rows *rows)
{
    const struct memory_region *region = races_watching() ? memory_find(rows->address) : NULL;
    if (region == NULL) return;
    const uint64_t first = rows->address - region->address;
    for (uint64_t z = 0; z < rows->depth; z++) {
        for (uint64_t y = 0; y < rows->height; y++) {
            const uint64_t row = first + z * rows->slice + y * rows->pitch;
            memory_initcheck_set(region, row, rows->width);
            if (operation != NULL && wait.held_count > 0)
                readers_excused(operation->op, region->id, row, row + rows->width);
        }
    }
    if (operation != NULL) writer_ran(operation->op);
}

/* ---- readers -------------------------------------------------------------------------------- */

/* `end`: offset behind the last byte. `site`: the kernel's access, with its line; NULL: a copy. */
static void report_unwritten(enum trace_finding_id id, const struct operation *operation,
                             const struct memory_region *region, uint64_t offset, uint64_t bytes,
                             uint64_t end, const struct exec_footprint_site *site)
{
    struct trace_record found = finding_at_work(id, &operation->record, operation->stream_caller);
    finding_memory(&found, 0, region);
    found.address = region->address + offset;
    found.bytes = bytes;
    found.finding.numbers[0] = offset;
    found.finding.sides[0].access = ACCESS_READ;
    if (site != NULL) {
        found.finding.sides[0].access = (uint8_t)kernel_accesses[site->access];
        finding_line(&found, 0, site->file, site->line);
    }
    put_unless_pending(operation, region, &found, offset, end);
}

void initcheck_copied(struct operation *operation, const struct races_rows *rows)
{
    const struct memory_region *region = races_watching() ? memory_find(rows->address) : NULL;
    const uint64_t bytes = (uint64_t)rows->width * rows->height * rows->depth;
    if (region == NULL) return;
    memory_initcheck_shared(region);
    if (!memory_initcheck_never(region)) return;
    const bool is_inside = operation->record.to == TRACE_DEVICE;
    if (python_code() != NULL && (is_inside || bytes <= PYTHON_ELEMENT)) return;
    report_unwritten(FINDING_COPY_OF_UNWRITTEN, operation, region, rows->address - region->address,
                     bytes, region->size, NULL);
}

/* Finds the kernel's site that reads at `offset`: the one with the lowest line. `widest` of the
 * result is the widest read of the region at any site. */
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

/* Returns true for reads at the end of an allocation that one surplus block would make. */
static bool is_padding(const struct memory_region *region, const struct memory_unwritten *hole,
                       uint64_t block_bytes)
{
    uint64_t most = region->size / 2;
    if (block_bytes < most) most = block_bytes;
    return memory_initcheck_some(region) && hole->first >= region->size - most;
}

/* Returns what the launch read in one way and nothing has written. */
static struct memory_unwritten hole_of(const struct exec_footprint *footprint,
                                       const struct exec_footprint_region *touched,
                                       enum exec_access access, unsigned unit)
{
    struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS];
    struct memory_unwritten hole = {0};
    const size_t count = exec_footprint_windows(footprint, touched, access, windows);
    for (size_t k = 0; k < count; k++)
        memory_initcheck_find(touched->region, touched->bits[access], unit, windows[k].first,
                              windows[k].end, &hole);
    return hole;
}

/* The launch's widest read of the region: what it reads at once counts as a whole. */
static unsigned unit_of(const struct exec_footprint *footprint, const struct memory_region *region)
{
    unsigned unit = 1;
    const uint32_t widest = site_at(footprint, region, 0).widest;
    while (unit < widest && unit < 64) unit *= 2;
    return unit;
}

static void look_for_holes(struct operation *operation, const struct exec_footprint *footprint,
                           const struct exec_footprint_region *touched, uint64_t block_threads)
{
    const struct memory_region *region = touched->region;
    static const enum exec_access reads[] = {EXEC_LOAD, EXEC_ATOMIC};
    const unsigned unit = unit_of(footprint, region);
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        /* Padding is never changed on purpose, so an atomic is always reported. */
        const struct memory_unwritten hole = hole_of(footprint, touched, reads[i], unit);
        if (hole.bytes == 0 ||
            (reads[i] == EXEC_LOAD && is_padding(region, &hole, block_threads * unit)))
            continue;
        struct exec_footprint_site site = site_at(footprint, region, hole.first);
        site.access = reads[i];
        report_unwritten(FINDING_READ_OF_UNWRITTEN, operation, region, hole.first, hole.bytes,
                         hole.end, &site);
    }
}

/* Returns true if another site of the launch stores there, or changes something there atomically,
 * without having loaded it: it may have come first. */
static bool is_stored_by_others(const struct exec_footprint *footprint,
                                const struct memory_region *region,
                                const struct memory_unwritten *hole)
{
    for (size_t i = 0; i < exec_footprint_site_count(footprint); i++) {
        const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
        if (site->region == region && site->access != EXEC_LOAD && !site->updates &&
            site->first < hole->end && hole->first < site->end)
            return true;
    }
    return false;
}

/* Before the launch's stores count: what its threads have loaded, changed and stored again, though
 * nothing had written it. */
static void look_for_updates(struct operation *operation, const struct exec_footprint *footprint,
                             const struct exec_footprint_region *touched, uint64_t block_threads)
{
    enum { WORD = 64 };
    const struct memory_region *region = touched->region;
    const uint64_t *loads = touched->bits[EXEC_LOAD];
    const bool known = loads != NULL && exec_footprint_has_all_sites(footprint);
    const unsigned unit = unit_of(footprint, region);
    for (size_t i = 0; known && i < exec_footprint_site_count(footprint); i++) {
        const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
        struct memory_unwritten hole = {0};
        if (site->region != region || !site->updates) continue;
        memory_initcheck_find(region, loads, unit, site->first / WORD * WORD,
                              (site->end + WORD - 1) / WORD * WORD, &hole);
        if (hole.bytes == 0 || hole.first < site->first || hole.end > site->end ||
            is_stored_by_others(footprint, region, &hole) ||
            is_padding(region, &hole, block_threads * unit))
            continue;
        const struct exec_footprint_site load = site_at(footprint, region, hole.first);
        report_unwritten(FINDING_READ_OF_UNWRITTEN, operation, region, hole.first, hole.bytes,
                         hole.end, &load);
        return;
    }
}

/* What the launch changed in one way is written now. */
static void written(const struct exec_footprint *footprint,
                    const struct exec_footprint_region *touched, enum exec_access access)
{
    struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS];
    const size_t count = exec_footprint_windows(footprint, touched, access, windows);
    for (size_t k = 0; k < count; k++)
        memory_initcheck_set_bits(touched->region, touched->bits[access], windows[k].first,
                                  windows[k].end);
}

void initcheck_paused(const struct exec_footprint *footprint)
{
    if (!races_watching() || footprint == NULL) return;
    for (size_t i = 0; i < exec_footprint_region_count(footprint); i++)
        written(footprint, exec_footprint_region_at(footprint, i), EXEC_STORE);
}

void initcheck_launched(struct operation *operation, const struct exec_footprint *footprint,
                        const void *parameters, size_t bytes, uint64_t block_threads)
{
    if (!races_watching()) return;
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, (const char *)parameters + at, sizeof value);
        const struct memory_region *region = memory_find(value);
        if (region == NULL) continue;
        memory_initcheck_give(region);
        copies_excused(operation->op, region);
    }
    for (size_t i = 0; footprint != NULL && i < exec_footprint_region_count(footprint); i++) {
        const struct exec_footprint_region *touched = exec_footprint_region_at(footprint, i);
        look_for_updates(operation, footprint, touched, block_threads);
        written(footprint, touched, EXEC_STORE);
        look_for_holes(operation, footprint, touched, block_threads);
        written(footprint, touched, EXEC_ATOMIC);
        kernels_excused(operation->op, touched);
    }
    writer_ran(operation->op);
}
