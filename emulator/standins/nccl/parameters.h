/* parameters: the structures that the kernels of kernels.cu take. C and CUDA share this header. */
#ifndef OVERLAP_STANDINS_NCCL_PARAMETERS_H
#define OVERLAP_STANDINS_NCCL_PARAMETERS_H

#include <stdint.h>

enum { NCCL_BLOCK = 256 };

/* out[i] = the operator over the `ranks` values at slots[rank * stride + i], beginning with rank 0.
 */
struct nccl_combine {
    void *out;
    const void *slots;
    uint64_t count, stride; /* elements */
    uint32_t ranks;
    uint32_t op; /* enum nccl_operator; NCCL_AVG: sums and divides */
};

/* out[i] = in[i] * scalar, in the type of both. The scalar is at `scalar`, or in `value`. */
struct nccl_scale {
    void *out;
    const void *in;
    uint64_t count;
    const void *scalar; /* device memory; 0: `value` has it */
    uint64_t value;     /* its bytes, from the lowest on */
};

#endif
