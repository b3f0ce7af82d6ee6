// More kernels for test_exec_watch, as racecheck_kernels.cu has them, with what came after sm_75:
// asynchronous copies and barrier objects. Their names have "async" in them.

#include <cuda.h>

#include "racecheck.cuh"

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void copy_in(int *target, const int *from)
{
    unsigned to = shared_address(target);
    // clang-format off
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from)); // async_copy
    // clang-format on
}

__device__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ void arrive_and_wait(unsigned long long *object, unsigned parity)
{
    unsigned over = 0;
    asm volatile(
        "{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared_address(object))
        : "memory");
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(shared_address(object)), "r"(parity)
                     : "memory");
}

__device__ void make(unsigned long long *object)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(shared_address(object))
                     : "memory");
    __syncthreads();
}

KERNEL right_async_copy(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    copy_in(&tile[threadIdx.x], &in[index()]);
    wait_for_copies();
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x];
}

KERNEL right_async_phases(const int *in, int *out, int n)
{
    __shared__ unsigned long long object;
    __shared__ int tile[128];
    make(&object);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        tile[threadIdx.x] = in[(index() + round) % n];
        arrive_and_wait(&object, 0);
        sum += tile[127 - threadIdx.x];
        arrive_and_wait(&object, 1);
    }
    out[index()] = sum;
}

KERNEL async_copy_without_a_barrier(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    copy_in(&tile[threadIdx.x], &in[index()]);
    wait_for_copies();
    out[index()] = tile[127 - threadIdx.x]; // async_copy
}

KERNEL async_phase_not_awaited(const int *in, int *out, int n)
{
    __shared__ unsigned long long object;
    __shared__ int tile[128];
    make(&object);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        tile[threadIdx.x] = in[(index() + round) % n]; // async_phase_not_awaited
        arrive_and_wait(&object, round & 1);
        sum += tile[127 - threadIdx.x]; // async_phase_not_awaited
    }
    out[index()] = sum;
}

// ---- a warp that fills, three that read ------------------------------------------------------

enum { ROUNDS = 6 };

struct handed {
    unsigned long long full[2], empty[2];
    int tile[2][96];
};

__device__ void arrive(unsigned long long *object)
{
    asm volatile(
        "{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared_address(object))
        : "memory");
}

__device__ void wait_for_phase(unsigned long long *object, unsigned parity)
{
    unsigned over = 0;
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(shared_address(object)), "r"(parity)
                     : "memory");
}

// Waits for the phase of the round, of which every second one is an object's.
__device__ void await(unsigned long long *object, int round)
{
    wait_for_phase(object, round / 2 & 1);
}

__device__ void make_handed(struct handed *handed)
{
    if (threadIdx.x < 2)
        asm volatile("mbarrier.init.shared.b64 [%0], 32; mbarrier.init.shared.b64 [%1], 96;" ::"r"(
                         shared_address(&handed->full[threadIdx.x])),
                     "r"(shared_address(&handed->empty[threadIdx.x]))
                     : "memory");
    __syncthreads();
}

// The element that a reader reads.
__device__ int reader()
{
    return threadIdx.x % 96;
}

// The first warp's part.
__device__ void fill(struct handed *handed, const int *in, int round)
{
    if (round > 1) await(&handed->empty[round % 2], round - 2);
    for (int k = threadIdx.x; k < 96; k += 32)
        handed->tile[round % 2][k] = in[k] + round; // async_handed_too_early
    arrive(&handed->full[round % 2]);
}

KERNEL right_async_handed(const int *in, int *out, int n)
{
    __shared__ struct handed handed;
    make_handed(&handed);
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x < 32) {
            fill(&handed, in, round);
        } else {
            await(&handed.full[round % 2], round);
            sum += handed.tile[round % 2][reader()];
            arrive(&handed.empty[round % 2]);
        }
    }
    out[index()] = sum;
}

