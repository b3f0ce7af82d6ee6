/* variant: an out-of-order queue with barriers and markers; a program from a binary */
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

static const char *const text = "kernel void add(global const float *a, global const float *b, "
                                "global float *c, uint rounds) {\n"
                                "    size_t i = get_global_id(0);\n"
                                "    float s = a[i];\n"
                                "    for (uint r = 0; r < rounds; r++) s += b[i];\n"
                                "    c[i] = s;\n"
                                "}\n";

/* From source to source's binary, and a second program from that. */
static cl_int from_binary(cl_context context, cl_device_id device, cl_program source,
                          cl_program *program)
{
    size_t size = 0;
    unsigned char *code;
    const unsigned char *codes[1];
    cl_int status = CL_SUCCESS, rc;

    rc = clGetProgramInfo(source, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    if (rc != CL_SUCCESS) return rc;
    code = malloc(size + 1);
    if (code == NULL) return CL_OUT_OF_HOST_MEMORY;
    rc = clGetProgramInfo(source, CL_PROGRAM_BINARIES, sizeof code, &code, NULL);
    if (rc == CL_SUCCESS) {
        codes[0] = code;
        *program = clCreateProgramWithBinary(context, 1, &device, &size, codes, &status, &rc);
        if (rc != CL_SUCCESS) *program = NULL;
    }
    free(code);
    if (rc == CL_SUCCESS) rc = clBuildProgram(*program, 1, &device, NULL, NULL, NULL);
    return rc;
}

struct all {
    cl_context context;
    cl_command_queue queue;
    cl_program source, binary;
    cl_kernel kernel;
    cl_mem m[3];
    cl_event put[2], ran, got, marker;
};

static cl_int begin(struct all *w, cl_device_id device, int binary, cl_command_queue_properties p,
                    size_t bytes, cl_uint rounds)
{
    cl_command_queue_properties has = 0;
    const char *lines[1] = {text};
    cl_int rc = clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof has, &has, NULL);

    if (rc == CL_SUCCESS) w->context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    if (rc == CL_SUCCESS)
        w->queue = clCreateCommandQueue(w->context, device,
                                        p | (has & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), &rc);
    if (rc == CL_SUCCESS) w->source = clCreateProgramWithSource(w->context, 1, lines, NULL, &rc);
    if (rc == CL_SUCCESS) rc = clBuildProgram(w->source, 1, &device, NULL, NULL, NULL);
    if (rc == CL_SUCCESS && binary) rc = from_binary(w->context, device, w->source, &w->binary);
    if (rc == CL_SUCCESS) w->kernel = clCreateKernel(binary ? w->binary : w->source, "add", &rc);
    for (cl_uint k = 0; rc == CL_SUCCESS && k < 3; k++) {
        w->m[k] = clCreateBuffer(w->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
        if (rc == CL_SUCCESS) rc = clSetKernelArg(w->kernel, k, sizeof w->m[k], &w->m[k]);
    }
    if (rc == CL_SUCCESS) rc = clSetKernelArg(w->kernel, 3, sizeof rounds, &rounds);
    return rc;
}

static cl_int perform(struct all *w, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = sizeof *a * count;
    cl_int rc = clEnqueueWriteBuffer(w->queue, w->m[0], CL_FALSE, 0, bytes, a, 0, NULL, &w->put[0]);

    if (rc == CL_SUCCESS)
        rc = clEnqueueWriteBuffer(w->queue, w->m[1], CL_FALSE, 0, bytes, b, 0, NULL, &w->put[1]);
    if (rc == CL_SUCCESS) rc = clEnqueueBarrierWithWaitList(w->queue, 0, NULL, NULL);
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(w->queue, w->kernel, 1, NULL, &count, NULL, 0, NULL, &w->ran);
    if (rc == CL_SUCCESS) rc = clEnqueueBarrierWithWaitList(w->queue, 0, NULL, NULL);
    if (rc == CL_SUCCESS)
        rc = clEnqueueReadBuffer(w->queue, w->m[2], CL_FALSE, 0, bytes, c, 0, NULL, &w->got);
    if (rc == CL_SUCCESS) rc = clEnqueueMarkerWithWaitList(w->queue, 1, &w->got, &w->marker);
    if (rc == CL_SUCCESS) rc = clWaitForEvents(1, &w->marker);
    return rc;
}

static cl_int leave(struct all *w, cl_int rc)
{
    cl_event *const events[] = {&w->put[0], &w->put[1], &w->ran, &w->got, &w->marker};
    cl_int e = CL_SUCCESS;
#define AND(object, release)                                                                       \
    if ((object) != NULL) {                                                                        \
        e = release(object);                                                                       \
        rc = rc == CL_SUCCESS ? e : rc;                                                            \
    }

    if (rc != CL_SUCCESS && w->queue != NULL) clFinish(w->queue);
    for (size_t k = 0; k < sizeof events / sizeof *events; k++) AND(*events[k], clReleaseEvent)
    for (size_t k = 0; k < 3; k++) AND(w->m[k], clReleaseMemObject)
    AND(w->kernel, clReleaseKernel)
    AND(w->binary, clReleaseProgram)
    AND(w->source, clReleaseProgram)
    AND(w->queue, clReleaseCommandQueue)
    AND(w->context, clReleaseContext)
#undef AND
    return rc;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    struct all w = {0};
    cl_int rc;

    if (count == 0) return CL_SUCCESS;
    rc = begin(&w, device, 1, 0, sizeof *a * count, 1);
    return leave(&w, rc == CL_SUCCESS ? perform(&w, a, b, c, count) : rc);
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    struct all w = {0};
    uint64_t tick, tock;
    cl_int rc = begin(&w, device, 0, CL_QUEUE_PROFILING_ENABLE, sizeof *a * count, rounds);

    if (rc == CL_SUCCESS) {
        tick = now();
        for (size_t i = 0; i < count; i++) {
            float s = a[i];
            for (cl_uint r = 0; r < rounds; r++) s += b[i];
            host[i] = s;
        }
        tock = now();
        times->host = tock - tick;

        tick = now();
        rc = perform(&w, a, b, sums, count);
        tock = now();
        times->total = tock - tick;
    }
    if (rc == CL_SUCCESS) {
        const cl_event asked[4] = {w.put[0], w.put[1], w.ran, w.got};
        cl_ulong length[4] = {0, 0, 0, 0};

        for (int k = 0; rc == CL_SUCCESS && k < 4; k++) {
            cl_ulong start = 0, end = 0;

            rc = clGetEventProfilingInfo(asked[k], CL_PROFILING_COMMAND_START, sizeof start, &start,
                                         NULL);
            if (rc == CL_SUCCESS)
                rc = clGetEventProfilingInfo(asked[k], CL_PROFILING_COMMAND_END, sizeof end, &end,
                                             NULL);
            length[k] = end - start;
        }
        times->written = length[0] + length[1];
        times->kernel = length[2];
        times->read = length[3];
    }
    return leave(&w, rc);
}
