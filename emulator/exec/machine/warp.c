/* The scheduler of one warp: which fragment runs next and until when, and how fragments split and
 * merge. */
#include "emulator/exec/check/poison.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/private.h"
#include "emulator/exec/machine/probe.h"
#include "emulator/ptx/ptx.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Taken backward branches before the scheduler looks again: if other fragments wait for a turn, and
 * for a fragment that got its turn out of order. */
enum { BACKWARD_DIVERGED = 4096, BACKWARD_ROTATED = 16 };

/* Turns of others after which a runnable fragment gets one out of order. A loop that splits and
 * merges in every round never uses up its backward branches. */
enum { PATIENCE = 4096 };

/* A warp's turn, in instructions, while other warps of the block want theirs. */
enum { WARP_SLICE = 1 << 16 };

/* ---- fragments ------------------------------------------------------------------------------- */

/* Inlined, because a fragment that is assembled in memory is slow to read back. */
static inline __attribute__((always_inline)) void fragment_add(struct exec_warp *warp,
                                                               const struct exec_fragment *fragment)
{
    assert(fragment->mask != 0 && (fragment->mask & ~warp->live) == 0);
    if (fragment->wait == EXEC_RUNNABLE) {
        for (uint32_t k = 0; k < warp->fragment_count; k++) {
            struct exec_fragment *other = &warp->fragments[k];
            if (other->pc == fragment->pc && other->frame == fragment->frame &&
                other->wait == EXEC_RUNNABLE) {
                other->mask |= fragment->mask;
                return;
            }
        }
    }
    /* Fragments own disjoint, non-empty sets of lanes, so there is always room. */
    assert(warp->fragment_count < EXEC_LANES);
    warp->fragments[warp->fragment_count++] = *fragment;
}

void exec_split(struct exec_warp *warp, uint32_t mask, const struct exec_inst *pc,
                struct exec_frame *frame)
{
    const struct exec_fragment fragment = {
        .pc = pc, .frame = frame, .mask = mask, .tick = warp->tick};
    fragment_add(warp, &fragment);
    warp->mask &= ~mask;
    warp->full = 0;
}

void exec_wait(struct exec_warp *warp, const struct exec_inst *inst, enum exec_wait wait,
               uint32_t barrier)
{
    const struct exec_fragment fragment = {.pc = inst,
                                           .frame = warp->frame,
                                           .mask = warp->mask,
                                           .tick = warp->tick,
                                           .wait = wait,
                                           .barrier = barrier};
    fragment_add(warp, &fragment);
    warp->mask = 0;
    warp->full = 0;
}

/* Puts the running fragment back into the list. */
static void fragment_store(struct exec_warp *warp)
{
    if (!warp->mask) return;
    const struct exec_fragment fragment = {
        .pc = warp->pc, .frame = warp->frame, .mask = warp->mask, .tick = ++warp->tick};
    fragment_add(warp, &fragment);
    warp->mask = 0;
}

/* Merges fragments that are at the same place, which may happen when they are released from a
 * wait. */
static void fragments_merge(struct exec_warp *warp)
{
    for (uint32_t k = 0; k < warp->fragment_count; k++) {
        struct exec_fragment *one = &warp->fragments[k];
        if (one->wait != EXEC_RUNNABLE) continue;
        for (uint32_t j = k + 1; j < warp->fragment_count;) {
            const struct exec_fragment *other = &warp->fragments[j];
            if (other->pc == one->pc && other->frame == one->frame &&
                other->wait == EXEC_RUNNABLE) {
                one->mask |= other->mask;
                warp->fragments[j] = warp->fragments[--warp->fragment_count];
            } else {
                j++;
            }
        }
    }
}

