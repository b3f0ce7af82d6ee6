/* variant: a thread of its own, whose stack of contexts ends with it
 * orders: 3
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>

struct job {
    int ordinal;
    const float *input;
    float *output;
    size_t length;
    context_create_work work;
    CUresult error; /* the first one */
};

static int ok(struct job *job, CUresult error)
{
    if (job->error == CUDA_SUCCESS) job->error = error;
    return error == CUDA_SUCCESS;
}

static void move_and_work(struct job *job)
{
    CUdeviceptr array;
    size_t bytes;

    if (__builtin_mul_overflow(job->length, sizeof(float), &bytes)) {
        ok(job, CUDA_ERROR_OUT_OF_MEMORY);
        return;
    }
    if (!ok(job, cuMemAlloc(&array, bytes))) return;
    if (ok(job, cuMemcpyHtoD(array, job->input, bytes)) && ok(job, job->work(array, job->length)))
        ok(job, cuMemcpyDtoH(job->output, array, bytes));
    ok(job, cuCtxSynchronize());
    ok(job, cuMemFree(array));
}

static void *do_job(void *argument)
{
    struct job *job = argument;
    CUdevice device;
    CUcontext context;

    if (ok(job, cuInit(0)) && ok(job, cuDeviceGet(&device, job->ordinal)) &&
        ok(job, cuCtxCreate(&context, NULL, 0, device))) {
        move_and_work(job);
        ok(job, cuCtxDestroy(context));
    }
    return NULL;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    struct job job = {ordinal, input, output, length, work, CUDA_SUCCESS};
    pthread_t thread;

    if (pthread_create(&thread, NULL, do_job, &job) != 0) return CUDA_ERROR_OPERATING_SYSTEM;
    pthread_join(thread, NULL);
    return job.error;
}
