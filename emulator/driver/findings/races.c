#include "emulator/driver/findings/races.h"
#include "emulator/driver/core/python.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/gpu_wait.h"
#include "emulator/driver/findings/initcheck.h"
#include "emulator/driver/findings/page_guard.h"
#include "emulator/memory/page_guard.h"

#include <stdlib.h>
#include <string.h>

/* The data that a report needs about an access, kept after the operation itself is gone. */
struct actor {
    struct races_actor base; /* must be first: release casts back */
    struct trace_record record;
    uint64_t stream_caller; /* return address of the call that created the stream; 0: a default
                               stream */
    uint64_t family;        /* of the operation; 0: a single operation */
    uint64_t launch;        /* request of the graph's launch that it is a node of; 0: none */
};

enum { GONE = 64 }; /* latest frees kept; for earlier ones a fault is reported without its race */

static struct races *races; /* NULL: off */

/* Operations that freed memory in stream order, kept after the memory and its accesses are gone. */
static struct {
    struct gone {
        uint64_t memory;     /* trace id of the region; 0: no entry */
        struct actor *actor; /* a reference */
        struct timeline_when when;
    } list[GONE];
    unsigned next;
} gone;

static void report(void *user, const struct races_found *found);
static void tell(const struct races_found *race, const struct memory_region *region);

bool races_begin(void)
{
    if (!environment()->races) return true;
    races = races_create(driver.timeline, report, NULL);
    return races != NULL;
}

/* ---- actors ------------------------------------------------------------------------------- */

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

static struct actor *actor_in(const struct operation *operation)
{
    struct actor *actor = actor_make(&operation->record);
    if (actor == NULL) return NULL;
    actor->stream_caller = operation->stream_caller;
    actor->family = operation->family;
    actor->launch = operation->is_node ? operation->record.request : 0;
    return actor;
}

static struct actor *actor_of(struct operation *operation)
{
    if (operation->actor == NULL) operation->actor = actor_in(operation);
    return operation->actor;
}

void races_operation_end(struct operation *operation)
{
    if (operation->actor != NULL) races_actor_release(&operation->actor->base);
    operation->actor = NULL;
}

/* ---- passing accesses on ------------------------------------------------------------------ */

/* Ordinary host memory is one region, of id 0 and from address 0 on. */
static uint64_t base_of(const struct memory_region *region)
{
    return region != NULL ? region->address : 0;
}

static void touch(struct timeline_op *op, struct actor *actor, enum races_mode mode,
                  const struct races_rows *rows)
{
    struct races_set set;
    const struct memory_region *region = memory_find(rows->address);
    if (region != NULL && region->is_private) return;
    if (!races_set_rows(&set, rows->address - base_of(region), rows->width, rows->pitch,
                        rows->height, rows->slice, rows->depth))
        return;
    races_touch(races, op, &actor->base, region != NULL ? region->id : 0, mode, &set);
}

void races_operation(struct operation *operation, enum races_mode mode,
                     const struct races_rows *rows)
{
    if (races == NULL) return;
    struct actor *actor = actor_of(operation);
    if (actor != NULL) touch(operation->op, actor, mode, rows);
}

void races_value(struct operation *operation, uint64_t address, uint64_t size)
{
    if (races == NULL) return;
    struct actor *actor = actor_in(operation);
    if (actor == NULL) return;
    const uint64_t base = base_of(memory_find(address));
    actor->base.converses = true;
    actor->base.sites = malloc(sizeof *actor->base.sites);
    if (actor->base.sites != NULL) {
        actor->base.sites[actor->base.site_count++] = (struct races_site){
            .mode = RACES_WRITE, .bytes = {address - base, address - base + size}, .strong = true};
        touch(operation->op, actor, RACES_WRITE,
              &(struct races_rows){address, size, size, 1, size, 1});
    }
    races_actor_release(&actor->base);
}

