// Right: bitonic sort of tiles in shared memory, then merge-path passes between two buffers, keys
// with values.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e));              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef unsigned long long u64;
constexpr int TILE = 512; // elements per block, 256 threads
constexpr int CHUNK = 8;  // outputs per thread in a merge

__global__ void bitonicTiles(const unsigned *keys, const unsigned *vals, u64 *out, int n)
{
    __shared__ u64 s[TILE];
    const int base = blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
        s[i] = base + i < n ? ((u64)keys[base + i] << 32) | vals[base + i] : ~0ULL;
    for (int k = 2; k <= TILE; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            // thread t handles the pair whose lower index has bit j clear
            int t = threadIdx.x;
            int lo = 2 * t - (t & (j - 1)), hi = lo + j;
            bool up = (lo & k) == 0;
            u64 a = s[lo], b = s[hi];
            if ((a > b) == up) {
                s[lo] = b;
                s[hi] = a;
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
        if (base + i < n) out[base + i] = s[i];
}

// how many of the first `diag` outputs come from a
__device__ int mergePath(const u64 *a, int na, const u64 *b, int nb, int diag)
{
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] <= b[diag - 1 - mid])
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

__global__ void mergePass(const u64 *src, u64 *dst, int n, int run)
{
    int o = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
    if (o >= n) return;
    int pair = o / (2 * run) * (2 * run);
    int na = min(run, n - pair), nb = max(0, min(run, n - pair - na));
    const u64 *a = src + pair, *b = a + na;
    int d0 = o - pair, d1 = min(d0 + CHUNK, na + nb);
    int i = mergePath(a, na, b, nb, d0), j = d0 - i;
    for (int d = d0; d < d1; ++d) {
        bool fromA = j >= nb || (i < na && a[i] <= b[j]);
        dst[pair + d] = fromA ? a[i++] : b[j++];
    }
}

__global__ void unpack(const u64 *v, unsigned *keys, unsigned *vals, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        keys[i] = (unsigned)(v[i] >> 32);
        vals[i] = (unsigned)v[i];
    }
}

static bool test(int n, unsigned range)
{
    std::vector<unsigned> k(n), v(n), gk(n), gv(n);
    unsigned s = n * 31u + range;
    for (int i = 0; i < n; ++i) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        k[i] = s % range;
        v[i] = i;
    }
    unsigned *dk, *dv;
    u64 *a, *b;
    CK(cudaMalloc(&dk, n * sizeof(unsigned)));
    CK(cudaMalloc(&dv, n * sizeof(unsigned)));
    CK(cudaMalloc(&a, n * sizeof(u64)));
    CK(cudaMalloc(&b, n * sizeof(u64)));
    CK(cudaMemcpy(dk, k.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dv, v.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));

    bitonicTiles<<<(n + TILE - 1) / TILE, TILE / 2>>>(dk, dv, a, n);
    CK(cudaGetLastError());
    int threads = (n + CHUNK - 1) / CHUNK;
    for (int run = TILE; run < n; run *= 2) {
        mergePass<<<(threads + 63) / 64, 64>>>(a, b, n, run);
        CK(cudaGetLastError());
        std::swap(a, b);
    }
    unpack<<<(n + 255) / 256, 256>>>(a, dk, dv, n);
    CK(cudaGetLastError());
    CK(cudaMemcpy(gk.data(), dk, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gv.data(), dv, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaFree(dk));
    CK(cudaFree(dv));
    CK(cudaFree(a));
    CK(cudaFree(b));

    // the value (the original index) breaks ties: the sort is stable
    std::stable_sort(v.begin(), v.end(), [&](unsigned x, unsigned y) { return k[x] < k[y]; });
    for (int i = 0; i < n; ++i)
        if (gv[i] != v[i] || gk[i] != k[v[i]]) {
            printf("n=%d: position %d holds (%u,%u), expected (%u,%u)\n", n, i, gk[i], gv[i],
                   k[v[i]], v[i]);
            return false;
        }
    return true;
}

int main()
{
    bool ok = test(5, 100) && test(512, 0xffffffffu) && test(513, 50) && test(7000, 1000) &&
              test(8192, 0xfffffff0u);
    if (!ok) return 1;
    printf("PASS\n");
    return 0;
}
