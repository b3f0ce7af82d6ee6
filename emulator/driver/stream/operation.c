/* Operations: work on its way from a call through the timeline into the trace. */
#include "emulator/base/spares.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Pool for operations with a small payload, made by the host under the lock. Operations made by
 * kernels do not use it, because they may be made on any thread. */
enum { COMMON_PAYLOAD = 384 };
static struct spares spares;

struct operation *operation_make(const struct stream *stream, enum trace_what what,
                                 size_t payload_size)
{
    const size_t size = sizeof(struct operation) + payload_size;
    const bool is_common = payload_size <= COMMON_PAYLOAD;
    struct operation *operation =
        is_common ? spares_take(&spares, sizeof *operation + COMMON_PAYLOAD) : malloc(size);
    if (operation == NULL) return NULL;
    memset(operation, 0, size);
    operation->is_common = is_common;
    operation->context = stream->object.context;
    operation->payload_size = payload_size;
    operation->stream_caller = stream->object.caller;
    struct trace_record *record = &operation->record; /* already zero; a record is large */
    record->kind = TRACE_OPERATION;
    record->what = what;
    record->flags = thread.call.flags & OVERLAP_CALL_ASYNC ? TRACE_ASYNC : 0;
    record->context = operation->context->object.id;
    record->stream = stream->object.id;
    record->request = thread.call.request;
    record->caller = (uint64_t)(uintptr_t)thread.call.caller;
    record->stack = stack_note((uint64_t)(uintptr_t)thread.call.caller);
    if (what != TRACE_KERNEL && (thread.call.flags & OVERLAP_CALL_LIBRARY))
        trace_copy_string(record->name, sizeof record->name, thread.call.name);
    return operation;
}

struct operation *operation_within(const struct operation *parent, size_t payload_size)
{
    struct operation *operation = calloc(1, sizeof *operation + payload_size);
    if (operation == NULL) return NULL;
    operation->context = parent->context;
    operation->payload_size = payload_size;
    operation->stream_caller = parent->stream_caller;
    operation->family = parent->family;
    operation->record = (struct trace_record){
        .kind = TRACE_OPERATION,
        .what = parent->record.what,
        .flags = parent->record.flags,
        .context = parent->record.context,
        .stream = parent->record.stream,
        .request = parent->record.request,
        .caller = parent->record.caller,
        .stack = parent->record.stack,
    };
    return operation;
}

void operation_free(struct operation *operation)
{
    if (operation->is_common)
        spares_give(&spares, operation);
    else
        free(operation);
}

static void operation_release(void *user)
{
    struct operation *operation = user;
    if (operation->drop != NULL) operation->drop(operation);
    findings_operation_ends(operation);
    operation_free(operation);
}

static enum timeline_ran operation_run(struct timeline_op *op, void *user)
{
    struct operation *operation = user;
    assert(operation->op == NULL || operation->op == op); /* `run` may be called several times */
    operation->op = op;
    /* Set before the run: an operation that is only started may end and be freed. */
    if (driver.trace != NULL) operation->record.ran_ns = monotonic_ns();
    return operation->run != NULL ? operation->run(operation) : TIMELINE_RAN;
}

static void operation_abandoned(void *user)
{
    struct operation *operation = user;
    if (operation->abandoned != NULL) operation->abandoned(operation);
}

static void operation_settled(const struct timeline_op *op, void *user)
{
    struct operation *operation = user;
    assert(timeline_op_start(op) <= timeline_op_end(op));
    if (operation->record.what == TRACE_WHAT_NONE) return;
    operation->record.start_ns = timeline_op_start(op);
    operation->record.end_ns = timeline_op_end(op);
    trace_put(driver.trace, &operation->record);
    if (operation->settled != NULL) operation->settled(operation);
}

/* Completes the description of the work for the timeline. */
static struct timeline_work complete(const struct timeline_work *work, struct operation *operation)
{
    struct timeline_work full = *work;
    full.run = operation_run;
    full.settled = operation_settled;
    full.abandoned = operation_abandoned;
    full.release = operation_release;
    full.user = operation;
    return full;
}

