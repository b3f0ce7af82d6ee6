// Shuffles, votes, matches, cooperative groups, barriers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void warp(int *out, double *d, unsigned mask)
{
    int lane = threadIdx.x & 31, value = out[threadIdx.x];
    value += __shfl_sync(mask, value, 3) + __shfl_up_sync(mask, value, 1, 16);
    value += __shfl_down_sync(~0u, value, 2) + __shfl_xor_sync(~0u, value, 4);
    d[lane] = __shfl_sync(~0u, d[lane], 0);
    value += __ballot_sync(mask, value > 0) + __any_sync(mask, lane) + __all_sync(mask, value);
    value += __match_any_sync(~0u, lane & 3) + __activemask();
    int all;
    value += __match_all_sync(~0u, d[0] > 1.0, &all) + all;
    __syncwarp(mask);
    value += __syncthreads_count(lane) + __syncthreads_and(lane) + __syncthreads_or(lane);
    out[threadIdx.x] = value;
}

__global__ void groups(int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int sum = cg::reduce(tile, out[block.thread_rank()], cg::plus<int>());
    if ((int)block.thread_rank() < n) {
        cg::coalesced_group some = cg::coalesced_threads();
        sum += some.size() + some.shfl(sum, 0);
    }
    cg::grid_group grid = cg::this_grid();
    grid.sync();
    out[grid.thread_rank()] = sum + tile.meta_group_rank();
}
