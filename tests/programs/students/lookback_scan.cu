// A scan in one pass: blocks take tickets, publish their sums, and look back at those before them.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

enum : uint32_t { X = 0, A = 1, P = 2 }; // nothing yet, the aggregate, the prefix

__device__ void publish(unsigned long long *st, int tile, uint32_t flag, uint32_t v)
{
    atomicExch(&st[tile], ((unsigned long long)flag << 32) | v);
}

__global__ void scan_lookback(const uint32_t *in, uint32_t *out, int n, unsigned long long *status,
                              unsigned *ticket)
{
    const int ITEMS = 4;
    __shared__ int tile_s;
    __shared__ uint32_t ws[8], excl_s;
    if (threadIdx.x == 0) tile_s = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = tile_s, base = (tile * blockDim.x + threadIdx.x) * ITEMS, lane = threadIdx.x & 31,
        warp = threadIdx.x >> 5;
    uint32_t v[ITEMS], sum = 0;
    for (int i = 0; i < ITEMS; i++) {
        v[i] = base + i < n ? in[base + i] : 0;
        sum += v[i];
    }
    uint32_t x = sum;
    for (int o = 1; o < 32; o <<= 1) {
        uint32_t t = __shfl_up_sync(0xffffffff, x, o);
        if (lane >= o) x += t;
    }
    if (lane == 31) ws[warp] = x;
    __syncthreads();
    uint32_t wp = 0, agg = 0;
    for (int i = 0; i < blockDim.x / 32; i++) {
        if (i < warp) wp += ws[i];
        agg += ws[i];
    }
    if (warp == 0) {
        if (lane == 0) publish(status, tile, tile == 0 ? P : A, agg);
        if (tile > 0) {
            uint32_t prefix = 0;
            int look = tile - 1;
            while (true) {
                int idx = look - lane;
                uint32_t f = P, val = 0;
                do {
                    if (idx >= 0) {
                        unsigned long long w = *(volatile unsigned long long *)&status[idx];
                        f = (uint32_t)(w >> 32);
                        val = (uint32_t)w;
                    }
                } while (__any_sync(0xffffffff, f == X));
                unsigned done = __ballot_sync(0xffffffff, f == P);
                int stop = done ? __ffs(done) - 1 : 31;
                uint32_t c = lane <= stop ? val : 0;
                for (int o = 16; o; o >>= 1) c += __shfl_xor_sync(0xffffffff, c, o);
                prefix += c;
                if (done) break;
                look -= 32;
            }
            if (lane == 0) {
                publish(status, tile, P, prefix + agg);
                excl_s = prefix;
            }
        } else if (lane == 0)
            excl_s = 0;
    }
    __syncthreads();
    uint32_t run = excl_s + wp + x - sum;
    for (int i = 0; i < ITEMS; i++) {
        run += v[i];
        if (base + i < n) out[base + i] = run;
    }
}

int main()
{
    int n = 100003;
    std::vector<uint32_t> a(n), r(n), g(n);
    uint32_t s = 0;
    for (int i = 0; i < n; i++) {
        a[i] = (i * 7919u) % 101;
        s += a[i];
        r[i] = s;
    }
    uint32_t *din, *dout;
    unsigned long long *st;
    unsigned *tk;
    int tiles = (n + 1023) / 1024;
    cudaMalloc(&din, n * 4);
    cudaMalloc(&dout, n * 4);
    cudaMalloc(&st, tiles * 8);
    cudaMalloc(&tk, 4);
    cudaMemcpy(din, a.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(st, 0, tiles * 8);
    cudaMemset(tk, 0, 4);
    scan_lookback<<<tiles, 256>>>(din, dout, n, st, tk);
    cudaError_t e = cudaMemcpy(g.data(), dout, n * 4, cudaMemcpyDeviceToHost);
    cudaFree(din);
    cudaFree(dout);
    cudaFree(st);
    cudaFree(tk);
    bool ok = e == cudaSuccess && g == r;
    printf("%s\n", ok ? "ok" : "WRONG");
    return !ok;
}
