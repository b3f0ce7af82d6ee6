#include "kernels/multiply_divide.h"

/* extern "C": the name in the PTX, in traces and for cuModuleGetFunction is the one written here.
 *
 * Both steps of a round are exact (a power of two), and the compiler may not cancel them: doubling
 * can overflow to infinity, which halving does not undo. So 100 dependent operations per element
 * stay in the machine code. */
extern "C" __global__ void multiply_divide(float *array, size_t length)
{
    for (size_t i = threadIdx.x; i < length; i += blockDim.x) {
        float value = array[i];
        for (int round = 0; round < MULTIPLY_DIVIDE_ROUNDS; round++) {
            value *= 2.0f;
            value /= 2.0f;
        }
        array[i] = value + MULTIPLY_DIVIDE_MARK(i);
    }
}

/* The symbol is called by its address, not with <<<>>>, so that the launch's own error comes back,
 * and no error that an earlier call left behind. */
cudaError_t multiply_divide_launch(float *array, size_t length, cudaStream_t stream)
{
    void *arguments[] = {&array, &length};
    return cudaLaunchKernel((const void *)multiply_divide, dim3(1), dim3(MULTIPLY_DIVIDE_THREADS),
                            arguments, 0, stream);
}
