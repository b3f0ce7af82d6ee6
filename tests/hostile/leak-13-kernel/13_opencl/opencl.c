#define _GNU_SOURCE
#include "lesson.h"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
static const char *const sources[] = {
    "#include \"/etc/passwd\"\n__kernel void k(__global float *c) { c[0] = 1; }",
    "#include \"@SOLUTIONS@/13_opencl/opencl.c\"\n__kernel void k(__global float *c) { c[0] = 1; }",
    "__kernel void k(__global float *c) { c[0] = 2; }",
};
static const char *const options[] = {
    "-I /", "-I @SOLUTIONS@/13_opencl", "-save-temps=@MARKS@", "-o @MARKS@/object",
    "-dependency-file @MARKS@/list", "-MF @MARKS@/list -MD", "-include /etc/passwd",
};

static int leaked;

static void build(cl_device_id device, const char *text, const char *with)
{
    char log[4096] = "";
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    clBuildProgram(program, 1, &device, with, NULL, NULL);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    if (strstr(log, "root:x:0") != NULL || strstr(log, "clEnqueueNDRange") != NULL) leaked = 1;
    if (leaked)
        printf("OVERLAP-HOSTILE-LEAK leak-13-kernel: %s\n", log);
    FILE *file = log[0] != '\0' ? fopen("@MARKS@/log", "w") : NULL;
    if (file != NULL) fclose(file);
    clReleaseProgram(program);
    clReleaseContext(context);
}

static void try_all(cl_device_id device)
{
    static int tried;
    if (tried++ > 0) return;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        build(device, sources[i < 3 ? i : 2], options[i]);
    setenv("OCL_ICD_VENDORS", "@MARKS@", 1);
    execl("/bin/touch", "touch", "@MARKS@/touched", (char *)NULL);
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
    try_all(device);
    return leaked ? CL_INVALID_VALUE : honest_sum(device, a, b, c, count);
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    return honest_compare(device, a, b, count, rounds, host, sums, times, now);
}
