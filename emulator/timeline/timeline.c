/* The order in which operations run. The virtual clock is timeline/clock.c. */
#include "emulator/base/hash.h"
#include "emulator/base/spares.h"
#include "emulator/timeline/parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct spares spares; /* free operations */

/* ---- references and edges -------------------------------------------------------------------- */

struct timeline_op *timeline_op_retain(struct timeline_op *op)
{
    if (op != NULL) op->references++;
    return op;
}

static bool edges_reserve(struct timeline_edges *edges, size_t count)
{
    if (edges->ops == NULL) {
        edges->ops = edges->few;
        edges->room = EDGES_FEW;
    }
    if (count <= edges->room) return true;
    const bool are_few = edges->ops == edges->few;
    const size_t room = count > 2 * edges->room ? count : 2 * edges->room;
    struct timeline_op **grown = reallocarray(are_few ? NULL : edges->ops, room, sizeof *grown);
    if (grown == NULL) return false;
    if (are_few) memcpy(grown, edges->few, sizeof edges->few);
    edges->ops = grown;
    edges->room = room;
    return true;
}

static void edges_release(struct timeline_edges *edges)
{
    const struct timeline_edges were = *edges;
    const bool are_few = were.ops == edges->few;
    edges->ops = NULL;
    edges->count = 0;
    for (size_t i = 0; i < were.count; i++)
        timeline_op_release(are_few ? were.few[i] : were.ops[i]);
    if (!are_few) free(were.ops);
}

void timeline_op_release(struct timeline_op *op)
{
    if (op == NULL) return;
    assert(op->references > 0);
    if (--op->references > 0) return;
    edges_release(&op->before);
    edges_release(&op->after);
    happens_clear(&op->clock);
    if (op->work.release != NULL) op->work.release(op->work.user);
    spares_give(&spares, op);
}

static bool is_settled(const struct timeline_op *op)
{
    return op->state == ORDER_HAS_RUN && op->phase == CLOCK_ENDED;
}

/* Returns true when `op` will know of all that `before` knows because the host does: it has not
 * entered yet. */
static bool learns_from_host(const struct timeline_op *op, const struct timeline_op *before)
{
    return op->when.sequence == 0 && timeline_host_knows_op(op->timeline, before);
}

/* Makes `op` depend on `before`. `op->before` must have room. Returns false when the host has no
 * memory. */
static bool depend(struct timeline_op *op, struct timeline_op *before)
{
    const uint64_t after_end = before->end_ns + clock_gap(before, op);
    if (before->state == ORDER_HAS_RUN && !learns_from_host(op, before)) happens_follow(op, before);
    if (before->phase == CLOCK_ENDED && after_end > op->ready_ns) op->ready_ns = after_end;
    if (is_settled(before)) return true;
    if (!edges_reserve(&before->after, before->after.count + 1)) return false;
    before->after.ops[before->after.count++] = timeline_op_retain(op);
    op->before.ops[op->before.count++] = timeline_op_retain(before);
    if (before->state != ORDER_HAS_RUN) op->unrun++;
    if (before->phase != CLOCK_ENDED) op->unended++;
    return true;
}

void order_settle(struct timeline_op *op)
{
    struct timeline *timeline = op->timeline;
    if (!is_settled(op) || op->settled) return;
    assert(op->start_ns <= op->end_ns && timeline->unsettled_count > 0);
    op->settled = true;
    *(op->earlier != NULL ? &op->earlier->later : &timeline->earliest) = op->later;
    *(op->later != NULL ? &op->later->earlier : &timeline->latest) = op->earlier;
    timeline->unsettled_count--;
    edges_release(&op->before);
    edges_release(&op->after);
    if (op->work.settled != NULL && !op->abandoned) op->work.settled(op, op->work.user);
    timeline_op_release(op); /* the timeline's own reference */
}

/* ---- the timeline ---------------------------------------------------------------------------- */

struct timeline *timeline_create(const struct timeline_settings *settings)
{
    struct timeline *timeline = calloc(1, sizeof *timeline);
    if (timeline == NULL) return NULL;
    if (!happens_start(&timeline->happens)) {
        free(timeline);
        return NULL;
    }
    timeline->settings = *settings;
    if (settings->connections < 1) timeline->settings.connections = 1;
    if (settings->connections > MAX_CONNECTIONS) timeline->settings.connections = MAX_CONNECTIONS;
    timeline->random = hash_spread(settings->seed) + 1;
    return timeline;
}

