// Kernels for racecheck_test.c as in racecheck_kernels.cu, in which each half of a warp has a row
// of shared memory, or an element, for itself: blocks of 16 x 16 threads do that.

#include "racecheck.cuh"

KERNEL half_rows_written_before_they_are_read(const int *in, int *out, int n)
{
    __shared__ int tile[8][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y][x] = in[index()];      // half_rows_written_before_they_are_read
    out[index()] = tile[y ^ 2][x]; // half_rows_written_before_they_are_read
}

KERNEL half_rows_read_before_they_are_written(const int *in, int *out, int n)
{
    __shared__ int tile[8][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y][x] = in[index()];
    __syncthreads();
    int mine = tile[y ^ 2][x]; // half_rows_read_before_they_are_written
    tile[y][x] = mine + n;     // half_rows_read_before_they_are_written
    __syncthreads();
    out[index()] = tile[y][x];
}

KERNEL half_elements_written_before_they_are_read(const int *in, int *out, int n)
{
    __shared__ int tile[8][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y][x] = in[index()];      // half_elements_written_before_they_are_read
    out[index()] = tile[y ^ 2][3]; // half_elements_written_before_they_are_read
}

KERNEL half_elements_read_before_they_are_written(const int *in, int *out, int n)
{
    __shared__ int tile[8][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y][x] = in[index()];
    __syncthreads();
    int mine = tile[y ^ 2][3]; // half_elements_read_before_they_are_written
    tile[y][x] = mine + n;     // half_elements_read_before_they_are_written
    __syncthreads();
    out[index()] = tile[y][x];
}

// Both halves read the row, and one of them writes it.
KERNEL half_rows_read_by_the_other(const int *in, int *out, int n)
{
    __shared__ int tile[4][16];
    int x = threadIdx.x % 16, warp = threadIdx.x / 32;
    if (threadIdx.x % 32 < 16) tile[warp][x] = in[index()];
    __syncwarp();
    int mine = tile[warp][x];                                  // half_rows_read_by_the_other
    if (threadIdx.x % 32 < 16) tile[warp][x] = mine + index(); // half_rows_read_by_the_other
    out[index()] = mine;
}

KERNEL half_rows_read_by_two_warps(const int *in, int *out, int n)
{
    __shared__ int row[16];
    int x = threadIdx.x % 16, mine = 0;
    if (threadIdx.x < 16) row[x] = in[index()];
    __syncthreads();
    if (threadIdx.x < 32) mine = row[x]; // half_rows_read_by_two_warps
    if (threadIdx.x / 32 == 1) {
        mine = wait_a_while(n) & 1;
        mine += row[x];
        __syncwarp();
        row[x] = index() + 1; // half_rows_read_by_two_warps
    }
    out[index()] = mine;
}

// They write what another warp has counted before them.
KERNEL half_of_the_warps_count_and_write(const int *in, int *out, int n)
{
    __shared__ int counts[64];
    counts[threadIdx.x % 64] = 0;
    __syncthreads();
    int more = threadIdx.x < 64 ? 0 : wait_a_while(n) & 1;
    atomicAdd(&counts[threadIdx.x % 64], in[index()] + more); // half_of_the_warps_count_and_write
    if (threadIdx.x >= 64) counts[threadIdx.x % 64] = -n;     // half_of_the_warps_count_and_write
    __syncthreads();
    out[index()] = counts[threadIdx.x % 64];
}
