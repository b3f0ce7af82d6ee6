// Right: shuffles, votes and matches with partial masks used properly, __syncwarp for exchange
// through shared memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#define CUDA_TRY(expr)                                                                             \
    do {                                                                                           \
        cudaError_t status = (expr);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("%d: %s: %s\n", __LINE__, #expr, cudaGetErrorString(status));                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__device__ __forceinline__ unsigned laneId()
{
    unsigned r;
    asm("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}

// Sum over the lanes that are left at the end of the array; a lane never takes a value from outside
// the mask.
__global__ void tailSums(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    int lane = laneId(), live = __popc(mask); // live lanes are the lowest ones
    int v = in[i];
    for (int off = 16; off > 0; off >>= 1) {
        int src = lane + off < live ? lane + off : lane;
        int other = __shfl_sync(mask, v, src);
        if (lane + off < live) v += other;
    }
    if (lane == 0) out[i / 32] = v;
}

// The two halves of the warp go different ways, each with its own mask.
__global__ void halves(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    if (laneId() < 16) {
        for (int m = 8; m > 0; m >>= 1) v = max(v, __shfl_xor_sync(0x0000ffffu, v, m, 16));
    } else {
        for (int m = 8; m > 0; m >>= 1) v = min(v, __shfl_xor_sync(0xffff0000u, v, m, 16));
    }
    __syncwarp();
    out[i] = v;
}

// Segmented inclusive scan: a head flag starts a new segment.
__global__ void segScan(const int *in, const unsigned char *head, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = laneId();
    unsigned heads = __ballot_sync(0xffffffffu, head[i] || lane == 0);
    int start = 31 - __clz(heads & (0xffffffffu >> (31 - lane)));
    int v = in[i];
    for (int off = 1; off < 32; off <<= 1) {
        int up = __shfl_up_sync(0xffffffffu, v, off);
        if (lane - off >= start) v += up;
    }
    out[i] = v;
}

// Sum of all values with the same key in the warp (peers found with match_any).
__global__ void keySums(const int *key, const int *val, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = laneId();
    unsigned peers = __match_any_sync(0xffffffffu, key[i]);
    int mine = val[i], sum = 0;
    for (unsigned rest = peers; rest; rest &= rest - 1)
        sum += __shfl_sync(peers, mine, __ffs(rest) - 1);
    int leader = __ffs(peers) - 1;
    out[i] = lane == leader ? sum : -sum;
    int pred;
    unsigned all = __match_all_sync(0xffffffffu, key[i], &pred);
    if (pred && all == 0xffffffffu) out[i] += 1000000;
}

// Reversal inside the warp through shared memory.
__global__ void warpReverse(int *data)
{
    __shared__ int buf[4][32];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < 3; ++round) {
        buf[w][lane] = data[i] + round;
        __syncwarp();
        int v = buf[w][31 - lane];
        __syncwarp(); // all have read before the next round writes
        data[i] = v;
    }
    bool any = __any_sync(0xffffffffu, data[i] == 7), all = __all_sync(0xffffffffu, data[i] >= 0);
    if (any && all) data[i] += 1;
}

int main()
{
    const int n = 1024;
    std::vector<int> v(n), k(n), got(n);
    std::vector<unsigned char> head(n);
    unsigned s = 99;
    for (int i = 0; i < n; ++i) {
        s = s * 1103515245u + 12345u;
        v[i] = (s >> 16) % 500;
        k[i] = i / 32 == 3 ? 5 : (s >> 8) % 6;
        head[i] = (s >> 20) % 7 == 0;
    }
    int *dv, *dk, *dout;
    unsigned char *dh;
    CUDA_TRY(cudaMalloc(&dv, n * 4));
    CUDA_TRY(cudaMalloc(&dk, n * 4));
    CUDA_TRY(cudaMalloc(&dout, n * 4));
    CUDA_TRY(cudaMalloc(&dh, n));
    CUDA_TRY(cudaMemcpy(dv, v.data(), n * 4, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(dk, k.data(), n * 4, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(dh, head.data(), n, cudaMemcpyHostToDevice));
    int bad = 0;
    auto compare = [&](const char *what, const std::vector<int> &want) {
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaMemcpy(got.data(), dout, want.size() * 4, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < want.size(); ++i)
            if (got[i] != want[i] && bad++ < 6)
                printf("%s[%zu] = %d, expected %d\n", what, i, got[i], want[i]);
    };

    for (int m : {1000, 993, 1024, 961}) {
        std::vector<int> want((m + 31) / 32, 0);
        for (int i = 0; i < m; ++i) want[i / 32] += v[i];
        tailSums<<<8, 128>>>(dv, dout, m);
        compare("tailSums", want);
    }
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i) {
        int b = i / 16 * 16, r = v[b];
        for (int j = 0; j < 16; ++j)
            r = (b / 16) % 2 == 0 ? (v[b + j] > r ? v[b + j] : r) : (v[b + j] < r ? v[b + j] : r);
        want[i] = r;
    }
    halves<<<8, 128>>>(dv, dout);
    compare("halves", want);
    for (int i = 0; i < n; ++i) want[i] = v[i] + (i % 32 && !head[i] ? want[i - 1] : 0);
    segScan<<<8, 128>>>(dv, dh, dout);
    compare("segScan", want);
    for (int i = 0; i < n; ++i) {
        int b = i / 32 * 32, sum = 0, lead = -1;
        bool uni = true;
        for (int j = b; j < b + 32; ++j) {
            uni = uni && k[j] == k[b];
            if (k[j] == k[i]) {
                sum += v[j];
                if (lead < 0) lead = j;
            }
        }
        want[i] = (lead == i ? sum : -sum) + (uni ? 1000000 : 0);
    }
    keySums<<<8, 128>>>(dk, dv, dout);
    compare("keySums", want);
    CUDA_TRY(cudaMemcpy(dout, v.data(), n * 4, cudaMemcpyHostToDevice));
    warpReverse<<<8, 128>>>(dout);
    for (int b = 0; b < n; b += 32) {
        bool any = false;
        for (int j = 0; j < 32; ++j) {
            want[b + j] = v[b + 31 - j] + 3;
            any = any || want[b + j] == 7;
        }
        if (any)
            for (int j = 0; j < 32; ++j) ++want[b + j];
    }
    compare("warpReverse", want);
    cudaFree(dv);
    cudaFree(dk);
    cudaFree(dout);
    cudaFree(dh);
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
