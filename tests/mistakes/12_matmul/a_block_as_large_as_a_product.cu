/* mistake: a block has a thread for each element of a product, which may be more than 1024
 * fails: Matmul.EveryProductOfTheBatchIsRight
 * finds: nothing, the launch is refused
 */
#include "lesson.h"

template <typename K>
static cudaError_t start(K kernel, dim3 grid, dim3 block, size_t shared, void **args,
                         cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}

__global__ void naive_kernel(const float *a, const float *b, float *c, int m, int n, int p)
{
    int row = blockIdx.x * 8 + threadIdx.y, col = blockIdx.y * 32 + threadIdx.x;
    if (row < m && col < p) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += (double)a[row * n + k] * b[k * p + col];
        c[row * p + col] = (float)sum;
    }
}

extern "C" cudaError_t matmul_naive(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream)
{
    void *args[] = {&a, &b, &c, &m, &n, &p};
    dim3 grid((m + 7) / 8, (p + 31) / 32);
    return start(naive_kernel, grid, dim3(32, 8), 0, args, stream);
}

/* A flat block of 256; tiles with a column of padding against bank conflicts. */
template <int SIDE>
__global__ void tiled_kernel(const float *__restrict__ a, const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int p)
{
    __shared__ float left[SIDE][SIDE + 1], right[SIDE][SIDE + 1];
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int across = (p + SIDE - 1) / SIDE;
    const int row = (int)(blockIdx.x / across) * SIDE + y,
              col = (int)(blockIdx.x % across) * SIDE + x;
    const int tiles = (n + SIDE - 1) / SIDE;
    float value = 0.0f;

    for (int t = 0; t < tiles; t++) {
        left[y][x] = 0;
        right[y][x] = 0;
        if (row < m && t * SIDE + x < n) left[y][x] = a[row * n + t * SIDE + x];
        if (t * SIDE + y < n && col < p) right[y][x] = b[(t * SIDE + y) * p + col];
        __syncthreads();
        for (int k = 0; k < SIDE; k++) value = fmaf(left[y][k], right[k][x], value);
        __syncthreads();
    }
    if (row >= m || col >= p) return;
    c[row * p + col] = value;
}

extern "C" cudaError_t matmul_tiled(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream)
{
    void *args[] = {&a, &b, &c, &m, &n, &p};
    const unsigned down = (m + 15) / 16, across = (p + 15) / 16;
    return start(tiled_kernel<16>, dim3(down * across), dim3(256), 0, args, stream);
}

/* A block takes one product after the other; its threads stride over the elements. */
__global__ void batch_kernel(const int64_t *a, const int64_t *b, int64_t *c, int count, int m,
                             int n, int p)
{
    for (int q = (int)blockIdx.x; q < count; q += (int)gridDim.x) {
        const int64_t *A = a + (size_t)q * m * n, *B = b + (size_t)q * n * p;
        int64_t *C = c + (size_t)q * m * p;
        for (int e = (int)threadIdx.x; e < m * p; e += (int)blockDim.x) {
            unsigned long long sum = 0;
            for (int k = 0; k < n; k++)
                sum += (unsigned long long)A[e / p * n + k] * (unsigned long long)B[k * p + e % p];
            C[e] = (int64_t)sum;
        }
    }
}

extern "C" cudaError_t matmul_batched(const int64_t *a, const int64_t *b, int64_t *c, int count,
                                      int m, int n, int p, cudaStream_t stream)
{
    if (count == 0) return cudaSuccess;
    void *args[] = {&a, &b, &c, &count, &m, &n, &p};
    return start(batch_kernel, dim3((unsigned)(count < 4096 ? count : 4096)),
                 dim3((unsigned)(m * p)), 0, args, stream);
}
