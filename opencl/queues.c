/* Functions that queue commands, wait for them, and query them. */
#include "opencl/inside.h"

#include <stdlib.h>
#include <string.h>

/* Checks that every event that the command waits for is live. */
static bool events_are_there(struct call *call, cl_uint count, const cl_handle *events)
{
    for (cl_uint i = 0; events != NULL && i < count; i++)
        if (object_use(call, events[i], KIND_EVENT) == NULL) {
            call->code = object_invalid(KIND_EVENT);
            return false;
        }
    return true;
}

/* Finds the buffer of a command, and checks that the part is inside it. */
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

/* Returns the buffer if a part of so many bytes is all of it, or NULL. */
static struct object *whole_of(cl_handle buffer, size_t size)
{
    struct object *object = object_find(buffer, KIND_BUFFER);
    return object != NULL && object->size == size ? object : NULL;
}

/* The events that a command waits for. */
struct behind {
    cl_uint count;
    const cl_handle *events;
};
#define BEHIND                                                                                     \
    (struct behind)                                                                                \
    {                                                                                              \
        count, list                                                                                \
    }

/* Checks that no CL_MEM_HOST_... flag forbids this access of the host. */
static bool host_may(struct call *call, const struct object *buffer, cl_bitfield forbids)
{
    if (buffer == NULL) return false;
    if ((buffer->flags & (forbids | CL_MEM_HOST_NO_ACCESS)) == 0) return true;
    call->code = CL_INVALID_OPERATION;
    return false;
}

static struct command command_of(const struct call *call, cl_handle queue, cl_handle event,
                                 struct behind behind, uint32_t what, uint64_t bytes)
{
    struct command command = {.queue = object_find(queue, KIND_QUEUE),
                              .event = event,
                              .call = *call,
                              .what = what,
                              .bytes = bytes};
    if (event != NULL && behind.count > 0 && behind.events != NULL)
        command.after = malloc(behind.count * sizeof *command.after);
    if (command.after != NULL) {
        memcpy(command.after, behind.events, behind.count * sizeof *command.after);
        command.after_count = behind.count;
    }
    return command;
}

/* The common end of all commands. `blocking`: the command has ended already. */
static cl_int end_command(struct call *call, struct command *command, bool blocking, cl_int code,
                          cl_handle *event)
{
    if (code == CL_SUCCESS) {
        command_add(command, event);
        if (blocking) command_settle_event(command->event);
    } else {
        free(command->shadow);
        free(command->after);
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
        !host_may(&call, part_of(&call, buffer, offset, size), CL_MEM_HOST_WRITE_ONLY) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    void *shadow = !blocking && to != NULL ? malloc(size) : NULL;
    const cl_int code = REAL(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size,
                                                  shadow != NULL ? shadow : to, count, list, &own);
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_COPY, size);
    command.from = TRACE_DEVICE;
    command.to = TRACE_PAGEABLE;
    command.destination = to;
    command.brings = to;
    command.shadow = shadow;
    command.read = whole_of(buffer, size);
    return end_command(&call, &command, blocking != 0, code, event);
}

EXPORT cl_int clEnqueueWriteBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking,
                                   size_t offset, size_t size, const void *from, cl_uint count,
                                   const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueWriteBuffer, CALLER, queue) ||
        !host_may(&call, part_of(&call, buffer, offset, size), CL_MEM_HOST_READ_ONLY) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code =
        REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from, count, list, &own);
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_COPY, size);
    command.from = TRACE_PAGEABLE;
    command.to = TRACE_DEVICE;
    if (code == CL_SUCCESS) command.sum = command_sum(from, size, &command.count);
    if (!blocking) command.source = from;
    command.written = whole_of(buffer, size);
    return end_command(&call, &command, blocking != 0, code, event);
}

/* Finds the buffer of a box of bytes and checks the range that it spans; NULL with call->code on
 * error. */
