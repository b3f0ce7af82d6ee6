#include "emulator/driver/findings/races.h"
#include "emulator/base/name.h"
#include "emulator/driver/findings/page_guard.h"
#include "emulator/memory/page_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDED = 256 }; /* races that are told apart; a repeated one is counted */

#define HOST "the host"

/* What a sentence needs to know of who touched, when that is long gone. */
struct actor {
    struct races_actor base; /* first: the release casts back */
    struct trace_record record;
    uint64_t stream_caller; /* who made the stream; 0: a default stream */
};

static struct {
    struct races *races; /* NULL: off */
    struct {
        uint64_t callers[2];
        uint32_t lines[2];
        uint64_t region_caller;
        uint64_t *count; /* of the finding in the trace */
    } folded[FOLDED];
    size_t folded_count;
} told;

static void report(void *user, const struct races_found *found);

bool races_begin(void)
{
    if (!environment()->races) return true;
    told.races = races_create(driver.timeline, report, NULL);
    return told.races != NULL;
}

/* ---- who ---------------------------------------------------------------------------------- */

static void actor_free(struct races_actor *base)
{
    free(base);
}

static struct actor *actor_make(const struct trace_record *record)
{
    struct actor *actor = calloc(1, sizeof *actor);
    if (actor == NULL) return NULL;
    actor->base.references = 1;
    actor->base.release = actor_free;
    actor->record = *record;
    return actor;
}

static struct actor *actor_of(struct operation *operation)
{
    if (operation->actor == NULL) {
        operation->actor = actor_make(&operation->record);
        if (operation->actor != NULL) operation->actor->stream_caller = operation->stream_caller;
    }
    return operation->actor;
}

void races_operation_end(struct operation *operation)
{
    if (operation->actor != NULL) races_actor_release(&operation->actor->base);
    operation->actor = NULL;
}

/* ---- telling ------------------------------------------------------------------------------ */

/* The region's number and its first byte's address; 0 and 0 for the host's own memory. */
static uint64_t region_of(uint64_t address, uint64_t *base)
{
    const struct memory_region *region = memory_find(address);
    *base = region != NULL ? region->address : 0;
    return region != NULL ? region->id : 0;
}

static void touch(struct timeline_op *op, struct actor *actor, enum races_mode mode,
                  const struct races_rows *rows)
{
    struct races_set set;
    uint64_t base;
    const uint64_t region = region_of(rows->address, &base);
    if (!races_set_rows(&set, rows->address - base, rows->width, rows->pitch, rows->height,
                        rows->slice, rows->depth))
        return;
    races_touch(told.races, op, &actor->base, region, mode, &set);
}

void races_operation(struct operation *operation, enum races_mode mode,
                     const struct races_rows *rows)
{
    if (told.races == NULL) return;
    struct actor *actor = actor_of(operation);
    if (actor != NULL) touch(operation->op, actor, mode, rows);
}

void races_host(enum races_mode mode, const struct races_rows *rows)
{
    if (told.races == NULL) return;
    struct actor *actor =
        actor_make(&(struct trace_record){.caller = (uint64_t)(uintptr_t)thread.call.caller,
                                          .request = thread.call.request,
                                          .context = thread.call.context});
    if (actor == NULL) return;
    call_plain_name(actor->record.name, sizeof actor->record.name, thread.call.name);
    touch(NULL, actor, mode, rows);
    races_actor_release(&actor->base);
}

void races_host_touch(enum races_mode mode, uint64_t address, uint64_t pc)
{
    /* As a return address is: one past the instruction it is about. */
    struct actor *actor = actor_make(
        &(struct trace_record){.caller = pc + 1,
                               .request = __atomic_add_fetch(&driver.requests, 1, __ATOMIC_RELAXED),
                               .stack = stack_note(pc + 1)});
    if (actor == NULL) return;
    trace_copy_string(actor->record.name, sizeof actor->record.name, HOST);
    touch(thread.host_op, actor, mode, &(struct races_rows){address, 1, 1, 1, 1, 1});
    races_actor_release(&actor->base);
}

bool races_watching(void)
{
    return told.races != NULL;
}

static bool with_host(const struct memory_region *region)
{
    return region->kind == MEMORY_PINNED || region->kind == MEMORY_MANAGED;
}

/* The kernel is about to touch a region for the first time. */
static void open_region(void *unused, const struct memory_region *region)
{
    (void)unused;
    page_guard_lift(region->address, region->size);
}

/* As above; and from now on it may tell the host, which may be quicker than the kernel's end. */
static void open_conversation(void *user, const struct memory_region *region)
{
    const struct operation *operation = user;
    open_region(NULL, region);
    if (with_host(region)) page_guards_conversed(operation->op);
}

struct exec_footprint *races_footprint(struct operation *operation, bool converses)
{
    if (told.races == NULL) return NULL;
    return exec_footprint_create(converses ? open_conversation : open_region, operation);
}

void races_pause(const struct exec_footprint *footprint, bool goes_on)
{
    for (size_t i = 0; footprint != NULL && i < exec_footprint_region_count(footprint); i++) {
        const struct memory_region *region = exec_footprint_region_at(footprint, i)->region;
        if (goes_on)
            page_guard_lift(region->address, region->size);
        else
            page_guard_restore(region->address, region->size);
    }
}