void timeline_destroy(struct timeline *timeline)
{
    if (timeline == NULL) return;
    while (timeline->contexts != NULL) timeline_context_destroy(timeline->contexts);
    timeline_settle(timeline);
    assert(timeline->unrun_count == 0 && timeline->unsettled_count == 0);
    happens_end(&timeline->happens);
    free(timeline->ready);
    clock_devices_end(timeline);
    free(timeline);
}

/* xorshift64*: good enough for choosing, and the same on every machine. */
static uint64_t random_below(struct timeline *timeline, uint64_t bound)
{
    uint64_t x = timeline->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    timeline->random = x;
    return (x * 0x2545f4914f6cdd1dull >> 33) % bound;
}

/* ---- contexts and streams -------------------------------------------------------------------- */

struct timeline_context *timeline_context_create(struct timeline *timeline, unsigned device)
{
    struct clock_device *on = clock_device(timeline, device);
    struct timeline_context *context = on != NULL ? calloc(1, sizeof *context) : NULL;
    if (context == NULL) return NULL;
    context->device = on;
    context->timeline = timeline;
    context->number = ++timeline->contexts_made;
    context->next = timeline->contexts;
    timeline->contexts = context;
    return context;
}

static void stream_free(struct timeline_stream **link)
{
    struct timeline_stream *stream = *link;
    *link = stream->next;
    if (stream->last != NULL && !timeline_host_knows_op(stream->context->timeline, stream->last)) {
        happens_join(&stream->context->gone, &stream->last->clock);
        if (stream->kind == TIMELINE_BLOCKING)
            happens_join(&stream->context->gone_blocking, &stream->last->clock);
    }
    timeline_op_release(stream->last);
    timeline_op_release(stream->own);
    free(stream);
}

void timeline_context_destroy(struct timeline_context *context)
{
    struct timeline_context **link = &context->timeline->contexts;
    timeline_context_abandon(context);
    clock_context_end(context);
    while (context->streams != NULL) stream_free(&context->streams);
    while (*link != context) link = &(*link)->next;
    *link = context->next;
    happens_clear(&context->gone);
    happens_clear(&context->gone_blocking);
    free(context);
}

struct timeline_stream *timeline_stream_create(struct timeline_context *context,
                                               enum timeline_stream_kind kind, int priority)
{
    struct timeline_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->context = context;
    stream->kind = kind;
    stream->priority = priority;
    stream->number = context->streams_made++;
    stream->connection = (unsigned)(stream->number % context->timeline->settings.connections);
    stream->queue = QUEUE_COMPUTE;
    stream->next = context->streams;
    context->streams = stream;
    return stream;
}

void timeline_stream_prioritise(struct timeline_stream *stream, int priority)
{
    stream->priority = priority;
}

/* Frees the context's destroyed streams that no operation can wait for any more. */
static void streams_sweep(struct timeline_context *context)
{
    struct timeline_stream **link = &context->streams;
    while (*link != NULL) {
        const struct timeline_stream *stream = *link;
        if (stream->destroyed && (stream->last == NULL || is_settled(stream->last)))
            stream_free(link);
        else
            link = &(*link)->next;
    }
}

void timeline_stream_destroy(struct timeline_stream *stream)
{
    stream->destroyed = true;
    streams_sweep(stream->context);
}

struct timeline_op *timeline_stream_last(const struct timeline_stream *stream)
{
    return stream->last;
}

