// Kernels for racecheck_test.c as in racecheck_kernels.cu, of threads that tell each other through
// memory, by flags, tickets and locks, when they may go on.

#include "racecheck.cuh"

__device__ void await(const int *flag, int value)
{
    while (*(const volatile int *)flag != value) {
    }
}

__device__ void tell(int *flag, int value)
{
    *(volatile int *)flag = value;
}

__device__ void tell_releasing(int *flag, int value)
{
    asm volatile("st.release.cta.b32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

__device__ int look_acquiring(const int *flag)
{
    int value;
    asm volatile("ld.acquire.cta.b32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

// ---- right ----------------------------------------------------------------------------------

// Each thread changes its own word over and over, then, behind a barrier of the warp, another's.
KERNEL right_told_volatile_turned(const int *in, int *out, int n)
{
    volatile int *words = out + blockIdx.x * blockDim.x;
    const int mine = threadIdx.x, other = mine % 32 < 2 ? mine : mine ^ 1;
    for (int k = 0; k < 3; k++) words[mine] = words[mine] + 1 + in[k] * in[k];
    __syncwarp();
    words[other] = words[other] + 1 + in[0] * in[0];
}

// From warp to warp, each through its first lane.
KERNEL right_told_by_warps(const int *in, int *out, int n)
{
    __shared__ int row[32], ready;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (lane == 0) {
        await(&ready, warp);
        __threadfence_block();
    }
    __syncwarp();
    const int before = warp ? row[31 - lane] : 0;
    __syncwarp();
    row[lane] = before + in[index()];
    __syncwarp();
    if (lane == 0) {
        __threadfence_block();
        tell(&ready, warp + 1);
    }
    out[index()] = before;
}

// The same by release and acquire; every lane looks.
KERNEL right_told_releasing(const int *in, int *out, int n)
{
    __shared__ int row[32], ready;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    while (look_acquiring(&ready) != warp) {
    }
    const int before = warp ? row[31 - lane] : 0;
    __syncwarp();
    row[lane] = before + in[index()];
    __syncwarp();
    if (lane == 0) tell_releasing(&ready, warp + 1);
    out[index()] = before;
}

// Every lane has its fence, and then the warp meets.
KERNEL right_told_behind_fences(const int *in, int *out, int n)
{
    __shared__ int row[32], ready;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        row[lane] = in[index()];
        __threadfence_block();
        __syncwarp();
        if (lane == 0) tell(&ready, 1);
    } else {
        await(&ready, 1);
        __threadfence_block();
        out[index()] = row[31 - lane];
    }
}

// Lanes of one warp.
KERNEL right_told_in_warp(const int *in, int *out, int n)
{
    __shared__ int value[4], ready[4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 4) ready[threadIdx.x] = 0;
    __syncthreads();
    if (lane == 5) {
        value[warp] = in[index()];
        __threadfence_block();
        tell(&ready[warp], 1);
    } else if (lane == 6) {
        await(&ready[warp], 1);
        __threadfence_block();
        out[index()] = value[warp];
    }
}

// Who is told by one hands on what that one was told.
KERNEL right_told_on(const int *in, int *out, int n)
{
    __shared__ int value, first, second;
    if (threadIdx.x == 0) first = second = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        value = in[index()];
        tell_releasing(&first, 1);
    } else if (threadIdx.x == 64) {
        while (look_acquiring(&first) == 0) {
        }
        tell_releasing(&second, 1);
    } else if (threadIdx.x == 96) {
        while (look_acquiring(&second) == 0) {
        }
        out[blockIdx.x] = value;
    }
}

// A counter that many add to; the one that waits for the sum knows of all.
KERNEL right_told_by_all(const int *in, int *out, int n)
{
    __shared__ int tile[128], count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    tile[threadIdx.x] = in[index()];
    __threadfence_block();
    atomicAdd(&count, 1);
    if (threadIdx.x == 127) {
        int sum = 0;
        await(&count, 128);
        __threadfence_block();
        for (int k = 0; k < 128; k++) sum += tile[k];
        out[blockIdx.x] = sum;
    }
}

// Two slots, written again when they have been read.
KERNEL right_told_ring(const int *in, int *out, int n)
{
    __shared__ int slot[2], full[2], freed[2];
    if (threadIdx.x < 2) full[threadIdx.x] = freed[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 64)
        for (int k = 0; k < 6; k++) {
            await(&freed[k % 2], k / 2);
            __threadfence_block();
            slot[k % 2] = in[k];
            __threadfence_block();
            tell(&full[k % 2], k / 2 + 1);
        }
    if (threadIdx.x == 0)
        for (int k = 0; k < 6; k++) {
            await(&full[k % 2], k / 2 + 1);
            __threadfence_block();
            out[6 * blockIdx.x + k] = slot[k % 2];
            __threadfence_block();
            tell(&freed[k % 2], k / 2 + 1);
        }
}

// Flags of a byte each beside each other.
KERNEL right_told_bytes(const int *in, int *out, int n)
{
    __shared__ int value[4];
    __shared__ volatile unsigned char ready[4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 4) ready[threadIdx.x] = 0;
    __syncthreads();
    if (lane == 0) {
        value[warp] = in[index()];
        __threadfence_block();
        ready[warp] = 1;
    } else if (lane == 1) {
        while (ready[(warp + 1) % 4] == 0) {
        }
        __threadfence_block();
        out[4 * blockIdx.x + warp] = value[(warp + 1) % 4];
    }
}

// A lock in global memory, of all threads that change the same words.
KERNEL right_told_lock(const int *in, int *out, int n)
{
    for (bool done = false; !done;) {
        if (atomicCAS(&out[n], 0, 1) == 0) {
            __threadfence();
            out[0] += in[index()];
            out[1 + threadIdx.x % 3]++;
            __threadfence();
            atomicExch(&out[n], 0);
            done = true;
        }
    }
}

KERNEL right_told_volatile_warp(const int *in, int *out, int n)
{
    __shared__ volatile int sums[64];
    int t = threadIdx.x;
    if (t < 64) sums[t] = in[index()];
    __syncthreads();
    for (int k = n > 0 ? 32 : 0; t < 32 && k > 0; k /= 2) {
        int sum = sums[t] + sums[t + k];
        __syncwarp();
        sums[t] = sum;
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// All lanes store the same value, and read it again.
KERNEL right_told_volatile_alike(const int *in, int *out, int n)
{
    __shared__ volatile int words[4][8];
    int warp = threadIdx.x / 32, word = threadIdx.x % 8;
    words[warp][word] = word + n;
    out[index()] = words[warp][word];
}

// Values that decide something may be read at any time: a lane stops early when another has found.
KERNEL right_told_volatile_hint(const int *in, int *out, int n)
{
    __shared__ volatile int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < n && !found; k += 128)
        if (in[k] == in[13]) {
            out[blockIdx.x] = in[k];
            found = 1;
        }
}

// A turn that is taken by looking at it, and handed on, by volatile accesses alone.
KERNEL right_told_turns(const int *in, int *out, int n)
{
    __shared__ volatile int turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (turn != threadIdx.x / 32) {
        }
        turn = turn + 1;
    }
    __syncthreads();
    out[index()] = turn;
}

// What one thread changes, another changes behind a barrier.
KERNEL right_told_apart(const int *in, int *out, int n)
{
    __shared__ volatile int count;
    if (threadIdx.x == 0) count = 0;
    for (int k = 0; k < 4; k++) {
        __syncthreads();
        if (threadIdx.x == 32 * k) count = count + in[k];
        __syncthreads();
        if (threadIdx.x < 8 && threadIdx.x == k) count = count + 1;
        __syncwarp();
        if (threadIdx.x < 8 && threadIdx.x == 7 - k) count = count + 1;
    }
    __syncthreads();
    out[index()] = count;
}

// ---- wrong ----------------------------------------------------------------------------------

KERNEL told_without_a_fence(const int *in, int *out, int n)
{
    __shared__ int value, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 64) {
        value = in[index()]; // told_without_a_fence
        tell(&ready, 1);
        __threadfence_block();
    } else if (threadIdx.x == 0) {
        await(&ready, 1);
        __threadfence_block();
        out[blockIdx.x] = value; // told_without_a_fence
    }
}

KERNEL told_and_not_acquired(const int *in, int *out, int n)
{
    __shared__ int value, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 64) {
        value = in[index()]; // told_and_not_acquired
        __threadfence_block();
        tell(&ready, 1);
    } else if (threadIdx.x == 0) {
        await(&ready, 1);
        out[blockIdx.x] = value; // told_and_not_acquired
    }
}

