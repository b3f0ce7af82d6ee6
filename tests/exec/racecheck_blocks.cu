// Kernels for racecheck_test.c as in racecheck_kernels.cu, of blocks that talk to each other: each
// takes its turn when out[n] says so. out[0] begins a line of 128 bytes.

#include "racecheck.cuh"

#include <cooperative_groups.h>
#include <cuda/atomic>

// One thread's part: waits for its turn, by a read that acquires nothing; and passes it on.
__device__ void await_alone(const int *flag, int turn)
{
    while (*(const volatile int *)flag < turn) { // talk_to_the_block_before
    }
}

__device__ void pass_on_alone(int *flag, int turn)
{
    *(volatile int *)flag = turn;
}

__device__ void await(const int *flag, int turn)
{
    if (threadIdx.x == 0) await_alone(flag, turn);
    __syncthreads();
}

__device__ void pass_on(int *flag, int turn)
{
    __syncthreads();
    if (threadIdx.x == 0) pass_on_alone(flag, turn);
}

// ---- right ----------------------------------------------------------------------------------

KERNEL right_talk_rows(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    await(&out[n], b);
    int before = b ? out[t] : 0;
    out[t] = before + in[t];
    out[128 + t] = in[t + b] + before;
    __threadfence();
    pass_on(&out[n], b + 1);
}

// For any number of blocks.
KERNEL right_talk_large(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    await(&out[n], blockIdx.x);
    out[t] += in[t];
    __threadfence();
    pass_on(&out[n], blockIdx.x + 1);
}

// Another part of each line than the block before, and askew.
KERNEL right_talk_parts(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    await(&out[n], b);
    int before = out[7 * b + t];
    __syncthreads();
    out[5 * b + t] = in[t + b] + before;
    if (t < 16) out[256 + 16 * b + t] = in[t];
    __threadfence();
    pass_on(&out[n], b + 1);
}

KERNEL right_talk_pairs(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    long long *pairs = (long long *)out;
    await(&out[n], b);
    long long before = pairs[t];
    __syncthreads();
    pairs[8 * b + t] = before + in[t + b];
    __syncthreads();
    if (t < 32) ((int4 *)out)[64 + 4 * b + t] = make_int4(in[t], b, t, in[t + b]);
    __threadfence();
    pass_on(&out[n], b + 1);
}

// The same rows once more behind each fence, strong and plain ones of the same line.
KERNEL right_talk_again(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    volatile int *strong = out + 128;
    await(&out[n], b);
    for (int round = 0; round < 3; round++) {
        out[t] = in[t] + round + b;
        strong[t] = in[t] + round;
        strong[t] = strong[t] + b;
        __threadfence();
    }
    pass_on(&out[n], b + 1);
}

KERNEL right_talk_own_volatile(const int *in, int *out, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    volatile int *own = out;
    own[i] = in[i];
    for (int round = 0; round < 4; round++) own[i] = own[i] * 3;
}

// The thread that has seen the flag reads on at once, behind a fence, or past the L1 cache.
KERNEL right_talk_acquired(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    __threadfence();
    out[b] = (b ? out[b - 1] : 0) + in[b];
    __threadfence();
    pass_on_alone(&out[n], b + 1);
}

KERNEL right_talk_past_l1(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    out[b] = (b ? __ldcg(&out[b - 1]) : 0) + in[b];
    __threadfence();
    pass_on_alone(&out[n], b + 1);
}

KERNEL right_talk_acquires(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(out[n]);
    if (threadIdx.x > 0) return;
    while (flag.load(cuda::memory_order_acquire) < b) {
    }
    out[b] = (b ? out[b - 1] : 0) + in[b];
    flag.store(b + 1, cuda::memory_order_release);
}

KERNEL right_talk_locks(const int *in, int *out, int n)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(&out[n], 0, 1) != 0) {
    }
    __threadfence();
    out[0] += in[blockIdx.x];
    __threadfence();
    atomicExch(&out[n], 0);
}

// It reads what it has acquired, and knows of more that it has not.
KERNEL right_talk_known_before(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    __threadfence();
    while (atomicAdd(&out[n + 1], 0) < b) {
    }
    out[b] = (b ? out[b - 1] : 0) + in[b];
    __threadfence();
    pass_on_alone(&out[n], b + 1);
    out[64 + b] = in[b];
    __threadfence();
    atomicAdd(&out[n + 1], 1);
}

