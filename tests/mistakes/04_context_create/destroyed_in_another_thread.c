/* mistake: another thread destroys the context, which stays on the caller's stack
 * fails: ContextCreate.TheStackIsLeftAsFound
 * finds: nothing, the context is destroyed, and its place on the stack stays
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>

struct keeper {
    int ordinal;
    CUcontext context;
    CUresult error;
};

/* The context is made here and taken off this thread's stack at once: it belongs to no thread. */
static void *make(void *argument)
{
    struct keeper *keeper = argument;
    CUdevice device;
    CUcontext popped;

    keeper->error = cuInit(0);
    if (!keeper->error) keeper->error = cuDeviceGet(&device, keeper->ordinal);
    if (!keeper->error) keeper->error = cuCtxCreate(&keeper->context, NULL, 0, device);
    if (!keeper->error) keeper->error = cuCtxPopCurrent(&popped);
    return NULL;
}

static void *unmake(void *argument)
{
    struct keeper *keeper = argument;
    CUresult error = cuCtxDestroy(keeper->context);
    if (!keeper->error) keeper->error = error;
    return NULL;
}

static int elsewhere(void *(*step)(void *), struct keeper *keeper)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, step, keeper)) return -1;
    pthread_join(thread, NULL);
    return 0;
}

static CUresult round_trip(const float *input, float *output, size_t length,
                           context_create_work work)
{
    CUdeviceptr array;
    CUresult error, freed;

    if (length > SIZE_MAX / sizeof *input) return CUDA_ERROR_OUT_OF_MEMORY;
    error = cuMemAlloc(&array, length * sizeof *input);
    if (error) return error;
    error = cuMemcpyHtoD(array, input, length * sizeof *input);
    if (!error) error = work(array, length);
    if (!error) error = cuMemcpyDtoH(output, array, length * sizeof *input);
    freed = cuMemFree(array);
    return error ? error : freed;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    struct keeper keeper = {ordinal, NULL, CUDA_SUCCESS};

    if (elsewhere(make, &keeper)) return CUDA_ERROR_OPERATING_SYSTEM;

    if (!keeper.error) keeper.error = cuCtxPushCurrent(keeper.context);
    if (!keeper.error) keeper.error = round_trip(input, output, length, work);

    if (keeper.context && elsewhere(unmake, &keeper)) unmake(&keeper);
    return keeper.error;
}
