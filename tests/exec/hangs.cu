// Kernels for hang_test.c: threads that wait for barrier objects in shared memory. Those whose
// names begin with "right_" end; of the others no thread can ever go on, and they are to be named
// at the lines that end in `// NAME`. All get the same arguments: 256 zeros to read, and room for
// results.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

// In clock cycles: a minute.
#ifndef A_LONG_TIME
#define A_LONG_TIME (60ll * 1500000000)
#endif

#define KERNEL extern "C" __global__ void

typedef unsigned long long Object;

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void make(Object *object, unsigned arrivals)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(object)),
                     "r"(arrivals)
                     : "memory");
    __syncthreads();
}

__device__ void arrive(Object *object)
{
    asm volatile(
        "{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared_address(object))
        : "memory");
}

__device__ void arrive_for(Object *object, unsigned bytes)
{
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(
                     shared_address(object)),
                 "r"(bytes)
                 : "memory");
}

__device__ bool is_over(Object *object, unsigned parity)
{
    unsigned over;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                 "  selp.u32 %0, 1, 0, p; }"
                 : "=r"(over)
                 : "r"(shared_address(object)), "r"(parity)
                 : "memory");
    return over;
}

#define WAIT(object, parity) while (!is_over(object, parity))

__device__ void copy(int *target, const int *from, unsigned bytes, Object *object)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(shared_address(target)),
                 "l"(from), "r"(bytes), "r"(shared_address(object))
                 : "memory");
}

// ---- what never ends -------------------------------------------------------------------------

KERNEL parity_is_wrong(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, blockDim.x);
    arrive(&object);
    WAIT(&object, 0);
    WAIT(&object, 1); // parity_is_wrong
    out[threadIdx.x] = in[threadIdx.x];
}

KERNEL too_many_bytes(const int *in, int *out)
{
    __shared__ Object object;
    __shared__ alignas(16) int tile[128];
    make(&object, 1);
    if (threadIdx.x == 0) {
        arrive_for(&object, 1024);
        copy(tile, in, 512, &object);
    }
    WAIT(&object, 0); // too_many_bytes
    out[threadIdx.x] = tile[threadIdx.x];
}

KERNEL no_copy(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    if (threadIdx.x == 0) arrive_for(&object, 512);
    WAIT(&object, 0); // no_copy
    out[threadIdx.x] = in[threadIdx.x];
}

// A GPU, too, has copied when the arrival comes.
KERNEL bytes_not_announced(const int *in, int *out)
{
    __shared__ Object object;
    __shared__ alignas(16) int tile[128];
    make(&object, 1);
    if (threadIdx.x == 0) {
        copy(tile, in, 512, &object);
        __nanosleep(100000);
        arrive(&object);
    }
    WAIT(&object, 0); // bytes_not_announced
    out[threadIdx.x] = tile[threadIdx.x];
}

KERNEL too_few_arrive(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, blockDim.x);
    if (threadIdx.x % 32 == 0) arrive(&object);
    WAIT(&object, 0); // too_few_arrive
    out[threadIdx.x] = in[threadIdx.x];
}

// One waits for what nobody does, all others for the one.
KERNEL behind_a_barrier(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    if (threadIdx.x == 70) WAIT(&object, 0); // behind_a_barrier
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
}

// Two stages, a thread that copies and a warp that reads, which does not say that it has.
KERNEL reader_does_not_arrive(const int *in, int *out)
{
    __shared__ Object full[2], empty[2];
    __shared__ alignas(16) int tile[2][32];
    for (int k = 0; k < 2; k++) {
        make(&full[k], 1);
        make(&empty[k], 32);
    }
    if (threadIdx.x == 32) {
        for (int k = 0; k < 6; k++) {
            if (k >= 2) WAIT(&empty[k % 2], (k / 2 - 1) & 1); // reader_does_not_arrive
            arrive_for(&full[k % 2], 128);
            copy(tile[k % 2], in + 32 * k, 128, &full[k % 2]);
        }
    } else if (threadIdx.x < 32) {
        int sum = 0;
        for (int k = 0; k < 6; k++) {
            WAIT(&full[k % 2], k / 2 & 1); // reader_does_not_arrive
            sum += tile[k % 2][threadIdx.x];
        }
        out[threadIdx.x] = sum;
    }
}

