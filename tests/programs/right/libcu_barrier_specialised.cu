// Right: warp-specialised producers and consumers with cuda::barrier in shared memory, split arrive
// / wait, a latch.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda_runtime.h>
#include <new>
#include <utility>
#include <vector>

#pragma nv_diag_suppress static_var_with_dynamic_init

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
using block_latch = cuda::latch<cuda::thread_scope_block>;

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            std::printf("%s -> %s\n", #x, cudaGetErrorString(e));                                  \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

constexpr int kHalf = 64; // producers, and as many consumers
constexpr int kStages = 2;

__device__ void produce(block_barrier ready[], block_barrier filled[], float (*buf)[kHalf],
                        const float *in, int tiles)
{
    for (int t = 0; t < tiles; ++t) {
        ready[t % kStages].arrive_and_wait(); // the slot is free
        buf[t % kStages][threadIdx.x] = sqrtf(in[t * kHalf + threadIdx.x]);
        (void)filled[t % kStages].arrive();
    }
}

__device__ void consume(block_barrier ready[], block_barrier filled[], float (*buf)[kHalf],
                        float *out, int tiles)
{
    const int me = threadIdx.x - kHalf;
    for (int s = 0; s < kStages; ++s) (void)ready[s].arrive(); // both slots start out free
    for (int t = 0; t < tiles; ++t) {
        filled[t % kStages].arrive_and_wait();
        const float *b = buf[t % kStages];
        float v = b[(me + kHalf - 1) % kHalf] + 2.0f * b[me] + b[(me + 1) % kHalf];
        (void)ready[t % kStages].arrive();
        out[t * kHalf + me] = v;
    }
}

__global__ void smoothTiles(const float *in, float *out, int tilesPerBlock)
{
    __shared__ float buf[kStages][kHalf];
    __shared__ block_barrier bars[2 * kStages];
    if (threadIdx.x < 2 * kStages) init(&bars[threadIdx.x], blockDim.x);
    __syncthreads();
    const size_t off = (size_t)blockIdx.x * tilesPerBlock * kHalf;
    if (threadIdx.x < kHalf)
        produce(bars, bars + kStages, buf, in + off, tilesPerBlock);
    else
        consume(bars, bars + kStages, buf, out + off, tilesPerBlock);
}

// arrive early, do unrelated work, wait late; the latch tells thread 0 that all partial results are
// stored
__global__ void splitPhase(const int *in, int *out, int rounds)
{
    __shared__ int a[128];
    __shared__ int pad[128];
    __shared__ block_barrier bar;
    __shared__ alignas(block_latch) unsigned char latchMem[sizeof(block_latch)];
    block_latch &done = *reinterpret_cast<block_latch *>(latchMem);
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        new (latchMem) block_latch(blockDim.x);
    }
    __syncthreads();
    const int i = threadIdx.x, n = blockDim.x;
    int v = in[blockIdx.x * n + i];
    unsigned long long priv = 0;
    for (int r = 0; r < rounds; ++r) {
        a[i] = v;
        block_barrier::arrival_token tok = bar.arrive();
        for (int k = 0; k < 5; ++k) priv = priv * 31 + v + k; // nothing shared in here
        bar.wait(std::move(tok));
        int left = a[(i + n - 1) % n], right = a[(i + 1) % n];
        bar.arrive_and_wait();
        v = (left * 3 + right * 5 + v) & 0xffff;
    }
    pad[i] = (int)(priv & 0xff);
    done.count_down();
    out[blockIdx.x * n + i] = v;
    if (i == 0) {
        done.wait();
        int s = 0;
        for (int k = 0; k < n; ++k) s += pad[k];
        out[gridDim.x * n + blockIdx.x] = s;
    }
}

int main()
{
    const int blocks = 6, tiles = 9, n = blocks * tiles * kHalf;
    std::vector<float> h(n), got(n);
    for (int i = 0; i < n; ++i) h[i] = (float)((i * 53) % 1000);
    float *din, *dout;
    CK(cudaMalloc(&din, n * sizeof(float)));
    CK(cudaMalloc(&dout, n * sizeof(float)));
    CK(cudaMemcpy(din, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    smoothTiles<<<blocks, 2 * kHalf>>>(din, dout, tiles);
    CK(cudaGetLastError());
    CK(cudaMemcpy(got.data(), dout, n * sizeof(float), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int t = 0; t < n / kHalf; ++t)
        for (int i = 0; i < kHalf; ++i) {
            const float *b = &h[t * kHalf];
            float w = std::sqrt(b[(i + kHalf - 1) % kHalf]) + 2 * std::sqrt(b[i]) +
                      std::sqrt(b[(i + 1) % kHalf]);
            if (std::fabs(w - got[t * kHalf + i]) > 1e-3f && bad++ < 5)
                std::printf("tile %d [%d]: %f, expected %f\n", t, i, got[t * kHalf + i], w);
        }
    CK(cudaFree(din));
    CK(cudaFree(dout));

    const int bs = 128, nb = 4, rounds = 7, m = bs * nb;
    std::vector<int> hi(m), gi(m + nb), ref(m), sums(nb, 0);
    for (int i = 0; i < m; ++i) hi[i] = (i * 97) & 0xffff;
    int *di, *doo;
    CK(cudaMalloc(&di, m * sizeof(int)));
    CK(cudaMalloc(&doo, (m + nb) * sizeof(int)));
    CK(cudaMemcpy(di, hi.data(), m * sizeof(int), cudaMemcpyHostToDevice));
    splitPhase<<<nb, bs>>>(di, doo, rounds);
    CK(cudaGetLastError());
    CK(cudaMemcpy(gi.data(), doo, (m + nb) * sizeof(int), cudaMemcpyDeviceToHost));
    std::vector<unsigned long long> priv(m, 0);
    ref = hi;
    for (int r = 0; r < rounds; ++r) {
        std::vector<int> old = ref;
        for (int i = 0; i < m; ++i) {
            for (int k = 0; k < 5; ++k) priv[i] = priv[i] * 31 + old[i] + k;
            int b = i / bs * bs, l = i % bs;
            ref[i] = (old[b + (l + bs - 1) % bs] * 3 + old[b + (l + 1) % bs] * 5 + old[i]) & 0xffff;
        }
    }
    for (int i = 0; i < m; ++i) {
        sums[i / bs] += (int)(priv[i] & 0xff);
        if (gi[i] != ref[i] && bad++ < 10)
            std::printf("split[%d]: %d, expected %d\n", i, gi[i], ref[i]);
    }
    for (int b = 0; b < nb; ++b)
        if (gi[m + b] != sums[b] && bad++ < 12)
            std::printf("sum[%d]: %d, expected %d\n", b, gi[m + b], sums[b]);
    CK(cudaFree(di));
    CK(cudaFree(doo));
    if (bad) return 1;
    std::printf("PASS\n");
    return 0;
}
