/* The virtual clock: a discrete-event simulation of when a GPU would start and end the submitted
 * operations. It advances only as far as a call waits or queries, so that work submitted later can
 * still take part.
 *
 * An operation starts when everything that it depends on has ended, the engine that it needs is
 * free, and it is the first of its hardware queue. Each connection has one queue per direction of
 * copying and one for kernels; in each, operations *start* in order of submission. A timed event
 * waits in the queue of its stream's latest operation and takes its stamp when that has ended;
 * until then it holds up the operations behind it there. Behind a kernel those are the kernels of
 * the connection's other streams: this makes many streams with an event behind each kernel slow,
 * breadth-first or depth-first, while the same work without timed events is not affected (measured:
 * lessons/02_streams/measure.cu, 200 streams, 1, 8 and 32 connections). An event behind a copy
 * waits for all copies that the connection was given earlier: breadth-first, the stamp before the
 * first kernel is that of the last copy (measured on an H200: 200 streams, 1 connection, the first
 * stamp at 15.7 ms, when everything has been copied in, and 0.09 ms depth-first).
 *
 * A kernel that has not run yet takes part with the cost of a kernel of the same signature that has
 * run. Without one its end is unknown: it is overdue after a guessed duration, and is ended when
 * nothing else can happen.
 */
#include "emulator/timeline/parts.h"

#include <assert.h>
#include <stdlib.h>

#define NEVER UINT64_MAX

/* Work left, in ns, that counts as a rounding error. */
#define NOTHING_LEFT 1e-3

static const struct kind_row {
    int queue;
    bool computes; /* shares the multiprocessors, and counts as a resident grid */
    bool alone;    /* its engine serves one operation at a time */
    bool instant;  /* takes no engine and no time */
} kinds[TIMELINE_KIND_COUNT] = {
    [TIMELINE_KERNEL] = {QUEUE_COMPUTE, true, false, false},
    [TIMELINE_SET] = {QUEUE_COMPUTE, true, false, false},
    [TIMELINE_COPY_IN] = {QUEUE_IN, false, true, false},
    [TIMELINE_COPY_OUT] = {QUEUE_OUT, false, true, false},
    [TIMELINE_COPY_INSIDE] = {QUEUE_INSIDE, false, true, false},
    [TIMELINE_COPY_HOST] = {QUEUE_NONE, false, false, false},
    [TIMELINE_HOST_FUNCTION] = {QUEUE_NONE, false, false, false},
    [TIMELINE_STAMP] = {QUEUE_COMPUTE, false, false, true},
    [TIMELINE_MARK] = {QUEUE_NONE, false, false, true},
};

/* ---- expected costs of kernels that have not run --------------------------------------------- */

static void expectation_learn(struct timeline *timeline, const struct timeline_op *op)
{
    uint64_t signature = op->work.signature;
    if (signature == 0) return;
    timeline->expectations[signature % EXPECTATIONS].signature = signature;
    timeline->expectations[signature % EXPECTATIONS].cost = op->cost;
    for (size_t i = 0; i < timeline->running_count; i++) {
        struct timeline_op *other = timeline->running[i];
        if (other->work.signature != signature || other->cost_known) continue;
        other->cost = op->cost;
        other->expected = true;
    }
}

static void expectation_apply(struct timeline_op *op)
{
    uint64_t signature = op->work.signature;
    if (op->cost_known || signature == 0) return;
    if (op->timeline->expectations[signature % EXPECTATIONS].signature != signature) return;
    op->cost = op->timeline->expectations[signature % EXPECTATIONS].cost;
    op->expected = true;
}

/* ---- one operation --------------------------------------------------------------------------- */

static bool is_overdue(const struct timeline_op *op)
{
    return !op->cost_known && !op->expected && op->done_ns >= timeline_model->kernel_guess;
}

/* Returns the ns left at full rate; for a kernel of unknown cost, until it is overdue. */
static double left_ns(const struct timeline_op *op)
{
    if (op->cost_known || op->expected) return op->cost.duration_ns - op->done_ns;
    return timeline_model->kernel_guess - op->done_ns;
}

uint64_t clock_gap(const struct timeline_op *before, const struct timeline_op *after)
{
    const struct kind_row *row = &kinds[after->work.kind];
    const bool copies =
        before->work.kind == TIMELINE_COPY_IN || before->work.kind == TIMELINE_COPY_OUT;
    double gap = row->queue == QUEUE_NONE || row->instant ? 0 : timeline_model->chain;

    if (copies && after->queue == before->queue && after->context == before->context &&
        after->connection == before->connection)
        return 0;
    if (copies) gap += timeline_model->copy_answer;
    return (uint64_t)gap;
}