// Each block waits for the one that drew a ticket before it.
KERNEL right_talk_tickets(const int *in, int *out, int n)
{
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(&out[n + 1], 1);
    __syncthreads();
    await(&out[n], ticket);
    __threadfence();
    out[threadIdx.x] += in[ticket];
    __threadfence();
    pass_on(&out[n], ticket + 1);
}

// The last block reads what all have added up: each counts itself behind a barrier.
KERNEL right_talk_counted(const int *in, int *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x;
    atomicAdd(&out[t], in[index()]);
    __syncthreads();
    __threadfence();
    if (t == 0) last = atomicAdd(&out[n], 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[128 + t] = out[t];
}

// Each thread has fenced before one counts for all.
KERNEL right_talk_counted_fenced(const int *in, int *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x;
    atomicAdd(&out[t], in[index()]);
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(&out[n], 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[128 + t] = out[t];
}

// A guess at what others still add up, behind what they have told.
KERNEL right_talk_guessed(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    __threadfence();
    if (t == 0) atomicAdd(&out[n], 1);
    __syncthreads();
    atomicAdd(&out[t], in[index()]);
    __syncthreads();
    if (out[127 - t] == -1) out[256] = 1;
}

// Warps of their own: each tells, adds and guesses for itself.
KERNEL right_talk_guessed_by_warps(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        __threadfence();
        if (t % 32 == 0) atomicAdd(&out[n], 1);
        __syncwarp();
        atomicAdd(&out[t], in[index()]);
        if (out[127 - t] == -1) out[256] = 1;
    }
}

// Volatile data behind a fence; whoever reads it needs none.
KERNEL right_talk_data(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    volatile int *data = out;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    data[b] = (b ? data[b - 1] : 0) + in[b];
    __threadfence();
    pass_on_alone(&out[n], b + 1);
}

// What was stored behind the flag, what was there already, and what decides something may be old.
KERNEL right_talk_data_not_told(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    volatile int *data = out, *same = out + 64, *flag = out + 128;
    if (threadIdx.x > 0) return;
    same[0] = 0;
    flag[b] = 1;
    await_alone(&out[n], b);
    out[256 + b] = (b ? data[b - 1] : 0) + same[0];
    if (b && flag[b - 1] == 0) out[320 + b] = 1;
    pass_on_alone(&out[n], b + 1);
    data[b] = in[b];
}

// A value and its flag come together.
KERNEL right_talk_data_in_one(const int *in, int *out, int n)
{
    int b = blockIdx.x, flag = 0, sum = 0;
    unsigned long long *pair = (unsigned long long *)out + b;
    if (threadIdx.x > 0) return;
    while (b && flag == 0)
        asm volatile("ld.volatile.global.v2.b32 {%0, %1}, [%2];"
                     : "=r"(sum), "=r"(flag)
                     : "l"(pair - 1)
                     : "memory");
    asm volatile("st.volatile.global.v2.b32 [%0], {%1, %2};" ::"l"(pair), "r"(sum + in[b]), "r"(1)
                 : "memory");
}

// Each waits for the block before alone, and adds up what is known of all by the fences between.
KERNEL right_talk_data_of_all(const int *in, int *out, int n)
{
    int b = blockIdx.x, sum = 0;
    volatile int *data = out;
    if (threadIdx.x > 0) return;
    data[b] = in[b];
    await_alone(&out[n], b);
    __threadfence();
    pass_on_alone(&out[n], b + 1);
    for (int k = 0; k < b; k++) sum += data[k];
    out[64 + b] = sum;
}

// ---- wrong ----------------------------------------------------------------------------------

KERNEL talk_data_unfenced(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    volatile int *data = out;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    int before = b ? data[b - 1] : 0; // talk_data_unfenced
    data[b] = before + in[b];         // talk_data_unfenced
    pass_on_alone(&out[n], b + 1);
}

// The fence is the reader's.
KERNEL talk_data_fenced_late(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    volatile int *data = out;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    __threadfence();
    int before = b ? data[b - 1] : 0; // talk_data_fenced_late
    out[b] = before + in[b];          // talk_data_fenced_late
    pass_on_alone(&out[n], b + 1);
}

KERNEL talk_data_by_tickets(const int *in, int *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x, b = blockIdx.x;
    volatile int *data = out;
    if (t < 64) data[64 * b + t] = in[index()]; // talk_data_by_tickets
    __syncthreads();
    if (t == 0) last = atomicAdd(&out[n], 1) == gridDim.x - 1;
    __syncthreads();
    int sum = 0;
    for (int k = 0; last && k < gridDim.x; k++)
        sum += data[64 * k + t % 64]; // talk_data_by_tickets
    __threadfence();
    if (last) out[256 + t] = sum;
}

// The sum of a warp of values, which goes on through shared memory.
KERNEL talk_data_of_a_warp(const int *in, int *out, int n)
{
    __shared__ int before, tile;
    int t = threadIdx.x, b = blockIdx.x;
    volatile int *data = out;
    if (t == 0) tile = b;
    __syncthreads();
    await(&out[n], tile);
    if (t < 32) {
        int sum = t < b ? data[t] : 0; // talk_data_of_a_warp
        for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
        if (t == 0) before = sum;
    }
    __syncthreads();
    out[64 + index()] = before + in[t];
    if (t == 0) data[b] = before + in[b]; // talk_data_of_a_warp
    pass_on(&out[n], b + 1);
}

// Each waits for the block before alone, but reads all.
KERNEL talk_data_by_others(const int *in, int *out, int n)
{
    int b = blockIdx.x, sum = 0;
    volatile int *data = out;
    if (threadIdx.x > 0) return;
    data[b] = in[b]; // talk_data_by_others
    await_alone(&out[n], b);
    pass_on_alone(&out[n], b + 1);
    for (int k = 0; k < b; k++) sum += data[k]; // talk_data_by_others
    out[64 + b] = sum;
}

KERNEL talk_data_added_to(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    volatile int *data = out;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    if (b) atomicAdd(&out[b - 1], in[b]); // talk_data_added_to
    data[b] = in[b] + 1;                  // talk_data_added_to
    pass_on_alone(&out[n], b + 1);
}

// One thread counts its block while others have yet to add.
KERNEL talk_counted_too_early(const int *in, int *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x;
    atomicAdd(&out[t], in[index()]); // talk_counted_too_early
    __threadfence();
    if (t == 0) last = atomicAdd(&out[n], 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[128 + t] = out[t]; // talk_counted_too_early
}

KERNEL talk_unacquired_flag(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    await_alone(&out[n], b);
    int before = b ? out[b - 1] : 0; // talk_unacquired_flag
    out[b] = before + in[b];         // talk_unacquired_flag
    __threadfence();
    pass_on_alone(&out[n], b + 1);
}

KERNEL talk_unacquired_relaxed(const int *in, int *out, int n)
{
    int b = blockIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(out[n]);
    if (threadIdx.x > 0) return;
    while (flag.load(cuda::memory_order_relaxed) < b) {
    }
    int before = b ? out[b - 1] : 0; // talk_unacquired_relaxed
    out[b] = before + in[b];         // talk_unacquired_relaxed
    flag.store(b + 1, cuda::memory_order_release);
}

KERNEL talk_unacquired_lock(const int *in, int *out, int n)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(&out[n], 0, 1) != 0) {
    }
    out[0] += in[blockIdx.x]; // talk_unacquired_lock
    __threadfence();
    atomicExch(&out[n], 0);
}

