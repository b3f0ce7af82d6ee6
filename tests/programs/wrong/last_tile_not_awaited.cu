// Wrong: tiles come by asynchronous copies, and the last one is not waited for.
// Found: copy not awaited
#include <cstdio>
#include <cstdlib>
#include <cuda_pipeline.h>
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

constexpr int T = 64;
__global__ void sums(const int *in, int *out, int tiles)
{
    __shared__ int tile[2][T];
    const int t = threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) {
            __pipeline_memcpy_async(&tile[(k + 1) & 1][t], &in[(k + 1) * T + t], 4);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(1);
        }
        __syncthreads();
        sum += tile[k & 1][T - 1 - t];
        __syncthreads();
    }
    out[t] = sum;
}
int main()
{
    const int tiles = 6;
    std::vector<int> h(tiles * T), got(T);
    for (int i = 0; i < tiles * T; ++i) h[i] = i % 89;
    int *in, *o;
    CHECK(cudaMalloc(&in, h.size() * 4));
    CHECK(cudaMalloc(&o, T * 4));
    CHECK(cudaMemcpy(in, h.data(), h.size() * 4, cudaMemcpyHostToDevice));
    sums<<<1, T>>>(in, o, tiles);
    CHECK(cudaMemcpy(got.data(), o, T * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(o));
    for (int t = 0; t < T; ++t) {
        int sum = 0;
        for (int k = 0; k < tiles; ++k) sum += h[k * T + T - 1 - t];
        if (sum != got[t]) return 1;
    }
    return 0;
}