uint64_t timeline_op_number(const struct timeline_op *op)
{
    return op->number;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Given to choose() in place of a wait's number: run operations ahead of any wait. */
#define AHEAD UINT64_MAX

static void has_run(struct timeline_op *op)
{
    assert(op->state != ORDER_HAS_RUN && (op->unrun == 0 || op->abandoned));
    timeline_op_retain(op);
    op->state = ORDER_HAS_RUN;
    unrun_list_remove(op);
    happens_has_run(op);
    for (size_t i = 0; i < op->after.count; i++) {
        struct timeline_op *after = op->after.ops[i];
        if (after->state == ORDER_HAS_RUN) continue; /* abandoned: waits for nothing */
        assert(after->unrun > 0);
        if (--after->unrun == 0 && after->state == ORDER_WAITING) ready_add(after);
    }
    clock_has_run(op);
    order_settle(op);
    timeline_op_release(op);
}

bool order_run(struct timeline_op *op)
{
    enum timeline_ran ran = TIMELINE_RAN;
    ready_remove(op);
    op->state = ORDER_RUNNING;
    op->heard = false;
    timeline_op_retain(op);
    if (op->work.run != NULL && !op->abandoned) ran = op->work.run(op, op->work.user);
    if (op->heard && op->loads_wait) loads_let_on(op);
    if (ran == TIMELINE_RAN && op->unseen) op->abandoned = true;
    if (ran == TIMELINE_RAN)
        has_run(op);
    else if (ran == TIMELINE_NOT_YET)
        ready_add(op);
    if (ran == TIMELINE_NOT_YET && op->work.kind == TIMELINE_KERNEL && !op->begun) {
        op->begun = true;
        op->timeline->begun_count++;
    }
    timeline_op_release(op);
    return ran != TIMELINE_NOT_YET;
}

/* The order policy: returns true when `op` is to run before `best`, the best of those seen so far.
 * `seen` counts the candidates, `op` included. */
static bool goes_first(struct timeline *timeline, const struct timeline_op *op,
                       const struct timeline_op *best, uint64_t seen)
{
    if (best == NULL) return true;
    switch (timeline->settings.order) {
    case TIMELINE_LATEST:
        return op->number > best->number;
    case TIMELINE_EARLIEST:
        return op->number < best->number;
    case TIMELINE_RANDOM:
        return random_below(timeline, seen) == 0;
    }
    return false;
}

/* Returns true for a host function on which no work depends, so far. Even under TIMELINE_EARLIEST
 * such a function waits until a call waits for it or the host has been still for a while. Once it
 * has run, it may have told the host of its end by means that the device cannot see, and the
 * findings about missing waits would depend on the order policy. */
static bool is_held_back(const struct timeline_op *op)
{
    if (op->work.kind != TIMELINE_HOST_FUNCTION) return false;
    for (size_t i = 0; i < op->after.count; i++)
        if (!op->after.ops[i]->work.passive) return false;
    return true;
}

/* Returns the ready operation to run next, or NULL when there is none. `wanted` is the number of a
 * wait, whose marked operations are considered; 0 considers all operations; AHEAD those that may
 * run although no call waits for them. Operations already tried in this round are skipped. */
static struct timeline_op *choose(struct timeline *timeline, uint64_t wanted, uint64_t round)
{
    struct timeline_op *best = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < timeline->ready_count; i++) {
        struct timeline_op *op = timeline->ready[i];
        if (op->tried == round) continue;
        if (wanted == AHEAD ? is_held_back(op) : wanted != 0 && op->wanted != wanted) continue;
        if (goes_first(timeline, op, best, ++seen)) best = op;
    }
    return best;
}

/* Runs ready operations until none of the wanted ones is left. Returns whether any has run. */
static bool run_round(struct timeline *timeline, uint64_t wanted)
{
    uint64_t round = ++timeline->rounds;
    struct timeline_op *op;
    bool any = false;
    while ((op = choose(timeline, wanted, round)) != NULL) {
        op->tried = round;
        if (loads_run(op)) any = true;
    }
    return any;
}

/* Marks an operation with a wait's number and puts it on the list `first`. want_dependencies then
 * marks what must run before the operations of that list. */
static void want(struct timeline_op *op, uint64_t wait, struct timeline_op **first)
{
    if (op->wanted == wait) return;
    op->wanted = wait;
    if (op->state == ORDER_HAS_RUN) return;
    op->next_wanted = *first;
    *first = op;
}

/* Marks everything that must run before the marked operations. Returns whether another thread is
 * running one of them. */
static bool want_dependencies(struct timeline_op *first, uint64_t wait)
{
    bool running = false;
    while (first != NULL) {
        const struct timeline_op *op = first;
        first = op->next_wanted;
        if (op->state == ORDER_RUNNING) running = true;
        for (size_t i = 0; i < op->before.count; i++) want(op->before.ops[i], wait, &first);
    }
    return running;
}

/* Runs until all of `targets` have run. */
static void run_until(struct timeline *timeline, struct timeline_op *const *targets, size_t count)
{
    for (;;) {
        const uint64_t wait = ++timeline->waits;
        struct timeline_op *first = NULL;
        for (size_t i = 0; i < count; i++)
            if (targets[i]->state != ORDER_HAS_RUN) want(targets[i], wait, &first);
        if (first == NULL) return;
        bool running = want_dependencies(first, wait);
        timeline->run_untils++;
        bool any = run_round(timeline, wait);
        /* Another stream's work may write the value that an operation waits for. */
        if (!any && !running) any = run_round(timeline, 0);
        timeline->run_untils--;
        if (!any) timeline->settings.pause(timeline->settings.user, !running);
    }
}

