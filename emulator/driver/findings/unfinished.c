#include "emulator/driver/findings/unfinished.h"

#include "emulator/base/array.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/races.h"

#include <assert.h>
#include <stdlib.h>

static struct {
    unsigned long long failed; /* request number of the latest failed call */
    int exit_status;
    /* The latest work of each pair of call site and stream; `count`: how often since the last
     * wait. */
    struct expected {
        struct timeline_when when;
        struct trace_record record;
        uint64_t stream_caller, count;
    } * expected;
    size_t count, room;
    size_t reserved; /* elements kept for work that is being submitted */
    size_t passed;   /* elements that searches have passed since known work was forgotten */
} end;

static void note_exit(int status, void *unused)
{
    (void)unused;
    end.exit_status = status;
}

void unfinished_begin(void)
{
    on_exit(note_exit, NULL);
}

void unfinished_call_failed(void)
{
    __atomic_store_n(&end.failed, thread.call.request, __ATOMIC_SEQ_CST);
}

/* Returns true if a call with a higher request number has failed. */
static bool failed_since(uint64_t request)
{
    return driver.lost || __atomic_load_n(&end.failed, __ATOMIC_SEQ_CST) > request;
}

/* ---- work --------------------------------------------------------------------------------- */

static bool is_known(const struct expected *expected)
{
    return timeline_host_knows(driver.timeline, expected->when, TIMELINE_ON_GPUS);
}

static void forget_known(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < end.count; i++)
        if (!is_known(&end.expected[i])) end.expected[kept++] = end.expected[i];
    end.count = kept;
    end.passed = 0;
}

/* Returns the index of the element for a call site and a stream, or the number of elements. Known
 * work is forgotten when searches have passed so many elements that this costs little beside it. */
static size_t find(const struct trace_record *record)
{
    enum { SEARCHES = 16 };
    size_t i = 0;
    if (end.passed > SEARCHES * end.count) forget_known();
    while (i < end.count && (end.expected[i].record.caller != record->caller ||
                             end.expected[i].record.stream != record->stream))
        i++;
    end.passed += i;
    return i;
}

bool unfinished_reserve(void)
{
    if (end.count + end.reserved >= end.room) {
        forget_known();
        /* Half of it is free then, so that this is rare. */
        if (!array_reserve(&end.expected, 2 * end.count + end.reserved + 1, &end.room,
                           sizeof *end.expected))
            return false;
    }
    end.reserved++;
    return true;
}

void unfinished_unreserve(void)
{
    assert(end.reserved > 0);
    end.reserved--;
}

void unfinished_expects(const struct operation *operation, const struct timeline_op *op)
{
    const struct trace_record *record = &operation->record;
    unfinished_unreserve();
    if (!races_watching()) return;
    const size_t i = find(record);
    if (i == end.count) {
        assert(end.count < end.room);
        end.expected[end.count++].count = 0;
    } else if (is_known(&end.expected[i])) {
        end.expected[i].count = 0;
    }
    end.expected[i].when = timeline_op_when(op);
    end.expected[i].record = *record;
    end.expected[i].stream_caller = operation->stream_caller;
    end.expected[i].count++;
}

void unfinished_conversed(const struct timeline_op *op)
{
    size_t kept = 0;
    for (size_t i = 0; i < end.count; i++)
        if (!timeline_happens_before(end.expected[i].when, op, TIMELINE_ON_GPUS))
            end.expected[kept++] = end.expected[i];
    end.count = kept;
}

static void report(enum trace_finding_id id, const struct expected *expected)
{
    struct trace_record found = finding_at_work(id, &expected->record, expected->stream_caller);
    found.count = expected->count;
    if (id == FINDING_UNFINISHED_IN_CONTEXT) finding_other_call(&found);
    finding_put(&found);
}

void unfinished_of_context(const struct context *context)
{
    for (size_t i = end.count; i-- > 0;) {
        const struct expected expected = end.expected[i];
        if (expected.record.context != context->object.id) continue;
        if (!is_known(&expected) && !failed_since(expected.record.request))
            report(FINDING_UNFINISHED_IN_CONTEXT, &expected);
        end.expected[i] = end.expected[--end.count];
    }
}

/* ---- events ------------------------------------------------------------------------------- */

/* Returns true if a stream of the current context other than `but` has work that the host does not
 * know to be done.
 */
static bool others_work(const struct stream *but)
{
    const struct context *context = thread_context();
    if (context == NULL || !context->alive) return false;
    for (const struct object *object = context->objects; object != NULL; object = object->next) {
        if (object->kind != OBJECT_STREAM) continue;
        const struct stream *stream = (const struct stream *)object;
        if (stream->time == NULL) continue;
        const struct timeline_op *last = timeline_stream_last(stream->time);
        if (stream != but && last != NULL &&
            !timeline_host_knows(driver.timeline, timeline_op_when(last), TIMELINE_PROMISED))
            return true;
    }
    return false;
}

void unfinished_waits_for_nothing(struct event *event, const struct stream *stream)
{
    if (event->waited != 0 || !others_work(stream)) return;
    event->waited = (uint64_t)(uintptr_t)thread.call.caller;
    event->waited_stack = stack_note(event->waited);
    event->waited_request = thread.call.request;
}

void unfinished_of_event(const struct event *event)
{
    if (event->waited == 0 || event->tried || failed_since(event->request)) return;
    const struct trace_record wait = {.context = event->object.context->object.id,
                                      .request = event->waited_request,
                                      .caller = event->waited,
                                      .stack = event->waited_stack};
    struct trace_record found = finding_at_work(FINDING_EVENT_WAITED_FOR_IN_VAIN, &wait, 0);
    found.object = event->object.id;
    finding_object(&found, 0, &event->object);
    finding_put(&found);
}

/* ---- the process -------------------------------------------------------------------------- */

void unfinished_of_process(void)
{
    if (end.exit_status != 0) return;
    for (size_t i = 0; i < end.count; i++)
        if (!is_known(&end.expected[i]) && !failed_since(end.expected[i].record.request))
            report(FINDING_UNFINISHED_AT_EXIT, &end.expected[i]);
    for (struct object *object = NULL; (object = object_next(object)) != NULL;)
        if (object->kind == OBJECT_EVENT) unfinished_of_event((struct event *)object);
}
