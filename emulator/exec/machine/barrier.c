/* The barriers of a block: which threads have arrived, and when they go on. PTX ISA 9.7.13.1. Since
 * Volta each thread arrives for itself, and threads that have exited are not waited for. The
 * instructions are in ops/barrier.c.
 */
#include "emulator/exec/check/objects.h"
#include "emulator/exec/check/unwritten.h"
#include "emulator/exec/machine/private.h"

#include <assert.h>

/* Returns true if every thread that has not exited has arrived. Warps take turns from first to
 * last, so usually the last one is missing; it is tested first. */
static bool all_arrived(const struct exec_block *block, const struct exec_barrier *barrier)
{
    for (uint32_t k = block->warp_count; k-- > 0;)
        if (block->warps[k].live & ~barrier->arrived[k]) return false;
    return true;
}

/* A warp whose live lanes have all arrived counts in full: the count is a multiple of the warp size
 * even when the last warp is not full. */
static uint32_t arrivals_of(const struct exec_warp *warp, uint32_t arrived)
{
    return arrived && !(warp->live & ~arrived) ? EXEC_LANES : (uint32_t)__builtin_popcount(arrived);
}

/* Returns how many threads have arrived at a barrier with a count. */
static uint32_t arrivals(const struct exec_block *block, const struct exec_barrier *barrier)
{
    uint32_t sum = barrier->before;
    for (uint32_t k = 0; k < block->warp_count; k++)
        sum += arrivals_of(&block->warps[k], barrier->arrived[k]);
    return sum;
}

/* A barrier with a count counts arrivals, whoever makes them: a warp may arrive for the one whose
 * turn is next, and that may be itself (FlashAttention's and quack's kernels begin so). */
static void arrive(const struct exec_warp *warp, struct exec_barrier *barrier)
{
    uint32_t *arrived = &barrier->arrived[warp->index];
    const bool whole = !(warp->live & ~*arrived);
    if (barrier->expected && (*arrived & warp->mask)) {
        const uint32_t again = whole ? *arrived : *arrived & warp->mask;
        barrier->before += arrivals_of(warp, again);
        *arrived &= ~again;
    }
    *arrived |= warp->mask;
}

static void barrier_forget(struct exec_block *block, uint32_t id)
{
    struct exec_barrier *barrier = &block->barriers[id];
    barrier->used = false;
    barrier->expected = barrier->positive = barrier->asked = barrier->before = 0;
    for (uint32_t k = 0; k < block->warp_count; k++) barrier->arrived[k] = 0;
    block->barriers_used &= ~(1u << id);
}

static struct exec_racecheck_side side_of(const struct exec_warp *warp,
                                          const struct exec_fragment *fragment)
{
    const struct exec_worker *worker = warp->worker;
    const struct exec_position *position =
        &worker->function->program->positions[fragment->pc->position];
    const uint32_t *size = worker->launch->block, *block = warp->block->position;
    const uint32_t thread = warp->index * EXEC_LANES + (uint32_t)__builtin_ctz(fragment->mask);
    return (struct exec_racecheck_side){
        .file = position->file,
        .line = position->line,
        .known = true,
        .block = {block[0], block[1], block[2]},
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]}};
}

/* Reports two fragments that waited at the same barrier in two places. */
static void watch_pair(const struct exec_worker *worker, const struct exec_warp *first_warp,
                       const struct exec_fragment *first, const struct exec_warp *second_warp,
                       const struct exec_fragment *second)
{
    const uint32_t *size = worker->launch->block;
    exec_racecheck_add(worker->launch->watch,
                       &(struct exec_racecheck_found){.wrong = EXEC_WRONG_BARRIER,
                                                      .first = side_of(first_warp, first),
                                                      .second = side_of(second_warp, second),
                                                      .block_index = first_warp->block->index,
                                                      .block_size = {size[0], size[1], size[2]},
                                                      .count = 1});
}

/* Reports threads that are about to leave barrier `id` if they came to it in two source places.
 * Usually all came to the same instruction. */
