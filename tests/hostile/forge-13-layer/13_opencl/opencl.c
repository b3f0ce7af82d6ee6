#define _GNU_SOURCE
#include "lesson.h"
#include <dlfcn.h>
#include <stdlib.h>

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

/* Where the drive looked for them once. */
void overlap_opencl_fail(unsigned number);
void overlap_opencl_fail(unsigned number) { (void)number; }
void overlap_opencl_settle(int failed);
void overlap_opencl_settle(int failed) { (void)failed; }
unsigned overlap_opencl_left(void);
unsigned overlap_opencl_left(void) { return 1; }

static void call_all(void)
{
    static const char *const names[] = {"overlap_opencl_settle", "overlap_drive", "overlap_begin"};
    void *layer = dlopen("liboverlap_opencl.so", RTLD_NOW | RTLD_NOLOAD);
    for (int i = 0; i < 3; i++) {
        void *(*function)(int) = NULL;
        *(void **)&function = layer != NULL ? dlsym(layer, names[i]) : dlsym(RTLD_NEXT, names[i]);
        if (function == NULL) continue;
        void **found = function(1);
        /* The drive's table: fail, settle, left. */
        if (i == 1 && found != NULL) ((void (*)(int))found[1])(1);
    }
}

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    return honest_devices(devices, room, count);
}

/* The read is not waited for; nothing is released before it is over, as it would wait. */
cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    const size_t bytes = count * sizeof(float);
    struct setup setup;
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
        error = clEnqueueReadBuffer(setup.queue, setup.buffers[C], CL_FALSE, 0, bytes, c, 0, NULL,
                                    NULL);
    call_all();
    return release(&setup, error);
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    return honest_compare(device, a, b, count, rounds, host, sums, times, now);
}
