#include "kernels/multiply_divide.cuh"

#define SLOW_CYCLES 20000000000ll /* some 12 s; the software device's clock takes large steps */

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

cudaError_t multiply_divide_twice_launch(float *array, size_t length, cudaStream_t stream)
{
    return launch((const void *)multiply_divide_twice, array, length, stream);
}

cudaError_t multiply_divide_slow_launch(float *array, size_t length, cudaStream_t stream)
{
    return launch((const void *)multiply_divide_slow, array, length, stream);
}
