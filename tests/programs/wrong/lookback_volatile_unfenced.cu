// Wrong: tiles of a scan pass on sums and states by volatile stores, with no fence between the two.
// Found: race between blocks
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

const int T = 128, TILES = 40, N = TILES * T;
enum { EMPTY, SUM, PREFIX };

struct Tile {
    int state, sum, prefix;
};

// One thread looks back at the tiles before, by volatile accesses.
__device__ int look_back(volatile Tile *tiles, int tile, int sum)
{
    int before = 0;
    tiles[tile].sum = sum;
    tiles[tile].state = SUM;
    for (int k = tile - 1; k >= 0; k--) {
        int state;
        while ((state = tiles[k].state) == EMPTY) {
        }
        before += state == PREFIX ? tiles[k].prefix : tiles[k].sum;
        if (state == PREFIX) break;
    }
    tiles[tile].prefix = before + sum;
    tiles[tile].state = PREFIX;
    return before;
}

__global__ void scan(const int *in, int *out, Tile *tiles, int *next)
{
    __shared__ int s[T], tile, before;
    int t = threadIdx.x;
    if (t == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int i = tile * T + t;
    s[t] = in[i];
    __syncthreads();
    for (int k = 1; k < T; k *= 2) {
        int other = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += other;
        __syncthreads();
    }
    if (t == 0) before = look_back(tiles, tile, s[T - 1]);
    __syncthreads();
    out[i] = before + s[t];
}

int main()
{
    static int in[N], out[N];
    int *din, *dout, *next;
    Tile *tiles;
    for (int i = 0; i < N; i++) in[i] = i % 13 - 3;
    check(cudaMalloc(&din, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMalloc(&next, sizeof *next));
    check(cudaMalloc(&tiles, TILES * sizeof *tiles));
    check(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    check(cudaMemset(next, 0, sizeof *next));
    check(cudaMemset(tiles, 0, TILES * sizeof *tiles));
    scan<<<TILES, T>>>(din, dout, tiles, next);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int i = 0, sum = 0; i < N; i++) wrong += out[i] != (sum += in[i]);
    check(cudaFree(din));
    check(cudaFree(dout));
    check(cudaFree(next));
    check(cudaFree(tiles));
    return report(wrong);
}
