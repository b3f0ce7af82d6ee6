/* The functions that queue commands, wait for them, and ask about them. */
#include "opencl/inside.h"

#include <stdlib.h>
#include <string.h>

/* Every event that it is to come behind has to be there. */
static bool events_are_there(struct call *call, cl_uint count, const cl_handle *events)
{
    for (cl_uint i = 0; events != NULL && i < count; i++)
        if (object_use(call, events[i], KIND_EVENT) == NULL) {
            call->code = object_invalid(KIND_EVENT);
            return false;
        }
    return true;
}

/* The buffer, and the part of it, that a command is about. */
static struct object *part_of(struct call *call, cl_handle buffer, size_t offset, size_t size)
{
    struct object *object = object_use(call, buffer, KIND_BUFFER);
    if (object == NULL) {
        call->code = object_invalid(KIND_BUFFER);
    } else if (size == 0 || offset > object->size || size > object->size - offset) {
        call->code = CL_INVALID_VALUE;
        return NULL;
    }
    return object;
}

static struct command command_of(const struct call *call, cl_handle queue, cl_handle event,
                                 uint32_t what, uint64_t bytes)
{
    return (struct command){.queue = object_find(queue, KIND_QUEUE),
                            .event = event,
                            .call = *call,
                            .what = what,
                            .bytes = bytes};
}

/* What every command ends with. `blocking`: it has ended already. */
static cl_int end_command(struct call *call, struct command *command, bool blocking, cl_int code,
                          cl_handle *event)
{
    if (code == CL_SUCCESS) {
        command_add(command, event);
        if (blocking) command_settle_event(command->event);
    } else {
        free(command->shadow);
    }
    return call_end(call, code);
}

EXPORT cl_int clEnqueueReadBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking,
                                  size_t offset, size_t size, void *to, cl_uint count,
                                  const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueReadBuffer, CALLER, queue) ||
        part_of(&call, buffer, offset, size) == NULL || !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    void *shadow = !blocking && to != NULL ? malloc(size) : NULL;
    const cl_int code = REAL(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size,
                                                  shadow != NULL ? shadow : to, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_COPY, size);
    command.from = TRACE_DEVICE;
    command.to = TRACE_PAGEABLE;
    command.destination = to;
    command.shadow = shadow;
    return end_command(&call, &command, blocking != 0, code, event);
}

EXPORT cl_int clEnqueueWriteBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking,
                                   size_t offset, size_t size, const void *from, cl_uint count,
                                   const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueWriteBuffer, CALLER, queue) ||
        part_of(&call, buffer, offset, size) == NULL || !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code =
        REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_COPY, size);
    command.from = TRACE_PAGEABLE;
    command.to = TRACE_DEVICE;
    if (!blocking && code == CL_SUCCESS) {
        command.source = from;
        command.sum = command_sum(from, size);
    }
    return end_command(&call, &command, blocking != 0, code, event);
}

EXPORT cl_int clEnqueueCopyBuffer(cl_handle queue, cl_handle from, cl_handle to, size_t from_offset,
                                  size_t to_offset, size_t size, cl_uint count,
                                  const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueCopyBuffer, CALLER, queue) ||
        part_of(&call, from, from_offset, size) == NULL ||
        part_of(&call, to, to_offset, size) == NULL || !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code =
        REAL(clEnqueueCopyBuffer)(queue, from, to, from_offset, to_offset, size, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_COPY, size);
    command.from = command.to = TRACE_DEVICE;
    return end_command(&call, &command, false, code, event);
}

EXPORT cl_int clEnqueueFillBuffer(cl_handle queue, cl_handle buffer, const void *pattern,
                                  size_t pattern_size, size_t offset, size_t size, cl_uint count,
                                  const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueFillBuffer, CALLER, queue) ||
        part_of(&call, buffer, offset, size) == NULL || !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code = REAL(clEnqueueFillBuffer)(queue, buffer, pattern, pattern_size, offset,
                                                  size, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_SET, size);
    command.to = TRACE_DEVICE;
    return end_command(&call, &command, false, code, event);
}

EXPORT void *clEnqueueMapBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking,
                                cl_bitfield flags, size_t offset, size_t size, cl_uint count,
                                const cl_handle *list, cl_handle *event, cl_int *error)
{
    struct call call;
    cl_handle own = NULL;
    cl_int code;
    if (!call_begin(&call, ROW_clEnqueueMapBuffer, CALLER, queue) ||
        part_of(&call, buffer, offset, size) == NULL || !events_are_there(&call, count, list))
        return call_end_made(&call, call.code, error), NULL;
    void *mapped = REAL(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, size, count,
                                            list, &own, &code);
    const bool reads = (flags & CL_MAP_READ) != 0;
    struct command command = command_of(&call, queue, own, TRACE_COPY, size);
    command.from = reads ? TRACE_DEVICE : TRACE_PAGEABLE;
    command.to = reads ? TRACE_PAGEABLE : TRACE_DEVICE;
    code = end_command(&call, &command, blocking != 0, code, event);
    if (error != NULL) *error = code;
    return mapped;
}

EXPORT cl_int clEnqueueUnmapMemObject(cl_handle queue, cl_handle buffer, void *mapped,
                                      cl_uint count, const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueUnmapMemObject, CALLER, queue) ||
        part_of(&call, buffer, 0, 1) == NULL || !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code = REAL(clEnqueueUnmapMemObject)(queue, buffer, mapped, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_WHAT_NONE, 0);
    return end_command(&call, &command, false, code, event);
}