static struct object *box_of(struct call *call, cl_handle buffer, const size_t *origin,
                             const size_t *region, size_t row, size_t slice)
{
    if (origin == NULL || region == NULL || region[0] == 0 || region[1] == 0 || region[2] == 0) {
        call->code = CL_INVALID_VALUE;
        return NULL;
    }
    if (row == 0) row = region[0];
    if (slice == 0) slice = region[1] * row;
    return part_of(call, buffer, origin[2] * slice + origin[1] * row + origin[0],
                   (region[2] - 1) * slice + (region[1] - 1) * row + region[0]);
}

static struct command box_command(const struct call *call, cl_handle queue, cl_handle event,
                                  struct behind behind, const size_t *region)
{
    struct command command = command_of(call, queue, event, behind, TRACE_COPY,
                                        (uint64_t)region[0] * region[1] * region[2]);
    command.scattered = true;
    return command;
}

EXPORT cl_int clEnqueueReadBufferRect(cl_handle queue, cl_handle buffer, cl_bool blocking,
                                      const size_t *origin, const size_t *to_origin,
                                      const size_t *region, size_t row, size_t slice, size_t to_row,
                                      size_t to_slice, void *to, cl_uint count,
                                      const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueReadBufferRect, CALLER, queue) ||
        !host_may(&call, box_of(&call, buffer, origin, region, row, slice),
                  CL_MEM_HOST_WRITE_ONLY) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code =
        REAL(clEnqueueReadBufferRect)(queue, buffer, blocking, origin, to_origin, region, row,
                                      slice, to_row, to_slice, to, count, list, &own);
    struct command command = box_command(&call, queue, own, BEHIND, region);
    command.from = TRACE_DEVICE;
    command.to = TRACE_PAGEABLE;
    command.brings = to;
    return end_command(&call, &command, blocking != 0, code, event);
}

EXPORT cl_int clEnqueueWriteBufferRect(cl_handle queue, cl_handle buffer, cl_bool blocking,
                                       const size_t *origin, const size_t *from_origin,
                                       const size_t *region, size_t row, size_t slice,
                                       size_t from_row, size_t from_slice, const void *from,
                                       cl_uint count, const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueWriteBufferRect, CALLER, queue) ||
        !host_may(&call, box_of(&call, buffer, origin, region, row, slice),
                  CL_MEM_HOST_READ_ONLY) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code =
        REAL(clEnqueueWriteBufferRect)(queue, buffer, blocking, origin, from_origin, region, row,
                                       slice, from_row, from_slice, from, count, list, &own);
    struct command command = box_command(&call, queue, own, BEHIND, region);
    command.from = TRACE_PAGEABLE;
    command.to = TRACE_DEVICE;
    return end_command(&call, &command, blocking != 0, code, event);
}

EXPORT cl_int clEnqueueCopyBufferRect(cl_handle queue, cl_handle from, cl_handle to,
                                      const size_t *from_origin, const size_t *to_origin,
                                      const size_t *region, size_t from_row, size_t from_slice,
                                      size_t to_row, size_t to_slice, cl_uint count,
                                      const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueCopyBufferRect, CALLER, queue) ||
        box_of(&call, from, from_origin, region, from_row, from_slice) == NULL ||
        box_of(&call, to, to_origin, region, to_row, to_slice) == NULL ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const cl_int code =
        REAL(clEnqueueCopyBufferRect)(queue, from, to, from_origin, to_origin, region, from_row,
                                      from_slice, to_row, to_slice, count, list, &own);
    struct command command = box_command(&call, queue, own, BEHIND, region);
    command.from = command.to = TRACE_DEVICE;
    return end_command(&call, &command, false, code, event);
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
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_COPY, size);
    command.from = command.to = TRACE_DEVICE;
    command.read = whole_of(from, size);
    command.written = whole_of(to, size);
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
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_SET, size);
    command.to = TRACE_DEVICE;
    command.written = whole_of(buffer, size);
    return end_command(&call, &command, false, code, event);
}

/* A mapping serves values of any of OpenCL C's types, the longest of which have 128 bytes. */
#define ALIGNMENT ((size_t)128)

