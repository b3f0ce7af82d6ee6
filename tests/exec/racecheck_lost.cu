// Kernels for test_exec_watch that change what they have loaded, as racecheck_kernels.cu has them:
// of two changes at once one is lost. A `k` is a word that eight lanes of a warp share.

#include "racecheck.cuh"
#define N_OF_BLOCKS 4

// ---- right -----------------------------------------------------------------------------------

KERNEL right_lost_own(const int *in, int *out, int n)
{
    out[index()] += in[index()];
    out[index()] *= 3;
}

// Whoever stores last is as good as any other.
KERNEL right_lost_winner(const int *in, int *out, int n)
{
    int k = index() / 8;
    if (out[k] == 0) out[k] = in[index()];
}

KERNEL right_lost_chosen(const int *in, int *out, int n)
{
    int k = index() / 8, before = out[k];
    out[k] = before == 0 ? in[index()] : before;
}

// All set the same bit.
KERNEL right_lost_bit(const int *in, int *out, int n)
{
    out[index() / 8] |= 4;
}

KERNEL right_lost_turns(const int *in, int *out, int n)
{
    for (int turn = 0; turn < 8; turn++) {
        if (threadIdx.x % 8 == turn) out[index() / 8] += in[index()];
        __syncwarp();
    }
}

// All have loaded before any stores, and store the same.
KERNEL right_lost_behind_a_barrier(const int *in, int *out, int n)
{
    __shared__ int turn;
    if (threadIdx.x == 0) turn = 3;
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        int before = turn, sum = out[blockIdx.x];
        __syncthreads();
        turn = before ^ 1;
        out[blockIdx.x] = sum + 5;
        __syncthreads();
    }
    out[N_OF_BLOCKS + index()] = turn;
}

// Twice is as good as once.
KERNEL right_lost_rounded(const int *in, int *out, int n)
{
    out[index() / 8] = (out[index() / 8] + 31) / 32 * 32;
}

KERNEL right_lost_tree(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[index()];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// ---- wrong: the store's line, alone, ends in `// NAME` -----------------------------------------

KERNEL lost_counts(const int *in, int *out, int n)
{
    if (threadIdx.x < 32) out[blockIdx.x]++; // lost_counts
}

KERNEL lost_by_warps(const int *in, int *out, int n)
{
    out[blockIdx.x] += in[index()] & 1 ? 3 : 2; // lost_by_warps
}

KERNEL lost_bits(const int *in, int *out, int n)
{
    out[index() / 8] |= 1 << threadIdx.x % 8; // lost_bits
}

KERNEL lost_bytes(const int *in, int *out, int n)
{
    unsigned char *bytes = (unsigned char *)out;
    bytes[index() / 2] |= 5 << 4 * (threadIdx.x & 1); // lost_bytes
}

// What the others store is what was there.
KERNEL lost_by_one(const int *in, int *out, int n)
{
    out[index() / 8] += threadIdx.x % 8 == 5 ? 7 : 0; // lost_by_one
}

KERNEL lost_flag(const int *in, int *out, int n)
{
    out[index() / 8] |= in[index()] % 3 == 1; // lost_flag
}

KERNEL lost_maximum(const int *in, int *out, int n)
{
    out[index() / 8] = max(out[index() / 8], in[index()]); // lost_maximum
}

KERNEL lost_in_turns(const int *in, int *out, int n)
{
    for (int turn = 0; turn < 8; turn++)
        if (threadIdx.x % 8 == turn) out[index() / 8] += in[index()] | 1; // lost_in_turns
}

KERNEL lost_bins(const int *in, int *out, int n)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[index()] % 4]++; // lost_bins
    __syncthreads();
    if (threadIdx.x < 4) out[index()] = bins[threadIdx.x];
}

// ---- atomics of block scope
// ----------------------------------------------------------------------

KERNEL right_lost_block_scope(const int *in, int *out, int n)
{
    atomicAdd_block(&out[index() ^ 1], 1);
    atomicAdd_block(&out[index()], in[index()] & 3);
}

KERNEL lost_block_scope(const int *in, int *out, int n)
{
    atomicAdd_block(&out[threadIdx.x], 1); // lost_block_scope
}

KERNEL lost_block_scope_and_device(const int *in, int *out, int n)
{
    if (blockIdx.x & 1)
        atomicAdd(&out[threadIdx.x], 1); // lost_block_scope_and_device
    else
        atomicAdd_block(&out[threadIdx.x], 1); // lost_block_scope_and_device
}