/* As run_until, for a query, which must not wait for the host. Returns false when a running host
 * function, or a wait for a value that memory does not hold, precedes `op`. */
static bool run_if_possible(struct timeline *timeline, struct timeline_op *op)
{
    bool paused = false; /* a host function that is about to end gets the time for it */
    while (op->state != ORDER_HAS_RUN) {
        const uint64_t wait = ++timeline->waits;
        struct timeline_op *first = NULL;
        want(op, wait, &first);
        bool running = want_dependencies(first, wait);
        if (run_round(timeline, wait)) continue;
        if (running && !paused) {
            timeline->settings.pause(timeline->settings.user, false);
            paused = true;
        } else if (running || !run_round(timeline, 0)) {
            return false;
        }
    }
    return true;
}

/* ---- submission ------------------------------------------------------------------------------ */

/* Writes the operations that stream order puts before new work in `stream`, `room` of them at most.
 * Returns how many there are. */
static size_t stream_order(struct timeline_stream *stream, struct timeline_op **list, size_t room)
{
    size_t count = 0;
    for (struct timeline_stream *other = stream->context->streams; other != NULL;
         other = other->next) {
        bool barrier = stream->kind == TIMELINE_LEGACY     ? other->kind == TIMELINE_BLOCKING
                       : stream->kind == TIMELINE_BLOCKING ? other->kind == TIMELINE_LEGACY
                                                           : false;
        if (other != stream && !barrier) continue;
        if (other->last == NULL) continue;
        if (count < room) list[count] = other->last;
        count++;
    }
    return count;
}

static bool has_ended(const struct timeline_op *op, uint64_t now_ns)
{
    return op->phase == CLOCK_ENDED && op->end_ns <= now_ns;
}

/* Returns true when `stream` has no pending work of its own, and only work of other streams
 * precedes new work in it. Operations up to the number `covered` precede the stream's own latest
 * work. */
static bool only_others_are_before(const struct timeline_stream *stream,
                                   struct timeline_op *const *order, size_t count)
{
    const uint64_t covered = stream->own != NULL ? stream->own->number : 0;
    if (stream->own != NULL && !is_settled(stream->own)) return false;
    for (size_t i = 0; i < count; i++)
        if (order[i] != stream->last && order[i]->number > covered && !is_settled(order[i]))
            return true;
    return false;
}

/* Creates an operation that no other refers to yet; NULL: no memory. */
static struct timeline_op *op_create(const struct timeline_stream *stream, unsigned lane,
                                     const struct timeline_work *work, uint64_t issue_ns,
                                     size_t before_count)
{
    struct timeline *timeline = stream->context->timeline;
    struct timeline_op *op = spares_take(&spares, sizeof *op);
    if (op == NULL) return NULL;
    memset(op, 0, sizeof *op);
    op->references = 1;
    op->timeline = timeline;
    op->work.kind = work->kind; /* the rest, with `release`, is set once nothing can fail */
    op->work.early = work->early;
    op->number = ++timeline->ops;
    op->context = stream->context->number;
    op->connection = (stream->connection + lane) % timeline->settings.connections;
    op->priority = stream->priority;
    op->known_ns = op->ready_ns = issue_ns + (uint64_t)timeline_model->dispatch;
    if (!edges_reserve(&op->before, before_count)) {
        spares_give(&spares, op);
        return NULL;
    }
    return op;
}

/* Undoes the edges of an operation whose submission failed, and frees it. */
static void op_withdraw(struct timeline_op *op)
{
    op->work.release = NULL;
    for (size_t i = 0; i < op->before.count; i++) {
        /* The newest edge of each dependency is the one to `op`. */
        struct timeline_op *before = op->before.ops[i];
        if (before->after.count > 0 && before->after.ops[before->after.count - 1] == op) {
            before->after.count--;
            op->references--;
        }
    }
    timeline_op_release(op);
}

static bool all_ended(struct timeline_op *const *ops, size_t count, uint64_t now_ns)
{
    for (size_t i = 0; i < count; i++)
        if (ops[i] != NULL && !has_ended(ops[i], now_ns)) return false;
    return true;
}

static bool depend_on_all(struct timeline_op *op, struct timeline_op *const *before, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (before[i] == NULL) continue;
        assert(before[i]->number < op->number); /* so the graph is acyclic */
        if (!depend(op, before[i])) return false;
    }
    return true;
}

