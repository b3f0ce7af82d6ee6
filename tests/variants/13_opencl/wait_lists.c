/* variant: out-of-order queues, each order by wait lists; the host is kept out of buffers */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    cl_device_info what;
    size_t offset, size;
} FIELDS[] = {
#define FIELD(what, member)                                                                        \
    {                                                                                              \
        what, offsetof(struct opencl_device, member), sizeof((struct opencl_device *)0)->member    \
    }
    FIELD(CL_DEVICE_NAME, name),
    FIELD(CL_DEVICE_VERSION, version),
    FIELD(CL_DEVICE_TYPE, type),
    FIELD(CL_DEVICE_MAX_COMPUTE_UNITS, units),
    FIELD(CL_DEVICE_MAX_WORK_GROUP_SIZE, group),
    FIELD(CL_DEVICE_GLOBAL_MEM_SIZE, memory),
    FIELD(CL_DEVICE_LOCAL_MEM_SIZE, local),
#undef FIELD
};

/* Asks the device itself for its platform. */
static cl_int tell(cl_device_id id, struct opencl_device *device)
{
    cl_platform_id platform;
    cl_int error = clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);

    if (error == CL_SUCCESS)
        error = clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof device->platform,
                                  device->platform, NULL);
    for (size_t f = 0; f < sizeof FIELDS / sizeof FIELDS[0] && error == CL_SUCCESS; ++f)
        error = clGetDeviceInfo(id, FIELDS[f].what, FIELDS[f].size,
                                (char *)device + FIELDS[f].offset, NULL);
    device->id = id;
    return error;
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_uint platform_count = 0, all = 0, done = 0;
    cl_uint *numbers = NULL;
    cl_platform_id *platforms = NULL;
    cl_device_id *ids = NULL;
    cl_int error = clGetPlatformIDs(0, NULL, &platform_count);

    if (error == -1001) {
        error = CL_SUCCESS;
        platform_count = 0;
    }
    if (error == CL_SUCCESS && platform_count > 0) {
        platforms = calloc(platform_count, sizeof *platforms);
        numbers = calloc(platform_count, sizeof *numbers);
        error = platforms && numbers ? clGetPlatformIDs(platform_count, platforms, NULL)
                                     : CL_OUT_OF_HOST_MEMORY;
    }
    /* First how many each has, ... */
    for (cl_uint p = 0; p < platform_count && error == CL_SUCCESS; ++p) {
        error = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, NULL, &numbers[p]);
        if (error == CL_DEVICE_NOT_FOUND) {
            numbers[p] = 0;
            error = CL_SUCCESS;
        }
        if (error == CL_SUCCESS) all += numbers[p];
    }
    /* ... then which, and what they are. */
    if (error == CL_SUCCESS && all > 0 && room > 0) {
        ids = calloc(all, sizeof *ids);
        if (!ids) error = CL_OUT_OF_HOST_MEMORY;
        for (cl_uint p = 0; p < platform_count && error == CL_SUCCESS && done < room; ++p) {
            if (numbers[p] == 0) continue;
            error = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, numbers[p], ids + done, NULL);
            done += numbers[p];
        }
        for (cl_uint d = 0; d < done && d < room && error == CL_SUCCESS; ++d)
            error = tell(ids[d], &devices[d]);
    }
    *count = all;
    free(ids);
    free(numbers);
    free(platforms);
    return error;
}

enum { A, B, C, BUFFERS };
enum { PUT_A, PUT_B, RUN, GET, EVENTS };

struct state {
    cl_context context;
    cl_program program;
    cl_kernel kernel;
    cl_command_queue queue;
    cl_mem buffer[BUFFERS];
    cl_event event[EVENTS];
};

static cl_int clear(struct state *s, cl_int error)
{
    cl_int e;

    /* What is under way uses the caller's arrays. The first error stays the first. */
    if (error != CL_SUCCESS && s->queue != NULL) clFinish(s->queue);
    for (int i = 0; i < EVENTS; ++i)
        if (s->event[i] != NULL && (e = clReleaseEvent(s->event[i])) != CL_SUCCESS &&
            error == CL_SUCCESS)
            error = e;
    if (s->queue != NULL && (e = clReleaseCommandQueue(s->queue)) != CL_SUCCESS &&
        error == CL_SUCCESS)
        error = e;
    for (int i = 0; i < BUFFERS; ++i)
        if (s->buffer[i] != NULL && (e = clReleaseMemObject(s->buffer[i])) != CL_SUCCESS &&
            error == CL_SUCCESS)
            error = e;
    if (s->kernel != NULL && (e = clReleaseKernel(s->kernel)) != CL_SUCCESS && error == CL_SUCCESS)
        error = e;
    if (s->program != NULL && (e = clReleaseProgram(s->program)) != CL_SUCCESS &&
        error == CL_SUCCESS)
        error = e;
    if (s->context != NULL && (e = clReleaseContext(s->context)) != CL_SUCCESS &&
        error == CL_SUCCESS)
        error = e;
    return error;
}

