// Right: single-pass prefix sum with decoupled look-back, tiles handed out by a ticket, flags
// published after a fence.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA_CHECK(x)                                                                              \
    do {                                                                                           \
        cudaError_t err = (x);                                                                     \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "[%s:%d] %s\n", __FILE__, __LINE__, cudaGetErrorString(err));          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int BLOCK = 128;
constexpr int ITEMS = 4;
constexpr int TILE = BLOCK * ITEMS;

enum : int { EMPTY = 0, AGGREGATE = 1, PREFIX = 2 };

struct TileState {
    int flag;
    unsigned aggregate;
    unsigned prefix; // inclusive
};

__device__ unsigned blockExclusiveScan(unsigned v, unsigned *total)
{
    __shared__ unsigned warpSums[BLOCK / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned inc = v;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        unsigned t = __shfl_up_sync(0xffffffffu, inc, d);
        if (lane >= d) inc += t;
    }
    if (lane == 31) warpSums[warp] = inc;
    __syncthreads();
    unsigned before = 0, all = 0;
#pragma unroll
    for (int w = 0; w < BLOCK / 32; ++w) {
        if (w < warp) before += warpSums[w];
        all += warpSums[w];
    }
    *total = all;
    return before + inc - v;
}

__global__ void __launch_bounds__(BLOCK)
    scanSinglePass(const unsigned *in, unsigned *out, int n, TileState *state, unsigned *ticket)
{
    __shared__ unsigned s_tile, s_before;
    // a tile's predecessors have all been started: the ticket is drawn in running order
    if (threadIdx.x == 0) s_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = (int)s_tile;
    const int base = tile * TILE + threadIdx.x * ITEMS;

    unsigned v[ITEMS], mine = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        v[k] = base + k < n ? in[base + k] : 0u;
        mine += v[k];
    }
    unsigned total;
    unsigned run = blockExclusiveScan(mine, &total);

    if (threadIdx.x == 0) {
        unsigned before = 0;
        if (tile == 0) {
            state[0].prefix = total;
            __threadfence();
            atomicExch(&state[0].flag, (int)PREFIX);
        } else {
            state[tile].aggregate = total;
            __threadfence();
            atomicExch(&state[tile].flag, (int)AGGREGATE);
            for (int p = tile - 1;; --p) {
                int f;
                while ((f = *(volatile int *)&state[p].flag) == EMPTY) {
                }
                __threadfence();
                if (f == PREFIX) {
                    before += *(volatile unsigned *)&state[p].prefix;
                    break;
                }
                before += *(volatile unsigned *)&state[p].aggregate;
            }
            state[tile].prefix = before + total;
            __threadfence();
            atomicExch(&state[tile].flag, (int)PREFIX);
        }
        s_before = before;
    }
    __syncthreads();

    run += s_before;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        run += v[k];
        if (base + k < n) out[base + k] = run;
    }
}

static bool runOnce(int n)
{
    const int tiles = (n + TILE - 1) / TILE;
    std::vector<unsigned> h(n), got(n);
    unsigned s = (unsigned)n;
    for (int i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        h[i] = s >> 22;
    }
    unsigned *in, *out, *ticket;
    TileState *state;
    CUDA_CHECK(cudaMalloc(&in, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&out, n * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&state, tiles * sizeof(TileState)));
    CUDA_CHECK(cudaMalloc(&ticket, sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(in, h.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    bool ok = true;
    for (int repeat = 0; repeat < 2 && ok; ++repeat) {
        CUDA_CHECK(cudaMemset(state, 0, tiles * sizeof(TileState)));
        CUDA_CHECK(cudaMemset(ticket, 0, sizeof(unsigned)));
        CUDA_CHECK(cudaMemset(out, 0xff, n * sizeof(unsigned)));
        scanSinglePass<<<tiles, BLOCK>>>(in, out, n, state, ticket);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(got.data(), out, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
        unsigned run = 0;
        for (int i = 0; i < n; ++i) {
            run += h[i];
            if (got[i] != run) {
                printf("n=%d run %d: element %d is %u, expected %u\n", n, repeat, i, got[i], run);
                ok = false;
                break;
            }
        }
    }
    CUDA_CHECK(cudaFree(in));
    CUDA_CHECK(cudaFree(out));
    CUDA_CHECK(cudaFree(state));
    CUDA_CHECK(cudaFree(ticket));
    return ok;
}

int main()
{
    for (int n : {1, 511, 513, 20000, 65536 + 77}) {
        if (!runOnce(n)) return 1;
    }
    printf("PASS\n");
    return 0;
}