/* The common beginning of both kinds of submission. An operation that fails here is released. */
static CUresult submits(struct operation *operation, struct timeline_op **op)
{
    if (op != NULL) *op = NULL;
    if (findings_submits(operation)) return CUDA_SUCCESS;
    operation_release(operation);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* The common end of both kinds of submission. */
static CUresult submitted(struct timeline_op *made, struct operation *operation,
                          struct timeline_op **op)
{
    if (op != NULL) *op = made;
    findings_submitted(operation, made);
    if (made == NULL) {
        operation_release(operation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (operation->pending != NULL && operation->op == NULL) operation->pending(operation, made);
    if (op == NULL) timeline_op_release(made);
    return CUDA_SUCCESS;
}

CUresult operation_submit(struct operation *operation, struct stream *stream,
                          const struct timeline_work *work, struct timeline_op *op_before,
                          struct timeline_op **op)
{
    if (op != NULL) *op = NULL;
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    assert(operation->op == NULL && operation->context == stream->object.context);
    if (stream->captured != NULL) return capturing->take(operation, stream, work);
    TRY(submits(operation, op));
    const struct timeline_work full = complete(work, operation);
    thread_spend(timeline_submission_time(stream->time, work->kind));
    TRY(submitted(
        timeline_submit(stream->time, &full, thread.clock_ns, &op_before, op_before != NULL),
        operation, op));
    if (!timeline_is_idle(driver.timeline)) host_thread_wake();
    thread_wait_until(timeline_make_room(driver.timeline));
    return CUDA_SUCCESS;
}

CUresult operation_submit_part(struct operation *operation, struct timeline_stream *carrier,
                               unsigned lane, const struct timeline_work *work,
                               struct timeline_op *const *after, size_t after_count,
                               struct timeline_op **op)
{
    assert(operation->op == NULL);
    TRY(submits(operation, op));
    const struct timeline_work full = complete(work, operation);
    return submitted(
        timeline_submit_part(carrier, lane, &full, thread.clock_ns, after, after_count), operation,
        op);
}

struct operation *operation_copy(const struct operation *operation, const struct stream *stream)
{
    const size_t size = sizeof *operation + operation->payload_size;
    assert(operation->op == NULL); /* the original is kept by a graph and never runs itself */
    struct operation *copy = malloc(size);
    if (copy == NULL) return NULL;
    memcpy(copy, operation, size);
    copy->is_common = false;
    copy->is_node = true;
    copy->actor = NULL;
    copy->flight = 0;
    copy->record.flags |= TRACE_ASYNC;
    copy->record.request = thread.call.request;
    if (stream != NULL) {
        copy->record.stream = stream->object.id;
        copy->stream_caller = stream->object.caller;
    }
    if (copy->copied != NULL) copy->copied(copy);
    return copy;
}

void operation_drop(struct operation *operation)
{
    assert(operation == NULL || operation->op == NULL);
    if (operation != NULL) operation_release(operation);
}

enum timeline_ran operation_fail(struct operation *operation, const struct trace_record *found)
{
    const CUresult code = (CUresult)found->code;
    finding_put(found);
    if (operation->outcome != NULL)
        *operation->outcome = code;
    else
        context_fail(operation->context, code);
    return TIMELINE_RAN;
}

static CUresult waited_until(const struct context *context, uint64_t end_ns)
{
    thread_wait_for_device(end_ns);
    thread.polls = 0;
    findings_host_waited();
    return context->alive ? context->sticky : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult wait_for_op(struct context *context, struct timeline_op *op)
{
    return waited_until(context, op != NULL ? timeline_finish(op) : 0);
}

CUresult wait_for_op_on_gpus(const struct stream *stream, struct timeline_op *op)
{
    struct context *context = stream->object.context;
    findings_host_waits_on_gpus(context->object.id, stream->object.id);
    return waited_until(context, op != NULL ? timeline_finish_on_gpus(op) : 0);
}

CUresult wait_for_context_on_gpus(struct context *context)
{
    findings_host_waits_on_gpus(context->object.id, 0);
    return waited_until(context, timeline_context_finish_on_gpus(context->time));
}

void wait_for_others_on_gpus(int device, const struct context *but)
{
    enum { CONTEXTS = 64 }; /* further contexts are not waited for */
    struct context *contexts[CONTEXTS];
    size_t count = 0;
    for (struct object *object = NULL; (object = object_next(object)) != NULL && count < CONTEXTS;)
        if (object->kind == OBJECT_CONTEXT && (struct context *)object != but &&
            ((struct context *)object)->device == device)
            contexts[count++] = (struct context *)object;
    /* A wait releases the lock, so another thread may end one of them. */
    for (size_t i = 0; i < count; i++)
        if (object_live(contexts[i]) != NULL && contexts[i]->alive)
            wait_for_context_on_gpus(contexts[i]);
}

CUresult wait_for_stream(struct stream *stream)
{
    struct context *context = stream->object.context;
    return waited_until(context, timeline_stream_finish(stream->time));
}

/* Each unsuccessful query in a row takes more time, as in a polling loop. */
static void query_begins(void)
{
    thread_spend(timeline_model->query * (1 + thread.polls / 4.0));
}

static CUresult query_answer(const struct context *context, bool ended)
{
    thread.polls = ended ? 0 : thread.polls + 1;
    if (ended) findings_host_waited();
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context->sticky != CUDA_SUCCESS) return context->sticky;
    return ended ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult answer_query(struct context *context, struct timeline_op *op)
{
    query_begins();
    return query_answer(context, op == NULL || timeline_query(op, thread.clock_ns));
}

CUresult answer_stream_query(struct stream *stream)
{
    struct context *context = stream->object.context;
    query_begins();
    return query_answer(context, timeline_stream_query(stream->time, thread.clock_ns));
}
