/* mistake: the event that is waited for stands before the host function that adds up
 * fails: DeviceSync.TheDeviceFindsNothingWrong
 * finds: wait that nobody promises at "keep(error, cudaFree(array))"
 */
#include "lesson.h"

#include <stdlib.h>

struct addition {
    const float *values;
    size_t length;
    double *sum;
};

static void CUDART_CB add_up(void *user)
{
    struct addition *addition = user;
    double sum = 0.0;
    for (size_t i = 0; i < addition->length; i++) sum += addition->values[i];
    *addition->sum = sum;
}

static cudaError_t keep(cudaError_t first, cudaError_t next)
{
    return first != cudaSuccess ? first : next;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    const size_t bytes = length * sizeof *input;
    struct addition *addition;
    float *array = NULL;
    cudaEvent_t copied = NULL;
    cudaError_t error;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    addition = malloc(sizeof *addition);
    if (addition == NULL) return cudaErrorMemoryAllocation;
    *addition = (struct addition){output, length, sum};

    error = cudaEventCreateWithFlags(&copied, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaMalloc((void **)&array, bytes);
    if (error != cudaSuccess) goto done;

    error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = kernel(array, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaEventRecord(copied, stream);
    if (error == cudaSuccess) error = cudaLaunchHostFunc(stream, add_up, addition);

    if (error == cudaSuccess)
        error = cudaEventSynchronize(copied);
    else
        cudaStreamSynchronize(stream);

done:
    if (array != NULL) error = keep(error, cudaFree(array));
    if (copied != NULL) error = keep(error, cudaEventDestroy(copied));
    free(addition);
    return error;
}
