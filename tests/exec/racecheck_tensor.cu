// More kernels for test_exec_watch, as racecheck_kernels.cu has them: matrices of the tensor cores
// in shared and global memory. Their names have "matrix" in them.
#include <cuda_fp16.h>
#include <mma.h>

#include "racecheck.cuh"

using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> First;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> Second;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

__device__ half small(int value)
{
    return __int2half_rn(value % 8);
}

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// ---- wmma ------------------------------------------------------------------------------------

// All fill the tile, the first warp multiplies, all read.
KERNEL right_matrix_tile(const int *in, int *out, int n)
{
    __shared__ __align__(32) half tile[256];
    __shared__ __align__(32) float product[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) tile[k] = small(in[k]);
    __syncthreads();
    if (threadIdx.x < 32) {
        First a;
        Second b;
        Sum sum;
        wmma::fill_fragment(sum, 1.0f);
        wmma::load_matrix_sync(a, tile, 16);
        wmma::load_matrix_sync(b, tile, 16);
        wmma::mma_sync(sum, a, b, sum);
        wmma::store_matrix_sync(product, sum, 16, wmma::mem_row_major);
    }
    __syncthreads();
    out[index()] = (int)product[255 - threadIdx.x];
}

// Each warp has a matrix of its own, and no other warp waits.
KERNEL right_matrix_of_each_warp(const int *in, int *out, int n)
{
    __shared__ __align__(32) half tile[4][256];
    __shared__ __align__(32) float product[4][256];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = lane; k < 256; k += 32) tile[warp][k] = small(in[k] + warp);
    __syncwarp();
    First a;
    Second b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, tile[warp], 16);
    wmma::load_matrix_sync(b, tile[warp], 16);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(product[warp], sum, 16, wmma::mem_col_major);
    __syncwarp();
    out[index()] = (int)product[warp][255 - lane];
}

KERNEL matrix_without_a_barrier(const int *in, int *out, int n)
{
    __shared__ __align__(32) half tile[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        tile[k] = small(in[k]); // matrix_without_a_barrier
    First a;
    wmma::load_matrix_sync(a, tile, 16); // matrix_without_a_barrier
    out[index()] = (int)__half2float(a.x[0]);
}

KERNEL matrix_read_too_early(const int *in, int *out, int n)
{
    __shared__ __align__(32) float product[256];
    Sum sum;
    wmma::fill_fragment(sum, (float)in[0]);
    if (threadIdx.x < 32)
        wmma::store_matrix_sync(product, sum, 16, wmma::mem_row_major); // matrix_read_too_early
    out[index()] = (int)product[threadIdx.x];                           // matrix_read_too_early
}

// Blocks leave their matrices in one place.
KERNEL matrix_of_every_block(const int *in, int *out, int n)
{
    Sum sum;
    wmma::fill_fragment(sum, (float)blockIdx.x);
    // clang-format off
    if (threadIdx.x < 32)
        wmma::store_matrix_sync((float *)out, sum, 16, wmma::mem_row_major); // matrix_of_every_block
    // clang-format on
}

// ---- ldmatrix, stmatrix ----------------------------------------------------------------------

__device__ void load_rows(unsigned (&r)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

// Lane l names row l of 16 bytes.
KERNEL right_matrix_rows(const int *in, int *out, int n)
{
    __shared__ __align__(16) half tile[256], moved[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) tile[k] = small(in[k]);
    __syncthreads();
    if (threadIdx.x >= 96) {
        unsigned r[4];
        load_rows(r, &tile[threadIdx.x % 32 * 8]);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         shared_address(&moved[threadIdx.x % 32 * 8])),
                     "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                     : "memory");
    }
    __syncthreads();
    out[index()] = (int)__half2float(moved[255 - threadIdx.x]);
}

KERNEL matrix_rows_without_a_barrier(const int *in, int *out, int n)
{
    __shared__ __align__(16) half tile[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        tile[k] = small(in[k]); // matrix_rows_without_a_barrier
    unsigned r;
    // clang-format off
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(shared_address(&tile[threadIdx.x % 8 * 8])) : "memory"); // matrix_rows_without_a_barrier
    // clang-format on
    out[index()] = (int)r;
}

KERNEL matrix_rows_read_too_early(const int *in, int *out, int n)
{
    __shared__ __align__(16) half tile[256];
    // clang-format off
    if (threadIdx.x < 32)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(shared_address(&tile[threadIdx.x * 8])), "r"(in[threadIdx.x]) : "memory"); // matrix_rows_read_too_early
    // clang-format on
    out[index()] = (int)__half2float(tile[threadIdx.x]); // matrix_rows_read_too_early
}