// A fence tells nobody of what another thread does, nor of what comes behind it.
KERNEL told_of_another_warp(const int *in, int *out, int n)
{
    __shared__ int value[4], ready;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0 && warp > 0) value[warp] = in[index()]; // told_of_another_warp
    if (threadIdx.x == 64) {
        __threadfence_block();
        tell(&ready, 1);
    } else if (threadIdx.x == 0) {
        await(&ready, 1);
        __threadfence_block();
        out[blockIdx.x] = value[2] + value[3]; // told_of_another_warp
    }
}

KERNEL told_for_the_warp(const int *in, int *out, int n)
{
    __shared__ int row[32], ready;
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        row[lane] = in[index()]; // told_for_the_warp
        if (lane == 0) {
            __threadfence_block();
            tell(&ready, 1);
        }
    } else if (threadIdx.x == 32) {
        await(&ready, 1);
        __threadfence_block();
        out[blockIdx.x] = row[7]; // told_for_the_warp
    }
}

KERNEL told_too_early(const int *in, int *out, int n)
{
    __shared__ int value, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 64) {
        __threadfence_block();
        tell(&ready, 1);
        value = in[index()]; // told_too_early
    } else if (threadIdx.x == 0) {
        await(&ready, 1);
        __threadfence_block();
        out[blockIdx.x] = value; // told_too_early
    }
}