/* Chooses what the student gets for the mapping at `image`. */
static void show_mapping(struct command *command, const struct object *buffer, void *image,
                         size_t offset)
{
    command->mapped = image;
    if (buffer->host != NULL) {
        command->mapped = buffer->host + offset;
    } else {
        command->copy =
            aligned_alloc(ALIGNMENT, (command->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        if (command->copy == NULL) return; /* OpenCL's own mapping serves as well */
        memset(command->copy, COMMAND_UNMAPPED, command->bytes);
        command->mapped = command->copy;
    }
    command->image = image;
}

EXPORT void *clEnqueueMapBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking,
                                cl_bitfield flags, size_t offset, size_t size, cl_uint count,
                                const cl_handle *list, cl_handle *event, cl_int *error)
{
    struct call call;
    cl_handle own = NULL;
    cl_int code;
    if (!call_begin(&call, ROW_clEnqueueMapBuffer, CALLER, queue) ||
        !host_may(&call, part_of(&call, buffer, offset, size),
                  (flags & CL_MAP_READ) != 0 ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY) ||
        !events_are_there(&call, count, list))
        return call_end_made(&call, call.code, error), NULL;
    void *image = REAL(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, size, count,
                                           list, &own, &code);
    const bool reads = (flags & CL_MAP_READ) != 0;
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_COPY, size);
    command.from = reads ? TRACE_DEVICE : TRACE_PAGEABLE;
    command.to = reads ? TRACE_PAGEABLE : TRACE_DEVICE;
    if (image != NULL) show_mapping(&command, object_find(buffer, KIND_BUFFER), image, offset);
    if (reads) command.brings = command.mapped;
    command.shows = (flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0;
    command.maps_to_write = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
    if (reads) command.read = whole_of(buffer, size);
    code = end_command(&call, &command, blocking != 0, code, event);
    if (error != NULL) *error = code;
    return command.mapped;
}

EXPORT cl_int clEnqueueUnmapMemObject(cl_handle queue, cl_handle buffer, void *mapped,
                                      cl_uint count, const cl_handle *list, cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueUnmapMemObject, CALLER, queue) ||
        part_of(&call, buffer, 0, 1) == NULL || !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    mapped = command_unmap(mapped);
    buffer_shown(object_find(buffer, KIND_BUFFER));
    const cl_int code = REAL(clEnqueueUnmapMemObject)(queue, buffer, mapped, count, list, &own);
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_WHAT_NONE, 0);
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
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_WHAT_NONE, 0);
    command.behind_all = count == 0;
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
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_WHAT_NONE, 0);
    command.behind_all = count == 0;
    command.barrier = true;
    return end_command(&call, &command, false, code, event);
}

/* From OpenCL 1.1: waits for all earlier commands of the queue. */
EXPORT cl_int clEnqueueMarker(cl_handle queue, cl_handle *event)
{
    const cl_uint count = 0;
    const cl_handle *const list = NULL;
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueMarker, CALLER, queue)) return call_end(&call, call.code);
    const cl_int code = REAL(clEnqueueMarker)(queue, &own);
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_WHAT_NONE, 0);
    command.behind_all = true;
    return end_command(&call, &command, false, code, event);
}

static cl_int barrier(struct call *call, cl_handle queue, cl_uint count, const cl_handle *list)
{
    cl_handle own = NULL;
    const cl_int code = REAL(clEnqueueBarrierWithWaitList)(queue, count, list, &own);
    struct command command = command_of(call, queue, own, BEHIND, TRACE_WHAT_NONE, 0);
    command.behind_all = count == 0;
    command.barrier = true;
    return end_command(call, &command, false, code, NULL);
}

EXPORT cl_int clEnqueueBarrier(cl_handle queue)
{
    struct call call;
    if (!call_begin(&call, ROW_clEnqueueBarrier, CALLER, queue)) return call_end(&call, call.code);
    return barrier(&call, queue, 0, NULL);
}

