// Wrong: the warps of a block fill a tile in shared memory together, and load_matrix_sync reads it
// with no __syncthreads() before it: it waits for its own warp only.
// Found: shared memory race
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

using namespace nvcuda;

constexpr int SIZE = 16, WARPS = 4;

// each warp multiplies a by another matrix of b
__global__ void multiply(const half *a, const half *b, float *c)
{
    __shared__ __align__(32) half tile[SIZE * SIZE];
    const int warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < SIZE * SIZE; i += 32 * WARPS) tile[i] = a[i];
    wmma::fragment<wmma::matrix_a, SIZE, SIZE, SIZE, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, SIZE, SIZE, SIZE, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, SIZE, SIZE, SIZE, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fb, b + warp * SIZE * SIZE, SIZE);
    wmma::load_matrix_sync(fa, tile, SIZE);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c + warp * SIZE * SIZE, fc, SIZE, wmma::mem_row_major);
}

int main()
{
    std::vector<half> a(SIZE * SIZE), b(WARPS * SIZE * SIZE);
    std::vector<float> c(b.size());
    for (size_t i = 0; i < a.size(); i++) a[i] = __float2half((float)(i % 5));
    for (size_t i = 0; i < b.size(); i++) b[i] = __float2half((float)(i % 7));
    half *da, *db;
    float *dc;
    CHECK(cudaMalloc(&da, a.size() * sizeof(half)));
    CHECK(cudaMalloc(&db, b.size() * sizeof(half)));
    CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
    CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice));
    multiply<<<1, 32 * WARPS>>>(da, db, dc);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    printf("%g\n", (double)c[17]);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return 0;
}
