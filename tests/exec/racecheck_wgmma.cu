// More kernels for test_exec_watch, as racecheck_kernels.cu has them: products of four warps, which
// read shared memory by the async proxy. Their names have "wgmma" in them.

#include "racecheck.cuh"

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// A tile of 64 by 16 half-precision numbers times the first 8 of its rows; d: what lanes then have.
__device__ void begin(const unsigned *tile, unsigned d[4])
{
    const unsigned long long stride = (unsigned long long)(256 >> 4) << 32 | (128 >> 4) << 16;
    const unsigned long long descriptor = stride | shared_address(tile) >> 4;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    // clang-format off
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 0, 1, 1, 0, 0;"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "l"(descriptor)); // wgmma
    // clang-format on
}

__device__ void ask(const unsigned *tile, unsigned d[4])
{
    begin(tile, d);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ void await()
{
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ void multiply(const unsigned *tile, unsigned d[4])
{
    ask(tile, d);
    await();
}

__device__ void fill(unsigned *tile, const int *in, int first)
{
    for (int k = threadIdx.x; k < 512; k += 128)
        tile[k] = in[(k + first) % 512] & 0x3c003c00; // wgmma
}

KERNEL right_wgmma(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4];
    fill(tile, in, 0);
    fence();
    __syncthreads();
    multiply(tile, d);
    out[index()] = d[0] + d[3];
}

// The tile is filled again, behind a wait and a barrier.
KERNEL right_wgmma_twice(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4], sum = 0;
    for (int round = 0; round < 2; round++) {
        fill(tile, in, round);
        fence();
        __syncthreads();
        multiply(tile, d);
        sum += d[0];
        __syncthreads();
    }
    out[index()] = sum;
}

KERNEL wgmma_unfenced(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4];
    fill(tile, in, 0);
    __syncthreads();
    multiply(tile, d);
    out[index()] = d[0] + d[3];
}

KERNEL wgmma_without_a_barrier(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4];
    fill(tile, in, 0);
    fence();
    multiply(tile, d);
    out[index()] = d[0] + d[3];
}

// All four warps have read when one has waited.
KERNEL right_wgmma_filled_behind_the_wait(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4], sum = 0;
    for (int round = 0; round < 2; round++) {
        fill(tile, in, round);
        fence();
        __syncthreads();
        multiply(tile, d);
        sum += d[0];
    }
    out[index()] = sum;
}

// One warp waits for nothing, in front of its product and behind it.
KERNEL right_wgmma_one_waits_more(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4];
    if (threadIdx.x < 32) await();
    fill(tile, in, 0);
    fence();
    __syncthreads();
    multiply(tile, d);
    if (threadIdx.x < 32) await();
    out[index()] = d[0];
}

KERNEL wgmma_filled_before_the_wait(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4];
    fill(tile, in, 0);
    fence();
    __syncthreads();
    ask(tile, d);
    fill(tile, in, 1);
    fence();
    await();
    out[index()] = d[0];
}

// The tile of the first product is filled again when its group is over, and that of the second one
// is not touched.
KERNEL right_wgmma_one_group_left(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[2][512];
    unsigned d[4], e[4];
    fill(tile[0], in, 0);
    fill(tile[1], in, 1);
    fence();
    __syncthreads();
    ask(tile[0], d);
    ask(tile[1], e);
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    fill(tile[0], in, 2);
    await();
    __syncthreads();
    fill(tile[1], in, 3);
    __syncthreads();
    out[index()] = d[0] + e[0] + tile[0][threadIdx.x] + tile[1][threadIdx.x];
}

// A barrier of the block does not wait for a product, ...
KERNEL wgmma_not_awaited(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4];
    fill(tile, in, 0);
    fence();
    __syncthreads();
    ask(tile, d);
    __syncthreads();
    fill(tile, in, 1);
    await();
    out[index()] = d[0];
}

// ... nor does a wait that leaves its group pending, ...
KERNEL wgmma_one_group_too_few(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[2][512];
    unsigned d[4], e[4];
    fill(tile[0], in, 0);
    fill(tile[1], in, 1);
    fence();
    __syncthreads();
    ask(tile[0], d);
    ask(tile[1], e);
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    __syncthreads();
    fill(tile[1], in, 3);
    await();
    out[index()] = d[0] + e[0];
}

// ... nor one for a product that is in no group.
KERNEL wgmma_in_no_group(const int *in, int *out, int n)
{
    __shared__ __align__(128) unsigned tile[512];
    unsigned d[4];
    fill(tile, in, 0);
    fence();
    __syncthreads();
    begin(tile, d);
    await();
    __syncthreads();
    fill(tile, in, 1);
    out[index()] = d[0];
}