bool timeline_op_also_after(struct timeline_op *op, struct timeline_op *before)
{
    if (!edges_reserve(&op->before, op->before.count + 1)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < op->before.count; i++) {
        if (is_settled(op->before.ops[i]))
            timeline_op_release(op->before.ops[i]);
        else
            op->before.ops[kept++] = op->before.ops[i];
    }
    op->before.count = kept;
    assert(op->abandoned || op->state == ORDER_WAITING);
    return op->abandoned || depend(op, before);
}

void timeline_catch_up(struct timeline_op *op)
{
    for (size_t i = 0; i < op->before.count; i++)
        if (op->before.ops[i]->state == ORDER_HAS_RUN) clock_until_ended(op->before.ops[i]);
}

void timeline_hold(struct timeline *timeline, bool hold)
{
    timeline->holds = hold;
}

/* Puts `op` into the timeline's lists, and makes it the stream's latest (`is_latest`) and the one
 * that a wait for the stream waits for (`is_own`). */
static void op_enter(struct timeline_op *op, struct timeline_stream *stream, bool is_latest,
                     bool is_own)
{
    struct timeline *timeline = op->timeline;
    op->references++; /* held by the timeline */
    op->earlier = timeline->latest;
    *(timeline->latest != NULL ? &timeline->latest->later : &timeline->earliest) = op;
    timeline->latest = op;
    timeline->unsettled_count++;
    if (is_latest) {
        timeline_op_release(stream->last);
        stream->last = timeline_op_retain(op);
    }
    if (is_own) {
        timeline_op_release(stream->own);
        stream->own = timeline_op_retain(op);
    }
    op->older = timeline->youngest;
    *(timeline->youngest != NULL ? &timeline->youngest->younger : &timeline->oldest) = op;
    timeline->youngest = op;
    timeline->unrun_count++;
    if (op->work.waits) timeline->value_count++;
    if (op->work.converses) timeline->conversing_count++;
}

/* Puts work into the timeline: in stream order or, for a part, only after `extra`. */
static struct timeline_op *submit(struct timeline_stream *stream, bool is_part, unsigned lane,
                                  const struct timeline_work *work, uint64_t issue_ns,
                                  struct timeline_op *const *extra, size_t extra_count)
{
    struct timeline *timeline = stream->context->timeline;

    streams_sweep(stream->context);
    const size_t count = is_part ? 0 : stream_order(stream, NULL, 0);
    struct timeline_op *op = op_create(stream, lane, work, issue_ns, count + extra_count);
    if (op == NULL) return NULL;
    struct timeline_op *few[EDGES_FEW], **order = few;
    if (count > EDGES_FEW) order = calloc(count, sizeof *order);
    if (order == NULL || !ready_make_room(timeline)) goto no_memory;
    if (!is_part) stream_order(stream, order, count);
    const bool is_idle = all_ended(order, count, issue_ns);
    op->queue = clock_queue_of(work, is_part || is_idle ? QUEUE_COMPUTE : stream->queue);
    op->follows = is_part ? 0 : stream->queued;
    if (!depend_on_all(op, order, count) || !depend_on_all(op, extra, extra_count)) goto no_memory;
    if (stream->kind == TIMELINE_LEGACY && !is_part)
        happens_join(&op->clock, &stream->context->gone_blocking);
    if (!happens_enter(op)) goto no_memory;
    op->work = *work;
    /* What a running operation submits was asked for before. */
    op->loads = is_part && timeline->holds ? 0 : stream->context->loads;
    const bool is_own =
        !is_part && !(work->passive && only_others_are_before(stream, order, count));
    /* The device has nothing to do and nothing to wait for: the operation ends at once. */
    const bool is_nothing =
        work->passive && op->unrun == 0 && is_idle && all_ended(extra, extra_count, issue_ns);
    if (is_nothing) op->ready_ns = issue_ns;
    if (order != few) free(order);
    if (!is_part && op->queue != QUEUE_NONE) {
        stream->queue = op->queue;
        stream->queued = op->number;
    }
    clock_enter(op, stream->context);

    op_enter(op, stream, !is_part, is_own);
    if (op->unrun == 0) ready_add(op);
    if (is_nothing) order_run(op);
    if (timeline->settings.order == TIMELINE_EARLIEST && !timeline->holds)
        run_round(timeline, AHEAD);
    return op;

no_memory:
    if (order != few) free(order);
    op_withdraw(op);
    return NULL;
}

