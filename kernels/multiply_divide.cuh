/* multiply_divide.cuh: what the kernels of multiply_divide.cu and multiply_divide_others.cu do to
 * their array, and how they are launched. For these two files, and for what measures them. */
#ifndef OVERLAP_KERNELS_MULTIPLY_DIVIDE_CUH
#define OVERLAP_KERNELS_MULTIPLY_DIVIDE_CUH

#include "kernels/multiply_divide.h"

/* Both steps of a round are exact (a power of two), and the compiler may not cancel them: doubling
 * can overflow to infinity, which halving does not undo. So 100 dependent operations per element
 * stay in the machine code. */
static __device__ void work(float *array, size_t length, float marks)
{
    for (size_t i = threadIdx.x; i < length; i += blockDim.x) {
        float value = array[i];
        for (int round = 0; round < MULTIPLY_DIVIDE_ROUNDS; round++) {
            value *= 2.0f;
            value /= 2.0f;
        }
        array[i] = value + marks * MULTIPLY_DIVIDE_MARK(i);
    }
}

/* The symbol is called by its address, not with <<<>>>, so that the launch's own error comes back,
 * and no error that an earlier call left behind. */
static cudaError_t launch(const void *kernel, float *array, size_t length, cudaStream_t stream)
{
    void *arguments[] = {&array, &length};
    return cudaLaunchKernel(kernel, dim3(1), dim3(MULTIPLY_DIVIDE_THREADS), arguments, 0, stream);
}

#endif
