/* kernels: the kernels that lesson 11's drive passes to structs_call, by number. */
#ifndef OVERLAP_GRADER_LESSONS_11_STRUCTS_KERNELS_H
#define OVERLAP_GRADER_LESSONS_11_STRUCTS_KERNELS_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `number`: enum structs_kernel. */
cudaError_t structs_kernel(unsigned number, CUfunction *kernel);

/* Copies the bytes that the last LOOK kernel wrote down; `bytes` is at most STRUCTS_SEEN. Waits for
 * the stream. structs_forget overwrites them with another byte. */
cudaError_t structs_seen(unsigned char *to, size_t bytes, cudaStream_t stream);
cudaError_t structs_forget(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
