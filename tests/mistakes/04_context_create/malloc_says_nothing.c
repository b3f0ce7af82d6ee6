/* mistake: a malloc that fails leaves the error at success
 * fails: ContextCreate.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, malloc is no call of CUDA's
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context, popped;
    CUdeviceptr array;
    CUresult error, later;
    float *staged = NULL;
    size_t bytes;

    error = cuInit(0);
    if (error != CUDA_SUCCESS) return error;
    error = cuDeviceGet(&device, ordinal);
    if (error != CUDA_SUCCESS) return error;
    error = cuCtxCreate(&context, NULL, 0, device);
    if (error != CUDA_SUCCESS) return error;

    if (length > SIZE_MAX / sizeof *staged) {
        error = CUDA_ERROR_OUT_OF_MEMORY;
        goto destroy;
    }
    bytes = length * sizeof *staged;

    error = cuMemAlloc(&array, bytes);
    if (error != CUDA_SUCCESS) goto destroy;

    staged = malloc(bytes);
    if (staged == NULL) goto release;

    error = cuMemcpyHtoD(array, input, bytes);
    if (error != CUDA_SUCCESS) goto release;
    error = work(array, length);
    if (error != CUDA_SUCCESS) goto release;
    error = cuMemcpyDtoH(staged, array, bytes);

release:
    if (error != CUDA_SUCCESS) (void)cuCtxSynchronize();
    later = cuMemFree(array);
    if (error == CUDA_SUCCESS) error = later;
destroy:
    later = cuCtxPopCurrent(&popped);
    if (error == CUDA_SUCCESS) error = later;
    later = cuCtxDestroy(context);
    if (error == CUDA_SUCCESS) error = later;

    if (error == CUDA_SUCCESS && staged != NULL) memcpy(output, staged, bytes);
    free(staged);
    return error;
}
