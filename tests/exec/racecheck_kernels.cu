// Kernels for test_exec_watch: right ones, of which nothing may be said, and wrong ones, whose two
// lines end in `// NAME` of the kernel. All take (const int *in, int *out, int n): `in` has n
// words that all differ, `out` n + 64. They run in 4 blocks of 128 threads, n = 512, with 4096
// bytes of dynamic shared memory.

#include "racecheck.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// ---- right: shared memory --------------------------------------------------------------------

KERNEL right_tile(const int *in, int *out, int n)
{
    __shared__ int a[8][16], b[8][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        a[y][x] = in[(index() + 31 * tile) % n];
        b[y][x] = in[(index() + 17 * tile) % n];
        __syncthreads();
        for (int k = 0; k < 8; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    out[index()] = sum;
}

KERNEL right_double_buffer(const int *in, int *out, int n)
{
    __shared__ int tile[2][128];
    int t = threadIdx.x, sum = 0;
    tile[0][t] = in[index()];
    for (int round = 0; round < 6; round++) {
        __syncthreads();
        if (round < 5) tile[(round + 1) & 1][t] = in[(index() + round) % n];
        sum += tile[round & 1][(t + 37) % 128];
    }
    out[index()] = sum;
}

KERNEL right_scan(const int *in, int *out, int n)
{
    __shared__ int sums[128];
    int t = threadIdx.x;
    sums[t] = in[index()];
    for (int step = 1; step < 128; step *= 2) {
        __syncthreads();
        int other = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += other;
    }
    out[index()] = sums[t];
}

KERNEL right_transpose(const int *in, int *out, int n)
{
    __shared__ short tile[8][17];
    int x = threadIdx.x % 8, y = threadIdx.x / 8 % 8;
    if (threadIdx.x < 64) tile[y][x] = (short)in[index()];
    __syncthreads();
    if (threadIdx.x < 64) out[index()] = tile[x][y];
}

KERNEL right_histogram(const int *in, int *out, int n)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[index()] & 31], 1);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

KERNEL right_tree(const int *in, int *out, int n)
{
    __shared__ int sums[128];
    int t = threadIdx.x;
    sums[t] = in[index()];
    __syncthreads();
    for (int half = 64; half >= 32; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t < 32) {
        int mine = sums[t];
        for (int half = 16; half > 0; half /= 2) mine += __shfl_down_sync(~0u, mine, half);
        if (t == 0) out[blockIdx.x] = mine;
    }
}

KERNEL right_warp(const int *in, int *out, int n)
{
    extern __shared__ int dynamic[];
    int *mine = dynamic + threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    mine[lane] = in[index()];
    for (int half = 16; half > 0; half /= 2) {
        __syncwarp();
        int other = mine[lane ^ half];
        __syncwarp();
        mine[lane] += other;
    }
    out[index()] = mine[lane];
}

KERNEL right_flag(const int *in, int *out, int n)
{
    __shared__ int found, everywhere;
    if (threadIdx.x == 0) found = 0;
    everywhere = n;
    __syncthreads();
    if (in[index()] % 3 == 0) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = found + everywhere;
}

// A handover with a flag and fences, from one warp to another.
KERNEL right_handover(const int *in, int *out, int n)
{
    __shared__ int value, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 64) {
        value = in[index()];
        __threadfence_block();
        *(volatile int *)&ready = 1;
    } else if (threadIdx.x == 0) {
        while (*(volatile int *)&ready == 0) {
        }
        __threadfence_block();
        out[blockIdx.x] = value;
    }
}

KERNEL right_lock(const int *in, int *out, int n)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            sum += in[index()];
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Producers arrive, consumers wait: barrier 1 says full, barrier 2 empty.
KERNEL right_named(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int round = 0; round < 3; round++) {
        if (t < 64) {
            if (round) asm volatile("bar.sync 2, 128;" ::: "memory");
            tile[t] = in[(index() + round) % n];
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            sum += tile[127 - t];
            if (round < 2) asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
    if (t >= 64) out[index()] = sum;
}

KERNEL right_groups(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    auto block = cg::this_thread_block();
    auto part = cg::tiled_partition<16>(block);
    tile[threadIdx.x] = in[index()];
    part.sync();
    int next = tile[part.meta_group_rank() * 16 + (part.thread_rank() + 1) % 16];
    int sum = cg::reduce(part, next, cg::plus<int>());
    block.sync();
    if (part.thread_rank() == 0) tile[part.meta_group_rank()] = sum;
    block.sync();
    out[index()] = tile[threadIdx.x % 8];
}

KERNEL right_early_exit(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = in[index()];
    if (threadIdx.x >= 96) return;
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x];
}

