/* mistake: the rows of tiles go along y, where a grid has 65535 blocks: a million rows of 16
 * fails: Matmul.AGridMayHaveToBeLongInX
 * finds: nothing, the launch is refused, and the error is returned
 */
#include "lesson.h"

#define SIDE 16

static __global__ void naive(const float *a, const float *b, float *c, int m, int n, int p)
{
    int j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= p) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * p + j];
    c[i * p + j] = sum;
}

static __global__ void tiled(const float *a, const float *b, float *c, int m, int n, int p)
{
    __shared__ float as[SIDE][SIDE], bs[SIDE][SIDE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * SIDE + y, j = blockIdx.x * SIDE + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += SIDE) {
        as[y][x] = i < m && k + x < n ? a[i * n + k + x] : 0.0f;
        bs[y][x] = k + y < n && j < p ? b[(k + y) * p + j] : 0.0f;
        __syncthreads();
        for (int q = 0; q < SIDE; q++) sum += as[y][q] * bs[q][x];
        __syncthreads();
    }
    if (i < m && j < p) c[i * p + j] = sum;
}

static __global__ void batched(const int64_t *a, const int64_t *b, int64_t *c, int64_t elements,
                               int m, int n, int p)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= elements) return;
    int64_t q = at / ((int64_t)m * p);
    int i = (int)(at % ((int64_t)m * p) / p), j = (int)(at % p);
    uint64_t sum = 0;
    for (int k = 0; k < n; k++)
        sum += (uint64_t)a[q * m * n + (int64_t)i * n + k] *
               (uint64_t)b[q * n * p + (int64_t)k * p + j];
    c[at] = (int64_t)sum;
}

extern "C" cudaError_t matmul_naive(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream)
{
    dim3 threads(1, 256), blocks(m, (p + 255) / 256);
    if (p < 256) {
        threads = dim3(16, 16);
        blocks = dim3((m + 15) / 16, (p + 15) / 16);
    }
    if (blocks.y > 65535) {
        threads = dim3(1, 1024);
        blocks = dim3(m, (p + 1023) / 1024);
    }
    void *arguments[] = {&a, &b, &c, &m, &n, &p};
    return cudaLaunchKernel((const void *)naive, blocks, threads, arguments, 0, stream);
}

extern "C" cudaError_t matmul_tiled(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream)
{
    dim3 blocks((p + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    void *arguments[] = {&a, &b, &c, &m, &n, &p};
    return cudaLaunchKernel((const void *)tiled, blocks, dim3(SIDE, SIDE), arguments, 0, stream);
}

extern "C" cudaError_t matmul_batched(const int64_t *a, const int64_t *b, int64_t *c, int count,
                                      int m, int n, int p, cudaStream_t stream)
{
    int64_t elements = (int64_t)count * m * p;
    if (!elements) return cudaSuccess;
    void *arguments[] = {&a, &b, &c, &elements, &m, &n, &p};
    return cudaLaunchKernel((const void *)batched, dim3((unsigned)((elements + 127) / 128)),
                            dim3(128), arguments, 0, stream);
}
