// A mistake on purpose: a kernel in another stream uses cuRAND's numbers without waiting for them.
// The device must report a race.
#include <cstdio>

#include <cuda_runtime.h>
#include <curand.h>

__global__ void twice(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main()
{
    const int N = 10000, BLOCK = 256;
    float *numbers;
    cudaStream_t first, second;
    curandGenerator_t generator;
    cudaMalloc(&numbers, N * sizeof *numbers);
    cudaMemset(numbers, 0, N * sizeof *numbers);
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandSetStream(generator, first);
    curandGenerateUniform(generator, numbers, N);
    twice<<<(N + BLOCK - 1) / BLOCK, BLOCK, 0, second>>>(numbers, N); // does not wait for `first`
    cudaDeviceSynchronize();
    curandDestroyGenerator(generator);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(numbers);
    return 0;
}
