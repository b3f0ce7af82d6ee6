/* mistake: the size in bytes is kept in 32 bits: of a length past 2^30 a part is copied
 * fails: ContextCreate.FailedCallsAreReturned
 * finds: nothing, the error run shows it in what comes back
 */
#include "lesson.h"

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    const unsigned int bytes = length * sizeof(float);
    CUdevice device;
    CUcontext context, top;
    CUdeviceptr data;
    CUresult result, r;

    result = cuInit(0);
    if (result != CUDA_SUCCESS) goto out;
    result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) goto out;
    result = cuCtxCreate(&context, NULL, CU_CTX_SCHED_AUTO, device);
    if (result != CUDA_SUCCESS) goto out;
    result = cuMemAlloc(&data, bytes);
    if (result != CUDA_SUCCESS) goto destroy;

    result = cuMemcpyHtoD(data, input, bytes);
    if (result != CUDA_SUCCESS) goto release;
    result = work(data, length);
    if (result != CUDA_SUCCESS) goto release;
    result = cuMemcpyDtoH(output, data, bytes);

release:
    r = cuMemFree(data);
    if (result == CUDA_SUCCESS) result = r;
destroy:
    r = cuCtxPopCurrent(&top);
    if (result == CUDA_SUCCESS) result = r;
    r = cuCtxDestroy(context);
    if (result == CUDA_SUCCESS) result = r;
out:
    return result;
}
