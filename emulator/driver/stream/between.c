/* What a copy between two devices waits for, and what waits for the copy. */
#include "emulator/driver/stream/parts.h"

/* Makes later work of `stream` wait for `before`, of any context. */
static CUresult come_behind(struct stream *stream, struct timeline_op *before)
{
    if (before == NULL) return CUDA_SUCCESS;
    return operation_submit(operation_make(stream, TRACE_WHAT_NONE, 0), stream,
                            &(struct timeline_work){.kind = TIMELINE_MARK}, before, NULL);
}

/* With `op` NULL: makes `stream` wait for all work of the context. Otherwise makes all streams of
 * the context wait for `op`. The legacy default stream stands for all blocking streams. */
static CUresult join(struct context *context, struct stream *stream, struct timeline_op *op)
{
    for (struct object *object = context->objects; object != NULL; object = object->next) {
        struct stream *other = (struct stream *)object; /* valid if the object is a stream */
        if (object->kind != OBJECT_STREAM || other == stream || other->captured != NULL) continue;
        if (stream_is_blocking(other) && !stream_is_legacy(other)) continue;
        struct timeline_op *mark = NULL;
        CUresult code;
        if (op != NULL) {
            code = come_behind(other, op);
        } else {
            code = operation_submit(operation_make(other, TRACE_WHAT_NONE, 0), other,
                                    &(struct timeline_work){.kind = TIMELINE_MARK}, NULL, &mark);
            if (code == CUDA_SUCCESS) code = come_behind(stream, mark);
            timeline_op_release(mark);
        }
        if (code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
}

CUresult stream_join_devices(struct stream *stream, const unsigned devices[2],
                             struct timeline_op *op)
{
    TRY(join(stream->object.context, stream, op));
    for (int i = 0; i < 2; i++) {
        struct context *context = driver.primary[devices[i]].context;
        if (context != NULL && context->alive && context != stream->object.context)
            TRY(join(context, stream, op));
    }
    return CUDA_SUCCESS;
}