void races_freed(struct operation *operation, const struct memory_region *region)
{
    if (races == NULL) return;
    struct actor *actor = actor_of(operation);
    if (actor == NULL) return;
    struct gone *entry = &gone.list[gone.next++ % GONE];
    if (entry->memory != 0) races_actor_release(&entry->actor->base);
    actor->base.references++;
    *entry = (struct gone){region->id, actor, timeline_op_when(operation->op)};
}

static const struct gone *gone_find(uint64_t memory)
{
    for (size_t i = 0; i < GONE; i++)
        if (gone.list[i].memory == memory) return &gone.list[i];
    return NULL;
}

void races_fault(struct operation *operation, const struct findings_access *access)
{
    if (races == NULL) return;
    const struct memory_miss_report miss = memory_explain(access->address);
    if (miss.kind != MEMORY_MISS_FREED) return;
    const struct gone *freed = gone_find(miss.near.id);
    if (freed == NULL || timeline_happens_before(freed->when, operation->op, TIMELINE_PROMISED))
        return;
    struct actor *actor = actor_of(operation);
    if (actor == NULL) return;
    const uint64_t offset = access->address - miss.near.address;
    const struct races_site site = {.mode = access->mode,
                                    .bytes = {offset, offset + access->bytes},
                                    .file = access->file,
                                    .line = access->line};
    tell(&(struct races_found){.first = {&freed->actor->base, RACES_FREE, NULL},
                               .second = {&actor->base, access->mode, &site},
                               .memory = miss.near.id,
                               .offset = offset,
                               .bytes = access->bytes},
         &miss.near);
}

void races_host(enum races_mode mode, const struct races_rows *rows)
{
    if (races == NULL) return;
    const uint64_t caller = (uint64_t)(uintptr_t)thread.call.caller;
    struct actor *actor = actor_make(&(struct trace_record){.caller = caller,
                                                            .stack = stack_note(caller),
                                                            .request = thread.call.request,
                                                            .context = thread.call.context});
    if (actor == NULL) return;
    call_plain_name(actor->record.name, sizeof actor->record.name, thread.call.name);
    touch(NULL, actor, mode, rows);
    races_actor_release(&actor->base);
}

void races_host_touch(enum races_mode mode, uint64_t address, uint64_t size, uint64_t pc)
{
    /* One past the instruction, like a return address. */
    struct actor *actor = actor_make(
        &(struct trace_record){.caller = pc + 1,
                               .request = __atomic_add_fetch(&driver.requests, 1, __ATOMIC_RELAXED),
                               .stack = stack_note(pc + 1)});
    if (actor == NULL) return;
    actor->base.is_host = true;
    touch(thread.host_op, actor, mode, &(struct races_rows){address, size, size, 1, size, 1});
    races_actor_release(&actor->base);
}

bool races_watching(void)
{
    return races != NULL;
}

static bool with_host(const struct memory_region *region)
{
    return (region->kind == MEMORY_PINNED || region->kind == MEMORY_MANAGED) && !region->is_private;
}

/* Callback: the kernel is about to access a region for the first time. */
static void open_region(void *unused, const struct memory_region *region)
{
    (void)unused;
    initcheck_touched(region);
    page_guard_lift(region->address, region->size);
}

/* The same for a kernel that communicates: the host may learn values before the kernel ends. */
static void open_conversation(void *user, const struct memory_region *region)
{
    const struct operation *operation = user;
    open_region(NULL, region);
    if (with_host(region)) findings_communicates(operation->op);
}

/* Callback: a kernel without a fence for the host is about to tell it something by a value in
 * `region`. What it has written elsewhere may not be there yet, so the host is stopped there until
 * the kernel has ended and its accesses are known. */
static void tells_host(void *user, const struct exec_footprint *footprint,
                       const struct memory_region *region)
{
    const struct operation *operation = user;
    if (!with_host(region)) return;
    for (size_t i = 0; i < exec_footprint_region_count(footprint); i++) {
        const struct exec_footprint_region *other = exec_footprint_region_at(footprint, i);
        if (!with_host(other->region) || other->tells || other->bits[EXEC_STORE] == NULL) continue;
        page_guards_guess(operation->op, other->region->address);
        page_guard_restore(other->region->address, other->region->size); /* where one was lifted */
    }
}

