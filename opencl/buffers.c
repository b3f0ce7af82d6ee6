/* Contexts, queues and buffers: the functions of OpenCL that the layer does not only forward.
 *
 * A buffer is made a little longer than requested and filled with bytes that are not zero; writes
 * of a kernel behind its end are detected there.
 */
#include "opencl/inside.h"
#include "opencl/layer.h"

#include <stdlib.h>
#include <string.h>

#define GUARD ((size_t)4096)
#define PROPERTIES 33
#define POISON 0xa5
/* The contents of a new buffer: NaN as a float, so that a sum with it is not a number either. */
#define UNWRITTEN 0xff

typedef void (*notify_function)(const char *, const void *, size_t, void *);
typedef cl_handle (*queue_function)(cl_handle, cl_handle, cl_bitfield, cl_int *);
typedef cl_int (*copy_function)(cl_handle, cl_handle, cl_bool, size_t, size_t, void *, cl_uint,
                                const cl_handle *, cl_handle *);
typedef cl_int (*release_function)(cl_handle);

/* ---- contexts ---------------------------------------------------------------------------------
 */

static cl_handle end_context(struct call *call, cl_handle made, cl_int code, cl_int *error)
{
    struct object *object = made != NULL ? object_add(made, KIND_CONTEXT, NULL, call, 0) : NULL;
    cl_handle devices[64] = {NULL};
    cl_int (*ask)(cl_handle, cl_uint, size_t, void *, size_t *);

    layer_take(ROW_clGetContextInfo, &ask);
    if (object != NULL && ask(made, CL_CONTEXT_DEVICES, sizeof devices, devices, NULL) == 0)
        object->device = devices[0];
    call_end_made(call, code, error);
    return made;
}

/* The context properties with OpenCL's own platform in place of a shown one. */
static const intptr_t *real_properties(const intptr_t *given, intptr_t copy[PROPERTIES])
{
    size_t i = 0;
    if (given == NULL) return NULL;
    for (; i + 2 < PROPERTIES && given[i] != 0; i += 2) {
        copy[i] = given[i];
        copy[i + 1] = given[i] == CL_CONTEXT_PLATFORM
                          ? (intptr_t)platforms_real((cl_handle)given[i + 1])
                          : given[i + 1];
    }
    copy[i] = 0;
    return given[i] == 0 ? copy : given;
}

EXPORT cl_handle clCreateContext(const intptr_t *properties, cl_uint count,
                                 const cl_handle *devices, notify_function notify, void *user,
                                 cl_int *error)
{
    struct call call;
    intptr_t copy[PROPERTIES];
    cl_int code;
    if (!call_begin(&call, ROW_clCreateContext, CALLER, NULL))
        return call_end_made(&call, call.code, error), NULL;
    cl_handle made = REAL(clCreateContext)(real_properties(properties, copy), count, devices,
                                           notify, user, &code);
    return end_context(&call, made, code, error);
}

EXPORT cl_handle clCreateContextFromType(const intptr_t *properties, cl_bitfield type,
                                         notify_function notify, void *user, cl_int *error)
{
    struct call call;
    intptr_t copy[PROPERTIES];
    cl_int code;
    if (!call_begin(&call, ROW_clCreateContextFromType, CALLER, NULL))
        return call_end_made(&call, call.code, error), NULL;
    cl_handle made =
        REAL(clCreateContextFromType)(real_properties(properties, copy), type, notify, user, &code);
    return end_context(&call, made, code, error);
}

/* ---- queues -----------------------------------------------------------------------------------
 */

static cl_handle end_queue(struct call *call, cl_handle context, cl_handle device,
                           cl_bitfield properties, cl_handle made, cl_int code, cl_int *error)
{
    struct object *object =
        made != NULL ? object_add(made, KIND_QUEUE, object_find(context, KIND_CONTEXT), call, 0)
                     : NULL;
    if (object != NULL) {
        object->device = device;
        object->in_order = (properties & CL_QUEUE_OUT_OF_ORDER) == 0;
        object->profiled = (properties & CL_QUEUE_PROFILING) != 0;
    }
    call_end_made(call, code, error);
    return made;
}

/* Every queue records times; whether the student requested them is remembered. */
EXPORT cl_handle clCreateCommandQueue(cl_handle context, cl_handle device, cl_bitfield properties,
                                      cl_int *error)
{
    struct call call;
    cl_int code;
    if (!call_begin(&call, ROW_clCreateCommandQueue, CALLER, context))
        return call_end_made(&call, call.code, error), NULL;
    cl_handle made =
        REAL(clCreateCommandQueue)(context, device, properties | CL_QUEUE_PROFILING, &code);
    return end_queue(&call, context, device, properties, made, code, error);
}