static const enum races_mode modes[EXEC_ACCESS_COUNT] = {
    [EXEC_LOAD] = RACES_READ, [EXEC_STORE] = RACES_WRITE, [EXEC_ATOMIC] = RACES_ATOMIC};

/* Names of source files for ever: a program may be unloaded before its race is found. */
static const char *keep(const char *name)
{
    static struct kept {
        struct kept *next;
        char name[];
    } * first;
    if (name == NULL) return NULL;
    for (const struct kept *kept = first; kept != NULL; kept = kept->next)
        if (strcmp(kept->name, name) == 0) return kept->name;
    struct kept *kept = malloc(sizeof *kept + strlen(name) + 1);
    if (kept == NULL) return NULL;
    strcpy(kept->name, name);
    kept->next = first;
    first = kept;
    return kept->name;
}

/* The lines of the kernel that touched a region, for the touches that are told next. */
static void take_sites(struct actor *actor, const struct exec_footprint *footprint,
                       const struct memory_region *region)
{
    const size_t count = exec_footprint_site_count(footprint);
    free(actor->base.sites);
    actor->base.site_count = 0;
    actor->base.sites = calloc(count, sizeof *actor->base.sites);
    for (size_t i = 0; i < count && actor->base.sites != NULL; i++) {
        const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
        if (site->region != region) continue;
        actor->base.sites[actor->base.site_count++] = (struct races_site){
            modes[site->access], {site->first, site->end}, keep(site->file), site->line};
    }
}

void races_launch(struct operation *operation, struct exec_footprint *footprint, bool converses)
{
    bool has_conversed = false;
    if (footprint == NULL) return;
    for (size_t i = 0; i < exec_footprint_region_count(footprint); i++) {
        const struct exec_footprint_region *touched = exec_footprint_region_at(footprint, i);
        if (converses) { /* whatever runs beside it may be ordered by what it wrote */
            has_conversed |= with_host(touched->region);
            page_guard_restore(touched->region->address, touched->region->size);
            continue;
        }
        /* One actor for each region: its sites are that region's. */
        struct actor *actor = actor_make(&operation->record);
        if (actor == NULL) break;
        actor->stream_caller = operation->stream_caller;
        take_sites(actor, footprint, touched->region);
        for (int access = 0; access < EXEC_ACCESS_COUNT; access++) {
            struct races_set set;
            if (touched->bits[access] == NULL ||
                !races_set_bits(&set, (struct races_range){0, touched->words * 64},
                                touched->bits[access]))
                continue;
            if (set.ranges == NULL && set.bits == NULL && !races_set_empty(&set)) {
                const uint64_t size = set.bounds.end - set.bounds.first;
                page_guards_raise(operation->op, modes[access],
                                  &(struct races_rows){touched->region->address + set.bounds.first,
                                                       size, size, 1, size, 1});
            }
            races_touch(told.races, operation->op, &actor->base, touched->region->id, modes[access],
                        &set);
        }
        page_guard_restore(touched->region->address, touched->region->size);
        races_actor_release(&actor->base);
    }
    if (has_conversed) page_guards_conversed(operation->op);
    exec_footprint_destroy(footprint);
}

void races_release(const struct memory_region *region)
{
    if (told.races == NULL) return;
    page_guards_forget(region);
    races_host(RACES_FREE, &(struct races_rows){.address = region->address,
                                                .width = region->size,
                                                .pitch = region->size,
                                                .height = 1,
                                                .slice = region->size,
                                                .depth = 1});
    races_forget_region(region);
}

void races_forget_region(const struct memory_region *region)
{
    if (told.races != NULL) races_forget(told.races, region->id);
}

/* ---- sentences ---------------------------------------------------------------------------- */

static const char *const verbs[] = {[RACES_READ] = "reads",
                                    [RACES_WRITE] = "writes",
                                    [RACES_ATOMIC] = "changes atomically",
                                    [RACES_FREE] = "frees"};

static const struct actor *actor_behind(const struct races_side *side)
{
    return (const struct actor *)(const void *)side->actor;
}

void describe_operation(const struct trace_record *record, char *text, size_t size)
{
    static const char *const copies[TRACE_PLACE_COUNT][TRACE_PLACE_COUNT] = {
        [TRACE_PAGEABLE][TRACE_DEVICE] = "copy to the device",
        [TRACE_PINNED][TRACE_DEVICE] = "copy to the device",
        [TRACE_DEVICE][TRACE_PAGEABLE] = "copy to the host",
        [TRACE_DEVICE][TRACE_PINNED] = "copy to the host",
        [TRACE_DEVICE][TRACE_DEVICE] = "copy inside the device",
    };
    char name[TRACE_NAME_SIZE];
    switch (record->what) {
    case TRACE_KERNEL:
        name_plain(record->name, name, sizeof name);
        snprintf(text, size, "kernel %s", name);
        return;
    case TRACE_COPY: {
        const char *copy = copies[record->from][record->to];
        snprintf(text, size, "the %s", copy != NULL ? copy : "copy");
        return;
    }
    case TRACE_SET:
        snprintf(text, size, "the memset");
        return;
    case TRACE_WHAT_NONE:
        snprintf(text, size, "%s", record->name[0] != '\0' ? record->name : "the host");
        return;
    default:
        snprintf(text, size, "%s", trace_what_name(record->what));
        return;
    }
}