struct exec_footprint *races_footprint(struct operation *operation,
                                       const struct exec_function_info *info)
{
    if (races == NULL) return NULL;
    struct exec_footprint *footprint =
        exec_footprint_create(info->converses ? open_conversation : open_region, operation);
    if (footprint != NULL && info->converses && !info->orders_system)
        exec_footprint_listen(footprint, tells_host);
    return footprint;
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

/* Keeps a source file's name for ever: its module may be unloaded before the race is found. */
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

/* Gives the actor the kernel's lines that accessed a region, for the accesses passed on next. */
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
        actor->base.sites[actor->base.site_count++] =
            (struct races_site){.mode = modes[site->access],
                                .bytes = {site->first, site->end},
                                .file = keep(site->file),
                                .line = site->line,
                                .strong = site->strong,
                                .deaf = site->deaf};
    }
}

/* Makes a set of the bytes with this kind of access. Returns false if it is empty or memory runs
 * out. */
static bool take_bits(struct races_set *set, const struct exec_footprint *footprint,
                      const struct exec_footprint_region *touched, enum exec_access access)
{
    struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS];
    struct races_range ranges[EXEC_FOOTPRINT_WINDOWS];
    const size_t count = exec_footprint_windows(footprint, touched, access, windows);
    for (size_t k = 0; k < count; k++)
        ranges[k] = (struct races_range){windows[k].first, windows[k].end};
    return count > 0 && races_set_bits(set, touched->bits[access], ranges, count);
}

/* Returns whether the kernel has done something other than tell and hear. */
static bool has_plain_site(const struct exec_footprint *footprint)
{
    for (size_t i = 0; i < exec_footprint_site_count(footprint); i++)
        if (!exec_footprint_site_at(footprint, i)->strong) return true;
    return false;
}

/* The actor of a kernel. `info` NULL: of a part of it. One that only sets a flag passes on what its
 * stream did before, which needs no fence on GPUs. */
static struct actor *kernel_in(const struct operation *operation,
                               const struct exec_footprint *footprint,
                               const struct exec_function_info *info)
{
    struct actor *actor = actor_in(operation);
    if (actor == NULL || info == NULL) return actor;
    actor->base.device = (unsigned)operation->context->device + 1;
    actor->base.orders_system = info->orders_system || !has_plain_site(footprint);
    actor->base.counts_system = info->counts_system;
    actor->base.tells = info->fences || !has_plain_site(footprint);
    return actor;
}

/* What accesses belong to. Early ones of the host are guarded against once a launch has ended, but
 * not where it may converse. */
enum part { PART_OF_LAUNCH, WHOLE_LAUNCH, CONVERSING_LAUNCH };

/* Passes on what a launch accessed in one region. */
static void tell_region(struct operation *operation, const struct exec_footprint *footprint,
                        const struct exec_footprint_region *touched, enum part part,
                        const struct exec_function_info *info)
{
    const bool guards = part == WHOLE_LAUNCH ||
                        (part == CONVERSING_LAUNCH && !touched->tells && !info->orders_system);
    if (touched->region->is_private) return;
    /* One actor per region, because its sites belong to that region. */
    struct actor *actor = kernel_in(operation, footprint, info);
    if (actor == NULL) return;
    actor->base.converses = part == CONVERSING_LAUNCH;
    /* A device changes it in a cache of its own: two H200s lose half of what they add there at once
     * (tests/gpu/device_atomics.cu). */
    actor->base.is_page_locked = touched->region->kind == MEMORY_PINNED;
    take_sites(actor, footprint, touched->region);
    for (enum exec_access access = 0; access < EXEC_ACCESS_COUNT; access++) {
        struct races_set set;
        if (!take_bits(&set, footprint, touched, access)) continue;
        if (guards && set.ranges == NULL && set.bits == NULL && !races_set_empty(&set)) {
            const uint64_t size = set.bounds.end - set.bounds.first;
            page_guards_raise(operation->op, modes[access],
                              &(struct races_rows){touched->region->address + set.bounds.first,
                                                   size, size, 1, size, 1});
        }
        races_touch(races, operation->op, &actor->base, touched->region->id, modes[access], &set);
    }
    races_actor_release(&actor->base);
}