/* Ends `op` at op->end_ns, and with it every operation that needs no hardware queue and waited only
 * for `op`. Works through a list, linked by `behind`, because chains can be too long for
 * recursion. */
static void end(struct timeline_op *op)
{
    struct timeline_op *list = op;
    op->phase = CLOCK_ENDED;
    op->behind = NULL;
    while (list != NULL) {
        struct timeline_op *ended = list;
        list = ended->behind;
        ended->behind = NULL;
        timeline_op_retain(ended);
        for (size_t i = 0; i < ended->after.count; i++) {
            struct timeline_op *after = ended->after.ops[i];
            bool mark = kinds[after->work.kind].queue == QUEUE_NONE;
            uint64_t ready = ended->end_ns + clock_gap(ended, after);
            if (after->phase != CLOCK_HELD) continue;
            if (ready > after->ready_ns) after->ready_ns = ready;
            assert(after->unended > 0);
            if (--after->unended > 0) continue;
            after->phase = CLOCK_QUEUED;
            after->late = after->ready_ns < after->timeline->now_ns;
            if (!mark || (after->work.waits && after->state != ORDER_HAS_RUN)) continue;
            after->start_ns = after->ready_ns;
            after->end_ns = after->ready_ns + (uint64_t)after->cost.duration_ns;
            after->phase = CLOCK_ENDED;
            after->behind = list;
            list = after;
        }
        order_settle(ended);
        timeline_op_release(ended);
    }
}

/* Ends an operation that needs no hardware queue, if it waits for nothing else. */
static void end_if_free(struct timeline_op *op)
{
    if (op->phase != CLOCK_QUEUED || kinds[op->work.kind].queue != QUEUE_NONE) return;
    if (op->work.waits && op->state != ORDER_HAS_RUN) return;
    op->start_ns = op->ready_ns;
    op->end_ns = op->ready_ns + (uint64_t)op->cost.duration_ns;
    end(op);
}

int clock_queue_of(const struct timeline_work *work, int latest)
{
    return work->kind == TIMELINE_STAMP ? latest : kinds[work->kind].queue;
}

static unsigned queue_index(unsigned connection, int queue)
{
    return connection * QUEUE_COUNT + (unsigned)queue;
}

void clock_enter(struct timeline_op *op, struct timeline_context *context)
{
    op->device = context->device;
    if (op->work.kind != TIMELINE_KERNEL) {
        op->cost = timeline_transfer_cost(op->work.kind, op->work.bytes, op->work.pageable);
        op->cost_known = true;
    }
    op->phase = op->unended > 0 ? CLOCK_HELD : CLOCK_QUEUED;
    op->late = op->unended == 0 && op->ready_ns < op->timeline->now_ns;
    if (op->queue == QUEUE_NONE) {
        end_if_free(op);
        return;
    }
    const unsigned index = queue_index(op->connection, op->queue);
    struct clock_queue *queue = &context->queues[index];
    if (!op->work.beside) {
        context->waiting[index / 64] |= UINT64_C(1) << index % 64;
    } else {
        queue = &op->own;
        queue->next = context->beside;
        queue->link = &context->beside;
        if (queue->next != NULL) queue->next->link = &queue->next;
        context->beside = queue;
    }
    op->is_left = op->work.kind == TIMELINE_STAMP && op->queue != QUEUE_COMPUTE &&
                  op->follows != queue->latest;
    *(queue->last != NULL ? &queue->last->behind : &queue->first) = op;
    queue->last = op;
    queue->latest = op->number;
}

void clock_has_run(struct timeline_op *op)
{
    if (op->abandoned) op->cost = (struct timeline_cost){0};
    op->cost_known = true;
    if (op->work.waits && op->timeline->now_ns > op->ready_ns) op->ready_ns = op->timeline->now_ns;
    if (op->work.kind == TIMELINE_KERNEL && !op->abandoned) expectation_learn(op->timeline, op);
    end_if_free(op);
}

/* ---- the device ------------------------------------------------------------------------------ */

