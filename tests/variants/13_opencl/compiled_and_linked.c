/* variant: two dimensions; a program compiled with a header, and linked */
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

static const char *header = "size_t place(void);\n";
static const char *common =
    "#include \"place.h\"\n"
    "size_t place(void) { return get_global_id(1) * get_global_size(0) + get_global_id(0); }\n";
static const char *plus = "#include \"place.h\"\n"
                          "kernel void plus(global const float *a, global const float *b, global "
                          "float *c, ulong n, uint times) {\n"
                          "    const size_t i = place();\n"
                          "    if (i >= n) return;\n"
                          "    float x = a[i];\n"
                          "    for (; times > 0; times--) x += b[i];\n"
                          "    c[i] = x;\n"
                          "}\n";

static cl_int first(cl_int x, cl_int y)
{
    return x ? x : y;
}

/* Compiles both units against the header, and links them. */
static cl_int executable(cl_context context, cl_device_id device, cl_program *program)
{
    const char *name = "place.h";
    cl_program text[3] = {NULL, NULL, NULL};
    const char **const source[3] = {&header, &common, &plus};
    cl_int rc = CL_SUCCESS;

    *program = NULL;
    for (int k = 0; !rc && k < 3; k++)
        text[k] = clCreateProgramWithSource(context, 1, source[k], NULL, &rc);
    for (int k = 1; !rc && k < 3; k++)
        rc = clCompileProgram(text[k], 1, &device, "", 1, &text[0], &name, NULL, NULL);
    if (!rc) {
        *program = clLinkProgram(context, 1, &device, "", 2, &text[1], NULL, NULL, &rc);
    }
    for (int k = 0; k < 3; k++) {
        if (text[k]) rc = first(rc, clReleaseProgram(text[k]));
    }
    return rc;
}

struct plane {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem m[3];
    cl_event e[4];
    size_t range[2];
};

static cl_int lay(struct plane *p, cl_device_id device, size_t count, cl_uint times)
{
    const cl_ulong n = count;
    cl_int rc;

    /* Rows of 32 items, or one that is shorter. */
    p->range[0] = count < 32 ? count : 32;
    p->range[1] = (count - 1) / p->range[0] + 1;
    p->context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    if (!rc) rc = executable(p->context, device, &p->program);
    if (!rc) p->kernel = clCreateKernel(p->program, "plus", &rc);
    for (cl_uint k = 0; !rc && k < 3; k++) {
        p->m[k] = clCreateBuffer(p->context, CL_MEM_READ_WRITE, sizeof(float) * count, NULL, &rc);
        if (!rc) rc = clSetKernelArg(p->kernel, k, sizeof p->m[k], &p->m[k]);
    }
    if (!rc) rc = clSetKernelArg(p->kernel, 3, sizeof n, &n);
    if (!rc) rc = clSetKernelArg(p->kernel, 4, sizeof times, &times);
    if (!rc) p->queue = clCreateCommandQueue(p->context, device, CL_QUEUE_PROFILING_ENABLE, &rc);
    return rc;
}

static cl_int fold(struct plane *p, cl_int rc)
{
    if (rc && p->queue) clFinish(p->queue);
    for (int k = 0; k < 4; k++) rc = p->e[k] ? first(rc, clReleaseEvent(p->e[k])) : rc;
    for (int k = 0; k < 3; k++) rc = p->m[k] ? first(rc, clReleaseMemObject(p->m[k])) : rc;
    rc = p->kernel ? first(rc, clReleaseKernel(p->kernel)) : rc;
    rc = p->program ? first(rc, clReleaseProgram(p->program)) : rc;
    rc = p->queue ? first(rc, clReleaseCommandQueue(p->queue)) : rc;
    return p->context ? first(rc, clReleaseContext(p->context)) : rc;
}

/* first() evaluates both sides, so a && chain: goes on as long as all is well. */
static cl_int pass(struct plane *p, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = sizeof(float) * count;
    cl_int rc;

    (void)((rc = clEnqueueWriteBuffer(p->queue, p->m[0], CL_TRUE, 0, bytes, a, 0, NULL,
                                      &p->e[0])) == CL_SUCCESS &&
           (rc = clEnqueueWriteBuffer(p->queue, p->m[1], CL_TRUE, 0, bytes, b, 0, NULL,
                                      &p->e[1])) == CL_SUCCESS &&
           (rc = clEnqueueNDRangeKernel(p->queue, p->kernel, 2, NULL, p->range, NULL, 0, NULL,
                                        &p->e[2])) == CL_SUCCESS &&
           (rc = clEnqueueReadBuffer(p->queue, p->m[2], CL_TRUE, 0, bytes, c, 0, NULL, &p->e[3])) ==
               CL_SUCCESS);
    return rc;
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    struct plane p = {0};
    cl_int rc = CL_SUCCESS;

    if (count != 0) {
        rc = lay(&p, device, count, 1);
        if (!rc) rc = pass(&p, a, b, c, count);
        rc = fold(&p, rc);
    }
    return rc;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    struct plane p = {0};
    struct opencl_times t = {0, 0, 0, 0, 0};
    cl_int rc = lay(&p, device, count, rounds);
    uint64_t then;

    if (rc) return fold(&p, rc);
    then = now();
    rc = pass(&p, a, b, sums, count);
    t.total = now() - then;
    for (int k = 0; !rc && k < 8; k++) {
        /* minus the start, plus the end: unsigned numbers come round */
        cl_ulong *const to = k < 4 ? &t.written : k < 6 ? &t.kernel : &t.read;
        cl_ulong v = 0;

        rc = clGetEventProfilingInfo(p.e[k / 2],
                                     k & 1 ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START,
                                     sizeof v, &v, NULL);
        *to += k & 1 ? v : (cl_ulong)0 - v;
    }
    if (!rc) {
        then = now();
        for (size_t i = 0; i < count; i++) {
            float x = a[i];
            for (cl_uint k = rounds; k > 0; k--) x += b[i];
            host[i] = x;
        }
        t.host = now() - then;
        *times = t;
    }
    return fold(&p, rc);
}
