/* variant: a host thread to each lattice, whose owner waits once more before it lets go of the
 * memory; the block's threads meet at a cuda::barrier
 *
 * slow on a GPU: Life.LatticesRunSideBySide
 * slow on a GPU: Life.AsFastAsTheReference
 */
#include "lesson.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace cg = cooperative_groups;

static __device__ int next(const int *from, int x, int y, int width, int height)
{
    int left = x ? x - 1 : width - 1, right = x + 1 < width ? x + 1 : 0;
    int up = (y ? y - 1 : height - 1) * width, down = (y + 1 < height ? y + 1 : 0) * width;
    int here = y * width;
    int n = from[up + left] + from[up + x] + from[up + right] + from[here + left] +
            from[here + right] + from[down + left] + from[down + x] + from[down + right];
    return n == 3 || (n == 2 && from[here + x]);
}

static __global__ void one(const int *from, int *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)
        if (x < width) to[y * width + x] = next(from, x, y, width, height);
}

static __global__ void block(int *cells, int width, int height, int generations)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(barrier) unsigned char room[sizeof(barrier)];
    barrier *meet = reinterpret_cast<barrier *>(room);
    int x = threadIdx.x, y = threadIdx.y;
    if (x == 0 && y == 0) init(meet, width * height);
    __syncthreads();
    for (int g = 0; g < generations; g++) {
        int cell = next(cells, x, y, width, height);
        meet->arrive_and_wait();
        cells[y * width + x] = cell;
        meet->arrive_and_wait();
    }
}

static __global__ void shared(int *cells, int width, int height, int generations)
{
    __shared__ int old[LIFE_BLOCK_SIDE * LIFE_BLOCK_SIDE];
    int x = threadIdx.x, y = threadIdx.y, i = y * width + x;
    old[i] = cells[i];
    __syncthreads();
    for (int g = 0; g < generations; g++) {
        int cell = next(old, x, y, width, height);
        __syncthreads();
        old[i] = cell;
        __syncthreads();
    }
    cells[i] = old[i];
}

static __global__ void grid(int *a, int *b, int width, int height, int generations)
{
    cg::grid_group all = cg::this_grid();
    long long count = (long long)width * height;
    for (int g = 0; g < generations; g++) {
        const int *from = g % 2 ? b : a;
        int *to = g % 2 ? a : b;
        for (long long i = all.thread_rank(); i < count; i += all.size())
            to[i] = next(from, (int)(i % width), (int)(i / width), width, height);
        all.sync();
    }
}

extern "C" cudaError_t life_launches(int *const lattice[2], int width, int height, int generations,
                                     cudaStream_t stream)
{
    dim3 threads(32, 8), blocks((width + 31) / 32, (height + 7) / 8);
    if (blocks.y > 65535) blocks.y = 65535;
    for (int g = 0; g < generations; g++) {
        const int *from = lattice[g % 2];
        int *to = lattice[(g + 1) % 2];
        void *arguments[] = {&from, &to, &width, &height};
        cudaError_t e = cudaLaunchKernel((const void *)one, blocks, threads, arguments, 0, stream);
        if (e) return e;
    }
    return cudaSuccess;
}

static cudaError_t one_block(const void *kernel, int *cells, int width, int height, int generations,
                             cudaStream_t stream)
{
    if (!generations) return cudaSuccess;
    void *arguments[] = {&cells, &width, &height, &generations};
    return cudaLaunchKernel(kernel, dim3(1), dim3(width, height), arguments, 0, stream);
}

extern "C" cudaError_t life_block(int *cells, int width, int height, int generations,
                                  cudaStream_t stream)
{
    return one_block((const void *)block, cells, width, height, generations, stream);
}

extern "C" cudaError_t life_shared(int *cells, int width, int height, int generations,
                                   cudaStream_t stream)
{
    return one_block((const void *)shared, cells, width, height, generations, stream);
}

namespace
{
/* A lattice's stream and memory: made, used and released by one host thread. */
class Lane
{
  public:
    explicit Lane(const life_lattice &l) : lattice(l), bytes(sizeof(int) * l.width * l.height) {}
    Lane(const Lane &) = delete;
    ~Lane()
    {
        if (stream) cudaStreamSynchronize(stream);
        if (cells) cudaFree(cells);
        if (stream) cudaStreamDestroy(stream);
    }
    cudaError_t run(int generations)
    {
        cudaError_t e = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        if (!e) e = cudaMalloc((void **)&cells, bytes);
        if (!e) e = cudaMemcpyAsync(cells, lattice.cells, bytes, cudaMemcpyDefault, stream);
        if (!e) e = life_shared(cells, lattice.width, lattice.height, generations, stream);
        if (!e) e = cudaMemcpyAsync(lattice.cells, cells, bytes, cudaMemcpyDefault, stream);
        if (!e) e = cudaStreamSynchronize(stream);
        return e;
    }

  private:
    const life_lattice lattice;
    const size_t bytes;
    cudaStream_t stream = nullptr;
    int *cells = nullptr;
};
} // namespace

extern "C" cudaError_t life_streams(const struct life_lattice lattices[], int count,
                                    int generations)
{
    if (count <= 0) return cudaSuccess;
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    try {
        std::vector<cudaError_t> errors(count, cudaSuccess);
        std::vector<std::thread> threads;
        threads.reserve(count);
        auto work = [&](int i) {
            errors[i] = cudaSetDevice(device);
            if (!errors[i]) errors[i] = Lane(lattices[i]).run(generations);
        };
        for (int i = 0; i < count; i++) {
            try {
                threads.emplace_back(work, i);
            } catch (const std::system_error &) {
                work(i);
            }
        }
        for (std::thread &t : threads) t.join();
        for (cudaError_t e : errors)
            if (e) return e;
        return cudaSuccess;
    } catch (const std::bad_alloc &) {
        return cudaErrorMemoryAllocation;
    }
}

extern "C" cudaError_t life_grid(int *const lattice[2], int width, int height, int generations,
                                 cudaStream_t stream)
{
    if (!generations) return cudaSuccess;
    int device = 0, processors = 0, per = 0;
    cudaError_t e = cudaGetDevice(&device);
    if (!e) e = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (!e) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, grid, 256, 0);
    if (e) return e;
    long long wanted = ((long long)width * height + 255) / 256;
    long long most = (long long)processors * per;
    int *a = lattice[0], *b = lattice[1];
    void *arguments[] = {&a, &b, &width, &height, &generations};
    return cudaLaunchCooperativeKernel((const void *)grid,
                                       dim3((unsigned)(wanted < most ? wanted : most)), dim3(256),
                                       arguments, 0, stream);
}