/* Returns the device of that number; NULL: there is none yet. */
static struct clock_device *device_of(const struct timeline *timeline, unsigned number)
{
    struct clock_device *device = timeline->devices;
    while (device != NULL && device->number != number) device = device->next;
    return device;
}

struct clock_device *clock_device(struct timeline *timeline, unsigned number)
{
    struct clock_device *device = device_of(timeline, number);
    if (device != NULL) return device;
    struct timeline_op **running =
        reallocarray(timeline->running, (timeline->device_count + (size_t)1) * EACH_RUNNING,
                     sizeof(struct timeline_op *));
    if (running == NULL) return NULL;
    timeline->running = running;
    device = calloc(1, sizeof *device);
    if (device == NULL) return NULL;
    device->number = number;
    device->load = 1;
    device->next = timeline->devices;
    timeline->devices = device;
    timeline->device_count++;
    return device;
}

void clock_devices_end(struct timeline *timeline)
{
    while (timeline->devices != NULL) {
        struct clock_device *device = timeline->devices;
        timeline->devices = device->next;
        free(device);
    }
    free(timeline->running);
}

void timeline_clear(struct timeline *timeline, unsigned number, uint64_t bytes, uint64_t now_ns)
{
    struct clock_device *device = device_of(timeline, number);
    if (device == NULL) return;
    if (now_ns >= device->clear_until_ns) device->clear_from_ns = device->clear_until_ns = now_ns;
    device->clear_until_ns += (uint64_t)((double)bytes / timeline_model->clear);
}

static bool is_clearing(const struct clock_device *device, uint64_t now_ns)
{
    return now_ns >= device->clear_from_ns && now_ns < device->clear_until_ns;
}

/* Returns the next time at which clearing of freed memory begins or ends. */
static uint64_t next_clearing(const struct clock_device *device, uint64_t now_ns)
{
    if (now_ns < device->clear_from_ns) return device->clear_from_ns;
    return is_clearing(device, now_ns) ? device->clear_until_ns : NEVER;
}

/* Computes each device's load: the largest demand of its running operations on a resource (issue
 * slots, memory bandwidth, resident blocks) as a multiple of what there is; at least 1. */