// Lane 0 arrives for its warp, which has met.
KERNEL right_async_handed_by_one_lane(const int *in, int *out, int n)
{
    __shared__ struct handed handed;
    make_handed(&handed);
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x < 32) {
            fill(&handed, in, round);
        } else {
            await(&handed.full[round % 2], round);
            sum += handed.tile[round % 2][reader()];
            __syncwarp();
            for (int k = 0; threadIdx.x % 32 == 0 && k < 32; k++) arrive(&handed.empty[round % 2]);
        }
    }
    out[index()] = sum;
}

// What a thread reads behind its arrival, a barrier of the block orders.
KERNEL right_async_handed_and_a_barrier(const int *in, int *out, int n)
{
    __shared__ struct handed handed;
    make_handed(&handed);
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x < 32) {
            fill(&handed, in, round);
        } else {
            await(&handed.full[round % 2], round);
            arrive(&handed.empty[round % 2]);
            sum += handed.tile[round % 2][reader()];
        }
        __syncthreads();
    }
    out[index()] = sum;
}

KERNEL async_handed_too_early(const int *in, int *out, int n)
{
    __shared__ struct handed handed;
    make_handed(&handed);
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x < 32) {
            fill(&handed, in, round);
        } else {
            await(&handed.full[round % 2], round);
            arrive(&handed.empty[round % 2]);
            sum += handed.tile[round % 2][reader()]; // async_handed_too_early
        }
    }
    out[index()] = sum;
}

// The same, where copies fill the tile.
KERNEL async_handed_to_copies(const int *in, int *out, int n)
{
    __shared__ struct handed handed;
    make_handed(&handed);
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int *tile = handed.tile[round % 2];
        if (threadIdx.x < 32) {
            if (round > 1) await(&handed.empty[round % 2], round - 2);
            for (int k = threadIdx.x; k < 96; k += 32) copy_in(&tile[k], &in[k + round]);
            wait_for_copies();
            arrive(&handed.full[round % 2]);
        } else {
            await(&handed.full[round % 2], round);
            arrive(&handed.empty[round % 2]);
            sum += tile[reader()]; // async_handed_to_copies
        }
    }
    out[index()] = sum;
}

// ---- copies that are not waited for ----------------------------------------------------------

__device__ void close_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int LEFT> __device__ void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// Two stages under way, the third is read.
KERNEL right_async_stages(const int *in, int *out, int n)
{
    __shared__ int tile[3][128];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 2; k++) {
        copy_in(&tile[k][t], &in[(index() + k) % n]);
        close_group();
    }
    for (int round = 0; round < 6; round++) {
        if (round < 4) copy_in(&tile[(round + 2) % 3][t], &in[(index() + round + 2) % n]);
        close_group();
        wait_for_groups<2>();
        __syncthreads();
        sum += tile[round % 3][127 - t];
        __syncthreads();
    }
    out[index()] = sum;
}

// Each thread reads what it has copied itself, and waits for that alone.
KERNEL right_async_own(const int *in, int *out, int n)
{
    __shared__ int tile[2][128];
    int t = threadIdx.x;
    copy_in(&tile[0][t], &in[index()]);
    close_group();
    copy_in(&tile[1][t], &in[n - 1 - index()]);
    close_group();
    wait_for_groups<1>();
    int sum = tile[0][t];
    wait_for_groups<0>();
    out[index()] = sum + tile[1][t];
}

KERNEL right_async_object(const int *in, int *out, int n)
{
    __shared__ unsigned long long object;
    __shared__ int tile[128];
    make(&object);
    copy_in(&tile[threadIdx.x], &in[index()]);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared_address(&object))
                 : "memory");
    arrive_and_wait(&object, 0);
    out[index()] = tile[127 - threadIdx.x];
}

__device__ void bulk_copy(int *target, const int *from, unsigned bytes, unsigned long long *object)
{
    // clang-format off
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(target)), "l"(from), "r"(bytes), "r"(shared_address(object)) : "memory"); // async_bulk
    // clang-format on
}

__device__ void make_for_one(unsigned long long *object)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(object)) : "memory");
    __syncthreads();
}