KERNEL right_bytes(const int *in, int *out, int n)
{
    __shared__ unsigned char bytes[128];
    bytes[threadIdx.x] = (unsigned char)in[index()];
    __syncthreads();
    out[index()] = bytes[127 - threadIdx.x];
}

KERNEL right_maximum(const int *in, int *out, int n)
{
    __shared__ int most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    int mine = in[index()];
    if (mine > most) atomicMax(&most, mine);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = most;
}

KERNEL right_same_fill(const int *in, int *out, int n)
{
    __shared__ int fill[32];
    fill[threadIdx.x % 32] = n;
    int mine = fill[threadIdx.x % 32];
    __syncthreads();
    out[index()] = fill[31 - threadIdx.x % 32] + mine;
}

// The flag is counted up: what orders is the fences.
KERNEL right_counted_handover(const int *in, int *out, int n)
{
    __shared__ int value, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 64) {
        value = in[index()];
        __threadfence_block();
        atomicAdd(&ready, 1);
    } else if (threadIdx.x == 0) {
        while (*(volatile int *)&ready == 0) {
        }
        __threadfence_block();
        out[blockIdx.x] = value;
    }
}

KERNEL right_bytes_in_turns(const int *in, int *out, int n)
{
    __shared__ unsigned char bytes[128];
    int at = threadIdx.x % 32 * 4 + threadIdx.x / 32;
    bytes[at] = (unsigned char)in[index()];
    __syncthreads();
    out[index()] = bytes[127 - threadIdx.x];
}

// Whole warps store what is there.
KERNEL right_same_again(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = in[index()];
    __syncthreads();
    tile[threadIdx.x] = in[(index() + n) % n];
    out[index()] = tile[127 - threadIdx.x];
}

// ---- wrong: shared memory --------------------------------------------------------------------

KERNEL no_barrier_before_use(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = in[index()];        // no_barrier_before_use
    out[index()] = tile[127 - threadIdx.x]; // no_barrier_before_use
}

// Lanes of a warp share `row`, and in the first block `column`; in the others warps share that.
KERNEL rows_and_columns(const int *in, int *out, int)
{
    __shared__ int row[128], column[128];
    const unsigned other = threadIdx.x ^ (blockIdx.x == 0 ? 1 : 33);
    row[threadIdx.x] = in[index()];        // rows_and_columns
    const int near = row[threadIdx.x ^ 1]; // rows_and_columns
    column[threadIdx.x] = in[index()] + 1; // rows_and_columns
    out[index()] = near + column[other];   // rows_and_columns
}

KERNEL no_barrier_before_next(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        tile[threadIdx.x] = in[(index() + round) % n]; // no_barrier_before_next
        __syncthreads();
        sum += tile[127 - threadIdx.x]; // no_barrier_before_next
    }
    out[index()] = sum;
}

KERNEL no_syncwarp(const int *in, int *out, int n)
{
    extern __shared__ int dynamic[];
    int *mine = dynamic + threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    mine[lane] = in[index()];       // no_syncwarp
    out[index()] = mine[31 - lane]; // no_syncwarp
}

KERNEL last_warp_unrolled(const int *in, int *out, int n)
{
    __shared__ int sums[64];
    int t = threadIdx.x;
    if (t < 64) sums[t] = in[index()];
    __syncthreads();
    if (t < 16) sums[t] += sums[t + 16];    // last_warp_unrolled
    if (t < 16) out[index()] = sums[t / 2]; // last_warp_unrolled
}

KERNEL histogram_not_zeroed_yet(const int *in, int *out, int n)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0; // histogram_not_zeroed_yet
    atomicAdd(&bins[in[index()] & 31], 1);       // histogram_not_zeroed_yet
    __syncthreads();
    if (threadIdx.x < 32) out[index()] = bins[threadIdx.x];
}

