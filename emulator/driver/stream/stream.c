/* Streams: default and created streams, their order. stream/value.c has what they do with values in
 * memory. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- life -------------------------------------------------------------------------------- */

/* Takes the stream at `link` off its context's list of per-thread streams. */
static void per_thread_remove(struct context *context, struct stream **link)
{
    *link = (*link)->next;
    context->per_thread_count--;
}

static void stream_end(struct object *object, bool implicit)
{
    struct stream *stream = (struct stream *)object;
    struct stream **link = &object->context->per_thread;
    while (*link != NULL && *link != stream) link = &(*link)->next;
    if (*link != NULL) per_thread_remove(object->context, link);
    if (stream->captured != NULL) capturing->forget_stream(stream);
    trace_object(object, TRACE_DESTROY, TRACE_STREAM, implicit ? TRACE_IMPLICIT : 0);
    object_remove(object);
    if (stream->time != NULL) timeline_stream_destroy(stream->time);
    early_clear(&stream->early);
    object_free(object);
}

struct stream *stream_make(struct context *context, enum timeline_stream_kind kind, unsigned flags,
                           int priority, bool implicit)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->time = timeline_stream_create(context->time, kind, priority);
    if (stream->time == NULL) {
        free(stream);
        return NULL;
    }
    stream->flags = flags;
    stream->priority = priority;
    stream->domains = (CUlaunchMemSyncDomainMap){.default_ = 0, .remote = 1};
    /* -1 is what a GPU returns until a policy is set; CUDA has no name for it. */
    stream->policy = (CUsynchronizationPolicy)-1;
    object_add_to(context, &stream->object, OBJECT_STREAM, stream_end);
    if (implicit) stream->object.caller = 0;
    trace_object(&stream->object, TRACE_CREATE, TRACE_STREAM,
                 (implicit ? TRACE_IMPLICIT : 0u) |
                     (kind == TIMELINE_NON_BLOCKING ? TRACE_NON_BLOCKING : 0u));
    if (context->gate != NULL && !timeline_host_knows_op(driver.timeline, context->gate))
        stream_come_behind(stream, context->gate);
    return stream;
}

/* Returns true if nothing can tell whether the stream is still there: its thread has ended, and
 * with it the only name of the stream, and the host knows that all its work is done. */
static bool per_thread_is_over(const struct stream *stream)
{
    const struct timeline_op *last = timeline_stream_last(stream->time);
    return stream->captured == NULL &&
           (last == NULL || timeline_host_knows_op(driver.timeline, last)) &&
           thread_computed(stream->tid) < 0;
}

/* Gives back the streams of ended threads, of which a program of many short threads makes one after
 * the other: each call would walk past all of them. When a thread is seen to have ended depends on
 * the system, so the objects, which the trace shows, end with the context. */
static void per_thread_sweep(struct context *context)
{
    enum { LEAST = 64 };
    if (context->per_thread_count < context->per_thread_most) return;
    for (struct stream **link = &context->per_thread; *link != NULL;) {
        struct stream *stream = *link;
        if (!per_thread_is_over(stream)) {
            link = &stream->next;
            continue;
        }
        per_thread_remove(context, link);
        timeline_stream_destroy(stream->time);
        stream->time = NULL;
    }
    context->per_thread_most = 2 * context->per_thread_count + LEAST;
}

/* The calling thread's own default stream in a context, created on first use. */
static struct stream *per_thread_stream(struct context *context)
{
    for (struct stream *stream = context->per_thread; stream != NULL; stream = stream->next)
        if (stream->thread == thread.number) return stream;
    per_thread_sweep(context);
    struct stream *stream = stream_make(context, TIMELINE_BLOCKING, CU_STREAM_DEFAULT, 0, true);
    if (stream == NULL) return NULL;
    stream->thread = thread.number;
    stream->tid = gettid();
    stream->next = context->per_thread;
    context->per_thread = stream;
    context->per_thread_count++;
    return stream;
}

