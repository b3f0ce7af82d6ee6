/* mistake: the rounds are multiplied instead of added
 * fails: OpenCL.HostAndDeviceAgree
 * finds: nothing, the calls are right
 */
#include "lesson.h"

#include <string.h>

/* ---- devices ----------------------------------------------------------------------------------
 */

#define MOST 64

static cl_int describe(struct opencl_device *to, cl_platform_id platform, cl_device_id device)
{
    const struct {
        cl_device_info what;
        size_t size;
        void *value;
    } facts[] = {
        {CL_DEVICE_NAME, sizeof to->name, to->name},
        {CL_DEVICE_VERSION, sizeof to->version, to->version},
        {CL_DEVICE_TYPE, sizeof to->type, &to->type},
        {CL_DEVICE_MAX_COMPUTE_UNITS, sizeof to->units, &to->units},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof to->group, &to->group},
        {CL_DEVICE_GLOBAL_MEM_SIZE, sizeof to->memory, &to->memory},
        {CL_DEVICE_LOCAL_MEM_SIZE, sizeof to->local, &to->local},
    };
    to->id = device;
    cl_int error =
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof to->platform, to->platform, NULL);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0] && error == CL_SUCCESS; i++)
        error = clGetDeviceInfo(device, facts[i].what, facts[i].size, facts[i].value, NULL);
    return error;
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    cl_platform_id platforms[MOST];
    cl_device_id ids[MOST];
    cl_uint platform_count = 0, found = 0;

    *count = 0;
    cl_int error = clGetPlatformIDs(MOST, platforms, &platform_count);
    /* The loader's own answer where it knows none (cl_khr_icd). */
    if (error == -1001 /* CL_PLATFORM_NOT_FOUND_KHR */) return CL_SUCCESS;
    for (cl_uint p = 0; p < platform_count && error == CL_SUCCESS; p++) {
        error = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, ids, &found);
        if (error == CL_DEVICE_NOT_FOUND) {
            error = CL_SUCCESS;
            continue;
        }
        for (cl_uint d = 0; d < found && error == CL_SUCCESS; d++, ++*count)
            if (*count < room) error = describe(&devices[*count], platforms[p], ids[d]);
    }
    return error;
}

/* ---- what both computations need --------------------------------------------------------------
 */

static const char *const source =
    "__kernel void sum(__global const float *a, __global const float *b, __global float *c,\n"
    "                  ulong count)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    if (i < count) c[i] = a[i] + b[i];\n"
    "}\n"
    "__kernel void rounds(__global const float *a, __global const float *b, __global float *c,\n"
    "                     ulong count, uint rounds)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    if (i >= count) return;\n"
    "    float x = a[i];\n"
    "    const float y = b[i];\n"
    "    x += (float)rounds * y;\n"
    "    c[i] = x;\n"
    "}\n";

#define GROUP 64
enum { A, B, C, BUFFERS };

struct setup {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffers[BUFFERS];
};

/* What was made is in *setup, also after an error. */
static cl_int prepare(struct setup *setup, cl_device_id device, const char *kernel, size_t count)
{
    const cl_ulong length = count;
    cl_int error;

    memset(setup, 0, sizeof *setup);
    setup->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (error != CL_SUCCESS) return error;
    setup->queue = clCreateCommandQueue(setup->context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) return error;
    setup->program =
        clCreateProgramWithSource(setup->context, 1, (const char **)&source, NULL, &error);
    if (error == CL_SUCCESS) error = clBuildProgram(setup->program, 1, &device, "", NULL, NULL);
    if (error != CL_SUCCESS) return error;
    setup->kernel = clCreateKernel(setup->program, kernel, &error);
    for (int k = 0; k < BUFFERS && error == CL_SUCCESS; k++) {
        setup->buffers[k] =
            clCreateBuffer(setup->context, k == C ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY,
                           count * sizeof(float), NULL, &error);
        if (error == CL_SUCCESS)
            error = clSetKernelArg(setup->kernel, (cl_uint)k, sizeof(cl_mem), &setup->buffers[k]);
    }
    if (error == CL_SUCCESS) error = clSetKernelArg(setup->kernel, 3, sizeof length, &length);
    return error;
}

