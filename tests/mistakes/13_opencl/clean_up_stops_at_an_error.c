/* mistake: the clean-up returns at the first release that fails
 * fails: OpenCL.EveryErrorIsReturnedAndNothingLeaks
 * finds: leak at "w->context = clCreateContext("
 */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>

/* Both kernels, in one program. */
static const char SOURCE[] =
    "kernel void sum(global const float *a, global const float *b, global float *c) {\n"
    "    size_t i = get_global_id(0);\n"
    "    c[i] = a[i] + b[i];\n"
    "}\n"
    "kernel void repeat(global const float *a, global const float *b, global float *c, uint k) {\n"
    "    size_t i = get_global_id(0);\n"
    "    float s = a[i];\n"
    "    while (k-- > 0) s += b[i];\n"
    "    c[i] = s;\n"
    "}\n";

/* Everything there is to release. */
struct work {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem memory[3];
    cl_event event[4];
};

static void keep(cl_int *first, cl_int error)
{
    if (*first == CL_SUCCESS) {
        *first = error;
    }
}

static cl_int start(struct work *w, cl_device_id device, cl_command_queue_properties properties,
                    const char *name, size_t bytes)
{
    const char *text = SOURCE;
    cl_int error = CL_SUCCESS;

    w->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (error) return error;
    w->queue = clCreateCommandQueue(w->context, device, properties, &error);
    if (error) return error;
    w->program = clCreateProgramWithSource(w->context, 1, &text, NULL, &error);
    if (error) return error;
    error = clBuildProgram(w->program, 1, &device, "", NULL, NULL);
    if (error) return error;
    w->kernel = clCreateKernel(w->program, name, &error);
    if (error) return error;
    for (cl_uint k = 0; k < 3; k++) {
        w->memory[k] = clCreateBuffer(w->context, k < 2 ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY,
                                      bytes, NULL, &error);
        if (error) return error;
        error = clSetKernelArg(w->kernel, k, sizeof(cl_mem), &w->memory[k]);
        if (error) return error;
    }
    return CL_SUCCESS;
}

static cl_int stop(struct work *w, cl_int error)
{
    if (error != CL_SUCCESS && w->queue) (void)clFinish(w->queue); /* the first error stays */
    for (int k = 0; k < 4; k++) {
        if (w->event[k]) keep(&error, clReleaseEvent(w->event[k]));
    }
    for (int k = 0; k < 3; k++) {
        if (w->memory[k]) {
            cl_int gone = clReleaseMemObject(w->memory[k]);

            keep(&error, gone);
            if (gone != CL_SUCCESS) return error;
        }
    }
    if (w->kernel) keep(&error, clReleaseKernel(w->kernel));
    if (w->program) keep(&error, clReleaseProgram(w->program));
    if (w->queue) keep(&error, clReleaseCommandQueue(w->queue));
    if (w->context) keep(&error, clReleaseContext(w->context));
    return error;
}

static cl_int text_of_platform(cl_platform_id platform, char *text)
{
    return clGetPlatformInfo(platform, CL_PLATFORM_NAME, OPENCL_TEXT, text, NULL);
}

static cl_int fill(struct opencl_device *d, cl_platform_id platform, cl_device_id id)
{
    cl_int error;

    d->id = id;
    if ((error = text_of_platform(platform, d->platform)) != CL_SUCCESS) return error;
#define ASK(what, member)                                                                          \
    error = clGetDeviceInfo(id, what, sizeof d->member, (void *)&d->member, NULL);                 \
    if (error != CL_SUCCESS) return error
    ASK(CL_DEVICE_NAME, name);
    ASK(CL_DEVICE_VERSION, version);
    ASK(CL_DEVICE_TYPE, type);
    ASK(CL_DEVICE_MAX_COMPUTE_UNITS, units);
    ASK(CL_DEVICE_MAX_WORK_GROUP_SIZE, group);
    ASK(CL_DEVICE_GLOBAL_MEM_SIZE, memory);
    ASK(CL_DEVICE_LOCAL_MEM_SIZE, local);
#undef ASK
    return CL_SUCCESS;
}