EXPORT cl_int clEnqueueMarkerWithWaitList(cl_handle queue, cl_uint count, const cl_handle *list,
                                          cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueMarkerWithWaitList, CALLER, queue) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code = REAL(clEnqueueMarkerWithWaitList)(queue, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_WHAT_NONE, 0);
    return end_command(&call, &command, false, code, event);
}

EXPORT cl_int clEnqueueBarrierWithWaitList(cl_handle queue, cl_uint count, const cl_handle *list,
                                           cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueBarrierWithWaitList, CALLER, queue) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code = REAL(clEnqueueBarrierWithWaitList)(queue, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_WHAT_NONE, 0);
    return end_command(&call, &command, false, code, event);
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

/* Which arguments are buffers is known by what they hold. */
EXPORT cl_int clSetKernelArg(cl_handle handle, cl_uint index, size_t size, const void *value)
{
    struct call call;
    struct object *buffer = NULL;
    cl_handle held;
    if (!call_begin(&call, ROW_clSetKernelArg, CALLER, handle)) return call_end(&call, call.code);
    if (size == sizeof held && value != NULL) {
        memcpy(&held, value, sizeof held);
        buffer = object_find(held, KIND_BUFFER);
    }
    if (buffer != NULL && object_use(&call, held, KIND_BUFFER) == NULL)
        return call_end(&call, object_invalid(KIND_BUFFER));
    const cl_int code = REAL(clSetKernelArg)(handle, index, size, value);
    struct object *kernel = object_find(handle, KIND_KERNEL);
    if (code == CL_SUCCESS && kernel != NULL && index < ARGUMENTS)
        kernel->arguments[index] = buffer;
    return call_end(&call, code);
}

/* A buffer that it was given has been released since. */
static bool arguments_are_there(struct call *call, const struct object *kernel)
{
    for (int i = 0; i < ARGUMENTS; i++)
        if (kernel->arguments[i] != NULL && kernel->arguments[i]->references == 0) {
            object_use(call, kernel->arguments[i]->handle, KIND_BUFFER);
            call->code = CL_INVALID_KERNEL_ARGS;
            return false;
        }
    return true;
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_handle queue, cl_handle handle, cl_uint dimensions,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint count, const cl_handle *list,
                                     cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueNDRangeKernel, CALLER, queue) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const struct object *kernel = object_use(&call, handle, KIND_KERNEL);
    if (kernel == NULL) return call_end(&call, object_invalid(KIND_KERNEL));
    if (!arguments_are_there(&call, kernel)) return call_end(&call, call.code);
    const cl_int code = REAL(clEnqueueNDRangeKernel)(queue, handle, dimensions, offset, global,
                                                     local, count, list, &own);
    struct command command = command_of(&call, queue, own, TRACE_KERNEL, 0);
    command.count = 1;
    for (cl_uint i = 0; global != NULL && i < dimensions && i < 3; i++) command.count *= global[i];
    trace_copy_string(command.name, sizeof command.name, kernel->name);
    return end_command(&call, &command, false, code, event);
}

/* ---- waits ------------------------------------------------------------------------------------
 */

EXPORT cl_int clFinish(cl_handle queue)
{
    struct call call;
    if (!call_begin(&call, ROW_clFinish, CALLER, queue)) return call_end(&call, call.code);
    const cl_int code = REAL(clFinish)(queue);
    if (code == CL_SUCCESS) commands_settle_queue(object_find(queue, KIND_QUEUE));
    return call_end(&call, code);
}

EXPORT cl_int clWaitForEvents(cl_uint count, const cl_handle *list)
{
    struct call call;
    if (!call_begin(&call, ROW_clWaitForEvents, CALLER, NULL) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code = REAL(clWaitForEvents)(count, list);
    for (cl_uint i = 0; code == CL_SUCCESS && i < count; i++) command_settle_event(list[i]);
    return call_end(&call, code);
}

EXPORT cl_int clGetEventInfo(cl_handle event, cl_uint what, size_t size, void *value,
                             size_t *needed)
{
    struct call call;
    cl_int status;
    if (!call_begin(&call, ROW_clGetEventInfo, CALLER, event)) return call_end(&call, call.code);
    const cl_int code = REAL(clGetEventInfo)(event, what, size, value, needed);
    if (code == CL_SUCCESS && what == CL_EVENT_COMMAND_EXECUTION_STATUS && value != NULL) {
        memcpy(&status, value, sizeof status);
        if (status == CL_SUCCESS) command_settle_event(event); /* CL_COMPLETE: polled until then */
    }
    return call_end(&call, code);
}

/* Before it was waited for, a command's times need not be known; nor where nobody asked for them.
 */
EXPORT cl_int clGetEventProfilingInfo(cl_handle event, cl_uint what, size_t size, void *value,
                                      size_t *needed)
{
    struct call call;
    const struct object *queue;
    if (!call_begin(&call, ROW_clGetEventProfilingInfo, CALLER, event))
        return call_end(&call, call.code);
    const bool settled = command_is_settled(event, &queue);
    if (!settled || (queue != NULL && !queue->profiled))
        return call_end(&call, CL_PROFILING_INFO_NOT_AVAILABLE);
    return call_end(&call, REAL(clGetEventProfilingInfo)(event, what, size, value, needed));
}