static CUresult stream_find(CUstream handle, struct stream **stream)
{
    if (handle == NULL && thread.per_thread) handle = CU_STREAM_PER_THREAD;
    if (handle != NULL && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
        *stream = object_find(handle, OBJECT_STREAM);
        return *stream != NULL ? CUDA_SUCCESS : object_error(handle);
    }
    struct context *context = thread_context();
    if (context == NULL) {
        findings_call_lacks(OBJECT_CONTEXT);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    TRY(context_check(context));
    *stream = handle == CU_STREAM_PER_THREAD ? per_thread_stream(context) : context->legacy;
    return *stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult stream_resolve(CUstream handle, struct stream **stream)
{
    TRY(stream_find(handle, stream));
    assert(*stream != NULL);
    thread.call.stream = (*stream)->object.id;
    thread.call.context = (*stream)->object.context->object.id;
    return CUDA_SUCCESS;
}

CUresult stream_for_work(CUstream handle, struct stream **stream)
{
    TRY(stream_resolve(handle, stream));
    return capture_check_work(*stream);
}

int stream_priority_kept(int priority)
{
    int least, greatest;
    driver_cuCtxGetStreamPriorityRange(&least, &greatest);
    return priority > least ? least : priority < greatest ? greatest : priority;
}

CUresult driver_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    NEED_POINTER(phStream);
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    priority = stream_priority_kept(priority);
    struct stream *stream =
        stream_make(thread_context(),
                    flags & CU_STREAM_NON_BLOCKING ? TIMELINE_NON_BLOCKING : TIMELINE_BLOCKING,
                    flags, priority, false);
    if (stream == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    thread.call.stream = stream->object.id;
    *phStream = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return driver_cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult driver_cuStreamDestroy(CUstream hStream)
{
    struct stream *stream = object_find(hStream, OBJECT_STREAM);
    if (stream == NULL) return object_error(hStream);
    if (stream == stream->object.context->legacy || stream->thread != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    thread.call.stream = stream->object.id;
    stream_end(&stream->object, false);
    return CUDA_SUCCESS;
}

/* ---- queries ----------------------------------------------------------------------------- */

CUresult driver_cuStreamGetPriority(CUstream hStream, int *priority)
{
    struct stream *stream;
    NEED_POINTER(priority);
    TRY(stream_resolve(hStream, &stream));
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    struct stream *stream;
    NEED_POINTER(flags);
    TRY(stream_resolve(hStream, &stream));
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    struct stream *stream;
    NEED_POINTER(streamId);
    TRY(stream_resolve(hStream, &stream));
    *streamId = stream->object.id;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    struct stream *stream;
    NEED_POINTER(device);
    TRY(stream_resolve(hStream, &stream));
    *device = stream->object.context->device;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    struct stream *stream;
    NEED_POINTER(pctx);
    TRY(stream_resolve(hStream, &stream));
    *pctx = (CUcontext)stream->object.context;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    if (pGreenCtx != NULL) *pGreenCtx = NULL;
    return driver_cuStreamGetCtx(hStream, pCtx);
}

/* No stream is a green context's: the device has none. */
CUresult driver_cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
    struct stream *stream;
    NEED_POINTER(phCtx);
    TRY(stream_resolve(hStream, &stream));
    *phCtx = NULL;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                                     CUstreamAttrValue *value_out)
{
    struct stream *stream;
    NEED_POINTER(value_out);
    TRY(stream_resolve(hStream, &stream));
    memset(value_out, 0, sizeof *value_out);
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value_out->priority = stream->priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value_out->syncPolicy = stream->policy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        value_out->accessPolicyWindow = stream->window;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        value_out->memSyncDomain = stream->domain;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        value_out->memSyncDomainMap = stream->domains;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult attribute_check(CUlaunchAttributeID id, const CUlaunchAttributeValue *value)
{
    enum { SYNC_DOMAINS = 4 }; /* of an H200 */
    const CUaccessPolicyWindow *window = &value->accessPolicyWindow;
    bool right = true;
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        right = value->syncPolicy >= CU_SYNC_POLICY_AUTO &&
                value->syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
        break;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        right = window->hitRatio >= 0 && window->hitRatio <= 1 &&
                window->missProp != CU_ACCESS_PROPERTY_PERSISTING;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        right = value->memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        right = value->memSyncDomainMap.default_ < SYNC_DOMAINS &&
                value->memSyncDomainMap.remote < SYNC_DOMAINS;
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        right = value->sharedMemCarveout <= CU_SHAREDMEM_CARVEOUT_MAX_SHARED;
        break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        right =
            value->clusterSchedulingPolicyPreference <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
        break;
    default:
        break;
    }
    return right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult attribute_unsupported(CUlaunchAttributeID id, const char *format)
{
#define NAME(name) [CU_LAUNCH_ATTRIBUTE_##name] = "CU_LAUNCH_ATTRIBUTE_" #name
    static const char *const names[] = {
        NAME(ACCESS_POLICY_WINDOW),
        NAME(COOPERATIVE),
        NAME(SYNCHRONIZATION_POLICY),
        NAME(CLUSTER_DIMENSION),
        NAME(CLUSTER_SCHEDULING_POLICY_PREFERENCE),
        NAME(PROGRAMMATIC_STREAM_SERIALIZATION),
        NAME(PROGRAMMATIC_EVENT),
        NAME(PRIORITY),
        NAME(MEM_SYNC_DOMAIN_MAP),
        NAME(MEM_SYNC_DOMAIN),
        NAME(PREFERRED_CLUSTER_DIMENSION),
        NAME(LAUNCH_COMPLETION_EVENT),
        NAME(DEVICE_UPDATABLE_KERNEL_NODE),
        NAME(PREFERRED_SHARED_MEMORY_CARVEOUT),
        NAME(NVLINK_UTIL_CENTRIC_SCHEDULING),
    };
#undef NAME
    const size_t count = sizeof names / sizeof *names;
    if ((size_t)id >= count || names[id] == NULL) return CUDA_ERROR_INVALID_VALUE;
    return finding_unsupported(format, names[id]);
}

CUresult driver_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                                     const CUstreamAttrValue *value)
{
    struct stream *stream;
    NEED_POINTER(value);
    TRY(stream_resolve(hStream, &stream));
    TRY(attribute_check(attr, value));
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = stream_priority_kept(value->priority);
        timeline_stream_prioritise(stream->time, stream->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* hints without an effect here */
        stream->policy = value->syncPolicy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        stream->window = value->accessPolicyWindow;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        stream->domain = value->memSyncDomain;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        stream->domains = value->memSyncDomainMap;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult driver_cuStreamCopyAttributes(CUstream dst, CUstream src)
{
    struct stream *from, *to;
    TRY(stream_resolve(src, &from));
    TRY(stream_resolve(dst, &to));
    if (from->object.context != to->object.context) return CUDA_ERROR_INVALID_VALUE;
    to->priority = from->priority;
    timeline_stream_prioritise(to->time, to->priority);
    to->policy = from->policy;
    to->window = from->window;
    to->domain = from->domain;
    to->domains = from->domains;
    return CUDA_SUCCESS;
}

/* ---- waits and queries ------------------------------------------------------------------- */

CUresult driver_cuStreamSynchronize(CUstream hStream)
{
    struct stream *stream;
    TRY(stream_resolve(hStream, &stream));
    TRY(capture_check_wait(stream));
    thread_spend(timeline_model->wait);
    return wait_for_stream(stream);
}

CUresult driver_cuStreamQuery(CUstream hStream)
{
    struct stream *stream;
    TRY(stream_resolve(hStream, &stream));
    TRY(capture_check_wait(stream));
    return answer_stream_query(stream);
}

CUresult driver_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    struct stream *stream;
    struct event *event = object_find(hEvent, OBJECT_EVENT);
    if (Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    TRY(stream_for_work(hStream, &stream));
    if (event == NULL) return capture_refuse(stream, object_error(hEvent));
    thread.call.object = event->object.id;
    if (stream->captured != NULL || event->captured != NULL)
        return capturing->wait(stream, event, Flags & CU_EVENT_WAIT_EXTERNAL);
    if (Flags != 0) return CUDA_ERROR_ILLEGAL_STATE; /* external waits are for graphs only */
    /* Without a record the wait is "a functional no-op", even in a default stream. */
    if (event->record == NULL) {
        findings_event_awaited(event, stream);
        return CUDA_SUCCESS;
    }
    if (!early_add_all(&stream->early, &event->early)) return CUDA_ERROR_OUT_OF_MEMORY;
    struct operation *operation = operation_make(stream, TRACE_EVENT_WAIT, 0);
    if (operation != NULL) operation->record.object = event->object.id;
    const bool over = timeline_op_is_over(event->record, thread.clock_ns);
    return operation_submit(operation, stream,
                            &(struct timeline_work){.kind = TIMELINE_MARK, .passive = over},
                            event->record, NULL);
}

/* Only a whole allocation changes its association. A single stream's must be a stream: the legacy
 * default stream "is a virtual global stream and not a specific stream". */
CUresult driver_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                       unsigned int flags)
{
    struct stream *stream;
    TRY(stream_for_work(hStream, &stream));
    TRY(capture_check_never(stream));
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return CUDA_ERROR_INVALID_VALUE;
    const struct memory_region *region = memory_find(dptr);
    if (region == NULL || region->kind != MEMORY_MANAGED || region->address != dptr ||
        (length != 0 && length != region->size) ||
        (flags == CU_MEM_ATTACH_SINGLE && stream_is_legacy(stream)))
        return CUDA_ERROR_INVALID_VALUE;
    return operation_submit(operation_make(stream, TRACE_WHAT_NONE, 0), stream,
                            &(struct timeline_work){.kind = TIMELINE_MARK}, NULL, NULL);
}

CUresult driver_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                                    unsigned int flags)
{
    struct stream *stream;
    if (callback == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    TRY(stream_for_work(hStream, &stream));
    return host_function_submit(stream, NULL, callback, hStream, userData);
}

CUresult driver_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct stream *stream;
    NEED_POINTER(fn);
    TRY(stream_for_work(hStream, &stream));
    return host_function_submit(stream, fn, NULL, hStream, userData);
}