__device__ void arrive_for(unsigned long long *object, unsigned bytes)
{
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(
                     shared_address(object)),
                 "r"(bytes)
                 : "memory");
}

KERNEL right_async_bulk(const int *in, int *out, int n)
{
    __shared__ alignas(16) unsigned long long object, other;
    __shared__ alignas(16) int tile[2][128];
    make_for_one(&object);
    make_for_one(&other);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0) {
            arrive_for(&object, 512);
            bulk_copy(tile[0], in + 128 * round, 512, &object);
            arrive_for(&other, 512);
            bulk_copy(tile[1], in + 128 * (2 - round), 512, &other);
        }
        wait_for_phase(&object, round & 1);
        sum += tile[0][127 - threadIdx.x];
        wait_for_phase(&other, round & 1);
        sum += tile[1][127 - threadIdx.x];
        __syncthreads();
    }
    out[index()] = sum;
}

__device__ void bulk_out(int *to, const int *from, unsigned bytes)
{
    // clang-format off
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory"); // async_out
    // clang-format on
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ void fence_for_bulk()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Each thread that stores has a fence, then the one that asks alone; and what came by a bulk copy
// needs none.
KERNEL right_async_out(const int *in, int *out, int n)
{
    __shared__ alignas(16) unsigned long long object;
    __shared__ alignas(16) int tile[2][128];
    int *const to = out + 128 * blockIdx.x;
    make_for_one(&object);
    tile[0][threadIdx.x] = in[index()];
    fence_for_bulk();
    __syncthreads();
    if (threadIdx.x == 0) bulk_out(to, tile[0], 512);
    __syncthreads();
    tile[0][threadIdx.x] = in[index()] + n;
    __syncthreads();
    if (threadIdx.x == 0) {
        fence_for_bulk();
        bulk_out(to, tile[0], 512);
        arrive_for(&object, 512);
        bulk_copy(tile[1], in + 128 * blockIdx.x, 512, &object);
    }
    wait_for_phase(&object, 0);
    if (threadIdx.x == 0) bulk_out(to, tile[1], 512);
}

// ---- copies to global memory that still read ---------------------------------------------------

__device__ void begin_out(int *to, const int *from, unsigned bytes)
{
    // clang-format off
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory"); // async_source
    // clang-format on
}

__device__ void close_bulk_group()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <int LEFT> __device__ void wait_until_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

__device__ void fill(int *tile, int value)
{
    tile[threadIdx.x] = value;
    fence_for_bulk();
    __syncthreads();
}

KERNEL right_async_source(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    for (int k = 0; k < 3; k++) {
        fill(tile, in[index()] + k);
        if (threadIdx.x == 0) {
            begin_out(out + 128 * blockIdx.x, tile, 512);
            close_bulk_group();
            wait_until_read<0>();
        }
        __syncthreads();
    }
}

// Two buffers: the copy out of the one may go on while the other is filled. Who asks also stores
// what nobody copies, without a wait, and the last copies are not waited for.
KERNEL right_async_source_of_two(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[2][132];
    int *const to = out + 128 * blockIdx.x;
    for (int k = 0; k < 6; k++) {
        if (threadIdx.x == 64) wait_until_read<1>();
        __syncthreads();
        fill(tile[k % 2], in[index()] + k);
        if (threadIdx.x == 64) {
            begin_out(to, tile[k % 2], 256);
            begin_out(to + 64, tile[k % 2] + 64, 256);
            close_bulk_group();
            tile[k % 2][128] = k;
        }
    }
}

// One thread does it all, and each warp has a part of its own.
KERNEL right_async_source_of_each_warp(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    for (int k = 0; k < 3; k++) {
        tile[threadIdx.x] = in[index()] + k;
        fence_for_bulk();
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            begin_out(out + index(), tile + threadIdx.x, 128);
            close_bulk_group();
            wait_until_read<0>();
            tile[threadIdx.x] = 0;
        }
        __syncwarp();
    }
}

