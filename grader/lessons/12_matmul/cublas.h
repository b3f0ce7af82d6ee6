/* cublas: the same product by NVIDIA's cuBLAS, where it is installed, to show its time beside the
 * student's. The library is loaded at run time, not linked. Judges nothing.
 */
#ifndef OVERLAP_GRADER_LESSONS_12_MATMUL_CUBLAS_H
#define OVERLAP_GRADER_LESSONS_12_MATMUL_CUBLAS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

struct matmul_call;

/* Queues c = a b, `call->repeats` times, in `stream`, on device memory. Returns false when there is
 * no cuBLAS or it failed; then nothing or only a part is queued. The first call of a process loads
 * the library, which takes a second. */
bool cublas_multiply(const struct matmul_call *call, const float *a, const float *b, float *c,
                     cudaStream_t stream);

#endif
