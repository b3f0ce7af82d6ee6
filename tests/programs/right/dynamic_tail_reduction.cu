// Right: a reduction that launches its next step as a tail of this one, until one value is left.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void add_halves(unsigned long long *values, unsigned count)
{
    const unsigned half = (count + 1) / 2;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + half < count) values[i] += values[i + half];
    if (i == 0 && half > 1)
        add_halves<<<(half + 127) / 128, 128, 0, cudaStreamTailLaunch>>>(values, half);
}

// The children fill the array that the tail sums up, in streams that nothing orders.
__global__ void fill(unsigned long long *values, unsigned first, unsigned count)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[first + i] = first + i + 1;
}

__global__ void fill_and_add(unsigned long long *values, unsigned count)
{
    const unsigned part = count / 3;
    fill<<<4, 256, 0, cudaStreamFireAndForget>>>(values, 0, part);
    fill<<<4, 256, 0, cudaStreamFireAndForget>>>(values, part, part);
    fill<<<4, 256>>>(values, 2 * part, count - 2 * part);
    add_halves<<<(count + 255) / 256, 128, 0, cudaStreamTailLaunch>>>(values, count);
}

int main()
{
    const unsigned n = 2999;
    unsigned long long *values, sum = 0;
    CHECK(cudaMalloc(&values, n * sizeof *values));
    fill_and_add<<<1, 1>>>(values, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, values, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(values));
    if (sum != n * (n + 1ull) / 2) {
        fprintf(stderr, "the sum is %llu\n", sum);
        return 1;
    }
    return 0;
}