KERNEL async_source_not_awaited(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    fill(tile, in[index()]);
    if (threadIdx.x == 0) {
        begin_out(out + 128 * blockIdx.x, tile, 512);
        close_bulk_group();
    }
    __syncthreads();
    tile[threadIdx.x] = n; // async_source_not_awaited
}

KERNEL async_source_of_its_own_thread(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    fill(tile, in[index()]);
    if (threadIdx.x == 0) {
        begin_out(out + 128 * blockIdx.x, tile, 512);
        close_bulk_group();
        tile[100] = n; // async_source_of_its_own_thread
        wait_until_read<0>();
    }
}

// The group is not closed, so the wait is for none.
KERNEL async_source_of_open_group(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    fill(tile, in[index()]);
    if (threadIdx.x == 0) {
        begin_out(out + 128 * blockIdx.x, tile, 512);
        wait_until_read<0>();
        close_bulk_group();
    }
    __syncthreads();
    tile[threadIdx.x] = n; // async_source_of_open_group
}

// Each thread waits for its own copies.
KERNEL async_source_awaited_by_another(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    fill(tile, in[index()]);
    if (threadIdx.x == 0) {
        begin_out(out + 128 * blockIdx.x, tile, 512);
        close_bulk_group();
    }
    if (threadIdx.x == 32) wait_until_read<0>();
    __syncthreads();
    tile[threadIdx.x] = n; // async_source_awaited_by_another
}

KERNEL async_source_one_group_too_few(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[2][128];
    for (int k = 0; k < 4; k++) {
        tile[k % 2][threadIdx.x] = in[index()] + k; // async_source_one_group_too_few
        fence_for_bulk();
        __syncthreads();
        if (threadIdx.x == 0) {
            begin_out(out + 128 * blockIdx.x, tile[k % 2], 512);
            close_bulk_group();
            wait_until_read<2>();
        }
        __syncthreads();
    }
}

// The copy in goes where the copy out reads.
KERNEL async_source_is_filled(const int *in, int *out, int n)
{
    __shared__ alignas(16) unsigned long long object;
    __shared__ alignas(16) int tile[128];
    make_for_one(&object);
    fill(tile, in[index()]);
    if (threadIdx.x == 0) {
        begin_out(out + 128 * blockIdx.x, tile, 512);
        close_bulk_group();
        arrive_for(&object, 512);
        // clang-format off
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(tile)), "l"(in), "r"(512), "r"(shared_address(&object)) : "memory"); // async_source_is_filled
        // clang-format on
    }
    wait_for_phase(&object, 0);
}

// So do copies of the threads' own.
KERNEL async_source_under_copies(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    fill(tile, in[index()]);
    if (threadIdx.x == 0) {
        begin_out(out + 128 * blockIdx.x, tile, 512);
        close_bulk_group();
    }
    __syncthreads();
    copy_in(&tile[threadIdx.x], in + index());
    wait_for_copies();
}

// The wait is there, and no barrier behind it: a flag without a fence orders nothing.
KERNEL async_source_awaited_and_told(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    fill(tile, in[index()]);
    if (threadIdx.x == 0) {
        begin_out(out + 128 * blockIdx.x, tile, 512);
        close_bulk_group();
        wait_until_read<0>();
        atomicExch(&flag, 1);
    } else if (threadIdx.x >= 32) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        tile[threadIdx.x] = n; // async_source_awaited_and_told
    }
}

// A copy that nobody wants is under way when the block ends: the next block's words are its own.
KERNEL right_async_left_behind(const int *in, int *out, int n)
{
    __shared__ int tile[2][128];
    int t = threadIdx.x;
    tile[1][t] = in[index()];
    copy_in(&tile[0][t], &in[index()]);
    __syncthreads();
    out[index()] = tile[1][127 - t];
    __syncthreads();
    copy_in(&tile[1][t], &in[index()]);
}

KERNEL async_copy_not_awaited(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    copy_in(&tile[threadIdx.x], &in[index()]);
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x]; // async_copy_not_awaited
}

KERNEL async_own_copy_not_awaited(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    copy_in(&tile[threadIdx.x], &in[index()]);
    close_group();
    out[index()] = tile[threadIdx.x]; // async_own_copy_not_awaited
}

