// Right: CUB block and warp collectives: load/store with transposition, scan, reduce, radix sort,
// shared storage reused.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <vector>

#define CK(x)                                                                                      \
    if (cudaError_t e = (x)) {                                                                     \
        std::fprintf(stderr, "%s failed: %s (line %d)\n", #x, cudaGetErrorString(e), __LINE__);    \
        std::exit(1);                                                                              \
    }

template <int BLOCK, int ITEMS>
__global__ void tileKernel(const int *in, int *sorted, int *prefix, int *tileMax, int *tileSum)
{
    using Load = cub::BlockLoad<int, BLOCK, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, BLOCK, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using Scan = cub::BlockScan<int, BLOCK>;
    using Reduce = cub::BlockReduce<int, BLOCK, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    using Sort = cub::BlockRadixSort<int, BLOCK, ITEMS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
        typename Sort::TempStorage sort;
    } tmp;

    const int base = blockIdx.x * BLOCK * ITEMS;
    int v[ITEMS];
    Load(tmp.load).Load(in + base, v);
    __syncthreads();

    int p[ITEMS], sum;
    Scan(tmp.scan).ExclusiveSum(v, p, sum);
    __syncthreads();
    Store(tmp.store).Store(prefix + base, p);
    __syncthreads();

    int localMax = v[0];
    for (int i = 1; i < ITEMS; ++i) localMax = max(localMax, v[i]);
    int blockMax =
        Reduce(tmp.reduce).Reduce(localMax, [] __device__(int a, int b) { return a > b ? a : b; });
    __syncthreads();
    if (threadIdx.x == 0) { // only thread 0 has the reduction's result
        tileMax[blockIdx.x] = blockMax;
        tileSum[blockIdx.x] = sum;
    }

    Sort(tmp.sort).Sort(v);
    __syncthreads();
    Store(tmp.store).Store(sorted + base, v);
}

// One logical warp of 8 lanes per row of eight numbers, each with its own storage.
template <int BLOCK> __global__ void rowKernel(const int *in, int *scan, int *rowSum, int rows)
{
    using WScan = cub::WarpScan<int, 8>;
    using WReduce = cub::WarpReduce<int, 8>;
    constexpr int kGroups = BLOCK / 8;
    __shared__ typename WScan::TempStorage scanTmp[kGroups];
    __shared__ typename WReduce::TempStorage redTmp[kGroups];
    const int group = threadIdx.x / 8, lane = threadIdx.x % 8;
    const int row = blockIdx.x * kGroups + group;
    int v = row < rows ? in[row * 8 + lane] : 0;
    int s;
    WScan(scanTmp[group]).InclusiveSum(v, s);
    int total = WReduce(redTmp[group]).Sum(v);
    if (row < rows) {
        scan[row * 8 + lane] = s;
        if (lane == 0) rowSum[row] = total;
    }
}

int main()
{
    constexpr int BLOCK = 128, ITEMS = 5, tiles = 11;
    constexpr int n = BLOCK * ITEMS * tiles;
    constexpr int rows = n / 8;
    std::vector<int> h(n);
    unsigned x = 2463534242u;
    for (int &v : h) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        v = (int)(x % 20001u) - 10000;
    }
    int *in, *sorted, *prefix, *tmax, *tsum, *scan, *rsum;
    CK(cudaMalloc(&in, n * sizeof(int)));
    CK(cudaMalloc(&sorted, n * sizeof(int)));
    CK(cudaMalloc(&prefix, n * sizeof(int)));
    CK(cudaMalloc(&tmax, tiles * sizeof(int)));
    CK(cudaMalloc(&tsum, tiles * sizeof(int)));
    CK(cudaMalloc(&scan, n * sizeof(int)));
    CK(cudaMalloc(&rsum, rows * sizeof(int)));
    CK(cudaMemcpy(in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    tileKernel<BLOCK, ITEMS><<<tiles, BLOCK>>>(in, sorted, prefix, tmax, tsum);
    CK(cudaGetLastError());
    rowKernel<64><<<(rows + 7) / 8, 64>>>(in, scan, rsum, rows);
    CK(cudaGetLastError());

    std::vector<int> gs(n), gp(n), gm(tiles), gt(tiles), gw(n), gr(rows);
    CK(cudaMemcpy(gs.data(), sorted, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gp.data(), prefix, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gm.data(), tmax, tiles * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gt.data(), tsum, tiles * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gw.data(), scan, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gr.data(), rsum, rows * sizeof(int), cudaMemcpyDeviceToHost));

    int bad = 0;
    auto fail = [&](const char *what, int where, int got, int want) {
        if (bad++ < 8) std::printf("%s %d: got %d, expected %d\n", what, where, got, want);
    };
    for (int t = 0; t < tiles; ++t) {
        std::vector<int> tile(h.begin() + t * BLOCK * ITEMS, h.begin() + (t + 1) * BLOCK * ITEMS);
        int run = 0;
        for (int i = 0; i < BLOCK * ITEMS; ++i) {
            if (gp[t * BLOCK * ITEMS + i] != run) fail("prefix", i, gp[t * BLOCK * ITEMS + i], run);
            run += tile[i];
        }
        if (gt[t] != run) fail("tile sum", t, gt[t], run);
        std::sort(tile.begin(), tile.end());
        if (gm[t] != tile.back()) fail("tile max", t, gm[t], tile.back());
        for (int i = 0; i < BLOCK * ITEMS; ++i)
            if (gs[t * BLOCK * ITEMS + i] != tile[i])
                fail("sorted", i, gs[t * BLOCK * ITEMS + i], tile[i]);
    }
    for (int r = 0; r < rows; ++r) {
        int run = 0;
        for (int l = 0; l < 8; ++l) {
            run += h[r * 8 + l];
            if (gw[r * 8 + l] != run) fail("row scan", r * 8 + l, gw[r * 8 + l], run);
        }
        if (gr[r] != run) fail("row sum", r, gr[r], run);
    }
    cudaFree(in);
    cudaFree(sorted);
    cudaFree(prefix);
    cudaFree(tmax);
    cudaFree(tsum);
    cudaFree(scan);
    cudaFree(rsum);
    if (bad) return 1;
    std::printf("PASS\n");
    return 0;
}
