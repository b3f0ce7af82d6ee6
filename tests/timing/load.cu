/* For many.sh --busy: keeps a GPU at work, in bursts of some milliseconds, until it is ended. */
#include <cuda_runtime.h>

__global__ static void spin(float *value)
{
    float x = *value;
    for (int i = 0; i < 200000; i++) x = x * 1.0001f + 0.5f;
    value[threadIdx.x + blockIdx.x * blockDim.x] = x;
}

int main()
{
    float *value;

    if (cudaMalloc(&value, sizeof(float) * 256 * 256) != cudaSuccess) return 1;
    for (;;) {
        spin<<<256, 256>>>(value);
        if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    }
}
