/* mistake: copies from a mapping that it has released
 * fails: OpenCL.EveryElementIsRight
 * finds: nothing, OpenCL may do what it likes with memory that is not mapped any more
 */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>

#define NO_PLATFORM (-1001)

static const char *const ADD =
    "__kernel void add(__global const float *a, __global const float *b, __global float *c,\n"
    "                  const ulong n)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    if (i < n) {\n"
    "        c[i] = a[i] + b[i];\n"
    "    }\n"
    "}\n";

static const char *const ROUNDS =
    "__kernel void add_rounds(__global const float *a, __global const float *b,\n"
    "                         __global float *sums, const ulong n, const uint rounds)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    if (i < n) {\n"
    "        float sum = a[i];\n"
    "        for (uint r = 0; r < rounds; ++r) {\n"
    "            sum += b[i];\n"
    "        }\n"
    "        sums[i] = sum;\n"
    "    }\n"
    "}\n";

#define CHECK(call)                                                                                \
    do {                                                                                           \
        err = (call);                                                                              \
        if (err != CL_SUCCESS) {                                                                   \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

/* Releases, and keeps the first error. */
#define RELEASE(object, release)                                                                   \
    do {                                                                                           \
        if (object) {                                                                              \
            const cl_int gone = release(object);                                                   \
            if (err == CL_SUCCESS) {                                                               \
                err = gone;                                                                        \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static cl_int describe(cl_platform_id platform, cl_device_id id, struct opencl_device *d)
{
    cl_int err;

    memset(d, 0, sizeof *d);
    d->id = id;
    CHECK(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof d->platform, d->platform, NULL));
    CHECK(clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof d->name, d->name, NULL));
    CHECK(clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof d->version, d->version, NULL));
    CHECK(clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof d->type, &d->type, NULL));
    CHECK(clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof d->units, &d->units, NULL));
    CHECK(clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof d->group, &d->group, NULL));
    CHECK(clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof d->memory, &d->memory, NULL));
    CHECK(clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof d->local, &d->local, NULL));
done:
    return err;
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_platform_id *platforms = NULL;
    cl_device_id *ids = NULL;
    cl_uint platform_count = 0;
    cl_uint total = 0;
    cl_int err;

    *count = 0;
    err = clGetPlatformIDs(0, NULL, &platform_count);
    if (err == NO_PLATFORM || (err == CL_SUCCESS && platform_count == 0)) {
        return CL_SUCCESS;
    }
    if (err != CL_SUCCESS) {
        return err;
    }
    platforms = malloc(platform_count * sizeof *platforms);
    if (platforms == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    CHECK(clGetPlatformIDs(platform_count, platforms, NULL));

    for (cl_uint p = 0; p < platform_count; ++p) {
        cl_uint here = 0;

        err = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, NULL, &here);
        if (err == CL_DEVICE_NOT_FOUND) {
            err = CL_SUCCESS;
            continue;
        }
        if (err != CL_SUCCESS) {
            goto done;
        }
        if (here == 0) {
            continue;
        }
        free(ids);
        ids = malloc(here * sizeof *ids);
        if (ids == NULL) {
            err = CL_OUT_OF_HOST_MEMORY;
            goto done;
        }
        CHECK(clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, here, ids, NULL));
        for (cl_uint i = 0; i < here; ++i) {
            if (total < room) {
                CHECK(describe(platforms[p], ids[i], &devices[total]));
            }
            ++total;
        }
    }
    *count = total;