EXPORT cl_int clEnqueueWaitForEvents(cl_handle queue, cl_uint count, const cl_handle *list)
{
    struct call call;
    if (!call_begin(&call, ROW_clEnqueueWaitForEvents, CALLER, queue) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    return barrier(&call, queue, count, list);
}

EXPORT cl_int clEnqueueMigrateMemObjects(cl_handle queue, cl_uint number, const cl_handle *buffers,
                                         cl_bitfield flags, cl_uint count, const cl_handle *list,
                                         cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueMigrateMemObjects, CALLER, queue) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    for (cl_uint i = 0; buffers != NULL && i < number; i++)
        if (part_of(&call, buffers[i], 0, 1) == NULL) return call_end(&call, call.code);
    const cl_int code =
        REAL(clEnqueueMigrateMemObjects)(queue, number, buffers, flags, count, list, &own);
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_WHAT_NONE, 0);
    return end_command(&call, &command, false, code, event);
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

/* Buffer arguments are recognised by their value. */
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

/* Checks that no buffer argument has been released since it was set. */
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
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_KERNEL, 0);
    command.count = 1;
    for (cl_uint i = 0; global != NULL && i < dimensions && i < 3; i++) command.count *= global[i];
    trace_copy_string(command.name, sizeof command.name, kernel->name);
    memcpy(command.accessed, kernel->arguments, sizeof command.accessed);
    return end_command(&call, &command, false, code, event);
}

EXPORT cl_int clEnqueueTask(cl_handle queue, cl_handle handle, cl_uint count, const cl_handle *list,
                            cl_handle *event)
{
    struct call call;
    cl_handle own = NULL;
    if (!call_begin(&call, ROW_clEnqueueTask, CALLER, queue) ||
        !events_are_there(&call, count, list))
        return call_end(&call, call.code);
    const struct object *kernel = object_use(&call, handle, KIND_KERNEL);
    if (kernel == NULL) return call_end(&call, object_invalid(KIND_KERNEL));
    if (!arguments_are_there(&call, kernel)) return call_end(&call, call.code);
    const cl_int code = REAL(clEnqueueTask)(queue, handle, count, list, &own);
    struct command command = command_of(&call, queue, own, BEHIND, TRACE_KERNEL, 0);
    command.count = 1;
    trace_copy_string(command.name, sizeof command.name, kernel->name);
    memcpy(command.accessed, kernel->arguments, sizeof command.accessed);
    return end_command(&call, &command, false, code, event);
}

EXPORT cl_int clCreateKernelsInProgram(cl_handle program, cl_uint room, cl_handle *kernels,
                                       cl_uint *count)
{
    struct call call;
    cl_uint made = 0;
    if (!call_begin(&call, ROW_clCreateKernelsInProgram, CALLER, program))
        return call_end(&call, call.code);
    const cl_int code = REAL(clCreateKernelsInProgram)(program, room, kernels, &made);
    for (cl_uint i = 0; code == CL_SUCCESS && kernels != NULL && i < made && i < room; i++) {
        struct object *kernel = object_add(kernels[i], KIND_KERNEL,
                                           object_find(program, KIND_PROGRAM)->context, &call, 0);
        object_ask_name(kernel);
    }
    if (count != NULL) *count = made;
    return call_end(&call, code);
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

/* A command's times are hidden until the student has waited for it, and if the student did not
 * request them.
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

struct callback {
    void (*notify)(cl_handle, cl_int, void *);
    void *user;
};

/* A callback for the end of a command counts as a wait for it. */
static void tell(cl_handle event, cl_int status, void *given)
{
    const struct callback callback = *(struct callback *)given;
    free(given);
    if (status == CL_SUCCESS) command_settle_event(event); /* CL_COMPLETE */
    callback.notify(event, status, callback.user);
}

EXPORT cl_int clSetEventCallback(cl_handle event, cl_int status,
                                 void (*notify)(cl_handle, cl_int, void *), void *user)
{
    struct call call;
    if (!call_begin(&call, ROW_clSetEventCallback, CALLER, event))
        return call_end(&call, call.code);
    struct callback *callback = notify != NULL ? malloc(sizeof *callback) : NULL;
    if (callback != NULL) *callback = (struct callback){notify, user};
    const cl_int code =
        REAL(clSetEventCallback)(event, status, callback != NULL ? tell : NULL, callback);
    if (code != CL_SUCCESS) free(callback);
    return call_end(&call, code);
}
