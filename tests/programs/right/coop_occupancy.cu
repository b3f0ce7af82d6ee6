// Right: a cooperative scan sized by the occupancy API, a split grid barrier, scans and reductions
// of tiles.
#include "tests/programs/program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <numeric>
#include <vector>
namespace cg = cooperative_groups;
__global__ void scan(const int *in, int *out, int *sums, int n)
{
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    __shared__ int w[32];
    __shared__ int carry;
    int per = (n + gridDim.x - 1) / gridDim.x, from = blockIdx.x * per, to = min(n, from + per);
    if (threadIdx.x == 0) carry = 0;
    block.sync();
    for (int base = from; base < to; base += blockDim.x) {
        int i = base + threadIdx.x, v = i < to ? in[i] : 0;
        int x = cg::inclusive_scan(tile, v);
        if (tile.thread_rank() == 31) w[tile.meta_group_rank()] = x;
        block.sync();
        if (tile.meta_group_rank() == 0) {
            int y = tile.thread_rank() < blockDim.x / 32 ? w[tile.thread_rank()] : 0;
            w[tile.thread_rank()] = cg::exclusive_scan(tile, y);
        }
        block.sync();
        int r = x + w[tile.meta_group_rank()] + carry;
        if (i < to) out[i] = r;
        block.sync();
        if (threadIdx.x == blockDim.x - 1) carry = r;
        block.sync();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = carry;
    auto token = grid.barrier_arrive();
    grid.barrier_wait(std::move(token));
    int before = 0;
    for (int b = tile.thread_rank(); b < (int)blockIdx.x; b += 32) before += sums[b];
    before = cg::reduce(tile, before, cg::plus<int>());
    for (int i = from + threadIdx.x; i < to; i += blockDim.x) out[i] += before;
}
int main()
{
    int dev = 0, can, sms, per, minGrid, bs;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, dev));
    EXPECT(can);
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, dev));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&minGrid, &bs, scan, 0, 256));
    EXPECT(bs <= 256);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, scan, bs, 0));
    EXPECT(per >= 1);
    int blocks = per * sms < 48 ? per * sms : 48;
    int n = 30011;
    std::vector<int> h(n), want(n), got(n);
    for (int i = 0; i < n; i++) h[i] = i % 7 - 2;
    std::partial_sum(h.begin(), h.end(), want.begin());
    int *in, *out, *sums;
    CHECK(cudaMalloc(&in, n * 4));
    CHECK(cudaMalloc(&out, n * 4));
    CHECK(cudaMalloc(&sums, blocks * 4));
    CHECK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
    cudaLaunchConfig_t c = {};
    c.gridDim = blocks;
    c.blockDim = bs;
    cudaLaunchAttribute a;
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
    c.attrs = &a;
    c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, scan, (const int *)in, out, sums, n));
    CHECK(cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost));
    EXPECT(got == want);
    size_t dyn;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dyn, scan, 1, bs));
    EXPECT(dyn > 0);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sums));
    puts("PASS");
    return 0;
}
