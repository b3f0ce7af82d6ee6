/* reduce_cub: the sums of CUB's DeviceReduce, with which the reductions' times are compared.
 * Compiled once with the kernels, not with each submission, because CUB takes long to compile.
 *
 * Only for timing; nothing here decides whether a result is right.
 */
#ifndef OVERLAP_KERNELS_REDUCE_CUB_H
#define OVERLAP_KERNELS_REDUCE_CUB_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues *result = the sum of array[0 .. size), all in device memory, in `stream`. With scratch
 * NULL nothing runs, and *scratch_bytes is set to the size of the scratch memory that the call
 * needs. (CUB, cub::DeviceReduce::Sum.) */
cudaError_t reduce_cub_int64(void *scratch, size_t *scratch_bytes, const int64_t *array,
                             int64_t *result, size_t size, cudaStream_t stream);
cudaError_t reduce_cub_int32(void *scratch, size_t *scratch_bytes, const int32_t *array,
                             int32_t *result, size_t size, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
