#include "emulator/memory/page_guard.h"

#include <assert.h>
#include <stddef.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARDS = 1024 };

struct guard {
    uint64_t number;     /* 0: free */
    uint64_t first, end; /* pages */
    uint64_t from, to;   /* bytes in use */
    bool reads_allowed;
};

static struct {
    const struct page_guard_owner *owner;
    uint64_t numbers, drops;
    struct guard guards[GUARDS];
    size_t used; /* slots in use; all behind are free */
} state;

void page_guard_install(const struct page_guard_owner *owner)
{
    state.owner = owner;
}

static int protection_of(uint64_t page)
{
    int protection = PROT_READ | PROT_WRITE;
    for (size_t i = 0; i < state.used; i++) {
        const struct guard *guard = &state.guards[i];
        if (guard->number == 0 || page < guard->first || page >= guard->end) continue;
        protection &= guard->reads_allowed ? PROT_READ : PROT_NONE;
    }
    return protection;
}

static void protect(uint64_t first, uint64_t end, int protection)
{
    mprotect((void *)(uintptr_t)first, end - first, protection);
}

/* Sets the protection of all pages from `first` to `end` as the guards require, with few system
 * calls. */
static void apply(uint64_t first, uint64_t end)
{
    assert(first % PAGE == 0 && end % PAGE == 0);
    while (first < end) {
        const int protection = protection_of(first);
        uint64_t next = first + PAGE;
        /* The protection can change only where a guard begins or ends. */
        uint64_t stop = end;
        for (size_t i = 0; i < state.used; i++) {
            const struct guard *guard = &state.guards[i];
            if (guard->number == 0) continue;
            if (guard->first > first && guard->first < stop) stop = guard->first;
            if (guard->end > first && guard->end < stop) stop = guard->end;
        }
        if (stop > next) next = stop;
        protect(first, next, protection);
        first = next;
    }
}

/* Finds the span of guarded pages of these bytes, from the first guard's to the last one's. Returns
 * false when none is guarded. */
static bool guarded_part(uint64_t address, uint64_t size, uint64_t *first, uint64_t *end)
{
    *first = UINT64_MAX;
    *end = 0;
    for (size_t i = 0; i < state.used; i++) {
        const struct guard *guard = &state.guards[i];
        if (guard->number == 0 || guard->end <= address || address + size <= guard->first) continue;
        const uint64_t from = guard->first > address ? guard->first : address / PAGE * PAGE;
        const uint64_t to =
            guard->end < address + size ? guard->end : (address + size + PAGE - 1) / PAGE * PAGE;
        if (from < *first) *first = from;
        if (to > *end) *end = to;
    }
    return *first < *end;
}

/* A page that is in use in part only is guarded where the rest is the region's own, and the system
 * calls that are given it are told of, or there are no other bytes of the region in it. */
static bool shares_page(const struct memory_region *region, bool is_end)
{
    return region->registered || (!state.owner->knows_buffers && !is_end);
}

static uint64_t first_page_of(const struct memory_region *region, uint64_t address)
{
    const bool shares = shares_page(region, address == region->address);
    return (shares ? address + PAGE - 1 : address) / PAGE * PAGE;
}

static uint64_t end_page_of(const struct memory_region *region, uint64_t end)
{
    const bool shares = shares_page(region, end == region->address + region->size);
    return (shares ? end : end + PAGE - 1) / PAGE * PAGE;
}

uint64_t page_guard_raise(const struct memory_region *region, uint64_t address, uint64_t size,
                          bool reads_allowed)
{
    const uint64_t end = address + size;
    assert(region->address <= address && end <= region->address + region->size);
    if (state.owner == NULL) return 0;
    const uint64_t first_page = first_page_of(region, address);
    const uint64_t end_page = end_page_of(region, end);
    if (first_page >= end_page) return 0;
    size_t slot = 0;
    while (slot < state.used && state.guards[slot].number != 0) slot++;
    if (slot == GUARDS) return 0;
    if (slot == state.used) state.used++;
    assert(state.used <= GUARDS);
    state.guards[slot] =
        (struct guard){++state.numbers, first_page, end_page, address, end, reads_allowed};
    apply(first_page, end_page);
    return state.numbers;
}