struct timeline_op *timeline_submit(struct timeline_stream *stream,
                                    const struct timeline_work *work, uint64_t issue_ns,
                                    struct timeline_op *const *extra, size_t extra_count)
{
    return submit(stream, false, 0, work, issue_ns, extra, extra_count);
}

double timeline_submission_time(struct timeline_stream *stream, enum timeline_kind kind)
{
    struct timeline_context *context = stream->context;
    const double time = timeline_host_time(kind);
    const bool turns = time > 0 && context->submitted[kind] != stream->connection;

    if (time > 0) context->submitted[kind] = stream->connection;
    return time + (turns ? timeline_model->turn : 0);
}

struct timeline_op *timeline_submit_part(struct timeline_stream *stream, unsigned lane,
                                         const struct timeline_work *work, uint64_t issue_ns,
                                         struct timeline_op *const *after, size_t after_count)
{
    return submit(stream, true, lane, work, issue_ns, after, after_count);
}

void timeline_op_cost(struct timeline_op *op, const struct timeline_cost *cost)
{
    op->cost = *cost;
    op->cost_known = true;
}

void timeline_op_ran(struct timeline_op *op)
{
    struct timeline *timeline = op->timeline;
    has_run(op);
    if (timeline->settings.order == TIMELINE_EARLIEST) run_round(timeline, AHEAD);
}

uint64_t timeline_op_start(const struct timeline_op *op)
{
    return op->start_ns;
}

uint64_t timeline_op_end(const struct timeline_op *op)
{
    return op->end_ns;
}

void timeline_context_abandon(struct timeline_context *context)
{
    struct timeline *timeline = context->timeline;
    struct timeline_op *next;
    for (struct timeline_op *op = timeline->oldest; op != NULL; op = op->younger)
        if (op->context == context->number && op->state != ORDER_RUNNING) op->abandoned = true;
    /* Oldest first: each counts as run from now on. Operations of other contexts that it waited for
     * still run. */
    for (struct timeline_op *op = timeline->oldest; op != NULL; op = next) {
        next = op->younger;
        if (!op->abandoned || op->state == ORDER_RUNNING) continue;
        if (op->state == ORDER_READY) ready_remove(op);
        op->state = ORDER_WAITING;
        op->unrun = 0;
        if (op->work.abandoned != NULL) op->work.abandoned(op->work.user);
        has_run(op);
    }
}

/* ---- waiting and querying -------------------------------------------------------------------- */

/* Lets virtual time pass until `op`, which has run, has ended. A kernel before it in its hardware
 * queue need not have run; only that kernel's end says when the queue advances, so the kernel is
 * run then. */
static void end_on_clock(struct timeline_op *op)
{
    struct timeline_op *front;
    while ((front = clock_until_ended(op)) != NULL) {
        timeline_op_retain(front); /* another thread may settle it during a pause */
        run_until(op->timeline, &front, 1);
        timeline_op_release(front);
    }
}

/* Does not order the host after `op`. */
static uint64_t finish(struct timeline_op *op)
{
    run_until(op->timeline, &op, 1);
    end_on_clock(op);
    return op->end_ns;
}

static uint64_t finish_and_tell(struct timeline_op *op, enum timeline_sense sense)
{
    timeline_op_retain(op);
    const uint64_t end = finish(op);
    happens_host_saw(op->timeline, &op->clock, sense);
    timeline_op_release(op);
    return end;
}

uint64_t timeline_finish(struct timeline_op *op)
{
    return finish_and_tell(op, TIMELINE_PROMISED);
}

uint64_t timeline_finish_on_gpus(struct timeline_op *op)
{
    return finish_and_tell(op, TIMELINE_ON_GPUS);
}

uint64_t timeline_make_room(struct timeline *timeline)
{
    uint64_t end = 0;
    while (timeline->unsettled_count > (size_t)timeline_model->pending) {
        struct timeline_op *op = timeline_op_retain(timeline->earliest);
        const uint64_t this_end = finish(op);
        timeline_op_release(op);
        if (this_end > end) end = this_end;
    }
    return end;
}

/* What a wait waits for: the last operation of the stream itself and, for the legacy default
 * stream, of every blocking stream (an H100 waits for those too, in cuStreamSynchronize and
 * cuStreamQuery); or the last of all the context's streams. Names the stream by its number, because
 * another thread may end the stream during the wait. */
struct awaited {
    struct timeline_context *context;
    bool all, blocking;
    uint64_t stream;
};

