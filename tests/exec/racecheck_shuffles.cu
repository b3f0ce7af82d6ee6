// Kernels for racecheck_test.c as in racecheck_kernels.cu, of shuffles out of lanes that take no
// part: right where nobody uses what they give.

#include "racecheck.cuh"

// ---- right ----------------------------------------------------------------------------------

// Lanes 4 to 7 add what is not there, and lane 0 does not see it.
KERNEL right_shuffle_low_lanes(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, v = in[index()];
    unsigned mask = __ballot_sync(~0u, lane < 8);
    if (lane >= 8) return;
    for (int s = 4; s; s /= 2) v += __shfl_down_sync(mask, v, s);
    if (lane == 0) out[index() / 32] = v;
}

KERNEL right_shuffle_chosen(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, live = 20, v = in[index()], best = v;
    unsigned mask = __ballot_sync(~0u, lane < live);
    if (lane >= live) return;
    for (int s = 16; s; s /= 2) {
        int other = __shfl_down_sync(mask, v, s), most = __shfl_down_sync(mask, best, s);
        v += other & -(int)(lane + s < live);
        best = lane + s < live ? max(best, most) : best;
    }
    out[index()] = v;
    out[n + lane] = 0;
    if (lane == 0) out[index()] = v + best;
}

// All lanes store what they have, and one of them is read.
KERNEL right_shuffle_first_is_read(const int *in, int *out, int n)
{
    __shared__ int sums[128];
    int t = threadIdx.x, lane = t % 32, v = in[index()];
    unsigned mask = __ballot_sync(~0u, lane < 16);
    if (lane < 16) {
        for (int s = 8; s; s /= 2) v += __shfl_down_sync(mask, v, s);
        sums[t] = v;
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = sums[0] + sums[32] + sums[64] + sums[96];
}

KERNEL right_shuffle_written_over(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, v = in[index()];
    for (int round = 0; round < 3; round++) {
        unsigned mask = __ballot_sync(~0u, lane < 8);
        if (lane < 8) v = __shfl_down_sync(mask, v, 4);
        if (lane > 3) v = in[(index() + round) % n];
        out[index()] = v;
    }
}

// As code for debuggers does: what one lane gets is kept in its own memory, by a generic address.
KERNEL right_shuffle_kept_in_own_memory(const int *in, int *out, int n)
{
    int kept[2], lane = threadIdx.x % 32, v = in[index()];
    out[index()] = v;
    if (lane != 5) return;
    int other = __shfl_xor_sync(1u << 5, v, 3);
    kept[~n & 1] = v;
    asm volatile("st.b32 [%0], %1;" ::"l"(kept + (n & 1)), "r"(other) : "memory");
    out[index()] = kept[~n & 1] + 1;
}

// Lanes reach the shuffle by two ways, and each gives what it had before any of them got something.
KERNEL right_shuffle_by_two_ways(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, own = in[index()], v = own;
    unsigned mask = __ballot_sync(~0u, lane % 8 != 7);
    out[index()] = own;
    if (lane % 8 == 7) return;
    if (lane & 1) {
        asm volatile("shfl.sync.up.b32 %0, %0, 3, 0, %1; // odd" : "+r"(v) : "r"(mask));
        out[index()] = own + 1;
    } else {
        asm volatile("shfl.sync.up.b32 %0, %0, 3, 0, %1; // even" : "+r"(v) : "r"(mask));
        out[index()] = own + 2;
    }
    out[index()] = lane >= 3 && !(mask >> (lane - 3) & 1) ? own : v;
}

// ---- wrong ----------------------------------------------------------------------------------

KERNEL shuffle_tree_of_eight(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, v = in[index()];
    unsigned mask = __ballot_sync(~0u, lane < 8);
    if (lane >= 8) return;
    for (int s = 16; s; s /= 2) v += __shfl_down_sync(mask, v, s); // shuffle_tree_of_eight
    if (lane == 0) out[index() / 32] = v;                          // shuffle_tree_of_eight
}

KERNEL shuffle_from_the_exited(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, v = in[index()];
    if (lane >= 20) return;
    for (int s = 16; s; s /= 2) v += __shfl_xor_sync(~0u, v, s); // shuffle_from_the_exited
    if (lane == 0) atomicAdd(out, v);                            // shuffle_from_the_exited
}

KERNEL shuffle_to_shared(const int *in, int *out, int n)
{
    __shared__ int sums[4];
    int t = threadIdx.x, lane = t % 32, v = in[index()];
    unsigned mask = __ballot_sync(~0u, lane < 20);
    if (lane < 20)
        for (int s = 16; s; s /= 2) v += __shfl_down_sync(mask, v, s); // shuffle_to_shared
    if (lane == 0) sums[t / 32] = v;                                   // shuffle_to_shared
    __syncthreads();
    if (t == 0) out[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

KERNEL shuffle_kept_by_all(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32;
    float v = (float)in[index()];
    unsigned mask = __ballot_sync(~0u, lane < 20);
    if (lane >= 20) return;
    float next = __shfl_down_sync(mask, v, 1); // shuffle_kept_by_all
    ((float *)out)[index()] = next * 2 - v;    // shuffle_kept_by_all
}
