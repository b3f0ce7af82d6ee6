/* variant: maps to write and to read; copies boxes in step 3 */
#include "lesson.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Runs the call if nothing failed yet. */
#define DO(call) (error = error != CL_SUCCESS ? error : (call))
/* Makes an object if nothing failed yet; leaves NULL otherwise. */
#define MAKE(object, call)                                                                         \
    do {                                                                                           \
        if (error == CL_SUCCESS) {                                                                 \
            (object) = (call);                                                                     \
            if (error != CL_SUCCESS) (object) = NULL;                                              \
        }                                                                                          \
    } while (0)
/* Releases, if there is what to release, also when something failed. */
#define DROP(release, object)                                                                      \
    do {                                                                                           \
        if ((object) != NULL) {                                                                    \
            cl_int dropped = release(object);                                                      \
            DO(dropped);                                                                           \
        }                                                                                          \
    } while (0)

static bool known(struct opencl_device *to, cl_platform_id platform, cl_device_id id,
                  cl_int *failed)
{
    cl_int error = CL_SUCCESS;

    *to = (struct opencl_device){.id = id};
    DO(clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof to->local, &to->local, NULL));
    DO(clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof to->memory, &to->memory, NULL));
    DO(clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof to->group, &to->group, NULL));
    DO(clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof to->units, &to->units, NULL));
    DO(clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof to->type, &to->type, NULL));
    DO(clGetDeviceInfo(id, CL_DEVICE_VERSION, OPENCL_TEXT, to->version, NULL));
    DO(clGetDeviceInfo(id, CL_DEVICE_NAME, OPENCL_TEXT, to->name, NULL));
    DO(clGetPlatformInfo(platform, CL_PLATFORM_NAME, OPENCL_TEXT, to->platform, NULL));
    *failed = error;
    return error == CL_SUCCESS;
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_platform_id *platforms = NULL;
    cl_uint capacity = 1, found = 0, seen = 0;
    cl_int error;

    *count = 0;
    /* Doubles the list until all platforms fit: no call for their number alone. */
    for (;;) {
        cl_platform_id *more = realloc(platforms, capacity * sizeof *more);

        if (more == NULL) {
            free(platforms);
            return CL_OUT_OF_HOST_MEMORY;
        }
        platforms = more;
        error = clGetPlatformIDs(capacity, platforms, &found);
        if (error != CL_SUCCESS) {
            free(platforms);
            return error == -1001 ? CL_SUCCESS : error;
        }
        if (found <= capacity) break;
        capacity *= 2;
    }
    while (found-- > 0 && error == CL_SUCCESS) {
        const cl_platform_id platform = platforms[seen++];
        cl_uint n = 0;

        error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
        if (error == CL_DEVICE_NOT_FOUND) {
            error = CL_SUCCESS;
            n = 0;
        } else if (error == CL_SUCCESS && n > 0) {
            cl_device_id *ids = malloc(n * sizeof *ids);

            error = ids == NULL ? CL_OUT_OF_HOST_MEMORY
                                : clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
            for (cl_uint i = 0; error == CL_SUCCESS && i < n && *count + i < room; i++) {
                if (!known(&devices[*count + i], platform, ids[i], &error)) break;
            }
            free(ids);
        }
        *count += n;
    }
    free(platforms);
    return error;
}

static const char *const kernels =
    "kernel void plus(global const float *a, global const float *b, global float *c, ulong n) {"
    "  if (get_global_id(0) < n)"
    "    c[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)];"
    "}"
    "kernel void plus_plus(global const float *a, global const float *b, global float *c, ulong n, "
    "uint k) {"
    "  if (get_global_id(0) >= n) return;"
    "  float v = a[get_global_id(0)];"
    "  for (; k; --k) v += b[get_global_id(0)];"
    "  c[get_global_id(0)] = v;"
    "}";

/* How many items so that whole groups cover n. */
static size_t covered(size_t n, size_t group)
{
    const size_t rest = n % group;

    return rest == 0 ? n : n + (group - rest);
}

static cl_int fill(cl_command_queue queue, cl_mem buffer, const float *from, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    void *at = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, bytes,
                                  0, NULL, NULL, &error);

    if (error != CL_SUCCESS) return error;
    memcpy(at, from, bytes);
    return clEnqueueUnmapMemObject(queue, buffer, at, 0, NULL, NULL);
}

