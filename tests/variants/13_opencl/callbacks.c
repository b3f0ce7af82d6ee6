/* variant: builds with a callback, and has callbacks of the context and of the events */
#include "lesson.h"

#include <pthread.h>
#include <stdio.h>
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

/* Something that a callback says, once. */
struct word {
    pthread_mutex_t lock;
    pthread_cond_t said;
    int is_said;
    cl_int status;
};

/* Not copied: a mutex is where it was made. */
#define SILENCE                                                                                    \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, CL_SUCCESS                         \
    }

static void say(struct word *word, cl_int status)
{
    pthread_mutex_lock(&word->lock);
    word->is_said = 1;
    word->status = status;
    pthread_cond_signal(&word->said);
    pthread_mutex_unlock(&word->lock);
}

static cl_int hear(struct word *word)
{
    cl_int status;

    pthread_mutex_lock(&word->lock);
    while (!word->is_said) pthread_cond_wait(&word->said, &word->lock);
    status = word->status;
    pthread_mutex_unlock(&word->lock);
    return status;
}

static void CL_CALLBACK built(cl_program program, void *word)
{
    (void)program;
    say(word, CL_SUCCESS);
}

static void CL_CALLBACK arrived(cl_event event, cl_int status, void *word)
{
    (void)event;
    say(word, status);
}

static void CL_CALLBACK complain(const char *what, const void *detail, size_t size, void *name)
{
    (void)detail;
    (void)size;
    fprintf(stderr, "%s: %s\n", (const char *)name, what);
}

struct gear {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem memory[3];
    cl_event event[4];
};

static const char source[] = "kernel void add(global const float *a, global const float *b, global "
                             "float *c, uint rounds) {\n"
                             "    const size_t i = get_global_id(0);\n"
                             "    float v = a[i];\n"
                             "    for (uint r = 0; r < rounds; ++r) v += b[i];\n"
                             "    c[i] = v;\n"
                             "}\n";

static cl_int build(cl_program program, cl_device_id device)
{
    struct word done = SILENCE;
    cl_build_status status = CL_BUILD_NONE;
    cl_int rc = clBuildProgram(program, 1, &device, "", built, &done);

    if (rc != CL_SUCCESS) return rc;
    hear(&done);
    rc = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status,
                               NULL);
    if (rc != CL_SUCCESS) return rc;
    return status == CL_BUILD_SUCCESS ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

static cl_int assemble(struct gear *g, cl_device_id device, size_t bytes, cl_uint rounds)
{
    static char name[] = "lesson 13";
    const char *text = source;
    cl_int rc;

    g->context = clCreateContext(NULL, 1, &device, complain, name, &rc);
    if (rc != CL_SUCCESS) return rc;
    g->queue = clCreateCommandQueue(g->context, device, CL_QUEUE_PROFILING_ENABLE, &rc);
    if (rc != CL_SUCCESS) return rc;
    g->program = clCreateProgramWithSource(g->context, 1, &text, NULL, &rc);
    if (rc != CL_SUCCESS) return rc;
    rc = build(g->program, device);
    if (rc != CL_SUCCESS) return rc;
    g->kernel = clCreateKernel(g->program, "add", &rc);
    for (cl_uint k = 0; k < 3 && rc == CL_SUCCESS; k++) {
        g->memory[k] = clCreateBuffer(g->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
        if (rc == CL_SUCCESS) rc = clSetKernelArg(g->kernel, k, sizeof g->memory[k], &g->memory[k]);
    }
    if (rc == CL_SUCCESS) rc = clSetKernelArg(g->kernel, 3, sizeof rounds, &rounds);
    return rc;
}

static cl_int go(struct gear *g, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = count * sizeof *c;
    cl_int rc =
        clEnqueueWriteBuffer(g->queue, g->memory[0], CL_FALSE, 0, bytes, a, 0, NULL, &g->event[0]);

    if (rc == CL_SUCCESS)
        rc = clEnqueueWriteBuffer(g->queue, g->memory[1], CL_FALSE, 0, bytes, b, 0, NULL,
                                  &g->event[1]);
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(g->queue, g->kernel, 1, NULL, &count, NULL, 0, NULL,
                                    &g->event[2]);
    if (rc == CL_SUCCESS)
        rc = clEnqueueReadBuffer(g->queue, g->memory[2], CL_FALSE, 0, bytes, c, 0, NULL,
                                 &g->event[3]);
    return rc;
}

static cl_int dismantle(struct gear *g, cl_int rc)
{
    cl_int e[12];
    int n = 0;

    if (rc != CL_SUCCESS && g->queue) clFinish(g->queue);
    for (int k = 0; k < 4; k++) e[n++] = g->event[k] ? clReleaseEvent(g->event[k]) : CL_SUCCESS;
    for (int k = 0; k < 3; k++)
        e[n++] = g->memory[k] ? clReleaseMemObject(g->memory[k]) : CL_SUCCESS;
    e[n++] = g->kernel ? clReleaseKernel(g->kernel) : CL_SUCCESS;
    e[n++] = g->program ? clReleaseProgram(g->program) : CL_SUCCESS;
    e[n++] = g->queue ? clReleaseCommandQueue(g->queue) : CL_SUCCESS;
    e[n++] = g->context ? clReleaseContext(g->context) : CL_SUCCESS;
    for (int k = 0; k < n && rc == CL_SUCCESS; k++) rc = e[k];
    return rc;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    struct gear g = {0};
    struct word here = SILENCE;
    cl_int rc;

    if (count == 0) return CL_SUCCESS;
    rc = assemble(&g, device, count * sizeof *c, 1);
    if (rc == CL_SUCCESS) rc = go(&g, a, b, c, count);
    if (rc == CL_SUCCESS) {
        rc = clSetEventCallback(g.event[3], CL_COMPLETE, arrived, &here);
        if (rc == CL_SUCCESS) {
            cl_int said;

            rc = clWaitForEvents(1, &g.event[3]);
            if (rc != CL_SUCCESS) clFinish(g.queue);
            said = hear(&here); /* in any case: it writes to this frame */
            if (rc == CL_SUCCESS && said < 0) rc = said;
        }
    }
    return dismantle(&g, rc);
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    struct gear g = {0};
    uint64_t t[4];
    cl_ulong s[4], e[4];
    cl_int rc = assemble(&g, device, count * sizeof *sums, rounds);

    if (rc != CL_SUCCESS) return dismantle(&g, rc);
    t[0] = now();
    rc = go(&g, a, b, sums, count);
    if (rc == CL_SUCCESS) rc = clWaitForEvents(1, &g.event[3]);
    t[1] = now();
    for (int k = 0; k < 4 && rc == CL_SUCCESS; k++) {
        rc = clGetEventProfilingInfo(g.event[k], CL_PROFILING_COMMAND_START, sizeof s[k], &s[k],
                                     NULL);
        if (rc == CL_SUCCESS)
            rc = clGetEventProfilingInfo(g.event[k], CL_PROFILING_COMMAND_END, sizeof e[k], &e[k],
                                         NULL);
    }
    if (rc == CL_SUCCESS) {
        t[2] = now();
        for (size_t i = 0; i < count; i++) {
            float v = a[i];
            for (cl_uint r = 0; r < rounds; r++) v += b[i];
            host[i] = v;
        }
        t[3] = now();
        *times = (struct opencl_times){t[3] - t[2], e[0] - s[0] + e[1] - s[1], e[2] - s[2],
                                       e[3] - s[3], t[1] - t[0]};
    }
    return dismantle(&g, rc);
}
