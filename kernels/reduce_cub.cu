#include "kernels/reduce_cub.h"

#include <cub/device/device_reduce.cuh>

cudaError_t reduce_cub_int64(void *scratch, size_t *scratch_bytes, const int64_t *array,
                             int64_t *result, size_t size, cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(scratch, *scratch_bytes, array, result, size, stream);
}

cudaError_t reduce_cub_int32(void *scratch, size_t *scratch_bytes, const int32_t *array,
                             int32_t *result, size_t size, cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(scratch, *scratch_bytes, array, result, size, stream);
}