static void measure_loads(const struct timeline *timeline)
{
    for (struct clock_device *device = timeline->devices; device != NULL; device = device->next) {
        double issue = 0, traffic = 0, room = 0;
        for (size_t i = 0; i < timeline->running_count; i++) {
            const struct timeline_op *op = timeline->running[i];
            if (op->device != device) continue;
            issue += op->cost.issue;
            traffic += op->cost.traffic;
            room += op->cost.room;
        }
        if (is_clearing(device, timeline->now_ns))
            traffic += timeline_model->clear / timeline_model->memory_bandwidth;
        const double most = issue > traffic ? issue : traffic;
        device->load = room > most ? room : most;
        if (device->load < 1) device->load = 1;
    }
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Each engine serves a hardware queue until it is exhausted, then turns to the next (measured on an
 * H100 with stamps, tests/timing/questions.cu: 200 copies in through 8 queues come in the order 0,
 * 8, 16, ..., 192, 1, 9, ...). A copy engine skips a queue whose first copy waits. The kernel
 * dispatcher does not: it waits at a queue whose first kernel waits for its copy, and ready kernels
 * of other queues wait as well (the same 200 arrays, breadth-first: the kernels of queue 0, which
 * the dispatcher left when two of them had been submitted, begin 15 ms later, after the turn of
 * queue 7). A timed event in a copy engine's queue is stamped in its turn, unless copies of other
 * streams stand between it and its own stream's copy: then it is stamped when there is nothing to
 * copy (100 arrays, breadth-first, 32 queues: most of them at 8.5 ms, when everything has been
 * copied in). */

static const struct timeline_context *context_of(const struct timeline *timeline, uint64_t number)
{
    const struct timeline_context *context = timeline->contexts;
    while (context != NULL && context->number != number) context = context->next;
    return context;
}

/* Returns the first operation in a connection's kernel queue if it is a kernel or memset and the
 * device has received it; otherwise NULL. */
static const struct timeline_op *first_kernel(const struct timeline_context *context,
                                              unsigned connection)
{
    const struct timeline_op *op = context->queues[queue_index(connection, QUEUE_COMPUTE)].first;

    if (op == NULL || !kinds[op->work.kind].computes) return NULL;
    return op->known_ns <= context->timeline->now_ns ? op : NULL;
}

/* Returns true when only copies to the device hold up `op`, and those depend on nothing else; marks
 * that are held up in this way may stand between, `marks` of them at most. With `stamps`, stamps in
 * the queue of copies to the device may hold it up as well. */
static bool waits_for_copy(const struct timeline_op *op, bool stamps, int marks)
{
    if (op->phase != CLOCK_HELD) return false;
    for (size_t i = 0; i < op->before.count; i++) {
        const struct timeline_op *before = op->before.ops[i];
        if (before->phase == CLOCK_ENDED) continue;
        if (stamps && before->work.kind == TIMELINE_STAMP && before->queue == QUEUE_IN) continue;
        if (before->work.kind == TIMELINE_MARK && marks > 0) {
            if (!waits_for_copy(before, stamps, marks - 1)) return false;
            continue;
        }
        if (before->work.kind != TIMELINE_COPY_IN || before->phase == CLOCK_HELD) return false;
    }
    return true;
}

enum { MOST_MARKS = 4 }; /* marks in a chain that waits_for_copy follows */

/* More watchers than this do not slow a copy further. A watcher is another queue whose first kernel
 * polls for its copy. */
enum { MOST_WATCHERS = 3 };

static unsigned watchers(const struct timeline_op *copy)
{
    const struct timeline_context *context = context_of(copy->timeline, copy->context);
    unsigned count = 0;

    for (unsigned i = 0; i < copy->timeline->settings.connections && count < MOST_WATCHERS; i++) {
        const struct timeline_op *first = first_kernel(context, i);
        count += i != copy->connection && first != NULL && waits_for_copy(first, true, MOST_MARKS);
    }
    return count;
}

/* Returns whose turn `op` takes part in: a copy engine's, also for a stamp in one of its queues, or
 * the kernel dispatcher's. */
static enum timeline_kind server_of(const struct timeline_op *op)
{
    static const enum timeline_kind engines[QUEUE_COUNT] = {
        [QUEUE_IN] = TIMELINE_COPY_IN,
        [QUEUE_OUT] = TIMELINE_COPY_OUT,
        [QUEUE_INSIDE] = TIMELINE_COPY_INSIDE,
        [QUEUE_COMPUTE] = TIMELINE_KERNEL,
    };
    return engines[op->queue];
}

/* Returns true when the kernel can start now or once its copy has ended. */
static bool will_start(const struct timeline_op *first)
{
    return first != NULL &&
           (first->phase == CLOCK_QUEUED || waits_for_copy(first, false, MOST_MARKS));
}

/* Returns when the kernel dispatcher leaves a queue although the copy that it waits for has not
 * ended. */
static uint64_t impatient_at(const struct clock_device *device)
{
    return device->turns[TIMELINE_KERNEL].since_ns + (uint64_t)timeline_model->patience;
}

/* Returns the kernel whose queue has the turn, so that those of other queues wait; NULL: none. */
static const struct timeline_op *kernel_in_turn(const struct timeline *timeline,
                                                const struct clock_device *device)
{
    const struct clock_turn *turn = &device->turns[TIMELINE_KERNEL];
    const struct timeline_context *context = context_of(timeline, turn->context);
    const struct timeline_op *first =
        context != NULL ? first_kernel(context, turn->connection) : NULL;

    if (!will_start(first)) return NULL;
    return first->phase == CLOCK_QUEUED || timeline->now_ns < impatient_at(device) ? first : NULL;
}

/* Turns to the next queue whose first kernel will start; with `now`, whose first kernel is ready.
 * Returns false when there is none. */
static bool turn_on(struct timeline *timeline, const struct timeline_context *context, bool now)
{
    struct clock_turn *turn = &context->device->turns[TIMELINE_KERNEL];
    const unsigned connections = timeline->settings.connections;

    for (unsigned i = 1; i < connections; i++) {
        const unsigned next = (turn->connection + i) % connections;
        const struct timeline_op *first = first_kernel(context, next);
        if (!will_start(first)) continue;
        if (now && (first->phase != CLOCK_QUEUED || first->ready_ns > timeline->now_ns)) continue;
        *turn = (struct clock_turn){context->number, next, timeline->now_ns};
        return true;
    }
    return false;
}

/* Turns to the next queue when the present one is exhausted or has been waited at for too long; in
 * the latter case to a queue that is ready, if there is one. */
static void turn_kernels(struct timeline *timeline, struct clock_device *device)
{
    struct clock_turn *turn = &device->turns[TIMELINE_KERNEL];
    const struct timeline_context *context = context_of(timeline, turn->context);

    if (context == NULL || kernel_in_turn(timeline, device) != NULL) return;
    if (!will_start(first_kernel(context, turn->connection)))
        turn->since_ns = timeline->now_ns;
    else if (turn_on(timeline, context, true))
        return;
    turn_on(timeline, context, false);
}

/* Returns how many queues an engine passes to reach that of `op`. */
static unsigned turns_to(const struct timeline_op *op)
{
    const struct clock_turn *turn = &op->device->turns[server_of(op)];
    const unsigned connections = op->timeline->settings.connections;

    if (turn->context != op->context || op->work.beside) return connections;
    return (op->connection + connections - turn->connection) % connections;
}

static double rate(const struct timeline_op *op)
{
    const struct clock_device *device = op->device;
    switch (op->work.kind) {
    case TIMELINE_COPY_IN:
        return (device->engines[TIMELINE_COPY_OUT] ? timeline_model->copy_duplex_in : 1) /
               (1 + timeline_model->copy_watched * watchers(op) / MOST_WATCHERS);
    case TIMELINE_COPY_OUT:
        return device->engines[TIMELINE_COPY_IN] ? timeline_model->copy_duplex_out : 1;
    default:
        return cache_rate(op) / device->load;
    }
}

/* ---- the past -------------------------------------------------------------------------------- */

/* Host threads have clocks of their own. A thread whose clock is behind submits work for a time
 * that has been simulated already: such work takes what the device left free at that time. */

static void past_note(const struct timeline_op *op)
{
    op->device->past[op->device->past_count++ % CLOCK_PAST] =
        (struct clock_past){op->work.kind, op->context, op->start_ns, op->end_ns, op->cost};
}

/* Returns true when the two operations cannot run at the same time at full rate. */
static bool excludes(const struct clock_past *past, const struct timeline_op *op)
{
    if (kinds[op->work.kind].alone) return past->kind == op->work.kind;
    if (!kinds[past->kind].computes) return false;
    return past->context != op->context || past->cost.issue + op->cost.issue > 1 ||
           past->cost.traffic + op->cost.traffic > 1 || past->cost.room + op->cost.room > 1;
}

/* Returns the earliest start, not before `op` is ready, at which it would have met nothing that
 * excludes it; the present when there is none earlier. */
static uint64_t past_start(const struct timeline *timeline, const struct timeline_op *op)
{
    const uint64_t length = op->cost_known || op->expected ? (uint64_t)op->cost.duration_ns : 0;
    const struct clock_device *device = op->device;
    const uint64_t count = device->past_count < CLOCK_PAST ? device->past_count : CLOCK_PAST;
    uint64_t start = op->ready_ns;
    bool moved = true;
    while (moved && start < timeline->now_ns) {
        moved = false;
        for (uint64_t i = 0; i < count; i++) {
            const struct clock_past *past = &device->past[i];
            if (past->end_ns <= start || past->start_ns >= start + length + 1) continue;
            if (!excludes(past, op)) continue;
            start = past->end_ns;
            moved = true;
        }
        for (size_t i = 0; i < timeline->running_count; i++) {
            const struct timeline_op *other = timeline->running[i];
            const struct clock_past current = {other->work.kind, other->context, other->start_ns,
                                               UINT64_MAX, other->cost};
            if (other->device != device || current.start_ns >= start + length + 1 ||
                !excludes(&current, op))
                continue;
            return timeline->now_ns;
        }
    }
    return start < timeline->now_ns ? start : timeline->now_ns;
}

/* ---- starting and ending --------------------------------------------------------------------- */

/* Returns whether `op`, the first of its queue, can start now. A kernel waits while kernels of
 * another context run. */
static bool can_start(const struct timeline_op *op)
{
    const struct timeline *timeline = op->timeline;
    const struct clock_device *device = op->device;
    const struct kind_row *row = &kinds[op->work.kind];
    if (op->phase != CLOCK_QUEUED || op->ready_ns > timeline->now_ns) return false;
    const enum timeline_kind server = server_of(op);
    if (server != TIMELINE_KERNEL) return device->engines[server] == 0;
    if (row->instant) return true;
    if (device->engines[TIMELINE_KERNEL] + device->engines[TIMELINE_SET] >=
        (unsigned)timeline_model->resident_grids)
        return false;
    for (size_t i = 0; i < timeline->running_count; i++) {
        const struct timeline_op *other = timeline->running[i];
        if (kinds[other->work.kind].computes && other->device == device &&
            other->context != op->context)
            return false;
    }
    return true;
}

/* Gives op's queue the turn. Returns the ns that its engine takes to turn to it. */
static uint64_t take_turn(const struct timeline_op *op)
{
    struct clock_turn *turn = &op->device->turns[server_of(op)];
    const bool copies = op->work.kind == TIMELINE_COPY_IN || op->work.kind == TIMELINE_COPY_OUT;
    const bool turns = copies && turn->context != 0 && turns_to(op) > 0;

    if (!op->work.beside && (server_of(op) != TIMELINE_KERNEL || kinds[op->work.kind].computes))
        *turn = (struct clock_turn){op->context, op->connection, op->timeline->now_ns};
    return turns ? (uint64_t)timeline_model->copy_turn : 0;
}

/* Takes the first operation out of its queue. */
static struct timeline_op *queue_take(struct clock_queue *queue)
{
    struct timeline_op *op = queue->first;
    queue->first = op->behind;
    if (queue->first == NULL) queue->last = NULL;
    op->behind = NULL;
    if (queue == &op->own) {
        *queue->link = queue->next;
        if (queue->next != NULL) queue->next->link = queue->link;
    }
    return op;
}

static void start(struct clock_queue *queue)
{
    struct timeline_op *op = queue_take(queue);
    struct timeline *timeline = op->timeline;
    const uint64_t turning = take_turn(op);
    if (kinds[op->work.kind].instant) {
        op->start_ns = op->end_ns = op->late ? op->ready_ns : timeline->now_ns;
        if (server_of(op) != TIMELINE_KERNEL) op->end_ns += (uint64_t)timeline_model->copy_answer;
        end(op);
        return;
    }
    op->phase = CLOCK_STARTED;
    expectation_apply(op);
    cache_start(op);
    op->start_ns = op->late ? past_start(timeline, op) : timeline->now_ns;
    if (!op->late) op->start_ns += turning;
    op->done_ns = (double)timeline->now_ns - (double)op->start_ns;
    op->device->engines[op->work.kind]++;
    assert(timeline->running_count < (size_t)EACH_RUNNING * timeline->device_count);
    assert(op->unended == 0);
    timeline->running[timeline->running_count++] = op;
}

/* Returns whether `a` is served before `b`; both are first in their queues. */
static bool is_before(const struct timeline_op *a, const struct timeline_op *b)
{
    if (b == NULL) return true;
    const enum timeline_kind server = server_of(a);
    if (server != server_of(b)) return server < server_of(b);
    if (a->priority != b->priority) return a->priority < b->priority;
    if (a->is_left != b->is_left) return b->is_left;
    if (server != TIMELINE_KERNEL && turns_to(a) != turns_to(b)) return turns_to(a) < turns_to(b);
    if (a->ready_ns != b->ready_ns) return a->ready_ns < b->ready_ns;
    return a->number < b->number;
}

/* Returns the context's next queue, from `*index` on, that holds operations. NULL: there is none,
 * and `*index` is QUEUES or more. */
static struct clock_queue *next_waiting(struct timeline_context *context, unsigned *index)
{
    while (*index < QUEUES) {
        const uint64_t ahead = context->waiting[*index / 64] >> *index % 64;
        if (ahead == 0) {
            *index = (*index / 64 + 1) * 64;
            continue;
        }
        *index += (unsigned)__builtin_ctzll(ahead);
        struct clock_queue *queue = &context->queues[*index];
        if (queue->first != NULL) {
            ++*index;
            return queue;
        }
        context->waiting[*index / 64] &= ~(UINT64_C(1) << *index % 64);
    }
    return NULL;
}

/* Iterates over all queues that hold operations; `*context` and `*index` are the iterator. Returns
 * NULL at the end. */
static struct clock_queue *next_queue(struct timeline_context **context, unsigned *index)
{
    while (*context != NULL) {
        struct clock_queue *queue = next_waiting(*context, index);
        if (queue != NULL) return queue;
        struct clock_queue *beside = (*context)->beside;
        for (unsigned i = QUEUES; i < *index && beside != NULL; i++) beside = beside->next;
        ++*index;
        if (beside != NULL) return beside;
        *context = (*context)->next;
        *index = 0;
    }
    return NULL;
}

/* Returns the number of the device's context whose kernel has waited longest; it computes next, so
 * that none waits for ever. 0: no kernel waits. */
static uint64_t next_to_compute(const struct timeline *timeline, const struct clock_device *device)
{
    const struct timeline_op *first = NULL;
    const struct clock_queue *queue;
    struct timeline_context *context = timeline->contexts;
    unsigned index = 0;
    while ((queue = next_queue(&context, &index)) != NULL) {
        const struct timeline_op *op = queue->first;
        if (!kinds[op->work.kind].computes || op->phase != CLOCK_QUEUED ||
            op->ready_ns > timeline->now_ns || op->device != device)
            continue;
        if (first == NULL || op->ready_ns < first->ready_ns ||
            (op->ready_ns == first->ready_ns && op->number < first->number))
            first = op;
    }
    return first != NULL ? first->context : 0;
}

static bool is_kept_waiting(const struct timeline_op *op, const struct timeline_op *in_turn)
{
    return kinds[op->work.kind].computes && !op->work.beside && op->context == in_turn->context &&
           op->connection != in_turn->connection && op->priority >= in_turn->priority;
}

/* Starts everything that can start on the device now. */
static void start_on(struct timeline *timeline, struct clock_device *device)
{
    for (;;) {
        struct clock_queue *best = NULL, *queue;
        uint64_t computing = next_to_compute(timeline, device);
        turn_kernels(timeline, device);
        const struct timeline_op *in_turn = kernel_in_turn(timeline, device);
        struct timeline_context *context = timeline->contexts;
        unsigned index = 0;
        while ((queue = next_queue(&context, &index)) != NULL) {
            const struct timeline_op *op = queue->first;
            if (op->device != device || !can_start(op)) continue;
            if (kinds[op->work.kind].computes && op->context != computing) continue;
            if (in_turn != NULL && is_kept_waiting(op, in_turn)) continue;
            if (is_before(op, best != NULL ? best->first : NULL)) best = queue;
        }
        if (best == NULL) return;
        start(best);
    }
}

static void start_all(struct timeline *timeline)
{
    for (struct clock_device *device = timeline->devices; device != NULL; device = device->next)
        start_on(timeline, device);
}

/* Returns the next virtual time at which something happens without a new operation. */
static uint64_t next_event(const struct timeline *timeline)
{
    uint64_t next = NEVER;
    measure_loads(timeline);
    for (size_t i = 0; i < timeline->running_count; i++) {
        const struct timeline_op *op = timeline->running[i];
        if (is_overdue(op)) continue;
        double wait = left_ns(op) / rate(op);
        uint64_t at = timeline->now_ns;
        if (wait > 0) at += (uint64_t)wait + ((double)(uint64_t)wait < wait);
        if (at < next) next = at;
    }
    for (const struct clock_device *device = timeline->devices; device != NULL;
         device = device->next) {
        const uint64_t clearing = next_clearing(device, timeline->now_ns);
        if (next != NEVER && clearing < next) next = clearing;
        const struct timeline_op *in_turn = kernel_in_turn(timeline, device);
        if (in_turn != NULL && in_turn->phase != CLOCK_QUEUED && impatient_at(device) < next)
            next = impatient_at(device);
    }
    const struct clock_queue *queue;
    struct timeline_context *context = timeline->contexts;
    unsigned index = 0;
    while ((queue = next_queue(&context, &index)) != NULL) {
        const struct timeline_op *op = queue->first;
        /* An operation that cannot start may still take the turn once the device has received
         * it. */
        const uint64_t at = op->phase == CLOCK_QUEUED ? op->ready_ns : op->known_ns;
        if (at > timeline->now_ns && at < next) next = at;
    }
    return next;
}

static void end_running(struct timeline *timeline, size_t index)
{
    struct timeline_op *op = timeline->running[index];
    timeline->running[index] = timeline->running[--timeline->running_count];
    op->device->engines[op->work.kind]--;
    /* Its cost may have become known only after its end. */
    double over = op->done_ns - op->cost.duration_ns;
    op->end_ns = timeline->now_ns - (over > 1 ? (uint64_t)over : 0);
    if (op->end_ns < op->start_ns) op->end_ns = op->start_ns;
    past_note(op);
    cache_end(op);
    end(op);
}

static void pass_time(struct timeline *timeline, uint64_t until)
{
    measure_loads(timeline);
    for (size_t i = 0; i < timeline->running_count; i++) {
        struct timeline_op *op = timeline->running[i];
        op->done_ns += (double)(until - timeline->now_ns) * rate(op);
    }
    timeline->now_ns = until;
    /* By number, so that operations with equal ends settle in order of submission. */
    for (;;) {
        size_t first = timeline->running_count;
        for (size_t i = 0; i < timeline->running_count; i++) {
            const struct timeline_op *op = timeline->running[i];
            if ((!op->cost_known && !op->expected) || left_ns(op) > NOTHING_LEFT) continue;
            if (first == timeline->running_count || op->number < timeline->running[first]->number)
                first = i;
        }
        if (first == timeline->running_count) return;
        end_running(timeline, first);
    }
}

void clock_until(struct timeline *timeline, uint64_t limit_ns)
{
    for (;;) {
        start_all(timeline);
        uint64_t next = next_event(timeline);
        if (next == NEVER || next > limit_ns) return;
        pass_time(timeline, next);
    }
}

bool clock_is_stuck(const struct timeline *timeline)
{
    return next_event(timeline) == NEVER;
}

bool clock_any_overdue(const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->running_count; i++)
        if (is_overdue(timeline->running[i])) return true;
    return false;
}