KERNEL told_before_it_has_read(const int *in, int *out, int n)
{
    __shared__ int slot, full, freed;
    if (threadIdx.x == 0) full = freed = 0;
    __syncthreads();
    if (threadIdx.x == 64)
        for (int k = 0; k < 6; k++) {
            await(&freed, k);
            __threadfence_block();
            slot = in[k]; // told_before_it_has_read
            __threadfence_block();
            tell(&full, k + 1);
        }
    if (threadIdx.x == 0)
        for (int k = 0; k < 6; k++) {
            await(&full, k + 1);
            __threadfence_block();
            tell(&freed, k + 1);
            out[6 * blockIdx.x + k] = slot; // told_before_it_has_read
        }
}

KERNEL told_global_lock(const int *in, int *out, int n)
{
    int *mine = out + 8 * blockIdx.x;
    for (bool done = false; !done;) {
        if (atomicCAS(&mine[4], 0, 1) == 0) {
            mine[0] += in[index()]; // told_global_lock
            atomicExch(&mine[4], 0);
            done = true;
        }
    }
}

KERNEL told_volatile(const int *in, int *out, int n)
{
    __shared__ volatile int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (in[index()] % 2 && count < n) count = count + 1; // told_volatile
    __threadfence_block();                               // or it could tell nobody anything
    __syncthreads();
    out[index()] = count;
}

// Before Volta this was how it was done.
KERNEL told_volatile_in_step(const int *in, int *out, int n)
{
    __shared__ volatile int sums[64];
    int t = threadIdx.x;
    if (t < 64) sums[t] = in[index()];
    __syncthreads();
    if (t < 32) {
        sums[t] += sums[t + 32]; // told_volatile_in_step
        sums[t] += sums[t + 16]; // told_volatile_in_step
        sums[t] += sums[t + 8];  // told_volatile_in_step
        if (t == 0) out[blockIdx.x] = sums[0];
    }
}

KERNEL told_volatile_in_a_loop(const int *in, int *out, int n)
{
    __shared__ volatile int sums[64];
    int t = threadIdx.x;
    if (t < 64) sums[t] = in[index()];
    __syncthreads();
    for (int k = n > 0 ? 32 : 0; t < 32 && k > 0; k /= 2)
        sums[t] += sums[t + k]; // told_volatile_in_a_loop
    if (t == 0) out[blockIdx.x] = sums[0];
}

// A fence and a ticket in global memory are for other blocks.
KERNEL told_volatile_and_a_ticket(const int *in, int *out, int n)
{
    __shared__ volatile int sums[64];
    int t = threadIdx.x;
    if (t < 64) sums[t] = in[index()];
    __syncthreads();
    if (t < 32) sums[t] += sums[t + 16]; // told_volatile_and_a_ticket
    if (t == 0) {
        out[blockIdx.x] = sums[0];
        __threadfence();
        if (atomicAdd(&out[n], 1) == gridDim.x - 1) out[n + 1] = 1;
    }
}