static void watch_places(const struct exec_block *block, uint32_t id)
{
    const struct exec_position *positions = block->worker->function->program->positions;
    const struct exec_position *place = NULL;
    const struct exec_warp *first_warp = NULL;
    const struct exec_fragment *first = NULL;
    for (uint32_t k = 0; k < block->warp_count; k++)
        for (uint32_t f = 0; f < block->warps[k].fragment_count; f++) {
            const struct exec_fragment *fragment = &block->warps[k].fragments[f];
            if (fragment->wait != EXEC_WAIT_BARRIER || fragment->barrier != id) continue;
            if (first != NULL && fragment->pc == first->pc) continue;
            const struct exec_position *here = &positions[fragment->pc->position];
            if (here->file == NULL || fragment->pc->inner != NULL) return;
            if (first == NULL) {
                first_warp = &block->warps[k];
                first = fragment;
                place = here;
            } else if (here->line != place->line || here->file != place->file) {
                watch_pair(block->worker, first_warp, first, &block->warps[k], fragment);
                return;
            }
        }
}

/* Collects the lanes that have exited without this barrier although they repeated a loop that
 * contains it: for them it was in a branch that they did not take. A thread that leaves a kernel
 * early has done nothing wrong, and its stores are visible. Returns true if there are any. */
static bool absent_lanes(const struct exec_block *block, const struct exec_barrier *barrier,
                         uint32_t absent[EXEC_MAX_WARPS])
{
    uint32_t any = 0;
    if (!block->worker->function->program->watched) return false; /* warp->rounds is not kept */
    for (uint32_t k = 0; k < block->warp_count; k++) {
        const struct exec_warp *warp = &block->warps[k];
        absent[k] = warp->existing & ~warp->live & ~barrier->arrived[k] & warp->rounds;
        any |= absent[k];
    }
    return any != 0 && !barrier->expected;
}

static inline bool is_complete(const struct exec_block *block, const struct exec_barrier *barrier)
{
    return barrier->expected ? arrivals(block, barrier) >= barrier->expected
                             : all_arrived(block, barrier);
}

/* Orders what all threads have done before what they do behind barrier `id`, which is complete. */
static void order_threads(struct exec_block *block, const struct exec_barrier *barrier)
{
    uint32_t absent[EXEC_MAX_WARPS];
    if (absent_lanes(block, barrier, absent))
        exec_shadow_order_without(block, absent);
    else
        exec_shadow_order(block);
    if (block->unwritten) exec_unwritten_met(block);
    exec_objects_met(block->objects);
}

/* Releases every thread that waits at barrier `id`, which is complete. */
static __attribute__((noinline)) void barrier_release(struct exec_block *block, uint32_t id)
{
    struct exec_barrier *barrier = &block->barriers[id];
    order_threads(block, barrier);
    if (block->worker->launch->watch != NULL && !block->named_barriers) watch_places(block, id);
    for (uint32_t k = 0; k < block->warp_count; k++) {
        struct exec_warp *warp = &block->warps[k];
        if (!barrier->arrived[k]) continue;
        for (uint32_t f = 0; f < warp->fragment_count; f++) {
            struct exec_fragment *fragment = &warp->fragments[f];
            if (fragment->wait != EXEC_WAIT_BARRIER || fragment->barrier != id) continue;
            if (fragment->pc->inner != NULL) {
                /* bar.red: the result goes to the waiting lanes' registers. */
                unsigned char *slots = warp->slots;
                const uint32_t mask = warp->mask;
                warp->slots = fragment->frame->slots;
                warp->mask = fragment->mask;
                fragment->pc->inner(warp, fragment->pc);
                warp->slots = slots;
                warp->mask = mask;
            }
            fragment->wait = EXEC_RUNNABLE;
            fragment->pc++;
        }
    }
    barrier_forget(block, id);
}

void exec_threads_left(struct exec_block *block)
{
    for (uint32_t used = block->barriers_used; used; used &= used - 1) {
        const uint32_t id = (uint32_t)__builtin_ctz(used);
        if (is_complete(block, &block->barriers[id])) barrier_release(block, id);
    }
}

