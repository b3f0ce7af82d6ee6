// Wrong: warps hand a row on by a flag of block scope that is stored relaxed.
// Found: shared memory race
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
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

using Flag = cuda::atomic_ref<int, cuda::thread_scope_block>;
// warps hand a row on, one to the next
__global__ void relay(int *out)
{
    __shared__ int row[4][32];
    __shared__ int ready[4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 4) ready[threadIdx.x] = 0;
    __syncthreads();
    int v = lane;
    if (warp > 0) {
        Flag before(ready[warp - 1]);
        while (before.load(cuda::memory_order_acquire) == 0) {
        }
        v = row[warp - 1][(lane + 1) % 32] * 3 + warp;
    }
    row[warp][lane] = v;
    __syncwarp();
    if (lane == 0) Flag(ready[warp]).store(1, cuda::memory_order_relaxed);
    out[threadIdx.x] = v;
}
int main()
{
    int *o, got[128], row[32], next[32];
    CHECK(cudaMalloc(&o, 512));
    relay<<<1, 128>>>(o);
    CHECK(cudaMemcpy(got, o, 512, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(o));
    for (int w = 0; w < 4; ++w) {
        for (int l = 0; l < 32; ++l) next[l] = w ? row[(l + 1) % 32] * 3 + w : l;
        for (int l = 0; l < 32; ++l) {
            row[l] = next[l];
            if (got[w * 32 + l] != row[l]) return 1;
        }
    }
    return 0;
}