KERNEL histogram_not_full_yet(const int *in, int *out, int n)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[index()] & 31], 1);                  // histogram_not_full_yet
    if (threadIdx.x < 32) out[index()] = bins[threadIdx.x]; // histogram_not_full_yet
}

KERNEL histogram_without_atomics(const int *in, int *out, int n)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[index()] & 31]++; // histogram_without_atomics
    __syncthreads();
    if (threadIdx.x < 32) out[index()] = bins[threadIdx.x];
}

KERNEL barrier_for_some(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = in[index()]; // barrier_for_some
    __syncthreads();
    if (threadIdx.x < 64) tile[threadIdx.x] += 1000; // barrier_for_some
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    out[index()] = tile[(threadIdx.x + 64) % 128]; // barrier_for_some
}

KERNEL flag_without_a_fence(const int *in, int *out, int n)
{
    __shared__ int value, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 96) value = in[index()]; // flag_without_a_fence
    if (threadIdx.x == 96) *(volatile int *)&ready = 1;
    while (threadIdx.x == 0 && *(volatile int *)&ready == 0) {
    }
    if (threadIdx.x == 0) out[blockIdx.x] = value; // flag_without_a_fence
}

KERNEL lock_without_a_fence(const int *in, int *out, int n)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    while (threadIdx.x % 32 == 0 && atomicCAS(&lock, 0, 1) != 0) {
    }
    if (threadIdx.x % 32 == 0) sum += in[index()]; // lock_without_a_fence
    if (threadIdx.x % 32 == 0) atomicExch(&lock, 0);
}

KERNEL winner_takes_all(const int *in, int *out, int n)
{
    __shared__ int who;
    if (in[index()] % 2) who = threadIdx.x; // winner_takes_all
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = who;
}

KERNEL bytes_of_neighbours(const int *in, int *out, int n)
{
    __shared__ unsigned char bytes[129];
    bytes[threadIdx.x] = (unsigned char)(in[index()] | 1); // bytes_of_neighbours
    bytes[threadIdx.x + 1] = 2;                            // bytes_of_neighbours
    __syncthreads();
    out[index()] = bytes[threadIdx.x];
}

__device__ __noinline__ int far_away(const int *tile, int i)
{
    return tile[i]; // through_a_generic_pointer
}

KERNEL through_a_generic_pointer(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = in[index()]; // through_a_generic_pointer
    out[index()] = far_away(n > 7 ? tile : in, 127 - threadIdx.x);
}

KERNEL read_by_all_written_by_the_last(const int *in, int *out, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = n;
    __syncthreads();
    int mine = sum; // read_by_all_written_by_the_last
    __syncwarp();
    if (threadIdx.x == 96) sum = mine + in[index()]; // read_by_all_written_by_the_last
    __syncthreads();
    out[index()] = sum + mine;
}

KERNEL read_by_a_warp_written_by_a_lane(const int *in, int *out, int n)
{
    extern __shared__ int dynamic[];
    int *mine = dynamic + threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) *mine = n;
    __syncwarp();
    int before = *mine;                             // read_by_a_warp_written_by_a_lane
    if (threadIdx.x % 32 == 31) *mine = before + 1; // read_by_a_warp_written_by_a_lane
    out[index()] = before;
}

KERNEL words_then_bytes(const int *in, int *out, int n)
{
    __shared__ int tile[32];
    const unsigned char *bytes = (const unsigned char *)tile;
    if (threadIdx.x < 32) tile[threadIdx.x] = in[index()];         // words_then_bytes
    if (threadIdx.x >= 96) out[index()] = bytes[threadIdx.x - 96]; // words_then_bytes
}

KERNEL read_by_all_written_by_the_first(const int *in, int *out, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = n;
    __syncthreads();
    int mine = sum; // read_by_all_written_by_the_first
    __syncwarp();
    if (threadIdx.x < 32) {
        mine += wait_a_while(n) & 1;
        __syncwarp();
        if (threadIdx.x == 0) sum = mine + in[index()]; // read_by_all_written_by_the_first
    }
    __syncthreads();
    out[index()] = sum + mine;
}

