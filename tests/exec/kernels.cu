// Kernels as nvcc compiles them, for tests of the whole path from real PTX. The test program holds
// the expected results, computed by itself.

#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>

extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float k, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = k * x[i] + y[i];
}

// Every thread loops a different number of times.
extern "C" __global__ void collatz(int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = i + 1;
    int count = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void reverse_in_shared(int *data)
{
    __shared__ int tile[256];
    extern __shared__ int more[];
    int t = threadIdx.x;
    tile[t] = data[blockIdx.x * blockDim.x + t];
    __syncthreads();
    more[t] = tile[blockDim.x - 1 - t];
    __syncthreads();
    data[blockIdx.x * blockDim.x + t] = more[t] + 1000 * blockIdx.x;
}

// Calls that are not inlined, through pointers, and that recurse to different depths.
__device__ __noinline__ int twice(int x)
{
    return 2 * x;
}
__device__ __noinline__ int next(int x)
{
    return x + 1;
}
__device__ int (*choices[2])(int) = {next, twice};

extern "C" __global__ void call_through_table(int *out)
{
    out[threadIdx.x] = choices[threadIdx.x % 2](threadIdx.x);
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recurse(int *out)
{
    out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 5);
}

extern "C" __global__ void recurse_for_ever(int *out)
{
    out[threadIdx.x] = ackermann(4, threadIdx.x + 5);
}

struct pair {
    int count;
    double values[4];
};

__device__ __noinline__ struct pair make_pair(int n, struct pair other)
{
    struct pair result;
    result.count = n + other.count;
    for (int k = 0; k < 4; k++) result.values[k] = n * 0.5 + other.values[k];
    return result;
}

// Structures by value, as kernel parameters, arguments and results.
extern "C" __global__ void structures(struct pair first, struct pair *out)
{
    struct pair mine = make_pair(threadIdx.x, first);
    out[threadIdx.x] = make_pair(1, mine);
}

// A local array indexed by data lives in local memory.
extern "C" __global__ void local_array(const int *in, int *out, int n)
{
    int histogram[16];
    for (int k = 0; k < 16; k++) histogram[k] = 0;
    for (int k = 0; k < n; k++) histogram[(in[k] + threadIdx.x) & 15]++;
    out[threadIdx.x] = histogram[threadIdx.x & 15];
}

extern "C" __global__ void say(int n)
{
    printf("thread %d of %u: %s %5.2f %c %llx %%\n", (int)threadIdx.x, blockDim.x,
           threadIdx.x & 1 ? "odd" : "even", 1.5 * threadIdx.x, 'a' + threadIdx.x,
           0x123456789abcULL + n);
}

extern "C" __global__ void insist(const int *values)
{
    assert(values[threadIdx.x] > 0);
}

// The sum of a block by shuffles, then by atomics over the grid.
extern "C" __global__ void sum(const int *in, int *out, int n)
{
    __shared__ int partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : 0;
    for (int d = 16; d; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < (blockDim.x + 31) / 32 ? partial[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
        if (threadIdx.x == 0) atomicAdd(out, value);
    }
}

// Threads of one warp take turns with a lock.
__device__ int lock_word;
extern "C" __global__ void count_under_lock(int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            volatile int *c = counter;
            *c = *c + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    }
}

// Every block waits until the one before has passed its number on.
extern "C" __global__ void relay(volatile int *flags, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b > 0)
            while (flags[b - 1] == 0) {
            }
        out[b] = b == 0 ? 1 : out[b - 1] + b;
        __threadfence();
        flags[b] = 1;
    }
}

// The last block must come first: needs blocks to be resident together.
extern "C" __global__ void relay_backwards(volatile int *flags, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b + 1 < gridDim.x)
            while (flags[b + 1] == 0) {
            }
        out[b] = b + 1 == gridDim.x ? 1 : out[b + 1] + 1;
        __threadfence();
        flags[b] = 1;
    }
}

extern "C" __global__ void grid_steps(int *data, int steps)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int n = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        int value = data[(i + 1) % n];
        grid.sync();
        data[i] = value + 1;
        grid.sync();
    }
}