EXPORT cl_handle clCreateCommandQueueWithProperties(cl_handle context, cl_handle device,
                                                    const cl_ulong *properties, cl_int *error)
{
    struct call call;
    cl_ulong with[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING, 0};
    cl_int code;
    if (!call_begin(&call, ROW_clCreateCommandQueueWithProperties, CALLER, context))
        return call_end_made(&call, call.code, error), NULL;
    cl_ulong given = 0;
    for (const cl_ulong *p = properties; p != NULL && p[0] != 0; p += 2)
        if (p[0] == CL_QUEUE_PROPERTIES) given = p[1];
    with[1] |= given;
    cl_handle made = REAL(clCreateCommandQueueWithProperties)(context, device, with, &code);
    return end_queue(&call, context, device, given, made, code, error);
}

/* ---- buffers ----------------------------------------------------------------------------------
 */

/* A queue of the layer's own in the context; NULL: it cannot be created. */
static cl_handle own_queue(struct object *context)
{
    queue_function make;
    if (context == NULL) return NULL;
    layer_take(ROW_clCreateCommandQueue, &make);
    if (context->own_queue == NULL)
        context->own_queue = make(context->handle, context->device, 0, NULL);
    return context->own_queue;
}

void context_leave(struct object *context)
{
    release_function release;
    if (context->references > 0 || context->own_queue == NULL) return;
    layer_take(ROW_clReleaseCommandQueue, &release);
    release(context->own_queue);
    context->own_queue = NULL;
}

/* Writes the buffer's initial contents and its guard bytes. Returns false on failure. */
static bool fill(struct object *context, cl_handle buffer, const void *host, size_t size)
{
    copy_function write;
    cl_handle queue = own_queue(context);
    unsigned char *bytes = malloc(size + GUARD);
    bool done = false;

    layer_take(ROW_clEnqueueWriteBuffer, &write);
    if (bytes != NULL && queue != NULL) {
        memset(bytes, UNWRITTEN, size);
        memset(bytes + size, POISON, GUARD);
        if (host != NULL) memcpy(bytes, host, size);
        done = write(queue, buffer, 1, 0, size + GUARD, bytes, 0, NULL, NULL) == CL_SUCCESS;
    }
    free(bytes);
    return done;
}

/* Returns true if at most one bit is set: OpenCL refuses two of these flags and is left to do
 * so. */
static bool is_one(cl_bitfield flags)
{
    return (flags & (flags - 1)) == 0;
}

void buffer_shown(struct object *buffer)
{
    uint64_t content;
    if (buffer->host != NULL) buffer->sum = command_sum(buffer->host, buffer->size, &content);
}

static void put_copy(const struct call *call, const char *name, const void *host, size_t size)
{
    struct trace_record record = {.kind = TRACE_OPERATION,
                                  .what = TRACE_COPY,
                                  .from = TRACE_PAGEABLE,
                                  .to = TRACE_DEVICE,
                                  .caller = call->caller,
                                  .request = call->request,
                                  .bytes = size};
    trace_copy_string(record.name, sizeof record.name, name);
    command_sum(host, size, &record.count);
    layer_put(&record);
}

EXPORT cl_handle clCreateBuffer(cl_handle context, cl_bitfield flags, size_t size, void *host,
                                cl_int *error)
{
    const cl_bitfield of_host = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    struct call call;
    release_function release;
    cl_int code;

    if (!call_begin(&call, ROW_clCreateBuffer, CALLER, context))
        return call_end_made(&call, call.code, error), NULL;
    struct object *in = object_find(context, KIND_CONTEXT);
    /* Arguments that OpenCL would refuse are forwarded unchanged, for OpenCL to refuse. */
    const bool uses = (flags & CL_MEM_USE_HOST_PTR) != 0;
    const bool ours = size > 0 && (host != NULL) == ((flags & of_host) != 0) &&
                      !(uses && (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR)) != 0);
    /* A buffer in the host's memory is one on the device as well, where OpenCL may keep it. */
    const bool copies = ours && (flags & of_host) != 0;
    /* Host access flags are enforced by the layer, because the layer itself needs access. */
    const cl_bitfield kept = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY |
                             CL_MEM_HOST_NO_ACCESS | (copies ? of_host : 0);
    const cl_bitfield given = ours && is_one(flags & ~of_host & kept) ? flags & ~kept : flags;
    cl_handle made = REAL(clCreateBuffer)(context, given, ours ? size + GUARD : size,
                                          copies ? NULL : host, &code);
    if (made != NULL && ours && !fill(in, made, copies ? host : NULL, size)) {
        layer_take(ROW_clReleaseMemObject, &release);
        release(made);
        made = NULL;
        code = CL_OUT_OF_RESOURCES;
    }
    struct object *object = made != NULL ? object_add(made, KIND_BUFFER, in, &call, size) : NULL;
    if (object != NULL) object->guarded = ours;
    if (object != NULL) object->flags = flags;
    if (object != NULL) object->filled = copies && !(uses && (flags & CL_MEM_WRITE_ONLY) != 0);
    if (object != NULL && copies && uses) {
        object->host = host;
        buffer_shown(object);
    }
    if (object != NULL && (copies || uses))
        put_copy(&call, uses ? OPENCL_USED : OPENCL_COPIED, host, size);
    call_end_made(&call, code, error);
    return made;
}

