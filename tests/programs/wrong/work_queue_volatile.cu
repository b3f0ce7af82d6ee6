// Wrong: blocks take tiles from a queue by reading and writing a volatile counter instead of
// atomicAdd.
// Found: race between blocks
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t rc_ = (x);                                                                     \
        if (rc_ != cudaSuccess) {                                                                  \
            printf("CUDA call %s failed in line %d: %s\n", #x, __LINE__, cudaGetErrorString(rc_)); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int TILE = 128;

struct Queue {
    volatile unsigned next;
    unsigned count;
};

__device__ unsigned takeTile(Queue *q)
{
    unsigned t = q->next;
    q->next = t + 1;
    return t;
}

// tiles have very different costs, hence the queue
__device__ int collatz(unsigned v)
{
    int steps = 0;
    while (v > 1 && steps < 200) {
        v = (v & 1) ? 3 * v + 1 : v / 2;
        ++steps;
    }
    return steps;
}

__global__ void persistent(Queue *q, const unsigned *in, int *out, unsigned *done, int n)
{
    __shared__ unsigned tile;
    for (unsigned guard = 0; guard <= q->count; ++guard) {
        if (threadIdx.x == 0) tile = takeTile(q);
        __syncthreads();
        unsigned t = tile;
        __syncthreads();
        if (t >= q->count) break;
        int i = t * TILE + threadIdx.x;
        if (i < n) atomicAdd(&out[i], collatz(in[i]));
        if (threadIdx.x == 0) atomicAdd(&done[t], 1u);
    }
}

int main()
{
    const int n = 3000, tiles = (n + TILE - 1) / TILE;
    std::vector<unsigned> in(n), done(tiles);
    std::vector<int> out(n);
    for (int i = 0; i < n; ++i) in[i] = 1 + (i * 7) % 900;

    Queue *q, init = {};
    unsigned *dIn, *dDone;
    int *dOut;
    init.count = tiles;
    CK(cudaMalloc(&q, sizeof(Queue)));
    CK(cudaMalloc(&dIn, n * sizeof(unsigned)));
    CK(cudaMalloc(&dOut, n * sizeof(int)));
    CK(cudaMalloc(&dDone, tiles * sizeof(unsigned)));
    CK(cudaMemcpy(q, (const void *)&init, sizeof(Queue), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dIn, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CK(cudaMemset(dOut, 0, n * sizeof(int)));
    CK(cudaMemset(dDone, 0, tiles * sizeof(unsigned)));

    persistent<<<12, TILE>>>(q, dIn, dOut, dDone, n);
    CK(cudaGetLastError());
    CK(cudaMemcpy(out.data(), dOut, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(done.data(), dDone, tiles * sizeof(unsigned), cudaMemcpyDeviceToHost));

    int bad = 0;
    for (int t = 0; t < tiles; ++t)
        if (done[t] != 1 && bad++ < 5) printf("tile %d was done %u times\n", t, done[t]);
    for (int i = 0; i < n; ++i) {
        int steps = 0;
        for (unsigned v = in[i]; v > 1 && steps < 200; ++steps) v = (v & 1) ? 3 * v + 1 : v / 2;
        if (out[i] != steps && bad++ < 10) printf("out[%d] = %d, expected %d\n", i, out[i], steps);
    }
    CK(cudaFree(q));
    CK(cudaFree(dIn));
    CK(cudaFree(dOut));
    CK(cudaFree(dDone));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