extern "C" __global__ void heap(int **kept, int *ok)
{
    int *mine = (int *)malloc((threadIdx.x + 1) * sizeof(int));
    if (!mine) return;
    for (unsigned k = 0; k <= threadIdx.x; k++) mine[k] = threadIdx.x * 100 + k;
    __syncthreads();
    bool fine = true;
    for (unsigned k = 0; k <= threadIdx.x; k++) fine = fine && mine[k] == threadIdx.x * 100 + k;
    ok[threadIdx.x] = fine;
    if (threadIdx.x % 2)
        free(mine);
    else
        kept[threadIdx.x] = mine;
}

extern "C" __global__ void tiles(int *out)
{
    auto block = cooperative_groups::this_thread_block();
    auto tile = cooperative_groups::tiled_partition<8>(block);
    int value = threadIdx.x;
    // Only some tiles take part, so masks differ inside a warp.
    if ((threadIdx.x / 8) % 2)
        for (int d = 4; d; d /= 2) value += tile.shfl_down(value, d);
    tile.sync();
    out[threadIdx.x] = tile.shfl(value, 0) + tile.ballot(threadIdx.x & 1) % 7;
}

extern "C" __global__ void wild_store(int *data, int n)
{
    int i = threadIdx.x;
    data[i < n ? i : i + 1000000] = i; // line WILD_STORE
}

extern "C" __global__ void early_exit(int *data)
{
    if (threadIdx.x >= 40) return;
    __syncthreads();
    data[threadIdx.x] = 1;
}

extern "C" __global__ void two_barriers(int *data)
{
    if (threadIdx.x < 32)
        asm volatile("barrier.sync 1;"); // line TWO_BARRIERS
    else
        asm volatile("barrier.sync 2;");
    data[threadIdx.x] = 1;
}

extern "C" __global__ void for_ever(volatile int *flag)
{
    while (*flag) { // line FOR_EVER
    }
}

extern "C" __global__ void delay(long long cycles, long long *took)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
    *took = clock64() - start;
}

__device__ __noinline__ int middle_of(int n)
{
    int *numbers = (int *)alloca(n * sizeof(int));
    for (int k = 0; k < n; k++) numbers[k] = k * k;
    return numbers[n / 2];
}

extern "C" __global__ void allocate_on_the_stack(int *out)
{
    int sum = 0;
    for (int k = 0; k < 200; k++) sum += middle_of(threadIdx.x + 20);
    out[threadIdx.x] = sum;
}

__device__ __noinline__ void say_number(int n)
{
    printf("%d\n", n);
}

// The blocks do different amounts of work before they speak.
extern "C" __global__ void say_in_order(int *scratch)
{
    int x = 1;
    for (int k = 0; k < (63 - (int)blockIdx.x) * 50; k++) x = x * 3 + k;
    if (threadIdx.x == 0) {
        scratch[blockIdx.x] = x;
        say_number(blockIdx.x);
    }
}

extern "C" __global__ void churn(int *failures)
{
    for (int k = 0; k < 500; k++) {
        char *p = (char *)malloc(100 + 10 * (k % 7));
        if (!p) {
            atomicAdd(failures, 1);
            continue;
        }
        p[99] = 1;
        free(p);
    }
}

extern "C" __global__ void free_twice(int *unused)
{
    char *p = (char *)malloc(16);
    free(p);
    free(p); // line FREE_TWICE
}

// The warps of a block of ten columns are not alike: lanes of one are up to four rows.
extern "C" __global__ void sum_columns(int *sums, const int *values, int rows)
{
    __shared__ int shared[1024];
    const unsigned t = threadIdx.x + threadIdx.y * blockDim.x;
    for (unsigned i = t; i < 1024; i += blockDim.x * blockDim.y) shared[i] = 0;
    __syncthreads();
    for (int row = threadIdx.y; row < rows; row += blockDim.y)
        atomicAdd(&shared[threadIdx.x], values[row * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (t < blockDim.x) atomicAdd(&sums[t], shared[t]);
}
