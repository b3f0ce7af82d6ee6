/* mistake: the buffer of the sums is the caller's memory, and is never mapped
 * fails: OpenCL.EveryElementIsRight
 * fails: OpenCL.NothingIsUsedTooEarlyOrTooLate
 * finds: not mapped at "memory[i] ="
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

static cl_int tell(cl_platform_id p, cl_device_id d, struct opencl_device *to)
{
    cl_int e;
    memset(to, 0, sizeof *to);
    to->id = d;
    if ((e = clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof to->platform, to->platform, NULL)))
        return e;
    if ((e = clGetDeviceInfo(d, CL_DEVICE_NAME, sizeof to->name, to->name, NULL))) return e;
    if ((e = clGetDeviceInfo(d, CL_DEVICE_VERSION, sizeof to->version, to->version, NULL)))
        return e;
    if ((e = clGetDeviceInfo(d, CL_DEVICE_TYPE, sizeof to->type, &to->type, NULL))) return e;
    if ((e = clGetDeviceInfo(d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof to->units, &to->units, NULL)))
        return e;
    if ((e = clGetDeviceInfo(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof to->group, &to->group, NULL)))
        return e;
    if ((e = clGetDeviceInfo(d, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof to->memory, &to->memory, NULL)))
        return e;
    return clGetDeviceInfo(d, CL_DEVICE_LOCAL_MEM_SIZE, sizeof to->local, &to->local, NULL);
}

/* Asks twice, first how many, then which. */
cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_platform_id *platforms = NULL;
    cl_device_id *ids = NULL;
    cl_uint np = 0, nd = 0;
    *count = 0;
    cl_int e = clGetPlatformIDs(0, NULL, &np);
    if (e == -1001 || (e == CL_SUCCESS && np == 0)) return CL_SUCCESS;
    if (e != CL_SUCCESS) return e;
    platforms = malloc(np * sizeof *platforms);
    if (platforms == NULL) return CL_OUT_OF_HOST_MEMORY;
    e = clGetPlatformIDs(np, platforms, NULL);
    for (cl_uint i = 0; i < np && e == CL_SUCCESS; i++) {
        e = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &nd);
        if (e == CL_DEVICE_NOT_FOUND) {
            e = CL_SUCCESS;
            continue;
        }
        if (e != CL_SUCCESS) break;
        ids = malloc(nd * sizeof *ids);
        if (ids == NULL) e = CL_OUT_OF_HOST_MEMORY;
        if (e == CL_SUCCESS) e = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, nd, ids, NULL);
        for (cl_uint k = 0; k < nd && e == CL_SUCCESS; k++) {
            if (*count < room) e = tell(platforms[i], ids[k], &devices[*count]);
            ++*count;
        }
        free(ids);
        ids = NULL;
    }
    free(platforms);
    return e;
}

/* ---- the sum: the buffers are the caller's memory ---- */

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem memory[3] = {NULL, NULL, NULL};
    void *hosts[3] = {(void *)a, (void *)b, c};
    const size_t bytes = count * sizeof(float);
    cl_int e;
    if (count == 0) return CL_SUCCESS;

    context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    if (e) goto end;
    queue = clCreateCommandQueue(context, device, 0, &e);
    if (e) goto end;
    program = clCreateProgramWithSource(context, 1, (const char **)&text_of_the_kernels, NULL, &e);
    if (e) goto end;
    if ((e = clBuildProgram(program, 0, NULL, NULL, NULL, NULL))) goto end;
    kernel = clCreateKernel(program, "add", &e);
    if (e) goto end;
    for (cl_uint i = 0; i < 3; i++) {
        memory[i] = clCreateBuffer(
            context, CL_MEM_USE_HOST_PTR | (i < 2 ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY), bytes,
            hosts[i], &e);
        if (e) goto end;
        if ((e = clSetKernelArg(kernel, i, sizeof memory[i], &memory[i]))) goto end;
    }
    if ((e = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL))) goto end;
end:
    if (queue) note(&e, clFinish(queue));
    for (int i = 0; i < 3; i++)
        if (memory[i]) note(&e, clReleaseMemObject(memory[i]));
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
    if ((e = clEnqueueReadBuffer(queue, m[2], CL_FALSE, 0, bytes, sums, 0, NULL, &events[3])))
        goto end;
    if ((e = clWaitForEvents(4, events))) goto end;
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
