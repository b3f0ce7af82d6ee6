// A wrong program: it reads the result of a transform in another stream and waits for nothing in
// between. The race is between the last kernel of cufftExecC2C and the kernel `scale`.
#include <cufft.h>

#include <cstdio>

__global__ void scale(const cufftComplex *from, cufftComplex *to, int n)
{
    const int k = threadIdx.x + blockIdx.x * blockDim.x;
    if (k < n) to[k] = {from[k].x / n, from[k].y / n};
}

int main()
{
    enum { N = 1000 };
    cufftComplex *data, *spectrum, *scaled;
    cufftHandle plan;
    cudaStream_t transforms, others;
    cudaStreamCreateWithFlags(&transforms, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&others, cudaStreamNonBlocking);
    cudaMalloc(&data, N * sizeof *data);
    cudaMalloc(&spectrum, N * sizeof *spectrum);
    cudaMalloc(&scaled, N * sizeof *scaled);
    cudaMemset(data, 0, N * sizeof *data);
    cudaDeviceSynchronize();
    if (cufftPlan1d(&plan, N, CUFFT_C2C, 1) != CUFFT_SUCCESS) return 1;
    cufftSetStream(plan, transforms);
    if (cufftExecC2C(plan, data, spectrum, CUFFT_FORWARD) != CUFFT_SUCCESS) return 1;
    scale<<<(N + 255) / 256, 256, 0, others>>>(spectrum, scaled, N); // no wait
    cudaDeviceSynchronize();
    cufftDestroy(plan);
    cudaFree(data);
    cudaFree(spectrum);
    cudaFree(scaled);
    cudaStreamDestroy(transforms);
    cudaStreamDestroy(others);
    printf("done\n");
    return 0;
}
