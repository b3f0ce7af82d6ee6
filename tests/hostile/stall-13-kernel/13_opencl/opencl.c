#define _GNU_SOURCE
#include "lesson.h"

static const char *endless =
    "__kernel void sum(__global const float *a, __global const float *b, __global float *c,"
    " ulong count) { __global volatile float *p = c; for (;;) p[0] += a[0]; }";
#define clCreateProgramWithSource(context, count, strings, lengths, error)                          \
    clCreateProgramWithSource(context, count, &endless, lengths, error)

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
    return honest_sum(device, a, b, c, count);
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    return honest_compare(device, a, b, count, rounds, host, sums, times, now);
}