// The same in one warp.
KERNEL lanes_of_one_warp(const int *in, int *out)
{
    __shared__ Object full, empty;
    make(&full, 1);
    make(&empty, 31);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; k++) {
            arrive(&full);
            WAIT(&empty, k & 1); // lanes_of_one_warp
        }
    } else if (threadIdx.x < 32) {
        for (int k = 0; k < 3; k++) {
            WAIT(&full, k & 1); // lanes_of_one_warp
            if (k < 2 || threadIdx.x < 31) arrive(&empty);
        }
    }
    out[threadIdx.x] = in[threadIdx.x];
}

KERNEL sleeps_meanwhile(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    unsigned time = 8;
    while (!is_over(&object, 0)) { // sleeps_meanwhile
        __nanosleep(time);
        if (time < 256) time *= 2;
    }
    out[threadIdx.x] = in[threadIdx.x];
}

__device__ __noinline__ bool asks(Object *object, unsigned parity)
{
    return is_over(object, parity); // asks_in_a_function
}

KERNEL asks_in_a_function(const int *in, int *out)
{
    __shared__ Object objects[2];
    make(&objects[0], 1);
    make(&objects[1], 1);
    while (!asks(&objects[threadIdx.x % 2], 0)) {
    }
    out[threadIdx.x] = in[threadIdx.x];
}

// cuda::barrier sleeps by a clock.
KERNEL library_barrier(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    if (threadIdx.x != 5) barrier.arrive_and_wait(); // library_barrier
    out[threadIdx.x] = in[threadIdx.x];
}

KERNEL flag_behind_it(const int *in, int *out)
{
    __shared__ Object object;
    __shared__ volatile int flag;
    make(&object, 1);
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 64) {
        WAIT(&object, 0); // flag_behind_it
        flag = 1;
    }
    while (!flag) {
    }
    out[threadIdx.x] = in[threadIdx.x];
}

__device__ void arrive_in_block(Object *object, unsigned rank)
{
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address)
        : "r"(shared_address(object)), "r"(rank));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address)
                 : "memory");
}

__device__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

__device__ unsigned block_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Block 0 waits for two blocks, of which one comes; the others meet and wait for it.
KERNEL __cluster_dims__(2, 1, 1) of_a_cluster(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 2);
    meet_cluster();
    if (threadIdx.x == 0 && block_rank() == 1) arrive_in_block(&object, 0);
    if (block_rank() == 0) WAIT(&object, 0); // of_a_cluster
    meet_cluster();
    out[threadIdx.x] = in[threadIdx.x];
}

// How often it has asked is for others to know.
__device__ __noinline__ unsigned asked(Object *object, unsigned parity)
{
    unsigned times = 1;
    while (!is_over(object, parity)) times++; // counts_its_rounds
    return times;
}

KERNEL counts_its_rounds(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    unsigned times = 0;
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x == 0 && k == 0) arrive(&object);
        times += asked(&object, (unsigned)k);
    }
    out[threadIdx.x] = (int)times;
}

// The library's functions are inlined in each other, and the line is the program's.
KERNEL library_pipeline(const int *in, int *out)
{
    constexpr int STAGES = 2;
    __shared__ alignas(16) int tile[STAGES][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int k = 0; k <= STAGES; k++) {
        pipe.producer_acquire(); // library_pipeline
        cuda::memcpy_async(block, tile[k % STAGES], in, cuda::aligned_size_t<16>(512), pipe);
        pipe.producer_commit();
    }
    for (int k = 0; k <= STAGES; k++) {
        pipe.consumer_wait();
        out[threadIdx.x] += tile[k % STAGES][threadIdx.x];
        pipe.consumer_release();
    }
}