bool clock_end_overdue(struct timeline *timeline)
{
    bool any = false;
    for (size_t i = timeline->running_count; i-- > 0;) {
        struct timeline_op *op = timeline->running[i];
        if (!is_overdue(op)) continue;
        op->expected = true;
        op->cost.duration_ns = op->done_ns;
        any = true;
    }
    if (any) pass_time(timeline, timeline->now_ns);
    if (any) return true;
    /* A wait for a value that has not been written yet ends, so that virtual time continues behind
     * it. */
    for (struct timeline_op *op = timeline->oldest; op != NULL; op = op->younger) {
        if (!op->work.waits || op->phase != CLOCK_QUEUED) continue;
        op->start_ns = op->ready_ns;
        op->end_ns = timeline->now_ns > op->ready_ns ? timeline->now_ns : op->ready_ns;
        end(op);
        return true;
    }
    return false;
}

/* Returns the queue of kernels and timed events of op's connection. */
static const struct clock_queue *compute_queue(const struct timeline_op *op)
{
    const struct timeline_context *context = op->timeline->contexts;
    while (context->number != op->context) context = context->next;
    return &context->queues[queue_index(op->connection, QUEUE_COMPUTE)];
}

/* Returns an overdue kernel that holds up a queue: the queue's first operation is a timed event
 * behind that kernel, and others are behind the event. NULL: there is none. A kernel that another
 * thread runs does not count. */
