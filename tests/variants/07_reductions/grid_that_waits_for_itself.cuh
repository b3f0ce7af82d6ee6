/* variant: one cooperative launch, whose grid waits for itself between the two passes
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH
#include "lesson.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <typename T> __device__ T shfl_any(cg::thread_block_tile<32> &tile, const T &v, int delta)
{
    unsigned words[(sizeof(T) + 3) / 4] = {0}; /* groups shuffle no more than 32 bytes at a time */
    T other;
    memcpy((void *)words, (const void *)&v, sizeof v);
    for (unsigned &word : words) word = tile.shfl_down(word, delta);
    memcpy((void *)&other, (const void *)words, sizeof other);
    return other;
}

template <typename T, typename Op>
__global__ void grid_reduce(const T *in, size_t n, T *out, Op op, T init, bool with, T *part,
                            unsigned parts)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    __shared__ __align__(16) char raw[32 * sizeof(T)];
    __shared__ bool filled[32];
    T *w = (T *)raw;
    bool have = false;
    T mine;
    memset((void *)&mine, 0, sizeof mine);
    for (size_t i = grid.thread_rank(); i < n; i += grid.size()) {
        mine = have ? op(mine, in[i]) : in[i];
        have = true;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int d = 16; d; d >>= 1) {
            T other = shfl_any(tile, mine, d);
            int there = tile.shfl_down((int)have, d);
            if (there && tile.thread_rank() + d < 32) {
                mine = have ? op(mine, other) : other;
                have = true;
            }
        }
        if (tile.thread_rank() == 0) {
            w[tile.meta_group_rank()] = mine;
            filled[tile.meta_group_rank()] = have;
        }
        block.sync();
        if (block.thread_rank() == 0) {
            have = false;
            for (unsigned k = 0; k < tile.meta_group_size(); k++)
                if (filled[k]) {
                    mine = have ? op(mine, w[k]) : w[k];
                    have = true;
                }
            if (pass == 0 && parts) part[blockIdx.x] = mine;
        }
        if (pass == 1 || !parts) break;
        grid.sync();
        if (blockIdx.x != 0) return;
        have = false;
        for (unsigned k = block.thread_rank(); k < parts; k += block.size()) {
            mine = have ? op(mine, part[k]) : part[k];
            have = true;
        }
        block.sync();
    }
    if (grid.thread_rank() == 0) {
        if (with) mine = have ? op(mine, init) : init;
        *out = mine;
    }
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    if (!size && !init) return cudaErrorInvalidValue;
    T start;
    memset((void *)&start, 0, sizeof start);
    if (init) start = *init;
    bool with = init != nullptr;
    int blocks = 0, sms = 0, dev = 0;
    unsigned parts = 0;
    cudaError_t e = cudaGetDevice(&dev);
    if (e == cudaSuccess) e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, dev);
    if (e == cudaSuccess)
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, grid_reduce<T, Operator>, 256,
                                                          0);
    if (e != cudaSuccess) return e;
    size_t grid = (size + 1023) / 1024;
    if (grid > (size_t)blocks * sms) grid = (size_t)blocks * sms;
    if (grid < 1) grid = 1;
    T *part = nullptr;
    if (grid > 1) {
        parts = (unsigned)grid;
        e = cudaMallocAsync(&part, grid * sizeof(T), stream);
        if (e != cudaSuccess) return e;
    }
    Operator op = combine;
    void *args[] = {&array, &size, &result, &op, &start, &with, &part, &parts};
    e = cudaLaunchCooperativeKernel(grid_reduce<T, Operator>, dim3((unsigned)grid), dim3(256), args,
                                    0, stream);
    if (part) {
        cudaError_t f = cudaFreeAsync(part, stream);
        if (e == cudaSuccess) e = f;
    }
    return e;
}
#endif
