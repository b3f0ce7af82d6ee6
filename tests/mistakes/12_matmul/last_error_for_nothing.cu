/* mistake: where there is no product, the last error is returned, which an earlier call left
 * fails: Matmul.EveryProductOfTheBatchIsRight
 * finds: nothing, the error is of a call of the caller's
 */
#include "lesson.h"

namespace
{

constexpr int TILE = MATMUL_TILE;
constexpr int THREADS = 256;
constexpr int64_t MOST_BLOCKS = 1 << 20;

/* A column of c to threadIdx.x: the threads of a warp read neighbours in b, and write neighbours.
 */
__global__ void element_to_a_thread(const float *a, const float *b, float *c, int m, int n, int p)
{
    const int i = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    const int j = (int)(blockIdx.y * blockDim.x + threadIdx.x);
    float sum = 0.0f;

    if (i >= m || j >= p) return;
    for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * p + j];
    c[i * p + j] = sum;
}

/* All threads of a block come to both barriers, those without an element of c as well; what lies
 * beyond a matrix counts as 0. */
__global__ void tile_to_a_block(const float *a, const float *b, float *c, int m, int n, int p)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const int i = (int)blockIdx.x * TILE + y, j = (int)blockIdx.y * TILE + x;
    float sum = 0.0f;

    for (int first = 0; first < n; first += TILE) {
        of_a[y][x] = i < m && first + x < n ? a[i * n + first + x] : 0.0f;
        of_b[y][x] = first + y < n && j < p ? b[(first + y) * p + j] : 0.0f;
        __syncthreads(); /* the tiles are whole: now they may be read */
        for (int k = 0; k < TILE; k++) sum += of_a[y][k] * of_b[k][x];
        __syncthreads(); /* everybody has read: now the next tiles may come */
    }
    if (i < m && j < p) c[i * p + j] = sum;
}

/* As many threads as there are elements, or each takes several. */
__global__ void all_products(const int64_t *a, const int64_t *b, int64_t *c, int64_t elements,
                             int m, int n, int p)
{
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < elements; e += threads) {
        const int64_t product = e / ((int64_t)m * p);
        const int in_c = (int)(e % ((int64_t)m * p)), i = in_c / p, j = in_c % p;
        const int64_t *row = a + (product * m + i) * n, *column = b + product * n * p + j;
        uint64_t sum = 0;
        for (int k = 0; k < n; k++) sum += (uint64_t)row[k] * (uint64_t)column[(int64_t)k * p];
        c[e] = (int64_t)sum;
    }
}

/* The launch's own error comes back, and none that an earlier call left behind, as would with
 * cudaGetLastError after <<<>>>. */
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                   Arguments... arguments)
{
    void *pointers[] = {&arguments...};
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, 0, stream);
}

/* Blocks for m x p elements, the rows along x: only there a grid may have more than 65535. */
dim3 tiles_of(int m, int p)
{
    return dim3((unsigned)((m + TILE - 1) / TILE), (unsigned)((p + TILE - 1) / TILE));
}

} // namespace

extern "C" cudaError_t matmul_naive(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream)
{
    return launch(element_to_a_thread, tiles_of(m, p), dim3(TILE, TILE), stream, a, b, c, m, n, p);
}

extern "C" cudaError_t matmul_tiled(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream)
{
    return launch(tile_to_a_block, tiles_of(m, p), dim3(TILE, TILE), stream, a, b, c, m, n, p);
}

extern "C" cudaError_t matmul_batched(const int64_t *a, const int64_t *b, int64_t *c, int count,
                                      int m, int n, int p, cudaStream_t stream)
{
    const int64_t elements = (int64_t)count * m * p;
    int64_t blocks = (elements + THREADS - 1) / THREADS;
    if (count == 0) return cudaGetLastError();
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    return launch(all_products, dim3((unsigned)blocks), dim3(THREADS), stream, a, b, c, elements, m,
                  n, p);
}