KERNEL left_grid(const int *in, int *out)
{
    if (blockIdx.x == 2) return;
    cooperative_groups::this_grid().sync(); // left_grid
    out[threadIdx.x] = in[threadIdx.x];
}

KERNEL left_grid_in_a_loop(const int *in, int *out)
{
    for (unsigned k = 0; k < 3 + blockIdx.x / 2; k++) {
        if (threadIdx.x < 40) out[blockIdx.x * blockDim.x + threadIdx.x] += in[threadIdx.x];
        cooperative_groups::this_grid().sync(); // left_grid_in_a_loop
    }
}

// ---- what does -------------------------------------------------------------------------------

KERNEL right_stages(const int *in, int *out)
{
    __shared__ Object full[2], empty[2];
    __shared__ alignas(16) int tile[2][32];
    for (int k = 0; k < 2; k++) {
        make(&full[k], 1);
        make(&empty[k], 32);
    }
    if (threadIdx.x == 32) {
        for (int k = 0; k < 6; k++) {
            WAIT(&empty[k % 2], (k / 2 & 1) ^ 1);
            arrive_for(&full[k % 2], 128);
            copy(tile[k % 2], in + 32 * k, 128, &full[k % 2]);
        }
    } else if (threadIdx.x < 32) {
        int sum = 0;
        for (int k = 0; k < 6; k++) {
            WAIT(&full[k % 2], k / 2 & 1);
            sum += tile[k % 2][threadIdx.x];
            arrive(&empty[k % 2]);
        }
        out[threadIdx.x] = sum;
    }
}

KERNEL right_library_barrier(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int k = 0; k < 5; k++) barrier.arrive_and_wait();
    out[threadIdx.x] = in[threadIdx.x];
}

// Each of these gives up some time.
KERNEL right_bounded_by_count(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    int left = 5000;
    while (!is_over(&object, 0) && left > 0) left--;
    out[threadIdx.x] = in[threadIdx.x] + left;
}

// How often it has asked decides what it looks at.
KERNEL right_bounded_by_a_place(const int *in, int *out)
{
    __shared__ Object object;
    __shared__ int ends[4096];
    for (int k = (int)threadIdx.x; k < 4096; k += (int)blockDim.x) ends[k] = in[0] + (k == 4000);
    make(&object, 1);
    int times = 0;
    while (!is_over(&object, 0) && ends[times % 4096] == 0) times++;
    out[threadIdx.x] = times;
}

KERNEL right_bounded_by_time(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    const long long begin = clock64();
    while (!is_over(&object, 0) && clock64() - begin < A_LONG_TIME) {
    }
    out[threadIdx.x] = in[threadIdx.x];
}

KERNEL right_bounded_by_short_clock(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    const unsigned begin = clock();
    while (!is_over(&object, 0) && clock() - begin < 3500000000u) {
    }
    out[threadIdx.x] = in[threadIdx.x];
}

// A counter of rounds that shares nothing with the clock beside it.
KERNEL right_bounded_beside_a_clock(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    const long long begin = clock64();
    long long last = begin;
    int left = 5000;
    while (!is_over(&object, 0) && left > 0) {
        last = clock64();
        left--;
    }
    out[threadIdx.x] = in[threadIdx.x] + (last > begin);
}

KERNEL right_count_in_shared_memory(const int *in, int *out)
{
    __shared__ Object object;
    __shared__ int left;
    make(&object, 1);
    if (threadIdx.x == 0) left = 5000;
    __syncthreads();
    while (!is_over(&object, 0))
        if (atomicSub(&left, 1) < 0) break;
    out[threadIdx.x] = in[threadIdx.x];
}

// In local memory, of which each round reads one element more.
KERNEL right_count_in_local_memory(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    volatile int left[4] = {1000, 1000, 1000, 1000};
    while (!is_over(&object, 0)) {
        const int k = left[0] & 3;
        left[0] = left[0] - 1;
        if (left[k] < 0) break;
    }
    out[threadIdx.x] = in[threadIdx.x];
}