KERNEL read_by_two_lanes_then_written(const int *in, int *out, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = n;
    __syncthreads();
    int mine = threadIdx.x < 2 ? sum : 0;           // read_by_two_lanes_then_written
    if (threadIdx.x == 1) sum = mine + in[index()]; // read_by_two_lanes_then_written
    out[index()] = mine;
}

KERNEL read_by_a_warp_written_by_its_first(const int *in, int *out, int n)
{
    extern __shared__ int dynamic[];
    int *mine = dynamic + threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) *mine = n;
    __syncwarp();
    int before = *mine;                            // read_by_a_warp_written_by_its_first
    if (threadIdx.x % 32 == 0) *mine = before + 1; // read_by_a_warp_written_by_its_first
    out[index()] = before;
}

// Who writes was the last to read, and has an order with its own warp.
KERNEL read_by_two_warps_written_by_the_later(const int *in, int *out, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = n;
    __syncthreads();
    int mine = 0;
    if (threadIdx.x < 32) mine = sum; // read_by_two_warps_written_by_the_later
    if (threadIdx.x / 32 == 1) {
        mine = wait_a_while(n) & 1;
        mine += sum;
        __syncwarp();
        if (threadIdx.x == 40) sum = mine + 1; // read_by_two_warps_written_by_the_later
    }
    out[index()] = mine;
}

// ---- right: threads of a block in global memory ----------------------------------------------

// What block b may touch: 128 words.
__device__ int *own(int *out)
{
    return out + blockIdx.x * blockDim.x;
}

KERNEL right_global_tree(const int *in, int *out, int n)
{
    int *sums = own(out), t = threadIdx.x;
    sums[t] = in[index()];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
}

KERNEL right_global_scan(const int *in, int *out, int n)
{
    int *sums = own(out), t = threadIdx.x;
    sums[t] = in[index()];
    for (int step = 1; step < 128; step *= 2) {
        __syncthreads();
        int other = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += other;
    }
}

KERNEL right_global_warps(const int *in, int *out, int n)
{
    int *mine = own(out) + threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    mine[lane] = in[index()];
    for (int half = 16; half > 0; half /= 2) {
        __syncwarp();
        int other = mine[lane ^ half];
        __syncwarp();
        mine[lane] += other;
    }
}

KERNEL right_global_handover(const int *in, int *out, int n)
{
    int *value = own(out), *ready = own(out) + 1;
    if (threadIdx.x == 64) {
        *value = in[index()];
        __threadfence_block();
        *(volatile int *)ready = 1;
    } else if (threadIdx.x == 0) {
        while (*(volatile int *)ready == 0) {
        }
        __threadfence_block();
        own(out)[2] = *value;
    }
}

KERNEL right_global_lock(const int *in, int *out, int n)
{
    int *lock = own(out), *sum = own(out) + 1;
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence_block();
            *sum += in[index()];
            __threadfence_block();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

KERNEL right_global_volatile(const int *in, int *out, int n)
{
    volatile int *sums = own(out);
    int t = threadIdx.x;
    sums[t] = in[index()];
    if (t < 32) sums[t] += sums[t + 32];
    if (t < 32) sums[t] += sums[t + 16];
}

KERNEL right_global_same_fill(const int *in, int *out, int n)
{
    int *fill = own(out);
    fill[threadIdx.x % 32] = n;
    if (threadIdx.x < 4) fill[32] = n + 1;
    if (threadIdx.x % 32 == 7) fill[33] = n + 2;
    __syncwarp();
    int mine = fill[threadIdx.x % 32] + fill[33];
    __syncthreads();
    fill[threadIdx.x] = mine;
}

KERNEL right_global_same_again(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t] = in[index()];
    __syncthreads();
    tile[t] = in[(index() + n) % n];
    int other = tile[127 - t];
    __syncthreads();
    tile[t] = other;
}

KERNEL right_global_places(const int *in, int *out, int n)
{
    int *list = own(out);
    int at = atomicAdd(&out[n + blockIdx.x], 1);
    list[at] = in[index()];
}

