/* A loader of OpenCL with one platform and three devices, which does at once what it is asked: what
 * the layer forwards to in the tests. It lacks some functions on purpose.
 */
#include "tests/opencl/stand_in.h"
#include "opencl/types.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define CL_INVALID_EVENT_LIST (-57)

EXPORT struct stand_in stand_in;
static int devices[3];
static int platform;

struct thing {
    int references;
    size_t size;
    unsigned char *bytes;
    cl_handle buffer; /* of a kernel: its first argument */
};

static cl_handle make(cl_int *error)
{
    struct thing *thing = calloc(1, sizeof *thing);
    if (thing == NULL) abort();
    thing->references = 1;
    stand_in.things++;
    if (error != NULL) *error = CL_SUCCESS;
    return thing;
}

static cl_int give_back(cl_handle handle)
{
    struct thing *thing = handle;
    stand_in.releases++;
    if (--thing->references > 0) return CL_SUCCESS;
    stand_in.things--;
    free(thing->bytes);
    free(thing);
    return CL_SUCCESS;
}

static cl_int keep(cl_handle handle)
{
    ((struct thing *)handle)->references++;
    return CL_SUCCESS;
}

#define RELEASES(name)                                                                             \
    EXPORT cl_int clRelease##name(cl_handle handle);                                               \
    EXPORT cl_int clRelease##name(cl_handle handle)                                                \
    {                                                                                              \
        return give_back(handle);                                                                  \
    }                                                                                              \
    EXPORT cl_int clRetain##name(cl_handle handle);                                                \
    EXPORT cl_int clRetain##name(cl_handle handle)                                                 \
    {                                                                                              \
        return keep(handle);                                                                       \
    }
RELEASES(Context)
RELEASES(CommandQueue)
RELEASES(MemObject)
RELEASES(Program)
RELEASES(Kernel)
RELEASES(Event)

#define FUNCTION(type, name, ...)                                                                  \
    EXPORT type name(__VA_ARGS__);                                                                 \
    EXPORT type name(__VA_ARGS__)

static cl_int answer(const void *text, size_t length, size_t size, void *value, size_t *needed)
{
    if (value != NULL && size < length) return CL_INVALID_VALUE;
    if (value != NULL) memcpy(value, text, length);
    if (needed != NULL) *needed = length;
    return CL_SUCCESS;
}

FUNCTION(cl_int, clGetPlatformIDs, cl_uint room, cl_handle *platforms, cl_uint *count)
{
    if (platforms != NULL && room > 0) platforms[0] = &platform;
    if (count != NULL) *count = 1;
    return CL_SUCCESS;
}

FUNCTION(cl_int, clGetPlatformInfo, cl_handle of, cl_uint what, size_t size, void *value,
         size_t *needed)
{
    (void)what;
    return of != &platform ? CL_INVALID_PLATFORM : answer("Stand-in", 9, size, value, needed);
}

FUNCTION(cl_int, clGetDeviceIDs, cl_handle of, cl_bitfield type, cl_uint room, cl_handle *list,
         cl_uint *count)
{
    (void)type;
    if (of != &platform) return CL_INVALID_PLATFORM;
    for (cl_uint i = 0; list != NULL && i < room && i < 3; i++) list[i] = &devices[i];
    if (count != NULL) *count = 3;
    return CL_SUCCESS;
}

FUNCTION(cl_int, clGetDeviceInfo, cl_handle device, cl_uint what, size_t size, void *value,
         size_t *needed)
{
    const cl_ulong number = 2; /* CL_DEVICE_TYPE_CPU, and any other number */
    const cl_handle own = &platform;
    (void)device;
    if (what == CL_DEVICE_NAME || what == CL_DEVICE_VERSION)
        return answer("one", 4, size, value, needed);
    if (what == CL_DEVICE_PLATFORM) return answer(&own, sizeof own, size, value, needed);
    return answer(&number, size < sizeof number && size > 0 ? size : sizeof number, size, value,
                  needed);
}

FUNCTION(cl_handle, clCreateContext, const intptr_t *properties, cl_uint count,
         const cl_handle *list, void *notify, void *user, cl_int *error)
{
    (void)properties, (void)count, (void)list, (void)notify, (void)user;
    return make(error);
}

FUNCTION(cl_int, clGetContextInfo, cl_handle context, cl_uint what, size_t size, void *value,
         size_t *needed)
{
    const cl_handle first = &devices[0];
    (void)context, (void)what;
    return answer(&first, sizeof first, size, value, needed);
}

FUNCTION(cl_handle, clCreateCommandQueue, cl_handle context, cl_handle device,
         cl_bitfield properties, cl_int *error)
{
    (void)context, (void)device, (void)properties;
    return make(error);
}

