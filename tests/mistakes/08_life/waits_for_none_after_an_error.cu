/* mistake: after an error it waits for no stream any more
 * fails: Life.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, what is left reads and writes the caller's memory only when a call fails
 */
#include "lesson.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

namespace
{

/* The torus without a division: -1 and n are brought back. */
__device__ __forceinline__ int wrap(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

__device__ int next_of(const int *now, int x, int y, int width, int height)
{
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            alive += now[wrap(y + dy, height) * width + wrap(x + dx, width)];
    const int self = now[y * width + x]; /* alive counts it, too */
    return alive == 3 || (alive == 4 && self);
}

__device__ int next_global(const int *__restrict__ now, int x, int y, int width, int height)
{
    int alive = 0, self = 0;
    for (int k = 0; k < 9; k++) {
        int v = now[wrap(y + k / 3 - 1, height) * width + wrap(x + k % 3 - 1, width)];
        alive += v;
        if (k == 4) self = v;
    }
    return alive == 3 || (alive == 4 && self);
}

__global__ void one(const int *now, int *next, int width, int height)
{
    const int cells = width * height;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x)
        next[i] = next_global(now, i % width, i / width, width, height);
}

/* In place in global memory: threads may have several cells, their new values wait in a register
 * each; a bit of `fate` is one. */
__global__ void in_place(int *cells, int width, int height, int generations)
{
    const int n = width * height;
    while (generations--) {
        unsigned fate = 0, bit = 1;
        for (int i = threadIdx.x; i < n; i += blockDim.x, bit <<= 1)
            if (next_of(cells, i % width, i / width, width, height)) fate |= bit;
        __syncthreads();
        bit = 1;
        for (int i = threadIdx.x; i < n; i += blockDim.x, bit <<= 1) cells[i] = (fate & bit) != 0;
        __syncthreads();
    }
}

/* Two lattices in shared memory, one barrier a generation. */
__global__ void shared(int *cells, int width, int height, int generations)
{
    extern __shared__ int both[];
    const int n = width * height;
    auto block = cg::this_thread_block();
    int *now = both, *next = both + n;
    for (int i = block.thread_rank(); i < n; i += block.size()) now[i] = cells[i];
    for (int g = 0; g < generations; g++) {
        block.sync();
        for (int i = block.thread_rank(); i < n; i += block.size())
            next[i] = next_of(now, i % width, i / width, width, height);
        int *t = now;
        now = next;
        next = t;
    }
    for (int i = block.thread_rank(); i < n; i += block.size())
        cells[i] = now[i]; /* each thread's own */
}

__global__ void whole_grid(int *a, int *b, int width, int height, int generations)
{
    auto grid = cg::this_grid();
    const int n = width * height;
    for (int g = 0; g < generations; g++) {
        const int *now = g & 1 ? b : a;
        int *next = g & 1 ? a : b;
        for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size())
            next[i] = next_of(now, (int)i % width, (int)i / width, width, height);
        if (g + 1 < generations) grid.sync();
    }
}

cudaError_t in_shared(int *cells, int width, int height, int generations, cudaStream_t stream)
{
    const int n = width * height, threads = n < 512 ? (n + 31) / 32 * 32 : 512;
    (void)cudaGetLastError();
    shared<<<1, threads, 2 * n * sizeof(int), stream>>>(cells, width, height, generations);
    return cudaGetLastError();
}

} // namespace

cudaError_t life_launches(int *const lattice[2], int width, int height, int generations,
                          cudaStream_t stream)
{
    const int threads = 192, blocks = (width * height + threads - 1) / threads;
    cudaError_t e = cudaSuccess;
    for (int g = 0; g < generations && e == cudaSuccess; g++) {
        (void)cudaGetLastError();
        one<<<blocks, threads, 0, stream>>>(lattice[g % 2], lattice[(g + 1) % 2], width, height);
        e = cudaGetLastError();
    }
    return e;
}

cudaError_t life_block(int *cells, int width, int height, int generations, cudaStream_t stream)
{
    if (generations == 0) return cudaSuccess;
    (void)cudaGetLastError();
    in_place<<<1, 256, 0, stream>>>(cells, width, height, generations);
    return cudaGetLastError();
}

cudaError_t life_shared(int *cells, int width, int height, int generations, cudaStream_t stream)
{
    return generations ? in_shared(cells, width, height, generations, stream) : cudaSuccess;
}

cudaError_t life_streams(const struct life_lattice lattices[], int count, int generations)
{
    struct Lane {
        cudaStream_t stream = nullptr;
        int *cells = nullptr;
    };
    if (generations == 0 || count == 0) return cudaSuccess;
    Lane *lanes = new Lane[count];
    cudaError_t first = cudaSuccess;
    auto keep = [&first](cudaError_t e) {
        if (first == cudaSuccess) first = e;
        return e == cudaSuccess;
    };
    for (int i = 0; i < count && first == cudaSuccess; i++) {
        const life_lattice &l = lattices[i];
        Lane &lane = lanes[i];
        const size_t bytes = sizeof(int) * l.width * l.height;
        if (!keep(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking))) {
            lane.stream = nullptr;
            break;
        }
        if (!keep(cudaMallocAsync((void **)&lane.cells, bytes, lane.stream))) {
            lane.cells = nullptr;
            break;
        }
        if (keep(
                cudaMemcpyAsync(lane.cells, l.cells, bytes, cudaMemcpyHostToDevice, lane.stream)) &&
            keep(in_shared(lane.cells, l.width, l.height, generations, lane.stream)))
            keep(cudaMemcpyAsync(l.cells, lane.cells, bytes, cudaMemcpyDeviceToHost, lane.stream));
    }
    for (int i = 0; i < count; i++) {
        if (lanes[i].cells) keep(cudaFreeAsync(lanes[i].cells, lanes[i].stream));
        if (lanes[i].stream && first == cudaSuccess) keep(cudaStreamSynchronize(lanes[i].stream));
        if (lanes[i].stream) keep(cudaStreamDestroy(lanes[i].stream));
    }
    delete[] lanes;
    return first;
}

cudaError_t life_grid(int *const lattice[2], int width, int height, int generations,
                      cudaStream_t stream)
{
    if (generations == 0) return cudaSuccess;
    int device, multiprocessors, fit;
    cudaError_t e = cudaGetDevice(&device);
    if (!e) e = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (!e) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, whole_grid, 128, 0);
    if (e) return e;
    int blocks = (width * height + 127) / 128;
    if (blocks > fit * multiprocessors) blocks = fit * multiprocessors;
    cudaLaunchAttribute cooperative = {};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &cooperative;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, whole_grid, lattice[0], lattice[1], width, height,
                              generations);
}