static cl_int fetch(cl_command_queue queue, cl_mem buffer, float *to, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    void *at =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &error);

    if (error != CL_SUCCESS) return error;
    memcpy(to, at, bytes);
    DO(clEnqueueUnmapMemObject(queue, buffer, at, 0, NULL, NULL));
    DO(clFinish(queue));
    return error;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    cl_int error = CL_SUCCESS;
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem memory[3] = {NULL, NULL, NULL};
    const size_t bytes = count * sizeof *c;
    size_t group = 1;

    if (count == 0) return CL_SUCCESS;

    MAKE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &error));
    MAKE(queue, clCreateCommandQueue(context, device, 0, &error));
    for (cl_uint m = 0; m < 3; m++) {
        MAKE(memory[m], clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                                       NULL, &error));
    }
    DO(fill(queue, memory[0], a, bytes));
    DO(fill(queue, memory[1], b, bytes));
    MAKE(program, clCreateProgramWithSource(context, 1, (const char *[]){kernels}, NULL, &error));
    DO(clBuildProgram(program, 1, &device, "", NULL, NULL));
    MAKE(kernel, clCreateKernel(program, "plus", &error));
    for (cl_uint m = 0; m < 3; m++) {
        DO(clSetKernelArg(kernel, m, sizeof(cl_mem), memory + m));
    }
    DO(clSetKernelArg(kernel, 3, sizeof(cl_ulong), &(cl_ulong){count}));
    DO(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                sizeof group, &group, NULL));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[]){covered(count, group)},
                              (size_t[]){group}, 0, NULL, NULL));
    DO(fetch(queue, memory[2], c, bytes));

    DROP(clReleaseKernel, kernel);
    DROP(clReleaseProgram, program);
    for (int m = 0; m < 3; m++) {
        DROP(clReleaseMemObject, memory[m]);
    }
    DROP(clReleaseCommandQueue, queue);
    DROP(clReleaseContext, context);
    return error;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    cl_int error = CL_SUCCESS;
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem memory[3] = {NULL, NULL, NULL};
    cl_event event[4] = {NULL, NULL, NULL, NULL};
    const size_t origin[3] = {0, 0, 0};
    const size_t region[3] = {count * sizeof *a, 1, 1};
    size_t group = 1;

    const uint64_t loop = now();
    for (const float *x = a, *y = b; x < a + count; x++, y++) {
        float v = *x;

        for (cl_uint k = rounds; k > 0; k--) v += *y;
        host[x - a] = v;
    }
    const uint64_t looped = now();

    MAKE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &error));
    MAKE(queue, clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error));
    MAKE(program, clCreateProgramWithSource(context, 1, (const char *[]){kernels}, NULL, &error));
    DO(clBuildProgram(program, 1, &device, "", NULL, NULL));
    MAKE(kernel, clCreateKernel(program, "plus_plus", &error));
    for (cl_uint m = 0; m < 3; m++) {
        MAKE(memory[m], clCreateBuffer(context, CL_MEM_READ_WRITE, region[0], NULL, &error));
        DO(clSetKernelArg(kernel, m, sizeof(cl_mem), memory + m));
    }
    DO(clSetKernelArg(kernel, 3, sizeof(cl_ulong), &(cl_ulong){count}));
    DO(clSetKernelArg(kernel, 4, sizeof rounds, &rounds));
    DO(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                sizeof group, &group, NULL));

    if (error == CL_SUCCESS) {
        const size_t global = covered(count, group);
        const uint64_t began = now();
        uint64_t ended;

        DO(clEnqueueWriteBufferRect(queue, memory[0], CL_TRUE, origin, origin, region, 0, 0, 0, 0,
                                    a, 0, NULL, &event[0]));
        DO(clEnqueueWriteBufferRect(queue, memory[1], CL_TRUE, origin, origin, region, 0, 0, 0, 0,
                                    b, 0, NULL, &event[1]));
        DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &group, 0, NULL, &event[2]));
        DO(clEnqueueReadBufferRect(queue, memory[2], CL_TRUE, origin, origin, region, 0, 0, 0, 0,
                                   sums, 0, NULL, &event[3]));
        ended = now();
        *times = (struct opencl_times){.host = looped - loop, .total = ended - began};
        for (int e = 0; e < 4; e++) {
            cl_ulong *const time = e < 2 ? &times->written : e == 2 ? &times->kernel : &times->read;
            cl_ulong from = 0, to = 0;

            DO(clGetEventProfilingInfo(event[e], CL_PROFILING_COMMAND_START, sizeof from, &from,
                                       NULL));
            DO(clGetEventProfilingInfo(event[e], CL_PROFILING_COMMAND_END, sizeof to, &to, NULL));
            *time += to - from;
        }
    }

    for (int e = 0; e < 4; e++) {
        DROP(clReleaseEvent, event[e]);
    }
    for (int m = 0; m < 3; m++) {
        DROP(clReleaseMemObject, memory[m]);
    }
    DROP(clReleaseKernel, kernel);
    DROP(clReleaseProgram, program);
    DROP(clReleaseCommandQueue, queue);
    DROP(clReleaseContext, context);
    return error;
}
