/* cublas: the same product by NVIDIA's library, where it is installed, to be shown beside the
 * student's. It is found while the program runs: nothing is linked with it, and it judges nothing.
 */
#ifndef OVERLAP_GRADER_LESSONS_12_MATMUL_CUBLAS_H
#define OVERLAP_GRADER_LESSONS_12_MATMUL_CUBLAS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

struct matmul_call;

/* Queues c = a b, `call->repeats` times, in `stream`, on the device's memory. Returns false, and
 * has queued nothing or not all: there is no cuBLAS, or it could not. The first call of a process
 * loads it, which takes a second. */
bool cublas_multiply(const struct matmul_call *call, const float *a, const float *b, float *c,
                     cudaStream_t stream);

#endif