void exec_barriers_reset(struct exec_block *block)
{
    for (uint32_t used = block->barriers_used; used; used &= used - 1)
        barrier_forget(block, (uint32_t)__builtin_ctz(used));
}

static __attribute__((noinline, cold)) int
counts_differ(struct exec_warp *warp, const struct exec_inst *inst, uint32_t id, uint32_t expected)
{
    return exec_stop(
        warp, inst, EXEC_TRAP, (unsigned)__builtin_ctz(warp->mask),
        &(struct exec_reason){.finding = FINDING_BARRIER_COUNTS_DIFFER,
                              .numbers = {id, warp->block->barriers[id].expected, expected}});
}

/* ---- whole warps that meet --------------------------------------------------------------------
 */

bool exec_meeting_join(struct exec_warp *warp, const struct exec_inst *inst)
{
    warp->stepped = NULL;
    return exec_meeting_joined(warp, inst);
}

bool exec_meeting_ends(struct exec_block *block)
{
    struct exec_meeting *meeting = &block->meeting;
    static const struct exec_barrier none = {.used = true};
    if (!meeting->waiting || meeting->leaving) return false;
    for (uint32_t k = 0; k < block->warp_count; k++)
        if (block->warps[k].live && !(meeting->waiting >> k & 1)) return false;
    order_threads(block, &none);
    meeting->leaving = meeting->waiting;
    meeting->from = meeting->at + 1;
    meeting->waiting = 0;
    return true;
}

void exec_meeting_open(struct exec_block *block)
{
    struct exec_meeting *meeting = &block->meeting;
    const uint32_t waiting = meeting->waiting, leaving = meeting->leaving;
    const uint32_t id = waiting ? meeting->at->e - 1 : 0;
    for (uint32_t rest = waiting | leaving; rest; rest &= rest - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(rest);
        struct exec_warp *warp = &block->warps[k];
        const bool waits = waiting >> k & 1;
        warp->fragments[0] =
            (struct exec_fragment){.pc = waits ? meeting->at : meeting->from,
                                   .frame = warp->root,
                                   .mask = warp->live,
                                   .tick = warp->tick,
                                   .wait = waits ? EXEC_WAIT_BARRIER : EXEC_RUNNABLE,
                                   .barrier = id};
        warp->fragment_count = 1;
        if (waits) block->barriers[id].arrived[k] = warp->live;
    }
    if (waiting) {
        block->barriers[id].used = true;
        block->barriers_used |= 1u << id;
        block->named_barriers |= id != 0;
    }
    meeting->waiting = meeting->leaving = 0;
}

int exec_barrier_meet(struct exec_warp *warp, const struct exec_inst *inst, uint32_t id,
                      uint32_t expected, const uint32_t *predicate, bool wait)
{
    struct exec_block *block = warp->block;
    struct exec_barrier *barrier = &block->barriers[id];
    assert(id < EXEC_ALL_BARRIERS && warp->mask != 0 && (warp->mask & ~warp->live) == 0);
    warp->stepped = NULL;
    if (block->meeting.waiting | block->meeting.leaving) exec_meeting_open(block);
    if (barrier->used && barrier->expected != expected)
        return counts_differ(warp, inst, id, expected);
    block->named_barriers |= id != 0 || expected || !wait;
    barrier->used = true;
    block->barriers_used |= 1u << id;
    barrier->expected = expected;
    arrive(warp, barrier);
    warp->rounds &= ~warp->mask;
    if (predicate != NULL) {
        barrier->positive += exec_lane_count(*predicate & warp->mask);
        barrier->asked += exec_lane_count(warp->mask);
    }
    if (wait) warp->barriers++;
    if (wait) exec_wait(warp, inst, EXEC_WAIT_BARRIER, id);
    if (is_complete(block, barrier)) barrier_release(block, id);
    return wait ? EXEC_RESCHEDULE : EXEC_GO;
}
