// Wrong: the constants are copied in the default stream, for which a non-blocking stream does not
// wait. The program sees a wrong answer and ends at once: no call waits for the copy.
// Found: race
#include <cstdio>
#include <cuda_runtime.h>

static __constant__ float weights[4];

__global__ void weigh(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x % 4];
}

int main()
{
    const float host[4] = {1, 2, 3, 4};
    float *out, got[32];
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc(&out, sizeof got) != cudaSuccess ||
        cudaMemcpyToSymbol(weights, host, sizeof host) != cudaSuccess)
        return 2;
    weigh<<<1, 32, 0, stream>>>(out);
    if (cudaMemcpyAsync(got, out, sizeof got, cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess)
        return 2;
    for (int i = 0; i < 32; i++)
        if (got[i] != host[i % 4]) return 1;
    return cudaFree(out) != cudaSuccess || cudaStreamDestroy(stream) != cudaSuccess;
}