__device__ int work(int rounds, int value)
{
    for (int k = 0; k < rounds; k++) value = value * 1103515245 + (value >> 7);
    return value;
}

// One lane of a warp works for long while the others ask.
KERNEL right_slow_lane(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    int value = threadIdx.x;
    if (threadIdx.x == 9) {
        value = work(200000, in[9]);
        arrive(&object);
    } else {
        WAIT(&object, 0);
    }
    out[threadIdx.x] = value;
}

// One waits for a time, the others for it.
KERNEL right_late_lane(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    if (threadIdx.x == 9) {
        const long long begin = clock64();
        while (clock64() - begin < A_LONG_TIME) {
        }
        arrive(&object);
    }
    WAIT(&object, 0);
    out[threadIdx.x] = in[threadIdx.x];
}

// The first block's first thread waits for the second block, the others for it.
KERNEL right_told_by_a_block(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    volatile int *flag = out + 1023;
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0)
            while (*flag != 77) {
            }
        else if (blockIdx.x == 1)
            *flag = work(300000, in[0]) ? 77 : 77;
        arrive(&object);
    }
    WAIT(&object, 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}

// It looks at both, and the object is never complete.
KERNEL right_ended_by_a_block(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    volatile int *flag = out + 1023;
    if (blockIdx.x == 0)
        while (!is_over(&object, 0) && *flag != 77) {
        }
    else if (blockIdx.x == 1 && threadIdx.x == 0)
        *flag = work(300000, in[0]) ? 77 : 77;
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}

// By a generic address, of which the instruction does not say where it leads.
__device__ __noinline__ int look(const volatile int *at)
{
    return *at;
}

KERNEL right_ended_through_a_function(const int *in, int *out)
{
    __shared__ Object object;
    __shared__ int here;
    if (threadIdx.x == 0) here = in[0];
    make(&object, 1);
    volatile int *flag = out + 1023;
    if (blockIdx.x == 0)
        while (!is_over(&object, 0) && look(flag) != 77) {
        }
    else if (blockIdx.x == 1 && threadIdx.x == 0)
        *flag = work(300000, in[0]) ? 77 : 77;
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x] + look(&here);
}

KERNEL right_ended_by_a_block_atomically(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    int *flag = out + 1023;
    if (blockIdx.x == 0)
        while (!is_over(&object, 0) && atomicOr(flag, 0) != 77) {
        }
    else if (blockIdx.x == 1 && threadIdx.x == 0)
        atomicExch(flag, work(300000, in[0]) ? 77 : 77);
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}

KERNEL __cluster_dims__(2, 1, 1) right_slow_cluster(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    meet_cluster();
    int value = 0;
    if (block_rank() == 1) value = work(300000, in[threadIdx.x]);
    if (threadIdx.x == 0 && block_rank() == 1) arrive_in_block(&object, 0);
    if (block_rank() == 0) WAIT(&object, 0);
    meet_cluster();
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// The other block waits for a time first.
KERNEL __cluster_dims__(2, 1, 1) right_late_cluster(const int *in, int *out)
{
    __shared__ Object object;
    make(&object, 1);
    meet_cluster();
    const long long begin = clock64();
    if (threadIdx.x == 0 && block_rank() == 1) {
        while (clock64() - begin < A_LONG_TIME) {
        }
        arrive_in_block(&object, 0);
    }
    if (block_rank() == 0) WAIT(&object, 0);
    meet_cluster();
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}

// All others are in grid.sync() meanwhile.
KERNEL right_late_to_the_grid(const int *in, int *out)
{
    volatile int *flag = out + 1000;
    int sum = 0;
    if (blockIdx.x == 3 && threadIdx.x == 0) {
        for (int k = 0; k < 100000; k++) sum += in[(k + sum) % 128];
        *flag = sum + 1;
    }
    if (blockIdx.x == 0 && threadIdx.x == 40)
        while (*flag == 0) {
        }
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 1) return;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