KERNEL talk_large_unfenced(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    await(&out[n], blockIdx.x);
    int before = out[t];     // talk_large_unfenced
    out[t] = before + in[t]; // talk_large_unfenced
    pass_on(&out[n], blockIdx.x + 1);
}

KERNEL talk_row_unfenced(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    await(&out[n], b);
    int before = b ? out[t] : 0; // talk_row_unfenced
    __threadfence();
    out[t] = before + in[t]; // talk_row_unfenced
    pass_on(&out[n], b + 1);
}

// What was fenced is stored once more.
KERNEL talk_again_unfenced(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    await(&out[n], b);
    int before = b ? out[t] : 0; // talk_again_unfenced
    for (int round = 0; round < 2; round++) {
        if (round) __threadfence();
        out[t] = before + in[t] + round; // talk_again_unfenced
    }
    pass_on(&out[n], b + 1);
}

KERNEL talk_lane_unfenced(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    await(&out[n], b);
    int before = b ? out[t] : 0; // talk_lane_unfenced
    out[t] = before + in[t];     // talk_lane_unfenced
    __threadfence();
    __syncthreads();
    if (t == 5) out[t] = before; // talk_lane_unfenced
    pass_on(&out[n], b + 1);
}

KERNEL talk_part_unfenced(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    await(&out[n], b);
    int before = b ? out[t + 1] : 0; // talk_part_unfenced
    __syncthreads();
    __threadfence();
    out[t] = before + in[t]; // talk_part_unfenced
    pass_on(&out[n], b + 1);
}

