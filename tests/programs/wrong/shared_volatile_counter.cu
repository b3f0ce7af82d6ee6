// Wrong: threads of a block count in a volatile variable.
// Found: shared memory race
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

__global__ void count(const int *in, int *out, int n)
{
    __shared__ volatile int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[i] % 7 == 3) found = found + 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}
int main()
{
    const int n = 2000;
    std::vector<int> h(n);
    int want = 0, got = 0, *in, *o;
    for (int i = 0; i < n; ++i) {
        h[i] = (i * 17) % 1009;
        want += h[i] % 7 == 3;
    }
    CHECK(cudaMalloc(&in, n * 4));
    CHECK(cudaMalloc(&o, 4));
    CHECK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
    count<<<1, 256>>>(in, o, n);
    CHECK(cudaMemcpy(&got, o, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(o));
    return got != want;
}
