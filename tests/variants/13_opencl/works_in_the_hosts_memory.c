/* variant: buffers of the host's own memory, mapped; few work-items that stride in step 3 */
#include "lesson.h"

#include <stdlib.h>

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

#define OR_OUT(e)                                                                                  \
    if ((e) != CL_SUCCESS) goto out
#define GONE(e, release, o)                                                                        \
    if ((o) != NULL) {                                                                             \
        cl_int gone_ = release(o);                                                                 \
        if ((e) == CL_SUCCESS) (e) = gone_;                                                        \
    } else                                                                                         \
        (void)0

/* Context, program and kernel: three of the objects, in `o`; queue beside. */
struct base {
    cl_context context;
    cl_program program;
    cl_kernel kernel;
    cl_command_queue queue;
};

static cl_int base_init(struct base *o, cl_device_id device, const char *text, const char *name,
                        cl_command_queue_properties p)
{
    cl_int e;

    *o = (struct base){NULL, NULL, NULL, NULL};
    o->context = clCreateContext((const cl_context_properties[]){0}, 1, &device, NULL, NULL, &e);
    OR_OUT(e);
    o->program = clCreateProgramWithSource(o->context, 1, &text, NULL, &e);
    OR_OUT(e);
    e = clBuildProgram(o->program, 0, NULL, "", NULL, NULL);
    OR_OUT(e);
    o->kernel = clCreateKernel(o->program, name, &e);
    OR_OUT(e);
    o->queue = clCreateCommandQueue(o->context, device, p, &e);
    OR_OUT(e);
out:
    return e;
}

static cl_int base_fini(struct base *o, cl_int e)
{
    GONE(e, clReleaseCommandQueue, o->queue);
    GONE(e, clReleaseKernel, o->kernel);
    GONE(e, clReleaseProgram, o->program);
    GONE(e, clReleaseContext, o->context);
    return e;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    struct base o;
    cl_mem x = NULL, y = NULL, z = NULL;
    void *mapped;
    cl_int e;

    if (count == 0) return CL_SUCCESS;
    e = base_init(&o, device,
                  "kernel void f(global float *x, global float *y, global float *z)"
                  "{ int i = 0; z[get_global_id(i)] = x[get_global_id(i)] + y[get_global_id(i)]; }",
                  "f", 0);
    OR_OUT(e);
    x = clCreateBuffer(o.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(float) * count,
                       (void *)a, &e);
    OR_OUT(e);
    y = clCreateBuffer(o.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(float) * count,
                       (void *)b, &e);
    OR_OUT(e);
    z = clCreateBuffer(o.context, CL_MEM_WRITE_ONLY | CL_MEM_USE_HOST_PTR, sizeof(float) * count, c,
                       &e);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 0, sizeof x, &x);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 1, sizeof y, &y);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 2, sizeof z, &z);
    OR_OUT(e);
    e = clEnqueueNDRangeKernel(o.queue, o.kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
    OR_OUT(e);
    /* Mapped, the caller's array holds what the device has. */
    mapped = clEnqueueMapBuffer(o.queue, z, CL_TRUE, CL_MAP_READ, 0, sizeof(float) * count, 0, NULL,
                                NULL, &e);
    OR_OUT(e);
    e = clEnqueueUnmapMemObject(o.queue, z, mapped, 0, NULL, NULL);
    OR_OUT(e);
    e = clFinish(o.queue);
out:
    if (e != CL_SUCCESS && o.queue != NULL) clFinish(o.queue);
    GONE(e, clReleaseMemObject, x);
    GONE(e, clReleaseMemObject, y);
    GONE(e, clReleaseMemObject, z);
    return base_fini(&o, e);
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    static const char text[] =
        "kernel void g(global const float *a, global const float *b, global float *s, ulong n, "
        "uint rounds)\n"
        "{\n"
        "    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {\n"
        "        float v = a[i];\n"
        "        for (uint r = rounds; r > 0; r--) v += b[i];\n"
        "        s[i] = v;\n"
        "    }\n"
        "}\n";
    struct base o;
    cl_mem x = NULL, y = NULL, z = NULL;
    cl_event ev[4] = {NULL, NULL, NULL, NULL};
    const cl_ulong n = count;
    const size_t bytes = sizeof(float) * count;
    cl_uint units = 1;
    size_t items;
    uint64_t t0, t1, t2, t3;
    cl_ulong v[8];
    cl_int e;

    e = base_init(&o, device, text, "g", CL_QUEUE_PROFILING_ENABLE);
    OR_OUT(e);
    e = clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    OR_OUT(e);
    items = (size_t)units * 64;
    x = clCreateBuffer(o.context, CL_MEM_READ_ONLY, bytes, NULL, &e);
    OR_OUT(e);
    y = clCreateBuffer(o.context, CL_MEM_READ_ONLY, bytes, NULL, &e);
    OR_OUT(e);
    z = clCreateBuffer(o.context, CL_MEM_WRITE_ONLY, bytes, NULL, &e);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 0, sizeof x, &x);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 1, sizeof y, &y);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 2, sizeof z, &z);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 3, sizeof n, &n);
    OR_OUT(e);
    e = clSetKernelArg(o.kernel, 4, sizeof rounds, &rounds);
    OR_OUT(e);

    t0 = now();
    e = clEnqueueWriteBuffer(o.queue, x, CL_FALSE, 0, bytes, a, 0, NULL, ev + 0);
    OR_OUT(e);
    e = clEnqueueWriteBuffer(o.queue, y, CL_FALSE, 0, bytes, b, 0, NULL, ev + 1);
    OR_OUT(e);
    e = clEnqueueNDRangeKernel(o.queue, o.kernel, 1, NULL, &items, NULL, 0, NULL, ev + 2);
    OR_OUT(e);
    e = clEnqueueReadBuffer(o.queue, z, CL_FALSE, 0, bytes, sums, 0, NULL, ev + 3);
    OR_OUT(e);
    e = clFlush(o.queue);
    OR_OUT(e);
    e = clWaitForEvents(4, ev);
    OR_OUT(e);
    t1 = now();

    t2 = now();
    for (size_t i = 0; i < count; ++i) host[i] = a[i];
    for (cl_uint r = 0; r < rounds; ++r)
        for (size_t i = 0; i < count; ++i) host[i] += b[i];
    t3 = now();

    for (int k = 0; k < 8; ++k) {
        e = clGetEventProfilingInfo(ev[k / 2],
                                    k % 2 ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START,
                                    sizeof v[k], v + k, NULL);
        OR_OUT(e);
    }
    times->host = t3 - t2;
    times->total = t1 - t0;
    times->written = v[1] - v[0] + (v[3] - v[2]);
    times->kernel = v[5] - v[4];
    times->read = v[7] - v[6];
out:
    if (e != CL_SUCCESS && o.queue != NULL) clFinish(o.queue);
    for (int k = 0; k < 4; ++k) {
        GONE(e, clReleaseEvent, ev[k]);
    }
    GONE(e, clReleaseMemObject, x);
    GONE(e, clReleaseMemObject, y);
    GONE(e, clReleaseMemObject, z);
    return base_fini(&o, e);
}
