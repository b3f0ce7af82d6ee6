#include "kernels/multiply_divide.h"

#define SLOW_CYCLES 20000000000ll /* some 12 s; the software device's clock takes large steps */

/* extern "C": the name in the PTX, in traces and for cuModuleGetFunction is the one written here.
 *
 * Both steps of a round are exact (a power of two), and the compiler may not cancel them: doubling
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

extern "C" __global__ void multiply_divide(float *array, size_t length)
{
    work(array, length, 1.0f);
}

extern "C" __global__ void multiply_divide_twice(float *array, size_t length)
{
    work(array, length, 2.0f);
}

extern "C" __global__ void multiply_divide_slow(float *array, size_t length)
{
    const long long begin = clock64();
    while (clock64() - begin < SLOW_CYCLES) {
    }
    work(array, length, 1.0f);
}

/* The symbol is called by its address, not with <<<>>>, so that the launch's own error comes back,
 * and no error that an earlier call left behind. */
static cudaError_t launch(const void *kernel, float *array, size_t length, cudaStream_t stream)
{
    void *arguments[] = {&array, &length};
    return cudaLaunchKernel(kernel, dim3(1), dim3(MULTIPLY_DIVIDE_THREADS), arguments, 0, stream);
}

cudaError_t multiply_divide_launch(float *array, size_t length, cudaStream_t stream)
{
    return launch((const void *)multiply_divide, array, length, stream);
}

cudaError_t multiply_divide_twice_launch(float *array, size_t length, cudaStream_t stream)
{
    return launch((const void *)multiply_divide_twice, array, length, stream);
}

cudaError_t multiply_divide_slow_launch(float *array, size_t length, cudaStream_t stream)
{
    return launch((const void *)multiply_divide_slow, array, length, stream);
}