KERNEL async_one_group_too_few(const int *in, int *out, int n)
{
    __shared__ int tile[2][128];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 2; k++) {
        copy_in(&tile[k][t], &in[(index() + k) % n]);
        close_group();
    }
    wait_for_groups<1>();
    __syncthreads();
    sum = tile[0][127 - t];
    sum += tile[1][127 - t]; // async_one_group_too_few
    out[index()] = sum;
}

KERNEL async_stored_too_early(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    copy_in(&tile[t], &in[index()]);
    if (t == 5) tile[t] = n; // async_stored_too_early
    wait_for_copies();
    __syncthreads();
    out[index()] = tile[127 - t];
}

// The barrier comes before the wait: who reads another's words has not waited.
KERNEL async_awaited_behind_the_barrier(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    copy_in(&tile[threadIdx.x], &in[index()]);
    __syncthreads();
    wait_for_copies();
    // The last warp at the barrier is the first behind it, and has waited.
    if (threadIdx.x < 32) out[index()] = tile[threadIdx.x + 96]; // async_awaited_behind_the_barrier
}

KERNEL async_bulk_not_awaited(const int *in, int *out, int n)
{
    __shared__ alignas(16) unsigned long long object;
    __shared__ alignas(16) int tile[128];
    make_for_one(&object);
    if (threadIdx.x == 0) {
        arrive_for(&object, 512);
        bulk_copy(tile, in, 512, &object);
    }
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x]; // async_bulk_not_awaited
}

KERNEL async_out_unfenced(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    tile[threadIdx.x] = in[index()]; // async_out_unfenced
    __syncthreads();
    if (threadIdx.x == 0) bulk_out(out + 128 * blockIdx.x, tile, 512);
}

// No thread executes the fence.
KERNEL async_out_fenced_by_none(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    tile[threadIdx.x] = in[index()]; // async_out_fenced_by_none
    // clang-format off
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, -1000000; @p fence.proxy.async.shared::cta; }" ::"r"(n) : "memory");
    // clang-format on
    __syncthreads();
    if (threadIdx.x == 0) bulk_out(out + 128 * blockIdx.x, tile, 512);
}

KERNEL async_out_fenced_once(const int *in, int *out, int n)
{
    __shared__ alignas(16) int tile[128];
    tile[threadIdx.x] = in[index()];
    fence_for_bulk();
    __syncthreads();
    if (threadIdx.x == 0) bulk_out(out + 128 * blockIdx.x, tile, 512);
    __syncthreads();
    tile[threadIdx.x] = in[index()] + n; // async_out_fenced_once
    __syncthreads();
    if (threadIdx.x == 0) bulk_out(out + 128 * blockIdx.x, tile, 512);
}

KERNEL async_bulk_other_object(const int *in, int *out, int n)
{
    __shared__ alignas(16) unsigned long long object, other;
    __shared__ alignas(16) int tile[2][128];
    make_for_one(&object);
    make_for_one(&other);
    if (threadIdx.x == 0) {
        arrive_for(&object, 512);
        bulk_copy(tile[0], in, 512, &object);
        arrive_for(&other, 512);
        bulk_copy(tile[1], in, 512, &other);
    }
    wait_for_phase(&object, 0);
    __syncthreads();
    out[index()] = tile[0][threadIdx.x] + tile[1][127 - threadIdx.x]; // async_bulk_other_object
}

// ---- boxes of tensors ------------------------------------------------------------------------

// Kernels of this kind get two maps besides: of `in` and of `out`, as rows of 128 that are a box
// each.
#define BOXES                                                                                      \
    const int *in, int *out, int n, const __grid_constant__ CUtensorMap from,                      \
        const __grid_constant__ CUtensorMap to

__device__ void box_in(int *target, const CUtensorMap *map, int row, unsigned long long *object)
{
    // clang-format off
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(target)), "l"(map), "r"(0), "r"(row), "r"(shared_address(object)) : "memory"); // async_box
    // clang-format on
}