/* Guards what a kernel has stored, but not where it may have told something. */
static void guard_sites(const struct operation *operation, const struct races_actor *actor,
                        const struct memory_region *region)
{
    for (size_t i = 0; i < actor->site_count; i++) {
        const struct races_site *site = &actor->sites[i];
        const uint64_t size = site->bytes.end - site->bytes.first;
        bool tells = site->strong;
        for (size_t k = 0; k < actor->site_count && !tells; k++)
            tells =
                actor->sites[k].strong && races_range_overlap(&actor->sites[k].bytes, &site->bytes);
        if (site->mode == RACES_WRITE && !tells)
            page_guards_raise(
                operation->op, RACES_WRITE,
                &(struct races_rows){region->address + site->bytes.first, size, size, 1, size, 1});
    }
}

/* Passes on what a kernel stored in memory that the host sees, which told the host something before
 * it ended and has no fence for it. */
static void tell_host(struct operation *operation, const struct exec_footprint *footprint,
                      const struct exec_footprint_region *touched)
{
    struct actor *actor = with_host(touched->region) ? actor_in(operation) : NULL;
    struct races_set set;
    if (actor == NULL) return;
    actor->base.converses = actor->base.for_host = true;
    take_sites(actor, footprint, touched->region);
    guard_sites(operation, &actor->base, touched->region);
    if (take_bits(&set, footprint, touched, EXEC_STORE))
        races_touch(races, operation->op, &actor->base, touched->region->id, RACES_WRITE, &set);
    races_actor_release(&actor->base);
}

/* Passes on what a kernel changed atomically in page-locked memory, as a kernel of another device
 * may have done at once: neither has heard of the other. */
static void tell_devices(struct operation *operation, const struct exec_footprint *footprint,
                         const struct exec_footprint_region *touched,
                         const struct exec_function_info *info)
{
    if (touched->region->kind != MEMORY_PINNED) return;
    struct actor *actor = kernel_in(operation, footprint, info);
    struct races_set set;
    if (actor == NULL) return;
    actor->base.converses = actor->base.for_atomics = actor->base.is_page_locked = true;
    take_sites(actor, footprint, touched->region);
    if (take_bits(&set, footprint, touched, EXEC_ATOMIC))
        races_touch(races, operation->op, &actor->base, touched->region->id, RACES_ATOMIC, &set);
    races_actor_release(&actor->base);
}

struct exec_footprint *races_footprint_early(void)
{
    struct exec_footprint *early = exec_footprint_create(NULL, NULL);
    if (early != NULL) exec_footprint_pause(early); /* record bytes only, no source lines */
    return early;
}

void races_early(struct operation *operation, const struct exec_footprint *footprint,
                 const struct exec_footprint *early, const struct timeline_op *primary)
{
    const struct timeline_when beside = timeline_op_when(primary);
    for (size_t i = 0; i < exec_footprint_region_count(early); i++) {
        const struct exec_footprint_region *touched = exec_footprint_region_at(early, i);
        struct actor *actor = actor_in(operation);
        if (actor == NULL) return;
        take_sites(actor, footprint, touched->region);
        for (enum exec_access access = 0; access < EXEC_ACCESS_COUNT; access++) {
            struct races_set set;
            if (take_bits(&set, early, touched, access))
                races_look(races, beside, &actor->base, touched->region->id, modes[access], &set);
        }
        races_actor_release(&actor->base);
    }
}

void races_part(struct operation *operation, const struct exec_footprint *footprint, bool converses)
{
    for (size_t i = 0; !converses && i < exec_footprint_region_count(footprint); i++)
        tell_region(operation, footprint, exec_footprint_region_at(footprint, i), PART_OF_LAUNCH,
                    NULL);
}