/* Returns `error`, or the first that a release gave. */
static cl_int release(struct setup *setup, cl_int error)
{
    cl_int released[BUFFERS + 4] = {0};

    for (int k = 0; k < BUFFERS; k++)
        if (setup->buffers[k] != NULL) released[k] = clReleaseMemObject(setup->buffers[k]);
    if (setup->kernel != NULL) released[BUFFERS] = clReleaseKernel(setup->kernel);
    if (setup->program != NULL) released[BUFFERS + 1] = clReleaseProgram(setup->program);
    if (setup->queue != NULL) released[BUFFERS + 2] = clReleaseCommandQueue(setup->queue);
    if (setup->context != NULL) released[BUFFERS + 3] = clReleaseContext(setup->context);
    for (int k = 0; k < BUFFERS + 4 && error == CL_SUCCESS; k++) error = released[k];
    return error;
}

/* Whole groups: the kernel leaves out what is too much. */
static cl_int launch(const struct setup *setup, size_t count, cl_event *event)
{
    const size_t group = GROUP, items = (count + GROUP - 1) / GROUP * GROUP;
    return clEnqueueNDRangeKernel(setup->queue, setup->kernel, 1, NULL, &items, &group, 0, NULL,
                                  event);
}

/* ---- the sum ----------------------------------------------------------------------------------
 */

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = count * sizeof(float);
    struct setup setup;

    /* A buffer of no bytes cannot be made. */
    if (count == 0) return CL_SUCCESS;
    cl_int error = prepare(&setup, device, "sum", count);
    if (error == CL_SUCCESS)
        error = clEnqueueWriteBuffer(setup.queue, setup.buffers[A], CL_TRUE, 0, bytes, a, 0, NULL,
                                     NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueWriteBuffer(setup.queue, setup.buffers[B], CL_TRUE, 0, bytes, b, 0, NULL,
                                     NULL);
    if (error == CL_SUCCESS) error = launch(&setup, count, NULL);
    if (error == CL_SUCCESS)
        error =
            clEnqueueReadBuffer(setup.queue, setup.buffers[C], CL_TRUE, 0, bytes, c, 0, NULL, NULL);
    return release(&setup, error);
}

/* ---- host against device ----------------------------------------------------------------------
 */

static void on_the_host(const float *a, const float *b, size_t count, cl_uint rounds, float *sums)
{
    for (size_t i = 0; i < count; i++) {
        float x = a[i];
        for (cl_uint k = 0; k < rounds; k++) x += b[i];
        sums[i] = x;
    }
}

/* Adds what the event's command took. */
static cl_int add_time(cl_event event, cl_ulong *sum)
{
    cl_ulong start = 0, end = 0;
    cl_int error =
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (error == CL_SUCCESS)
        error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    *sum += end - start;
    return error;
}

enum { WRITE_A, WRITE_B, KERNEL, READ, COMMANDS };

static cl_int run(const struct setup *setup, const float *a, const float *b, float *sums,
                  size_t count, cl_event events[COMMANDS])
{
    const size_t bytes = count * sizeof(float);
    cl_int error = clEnqueueWriteBuffer(setup->queue, setup->buffers[A], CL_FALSE, 0, bytes, a, 0,
                                        NULL, &events[WRITE_A]);
    if (error == CL_SUCCESS)
        error = clEnqueueWriteBuffer(setup->queue, setup->buffers[B], CL_FALSE, 0, bytes, b, 0,
                                     NULL, &events[WRITE_B]);
    if (error == CL_SUCCESS) error = launch(setup, count, &events[KERNEL]);
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(setup->queue, setup->buffers[C], CL_FALSE, 0, bytes, sums, 0,
                                    NULL, &events[READ]);
    /* On failure as well: what is under way still uses the caller's memory. */
    const cl_int waited = clFinish(setup->queue);
    return error != CL_SUCCESS ? error : waited;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    cl_event events[COMMANDS] = {NULL};
    struct setup setup;

    memset(times, 0, sizeof *times);
    cl_int error = prepare(&setup, device, "rounds", count);
    if (error == CL_SUCCESS) error = clSetKernelArg(setup.kernel, 4, sizeof rounds, &rounds);
    if (error == CL_SUCCESS) {
        uint64_t begin = now();
        on_the_host(a, b, count, rounds, host);
        times->host = now() - begin;
        begin = now();
        error = run(&setup, a, b, sums, count, events);
        times->total = now() - begin;
    }
    if (error == CL_SUCCESS) error = add_time(events[WRITE_A], &times->written);
    if (error == CL_SUCCESS) error = add_time(events[WRITE_B], &times->written);
    if (error == CL_SUCCESS) error = add_time(events[KERNEL], &times->kernel);
    if (error == CL_SUCCESS) error = add_time(events[READ], &times->read);
    for (int i = 0; i < COMMANDS; i++) {
        const cl_int released = events[i] != NULL ? clReleaseEvent(events[i]) : CL_SUCCESS;
        if (error == CL_SUCCESS) error = released;
    }
    return release(&setup, error);
}
