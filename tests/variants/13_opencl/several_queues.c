/* variant: three queues ordered by events; sub-buffers of one buffer in step 3 */
#include "lesson.h"

#include <stdlib.h>

/* The devices of platforms[0], and then, by itself, those of the ones behind it. */
static cl_int walk(const cl_platform_id *platforms, cl_uint left, struct opencl_device *out,
                   cl_uint room, cl_uint *count)
{
    cl_device_id *ids;
    cl_uint n = 0, i;
    cl_int rc;

    if (left == 0) return CL_SUCCESS;
    rc = clGetDeviceIDs(*platforms, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
    if (rc == CL_DEVICE_NOT_FOUND || (rc == CL_SUCCESS && n == 0))
        return walk(platforms + 1, left - 1, out, room, count);
    if (rc != CL_SUCCESS) return rc;
    if ((ids = malloc(n * sizeof *ids)) == NULL) return CL_OUT_OF_HOST_MEMORY;
    rc = clGetDeviceIDs(*platforms, CL_DEVICE_TYPE_ALL, n, ids, NULL);
    for (i = 0; rc == CL_SUCCESS && i < n; i++, ++*count) {
        struct opencl_device d = {.id = ids[i]};
        const struct {
            cl_device_info info;
            size_t size;
            void *at;
        } asked[] = {
            {CL_DEVICE_NAME, OPENCL_TEXT, d.name},
            {CL_DEVICE_VERSION, OPENCL_TEXT, d.version},
            {CL_DEVICE_TYPE, sizeof d.type, &d.type},
            {CL_DEVICE_MAX_COMPUTE_UNITS, sizeof d.units, &d.units},
            {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof d.group, &d.group},
            {CL_DEVICE_GLOBAL_MEM_SIZE, sizeof d.memory, &d.memory},
            {CL_DEVICE_LOCAL_MEM_SIZE, sizeof d.local, &d.local},
        };

        if (*count >= room) continue;
        rc = clGetPlatformInfo(*platforms, CL_PLATFORM_NAME, OPENCL_TEXT, d.platform, NULL);
        for (size_t k = 0; rc == CL_SUCCESS && k < sizeof asked / sizeof asked[0]; k++)
            rc = clGetDeviceInfo(ids[i], asked[k].info, asked[k].size, asked[k].at, NULL);
        if (rc == CL_SUCCESS) out[*count] = d;
    }
    free(ids);
    return rc == CL_SUCCESS ? walk(platforms + 1, left - 1, out, room, count) : rc;
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_platform_id *platforms;
    cl_uint n = 0;
    cl_int rc = clGetPlatformIDs(0, NULL, &n);

    *count = 0;
    if (rc == -1001 || (rc == CL_SUCCESS && n == 0)) return CL_SUCCESS;
    if (rc != CL_SUCCESS) return rc;
    if ((platforms = malloc(n * sizeof *platforms)) == NULL) return CL_OUT_OF_HOST_MEMORY;
    rc = clGetPlatformIDs(n, platforms, NULL);
    if (rc == CL_SUCCESS) rc = walk(platforms, n, devices, room, count);
    free(platforms);
    return rc;
}

static void also(cl_int *rc, cl_int more)
{
    if (*rc == CL_SUCCESS) *rc = more;
}

static cl_int compile(cl_context context, cl_device_id device, const char *source, const char *name,
                      cl_program *program, cl_kernel *kernel)
{
    cl_int rc = CL_SUCCESS;

    *program = clCreateProgramWithSource(context, 1, &source, NULL, &rc);
    if (rc == CL_SUCCESS) rc = clBuildProgram(*program, 1, &device, NULL, NULL, NULL);
    if (rc == CL_SUCCESS) *kernel = clCreateKernel(*program, name, &rc);
    return rc;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    const float *from[2] = {a, b};
    const size_t bytes = count * sizeof(float);
    cl_context context = NULL;
    cl_command_queue queue[3] = {NULL, NULL, NULL};
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem memory[3] = {NULL, NULL, NULL};
    cl_event event[3] = {NULL, NULL, NULL};
    cl_int rc = CL_SUCCESS;

    if (count == 0) return rc;

    context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    if (rc == CL_SUCCESS)
        rc = compile(
            context, device,
            "__kernel void add(__global const float *a, __global const float *b, __global float *c)"
            "{ c[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)]; }",
            "add", &program, &kernel);
    for (cl_uint k = 0; rc == CL_SUCCESS && k < 3; k++) {
        queue[k] = clCreateCommandQueue(context, device, 0, &rc);
        if (rc == CL_SUCCESS)
            memory[k] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
        if (rc == CL_SUCCESS) rc = clSetKernelArg(kernel, k, sizeof memory[k], &memory[k]);
    }
    /* A queue for each copy, ... */
    for (cl_uint k = 0; rc == CL_SUCCESS && k < 2; k++) {
        rc = clEnqueueWriteBuffer(queue[k], memory[k], CL_FALSE, 0, bytes, from[k], 0, NULL,
                                  &event[k]);
        if (rc == CL_SUCCESS) rc = clFlush(queue[k]);
    }
    /* ... the kernel in a third, and the sums come back through the first. */
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(queue[2], kernel, 1, NULL, &count, NULL, 2, event, &event[2]);
    if (rc == CL_SUCCESS) rc = clFlush(queue[2]);
    if (rc == CL_SUCCESS)
        rc = clEnqueueReadBuffer(queue[0], memory[2], CL_TRUE, 0, bytes, c, 1, &event[2], NULL);

    for (int k = 0; rc != CL_SUCCESS && k < 3; k++) {
        if (queue[k]) clFinish(queue[k]);
    }
    for (int k = 0; k < 3; k++) {
        if (event[k]) also(&rc, clReleaseEvent(event[k]));
        if (memory[k]) also(&rc, clReleaseMemObject(memory[k]));
        if (queue[k]) also(&rc, clReleaseCommandQueue(queue[k]));
    }
    if (kernel) also(&rc, clReleaseKernel(kernel));
    if (program) also(&rc, clReleaseProgram(program));
    if (context) also(&rc, clReleaseContext(context));
    return rc;
}

/* Three parts of one buffer. */
static cl_int cut(cl_context context, cl_device_id device, size_t bytes, cl_mem *whole,
                  cl_mem part[3])
{
    cl_uint bits = 0;
    size_t step;
    cl_int rc = clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);

    if (rc != CL_SUCCESS) return rc;
    step = bits / 8 > 0 ? bits / 8 : 1;
    step = (bytes + step - 1) / step * step;
    *whole = clCreateBuffer(context, CL_MEM_READ_WRITE, 3 * step, NULL, &rc);
    for (int k = 0; rc == CL_SUCCESS && k < 3; k++) {
        const cl_buffer_region region = {(size_t)k * step, bytes};

        part[k] = clCreateSubBuffer(*whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                    &region, &rc);
    }
    return rc;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    const size_t bytes = count * sizeof(float);
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem whole = NULL;
    cl_mem part[3] = {NULL, NULL, NULL};
    cl_event event[4] = {NULL, NULL, NULL, NULL};
    uint64_t clock;
    cl_int rc = CL_SUCCESS;

    clock = now();
    for (size_t i = 0; i < count; i++) {
        float value = a[i];
        cl_uint left = rounds;

        while (left-- != 0) value += b[i];
        host[i] = value;
    }
    times->host = now() - clock;

    context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    if (rc == CL_SUCCESS)
        queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &rc);
    if (rc == CL_SUCCESS)
        rc = compile(context, device,
                     "__kernel void often(__global const float *a, __global const float *b, "
                     "__global float *c,"
                     "                    uint rounds)"
                     "{ size_t i = get_global_id(0); float v = a[i]; while (rounds-- != 0) v += "
                     "b[i]; c[i] = v; }",
                     "often", &program, &kernel);
    if (rc == CL_SUCCESS) rc = cut(context, device, bytes, &whole, part);
    for (cl_uint k = 0; rc == CL_SUCCESS && k < 3; k++)
        rc = clSetKernelArg(kernel, k, sizeof part[k], &part[k]);
    if (rc == CL_SUCCESS) rc = clSetKernelArg(kernel, 3, sizeof rounds, &rounds);

    if (rc == CL_SUCCESS) {
        clock = now();
        rc = clEnqueueWriteBuffer(queue, part[0], CL_FALSE, 0, bytes, a, 0, NULL, &event[0]);
        if (rc == CL_SUCCESS)
            rc = clEnqueueWriteBuffer(queue, part[1], CL_FALSE, 0, bytes, b, 0, NULL, &event[1]);
        if (rc == CL_SUCCESS)
            rc = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, &event[2]);
        if (rc == CL_SUCCESS)
            rc = clEnqueueReadBuffer(queue, part[2], CL_FALSE, 0, bytes, sums, 0, NULL, &event[3]);
        if (rc == CL_SUCCESS) rc = clFinish(queue);
        times->total = now() - clock;
    }
    times->written = times->kernel = times->read = 0;
    for (int k = 0; rc == CL_SUCCESS && k < 4; k++) {
        cl_ulong *const to[4] = {&times->written, &times->written, &times->kernel, &times->read};
        cl_ulong start, end;

        rc = clGetEventProfilingInfo(event[k], CL_PROFILING_COMMAND_START, sizeof start, &start,
                                     NULL);
        if (rc == CL_SUCCESS)
            rc =
                clGetEventProfilingInfo(event[k], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        if (rc == CL_SUCCESS) *to[k] += end - start;
    }

    if (rc != CL_SUCCESS && queue) clFinish(queue);
    for (int k = 0; k < 4; k++) {
        if (event[k]) also(&rc, clReleaseEvent(event[k]));
    }
    /* The parts hold the whole. */
    if (whole) also(&rc, clReleaseMemObject(whole));
    for (int k = 0; k < 3; k++) {
        if (part[k]) also(&rc, clReleaseMemObject(part[k]));
    }
    if (kernel) also(&rc, clReleaseKernel(kernel));
    if (program) also(&rc, clReleaseProgram(program));
    if (queue) also(&rc, clReleaseCommandQueue(queue));
    if (context) also(&rc, clReleaseContext(context));
    return rc;
}