/* What a kernel that converses may have said and heard. */
struct conversation {
    bool hears, hears_host, waits; /* `waits`: for a value */
    bool is_open;                  /* it may have told others what it had done before it ended */
    bool is_unfenced;              /* it may have told the host, without a fence for it */
};

static struct conversation conversation_of(const struct exec_footprint *footprint,
                                           const struct races_talk *talk)
{
    struct conversation all = {.is_open = talk->uncertain || timeline_has_hurried(driver.timeline)};
    bool tells_host = false;
    for (size_t i = 0; i < exec_footprint_site_count(footprint); i++) {
        const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
        const bool host = with_host(site->region), stores = site->access != EXEC_LOAD;
        all.hears |= site->strong && site->access != EXEC_STORE;
        all.waits |= site->strong && !stores;
        all.hears_host |= host;
        tells_host |= host && site->strong && stores;
        all.is_open |= stores && (host ? site->strong || talk->info->orders_system
                                       : site->strong && talk->paused);
    }
    all.is_unfenced = tells_host && !talk->info->orders_system && !talk->uncertain;
    return all;
}

/* Makes the kernel follow what it may have heard of. */
static void follow_talk(const struct operation *operation, const struct exec_footprint *footprint,
                        const struct races_talk *talk, const struct conversation *conversation)
{
    if (conversation->hears_host) timeline_op_follows_host(operation->op);
    if (conversation->is_open ? talk->paused : conversation->hears && talk->beside_paused)
        timeline_op_follows_all(operation->op);
    for (size_t i = 0; !conversation->is_open && i < exec_footprint_region_count(footprint); i++) {
        const struct memory_region *region = exec_footprint_region_at(footprint, i)->region;
        struct actor *actor = kernel_in(operation, footprint, talk->info);
        if (actor == NULL) return;
        actor->base.converses = true;
        take_sites(actor, footprint, region);
        races_meet(races, operation->op, &actor->base, region->id);
        races_actor_release(&actor->base);
    }
}

/* What the host, and other devices, may have heard while the kernel ran. */
static struct conversation converse(struct operation *operation,
                                    const struct exec_footprint *footprint,
                                    const struct races_talk *talk)
{
    const struct conversation conversation = conversation_of(footprint, talk);
    /* Before it follows the host, of which such a kernel has heard nothing. */
    const bool is_deaf = !conversation.waits && !talk->paused && !talk->uncertain;
    for (size_t i = 0; i < exec_footprint_region_count(footprint); i++)
        if (devices_count() > 1 && conversation.is_open && is_deaf)
            tell_devices(operation, footprint, exec_footprint_region_at(footprint, i), talk->info);
    follow_talk(operation, footprint, talk, &conversation);
    if (conversation.hears_host) findings_communicates(operation->op);
    return conversation;
}

void races_launch(struct operation *operation, struct exec_footprint *footprint,
                  const struct races_talk *talk)
{
    struct conversation conversation = {.is_open = false};
    if (footprint == NULL) goto end;
    if (talk->info->converses) conversation = converse(operation, footprint, talk);
    for (size_t i = 0; i < exec_footprint_region_count(footprint); i++) {
        const struct exec_footprint_region *touched = exec_footprint_region_at(footprint, i);
        if (!conversation.is_open)
            tell_region(operation, footprint, touched,
                        talk->info->converses ? CONVERSING_LAUNCH : WHOLE_LAUNCH, talk->info);
        else if (conversation.is_unfenced)
            tell_host(operation, footprint, touched);
        page_guard_restore(touched->region->address, touched->region->size);
    }
    exec_footprint_destroy(footprint);
end: /* guesses last: a thread of the host may wait behind one */
    page_guards_know(operation->op);
}

void races_release(const struct memory_region *region)
{
    if (races == NULL) return;
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
    if (races != NULL) races_forget(races, region->id);
}

/* ---- reporting races ------------------------------------------------------------------------- */