static cl_int of_platform(cl_platform_id platform, struct opencl_device *devices, cl_uint room,
                          cl_uint *count)
{
    cl_device_id *ids;
    cl_uint n = 0;
    cl_int error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);

    if (error == CL_DEVICE_NOT_FOUND) return CL_SUCCESS;
    if (error != CL_SUCCESS || n == 0) return error;
    ids = calloc(n, sizeof *ids);
    if (!ids) return CL_OUT_OF_HOST_MEMORY;
    error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
    for (cl_uint k = 0; error == CL_SUCCESS && k < n; k++) {
        if (*count < room) error = fill(&devices[*count], platform, ids[k]);
        ++*count;
    }
    free(ids);
    return error;
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_platform_id *platforms;
    cl_uint n = 0;
    cl_int error = clGetPlatformIDs(0, NULL, &n);

    *count = 0;
    if (error == -1001) return CL_SUCCESS;
    if (error != CL_SUCCESS || n == 0) return error;
    platforms = calloc(n, sizeof *platforms);
    if (!platforms) return CL_OUT_OF_HOST_MEMORY;
    error = clGetPlatformIDs(n, platforms, NULL);
    for (cl_uint k = 0; error == CL_SUCCESS && k < n; k++) {
        error = of_platform(platforms[k], devices, room, count);
    }
    free(platforms);
    return error;
}

static cl_int add(struct work *w, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = count * sizeof(float);
    cl_int error;

    error = clEnqueueWriteBuffer(w->queue, w->memory[0], CL_FALSE, 0, bytes, a, 0, NULL, NULL);
    if (error) return error;
    error = clEnqueueWriteBuffer(w->queue, w->memory[1], CL_FALSE, 0, bytes, b, 0, NULL, NULL);
    if (error) return error;
    error = clEnqueueNDRangeKernel(w->queue, w->kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
    if (error) return error;
    error = clEnqueueReadBuffer(w->queue, w->memory[2], CL_FALSE, 0, bytes, c, 0, NULL, NULL);
    if (error) return error;
    error = clFinish(w->queue);
    return error;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    struct work w = {0};
    cl_int error;

    if (count == 0) return CL_SUCCESS;
    error = start(&w, device, 0, "sum", count * sizeof(float));
    if (error == CL_SUCCESS) error = add(&w, a, b, c, count);
    return stop(&w, error);
}

static cl_int took(cl_event event, cl_ulong *time)
{
    cl_ulong t[2];
    cl_int error;

    error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof t[0], &t[0], NULL);
    if (error) return error;
    error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t[1], &t[1], NULL);
    if (error) return error;
    *time += t[1] - t[0];
    return CL_SUCCESS;
}

static cl_int run(struct work *w, const float *a, const float *b, size_t count, cl_uint rounds,
                  float *sums, struct opencl_times *times, uint64_t (*now)(void))
{
    const size_t bytes = count * sizeof(float);
    cl_int error;
    uint64_t from;

    error = clSetKernelArg(w->kernel, 3, sizeof rounds, &rounds);
    if (error) return error;

    from = now();
    error =
        clEnqueueWriteBuffer(w->queue, w->memory[0], CL_FALSE, 0, bytes, a, 0, NULL, &w->event[0]);
    if (error) return error;
    error =
        clEnqueueWriteBuffer(w->queue, w->memory[1], CL_FALSE, 0, bytes, b, 0, NULL, &w->event[1]);
    if (error) return error;
    error =
        clEnqueueNDRangeKernel(w->queue, w->kernel, 1, NULL, &count, NULL, 0, NULL, &w->event[2]);
    if (error) return error;
    error = clEnqueueReadBuffer(w->queue, w->memory[2], CL_FALSE, 0, bytes, sums, 0, NULL,
                                &w->event[3]);
    if (error) return error;
    error = clWaitForEvents(4, w->event);
    if (error) return error;
    times->total = now() - from;

    times->written = times->kernel = times->read = 0;
    if ((error = took(w->event[0], &times->written)) != CL_SUCCESS) return error;
    if ((error = took(w->event[1], &times->written)) != CL_SUCCESS) return error;
    if ((error = took(w->event[2], &times->kernel)) != CL_SUCCESS) return error;
    if ((error = took(w->event[3], &times->read)) != CL_SUCCESS) return error;
    return CL_SUCCESS;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    struct work w = {0};
    cl_int error;
    uint64_t from;

    from = now();
    for (size_t i = 0; i < count; i++) {
        float s = a[i];
        for (cl_uint k = 0; k < rounds; k++) s += b[i];
        host[i] = s;
    }
    times->host = now() - from;

    error = start(&w, device, CL_QUEUE_PROFILING_ENABLE, "repeat", count * sizeof(float));
    if (error == CL_SUCCESS) error = run(&w, a, b, count, rounds, sums, times, now);
    return stop(&w, error);
}
