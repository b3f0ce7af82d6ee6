// Kernels for racecheck_test.c as in racecheck_kernels.cu, of lanes that synchronise with a part of
// their warp: tiles, and masks that leave lanes out.

#include <cooperative_groups.h>

#include "racecheck.cuh"

namespace cg = cooperative_groups;

// ---- right ----------------------------------------------------------------------------------

// Each tile scans its own words.
KERNEL right_tiles_of_a_tile(const int *in, int *out, int n)
{
    __shared__ int words[128];
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int t = threadIdx.x, rank = tile.thread_rank();
    words[t] = in[index()];
    tile.sync();
    for (int by = 1; by < 8; by *= 2) {
        const int left = rank >= by ? words[t - by] : 0;
        tile.sync();
        words[t] += left;
        tile.sync();
    }
    out[index()] = words[t];
}

// What a tile knows, its lanes tell the next group that they are in.
KERNEL right_tiles_in_a_chain(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x, lane = t % 32;
    words[t] = in[index()];
    if (lane < 16) __syncwarp(0x0000ffff);
    if (lane >= 8 && lane < 24) __syncwarp(0x00ffff00);
    out[index()] = lane >= 16 && lane < 24 ? words[t - 16] : 0;
}

KERNEL right_tiles_then_the_warp(const int *in, int *out, int n)
{
    __shared__ int words[128];
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int t = threadIdx.x;
    words[t] = in[index()];
    tile.sync();
    int sum = words[t ^ 15];
    __syncwarp();
    sum += words[t ^ 31];
    __syncwarp();
    words[t] = sum;
    tile.sync();
    out[index()] = words[t ^ 8];
}

KERNEL right_tiles_then_the_block(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x;
    const unsigned half = t % 32 < 16 ? 0xffff : 0xffff0000;
    int sum = 0;
    for (int round = 0; round < 5; round++) {
        words[t] = in[(index() + round) % n];
        __syncwarp(half);
        sum += words[t ^ 1];
        __syncthreads();
        sum += words[127 - t];
        __syncthreads();
    }
    out[index()] = sum;
}

// Of the lanes of a branch, as many as came.
KERNEL right_tiles_of_a_branch(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x;
    int sum = 0;
    if (in[index()] % 3 != 0) {
        cg::coalesced_group those = cg::coalesced_threads();
        const int rank = those.thread_rank(), first = t / 32 * 32;
        words[first + rank] = in[index()];
        those.sync();
        sum = words[first + (rank + 1) % those.size()];
    }
    out[index()] = sum;
}

// A vote or a shuffle of these lanes orders them as well.
KERNEL right_tiles_that_vote(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x;
    const unsigned half = t % 32 < 16 ? 0xffff : 0xffff0000;
    words[t] = in[index()];
    const unsigned odd = __ballot_sync(half, words[t] & 1);
    const int sum = words[t ^ 3];
    const int one = __shfl_xor_sync(half, sum, 1);
    words[t ^ 3] = one;
    __shfl_xor_sync(half, one, 2);
    out[index()] = words[t] + odd;
}

// The first lane of a tile passes on what all of it have done.
KERNEL right_tiles_told_on(const int *in, int *out, int n)
{
    __shared__ int words[8], ready;
    const int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 8) {
        words[t] = in[index()];
        __syncwarp(0xff);
        if (t == 0) {
            __threadfence_block();
            *(volatile int *)&ready = 1;
        }
    }
    if (t >= 64 && t < 72) {
        if (t == 64) {
            while (*(volatile int *)&ready == 0) {
            }
            __threadfence_block();
        }
        __syncwarp(0xff);
        out[index()] = words[71 - t];
    }
}

KERNEL right_tiles_global(const int *in, int *out, int n)
{
    const int i = index();
    const unsigned tile = 0xfu << i % 32 / 4 * 4;
    for (int round = 0; round < 3; round++) {
        out[i] = in[(i + round) % n];
        __syncwarp(tile);
        const int other = out[i ^ 3];
        __syncwarp(tile);
        out[i] = other;
        __syncwarp(tile);
    }
}

// ---- wrong ----------------------------------------------------------------------------------

KERNEL tiles_of_the_next_tile(const int *in, int *out, int n)
{
    __shared__ int words[128];
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int t = threadIdx.x;
    words[t] = in[index()]; // tiles_of_the_next_tile
    tile.sync();
    const int sum = words[t] + words[t ^ 8]; // tiles_of_the_next_tile
    out[index()] = sum;
}

KERNEL tiles_of_the_other_half(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x;
    const unsigned half = t % 32 < 16 ? 0xffff : 0xffff0000;
    words[t] = in[index()]; // tiles_of_the_other_half
    __syncwarp(half);
    int sum = words[t ^ 1];
    __syncwarp(half);
    sum += words[t ^ 16]; // tiles_of_the_other_half
    out[index()] = sum;
}

// The lanes of the branch alone have met.
KERNEL tiles_left_out_of_a_branch(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x;
    words[t] = in[index()]; // tiles_left_out_of_a_branch
    int sum = 0;
    if (t % 2 == 0) {
        __syncwarp(0x55555555);
        sum = words[t + 1]; // tiles_left_out_of_a_branch
    }
    out[index()] = sum;
}

// A lane of another tile may still read.
KERNEL tiles_written_over(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x;
    const unsigned tile = 0xffu << t % 32 / 8 * 8;
    words[t] = in[index()];
    __syncwarp();
    const int other = words[t ^ 8]; // tiles_written_over
    __syncwarp(tile);
    words[t] = other + 1; // tiles_written_over
    __syncwarp(tile);
    out[index()] = words[t ^ 1];
}

KERNEL tiles_that_voted_apart(const int *in, int *out, int n)
{
    __shared__ int words[128];
    const int t = threadIdx.x;
    const unsigned half = t % 32 < 16 ? 0xffff : 0xffff0000;
    words[t] = in[index()]; // tiles_that_voted_apart
    const unsigned odd = __ballot_sync(half, words[t] & 1);
    out[index()] = words[t ^ 16] + odd; // tiles_that_voted_apart
}

KERNEL tiles_of_global_tiles(const int *in, int *out, int n)
{
    const int i = index();
    out[i] = in[i]; // tiles_of_global_tiles
    __syncwarp(0xfu << i % 32 / 4 * 4);
    const int other = out[i ^ 4]; // tiles_of_global_tiles
    __syncthreads();
    out[i] = other + 1;
}