static bool runs_before(const struct exec_fragment *a, const struct exec_fragment *b)
{
    if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

/* The invariant between turns: no fragment runs, and each live lane is in exactly one. */
static bool lanes_are_complete(const struct exec_warp *warp)
{
    uint32_t seen = 0;
    if (warp->fragment_count == 1) return warp->mask == 0 && warp->fragments[0].mask == warp->live;
    for (uint32_t k = 0; k < warp->fragment_count; k++) {
        if (seen & warp->fragments[k].mask) return false;
        seen |= warp->fragments[k].mask;
    }
    return warp->mask == 0 && seen == warp->live;
}

/* Returns the index of the runnable fragment that comes first by order or, if `oldest`, has not run
 * for longest; fragment_count if none can run. */
static uint32_t fragment_choose(const struct exec_warp *warp, bool oldest)
{
    if (warp->fragment_count == 1) return warp->fragments[0].wait == EXEC_RUNNABLE ? 0 : 1;
    uint32_t best = warp->fragment_count;
    for (uint32_t k = 0; k < warp->fragment_count; k++) {
        const struct exec_fragment *fragment = &warp->fragments[k];
        if (fragment->wait != EXEC_RUNNABLE) continue;
        if (best == warp->fragment_count ||
            (oldest ? (int32_t)(fragment->tick - warp->fragments[best].tick) < 0
                    : runs_before(fragment, &warp->fragments[best])))
            best = k;
    }
    return best;
}

/* Takes fragment `index` out of the list and makes it the running one. Sets *others if another
 * fragment could run. Returns the pc at which it must stop for another fragment to merge with it;
 * NULL: none. */
static const struct exec_inst *fragment_load(struct exec_warp *warp, uint32_t index, bool *others)
{
    const struct exec_fragment *fragment = &warp->fragments[index];
    struct exec_frame *frame = fragment->frame;
    warp->pc = fragment->pc;
    warp->frame = frame;
    warp->slots = frame->slots;
    warp->mask = fragment->mask;
    warp->full = (fragment->mask | ~warp->live) == EXEC_ALL;
    if (--warp->fragment_count != index)
        warp->fragments[index] = warp->fragments[warp->fragment_count];
    const struct exec_inst *limit = NULL;
    *others = false;
    for (uint32_t k = 0; k < warp->fragment_count; k++) {
        const struct exec_fragment *other = &warp->fragments[k];
        if (other->wait != EXEC_RUNNABLE) continue;
        *others = true;
        if (other->frame->depth == frame->depth && (limit == NULL || other->pc < limit))
            limit = other->pc;
    }
    return limit;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Another thread may give the instruction machine code at any time (native.c), and the code needs
 * what that thread has written before. */
static inline exec_handler *handler_of(const struct exec_inst *inst)
{
    return __atomic_load_n(&inst->run, __ATOMIC_ACQUIRE);
}

/* Executes the running fragment, observing each instruction, until a handler returns a step other
 * than EXEC_GO, `limit` is reached (unless NULL), or the sample is complete. */
static __attribute__((noinline)) int
run_watched(struct exec_warp *warp, const struct exec_inst *limit, struct exec_probe *probe)
{
    int step;
    do {
        const struct exec_inst *inst = warp->pc++;
        warp->instructions++;
        if (warp->poison != NULL) exec_poison_step(warp, inst);
        if (warp->block->stall.watched) exec_stall_step(warp, inst);
        if (probe != NULL) exec_probe_before(probe, warp, inst);
        step = handler_of(inst)(warp, inst);
        if (probe != NULL) exec_probe_after(probe, warp);
    } while (step == EXEC_GO && (limit == NULL || warp->pc < limit) &&
             (probe == NULL || warp->instructions < EXEC_PROBED));
    return step;
}

/* Returns true while the function's instructions are counted, because it may still get machine
 * code. */
static inline bool is_cold(const struct exec_function *function)
{
    const struct exec_heat *heat = function->heat;
    return heat != NULL &&
           __atomic_load_n(&heat->enough[EXEC_HEATED_WARPS], __ATOMIC_RELAXED) != UINT64_MAX;
}

/* Counts `executed` instructions of `lanes` lanes, and has the function compiled when they are
 * enough. */
static inline void warm(const struct exec_warp *warp, uint64_t executed, uint32_t lanes)
{
    const struct exec_function *function = warp->frame->function;
    const enum exec_heated by = lanes == 1 ? EXEC_HEATED_LONE : EXEC_HEATED_WARPS;
    struct exec_heat *heat = function->heat;
    if (!is_cold(function)) return;
    const uint64_t sum = __atomic_load_n(&heat->executed[by], __ATOMIC_RELAXED) + executed;
    __atomic_store_n(&heat->executed[by], sum, __ATOMIC_RELAXED);
    if (sum >= __atomic_load_n(&heat->enough[by], __ATOMIC_RELAXED))
        heat->hot(function, by, warp->worker->row_lanes);
}

/* Executes the running fragment until a handler returns a step other than EXEC_GO or `limit` is
 * reached. Callers without a limit pass the literal NULL, so that the inlined loop does not test
 * it. */
static inline int run_until(struct exec_warp *warp, const struct exec_inst *limit)
{
    int step;
    do {
        const struct exec_inst *inst = warp->pc++;
        warp->instructions++;
        step = handler_of(inst)(warp, inst);
    } while (step == EXEC_GO && (limit == NULL || warp->pc < limit));
    return step;
}

/* The same without a limit, counting the instructions of a cold function. */
static __attribute__((noinline)) int run_cold(struct exec_warp *warp)
{
    const uint64_t before = warp->instructions;
    const uint32_t lanes = exec_lane_count(warp->mask);
    warm(warp, 0, lanes);
    const int step = run_until(warp, NULL);
    warm(warp, warp->instructions - before, lanes);
    return step;
}

/* Turns of the warp's fragments until the warp has executed `until` instructions. */
static __attribute__((noinline)) enum exec_turn run_fragments(struct exec_warp *warp,
                                                              uint64_t until)
{
    struct exec_probe *const probe = warp->block->probe;
    for (;;) {
        assert(lanes_are_complete(warp));
        if (!warp->live) return EXEC_TURN_DONE;
        if (warp->fragment_count > 1) fragments_merge(warp);
        uint32_t choice = fragment_choose(warp, warp->rotate);
        if (choice == warp->fragment_count) return EXEC_TURN_BLOCKED;
        if (!warp->rotate && warp->fragment_count > 1) {
            const uint32_t oldest = fragment_choose(warp, true);
            if (warp->tick - warp->fragments[oldest].tick > PATIENCE) {
                warp->rotate = true;
                choice = oldest;
            }
        }
        if (warp->instructions >= until || warp->yield) return EXEC_TURN_SPENT;

        bool others;
        const struct exec_inst *limit = fragment_load(warp, choice, &others);
        warp->backward = !others        ? EXEC_BACKWARD_ALONE
                         : warp->rotate ? BACKWARD_ROTATED
                                        : BACKWARD_DIVERGED;
        if (warp->rotate) limit = NULL;
        const bool probed = probe != NULL && warp->instructions < EXEC_PROBED;
        const bool watched = probed || warp->poison != NULL || warp->block->stall.watched;
        warp->limit = watched ? NULL : limit != NULL ? limit : EXEC_NO_LIMIT;
        const uint32_t lanes = exec_lane_count(warp->mask);
        warm(warp, 0, lanes);
        const uint64_t before = warp->instructions;
        int step;
        if (watched) {
            step = run_watched(warp, limit, probed ? probe : NULL);
        } else {
            step = limit == NULL ? run_until(warp, NULL) : run_until(warp, limit);
        }
        warp->lane_instructions += (warp->instructions - before) * lanes;
        warm(warp, warp->instructions - before, lanes);
        /* The fragment used up its backward branches while others could run: it may wait for one of
         * them. */
        warp->rotate = !warp->rotate && others && warp->backward == 0;
        if (step == EXEC_STOP) return EXEC_TURN_STOPPED;
        if (exec_meeting_has(warp, warp->block->meeting.waiting)) return EXEC_TURN_BLOCKED;
        fragment_store(warp);
    }
}

/* ---- a warp that begins ---------------------------------------------------------------------- */

/* Uninitialised local memory is filled with this, never with zeros; for shared memory see
 * check/unwritten.h. */
enum { POISON = 0xa5 };

static __attribute__((noinline)) void clear_all(struct exec_warp *warp, uint32_t local_bytes)
{
    for (unsigned l = 0; local_bytes && l < EXEC_LANES; l++)
        memset(warp->local + l * warp->local_stride, POISON, local_bytes);
    for (unsigned l = 0; warp->stack_moved && l < EXEC_LANES; l++)
        warp->stack[l] = warp->local_stride;
    if (warp->poison != NULL) exec_poison_forget(warp);
    if (warp->poll_latest == NULL) return;
    memset(warp->poll_inst, 0, sizeof warp->poll_inst);
    warp->poll_latest = NULL;
    warp->polls = warp->poll_next = 0;
    warp->idle = (struct exec_idle){.look = NULL};
}

/* Resets what only few warps leave behind. */
static inline void clear(struct exec_warp *warp, uint32_t local_bytes)
{
    if (local_bytes || warp->stack_moved || warp->poison != NULL || warp->poll_latest != NULL)
        clear_all(warp, local_bytes);
}

/* Turns a fresh warp into one with a fragment. */
static void warp_start(struct exec_warp *warp)
{
    exec_warp_wipe(warp);
    warp->fragment_count = 1;
    warp->fragments[0] = (struct exec_fragment){
        .pc = warp->worker->function->code, .frame = warp->root, .mask = warp->existing};
}

/* Returns true if the only fragment can run and no instruction is observed, so there is nothing to
 * schedule. */
static inline bool is_alone(const struct exec_warp *warp)
{
    return warp->fragment_count == 1 && warp->fragments[0].wait == EXEC_RUNNABLE && !warp->rotate &&
           warp->poison == NULL;
}

/* Returns true if all live lanes wait in one place. */
static inline bool is_blocked(const struct exec_warp *warp)
{
    return exec_meeting_has(warp, warp->block->meeting.waiting) ||
           (warp->fragment_count == 1 && warp->fragments[0].wait != EXEC_RUNNABLE);
}

static inline enum exec_turn turn_of(struct exec_warp *warp, int step)
{
    if (step == EXEC_STOP) return EXEC_TURN_STOPPED;
    if (warp->mask) fragment_store(warp);
    if (!warp->live) return EXEC_TURN_DONE;
    if (is_blocked(warp)) return EXEC_TURN_BLOCKED;
    return run_fragments(warp, warp->block->going.before + WARP_SLICE);
}

/* Runs the turn that begin_alone has begun; machine code may also run those of the warps behind it.
 * The result is for block->going.warp. */
static inline __attribute__((always_inline)) enum exec_turn run_alone(struct exec_warp *warp)
{
    struct exec_going *going = &warp->block->going;
    going->may = true;
    int step = run_until(warp, NULL);
    while (step == EXEC_WENT_ON) {
        warp = going->warp;
        step = going->step == EXEC_GO ? run_until(warp, NULL) : going->step;
    }
    going->may = false;
    exec_turn_end(warp);
    return turn_of(warp, step);
}

/* The same while instructions are counted, or in a function that the kernel has called. */
static inline enum exec_turn run_alone_cold(struct exec_warp *warp)
{
    const int step = run_cold(warp);
    exec_turn_end(warp);
    return turn_of(warp, step);
}

/* ---- lanes that exit ------------------------------------------------------------------------- */

/* Other threads may wait for the lanes that have exited. */
static __attribute__((noinline)) int lanes_left(struct exec_warp *warp)
{
    exec_threads_left(warp->block);
    exec_cluster_left(warp->block);
    return warp->exchanging ? exec_sync_check(warp) : EXEC_RESCHEDULE;
}

static inline int lanes_exit(struct exec_warp *warp)
{
    const struct exec_block *block = warp->block;
    const uint32_t mask = warp->mask;
    warp->mask = 0;
    warp->live &= ~mask;
    if (block->barriers_used || block->arrives || block->cluster != NULL || warp->exchanging)
        return lanes_left(warp);
    return EXEC_RESCHEDULE;
}

int exec_lanes_exit(struct exec_warp *warp)
{
    return lanes_exit(warp);
}

/* ---- turns of warps, one after the other ----------------------------------------------------- */

/* All warps have had their turns, and `warp` came to the barrier last: lets them go, and begins
 * another round with it. Returns false, without effect, when exec_warps_run has to look first. */
static bool begins_round(struct exec_warp *warp)
{
    struct exec_block *block = warp->block;
    struct exec_going *going = &block->going;
    if (going->executed + warp->instructions - going->before >= WARP_SLICE ||
        !exec_meeting_ends(block))
        return false;
    going->met = EXEC_MET_STEPS | EXEC_MET_WORK;
    going->first = warp;
    return true;
}

/* Begins the turn of the next warp after `warp`, whose turn ended with `met`. NULL: the next one
 * may not begin here. */
static inline __attribute__((always_inline)) struct exec_warp *
next_of(struct exec_warp *warp, const struct exec_inst *code, unsigned met)
{
    struct exec_going *going = &warp->block->going;
    struct exec_warp *next = exec_warp_behind(warp);
    if (!going->may || next == going->first || !exec_turn_begins_at(next, code)) return NULL;
    exec_turn_pass(warp, next, code + 1, met);
    next->instructions++;
    return next;
}

struct exec_warp *exec_warp_next(struct exec_warp *warp, const struct exec_inst *code)
{
    if (warp->mask || (warp->live && !is_blocked(warp))) return NULL;
    return next_of(warp, code, warp->live ? EXEC_MET_LIFE : EXEC_MET_STEPS | EXEC_MET_WORK);
}

struct exec_warp *exec_warp_meet(struct exec_warp *warp, const struct exec_inst *inst,
                                 const struct exec_inst *code)
{
    struct exec_block *block = warp->block;
    struct exec_going *going = &block->going;
    if (!exec_meeting_joined(warp, inst)) {
        going->step = exec_barrier_meet(warp, inst, inst->e - 1, 0, NULL, true);
        return going->step == EXEC_RESCHEDULE ? exec_warp_next(warp, code) : NULL;
    }
    going->step = EXEC_RESCHEDULE;
    if (!going->may || exec_warp_behind(warp) != going->first)
        return next_of(warp, code, EXEC_MET_LIFE);
    if (!begins_round(warp)) return NULL;
    const struct exec_inst *from = block->meeting.from;
    exec_turn_pass(warp, warp, from, EXEC_MET_LIFE);
    if (from != code) {
        going->step = EXEC_GO;
        return NULL;
    }
    warp->pc++;
    warp->instructions++;
    return warp;
}

struct exec_warp *exec_warp_exit(struct exec_warp *warp, const struct exec_inst *code)
{
    lanes_exit(warp);
    return next_of(warp, code, EXEC_MET_STEPS | EXEC_MET_WORK);
}

int exec_warp_gone(struct exec_warp *warp, int step)
{
    /* Code that this code has called may have gone on, and has said how it ended. */
    if (step != EXEC_WENT_ON) warp->block->going.step = step;
    return EXEC_WENT_ON;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static inline enum exec_turn run_fresh(struct exec_warp *warp)
{
    exec_warp_wipe(warp);
    exec_turn_begin(warp, warp->block->going.code, warp->root, 0);
    return run_alone(warp);
}

/* The turn of a warp that goes on behind the barrier of the block's meeting. */
static inline enum exec_turn run_behind(struct exec_warp *warp, bool cold)
{
    struct exec_meeting *meeting = &warp->block->meeting;
    meeting->leaving &= ~(1u << warp->index);
    exec_turn_begin(warp, meeting->from, warp->root, warp->instructions);
    return cold ? run_alone_cold(warp) : run_alone(warp);
}

/* Any other later turn of a warp. */
static inline enum exec_turn run_again(struct exec_warp *warp, bool cold, bool probed)
{
    const struct exec_counts *counts = &warp->worker->counts;
    const struct exec_fragment *only = &warp->fragments[0];
    if (warp->poll_latest != NULL) {
        /* Other warps have changed the worker's counts since this one's last poll. */
        warp->idle.loaded = counts->bytes_loaded;
        warp->idle.transactions = counts->transactions;
    }
    if (warp->yield) warp->yield = false;
    if (!is_alone(warp) || probed) return run_fragments(warp, warp->instructions + WARP_SLICE);
    exec_turn_begin(warp, only->pc, only->frame, warp->instructions);
    return cold || warp->frame != warp->root ? run_alone_cold(warp) : run_alone(warp);
}

/* One turn for each warp that has lanes left, beginning with going->first, or more where machine
 * code begins another round. Returns enum exec_met bits, of the latest turns. */
static inline unsigned run_each(struct exec_block *block, bool cold, bool probed)
{
    struct exec_going *going = &block->going;
    struct exec_warp *warp = going->first;
    uint64_t done = 0;
    going->met = 0;
    for (bool begun = false; !(begun && warp == going->first) && !(going->met & EXEC_MET_FAULT);
         warp = exec_warp_behind(warp)) {
        begun = true;
        if (!warp->live) continue;
        if (warp->fresh && (cold || probed)) warp_start(warp);
        going->warp = warp;
        going->before = warp->fresh ? 0 : warp->instructions;
        const enum exec_turn turn = warp->fresh ? run_fresh(warp)
                                    : exec_meeting_has(warp, block->meeting.leaving)
                                        ? run_behind(warp, cold)
                                        : run_again(warp, cold, probed);
        warp = going->warp;
        done += warp->instructions - going->before;
        if (turn == EXEC_TURN_DONE) {
            going->met |= EXEC_MET_STEPS | EXEC_MET_WORK;
            continue;
        }
        going->met |= EXEC_MET_LIFE;
        if (turn == EXEC_TURN_STOPPED) going->met |= EXEC_MET_FAULT;
        if (turn != EXEC_TURN_BLOCKED) going->met |= EXEC_MET_STEPS;
        if (turn == EXEC_TURN_SPENT && !warp->yield) going->met |= EXEC_MET_WORK;
    }
    going->executed += done;
    return going->met;
}

unsigned exec_warps_run(struct exec_block *block, uint64_t *executed)
{
    const bool probed = block->probe != NULL || block->stall.watched;
    struct exec_meeting *meeting = &block->meeting;
    struct exec_going *going = &block->going;
    unsigned met, before = 0;
    going->executed = 0;
    going->first = block->warps;
    going->code = block->worker->function->code;
    meeting->may = !probed && block->cluster == NULL;
    for (;;) {
        met = run_each(block, is_cold(block->worker->function), probed);
        if ((met & EXEC_MET_FAULT) || !exec_meeting_ends(block)) break;
        /* All warps have come to the barrier: none waits, or polls. */
        before = EXEC_MET_STEPS | EXEC_MET_WORK;
        going->first = &block->warps[meeting->last];
        if (going->executed >= WARP_SLICE) break;
    }
    meeting->may = false;
    exec_meeting_open(block);
    *executed += going->executed;
    return met | before;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void frame_fill(struct exec_warp *warp, struct exec_frame *frame, bool all);

/* Fills registers that may be read before they are written, so that such a program behaves the same
 * whichever blocks ran before. */
static inline void frame_poison(struct exec_frame *frame)
{
    const struct exec_function *function = frame->function;
    for (size_t k = 0; k < function->poisoned_count; k++)
        memset(frame->slots + function->poisoned[k].offset, 0xa5, function->poisoned[k].size);
}

/* Updates the constants of a frame that an earlier block used. */
static void frame_renew(struct exec_warp *warp, struct exec_frame *frame)
{
    if (frame->block_serial == warp->block->serial) return;
    frame_fill(warp, frame, frame->launches != warp->worker->launches);
}

struct exec_frame *exec_frame_enter(struct exec_warp *warp, struct exec_frame *parent,
                                    const struct exec_function *function, enum exec_end *end)
{
    struct exec_frame *frame = NULL;
    if (parent != NULL) {
        for (frame = parent->children; frame != NULL && frame->function != function;)
            frame = frame->sibling;
    }
    if (frame != NULL) {
        frame_renew(warp, frame);
        return frame;
    }

    const uint64_t base = parent != NULL ? (uint64_t)parent->local_base +
                                               parent->function->local_bytes + EXEC_CALL_BYTES
                                         : 0;
    *end = EXEC_STACK;
    if (base + function->local_bytes > warp->local_stride) return NULL;
    *end = EXEC_NO_MEMORY;
    frame = calloc(1, sizeof *frame);
    if (frame == NULL) return NULL;
    frame->slots = aligned_alloc(64, ((size_t)function->frame_bytes + 127) / 64 * 64);
    if (frame->slots == NULL) {
        free(frame);
        return NULL;
    }
    memset(frame->slots, 0, function->frame_bytes);
    warp->worker->bytes += sizeof *frame + function->frame_bytes;
    frame->function = function;
    frame->parent = parent;
    frame->local_base = (uint32_t)base;
    frame->depth = parent != NULL ? parent->depth + 1 : 0;
    if (parent != NULL) {
        frame->sibling = parent->children;
        parent->children = frame;
    }
    frame_fill(warp, frame, true);
    *end = EXEC_DONE;
    return frame;
}

void exec_frame_free(struct exec_frame *frame)
{
    /* Depth first, without recursion: the call chain may be long. */
    while (frame != NULL) {
        struct exec_frame *child = frame->children;
        if (child != NULL) {
            frame->children = child->sibling;
            frame = child;
        } else {
            struct exec_frame *up = frame->parent;
            free(frame->slots);
            free(frame);
            frame = up;
        }
    }
}

static void fill32(unsigned char *slot, uint32_t value)
{
    uint32_t *lanes = (uint32_t *)(void *)slot;
    for (unsigned l = 0; l < EXEC_LANES; l++) lanes[l] = value;
}

static void fill64(unsigned char *slot, uint64_t value)
{
    uint64_t *lanes = (uint64_t *)(void *)slot;
    for (unsigned l = 0; l < EXEC_LANES; l++) lanes[l] = value;
}

/* Writes the frame's constants: all, or only those that change from block to block. */
static void frame_fill(struct exec_warp *warp, struct exec_frame *frame, bool all)
{
    const struct exec_function *function = frame->function;
    const struct exec_worker *worker = warp->worker;
    frame->block_serial = warp->block->serial;
    frame->launches = worker->launches;
    const size_t count = all ? function->constant_count : function->changing_count;
    for (size_t k = 0; k < count; k++) {
        const struct exec_constant *constant = &function->constants[k];
        unsigned char *slot = frame->slots + constant->slot;
        uint64_t value = constant->value;
        switch (constant->kind) {
        case EXEC_CONSTANT_SPECIAL:
            if (constant->index == PTX_SPECIAL_CTAID && value < 3) { /* the usual one */
                value = warp->block->position[value];
                break;
            }
            exec_special_fill(warp, (unsigned)constant->index, (unsigned)constant->value, slot,
                              constant->width);
            continue;
        case EXEC_CONSTANT_VALUE:
            break;
        case EXEC_CONSTANT_VARIABLE:
            value += function->program->variables[constant->index].address;
            break;
        case EXEC_CONSTANT_CODE:
            value += EXEC_WINDOW_CODE + 16u * (uint32_t)constant->index;
            break;
        case EXEC_CONSTANT_DYNAMIC_SHARED:
            value += worker->dynamic_offset;
            break;
        case EXEC_CONSTANT_LOCAL:
            value += frame->local_base;
            break;
        case EXEC_CONSTANT_PARAMETER:
            value = exec_parameter_value(worker->launch, constant);
            break;
        }
        if (constant->width == 8)
            fill64(slot, value);
        else
            fill32(slot, (uint32_t)value);
    }
    frame_poison(frame);
}

/* ---- a block that begins --------------------------------------------------------------------- */

/* One word per lane. */
typedef uint32_t frame_words __attribute__((vector_size(4 * EXEC_LANES), aligned(4)));

static bool is_position(const struct exec_constant *constant)
{
    return constant->kind == EXEC_CONSTANT_SPECIAL && constant->index == PTX_SPECIAL_CTAID &&
           constant->value < 3 && constant->width == 4;
}

/* Updates the kernel's frames, which an earlier block used. Usually only the block's position has
 * changed. */
static void roots_renew(struct exec_block *block, const struct exec_function *function)
{
    const struct exec_warp *const end = block->warps + block->warp_count;
    size_t k = 0;
    if (block->warps->root->launches == block->worker->launches)
        while (k < function->changing_count && is_position(&function->constants[k])) k++;
    if (k < function->changing_count || block->warps->root->launches != block->worker->launches) {
        for (struct exec_warp *warp = block->warps; warp != end; warp++)
            frame_renew(warp, warp->root);
        return;
    }
    for (k = 0; k < function->changing_count; k++) {
        const uint32_t slot = function->constants[k].slot;
        const frame_words words = (frame_words){0} + block->position[function->constants[k].value];
        for (struct exec_warp *warp = block->warps; warp != end; warp++)
            *(frame_words *)(void *)(warp->root->slots + slot) = words;
    }
    for (struct exec_warp *warp = block->warps; function->poisoned_count && warp != end; warp++)
        frame_poison(warp->root);
}

bool exec_warps_start(struct exec_block *block)
{
    const struct exec_function *function = block->worker->function;
    const struct exec_warp *const end = block->warps + block->warp_count;
    const bool fresh = block->warps->root == NULL;
    for (struct exec_warp *warp = block->warps; fresh && warp != end; warp++) {
        enum exec_end why;
        warp->root = exec_frame_enter(warp, NULL, function, &why);
        if (warp->root == NULL) return false;
    }
    if (!fresh) roots_renew(block, function);
    const bool in_cluster = block->worker->launch->cluster[0] != 0;
    for (struct exec_warp *warp = block->warps; warp != end; warp++) {
        assert((warp->mask | warp->live | warp->exchanging | warp->fragment_count) == 0);
        clear(warp, function->local_bytes);
        warp->live = warp->existing;
        warp->fresh = true;
        if (in_cluster) warp_start(warp); /* other blocks may look at the warp */
    }
    return true;
}