done:
    free(ids);
    free(platforms);
    return err;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = count * sizeof *a;
    const cl_ulong n = count;
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem device_a = NULL;
    cl_mem device_b = NULL;
    cl_mem device_c = NULL;
    float *mapped;
    size_t group = 0;
    size_t global;
    cl_int err;

    if (count == 0) {
        return CL_SUCCESS;
    }

    context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    queue = clCreateCommandQueue(context, device, 0, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    program = clCreateProgramWithSource(context, 1, (const char **)&ADD, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    CHECK(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    kernel = clCreateKernel(program, "add", &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    device_a = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    device_b = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    device_c = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }

    CHECK(clEnqueueWriteBuffer(queue, device_a, CL_TRUE, 0, bytes, a, 0, NULL, NULL));
    CHECK(clEnqueueWriteBuffer(queue, device_b, CL_TRUE, 0, bytes, b, 0, NULL, NULL));

    CHECK(clSetKernelArg(kernel, 0, sizeof device_a, &device_a));
    CHECK(clSetKernelArg(kernel, 1, sizeof device_b, &device_b));
    CHECK(clSetKernelArg(kernel, 2, sizeof device_c, &device_c));
    CHECK(clSetKernelArg(kernel, 3, sizeof n, &n));

    CHECK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group,
                                   NULL));
    if (group > 64) {
        group = 64;
    }
    global = (count + group - 1) / group * group;
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &group, 0, NULL, NULL));
    mapped =
        clEnqueueMapBuffer(queue, device_c, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    CHECK(clEnqueueUnmapMemObject(queue, device_c, mapped, 0, NULL, NULL));
    CHECK(clFinish(queue));
    memcpy(c, mapped, bytes);

done:
    RELEASE(device_c, clReleaseMemObject);
    RELEASE(device_b, clReleaseMemObject);
    RELEASE(device_a, clReleaseMemObject);
    RELEASE(kernel, clReleaseKernel);
    RELEASE(program, clReleaseProgram);
    RELEASE(queue, clReleaseCommandQueue);
    RELEASE(context, clReleaseContext);
    return err;
}

/* From the start of a command to its end. */
static cl_int duration(cl_event event, cl_ulong *nanoseconds)
{
    cl_ulong start = 0;
    cl_ulong end = 0;
    cl_int err;

    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    *nanoseconds = end - start;
done:
    return err;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    const size_t bytes = count * sizeof *a;
    const cl_ulong n = count;
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem device_a = NULL;
    cl_mem device_b = NULL;
    cl_mem device_sums = NULL;
    cl_event wrote_a = NULL;
    cl_event wrote_b = NULL;
    cl_event ran = NULL;
    cl_event read = NULL;
    cl_ulong first = 0;
    cl_ulong second = 0;
    size_t group = 0;
    size_t global;
    uint64_t begin;
    uint64_t end;
    cl_int err;

    context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    program = clCreateProgramWithSource(context, 1, (const char **)&ROUNDS, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    CHECK(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    kernel = clCreateKernel(program, "add_rounds", &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    device_a = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    device_b = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    device_sums = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, &err);
    if (err != CL_SUCCESS) {
        goto done;
    }
    CHECK(clSetKernelArg(kernel, 0, sizeof device_a, &device_a));
    CHECK(clSetKernelArg(kernel, 1, sizeof device_b, &device_b));
    CHECK(clSetKernelArg(kernel, 2, sizeof device_sums, &device_sums));
    CHECK(clSetKernelArg(kernel, 3, sizeof n, &n));
    CHECK(clSetKernelArg(kernel, 4, sizeof rounds, &rounds));
    CHECK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group,
                                   NULL));
    if (group > 64) {
        group = 64;
    }
    global = (count + group - 1) / group * group;

    begin = now();
    for (size_t i = 0; i < count; ++i) {
        float sum = a[i];
        for (cl_uint r = 0; r < rounds; ++r) {
            sum += b[i];
        }
        host[i] = sum;
    }
    end = now();
    times->host = end - begin;

    begin = now();
    CHECK(clEnqueueWriteBuffer(queue, device_a, CL_FALSE, 0, bytes, a, 0, NULL, &wrote_a));
    CHECK(clEnqueueWriteBuffer(queue, device_b, CL_FALSE, 0, bytes, b, 0, NULL, &wrote_b));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &group, 0, NULL, &ran));
    CHECK(clEnqueueReadBuffer(queue, device_sums, CL_TRUE, 0, bytes, sums, 0, NULL, &read));
    end = now();
    times->total = end - begin;

    CHECK(duration(wrote_a, &first));
    CHECK(duration(wrote_b, &second));
    times->written = first + second;
    CHECK(duration(ran, &times->kernel));
    CHECK(duration(read, &times->read));

done:
    if (err != CL_SUCCESS && queue != NULL) {
        (void)clFinish(queue); /* the copies use the caller's arrays; the first error stays */
    }
    RELEASE(read, clReleaseEvent);
    RELEASE(ran, clReleaseEvent);
    RELEASE(wrote_b, clReleaseEvent);
    RELEASE(wrote_a, clReleaseEvent);
    RELEASE(device_sums, clReleaseMemObject);
    RELEASE(device_b, clReleaseMemObject);
    RELEASE(device_a, clReleaseMemObject);
    RELEASE(kernel, clReleaseKernel);
    RELEASE(program, clReleaseProgram);
    RELEASE(queue, clReleaseCommandQueue);
    RELEASE(context, clReleaseContext);
    return err;
}