static const struct actor *actor_behind(const struct races_side *side)
{
    return (const struct actor *)(const void *)side->actor;
}

static void take_access(struct trace_record *found, int which, const struct races_side *side)
{
    static const enum trace_access accesses[] = {[RACES_READ] = ACCESS_READ,
                                                 [RACES_WRITE] = ACCESS_WRITE,
                                                 [RACES_ATOMIC] = ACCESS_ATOMIC,
                                                 [RACES_FREE] = ACCESS_FREE};
    found->finding.sides[which].access = (uint8_t)accesses[side->mode];
    if (side->site != NULL) finding_line(found, which, side->site->file, side->site->line);
}

/* Names the call that waited although the documentation promises no wait. */
static void finding_wait(struct trace_record *found, const struct gpu_wait *wait)
{
    if (wait == NULL) return;
    finding_detail(found, "%s", wait->name);
    found->finding.things[1].made = wait->caller;
}

static const struct memory_region *region_by_id(uint64_t id)
{
    for (size_t i = 0; id != 0 && i < memory_count(); i++)
        if (memory_at(i)->id == id) return memory_at(i);
    return NULL;
}

/* Returns true for a copy whose synchronous call may have returned before the copy was done. */
static bool is_staged(const struct trace_record *work)
{
    return work->what == TRACE_COPY && work->from == TRACE_PAGEABLE && !(work->flags & TRACE_ASYNC);
}

static void tell(const struct races_found *race, const struct memory_region *region)
{
    const struct races_side *later = &race->second, *earlier = &race->first;
    const bool freed = later->mode == RACES_FREE || earlier->mode == RACES_FREE;
    /* The order in which the two ran here is chance. The one that was submitted later is named
     * first, since the wait is missing there. */
    if (actor_behind(earlier)->record.request > actor_behind(later)->record.request) {
        const struct races_side *first = later;
        later = earlier;
        earlier = first;
    }
    const struct actor *this = actor_behind(later), *other = actor_behind(earlier);
    const struct gpu_wait *wait = race->is_advice ? gpu_wait_for(&other->record) : NULL;
    const bool by_event = race->is_advice && wait == NULL && driver.programmatic;
    const enum trace_finding_id id =
        race->is_early                                       ? FINDING_RACE_OF_DEPENDENT_LAUNCH
        : by_event                                           ? FINDING_ORDERED_BY_EVENT
        : race->is_advice                                    ? FINDING_ORDERED_BY_HABIT
        : freed                                              ? FINDING_FREED_IN_USE
        : this->family != 0 && this->family == other->family ? FINDING_RACE_IN_FAMILY
        : this->launch != 0 && this->launch == other->launch ? FINDING_RACE_IN_GRAPH
        : race->is_narrow && this->base.is_page_locked       ? FINDING_RACE_OF_DEVICES_ATOMICS
        : race->is_narrow                                    ? FINDING_RACE_BEYOND_SCOPE
        : race->first.actor->for_host                        ? FINDING_RACE_UNTOLD_HOST
        : is_staged(&other->record)                          ? FINDING_RACE_WITH_STAGED_COPY
                                                             : FINDING_RACE;
    struct trace_record found = finding_at_work(id, &this->record, this->stream_caller);
    finding_other(&found, &other->record, other->stream_caller);
    take_access(&found, 0, later);
    take_access(&found, 1, earlier);
    finding_memory(&found, 0, region);
    found.address = (region != NULL ? region->address : 0) + race->offset;
    found.bytes = race->bytes;
    found.object = race->memory;
    if (race->is_advice) finding_wait(&found, wait);
    finding_put(&found);
}

/* In Python the garbage collector frees memory once no name refers to it, so the program could not
 * have waited before. */
static bool is_python_habit(const struct races_found *race)
{
    return race->is_advice && python_code() != NULL &&
           (race->second.mode == RACES_FREE || race->first.mode == RACES_FREE);
}

static void report(void *user, const struct races_found *race)
{
    (void)user;
    if (is_python_habit(race)) return;
    tell(race, region_by_id(race->memory));
}
