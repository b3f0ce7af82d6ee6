// Wrong: a ticket lock in shared memory without fences.
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

struct Lock {
    unsigned next, serving;
};
__device__ void take(Lock *l)
{
    const unsigned mine = atomicAdd(&l->next, 1u);
    while (*(volatile unsigned *)&l->serving != mine) {
    }
}
__device__ void leave(Lock *l)
{
    atomicAdd(&l->serving, 1u);
}
__global__ void work(const int *in, int *out)
{
    __shared__ Lock lock;
    __shared__ int total, largest;
    if (threadIdx.x == 0) {
        lock.next = lock.serving = 0;
        total = 0;
        largest = -1;
    }
    __syncthreads();
    // one lane at a time: a warp that spins for its own lane is no use before Volta
    const int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x % 8 == 0) {
        take(&lock);
        total += v;
        if (v > largest) largest = v;
        leave(&lock);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = total;
        out[2 * blockIdx.x + 1] = largest;
    }
}
int main()
{
    const int blocks = 3, threads = 128;
    std::vector<int> h(blocks * threads), got(2 * blocks);
    for (size_t i = 0; i < h.size(); ++i) h[i] = (i * 7919) % 1000 + 1;
    int *in, *o;
    CHECK(cudaMalloc(&in, h.size() * 4));
    CHECK(cudaMalloc(&o, got.size() * 4));
    CHECK(cudaMemcpy(in, h.data(), h.size() * 4, cudaMemcpyHostToDevice));
    work<<<blocks, threads>>>(in, o);
    CHECK(cudaMemcpy(got.data(), o, got.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(o));
    for (int b = 0; b < blocks; ++b) {
        int total = 0, largest = -1;
        for (int t = 0; t < threads; t += 8) {
            total += h[b * threads + t];
            if (h[b * threads + t] > largest) largest = h[b * threads + t];
        }
        if (got[2 * b] != total || got[2 * b + 1] != largest) return 1;
    }
    return 0;
}
