/* mistake: the context is kept for the next call
 * fails: ContextCreate.TheContextIsDestroyed
 * finds: leak at "device)"
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>

#define DEVICES 64

static CUcontext contexts[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult enter(int ordinal)
{
    CUdevice device;
    CUresult error = cuDeviceGet(&device, ordinal);
    if (error) return error;
    if (ordinal >= DEVICES) return CUDA_ERROR_INVALID_DEVICE;
    if (contexts[ordinal]) return cuCtxPushCurrent(contexts[ordinal]);
    return cuCtxCreate(&contexts[ordinal], NULL, 0, device);
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdeviceptr array;
    CUcontext popped;
    CUresult error = cuInit(0), next;
    if (error) return error;

    pthread_mutex_lock(&lock);
    error = enter(ordinal);
    if (error) goto unlock;

    error = length > SIZE_MAX / sizeof *input ? CUDA_ERROR_OUT_OF_MEMORY
                                              : cuMemAlloc(&array, length * sizeof *input);
    if (error) goto leave;
    error = cuMemcpyHtoD(array, input, length * sizeof *input);
    if (!error) error = work(array, length);
    if (!error) error = cuMemcpyDtoH(output, array, length * sizeof *input);
    next = cuMemFree(array);
    if (!error) error = next;
leave:
    next = cuCtxPopCurrent(&popped);
    if (!error) error = next;
unlock:
    pthread_mutex_unlock(&lock);
    return error;
}
