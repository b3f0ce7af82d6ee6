/* Events: a point in a stream, captured when it is recorded. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/parts.h"

#include <math.h>
#include <stdlib.h>

static void event_end(struct object *object, bool implicit)
{
    struct event *event = (struct event *)object;
    findings_event_ends(event);
    trace_object(object, TRACE_DESTROY, TRACE_EVENT, implicit ? TRACE_IMPLICIT : 0);
    object_remove(object);
    if (event->captured != NULL) capturing->forget_event(event);
    timeline_op_release(event->record);
    early_clear(&event->early);
    object_free(object);
}

CUresult driver_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    NEED_POINTER(phEvent);
    if (Flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    if ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    struct event *event = calloc(1, sizeof *event);
    if (event == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    event->flags = Flags;
    event->request = thread.call.request;
    object_add_to(thread_context(), &event->object, OBJECT_EVENT, event_end);
    trace_object(&event->object, TRACE_CREATE, TRACE_EVENT,
                 Flags & CU_EVENT_DISABLE_TIMING ? TRACE_TIMING_DISABLED : 0);
    thread.call.object = event->object.id;
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

static CUresult event_find(CUevent handle, struct event **event)
{
    *event = object_find(handle, OBJECT_EVENT);
    if (*event == NULL) return object_error(handle);
    thread.call.object = (*event)->object.id;
    return CUDA_SUCCESS;
}

CUresult driver_cuEventDestroy(CUevent hEvent)
{
    struct event *event;
    TRY(event_find(hEvent, &event));
    event_end(&event->object, false);
    return CUDA_SUCCESS;
}

struct operation *event_record_operation(const struct event *event, const struct stream *stream,
                                         struct timeline_work *work)
{
    const bool timed = !(event->flags & CU_EVENT_DISABLE_TIMING);
    *work =
        (struct timeline_work){.kind = timed ? TIMELINE_STAMP : TIMELINE_MARK, .passive = !timed};
    struct operation *operation = operation_make(stream, TRACE_EVENT_RECORD, 0);
    if (operation != NULL) operation->record.object = event->object.id;
    return operation;
}

void event_set_record(struct event *event, struct timeline_op *op)
{
    if (event->captured != NULL) capturing->forget_event(event);
    timeline_op_release(event->record); /* earlier waits keep the record that they took */
    early_clear(&event->early);
    event->record = op;
    /* Another process may wait for the event and inform this one's host: memory/ipc.c. */
    if (event->flags & CU_EVENT_INTERPROCESS) timeline_finish(op);
}

CUresult event_record_early(struct event *event, struct stream *stream, bool at_trigger)
{
    struct timeline_op *kernel = timeline_stream_last(stream->time), *op, *both;
    struct timeline_work work;
    struct operation *operation = event_record_operation(event, stream, &work);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    work.early = at_trigger ? TIMELINE_EARLY_UNPROMISED : TIMELINE_EARLY;
    event->tried = true;
    TRY(operation_submit_part(operation, stream->time, 0, &work, &kernel, 1, &op));
    event_set_record(event, op);
    driver.programmatic |= at_trigger;
    if (at_trigger && !early_add(&event->early, kernel)) return CUDA_ERROR_OUT_OF_MEMORY;
    /* The stream's later work is behind the kernel's end, and a wait for it runs the record. */
    TRY(operation_submit(operation_make(stream, TRACE_WHAT_NONE, 0), stream,
                         &(struct timeline_work){.kind = TIMELINE_MARK, .passive = true}, op,
                         &both));
    timeline_op_release(both);
    return CUDA_SUCCESS;
}

CUresult driver_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    struct event *event;
    struct stream *stream;
    struct timeline_op *op;
    struct timeline_work work;
    TRY(event_find(hEvent, &event));
    event->tried = true;
    TRY(stream_resolve(hStream, &stream));
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (event->object.context != stream->object.context)
        return wrong_context(FINDING_EVENT_OF_OTHER_CONTEXT, &event->object,
                             stream->object.context);
    TRY(capture_check_work(stream));
    if (stream->captured != NULL)
        return capturing->record(event, stream, flags & CU_EVENT_RECORD_EXTERNAL);
    if (flags != 0) return CUDA_ERROR_ILLEGAL_STATE; /* external records are for graphs only */
    struct operation *operation = event_record_operation(event, stream, &work);
    TRY(operation_submit(operation, stream, &work, NULL, &op));
    event_set_record(event, op);
    return early_add_all(&event->early, &stream->early) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult driver_cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return driver_cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

CUresult driver_cuEventQuery(CUevent hEvent)
{
    struct event *event;
    TRY(event_find(hEvent, &event));
    TRY(capture_check_event(event));
    findings_event_awaited(event, NULL);
    return answer_query(event->object.context, event->record);
}

CUresult driver_cuEventSynchronize(CUevent hEvent)
{
    struct event *event;
    TRY(event_find(hEvent, &event));
    TRY(capture_check_event(event));
    findings_event_awaited(event, NULL);
    return wait_for_op(event->object.context, event->record);
}

/* Reports an event that has no time: it was not recorded, or has timing disabled. */
static CUresult check_timed(const struct event *event, enum trace_role role)
{
    const bool untimed = event->flags & CU_EVENT_DISABLE_TIMING;
    if (event->record != NULL && !untimed) return CUDA_SUCCESS;
    struct trace_record found =
        finding_at_call(untimed ? FINDING_EVENT_WITHOUT_TIME : FINDING_TIME_OF_UNRECORDED_EVENT,
                        CUDA_ERROR_INVALID_HANDLE);
    finding_object(&found, 0, &event->object);
    found.finding.sides[0].role = (uint16_t)role;
    finding_put(&found);
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult driver_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    struct event *start, *end;
    if (pMilliseconds == NULL) return CUDA_ERROR_INVALID_HANDLE; /* as on an H200 */
    TRY(event_find(hStart, &start));
    TRY(event_find(hEnd, &end));
    TRY(capture_check_elapsed(start));
    TRY(capture_check_elapsed(end));
    TRY(check_timed(start, ROLE_FIRST));
    TRY(check_timed(end, ROLE_SECOND));
    if (start->object.context != end->object.context)
        return wrong_context(FINDING_EVENTS_OF_TWO_CONTEXTS, &end->object, start->object.context);
    struct context *context = end->object.context;
    struct timeline_op *first = timeline_op_retain(start->record);
    struct timeline_op *last = timeline_op_retain(end->record);
    CUresult code = CUDA_SUCCESS;
    if (!timeline_query(first, thread.clock_ns) || !timeline_query(last, thread.clock_ns))
        code = CUDA_ERROR_NOT_READY;
    if (context->sticky != CUDA_SUCCESS) code = context->sticky;
    if (code == CUDA_SUCCESS) {
        double ns = (double)timeline_op_end(last) - (double)timeline_op_end(first);
        double tick = timeline_model->event_tick;
        *pMilliseconds = (float)(round(ns / tick) * tick / 1e6);
    }
    findings_host_waited();
    timeline_op_release(first);
    timeline_op_release(last);
    return code;
}
