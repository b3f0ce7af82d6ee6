// Kernels for racecheck_test.c as in racecheck_kernels.cu, in which the lanes of a warp store to
// places that are no row of memory: every other word, backwards, words of a structure.

#include "racecheck.cuh"

// ---- right ----------------------------------------------------------------------------------

// Pairs of blocks have every other word of the same sectors.
KERNEL right_places_of_two_blocks(const int *in, int *out, int n)
{
    int i = blockIdx.x / 2 * 128 + threadIdx.x;
    out[2 * i + blockIdx.x % 2] = in[i] + 1;
}

KERNEL right_places_backwards(const int *in, int *out, int n)
{
    out[n - 1 - index()] = in[index()] + 1;
    __syncthreads();
    out[n - 1 - index()] += 3;
}

// Each warp has a member of 32 structures.
KERNEL right_places_of_warps(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int *structure = out + blockIdx.x * 128 + 4 * lane;
    structure[warp] = in[index()];
    __syncthreads();
    int next = structure[(warp + 1) % 4];
    __syncthreads();
    structure[warp] += next;
}

// A warp's lanes reach over 32 words, and leave out those of the block behind.
KERNEL right_places_with_gaps(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, first = blockIdx.x / 2 * 128 + threadIdx.x / 32 * 32;
    int even = lane == 31 ? 31 : lane / 2 * 2, odd = lane > 29 ? 29 : lane | 1;
    int word = blockIdx.x % 2 ? odd : even;
#pragma unroll 1
    for (int k = 0; k < 2; k++) out[first + 256 * k + word] = n + word;
}

// All of them store the same, some of it again.
KERNEL right_places_filled_alike(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32;
    out[blockIdx.x * 128 + 3 * lane] = 7;
    out[blockIdx.x * 128 + 96 - 3 * lane] = 7;
}

KERNEL right_places_wide(const int *in, int *out, int n)
{
    long long *wide = (long long *)out;
    if (threadIdx.x < 64) {
        wide[blockIdx.x * 64 + (threadIdx.x ^ 63)] = in[threadIdx.x] + 1;
        out[2 * (blockIdx.x * 64 + (threadIdx.x ^ 63))] += 1;
    }
}

// ---- wrong ----------------------------------------------------------------------------------

KERNEL places_of_the_next_block(const int *in, int *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 2 && threadIdx.x < 64; k++)
        out[(2 * i + 128 * k) % n] = in[i] + 1 + n * k; // places_of_the_next_block
}

KERNEL places_read_by_the_next_block(const int *in, int *out, int n)
{
    int i = blockIdx.x / 2 * 64 + threadIdx.x % 64;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        int *part = out + 256 * k;
        part[2 * i + blockIdx.x % 2] = in[i] + 1; // places_read_by_the_next_block
    }
    __syncthreads();
    int other = out[256 + 2 * i + 1 - blockIdx.x % 2]; // places_read_by_the_next_block
    if (other == 5) out[n + blockIdx.x] = other;
}

KERNEL places_backwards_in_the_next_block(const int *in, int *out, int n)
{
    int i = n - 1 - index();
#pragma unroll 1
    for (int k = 0; k < 2; k++)
        out[(i + 128 * k) % n] = in[i] + 1 + n * k; // places_backwards_in_the_next_block
}

// Sectors of which each block has a part, and one block a word more.
KERNEL places_of_one_word_too_many(const int *in, int *out, int n)
{
    int i = blockIdx.x / 2 * 128 + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 2; k++)
        if (k == 0 || (blockIdx.x == 2 && threadIdx.x % 32 > 3)) {
            int odd = k == 1 && threadIdx.x == 77;
            out[2 * i + (blockIdx.x + odd) % 2] = in[i] + 1 + k; // places_of_one_word_too_many
        }
}

KERNEL places_of_all_warps(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32;
    out[blockIdx.x * 128 + 3 * lane] = in[index()]; // places_of_all_warps
}

KERNEL places_of_the_next_warp(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int *structure = out + blockIdx.x * 128 + 4 * lane;
    structure[warp] = in[index()] + 1;    // places_of_the_next_warp
    int next = structure[(warp + 1) % 4]; // places_of_the_next_warp
    __syncthreads();
    structure[warp] = next;
}

KERNEL places_wide_of_all_warps(const int *in, int *out, int n)
{
    long long *wide = (long long *)out + blockIdx.x * 64;
    wide[threadIdx.x % 32 * 2 + 1] = in[index()]; // places_wide_of_all_warps
}

KERNEL places_of_two_lanes(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int *own = out + blockIdx.x * 128 + 32 * warp;
    own[lane * 7 % 32] = in[index()] + 1; // places_of_two_lanes
    out[index()] = own[lane / 2] + n;     // places_of_two_lanes
}