// Nobody can wait for these.
KERNEL told_nothing_by_volatile(const int *in, int *out, int n)
{
    __shared__ volatile int words[128];
    words[threadIdx.x] = in[index()];        // told_nothing_by_volatile
    out[index()] = words[127 - threadIdx.x]; // told_nothing_by_volatile
}

KERNEL told_volatile_by_warps(const int *in, int *out, int n)
{
    volatile int *mine = out + 8 * blockIdx.x;
    for (int k = 0; k < 3; k++)
        if (threadIdx.x % 32 == 0) mine[1] = mine[1] + in[k]; // told_volatile_by_warps
}

// As right_told_volatile_turned, without the barrier. The first lane stays with its own word.
KERNEL told_volatile_turned(const int *in, int *out, int n)
{
    volatile int *words = out + blockIdx.x * blockDim.x;
    const int mine = threadIdx.x, other = mine % 32 < 2 ? mine : mine ^ 1;
    for (int k = 0; k < 3; k++)
        words[mine] = words[mine] + 1 + in[k] * in[k]; // told_volatile_turned
    words[other] = words[other] + 1 + in[0] * in[0];   // told_volatile_turned
}

// Each thread has a byte of its own, and a half of shared memory.
KERNEL right_told_volatile_parts(const int *in, int *out, int n)
{
    __shared__ volatile short halves[128];
    volatile char *bytes = (volatile char *)(out + n / 2);
    halves[threadIdx.x] = in[index()];
    halves[threadIdx.x] = halves[threadIdx.x] + 1;
    bytes[index()] = bytes[index()] + halves[threadIdx.x] + 1;
}

KERNEL told_volatile_byte(const int *in, int *out, int n)
{
    volatile char *bytes = (volatile char *)(out + 64 * blockIdx.x);
    bytes[threadIdx.x / 64] = bytes[threadIdx.x / 64] + in[index()] % 2 + 1; // told_volatile_byte
}

// Each thread changes 8 bytes of its own, and then each half of them.
KERNEL right_told_volatile_wide(const int *in, int *out, int n)
{
    const int t = threadIdx.x % 64;
    volatile long long *wide = (volatile long long *)out + 64 * (index() / 128);
    volatile int *halves = out + 128 * (index() / 128);
    if (threadIdx.x >= 64) return;
    wide[t] = wide[t] + in[t] + 1;
    halves[2 * t] = halves[2 * t] + in[t] + 1;
    halves[2 * t + 1] = halves[2 * t + 1] + in[t] + 1;
    wide[t] = wide[t] + in[t] + 1;
}

// What one changes in 8 bytes, another changes in the last 4 of them.
KERNEL told_volatile_wide(const int *in, int *out, int n)
{
    volatile long long *wide = (volatile long long *)(out + 64 * blockIdx.x);
    volatile int *half = out + 64 * blockIdx.x + 1;
    if (threadIdx.x == 0) *wide = *wide + in[1] + 1;  // told_volatile_wide
    if (threadIdx.x == 32) *half = *half + in[1] + 1; // told_volatile_wide
}

// As above, by the lanes of two warps.
KERNEL told_volatile_wide_row(const int *in, int *out, int n)
{
    const int t = threadIdx.x % 32;
    volatile long long *wide = (volatile long long *)(out + 64 * blockIdx.x) + t;
    volatile int *half = out + 64 * blockIdx.x + 2 * t + 1;
    if (threadIdx.x / 32 == 0) *wide = *wide + in[1] + 1; // told_volatile_wide_row
    if (threadIdx.x / 32 == 1) *half = *half + in[1] + 1; // told_volatile_wide_row
}

// As told_volatile_wide, behind a fence, and the half first.
KERNEL told_volatile_wide_fenced(const int *in, int *out, int n)
{
    volatile long long *wide = (volatile long long *)(out + 64 * blockIdx.x);
    volatile int *half = out + 64 * blockIdx.x + 1;
    __threadfence_block();
    if (threadIdx.x == 0) *half = *half + in[1] + 1;  // told_volatile_wide_fenced
    if (threadIdx.x == 32) *wide = *wide + in[1] + 1; // told_volatile_wide_fenced
}