/* Where one side was: "in the stream made by the call before 0x..., at scale.cu:12". */
static void where_it_was(const struct races_side *side, char *text, size_t size)
{
    const struct actor *actor = actor_behind(side);
    char stream[80] = "";
    if (actor->record.stream != 0 && actor->stream_caller != 0)
        snprintf(stream, sizeof stream, "in the stream made by the call before 0x%llx",
                 (unsigned long long)actor->stream_caller);
    else if (actor->record.stream != 0)
        snprintf(stream, sizeof stream, "in a default stream");
    if (side->site == NULL || side->site->file == NULL) {
        snprintf(text, size, "%s", stream);
        return;
    }
    const char *base = strrchr(side->site->file, '/');
    snprintf(text, size, "%s%sat %s:%u", stream, stream[0] != '\0' ? ", " : "",
             base != NULL ? base + 1 : side->site->file, side->site->line);
}

/* Counts a race that has been told before. */
static bool fold(const struct races_side *later, const struct races_side *earlier,
                 const struct memory_region *region, size_t *index)
{
    const struct races_side *sides[] = {later, earlier};
    uint64_t callers[2];
    uint32_t lines[2];
    const uint64_t region_caller = region != NULL ? region->caller : 0;
    for (int i = 0; i < 2; i++) {
        const struct actor *actor = actor_behind(sides[i]);
        callers[i] = actor->record.caller;
        lines[i] = sides[i]->site != NULL ? sides[i]->site->line : 0;
    }
    for (*index = 0; *index < told.folded_count; ++*index) {
        const bool same = memcmp(told.folded[*index].callers, callers, sizeof callers) == 0 &&
                          memcmp(told.folded[*index].lines, lines, sizeof lines) == 0 &&
                          told.folded[*index].region_caller == region_caller;
        if (!same) continue;
        if (told.folded[*index].count != NULL) ++*told.folded[*index].count;
        return true;
    }
    if (told.folded_count == FOLDED) return true; /* enough has been said */
    memcpy(told.folded[*index].callers, callers, sizeof callers);
    memcpy(told.folded[*index].lines, lines, sizeof lines);
    told.folded[*index].region_caller = region_caller;
    told.folded[*index].count = NULL;
    told.folded_count++;
    return false;
}

static void report(void *user, const struct races_found *found)
{
    char what[96], other[96], where[256], other_where[256], memory[160], sentence[1024];
    const struct races_side *later = &found->second, *earlier = &found->first;
    const struct actor *a = actor_behind(earlier);
    const struct actor *b = actor_behind(later);
    const struct memory_region *region = NULL;
    size_t index;
    (void)user;
    /* The order in which they ran here means nothing: the one that was asked for later is named
     * first, since there the wait is missing. */
    if (a->record.request > b->record.request) {
        const struct races_side *first = later;
        later = earlier;
        earlier = first;
        b = a;
        a = actor_behind(earlier);
    }
    for (size_t i = 0; found->memory != 0 && i < memory_count() && region == NULL; i++)
        if (memory_at(i)->id == found->memory) region = memory_at(i);
    if (fold(later, earlier, region, &index)) return;

    describe_operation(&b->record, what, sizeof what);
    describe_operation(&a->record, other, sizeof other);
    where_it_was(later, where, sizeof where);
    where_it_was(earlier, other_where, sizeof other_where);
    if (region != NULL)
        describe_region(region, memory, sizeof memory);
    else
        snprintf(memory, sizeof memory, "the host's own memory");
    struct trace_record record = {.kind = TRACE_FINDING,
                                  .context = b->record.context,
                                  .stream = b->record.stream,
                                  .request = b->record.request,
                                  .caller = b->record.caller,
                                  .stack = b->record.stack,
                                  .address = (region != NULL ? region->address : 0) + found->offset,
                                  .bytes = found->bytes,
                                  .object = found->memory,
                                  .count = 1};
    const bool freed = later->mode == RACES_FREE || earlier->mode == RACES_FREE;
    trace_copy_string(record.name, sizeof record.name, freed ? "freed in use" : "race");
    snprintf(sentence, sizeof sentence,
             "%s%s%s%s %s %s that %s, asked for by the call before 0x%llx%s%s, %s: nothing "
             "orders the two. The bytes are in %s",
             what, where[0] != '\0' ? " (" : "", where, where[0] != '\0' ? ")" : "",
             verbs[later->mode], count_bytes(found->bytes).text, other,
             (unsigned long long)a->record.caller, other_where[0] != '\0' ? ", " : "", other_where,
             verbs[earlier->mode], memory);
    trace_copy_string(record.text, sizeof record.text, sentence);
    told.folded[index].count = trace_put_counted(driver.trace, &record);
    finding_say(sentence);
}
