// Right: all-pairs shortest paths, blocked Floyd-Warshall in three phases per round, plain version
// beside it.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(ans)                                                                                    \
    do {                                                                                           \
        cudaError_t code = (ans);                                                                  \
        if (code != cudaSuccess) {                                                                 \
            fprintf(stderr, "GPUassert: %s line %d\n", cudaGetErrorString(code), __LINE__);        \
            exit(code);                                                                            \
        }                                                                                          \
    } while (0)

constexpr int B = 16;
constexpr int INF = 1 << 28;

// phase 1: the diagonal tile
__global__ void diagonal(int *d, int n, int round)
{
    __shared__ int t[B][B];
    const int x = threadIdx.x, y = threadIdx.y, o = round * B;
    t[y][x] = d[(o + y) * n + o + x];
    __syncthreads();
    for (int k = 0; k < B; ++k) {
        int v = min(t[y][x], t[y][k] + t[k][x]);
        __syncthreads();
        t[y][x] = v;
        __syncthreads();
    }
    d[(o + y) * n + o + x] = t[y][x];
}

// phase 2: the tiles in the row (blockIdx.y == 0) and the column (blockIdx.y == 1) of the diagonal
// tile
__global__ void cross(int *d, int n, int round)
{
    if (blockIdx.x == round) return;
    __shared__ int pivot[B][B], t[B][B];
    const int x = threadIdx.x, y = threadIdx.y, o = round * B;
    const bool isRow = blockIdx.y == 0;
    const int r0 = isRow ? o : blockIdx.x * B, c0 = isRow ? blockIdx.x * B : o;
    pivot[y][x] = d[(o + y) * n + o + x];
    t[y][x] = d[(r0 + y) * n + c0 + x];
    __syncthreads();
    for (int k = 0; k < B; ++k) {
        int via = isRow ? pivot[y][k] + t[k][x] : t[y][k] + pivot[k][x];
        int v = min(t[y][x], via);
        __syncthreads();
        t[y][x] = v;
        __syncthreads();
    }
    d[(r0 + y) * n + c0 + x] = t[y][x];
}

// phase 3: everything else depends only on its row's and its column's tile
__global__ void rest(int *d, int n, int round)
{
    if (blockIdx.x == round || blockIdx.y == round) return;
    __shared__ int left[B][B], top[B][B];
    const int x = threadIdx.x, y = threadIdx.y, o = round * B;
    const int r = blockIdx.y * B + y, c = blockIdx.x * B + x;
    left[y][x] = d[r * n + o + x];
    top[y][x] = d[(o + y) * n + c];
    __syncthreads();
    int v = d[r * n + c];
#pragma unroll
    for (int k = 0; k < B; ++k) v = min(v, left[y][k] + top[k][x]);
    d[r * n + c] = v;
}

// plain version: one launch per k, two matrices so that nothing is read and written at once
__global__ void plain(const int *in, int *out, int n, int k)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < n && c < n) out[r * n + c] = min(in[r * n + c], in[r * n + k] + in[k * n + c]);
}

int main()
{
    const int n = 80, m = 30;
    std::vector<int> h(n * n, INF), ref, got(n * n);
    unsigned s = 4;
    for (int i = 0; i < n; ++i) {
        h[i * n + i] = 0;
        for (int e = 0; e < 4; ++e) {
            s = s * 1103515245u + 12345u;
            int j = (s >> 16) % n;
            if (j != i && (i < 70) == (j < 70)) h[i * n + j] = 1 + (s >> 9) % 100; // two components
        }
    }
    ref = h;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                if (ref[i * n + k] + ref[k * n + j] < ref[i * n + j])
                    ref[i * n + j] = ref[i * n + k] + ref[k * n + j];

    int *d, *e, *f;
    CK(cudaMalloc(&d, n * n * sizeof(int)));
    CK(cudaMemcpy(d, h.data(), n * n * sizeof(int), cudaMemcpyHostToDevice));
    const int tiles = n / B;
    dim3 threads(B, B);
    for (int round = 0; round < tiles; ++round) {
        diagonal<<<1, threads>>>(d, n, round);
        cross<<<dim3(tiles, 2), threads>>>(d, n, round);
        rest<<<dim3(tiles, tiles), threads>>>(d, n, round);
        CK(cudaGetLastError());
    }
    CK(cudaMemcpy(got.data(), d, n * n * sizeof(int), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n * n; ++i) {
        bool same = ref[i] >= INF ? got[i] >= INF : got[i] == ref[i];
        if (!same && bad++ < 5) printf("%d -> %d: %d, expected %d\n", i / n, i % n, got[i], ref[i]);
    }

    // the plain one on the upper left corner
    std::vector<int> small(m * m), sref, sgot(m * m);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) small[i * m + j] = h[i * n + j];
    sref = small;
    for (int k = 0; k < m; ++k)
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < m; ++j)
                if (sref[i * m + k] + sref[k * m + j] < sref[i * m + j])
                    sref[i * m + j] = sref[i * m + k] + sref[k * m + j];
    CK(cudaMalloc(&e, m * m * sizeof(int)));
    CK(cudaMalloc(&f, m * m * sizeof(int)));
    CK(cudaMemcpy(e, small.data(), m * m * sizeof(int), cudaMemcpyHostToDevice));
    for (int k = 0; k < m; ++k) {
        plain<<<dim3((m + B - 1) / B, (m + B - 1) / B), threads>>>(e, f, m, k);
        int *t = e;
        e = f;
        f = t;
    }
    CK(cudaGetLastError());
    CK(cudaMemcpy(sgot.data(), e, m * m * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < m * m; ++i) {
        bool same = sref[i] >= INF ? sgot[i] >= INF : sgot[i] == sref[i];
        if (!same && bad++ < 10)
            printf("plain %d -> %d: %d, expected %d\n", i / m, i % m, sgot[i], sref[i]);
    }
    CK(cudaFree(d));
    CK(cudaFree(e));
    CK(cudaFree(f));
    if (bad) {
        printf("%d wrong\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
