/* broken: kernels that fail, each in a documented way, for checks of error handling: one that
 * cannot be launched, and one that fails while it runs.
 *
 * They take the arguments of multiply_divide_launch, so that either can take its place.
 */
#ifndef OVERLAP_KERNELS_BROKEN_H
#define OVERLAP_KERNELS_BROKEN_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define BROKEN_ADDRESS_NAME "broken_address"

#ifdef __cplusplus
extern "C" {
#endif

/* Asks for a block of 4,096 threads, while no device allows more than 1,024. Returns
 * cudaErrorInvalidValue (1); nothing runs, the array is unchanged, and the context stays usable. */
cudaError_t broken_configuration_launch(float *array, size_t length, cudaStream_t stream);

/* Returns cudaSuccess, because the launch is valid. The kernel then writes to an unmapped address,
 * and the next call that reports asynchronous errors returns cudaErrorIllegalAddress (700). From
 * then on the context, and with it the process, is unusable: run it in a process of its own. */
cudaError_t broken_address_launch(float *array, size_t length, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
