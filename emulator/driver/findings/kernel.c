#include "emulator/driver/findings/kernel.h"
#include "emulator/base/hash.h"
#include "emulator/base/name.h"
#include "emulator/memory/initcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDED = 256 }; /* findings that are told apart; a repeated one is counted */

static struct {
    struct {
        const char *kind;
        uint64_t where; /* a hash of the source file; of a copy its caller */
        uint32_t lines[2];
        uint64_t region_caller;
        uint64_t *count; /* of the finding in the trace */
    } folded[FOLDED];
    size_t folded_count;
} told;

struct exec_racecheck *racecheck_begin(void)
{
    return races_watching() ? exec_racecheck_create() : NULL;
}

/* ---- telling ------------------------------------------------------------------------------ */

struct place {
    const char *file;
    uint32_t line, other_line;
};

/* A finding of `operation`, `count` times. Two are one if their lines are the same, of whatever
 * instance of a template. */
static void tell(const struct operation *operation, const char *kind, const struct place *place,
                 const struct memory_region *region, uint64_t offset, uint64_t bytes,
                 uint64_t count, const char *sentence)
{
    struct trace_record record = operation->record;
    const uint64_t region_caller = region != NULL ? region->caller : 0;
    const uint64_t where = place->file != NULL ? hash_text(place->file) : record.caller;
    size_t i = 0;
    for (; i < told.folded_count; i++)
        if (told.folded[i].kind == kind && told.folded[i].where == where &&
            told.folded[i].lines[0] == place->line &&
            told.folded[i].lines[1] == place->other_line &&
            told.folded[i].region_caller == region_caller)
            break;
    if (i < told.folded_count && told.folded[i].count != NULL) *told.folded[i].count += count;
    if (i < told.folded_count || i == FOLDED) return;
    record.kind = TRACE_FINDING;
    record.code = 0;
    record.address = region != NULL ? region->address + offset : 0;
    record.bytes = bytes;
    record.object = region != NULL ? region->id : 0;
    record.count = count;
    record.line = place->line;
    trace_copy_string(record.name, sizeof record.name, kind);
    trace_copy_string(record.file, sizeof record.file, place->file);
    trace_copy_string(record.text, sizeof record.text, sentence);
    told.folded[i].kind = kind;
    told.folded[i].where = where;
    told.folded[i].lines[0] = place->line;
    told.folded[i].lines[1] = place->other_line;
    told.folded[i].region_caller = region_caller;
    told.folded[i].count = trace_put_counted(driver.trace, &record);
    told.folded_count++;
    char placed[2 * TRACE_TEXT_SIZE];
    snprintf(placed, sizeof placed, "%s:%u: %s", place->file != NULL ? place->file : "",
             place->line, sentence);
    finding_say(place->file != NULL ? placed : sentence);
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

/* " at tile.cu:12", or nothing. */
struct at {
    char text[96];
};

static struct at at(const struct exec_racecheck_side *side)
{
    struct at at = {""};
    if (side->line != 0 && side->file != NULL)
        snprintf(at.text, sizeof at.text, " at %.60s:%u", base_name(side->file), side->line);
    return at;
}

/* ---- races inside a kernel ---------------------------------------------------------------- */

static const char *const does[EXEC_ACCESS_COUNT] = {
    [EXEC_LOAD] = "reads", [EXEC_STORE] = "writes", [EXEC_ATOMIC] = "changes atomically"};

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

/* Of threads of one block, in shared or in global memory. */
static void tell_threads(const struct operation *operation,
                         const struct exec_racecheck_found *found, const char *kernel)
{
    const struct memory_region *region = found->region;
    char other[64], memory[160] = "shared memory", sentence[TRACE_TEXT_SIZE];
    const struct exec_racecheck_side *a = &found->first, *b = &found->second;
    /* The one that reads is named first, or the one that ran later: which of the two did means
     * nothing. */
    if (a->access == EXEC_LOAD && a->known) {
        a = &found->second;
        b = &found->first;
    }
    if (a->known)
        snprintf(other, sizeof other, "thread (%u, %u, %u)", a->thread[0], a->thread[1],
                 a->thread[2]);
    else
        snprintf(other, sizeof other, "another thread of its warp");
    const bool warp = same_warp(a, b, found->block_size);
    if (region != NULL) describe_region(region, memory, sizeof memory);
    snprintf(
        sentence, sizeof sentence,
        "kernel %s: thread (%u, %u, %u) of block (%u, %u, %u) %s %s of %s, from byte %llu on,%s "
        "that %s%s %s%s: %s",
        kernel, b->thread[0], b->thread[1], b->thread[2], b->block[0], b->block[1], b->block[2],
        does[b->access], count_bytes(found->bytes).text, memory, (unsigned long long)found->offset,
        at(b).text, other, region != NULL && a->known ? " of the same block" : "", does[a->access],
        at(a).text,
        warp ? "lanes of a warp keep no step, and nothing between the two orders them "
               "(__syncwarp() or __syncthreads() would)"
             : "no __syncthreads() between the two orders them");
    tell(operation, region != NULL ? "global memory race" : "shared memory race",
         &(struct place){b->file, b->line, a->line}, region, found->offset, found->bytes,
         found->count, sentence);
}

static void tell_copy(const struct operation *operation, const struct exec_racecheck_found *found,
                      const char *kernel)
{
    char sentence[TRACE_TEXT_SIZE];
    const struct exec_racecheck_side *a = &found->first, *b = &found->second;
    snprintf(sentence, sizeof sentence,
             "kernel %s: thread (%u, %u, %u) of block (%u, %u, %u) %s %s of shared memory, from "
             "byte %llu on,%s that an asynchronous copy may still be filling: thread (%u, %u, %u) "
             "asked for it%s, and nothing has waited for it since",
             kernel, b->thread[0], b->thread[1], b->thread[2], b->block[0], b->block[1],
             b->block[2], does[b->access], count_bytes(found->bytes).text,
             (unsigned long long)found->offset, at(b).text, a->thread[0], a->thread[1],
             a->thread[2], at(a).text);
    tell(operation, "copy not awaited", &(struct place){b->file, b->line, a->line}, NULL,
         found->offset, found->bytes, found->count, sentence);
}

static void tell_blocks(const struct operation *operation, const struct exec_racecheck_found *found,
                        const char *kernel)
{
    char memory[160], sentence[TRACE_TEXT_SIZE];
    const struct exec_racecheck_side *a = &found->first, *b = &found->second;
    describe_region(found->region, memory, sizeof memory);
    snprintf(sentence, sizeof sentence,
             "kernel %s: thread (%u, %u, %u) of block (%u, %u, %u) %s %s%s that another block "
             "%s%s: nothing orders the blocks of a kernel. The bytes are in %s",
             kernel, b->thread[0], b->thread[1], b->thread[2], b->block[0], b->block[1],
             b->block[2], does[b->access], count_bytes(found->bytes).text, at(b).text,
             does[a->access], at(a).text, memory);
    tell(operation, "race between blocks", &(struct place){b->file, b->line, a->line},
         found->region, found->offset, found->bytes, found->count, sentence);
}

static void tell_barrier(const struct operation *operation,
                         const struct exec_racecheck_found *found, const char *kernel)
{
    char sentence[TRACE_TEXT_SIZE];
    const struct exec_racecheck_side *a = &found->first, *b = &found->second;
    snprintf(sentence, sizeof sentence,
             "kernel %s: of block (%u, %u, %u), thread (%u, %u, %u) waits at the barrier%s while "
             "thread (%u, %u, %u) waits at the one%s: all threads of a block must come to the same "
             "__syncthreads()",
             kernel, b->block[0], b->block[1], b->block[2], b->thread[0], b->thread[1],
             b->thread[2], at(b).text, a->thread[0], a->thread[1], a->thread[2], at(a).text);
    tell(operation, "barrier not reached", &(struct place){b->file, b->line, a->line}, NULL, 0, 0,
         found->count, sentence);
}

void racecheck_end(struct operation *operation, struct exec_racecheck *watch)
{
    char kernel[TRACE_NAME_SIZE];
    if (watch == NULL) return;
    name_plain(operation->record.name, kernel, sizeof kernel);
    for (size_t i = 0; i < exec_racecheck_count(watch); i++) {
        const struct exec_racecheck_found *found = exec_racecheck_at(watch, i);
        if (found->wrong == EXEC_WRONG_SHARED || found->wrong == EXEC_WRONG_GLOBAL)
            tell_threads(operation, found, kernel);
        else if (found->wrong == EXEC_WRONG_COPY)
            tell_copy(operation, found, kernel);
        else if (found->wrong == EXEC_WRONG_BLOCKS)
            tell_blocks(operation, found, kernel);
        else
            tell_barrier(operation, found, kernel);
    }
    exec_racecheck_destroy(watch);
}

/* ---- memory that nothing has written ------------------------------------------------------- */

void initcheck_allocated(const struct memory_region *region)
{
    if (races_watching()) memory_initcheck_follow(region);
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

void initcheck_copied(struct operation *operation, const struct races_rows *rows)
{
    const struct memory_region *region = races_watching() ? memory_find(rows->address) : NULL;
    if (region == NULL || !memory_initcheck_never(region)) return;
    char memory[160], sentence[TRACE_TEXT_SIZE];
    const uint64_t bytes = rows->width * rows->height * rows->depth;
    describe_region(region, memory, sizeof memory);
    snprintf(sentence, sizeof sentence,
             "the copy reads %s of %s: nothing has ever written there, nor was a kernel given its "
             "address",
             count_bytes(bytes).text, memory);
    tell(operation, "never written", &(struct place){NULL, 0, 0}, region,
         rows->address - region->address, bytes, 1, sentence);
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
        char kernel[TRACE_NAME_SIZE], memory[160], sentence[TRACE_TEXT_SIZE];
        const struct exec_footprint_site site = site_at(footprint, region, hole.first);
        name_plain(operation->record.name, kernel, sizeof kernel);
        describe_region(region, memory, sizeof memory);
        snprintf(sentence, sizeof sentence,
                 "kernel %s %s %s of memory that nothing has ever written, from byte %llu on of %s",
                 kernel, does[reads[i]], count_bytes(hole.bytes).text,
                 (unsigned long long)hole.first, memory);
        tell(operation, "never written", &(struct place){site.file, site.line, 0}, region,
             hole.first, hole.bytes, 1, sentence);
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
