#include "emulator/driver/findings/page_guard.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "emulator/memory/page_guard.h"

/* Longer than kernels of other host threads hold the lock, even on a busy machine: an access that
 * does not get the lock in this time is not reported. */
enum { PATIENCE_MS = 2000 };

static struct {
    struct raised {
        uint64_t guard, region;
        struct timeline_when when;
        uint64_t guessed; /* the start address of a guess (page_guards_guess); 0: real access */
    } * raised;
    size_t count, room;
} guards;

/* Called in the signal handler of the thread that touched the page. */
static enum page_guard_lock lock(void)
{
    if (thread.locked || exec_is_thread()) return PAGE_GUARD_OWN;
    return !driver.forked && driver_lock_within(PATIENCE_MS) ? PAGE_GUARD_LOCKED : PAGE_GUARD_TAKEN;
}

static void touched(uint64_t address, uint64_t size, bool is_store, uint64_t pc)
{
    races_host_touch(is_store ? RACES_WRITE : RACES_READ, address, size, pc);
}

/* Called before a system call; `caller` is a return address, one past the call instruction. */
static void handed_to_system(const void *bytes, size_t size, bool is_filled, const void *caller)
{
    if (!thread.locked)
        page_guard_open((uint64_t)(uintptr_t)bytes, size, is_filled,
                        (uint64_t)(uintptr_t)caller - 1);
}

void page_guards_begin(void)
{
    /* A function of the library that ./emulate preloads (threads/buffers.c). */
    static const struct page_guard_owner owners[] = {{lock, driver_unlock, touched, false},
                                                     {lock, driver_unlock, touched, true}};
    void (*watch)(void (*touch)(const void *, size_t, bool, const void *));
    *(void **)&watch = dlsym(RTLD_DEFAULT, "overlap_watch_buffers");
    if (watch != NULL) watch(handed_to_system);
    page_guard_install(&owners[watch != NULL]);
}

static void raise_for(const struct timeline_op *op, enum races_mode mode,
                      const struct races_rows *rows, uint64_t guessed)
{
    const struct memory_region *region = memory_find(rows->address);
    if (op == NULL || region == NULL || !races_watching()) return;
    if (region->kind != MEMORY_PINNED && region->kind != MEMORY_MANAGED) return;
    if (region->is_private) return;
    if (rows->height > 1 || rows->depth > 1) return; /* the bytes between the rows are not in use */
    if (guards.count == guards.room) {
        const size_t room = guards.room ? guards.room * 2 : 64;
        struct raised *raised = reallocarray(guards.raised, room, sizeof *raised);
        if (raised == NULL) return;
        guards.raised = raised;
        guards.room = room;
    }
    const uint64_t guard = page_guard_raise(region, rows->address, rows->width, mode == RACES_READ);
    if (guard == 0) return;
    guards.raised[guards.count++] = (struct raised){
        .guard = guard, .region = region->id, .when = timeline_op_when(op), .guessed = guessed};
}

void page_guards_raise(const struct timeline_op *op, enum races_mode mode,
                       const struct races_rows *rows)
{
    raise_for(op, mode, rows, 0);
}

void page_guards_guess(const struct timeline_op *op, uint64_t address)
{
    const struct memory_region *region = memory_find(address);
    if (region == NULL) return;
    const uint64_t size = region->address + region->size - address;
    for (size_t i = 0; i < guards.count; i++) {
        if (guards.raised[i].guessed != address) continue;
        guards.raised[i].when =
            timeline_op_when(op); /* replaces a guess for an earlier launch: one guard is enough */
        return;
    }
    raise_for(op, RACES_WRITE, &(struct races_rows){address, size, size, 1, size, 1}, address);
}

/* ---- dropping guards ----------------------------------------------------------------------- */

/* Drops the guards for which `is_over` returns true. */
static void drop_where(bool (*is_over)(const struct raised *raised, const void *why),
                       const void *why)
{
    size_t kept = 0;
    for (size_t i = 0; i < guards.count; i++) {
        const struct raised raised = guards.raised[i];
        if (is_over(&raised, why))
            page_guard_drop(raised.guard);
        else
            guards.raised[kept++] = raised;
    }
    guards.count = kept;
}

static bool was_guessed_for(const struct raised *raised, const void *op)
{
    const struct timeline_when when = timeline_op_when(op);
    return raised->guessed != 0 && raised->when.track == when.track &&
           raised->when.sequence == when.sequence;
}

void page_guards_know(const struct timeline_op *op)
{
    drop_where(was_guessed_for, op);
}

static bool is_known_to_the_host(const struct raised *raised, const void *nothing)
{
    (void)nothing;
    return timeline_host_knows(driver.timeline, raised->when, TIMELINE_PROMISED);
}

void page_guards_sweep(void)
{
    drop_where(is_known_to_the_host, NULL);
}

static bool is_before(const struct raised *raised, const void *op)
{
    return timeline_happens_before(raised->when, op, TIMELINE_PROMISED);
}

void page_guards_conversed(const struct timeline_op *op)
{
    drop_where(is_before, op);
}

static bool is_of(const struct raised *raised, const void *region)
{
    return raised->region == ((const struct memory_region *)region)->id;
}

void page_guards_forget(const struct memory_region *region)
{
    drop_where(is_of, region);
}
