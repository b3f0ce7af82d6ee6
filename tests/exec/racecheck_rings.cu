// Kernels for racecheck_test.c as in racecheck_kernels.cu, in which each warp reads a ring of 32
// elements, turned: a row that goes on at its beginning. And whole warps that count.

#include "racecheck.cuh"

// The thread's place in its warp's ring, `by` further on; n is a multiple of 32.
__device__ int turned(int by, int n)
{
    return threadIdx.x / 32 * 32 + (threadIdx.x + by + n) % 32;
}

// Whoever has read an element writes it.
KERNEL right_ring_of_its_own(const int *in, int *out, int n)
{
    __shared__ int ring[128];
    ring[threadIdx.x] = in[index()];
    __syncthreads();
    int mine = ring[turned(10, n)];
    ring[turned(10, n * n)] = mine + 1;
    __syncthreads();
    out[index()] = ring[threadIdx.x];
}

KERNEL right_ring_of_global_memory(const int *in, int *out, int n)
{
    int *ring = out + blockIdx.x * blockDim.x;
    ring[threadIdx.x] = in[index()];
    __syncthreads();
    int mine = ring[turned(10, n)];
    ring[turned(10, n * n)] = mine + 1;
}

KERNEL right_ring_read_by_all(const int *in, int *out, int n)
{
    int *ring = out + blockIdx.x * blockDim.x, sum = 0;
    for (int round = 0; round < 3; round++) {
        ring[threadIdx.x] = in[index()] + sum;
        __syncthreads();
        for (int by = 5; by < 128; by += 27) sum += ring[(threadIdx.x + by) % 128];
        __syncthreads();
    }
}

KERNEL ring_written_by_another(const int *in, int *out, int n)
{
    __shared__ int ring[128];
    ring[threadIdx.x] = in[index()];
    __syncthreads();
    int mine = ring[turned(10, n)]; // ring_written_by_another
    ring[threadIdx.x] = mine + 1;   // ring_written_by_another
    __syncthreads();
    out[index()] = ring[threadIdx.x];
}

KERNEL ring_of_global_memory_written(const int *in, int *out, int n)
{
    int *ring = out + blockIdx.x * blockDim.x;
    ring[threadIdx.x] = in[index()];
    __syncthreads();
    int mine = ring[turned(10, n)]; // ring_of_global_memory_written
    ring[threadIdx.x] = mine + 1;   // ring_of_global_memory_written
}

// The first warp reads all rings, the second as well, and then it writes one.
KERNEL ring_read_by_two_warps(const int *in, int *out, int n)
{
    int *ring = out + blockIdx.x * blockDim.x, mine = 0;
    ring[threadIdx.x] = in[index()];
    __syncthreads();
    if (threadIdx.x < 64) mine = ring[(threadIdx.x + 22) % 32]; // ring_read_by_two_warps
    if (threadIdx.x / 32 == 1) {
        __syncwarp();
        ring[threadIdx.x % 32] = mine + n; // ring_read_by_two_warps
    }
}

// All count, and some read too early: none what a warp's first thread counts.
KERNEL ring_counted_and_read(const int *in, int *out, int n)
{
    __shared__ int counts[128];
    counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], in[index()]); // ring_counted_and_read
    out[index()] = counts[(threadIdx.x ^ 6) | 1]; // ring_counted_and_read
}

// Its neighbour, too, has counted what a thread writes.
KERNEL ring_counted_by_a_neighbour(const int *in, int *out, int n)
{
    __shared__ int counts[128];
    counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[threadIdx.x ^ 1], in[index()]); // ring_counted_by_a_neighbour
    atomicAdd(&counts[threadIdx.x], 1);               // ring_counted_by_a_neighbour
    counts[threadIdx.x] = -n;                         // ring_counted_by_a_neighbour
    __syncthreads();
    out[index()] = counts[threadIdx.x];
}