KERNEL talk_pairs_unfenced(const int *in, int *out, int n)
{
    int b = blockIdx.x, t = threadIdx.x;
    long long *pairs = (long long *)out;
    await(&out[n], b);
    long long before = b ? pairs[t] : 0; // talk_pairs_unfenced
    __syncthreads();
    __threadfence();
    pairs[t + 3] = before + in[t]; // talk_pairs_unfenced
    pass_on(&out[n], b + 1);
}

// Every block counts in the same row.
KERNEL talk_volatile_row(const int *in, int *out, int n)
{
    volatile int *counts = out;
    counts[threadIdx.x] = counts[threadIdx.x] + in[threadIdx.x] + 1; // talk_volatile_row
}

KERNEL talk_volatile_lane(const int *in, int *out, int n)
{
    volatile int *counts = out;
    int t = threadIdx.x;
    if (blockIdx.x == 0) counts[t] = counts[t] + 1;          // talk_volatile_lane
    if (blockIdx.x > 0 && t == 9) counts[t] = counts[t] + 1; // talk_volatile_lane
}

// Each block has a byte of its own.
KERNEL right_talk_volatile_bytes(const int *in, int *out, int n)
{
    volatile char *counts = (volatile char *)out;
    if (threadIdx.x == 0) counts[blockIdx.x] = counts[blockIdx.x] + in[0] % 2 + 1;
}

// The last block begins.
KERNEL talk_to_the_block_before(const int *in, int *out, int n)
{
    await(&out[n], gridDim.x - 1 - blockIdx.x); // talk_to_the_block_before
    __threadfence();
    out[threadIdx.x] += in[threadIdx.x];
    __threadfence();
    pass_on(&out[n], gridDim.x - blockIdx.x);
}

// ---- barriers of a cooperative grid ------------------------------------------------------------

KERNEL right_talk_grid_mirrored(const int *in, int *out, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    out[index()] = in[index()];
    for (int k = 0; k < 3; k++) {
        grid.sync();
        int before = out[n - 1 - index()];
        grid.sync();
        out[index()] = before + k;
    }
}

KERNEL right_talk_grid_split(const int *in, int *out, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int sum = 0;
    for (int k = 1; k < 4; k++) {
        out[index()] = in[index()] * k;
        auto token = grid.barrier_arrive();
        sum += in[n - 1 - index()];
        grid.barrier_wait(std::move(token));
        sum += out[n - 1 - index()];
        grid.sync();
    }
    out[index()] = sum;
}

// The next barrier does not order what stands in front of it in two blocks, even if one block has
// come to it before the other has looked at the first.
KERNEL talk_grid_changed_too_early(const int *in, int *out, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    out[index()] = in[index()];
    grid.sync();
    int before = out[n - 1 - index()]; // talk_grid_changed_too_early
    out[index()] = before + 1;         // talk_grid_changed_too_early
    grid.sync();
    out[index()] += 1;
}

KERNEL talk_grid_goes_again(const int *in, int *out, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int k = 0; k < 5; k++) {
        int i = (index() + 128 * (k + 1)) % n;
        out[i] = out[i] + in[i]; // talk_grid_goes_again
        if (k != 2) grid.sync();
    }
}

KERNEL talk_grid_not_waited_for(const int *in, int *out, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    out[index()] = in[index()]; // talk_grid_not_waited_for
    auto token = grid.barrier_arrive();
    int before = out[n - 1 - index()]; // talk_grid_not_waited_for
    grid.barrier_wait(std::move(token));
    grid.sync();
    out[index()] = before;
}
