/* broken: kernels that fail, each in its own documented way, for the checks of error handling: one
 * that cannot be launched, and one that is launched and then fails while it runs.
 *
 * Same arguments as multiply_divide_launch, so that either can take its place.
 */
#ifndef OVERLAP_KERNELS_BROKEN_H
#define OVERLAP_KERNELS_BROKEN_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define BROKEN_ADDRESS_NAME "broken_address"

#ifdef __cplusplus
extern "C" {
#endif

/* Asks for a block of 4,096 threads; no device takes more than 1,024. Returns
 * cudaErrorInvalidValue (1); nothing runs, the array stays as it is, and the context stays
 * usable. */
cudaError_t broken_configuration_launch(float *array, size_t length, cudaStream_t stream);

/* Returns cudaSuccess: the launch is in order. The kernel then writes to an address that belongs to
 * nobody, and the next call that meets the context's state returns cudaErrorIllegalAddress (700).
 * From then on the context, and with it the process, is lost: run it in a process of its own. */
cudaError_t broken_address_launch(float *array, size_t length, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
