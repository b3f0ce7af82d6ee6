/* variant: the elements of the whole batch have one number each, an int
 */
#include "lesson.h"

#define T MATMUL_TILE

__global__ void naive_kernel(const float *a, const float *b, float *c, int m, int n, int p)
{
    long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= (long long)m * p) return;
    int i = (int)(e / p), j = (int)(e % p);
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[(size_t)i * n + k] * b[(size_t)k * p + j];
    c[e] = sum;
}

__global__ void tiled_kernel(const float *a, const float *b, float *c, int m, int n, int p)
{
    __shared__ float ta[T][T], tb[T][T];
    int tiles_across = (p + T - 1) / T;
    int row = (int)(blockIdx.x / tiles_across) * T + threadIdx.y;
    int column = (int)(blockIdx.x % tiles_across) * T + threadIdx.x;
    float sum = 0.0f;

    for (int k0 = 0; k0 < n; k0 += T) {
        int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = row < m && ka < n ? a[(size_t)row * n + ka] : 0.0f;
        tb[threadIdx.y][threadIdx.x] = kb < n && column < p ? b[(size_t)kb * p + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < p) c[(size_t)row * p + column] = sum;
}

/* A thread for each element of the batch, all of them in one row. */
__global__ void batched_kernel(const int64_t *a, const int64_t *b, int64_t *c, int elements, int m,
                               int n, int p)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    int each = m * p;
    size_t q = e / each;
    int i = (int)(e % each / p), j = (int)(e % p);
    a += q * m * n + (size_t)i * n;
    b += q * n * p + j;
    uint64_t sum = 0;
    for (int k = 0; k < n; k++) sum += (uint64_t)a[k] * (uint64_t)b[(size_t)k * p];
    c[e] = (int64_t)sum;
}

cudaError_t matmul_naive(const float *a, const float *b, float *c, int m, int n, int p,
                         cudaStream_t stream)
{
    void *arguments[] = {&a, &b, &c, &m, &n, &p};
    unsigned blocks = (unsigned)(((size_t)m * p + 255) / 256);
    return cudaLaunchKernel((const void *)naive_kernel, dim3(blocks), dim3(256), arguments, 0,
                            stream);
}

cudaError_t matmul_tiled(const float *a, const float *b, float *c, int m, int n, int p,
                         cudaStream_t stream)
{
    void *arguments[] = {&a, &b, &c, &m, &n, &p};
    unsigned blocks = (unsigned)((m + T - 1) / T) * (unsigned)((p + T - 1) / T);
    return cudaLaunchKernel((const void *)tiled_kernel, dim3(blocks), dim3(T, T), arguments, 0,
                            stream);
}

cudaError_t matmul_batched(const int64_t *a, const int64_t *b, int64_t *c, int count, int m, int n,
                           int p, cudaStream_t stream)
{
    if (count == 0) return cudaSuccess;
    int elements = count * m * p;
    void *arguments[] = {&a, &b, &c, &elements, &m, &n, &p};
    return cudaLaunchKernel((const void *)batched_kernel, dim3((unsigned)((elements + 127) / 128)),
                            dim3(128), arguments, 0, stream);
}
