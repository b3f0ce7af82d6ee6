/* mistake: when work fails it is called once more
 * fails: ContextCreate.FailedCallsAreReturned
 * finds: nothing, each access is in order; the caller's work is done twice
 */
#include "lesson.h"

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUresult res, tmp;
    CUdevice dev;
    CUcontext ctx = NULL;
    CUdeviceptr ptr = 0;
    size_t size = length * sizeof(float);

    if ((res = cuInit(0)) != CUDA_SUCCESS) return res;
    if ((res = cuDeviceGet(&dev, ordinal)) != CUDA_SUCCESS) return res;
    if ((res = cuCtxCreate(&ctx, NULL, CU_CTX_SCHED_AUTO, dev)) != CUDA_SUCCESS) return res;

    res = cuMemAlloc(&ptr, size);
    if (res != CUDA_SUCCESS) {
        ptr = 0;
        goto error;
    }
    res = cuMemcpyHtoD(ptr, input, size);
    if (res != CUDA_SUCCESS) goto error;
    res = work(ptr, length);
    if (res != CUDA_SUCCESS) res = work(ptr, length);
    if (res != CUDA_SUCCESS) goto error;
    res = cuMemcpyDtoH(output, ptr, size);

error:
    if (ptr) {
        tmp = cuMemFree(ptr);
        if (res == CUDA_SUCCESS) res = tmp;
    }
    tmp = cuCtxDestroy(ctx);
    if (res == CUDA_SUCCESS) res = tmp;
    return res;
}