struct region {
    size_t offset, size;
};

/* A sub-buffer lies inside another buffer, so it has no guard bytes. */
EXPORT cl_handle clCreateSubBuffer(cl_handle buffer, cl_bitfield flags, cl_uint type,
                                   const struct region *region, cl_int *error)
{
    struct call call;
    cl_int code;
    if (!call_begin(&call, ROW_clCreateSubBuffer, CALLER, buffer))
        return call_end_made(&call, call.code, error), NULL;
    const struct object *whole = object_find(buffer, KIND_BUFFER);
    if (region != NULL &&
        (region->offset > whole->size || region->size > whole->size - region->offset))
        return call_end_made(&call, CL_INVALID_VALUE, error), NULL;
    cl_handle made = REAL(clCreateSubBuffer)(buffer, flags, type, region, &code);
    struct object *part = made != NULL && region != NULL
                              ? object_add(made, KIND_BUFFER, whole->context, &call, region->size)
                              : NULL;
    if (part != NULL && whole->host != NULL) part->host = whole->host + region->offset;
    call_end_made(&call, code, error);
    return made;
}

EXPORT cl_int clGetMemObjectInfo(cl_handle handle, cl_uint what, size_t size, void *value,
                                 size_t *needed)
{
    struct call call;
    if (!call_begin(&call, ROW_clGetMemObjectInfo, CALLER, handle))
        return call_end(&call, call.code);
    const cl_int code = REAL(clGetMemObjectInfo)(handle, what, size, value, needed);
    const struct object *object = object_find(handle, KIND_BUFFER);
    if (code == CL_SUCCESS && what == CL_MEM_SIZE && value != NULL && object != NULL)
        memcpy(value, &object->size, sizeof object->size);
    if (code == CL_SUCCESS && what == CL_MEM_FLAGS && value != NULL && object != NULL &&
        object->flags != 0)
        memcpy(value, &object->flags, sizeof object->flags);
    if (code == CL_SUCCESS && what == CL_MEM_HOST_PTR && value != NULL && object != NULL &&
        object->host != NULL)
        memcpy(value, &object->host, sizeof object->host);
    return call_end(&call, code);
}

/* Notes whether a kernel has written results into a buffer in the host's memory, where the host's
 * memory does not show them and nothing has fetched them. A buffer that kernels may read as well
 * could be theirs alone. */
static void check_host(struct object *buffer, copy_function read, cl_handle queue)
{
    uint64_t content;
    const bool results = buffer->host != NULL && (buffer->flags & CL_MEM_WRITE_ONLY) != 0;
    unsigned char *bytes = results && !buffer->copied ? malloc(buffer->size) : NULL;
    if (bytes == NULL) return;
    if (read(queue, buffer->handle, 1, 0, buffer->size, bytes, 0, NULL, NULL) == CL_SUCCESS) {
        const uint64_t sum = command_sum(bytes, buffer->size, &content);
        buffer->hidden =
            sum != buffer->sum && sum != command_sum(buffer->host, buffer->size, &content);
    }
    free(bytes);
}

/* A finding about the buffer, at the call that made it. */
static struct trace_record finding_of(const struct object *buffer, enum trace_finding_id id)
{
    struct trace_record record = {.kind = TRACE_FINDING,
                                  .caller = buffer->made,
                                  .bytes = buffer->size,
                                  .object = buffer->id,
                                  .count = 1};
    trace_copy_string(record.name, sizeof record.name, "clCreateBuffer");
    record.finding.id = id;
    return record;
}

void buffer_end(struct object *buffer, bool findings)
{
    const struct trace_record record = finding_of(buffer, FINDING_CL_NOT_MAPPED);
    if (buffer->hidden && findings) layer_put(&record);
    buffer->hidden = false;
}

void buffer_check(struct object *buffer)
{
    copy_function read;
    unsigned char guard[GUARD];
    size_t changed = 0;

    cl_handle queue = buffer->guarded ? own_queue(buffer->context) : NULL;
    if (queue == NULL) return;
    commands_drain();
    layer_take(ROW_clEnqueueReadBuffer, &read);
    check_host(buffer, read, queue);
    if (read(queue, buffer->handle, 1, buffer->size, GUARD, guard, 0, NULL, NULL) != CL_SUCCESS)
        return;
    for (size_t i = 0; i < GUARD; i++)
        if (guard[i] != POISON) changed = i + 1;
    if (changed == 0) return;
    buffer->guarded = false; /* reported once */
    struct trace_record record = finding_of(buffer, FINDING_CL_OVERRUN);
    record.finding.numbers[0] = changed;
    layer_put(&record);
}