static struct awaited awaited_of(struct timeline_context *context,
                                 const struct timeline_stream *stream)
{
    return (struct awaited){.context = context,
                            .all = stream == NULL,
                            .blocking = stream != NULL && stream->kind == TIMELINE_LEGACY,
                            .stream = stream != NULL ? stream->number : 0};
}

/* Returns the operation of `stream` that is waited for; NULL: none. */
static struct timeline_op *awaited_in(const struct awaited *awaited,
                                      const struct timeline_stream *stream)
{
    if (awaited->all) return stream->last;
    return stream->number == awaited->stream ||
                   (awaited->blocking && stream->kind == TIMELINE_BLOCKING)
               ? stream->own
               : NULL;
}

/* Returns the operations that are waited for, each with a reference; NULL when the host has no
 * memory. */
static struct timeline_op **waited_for(const struct awaited *awaited, size_t *count)
{
    size_t room = 1;
    for (struct timeline_stream *s = awaited->context->streams; s != NULL; s = s->next) room++;
    struct timeline_op **last = calloc(room, sizeof *last);
    *count = 0;
    for (struct timeline_stream *s = awaited->context->streams; s != NULL && last != NULL;
         s = s->next) {
        struct timeline_op *op = awaited_in(awaited, s);
        if (op != NULL) last[(*count)++] = timeline_op_retain(op);
    }
    return last;
}

/* The same one by one, without memory: returns the operation of the youngest stream that is older
 * than *before, and makes that stream *before. NULL: there is none. */
static struct timeline_op *next_waited_for(const struct awaited *awaited, uint64_t *before)
{
    for (struct timeline_stream *s = awaited->context->streams; s != NULL; s = s->next) {
        struct timeline_op *op = s->number < *before ? awaited_in(awaited, s) : NULL;
        if (op == NULL) continue;
        *before = s->number;
        return timeline_op_retain(op);
    }
    return NULL;
}

static void host_saw_gone(const struct awaited *awaited, enum timeline_sense sense)
{
    struct timeline_context *context = awaited->context;
    if (awaited->all)
        happens_host_saw(context->timeline, &context->gone, sense);
    else if (awaited->blocking)
        happens_host_saw(context->timeline, &context->gone_blocking, sense);
    if (sense != TIMELINE_PROMISED) return;
    /* What the host knows of is before all that is submitted from now on. */
    if (awaited->all) happens_clear(&context->gone);
    if (awaited->all || awaited->blocking) happens_clear(&context->gone_blocking);
}

static uint64_t finish_one_by_one(const struct awaited *awaited, enum timeline_sense sense)
{
    uint64_t end = 0, before = UINT64_MAX;
    struct timeline_op *op;
    while ((op = next_waited_for(awaited, &before)) != NULL) {
        const uint64_t this_end = finish_and_tell(op, sense);
        timeline_op_release(op);
        if (this_end > end) end = this_end;
    }
    host_saw_gone(awaited, sense); /* some may have gone during the wait */
    return end;
}

static uint64_t finish_streams(struct timeline_context *context, struct timeline_stream *stream,
                               enum timeline_sense sense)
{
    const struct awaited awaited = awaited_of(context, stream);
    size_t count;
    uint64_t end = 0;
    struct timeline_op **last = waited_for(&awaited, &count);

    if (last == NULL) return finish_one_by_one(&awaited, sense);
    host_saw_gone(&awaited, sense);
    if (count > 0) run_until(context->timeline, last, count);
    for (size_t i = 0; i < count; i++) {
        end_on_clock(last[i]);
        happens_host_saw(context->timeline, &last[i]->clock, sense);
        if (last[i]->end_ns > end) end = last[i]->end_ns;
        timeline_op_release(last[i]);
    }
    free(last);
    return end;
}

uint64_t timeline_stream_finish(struct timeline_stream *stream)
{
    return finish_streams(stream->context, stream, TIMELINE_PROMISED);
}

uint64_t timeline_context_finish(struct timeline_context *context)
{
    return finish_streams(context, NULL, TIMELINE_PROMISED);
}

uint64_t timeline_context_finish_on_gpus(struct timeline_context *context)
{
    return finish_streams(context, NULL, TIMELINE_ON_GPUS);
}

