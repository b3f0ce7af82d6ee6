/* mistake: in an out-of-order queue the kernel does not wait for the copies
 * fails: OpenCL.NothingIsUsedTooEarlyOrTooLate
 * finds: commands in no order at "0, NULL, &computed"
 */
#include "lesson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels ---- */

static const char *const text_of_the_kernels =
    "__kernel void add(__global const float *a, __global const float *b, __global float *c)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    c[i] = a[i] + b[i];\n"
    "}\n"
    "__kernel void repeat(__global const float *a, __global const float *b, __global float *c,\n"
    "                     uint rounds)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    float sum = a[i], b_i = b[i];\n"
    "    while (rounds-- > 0) sum = sum + b_i;\n"
    "    c[i] = sum;\n"
    "}\n";

/* The first error counts. */
static void note(cl_int *first, cl_int e)
{
    if (*first == CL_SUCCESS) *first = e;
}

/* ---- devices ---- */

/* A text of any length, cut to the room. */
static cl_int text(cl_device_id d, cl_device_info what, char to[OPENCL_TEXT])
{
    size_t size = 0;
    cl_int e = clGetDeviceInfo(d, what, 0, NULL, &size);
    if (e != CL_SUCCESS) return e;
    char *all = calloc(size + 1, 1);
    if (all == NULL) return CL_OUT_OF_HOST_MEMORY;
    e = clGetDeviceInfo(d, what, size, all, NULL);
    snprintf(to, OPENCL_TEXT, "%s", all);
    free(all);
    return e;
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_platform_id platforms[32];
    cl_device_id ids[128];
    cl_uint np = 0, seen = 0;
    cl_int e = clGetPlatformIDs(32, platforms, &np);
    if (e == -1001) e = CL_SUCCESS, np = 0;
    for (cl_uint p = 0; e == CL_SUCCESS && p < np; p++) {
        cl_uint n = 0;
        e = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 128, ids, &n);
        if (e == CL_DEVICE_NOT_FOUND) e = CL_SUCCESS, n = 0;
        for (cl_uint k = 0; e == CL_SUCCESS && k < n; k++, seen++) {
            if (seen >= room) continue;
            struct opencl_device *d = devices + seen;
            d->id = ids[k];
            e = clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, OPENCL_TEXT, d->platform, NULL);
            if (!e) e = text(ids[k], CL_DEVICE_NAME, d->name);
            if (!e) e = text(ids[k], CL_DEVICE_VERSION, d->version);
#define ONE(what, field)                                                                           \
    if (!e) e = clGetDeviceInfo(ids[k], CL_DEVICE_##what, sizeof d->field, &d->field, NULL)
            ONE(TYPE, type);
            ONE(MAX_COMPUTE_UNITS, units);
            ONE(MAX_WORK_GROUP_SIZE, group);
            ONE(GLOBAL_MEM_SIZE, memory);
            ONE(LOCAL_MEM_SIZE, local);
#undef ONE
        }
    }
    *count = seen;
    return e;
}

/* ---- the sum: a queue out of order, and events that say what waits for what ---- */

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem in[2] = {NULL, NULL}, out = NULL;
    cl_event copied[2] = {NULL, NULL}, computed = NULL, arrived = NULL;
    const float *from[2] = {a, b};
    const size_t bytes = count * sizeof(float);
    cl_int e;
    if (count == 0) return CL_SUCCESS;

    context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    if (e) goto end;
    queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &e);
    if (e == CL_INVALID_QUEUE_PROPERTIES) queue = clCreateCommandQueue(context, device, 0, &e);
    if (e) goto end;
    program = clCreateProgramWithSource(context, 1, (const char **)&text_of_the_kernels, NULL, &e);
    if (e) goto end;
    if ((e = clBuildProgram(program, 1, &device, NULL, NULL, NULL))) goto end;
    kernel = clCreateKernel(program, "add", &e);
    if (e) goto end;
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &e);
    if (e) goto end;
    for (cl_uint i = 0; i < 2; i++) {
        in[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &e);
        if (e) goto end;
        if ((e = clSetKernelArg(kernel, i, sizeof in[i], &in[i]))) goto end;
        e = clEnqueueWriteBuffer(queue, in[i], CL_FALSE, 0, bytes, from[i], 0, NULL, &copied[i]);
        if (e) goto end;
    }
    if ((e = clSetKernelArg(kernel, 2, sizeof out, &out))) goto end;
    if ((e = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, &computed)))
        goto end;
    if ((e = clEnqueueReadBuffer(queue, out, CL_FALSE, 0, bytes, c, 1, &computed, &arrived)))
        goto end;
    e = clWaitForEvents(1, &arrived);
