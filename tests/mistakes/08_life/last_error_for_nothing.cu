/* mistake: for no generations the last error is returned, which an earlier call left
 * fails: Life.OneBlockMakesAllGenerations
 * finds: nothing, the error is of a call of the caller's
 */
#include "lesson.h"

#include <cooperative_groups.h>
#include <stddef.h>
#include <stdlib.h>

namespace
{

constexpr int SIDE = LIFE_BLOCK_SIDE;
constexpr int ROWS = 8; /* of a block that takes a part of a lattice; its rows are warps */

struct Torus {
    int width, height;
};

/* The cell (x, y) of the next generation; `now` is read, and nothing else. */
__device__ int next_cell(const int *now, Torus torus, int x, int y)
{
    const int left = x > 0 ? x - 1 : torus.width - 1, right = x + 1 < torus.width ? x + 1 : 0;
    const int *row = now + y * torus.width;
    const int *above = now + (y > 0 ? y - 1 : torus.height - 1) * torus.width;
    const int *below = now + (y + 1 < torus.height ? y + 1 : 0) * torus.width;
    const int alive = above[left] + above[x] + above[right] + row[left] + row[right] + below[left] +
                      below[x] + below[right];
    return alive == 3 || (alive == 2 && row[x] != 0);
}

__global__ void one_generation(const int *now, int *next, Torus torus)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < torus.width && y < torus.height)
        next[y * torus.width + x] = next_cell(now, torus, x, y);
}

/* All generations of `cells`, in place, by one block with a thread for each cell, wherever the
 * cells are. */
__device__ void all_generations(int *cells, Torus torus, int generations)
{
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    for (int g = 0; g < generations; g++) {
        const int alive = next_cell(cells, torus, x, y);
        __syncthreads(); /* everybody has read: now it may be overwritten */
        cells[y * torus.width + x] = alive;
        __syncthreads(); /* everybody has written: now it may be read */
    }
}

__global__ void in_one_block(int *cells, Torus torus, int generations)
{
    all_generations(cells, torus, generations);
}

__global__ void in_shared_memory(int *cells, Torus torus, int generations)
{
    __shared__ int mine[SIDE * SIDE];
    const int me = (int)(threadIdx.y * blockDim.x + threadIdx.x);

    mine[me] = cells[me];
    __syncthreads();
    all_generations(mine, torus, generations);
    cells[me] = mine[me]; /* its own: nobody has to be waited for */
}

__global__ void in_one_grid(int *first, int *second, Torus torus, int generations)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int cells = torus.width * torus.height;
    int *now = first, *next = second;

    for (int g = 0; g < generations; g++) {
        for (int i = (int)grid.thread_rank(); i < cells; i += (int)grid.size())
            next[i] = next_cell(now, torus, i % torus.width, i / torus.width);
        grid.sync(); /* all blocks have written */
        int *const written = next;
        next = now;
        now = written;
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

void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

} // namespace

extern "C" cudaError_t life_launches(int *const lattice[2], int width, int height, int generations,
                                     cudaStream_t stream)
{
    const dim3 block(SIDE, ROWS), grid((width + SIDE - 1) / SIDE, (height + ROWS - 1) / ROWS);
    const Torus torus = {width, height};
    cudaError_t error = cudaSuccess;

    /* The stream is the wait: a launch begins when the one before it has ended. */
    for (int g = 0; g < generations && error == cudaSuccess; g++)
        error = launch(one_generation, grid, block, stream, (const int *)lattice[g % 2],
                       lattice[(g + 1) % 2], torus);
    return error;
}

extern "C" cudaError_t life_block(int *cells, int width, int height, int generations,
                                  cudaStream_t stream)
{
    const Torus torus = {width, height};
    if (generations == 0) return cudaGetLastError();
    return launch(in_one_block, dim3(1), dim3(width, height), stream, cells, torus, generations);
}

extern "C" cudaError_t life_shared(int *cells, int width, int height, int generations,
                                   cudaStream_t stream)
{
    const Torus torus = {width, height};
    if (generations == 0) return cudaSuccess;
    return launch(in_shared_memory, dim3(1), dim3(width, height), stream, cells, torus,
                  generations);
}

namespace
{

struct Lane {
    cudaStream_t stream;
    int *device;
};

size_t size_of(const life_lattice &lattice)
{
    return (size_t)lattice.width * lattice.height * sizeof *lattice.cells;
}

cudaError_t open_lane(Lane *lane, size_t bytes)
{
    const cudaError_t error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
    return error == cudaSuccess ? cudaMalloc((void **)&lane->device, bytes) : error;
}

cudaError_t run_lane(const Lane *lane, const life_lattice &lattice, int generations)
{
    const size_t bytes = size_of(lattice);
    cudaError_t error =
        cudaMemcpyAsync(lane->device, lattice.cells, bytes, cudaMemcpyHostToDevice, lane->stream);
    if (error == cudaSuccess)
        error = life_shared(lane->device, lattice.width, lattice.height, generations, lane->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(lattice.cells, lane->device, bytes, cudaMemcpyDeviceToHost,
                                lane->stream);
    return error;
}

} // namespace

extern "C" cudaError_t life_streams(const life_lattice lattices[], int count, int generations)
{
    cudaError_t error = cudaSuccess;
    if (count == 0 || generations == 0) return cudaSuccess;
    Lane *lanes = (Lane *)calloc((size_t)count, sizeof *lanes);
    if (lanes == NULL) return cudaErrorMemoryAllocation;

    /* What is slow comes first, or the lattices would start one by one. */
    for (int i = 0; i < count && error == cudaSuccess; i++)
        error = open_lane(&lanes[i], size_of(lattices[i]));
    for (int i = 0; i < count && error == cudaSuccess; i++)
        error = run_lane(&lanes[i], lattices[i], generations);
    /* On failure as well: what was queued uses the caller's memory. */
    for (int i = 0; i < count; i++)
        if (lanes[i].stream != NULL) keep(&error, cudaStreamSynchronize(lanes[i].stream));
    for (int i = 0; i < count; i++) {
        if (lanes[i].device != NULL) keep(&error, cudaFree(lanes[i].device));
        if (lanes[i].stream != NULL) keep(&error, cudaStreamDestroy(lanes[i].stream));
    }
    free(lanes);
    return error;
}

extern "C" cudaError_t life_grid(int *const lattice[2], int width, int height, int generations,
                                 cudaStream_t stream)
{
    int device = 0, multiprocessors = 0, each = 0;
    int *first = lattice[0], *second = lattice[1];
    Torus torus = {width, height};

    if (generations == 0) return cudaSuccess;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, in_one_grid, SIDE * ROWS, 0);
    if (error != cudaSuccess) return error;

    /* No more blocks than are on the device at once, and none without a cell. */
    int blocks = (width * height + SIDE * ROWS - 1) / (SIDE * ROWS);
    if (blocks > each * multiprocessors) blocks = each * multiprocessors;
    void *arguments[] = {&first, &second, &torus, &generations};
    return cudaLaunchCooperativeKernel((const void *)in_one_grid, dim3(blocks), dim3(SIDE * ROWS),
                                       arguments, 0, stream);
}