__device__ void box_out(const CUtensorMap *map, int row, const int *from)
{
    // clang-format off
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(0), "r"(row), "r"(shared_address(from)) : "memory"); // async_box_out
    // clang-format on
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ void box_add(const CUtensorMap *map, int row, const int *from)
{
    // clang-format off
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(0), "r"(row), "r"(shared_address(from)) : "memory"); // async_box_add
    // clang-format on
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

KERNEL right_async_box(BOXES)
{
    __shared__ alignas(16) unsigned long long object, other;
    __shared__ alignas(128) int tile[2][128];
    make_for_one(&object);
    make_for_one(&other);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0) {
            arrive_for(&object, 512);
            box_in(tile[0], &from, round, &object);
            arrive_for(&other, 512);
            box_in(tile[1], &from, 2 - round, &other);
        }
        wait_for_phase(&object, round & 1);
        sum += tile[0][127 - threadIdx.x];
        wait_for_phase(&other, round & 1);
        sum += tile[1][127 - threadIdx.x];
        __syncthreads();
    }
    out[index()] = sum;
}

// What was stored is fenced, and what came by a copy needs no fence; all blocks add to one row.
KERNEL right_async_box_out(BOXES)
{
    __shared__ alignas(16) unsigned long long object;
    __shared__ alignas(128) int tile[2][128];
    make_for_one(&object);
    tile[0][threadIdx.x] = in[index()];
    fence_for_bulk();
    __syncthreads();
    if (threadIdx.x == 0) {
        box_out(&to, blockIdx.x, tile[0]);
        arrive_for(&object, 512);
        box_in(tile[1], &from, blockIdx.x, &object);
    }
    wait_for_phase(&object, 0);
    if (threadIdx.x == 0) box_out(&to, blockIdx.x, tile[1]);
}

KERNEL right_async_box_added(BOXES)
{
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[index()];
    fence_for_bulk();
    __syncthreads();
    if (threadIdx.x == 0) box_add(&to, 1, tile);
}

KERNEL async_box_not_awaited(BOXES)
{
    __shared__ alignas(16) unsigned long long object;
    __shared__ alignas(128) int tile[128];
    make_for_one(&object);
    if (threadIdx.x == 0) {
        arrive_for(&object, 512);
        box_in(tile, &from, blockIdx.x, &object);
    }
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x]; // async_box_not_awaited
}

KERNEL async_box_other_object(BOXES)
{
    __shared__ alignas(16) unsigned long long object, other;
    __shared__ alignas(128) int tile[2][128];
    make_for_one(&object);
    make_for_one(&other);
    if (threadIdx.x == 0) {
        arrive_for(&object, 512);
        box_in(tile[0], &from, 0, &object);
        arrive_for(&other, 512);
        box_in(tile[1], &from, 1, &other);
    }
    wait_for_phase(&object, 0);
    __syncthreads();
    out[index()] = tile[0][threadIdx.x] + tile[1][127 - threadIdx.x]; // async_box_other_object
}

KERNEL async_box_over_what_is_read(BOXES)
{
    __shared__ alignas(16) unsigned long long objects[2];
    __shared__ alignas(128) int tile[128];
    make_for_one(&objects[0]);
    make_for_one(&objects[1]);
    int sum = 0;
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0) {
            arrive_for(&objects[round], 512);
            box_in(tile, &from, round, &objects[round]);
        }
        wait_for_phase(&objects[round], 0);
        sum += tile[threadIdx.x]; // async_box_over_what_is_read
    }
    out[index()] = sum;
}

KERNEL async_box_out_unfenced(BOXES)
{
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[index()]; // async_box_out_unfenced
    __syncthreads();
    if (threadIdx.x == 0) box_out(&to, blockIdx.x, tile);
}

KERNEL async_box_out_added_unfenced(BOXES)
{
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[index()]; // async_box_out_added_unfenced
    __syncthreads();
    if (threadIdx.x == 0) box_add(&to, blockIdx.x, tile);
}

