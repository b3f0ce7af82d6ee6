/* mistake: behind the last tiles' copies there is no further group, so that a wait for all groups
 * but the newest does not wait for them
 * fails: Matmul.BarriersKeepTilesApart
 * finds: copy not awaited at "sum += of_a[now][y][k]"
 */
#include "lesson.h"

#include <cuda_pipeline.h>

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

/* One element of a tile, to be there once the group of copies that it is in has been waited for;
 * what lies beyond a matrix counts as 0. */
__device__ void fetch(float *to, const float *from, bool inside)
{
    if (inside)
        __pipeline_memcpy_async(to, from, sizeof *to);
    else
        *to = 0.0f;
}

/* Two pairs of tiles: the next one is on its way while this one is used. */
__global__ void tile_to_a_block(const float *a, const float *b, float *c, int m, int n, int p)
{
    __shared__ float of_a[2][TILE][TILE], of_b[2][TILE][TILE];
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const int i = (int)blockIdx.x * TILE + y, j = (int)blockIdx.y * TILE + x;
    float sum = 0.0f;

    fetch(&of_a[0][y][x], a + i * n + x, i < m && x < n);
    fetch(&of_b[0][y][x], b + y * p + j, y < n && j < p);
    __pipeline_commit();
    for (int first = 0, now = 0; first < n; first += TILE, now = 1 - now) {
        const int next = first + TILE;
        if (next < n) {
            fetch(&of_a[1 - now][y][x], a + i * n + next + x, i < m && next + x < n);
            fetch(&of_b[1 - now][y][x], b + (next + y) * p + j, next + y < n && j < p);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += of_a[now][y][k] * of_b[now][k][x];
        __syncthreads();
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
    if (count == 0) return cudaSuccess;
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    return launch(all_products, dim3((unsigned)blocks), dim3(THREADS), stream, a, b, c, elements, m,
                  n, p);
}