// An atomic's word may be looked at.
KERNEL right_global_labels(const int *in, int *out, int n)
{
    int *labels = own(out), t = threadIdx.x;
    labels[t] = in[index()];
    __syncthreads();
    for (int k = 0; k < 3; k++) atomicMax(&labels[t], labels[(t + 37) % 128]);
}

KERNEL right_global_bytes(const int *in, int *out, int n)
{
    unsigned char *bytes = (unsigned char *)own(out);
    int at = threadIdx.x % 32 * 4 + threadIdx.x / 32;
    bytes[at] = (unsigned char)in[index()];
    bytes[128 + threadIdx.x] = (unsigned char)in[index()];
    __syncthreads();
    bytes[256 + threadIdx.x] = bytes[255 - threadIdx.x] + bytes[127 - threadIdx.x];
}

KERNEL right_global_shorts(const int *in, int *out, int n)
{
    short *shorts = (short *)own(out);
    shorts[threadIdx.x] = (short)in[index()];
    __syncthreads();
    shorts[128 + threadIdx.x] = shorts[127 - threadIdx.x];
}

KERNEL right_global_vectors(const int *in, int *out, int n)
{
    int4 *vectors = (int4 *)own(out);
    int t = threadIdx.x, sum;
    if (t < 32) vectors[t] = make_int4(in[index()], in[4 * t], in[4 * t + 1], t);
    __syncthreads();
    sum = own(out)[127 - t];
    __syncthreads();
    if (t < 64) ((long long *)vectors)[63 - t] = sum * (long long)n;
    __syncthreads();
    own(out)[t] += sum;
}

// The words of a row that keep their value are nobody's.
KERNEL right_global_some_change(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t] = in[index()];
    __syncthreads();
    tile[t] = t % 2 ? in[index()] : in[index()] + 1;
    int other = tile[(t ^ 32) | 1];
    __syncthreads();
    tile[t] = other;
}

// Each thread its own words, again and again.
KERNEL right_global_own(const int *in, int *out, int n)
{
    int *mine = own(out) + threadIdx.x;
    for (int k = 0; k < 20; k++) {
        *mine = in[(index() + k) % n] + (k ? *mine : 0);
        __syncwarp();
    }
}

// Volatile accesses converse with plain ones.
KERNEL right_global_watched(const int *in, int *out, int n)
{
    int *told = own(out), *asked = own(out) + 1, t = threadIdx.x;
    if (t == 64) *told = n;
    if (t == 0) {
        while (*(volatile int *)told != n) {
        }
        *(volatile int *)asked = n;
    }
    __syncwarp();
    if (t == 32) own(out)[2 + *asked % 2] = n;
}

// ---- wrong: threads of a block in global memory ----------------------------------------------

KERNEL global_tree_without_a_barrier(const int *in, int *out, int n)
{
    int *sums = own(out), t = threadIdx.x;
    sums[t] = in[index()];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2)
        if (t < half) sums[t] += sums[t + half]; // global_tree_without_a_barrier
}

KERNEL global_scan_in_place(const int *in, int *out, int n)
{
    int *sums = own(out), t = threadIdx.x;
    sums[t] = in[index()];
    for (int step = 1; step < 128; step *= 2) {
        __syncthreads();
        int other = t >= step ? sums[t - step] : 0; // global_scan_in_place
        sums[t] += other;                           // global_scan_in_place
    }
}

KERNEL global_neighbours(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t] = in[index()];     // global_neighbours
    int other = tile[127 - t]; // global_neighbours
    __syncthreads();
    tile[t] = other;
}

KERNEL global_no_syncwarp(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t] = in[index()];   // global_no_syncwarp
    int other = tile[t ^ 1]; // global_no_syncwarp
    __syncthreads();
    tile[t] = other;
}

KERNEL global_zeroed_late(const int *in, int *out, int n)
{
    if (threadIdx.x == 0) *own(out) = n;  // global_zeroed_late
    atomicAdd(own(out), in[index()] & 7); // global_zeroed_late
}

// A look is one only until the next barrier.
KERNEL global_seen_before_the_barrier(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t] = in[index()];
    __syncthreads();
    int first = tile[127];                 // global_seen_before_the_barrier
    if (t == 96) tile[127 + (n < 7)] = -n; // global_seen_before_the_barrier
    __syncthreads();
    if (t == 1) tile[127] = first;
}