KERNEL async_box_out_to_one_row(BOXES)
{
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[index()];
    fence_for_bulk();
    __syncthreads();
    if (threadIdx.x == 0) box_out(&to, 1, tile);
}

// ---- maps that kernels change ----------------------------------------------------------------

__device__ CUtensorMap places[4];

// The map, with the same address once more, by way of shared memory to the block's place.
__device__ const CUtensorMap *changed(const CUtensorMap &map, const int *address)
{
    __shared__ alignas(128) CUtensorMap copy;
    if (threadIdx.x < 32) ((unsigned *)&copy)[threadIdx.x] = ((const unsigned *)&map)[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                         shared_address(&copy)),
                     "l"(address)
                     : "memory");
    __syncthreads();
    if (threadIdx.x < 32)
        // clang-format off
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(&places[blockIdx.x]), "r"(shared_address(&copy)) : "memory"); // async_box
    // clang-format on
    __syncthreads();
    return &places[blockIdx.x];
}

__device__ void fence_for_map(const CUtensorMap *map)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

KERNEL right_async_box_by_changed_map(BOXES)
{
    __shared__ alignas(16) unsigned long long object;
    __shared__ alignas(128) int tile[128];
    make_for_one(&object);
    const CUtensorMap *map = changed(from, in);
    if (threadIdx.x == 0) {
        fence_for_map(map);
        arrive_for(&object, 512);
        box_in(tile, map, blockIdx.x, &object);
    }
    wait_for_phase(&object, 0);
    out[index()] = tile[127 - threadIdx.x];
}

KERNEL async_box_by_changed_map_unfenced(BOXES)
{
    __shared__ alignas(16) unsigned long long object;
    __shared__ alignas(128) int tile[128];
    make_for_one(&object);
    fence_for_map(&places[blockIdx.x]); // too early
    const CUtensorMap *map = changed(from, in);
    if (threadIdx.x == 0) {
        arrive_for(&object, 512);
        box_in(tile, map, blockIdx.x, &object);
    }
    wait_for_phase(&object, 0);
    out[index()] = tile[127 - threadIdx.x];
}

// What lies beside the box is not read.
KERNEL right_async_box_source(BOXES)
{
    __shared__ alignas(128) int tile[2][128];
    tile[0][threadIdx.x] = in[index()];
    fence_for_bulk();
    __syncthreads();
    if (threadIdx.x == 0) {
        // clang-format off
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(0), "r"(blockIdx.x), "r"(shared_address(tile[0])) : "memory");
        // clang-format on
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
    tile[1][threadIdx.x] = n;
    if (threadIdx.x == 0) wait_until_read<0>();
    __syncthreads();
    tile[0][threadIdx.x] = n;
}

KERNEL async_box_source_not_awaited(BOXES)
{
    __shared__ alignas(128) int tile[128];
    tile[threadIdx.x] = in[index()];
    fence_for_bulk();
    __syncthreads();
    if (threadIdx.x == 0) {
        // clang-format off
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(0), "r"(blockIdx.x), "r"(shared_address(tile)) : "memory"); // async_box_source_not_awaited
        // clang-format on
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
    tile[threadIdx.x] = n; // async_box_source_not_awaited
}

// ---- objects that others use too early ----------------------------------------------------------

// One warp tells the others of the second object by the first one.
KERNEL right_async_object_told_of(const int *in, int *out, int n)
{
    __shared__ unsigned long long object, other;
    make_for_one(&object);
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(shared_address(&other))
                     : "memory");
        arrive(&object);
    }
    wait_for_phase(&object, 0);
    arrive_and_wait(&other, 0);
    out[index()] = in[index()];
}

KERNEL async_object_used_too_early(const int *in, int *out, int n)
{
    __shared__ unsigned long long object;
    const unsigned address = shared_address(&object);
    // clang-format off
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 96;" ::"r"(address) : "memory"); // async_object_used_too_early
    if (threadIdx.x >= 32) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(address) : "memory"); // async_object_used_too_early
    // clang-format on
    out[index()] = in[index()];
}