FUNCTION(cl_handle, clCreateBuffer, cl_handle context, cl_bitfield flags, size_t size, void *host,
         cl_int *error)
{
    (void)context, (void)flags, (void)host;
    if (size == 0) {
        if (error != NULL) *error = -61; /* CL_INVALID_BUFFER_SIZE */
        return NULL;
    }
    struct thing *buffer = make(error);
    buffer->size = size;
    buffer->bytes = calloc(size, 1);
    return buffer;
}

static cl_int end(cl_handle *event)
{
    if (event != NULL) *event = make(NULL);
    return CL_SUCCESS;
}

FUNCTION(cl_int, clEnqueueWriteBuffer, cl_handle queue, cl_handle handle, cl_bool blocking,
         size_t offset, size_t size, const void *from, cl_uint count, const cl_handle *list,
         cl_handle *event)
{
    struct thing *buffer = handle;
    (void)queue, (void)blocking, (void)count, (void)list;
    if (from == NULL || offset + size > buffer->size) return CL_INVALID_VALUE;
    memcpy(buffer->bytes + offset, from, size);
    return end(event);
}

FUNCTION(cl_int, clEnqueueReadBuffer, cl_handle queue, cl_handle handle, cl_bool blocking,
         size_t offset, size_t size, void *to, cl_uint count, const cl_handle *list,
         cl_handle *event)
{
    struct thing *buffer = handle;
    (void)queue, (void)blocking;
    if (to == NULL || offset + size > buffer->size) return CL_INVALID_VALUE;
    if ((count > 0) != (list != NULL)) return CL_INVALID_EVENT_LIST;
    memcpy(to, buffer->bytes + offset, size);
    return end(event);
}

FUNCTION(void *, clEnqueueMapBuffer, cl_handle queue, cl_handle handle, cl_bool blocking,
         cl_bitfield flags, size_t offset, size_t size, cl_uint count, const cl_handle *list,
         cl_handle *event, cl_int *error)
{
    struct thing *buffer = handle;
    (void)queue, (void)blocking, (void)flags, (void)count, (void)list;
    *error = offset + size > buffer->size ? CL_INVALID_VALUE : end(event);
    return *error == CL_SUCCESS ? buffer->bytes + offset : NULL;
}

FUNCTION(cl_int, clEnqueueUnmapMemObject, cl_handle queue, cl_handle handle, void *mapped,
         cl_uint count, const cl_handle *list, cl_handle *event)
{
    const struct thing *buffer = handle;
    const uintptr_t at = (uintptr_t)mapped, first = (uintptr_t)buffer->bytes;
    (void)queue, (void)count, (void)list;
    return at < first || at - first >= buffer->size ? CL_INVALID_VALUE : end(event);
}

FUNCTION(cl_handle, clCreateProgramWithSource, cl_handle context, cl_uint count,
         const char **strings, const size_t *lengths, cl_int *error)
{
    (void)context, (void)count, (void)strings, (void)lengths;
    return make(error);
}

FUNCTION(cl_handle, clCreateKernel, cl_handle program, const char *name, cl_int *error)
{
    (void)program, (void)name;
    return make(error);
}

FUNCTION(cl_int, clGetKernelInfo, cl_handle kernel, cl_uint what, size_t size, void *value,
         size_t *needed)
{
    (void)kernel, (void)what;
    return answer("work", 5, size, value, needed);
}

FUNCTION(cl_int, clSetKernelArg, cl_handle handle, cl_uint index, size_t size, const void *value)
{
    struct thing *kernel = handle;
    (void)index;
    if (value == NULL) return -50; /* CL_INVALID_ARG_VALUE */
    if (size == sizeof kernel->buffer) memcpy(&kernel->buffer, value, size);
    return CL_SUCCESS;
}

FUNCTION(cl_int, clEnqueueNDRangeKernel, cl_handle queue, cl_handle handle, cl_uint dimensions,
         const size_t *offset, const size_t *global, const size_t *local, cl_uint count,
         const cl_handle *list, cl_handle *event)
{
    const struct thing *kernel = handle;
    (void)queue, (void)dimensions, (void)offset, (void)global, (void)local, (void)count, (void)list;
    if (stand_in.overrun > 0)
        memset(((struct thing *)kernel->buffer)->bytes + stand_in.known, 1,
               (size_t)stand_in.overrun);
    return end(event);
}

FUNCTION(cl_int, clFinish, cl_handle queue)
{
    (void)queue;
    return CL_SUCCESS;
}

FUNCTION(cl_int, clWaitForEvents, cl_uint count, const cl_handle *list)
{
    return count == 0 || list == NULL ? CL_INVALID_VALUE : CL_SUCCESS;
}

FUNCTION(cl_int, clGetEventProfilingInfo, cl_handle event, cl_uint what, size_t size, void *value,
         size_t *needed)
{
    const cl_ulong time = what == CL_PROFILING_COMMAND_END ? 300 : 100;
    (void)event;
    return answer(&time, sizeof time, size, value, needed);
}