KERNEL global_winner(const int *in, int *out, int n)
{
    if (in[index()] % 2) *own(out) = threadIdx.x; // global_winner
}

KERNEL global_bytes(const int *in, int *out, int n)
{
    unsigned char *bytes = (unsigned char *)own(out);
    bytes[threadIdx.x] = (unsigned char)(in[index()] | 1); // global_bytes
    bytes[threadIdx.x + 1] = 2;                            // global_bytes
}

KERNEL global_words_then_bytes(const int *in, int *out, int n)
{
    const unsigned char *bytes = (const unsigned char *)own(out);
    int t = threadIdx.x, other = 0;
    if (t < 32) own(out)[t] = in[index()]; // global_words_then_bytes
    if (t >= 96) other = bytes[t - 96];    // global_words_then_bytes
    __syncthreads();
    own(out)[t] = other;
}

KERNEL global_vectors(const int *in, int *out, int n)
{
    int4 *vectors = (int4 *)own(out);
    int t = threadIdx.x, other;
    if (t < 32) vectors[t] = make_int4(in[index()], in[4 * t], in[4 * t + 1], t); // global_vectors
    other = own(out)[127 - t];                                                    // global_vectors
    __syncthreads();
    own(out)[t] = other;
}

KERNEL global_pairs(const int *in, int *out, int n)
{
    long long *pairs = (long long *)own(out);
    int t = threadIdx.x;
    long long other;
    if (t < 64) pairs[t] = in[index()] * 100003ll; // global_pairs
    other = pairs[(127 - t) / 2];                  // global_pairs
    __syncthreads();
    if (t < 64) pairs[t] = other;
}

KERNEL global_read_back(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x, other = 0;
    tile[t] = in[index()]; // global_read_back
    asm volatile("" ::: "memory");
    int mine = tile[t];
    if (t >= 96) other = tile[t - 96]; // global_read_back
    __syncthreads();
    tile[t] = mine + other;
}

KERNEL global_high_halves(const int *in, int *out, int n)
{
    int t = threadIdx.x, other = 0;
    if (t < 32) ((long long *)own(out))[t] = (in[index()] + 1ll) << 32; // global_high_halves
    if (t >= 96) other = own(out)[2 * (t - 96) + 1];                    // global_high_halves
    __syncthreads();
    own(out)[t] = other;
}

KERNEL global_read_by_two_lanes(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t] = in[index()];
    __syncthreads();
    int other = tile[t ^ 1];              // global_read_by_two_lanes
    int mine = tile[t];                   // global_read_by_two_lanes
    tile[t + (n < 7)] = other + mine + 1; // global_read_by_two_lanes
}

// Who writes was the last to read.
KERNEL global_read_by_two_warps(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x, mine = 0;
    tile[t] = in[index()];
    __syncthreads();
    if (t < 32) mine = tile[t + 32]; // global_read_by_two_warps
    if (t / 32 == 1) {
        mine = wait_a_while(n) & 1;
        mine += tile[t];
        tile[t + (n < 7)] = mine + 1; // global_read_by_two_warps
    }
    __syncthreads();
    if (t < 32) tile[t] = mine;
}

KERNEL global_counted_then_stored(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t] = in[index()];
    __syncthreads();
    if (t < 32) atomicAdd(&tile[t + 32], n);              // global_counted_then_stored
    if (t / 32 == 1) tile[t] = 2 + (wait_a_while(n) & 1); // global_counted_then_stored
}

KERNEL global_scattered(const int *in, int *out, int n)
{
    int *tile = own(out), t = threadIdx.x;
    tile[t * 5 % 128] = in[index()]; // global_scattered
    int other = tile[t * 3 % 128];   // global_scattered
    __syncthreads();
    tile[t] = other;
}

KERNEL global_read_by_all_written_by_the_first(const int *in, int *out, int n)
{
    int *sum = own(out);
    if (threadIdx.x == 0) *sum = n;
    __syncthreads();
    int mine = *sum; // global_read_by_all_written_by_the_first
    __syncwarp();
    if (threadIdx.x < 32) {
        mine += wait_a_while(n) & 1;
        __syncwarp();
        if (threadIdx.x == 0)
            own(out)[n < 7] = mine + in[index()] + 1; // global_read_by_all_written_by_the_first
    }
    __syncthreads();
    if (threadIdx.x > 0) own(out)[threadIdx.x] = mine;
}