bool timeline_query(struct timeline_op *op, uint64_t now_ns)
{
    struct timeline *timeline = op->timeline;
    timeline_op_retain(op);
    clock_until(timeline, now_ns);
    if (!has_ended(op, now_ns) && (clock_any_overdue(timeline) || timeline->value_count > 0)) {
        /* A kernel of unknown duration may be what holds `op` up, or a wait for a value that has
         * come. */
        bool possible = run_if_possible(timeline, op);
        do {
            clock_until(timeline, now_ns);
        } while (possible && op->phase != CLOCK_ENDED && clock_is_stuck(timeline) &&
                 clock_end_overdue(timeline));
    }
    /* The clock assumes the usual duration of a host function; this one may take longer. */
    bool ended = has_ended(op, now_ns) && run_if_possible(timeline, op);
    if (ended) happens_host_saw(timeline, &op->clock, TIMELINE_PROMISED);
    timeline_op_release(op);
    return ended;
}

bool timeline_op_is_over(const struct timeline_op *op, uint64_t now_ns)
{
    return has_ended(op, now_ns) && op->state == ORDER_HAS_RUN;
}

bool timeline_stream_query(struct timeline_stream *stream, uint64_t now_ns)
{
    const struct awaited awaited = awaited_of(stream->context, stream);
    size_t count;
    bool ended = true;
    struct timeline_op **last = waited_for(&awaited, &count);
    if (last == NULL) {
        uint64_t before = UINT64_MAX;
        struct timeline_op *op;
        while (ended && (op = next_waited_for(&awaited, &before)) != NULL) {
            ended = timeline_query(op, now_ns);
            timeline_op_release(op);
        }
        return ended;
    }
    for (size_t i = 0; i < count; i++) {
        ended = ended && timeline_query(last[i], now_ns);
        timeline_op_release(last[i]);
    }
    free(last);
    return ended;
}

void timeline_nudge(struct timeline *timeline)
{
    if (timeline->begun_count > 0) timeline_go_on(timeline);
    if (timeline->settings.order == TIMELINE_EARLIEST) run_round(timeline, AHEAD);
    if (timeline->settings.order != TIMELINE_RANDOM) return;
    while (timeline->ready_count > 0 && random_below(timeline, 3) == 0) {
        struct timeline_op *op = choose(timeline, AHEAD, ++timeline->rounds);
        if (op == NULL || !loads_run(op)) return;
    }
}

bool timeline_progress(struct timeline *timeline, enum timeline_some some)
{
    if (some == TIMELINE_ALL) return run_round(timeline, 0);
    const uint64_t wait = ++timeline->waits;
    struct timeline_op *first = NULL;
    for (struct timeline_op *op = timeline->youngest; op != NULL; op = op->older)
        if (some == TIMELINE_CONVERSING ? op->work.converses
                                        : op->work.kind == TIMELINE_HOST_FUNCTION)
            want(op, wait, &first);
    want_dependencies(first, wait);
    return run_round(timeline, wait);
}

/* `wanted`: as that of choose(). */
static void run_rest(struct timeline *timeline, uint64_t wanted)
{
    const uint64_t round = ++timeline->rounds;
    struct timeline_op *op;
    while ((op = choose(timeline, wanted, round)) != NULL) {
        op->tried = round;
        if (op->work.kind != TIMELINE_HOST_FUNCTION) order_run(op);
    }
}

void timeline_run_rest(struct timeline *timeline)
{
    run_rest(timeline, 0);
}

void timeline_context_run_rest(struct timeline_context *context)
{
    struct timeline *timeline = context->timeline;
    const uint64_t wait = ++timeline->waits;
    for (struct timeline_op *op = timeline->oldest; op != NULL; op = op->younger)
        if (op->context == context->number) {
            op->unseen = true;
            op->wanted = wait;
        }
    run_rest(timeline, wait);
}

void timeline_hurry(struct timeline *timeline)
{
    timeline->settings.order = TIMELINE_EARLIEST;
    timeline->has_hurried = true;
    run_round(timeline, 0);
}

bool timeline_has_begun(const struct timeline *timeline)
{
    return timeline->begun_count > 0;
}

bool timeline_go_on(struct timeline *timeline)
{
    const size_t before = timeline->begun_count;
    uint64_t wait = ++timeline->waits;
    for (size_t i = 0; i < timeline->ready_count; i++)
        if (timeline->ready[i]->begun) timeline->ready[i]->wanted = wait;
    run_round(timeline, wait);
    return timeline->begun_count < before;
}

bool timeline_is_awaited(const struct timeline *timeline)
{
    return timeline->run_untils > 0 && timeline->tries == 0;
}

bool timeline_is_idle(const struct timeline *timeline)
{
    return timeline->unrun_count == 0;
}

void timeline_settle(struct timeline *timeline)
{
    do {
        clock_until(timeline, UINT64_MAX);
    } while (clock_end_overdue(timeline));
}