end:
    if (queue) note(&e, clFinish(queue));
    for (int i = 0; i < 2; i++)
        if (copied[i]) note(&e, clReleaseEvent(copied[i]));
    if (computed) note(&e, clReleaseEvent(computed));
    if (arrived) note(&e, clReleaseEvent(arrived));
    for (int i = 0; i < 2; i++)
        if (in[i]) note(&e, clReleaseMemObject(in[i]));
    if (out) note(&e, clReleaseMemObject(out));
    if (kernel) note(&e, clReleaseKernel(kernel));
    if (program) note(&e, clReleaseProgram(program));
    if (queue) note(&e, clReleaseCommandQueue(queue));
    if (context) note(&e, clReleaseContext(context));
    return e;
}

/* ---- host against device ---- */

static cl_int took(cl_event event, cl_ulong *sum)
{
    cl_ulong from = 0, to = 0;
    cl_int e = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL);
    if (!e) e = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL);
    if (!e) *sum += to - from;
    return e;
}

static void by_hand(const float *a, const float *b, size_t count, cl_uint rounds, float *host)
{
    for (size_t i = 0; i < count; i++) {
        float sum = a[i];
        for (cl_uint r = rounds; r != 0; r--) sum = sum + b[i];
        host[i] = sum;
    }
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem m[3] = {NULL, NULL, NULL};
    cl_event events[4] = {NULL, NULL, NULL, NULL};
    const size_t bytes = count * sizeof(float);
    uint64_t t0, t1;
    cl_int e;

    *times = (struct opencl_times){0, 0, 0, 0, 0};
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    if (e) goto end;
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &e);
    if (e) goto end;
    program = clCreateProgramWithSource(context, 1, (const char **)&text_of_the_kernels, NULL, &e);
    if (e) goto end;
    if ((e = clBuildProgram(program, 1, &device, NULL, NULL, NULL))) goto end;
    kernel = clCreateKernel(program, "repeat", &e);
    if (e) goto end;
    for (cl_uint i = 0; i < 3; i++) {
        m[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &e);
        if (e) goto end;
        if ((e = clSetKernelArg(kernel, i, sizeof(cl_mem), m + i))) goto end;
    }
    if ((e = clSetKernelArg(kernel, 3, sizeof(cl_uint), &rounds))) goto end;

    t0 = now();
    by_hand(a, b, count, rounds, host);
    t1 = now();
    times->host = t1 - t0;

    t0 = now();
    if ((e = clEnqueueWriteBuffer(queue, m[0], CL_FALSE, 0, bytes, a, 0, NULL, &events[0])))
        goto end;
    if ((e = clEnqueueWriteBuffer(queue, m[1], CL_FALSE, 0, bytes, b, 0, NULL, &events[1])))
        goto end;
    if ((e = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, &events[2])))
        goto end;
    if ((e = clEnqueueReadBuffer(queue, m[2], CL_TRUE, 0, bytes, sums, 0, NULL, &events[3])))
        goto end;
    t1 = now();
    times->total = t1 - t0;

    if ((e = took(events[0], &times->written))) goto end;
    if ((e = took(events[1], &times->written))) goto end;
    if ((e = took(events[2], &times->kernel))) goto end;
    if ((e = took(events[3], &times->read))) goto end;
end:
    if (queue) note(&e, clFinish(queue));
    for (int i = 0; i < 4; i++)
        if (events[i]) note(&e, clReleaseEvent(events[i]));
    for (int i = 0; i < 3; i++)
        if (m[i]) note(&e, clReleaseMemObject(m[i]));
    if (kernel) note(&e, clReleaseKernel(kernel));
    if (program) note(&e, clReleaseProgram(program));
    if (queue) note(&e, clReleaseCommandQueue(queue));
    if (context) note(&e, clReleaseContext(context));
    return e;
}