static struct timeline_op *overdue_in_front(const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->running_count; i++) {
        struct timeline_op *front = timeline->running[i];
        if (!is_overdue(front) || front->state == ORDER_RUNNING) continue;
        const struct timeline_op *first = compute_queue(front)->first;
        if (first == NULL || first->behind == NULL) continue;
        for (size_t k = 0; k < front->after.count; k++)
            if (front->after.ops[k] == first) return front;
    }
    return NULL;
}

struct timeline_op *clock_until_ended(struct timeline_op *op)
{
    struct timeline *timeline = op->timeline;
    while (op->phase != CLOCK_ENDED) {
        start_all(timeline);
        struct timeline_op *front = overdue_in_front(timeline);
        if (front != NULL) return front;
        uint64_t next = next_event(timeline);
        if (next != NEVER)
            pass_time(timeline, next);
        else if (!clock_end_overdue(timeline))
            break; /* unreachable: `op` has run, so what it depends on has run */
    }
    return NULL;
}

void clock_context_end(struct timeline_context *context)
{
    struct timeline *timeline = context->timeline;
    for (size_t i = timeline->running_count; i-- > 0;)
        if (timeline->running[i]->context == context->number) end_running(timeline, i);
    struct clock_queue *queue;
    struct timeline_context *at = context;
    unsigned index = 0;
    while ((queue = next_queue(&at, &index)) != NULL && at == context) {
        index -= queue->link != NULL; /* the queue is about to leave its list */
        for (const bool is_own = queue->link != NULL; queue->first != NULL;) {
            struct timeline_op *op = queue_take(queue);
            op->start_ns = op->end_ns = timeline->now_ns;
            end(op);
            if (is_own) break; /* the queue may have been freed with its operation */
        }
    }
}