// ---- right: blocks ---------------------------------------------------------------------------

KERNEL right_in_place(const int *in, int *out, int n)
{
    int i = index();
    out[i] = in[i];
    for (int k = 0; k < 3; k++) out[i] = out[i] * 3 + k;
    if (i + 1 < n && threadIdx.x + 1 < blockDim.x) out[i] += in[i + 1];
}

KERNEL right_changed(const int *in, int *out, int n)
{
    if (in[index()] % 3 == 0) out[0] = 1;
    if (threadIdx.x == 0) out[1] = n;
}

// The marks of a breadth-first search.
KERNEL right_visited(const int *in, int *out, int n)
{
    int neighbour = in[index()] & 63;
    if (out[neighbour] != 5) out[neighbour] = 5;
}

KERNEL right_counts(const int *in, int *out, int n)
{
    atomicAdd(&out[in[index()] & 31], 1);
    int mine = in[index()];
    if (mine > out[40]) atomicMax(&out[40], mine);
}

KERNEL right_last_block(const int *in, int *out, int n)
{
    __shared__ bool last;
    __shared__ int sums[128];
    sums[threadIdx.x] = in[index()];
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < 128; k++) sum += sums[k];
        out[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&out[n], 1) % gridDim.x == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int k = 1; k < gridDim.x; k++) out[0] += out[k];
}

KERNEL right_bytes_of_blocks(const int *in, int *out, int n)
{
    ((unsigned char *)out)[index() + blockIdx.x] = (unsigned char)in[index()];
}

// ---- wrong: blocks ---------------------------------------------------------------------------

KERNEL reads_the_block_before(const int *in, int *out, int n)
{
    int i = index();
    out[i] = in[i];                                                  // reads_the_block_before
    if (threadIdx.x == 0 && i > 0) out[n + blockIdx.x] = out[i - 1]; // reads_the_block_before
}

KERNEL reads_the_block_behind(const int *in, int *out, int n)
{
    int i = index();
    for (int round = 0; round < 3; round++) {
        int next = out[i + 1]; // reads_the_block_behind
        __syncthreads();
        out[i] = in[i] + next + round; // reads_the_block_behind
        __syncthreads();
    }
}

KERNEL read_by_all_blocks_written_by_the_last(const int *in, int *out, int n)
{
    out[index()] = in[index()];
    int seen = threadIdx.x == 0 ? out[n] : 0; // read_by_all_blocks_written_by_the_last
    if (threadIdx.x == 0 && blockIdx.x == 3)
        out[n + (n < 7)] = seen + n; // read_by_all_blocks_written_by_the_last
}

KERNEL block_forgotten(const int *in, int *out, int n)
{
    out[threadIdx.x] = in[index()]; // block_forgotten
}

KERNEL sum_without_atomics(const int *in, int *out, int n)
{
    if (threadIdx.x == 0) out[0] += in[index()]; // sum_without_atomics
}

KERNEL zeroed_by_every_block(const int *in, int *out, int n)
{
    if (threadIdx.x == 0) out[0] = blockIdx.x; // zeroed_by_every_block
    __syncthreads();
    atomicAdd(&out[0], in[index()]); // zeroed_by_every_block
}

// ---- barriers --------------------------------------------------------------------------------

KERNEL right_barriers(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = in[index()];
    for (int k = 0; k < 3; k++) __syncthreads();
    if (n > 7)
        __syncthreads();
    else
        __syncthreads();
    if (__syncthreads_or(tile[127 - threadIdx.x] == 0)) return;
    out[index()] = tile[127 - threadIdx.x];
}

KERNEL two_places(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = in[index()];
    if (threadIdx.x < 64) {
        out[index()] = 1;
        __syncthreads(); // two_places
    } else {
        __syncthreads(); // two_places
        out[index()] = 2;
    }
    out[index()] += tile[127 - threadIdx.x];
}
