/* mistake: one corner is read from the generation that is being written
 * fails: Life.EveryGenerationIsRight
 * fails: Life.GenerationsAreNotMixed
 * finds: as it comes, of the accesses that meet one is named
 * told: as it comes, of two blocks that meet it names the one that was later
 */
#include "lesson.h"

namespace
{

constexpr int SIDE = LIFE_BLOCK_SIDE;
constexpr int ROWS = 8;

struct Torus {
    int width, height;
};

__device__ int next_cell(const int *now, const int *next, Torus torus, int x, int y)
{
    const int left = x > 0 ? x - 1 : torus.width - 1, right = x + 1 < torus.width ? x + 1 : 0;
    const int *row = now + y * torus.width;
    const int *above = now + (y > 0 ? y - 1 : torus.height - 1) * torus.width;
    const int *below = now + (y + 1 < torus.height ? y + 1 : 0) * torus.width;
    const int corner = (int)(below - now) + right;
    const int alive = above[left] + above[x] + above[right] + row[left] + row[right] + below[left] +
                      below[x] + next[corner];
    return alive == 3 || (alive == 2 && row[x] != 0);
}

__global__ void one_generation(const int *now, int *next, Torus torus)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < torus.width && y < torus.height)
        next[y * torus.width + x] = next_cell(now, next, torus, x, y);
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                   Arguments... arguments)
{
    void *pointers[] = {&arguments...};
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, 0, stream);
}

} // namespace

extern "C" cudaError_t life_launches(int *const lattice[2], int width, int height, int generations,
                                     cudaStream_t stream)
{
    const dim3 block(SIDE, ROWS), grid((width + SIDE - 1) / SIDE, (height + ROWS - 1) / ROWS);
    const Torus torus = {width, height};
    cudaError_t error = cudaSuccess;

    for (int g = 0; g < generations && error == cudaSuccess; g++)
        error = launch(one_generation, grid, block, stream, (const int *)lattice[g % 2],
                       lattice[(g + 1) % 2], torus);
    return error;
}

extern "C" cudaError_t life_block(int *, int, int, int, cudaStream_t)
{
    return cudaErrorNotYetImplemented;
}

extern "C" cudaError_t life_shared(int *, int, int, int, cudaStream_t)
{
    return cudaErrorNotYetImplemented;
}

extern "C" cudaError_t life_streams(const life_lattice[], int, int)
{
    return cudaErrorNotYetImplemented;
}

extern "C" cudaError_t life_grid(int *const[2], int, int, int, cudaStream_t)
{
    return cudaErrorNotYetImplemented;
}
