/* Batches, and pools by location: the runtime's structures have the same layout as the driver's. */
#include "emulator/runtime/runtime.h"

#define SAME_LAYOUT(ours, theirs, last)                                                            \
    _Static_assert(sizeof(ours) == sizeof(theirs) &&                                               \
                       offsetof(ours, last) == offsetof(theirs, last),                             \
                   "the runtime's " #ours " is the driver's " #theirs)
SAME_LAYOUT(struct cudaMemLocation, CUmemLocation, id);
SAME_LAYOUT(struct cudaMemcpyAttributes, CUmemcpyAttributes, flags);
SAME_LAYOUT(struct cudaMemcpy3DOperand, CUmemcpy3DOperand, op.array.offset);
SAME_LAYOUT(struct cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP, flags);

cudaError_t runtime_cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs,
                                         const size_t *sizes, size_t count,
                                         struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs,
                                         size_t numAttrs, cudaStream_t stream)
{
    return runtime_error(cuMemcpyBatchAsync(
        (CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs, (size_t *)(uintptr_t)sizes,
        count, (CUmemcpyAttributes *)attrs, attrsIdxs, numAttrs, runtime_stream(stream)));
}

cudaError_t runtime_cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
                                           unsigned long long flags, cudaStream_t stream)
{
    return runtime_error(cuMemcpy3DBatchAsync(numOps, (CUDA_MEMCPY3D_BATCH_OP *)opList, flags,
                                              runtime_stream(stream)));
}

cudaError_t runtime_cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                              struct cudaMemLocation *prefetchLocs,
                                              size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                              unsigned long long flags, cudaStream_t stream)
{
    return runtime_error(cuMemPrefetchBatchAsync((CUdeviceptr *)dptrs, sizes, count,
                                                 (CUmemLocation *)prefetchLocs, prefetchLocIdxs,
                                                 numPrefetchLocs, flags, runtime_stream(stream)));
}

cudaError_t runtime_cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                             unsigned long long flags, cudaStream_t stream)
{
    return runtime_error(
        cuMemDiscardBatchAsync((CUdeviceptr *)dptrs, sizes, count, flags, runtime_stream(stream)));
}

cudaError_t runtime_cudaMemDiscardAndPrefetchBatchAsync(
    void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
    size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream)
{
    return runtime_error(cuMemDiscardAndPrefetchBatchAsync(
        (CUdeviceptr *)dptrs, sizes, count, (CUmemLocation *)prefetchLocs, prefetchLocIdxs,
        numPrefetchLocs, flags, runtime_stream(stream)));
}

/* ---- pools ----------------------------------------------------------------------------------- */

cudaError_t runtime_cudaMemGetDefaultMemPool(cudaMemPool_t *memPool,
                                             struct cudaMemLocation *location,
                                             enum cudaMemAllocationType type)
{
    return runtime_error(cuMemGetDefaultMemPool((CUmemoryPool *)memPool, (CUmemLocation *)location,
                                                (CUmemAllocationType)type));
}

cudaError_t runtime_cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                      enum cudaMemAllocationType type)
{
    return runtime_error(cuMemGetMemPool((CUmemoryPool *)memPool, (CUmemLocation *)location,
                                         (CUmemAllocationType)type));
}

cudaError_t runtime_cudaMemSetMemPool(struct cudaMemLocation *location,
                                      enum cudaMemAllocationType type, cudaMemPool_t memPool)
{
    return runtime_error(cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type,
                                         (CUmemoryPool)memPool));
}

/* ---- managed variables ----------------------------------------------------------------------- */

cudaError_t runtime_cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library,
                                          const char *name)
{
    CUdeviceptr address = 0;
    CUresult result = cuLibraryGetManaged(&address, bytes, (CUlibrary)library, name);
    if (result == CUDA_SUCCESS && dptr != NULL) *dptr = (void *)address;
    return runtime_error(result);
}