void page_guard_drop(uint64_t number)
{
    for (size_t i = 0; number != 0 && i < state.used; i++) {
        struct guard *guard = &state.guards[i];
        if (guard->number != number) continue;
        guard->number = 0;
        state.drops++;
        apply(guard->first, guard->end);
        while (state.used > 0 && state.guards[state.used - 1].number == 0) state.used--;
        return;
    }
}

void page_guard_lift(uint64_t address, uint64_t size)
{
    uint64_t first, end;
    if (state.used > 0 && guarded_part(address, size, &first, &end))
        protect(first, end, PROT_READ | PROT_WRITE);
}

void page_guard_restore(uint64_t address, uint64_t size)
{
    uint64_t first, end;
    if (state.used > 0 && guarded_part(address, size, &first, &end)) apply(first, end);
}

/* Cuts the bytes from *address to *end down to those from the first one in use to the last. Returns
 * false when none is. */
static bool part_in_use(uint64_t *address, uint64_t *end, bool is_store)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < state.used; i++) {
        const struct guard *guard = &state.guards[i];
        if (guard->number == 0 || (guard->reads_allowed && !is_store)) continue;
        if (guard->to <= *address || *end <= guard->from) continue;
        if (guard->from < first) first = guard->from;
        if (guard->to > last) last = guard->to;
    }
    if (first > *address) *address = first;
    if (last < *end) *end = last;
    return *address < *end;
}

/* Returns true when another thread may have dropped the guard at which this thread trapped: a guard
 * has been dropped since this thread's latest trap. Otherwise a fault without a guard is an error
 * of the program. */
static bool may_be_dropped(void)
{
    static _Thread_local uint64_t known_drops;
    const bool news = known_drops != state.drops;
    known_drops = state.drops;
    return news;
}

bool page_guard_handle(uint64_t address, uint64_t size, bool is_store, uint64_t pc)
{
    const uint64_t page = address / PAGE * PAGE;
    if (state.numbers == 0) return false;
    const enum page_guard_lock lock = state.owner->lock();
    const bool is_guarded = protection_of(page) != (PROT_READ | PROT_WRITE);
    const bool goes_on = is_guarded || may_be_dropped();
    uint64_t from = address, to = address + size;
    if (is_guarded && lock == PAGE_GUARD_LOCKED && part_in_use(&from, &to, is_store))
        state.owner->touch(from, to - from, is_store, pc);
    /* After a load the page stays closed for stores, so that a later store is reported. Without the
     * lock another thread may drop the guard meanwhile, so the page must be opened completely. */
    if (is_guarded)
        protect(page, page + PAGE,
                is_store || lock == PAGE_GUARD_TAKEN ? PROT_READ | PROT_WRITE : PROT_READ);
    if (lock == PAGE_GUARD_LOCKED) state.owner->unlock();
    return goes_on;
}

static void open_part(uint64_t address, uint64_t size, bool is_store, uint64_t pc, bool tells)
{
    uint64_t first, end;
    if (!guarded_part(address, size, &first, &end)) return;
    bool is_closed = false;
    for (uint64_t page = first; page < end && !is_closed; page += PAGE)
        is_closed = !(protection_of(page) & (is_store ? PROT_WRITE : PROT_READ));
    if (!is_closed) return;
    uint64_t from = address, to = address + size;
    if (tells && part_in_use(&from, &to, is_store))
        state.owner->touch(from, to - from, is_store, pc);
    protect(first, end, PROT_READ | PROT_WRITE);
}

void page_guard_open(uint64_t address, uint64_t size, bool is_store, uint64_t pc)
{
    if (state.used == 0) return;
    const enum page_guard_lock lock = state.owner->lock();
    open_part(address, size, is_store, pc, lock == PAGE_GUARD_LOCKED);
    if (lock == PAGE_GUARD_LOCKED) state.owner->unlock();
}

void page_guard_forget(void)
{
    if (state.used == 0) return; /* the usual case: avoids writing, and so copying, this page */
    for (size_t i = 0; i < state.used; i++)
        if (state.guards[i].number != 0)
            protect(state.guards[i].first, state.guards[i].end, PROT_READ | PROT_WRITE);
    state.used = 0;
}
