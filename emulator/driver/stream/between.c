/* What waits for other streams' work and they for it: copies of other contexts' memory, and events
 * of a whole context. */
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/parts.h"

#include <stdlib.h>

CUresult stream_come_behind(struct stream *stream, struct timeline_op *before)
{
    if (before == NULL) return CUDA_SUCCESS;
    return operation_submit(operation_make(stream, TRACE_WHAT_NONE, 0), stream,
                            &(struct timeline_work){.kind = TIMELINE_MARK}, before, NULL);
}

CUresult stream_await_early(struct stream *stream)
{
    for (size_t i = 0; i < stream->early.count; i++)
        TRY(stream_come_behind(stream, stream->early.list[i]));
    early_clear(&stream->early);
    return CUDA_SUCCESS;
}

/* The legacy default stream stands for all blocking streams. */
CUresult stream_join_context(struct stream *stream, const struct context *other,
                             struct timeline_op *op)
{
    struct timeline_op *mark = NULL;
    if (other == NULL || !other->alive || other == stream->object.context) return CUDA_SUCCESS;
    if (op != NULL) return stream_come_behind(other->legacy, op);
    TRY(operation_submit(operation_make(other->legacy, TRACE_WHAT_NONE, 0), other->legacy,
                         &(struct timeline_work){.kind = TIMELINE_MARK}, NULL, &mark));
    const CUresult code = stream_come_behind(stream, mark);
    timeline_op_release(mark);
    return code;
}

/* ---- events of a whole context ----------------------------------------------------------- */

/* The stream that `object` is; NULL: it is something else. */
static struct stream *stream_of(struct object *object)
{
    return object->kind == OBJECT_STREAM ? (struct stream *)object : NULL;
}

/* Submits the operation behind the work of all streams of its context, and behind nothing in any of
 * them: none waits for another. */
static CUresult submit_behind_all(struct operation *operation, const struct timeline_work *work,
                                  struct timeline_op **op)
{
    const struct context *context = operation->context;
    size_t streams = 0, count = 0;
    for (struct object *object = context->objects; object != NULL; object = object->next)
        streams += stream_of(object) != NULL;
    struct timeline_op **after = calloc(streams + 1, sizeof(struct timeline_op *));
    if (after == NULL) {
        operation_drop(operation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (struct object *object = context->objects; object != NULL; object = object->next) {
        const struct stream *stream = stream_of(object);
        if (stream == NULL || stream->time == NULL) continue;
        struct timeline_op *last = timeline_stream_last(stream->time);
        if (last != NULL) after[count++] = last;
    }
    const CUresult code =
        operation_submit_part(operation, context->legacy->time, 1, work, after, count, op);
    free(after);
    return code;
}

/* Finds the context of a call and the event, and checks that no capture stands in the way. */
static CUresult ends_find(CUcontext context_handle, CUevent event_handle, struct context **context,
                          struct event **event)
{
    *context = object_find(context_handle, OBJECT_CONTEXT);
    if (*context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    TRY(context_check(*context));
    *event = object_find(event_handle, OBJECT_EVENT);
    if (*event == NULL) return object_error(event_handle);
    thread.call.context = (*context)->object.id;
    thread.call.object = (*event)->object.id;
    return capture_check_context(*context);
}

CUresult driver_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    struct context *context;
    struct event *event;
    struct timeline_op *op;
    struct timeline_work work;
    TRY(ends_find(hCtx, hEvent, &context, &event));
    event->tried = true;
    if (event->object.context != context)
        return wrong_context(FINDING_EVENT_OF_OTHER_CONTEXT, &event->object, context);
    struct operation *operation = event_record_operation(event, context->legacy, &work);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    TRY(submit_behind_all(operation, &work, &op));
    event_set_record(event, op);
    return CUDA_SUCCESS;
}

/* Later work of all streams waits, also of streams that do not exist yet: those that do not wait
 * for the legacy default stream anyway begin behind context->gate. */
CUresult driver_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    struct context *context;
    struct event *event;
    struct timeline_op *gate;
    TRY(ends_find(hCtx, hEvent, &context, &event));
    if (event->captured != NULL) return capture_check_event(event);
    if (event->record == NULL) return CUDA_SUCCESS;
    TRY(operation_submit(operation_make(context->legacy, TRACE_WHAT_NONE, 0), context->legacy,
                         &(struct timeline_work){.kind = TIMELINE_MARK}, event->record, &gate));
    timeline_op_release(context->gate);
    context->gate = gate;
    for (struct object *object = context->objects; object != NULL; object = object->next) {
        struct stream *stream = stream_of(object);
        if (stream != NULL && !stream_is_blocking(stream))
            TRY(stream_come_behind(stream, event->record));
    }
    return CUDA_SUCCESS;
}
