// Wrong: home-made grid barrier in a plain launch of more blocks than fit on the device: the
// resident ones spin for the others.
// Found: endless kernel
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(e));                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int THREADS = 64;
constexpr int CELLS = 128; // per block, with a work area that takes 40 KB
constexpr int SCRATCH = 10 * 1024;

struct Barrier {
    unsigned arrived;
    unsigned generation;
};

__device__ void gridBarrier(Barrier *b)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned gen = atomicAdd(&b->generation, 0u);
        __threadfence();
        if (atomicAdd(&b->arrived, 1u) == gridDim.x - 1) {
            atomicExch(&b->arrived, 0u);
            __threadfence();
            atomicAdd(&b->generation, 1u);
        } else {
            while (atomicAdd(&b->generation, 0u) == gen) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}

// each step a block sums up its cells with the neighbour blocks' border cells
__global__ void relax(int *cells, Barrier *bar, int steps)
{
    extern __shared__ int scratch[];
    const int n = gridDim.x * CELLS, base = blockIdx.x * CELLS;
    for (int s = 0; s < steps; ++s) {
        for (int k = threadIdx.x; k < CELLS + 2; k += THREADS)
            scratch[k] = cells[(base + k - 1 + n) % n];
        gridBarrier(bar);
        for (int k = threadIdx.x; k < CELLS; k += THREADS)
            cells[base + k] = (scratch[k] + 2 * scratch[k + 1] + scratch[k + 2]) & 0xfff;
        gridBarrier(bar);
    }
}

int main()
{
    const int blocks = 1024, n = blocks * CELLS, steps = 2;
    std::vector<int> h(n), ref, got(n);
    for (int i = 0; i < n; ++i) h[i] = (i * 17) & 0xfff;
    ref = h;
    for (int s = 0; s < steps; ++s) {
        std::vector<int> old = ref;
        for (int i = 0; i < n; ++i)
            ref[i] = (old[(i + n - 1) % n] + 2 * old[i] + old[(i + 1) % n]) & 0xfff;
    }

    int *cells;
    Barrier *bar;
    CHECK(cudaMalloc(&cells, n * sizeof(int)));
    CHECK(cudaMalloc(&bar, sizeof(Barrier)));
    CHECK(cudaMemcpy(cells, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(bar, 0, sizeof(Barrier)));
    relax<<<blocks, THREADS, SCRATCH * sizeof(int)>>>(cells, bar, steps);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got.data(), cells, n * sizeof(int), cudaMemcpyDeviceToHost));

    int bad = 0;
    for (int i = 0; i < n; ++i)
        if (got[i] != ref[i] && bad++ < 5) printf("cell %d: %d, expected %d\n", i, got[i], ref[i]);
    CHECK(cudaFree(cells));
    CHECK(cudaFree(bar));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