static cl_int set_up(struct state *s, cl_device_id device, cl_command_queue_properties wanted,
                     size_t count, const char *source)
{
    static const cl_mem_flags flags[BUFFERS] = {CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
                                                CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
                                                CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY};
    cl_command_queue_properties can = 0;
    cl_platform_id platform;
    cl_context_properties properties[3] = {CL_CONTEXT_PLATFORM, 0, 0};
    cl_int error;

    memset(s, 0, sizeof *s);
    error = clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (error != CL_SUCCESS) return error;
    properties[1] = (cl_context_properties)platform;
    error = clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof can, &can, NULL);
    if (error != CL_SUCCESS) return error;
    s->context = clCreateContext(properties, 1, &device, NULL, NULL, &error);
    if (error != CL_SUCCESS) return error;
    s->queue = clCreateCommandQueue(
        s->context, device, wanted | (can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), &error);
    if (error != CL_SUCCESS) return error;
    for (int i = 0; i < BUFFERS; ++i) {
        s->buffer[i] = clCreateBuffer(s->context, flags[i], sizeof(float) * count, NULL, &error);
        if (error != CL_SUCCESS) return error;
    }
    s->program = clCreateProgramWithSource(s->context, 1, &source, NULL, &error);
    if (error != CL_SUCCESS) return error;
    error = clBuildProgram(s->program, 1, &device, "-w", NULL, NULL);
    if (error != CL_SUCCESS) return error;
    error = clCreateKernelsInProgram(s->program, 1, &s->kernel, NULL);
    if (error != CL_SUCCESS) return error;
    for (cl_uint i = 0; i < BUFFERS; ++i) {
        error = clSetKernelArg(s->kernel, i, sizeof s->buffer[i], &s->buffer[i]);
        if (error != CL_SUCCESS) return error;
    }
    return CL_SUCCESS;
}

/* Queues the four commands and waits for the last, which waits for the others. */
static cl_int commands(struct state *s, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = sizeof(float) * count;
    cl_int error;

    error = clEnqueueWriteBuffer(s->queue, s->buffer[B], CL_FALSE, 0, bytes, b, 0, NULL,
                                 &s->event[PUT_B]);
    if (error != CL_SUCCESS) return error;
    error = clEnqueueWriteBuffer(s->queue, s->buffer[A], CL_FALSE, 0, bytes, a, 0, NULL,
                                 &s->event[PUT_A]);
    if (error != CL_SUCCESS) return error;
    error = clEnqueueNDRangeKernel(s->queue, s->kernel, 1, NULL, &count, NULL, 2, &s->event[PUT_A],
                                   &s->event[RUN]);
    if (error != CL_SUCCESS) return error;
    error = clEnqueueReadBuffer(s->queue, s->buffer[C], CL_FALSE, 0, bytes, c, 1, &s->event[RUN],
                                &s->event[GET]);
    if (error != CL_SUCCESS) return error;
    return clWaitForEvents(1, &s->event[GET]);
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    struct state s;
    cl_int error;

    if (count < 1) return CL_SUCCESS;
    error =
        set_up(&s, device, 0, count,
               "kernel void add(global const float *a, global const float *b, global float *c)\n"
               "{ const size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n");
    if (error == CL_SUCCESS) error = commands(&s, a, b, c, count);
    return clear(&s, error);
}

static cl_int time_of(cl_event event, cl_profiling_info which, cl_ulong *time)
{
    return clGetEventProfilingInfo(event, which, sizeof *time, time, NULL);
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    struct state s;
    cl_ulong begin[EVENTS] = {0}, end[EVENTS] = {0};
    uint64_t before, after;
    cl_int error;

    error = set_up(&s, device, CL_QUEUE_PROFILING_ENABLE, count,
                   "kernel void add(global const float *a, global const float *b, global float *c, "
                   "uint rounds)\n"
                   "{ const size_t i = get_global_id(0); float s = a[i];\n"
                   "  for (uint r = 0; r < rounds; ++r) s += b[i];\n"
                   "  c[i] = s; }\n");
    if (error == CL_SUCCESS) error = clSetKernelArg(s.kernel, BUFFERS, sizeof rounds, &rounds);
    if (error != CL_SUCCESS) return clear(&s, error);

    before = now();
    error = commands(&s, a, b, sums, count);
    after = now();
    times->total = after - before;

    for (int i = 0; i < EVENTS && error == CL_SUCCESS; ++i) {
        error = time_of(s.event[i], CL_PROFILING_COMMAND_START, &begin[i]);
        if (error == CL_SUCCESS) error = time_of(s.event[i], CL_PROFILING_COMMAND_END, &end[i]);
    }
    times->written = (end[PUT_A] - begin[PUT_A]) + (end[PUT_B] - begin[PUT_B]);
    times->kernel = end[RUN] - begin[RUN];
    times->read = end[GET] - begin[GET];
    error = clear(&s, error);

    if (error == CL_SUCCESS) { /* the host's turn, when nothing of the device is left */
        before = now();
        for (size_t i = 0; i < count; ++i) {
            float s1 = a[i];
            for (cl_uint r = 0; r < rounds; ++r) s1 += b[i];
            host[i] = s1;
        }
        after = now();
        times->host = after - before;
    }
    return error;
}
