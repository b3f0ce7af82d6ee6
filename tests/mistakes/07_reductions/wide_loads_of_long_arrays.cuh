/* mistake: 16-byte loads, where a thread has four or more, from an array aligned for one element
 *
 * fails: Reductions.AnyAlignmentWorks
 * finds: misaligned at "const uint4 w = quads[q],"
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <cooperative_groups.h>
#include <cstring>
#include <cuda/atomic>

namespace one_pass
{

namespace cg = cooperative_groups;
constexpr unsigned BLOCK = 512;
constexpr unsigned TILES = BLOCK / 32;

/* What a thread has so far. */
template <typename T, typename Operator> class Sum
{
    T value;
    bool some = false;
    const Operator &op;

  public:
    __device__ explicit Sum(const Operator &op) : op(op) {}
    __device__ void add(const T &more)
    {
        value = some ? op(value, more) : more;
        some = true;
    }
    /* Over the block: returns true in the one thread that has it all. */
    __device__ bool gather(T *room, unsigned char *filled)
    {
        const cg::thread_block block = cg::this_thread_block();
        const auto tile = cg::tiled_partition<32>(block);
        over(tile);
        if (tile.thread_rank() == 0) {
            if (some) room[tile.meta_group_rank()] = value;
            filled[tile.meta_group_rank()] = some;
        }
        block.sync();
        if (tile.meta_group_rank() == 0) {
            const unsigned at = tile.thread_rank();
            some = at < TILES && filled[at];
            if (some) value = room[at];
            over(tile);
        }
        block.sync();
        return block.thread_rank() == 0;
    }
    __device__ const T &get() const
    {
        return value;
    }

  private:
    template <typename Tile> __device__ void over(const Tile &tile)
    {
        for (unsigned step = 1; step < 32; step *= 2) {
            unsigned words[(sizeof(T) + 3) / 4] = {};
            if (some) memcpy(words, &value, sizeof(T));
            for (unsigned &word : words) word = tile.shfl_xor(word, step);
            if (tile.shfl_xor((int)some, step)) {
                T other;
                memcpy(&other, words, sizeof(T));
                add(other);
            }
        }
    }
};

template <typename T, typename Operator>
__global__ void __launch_bounds__(BLOCK)
    kernel(const T *__restrict__ array, size_t size, T *partial, unsigned *ticket, T *result,
           T init, bool with_init, Operator op)
{
    __shared__ T room[TILES];
    __shared__ unsigned char filled[TILES];
    __shared__ bool last;
    const size_t id = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * BLOCK;
    Sum<T, Operator> sum(op);

    if constexpr (sizeof(T) <= 8 && 16 % sizeof(T) == 0 && alignof(T) == sizeof(T)) {
        constexpr size_t PER = 16 / sizeof(T);
        const uint4 *quads = (const uint4 *)array;
        const size_t count = size / PER;
        size_t q = id;
        auto take = [&](const uint4 &quad) {
            T items[PER];
            memcpy(items, &quad, 16);
#pragma unroll
            for (size_t k = 0; k < PER; k++) sum.add(items[k]);
        };
        for (; q + 3 * threads < count; q += 4 * threads) {
            const uint4 w = quads[q], x = quads[q + threads], y = quads[q + 2 * threads],
                        z = quads[q + 3 * threads];
            take(w), take(x), take(y), take(z);
        }
        for (; q < count; q += threads) take(quads[q]);
        const size_t done = count * PER;
        if (id < size - done) sum.add(array[done + id]);
    } else {
        size_t i = id;
        for (; i + 3 * threads < size; i += 4 * threads) {
            const T w = array[i], x = array[i + threads], y = array[i + 2 * threads],
                    z = array[i + 3 * threads];
            sum.add(w), sum.add(x), sum.add(y), sum.add(z);
        }
        for (; i < size; i += threads) sum.add(array[i]);
    }

    if (sum.gather(room, filled)) {
        if (gridDim.x > 1) {
            partial[blockIdx.x] = sum.get();
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*ticket);
            last = counter.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
        } else {
            if (with_init) sum.add(init);
            *result = sum.get();
            last = false;
        }
    }
    __syncthreads();
    if (!last) return;
    Sum<T, Operator> all(op);
    for (unsigned b = threadIdx.x; b < gridDim.x; b += BLOCK) all.add(partial[b]);
    if (all.gather(room, filled)) {
        if (with_init) all.add(init);
        *result = all.get();
    }
}

template <typename T> __global__ void put(T *result, T value)
{
    *result = value;
}

/* Stream-ordered memory that goes with its owner. */
class Scratch
{
    void *memory = nullptr;
    cudaStream_t stream;

  public:
    explicit Scratch(cudaStream_t stream) : stream(stream) {}
    Scratch(const Scratch &) = delete;
    cudaError_t take(size_t bytes)
    {
        return cudaMallocAsync(&memory, bytes, stream);
    }
    char *at(size_t offset) const
    {
        return (char *)memory + offset;
    }
    cudaError_t give_back()
    {
        void *const mine = memory;
        memory = nullptr;
        return mine == nullptr ? cudaSuccess : cudaFreeAsync(mine, stream);
    }
    ~Scratch()
    {
        give_back();
    }
};

} // namespace one_pass

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    using namespace one_pass;
    cudaError_t e;
    if (size == 0) {
        if (!init) return cudaErrorInvalidValue;
        T value = *init;
        void *arguments[] = {&result, &value};
        return cudaLaunchKernel((const void *)put<T>, dim3(1), dim3(1), arguments, 0, stream);
    }
    int device, multiprocessors;
    if ((e = cudaGetDevice(&device)) != cudaSuccess) return e;
    if ((e = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device)))
        return e;
    /* So many that each block finds at least one element (or 16 bytes of them). */
    constexpr size_t EACH = sizeof(T) <= 8 ? 2 * (16 / sizeof(T)) : 4;
    const size_t wanted = size / (BLOCK * EACH) + 1;
    const size_t most = (size_t)multiprocessors * 4;
    const unsigned blocks = (unsigned)(wanted < most ? wanted : most);

    Scratch scratch(stream);
    unsigned *ticket = nullptr;
    T *partial = nullptr;
    if (blocks > 1) {
        constexpr size_t FRONT = 256;
        if ((e = scratch.take(FRONT + blocks * sizeof(T))) != cudaSuccess) return e;
        ticket = (unsigned *)scratch.at(0);
        partial = (T *)scratch.at(FRONT);
        if ((e = cudaMemsetAsync(ticket, 0, sizeof *ticket, stream)) != cudaSuccess) return e;
    }
    T value{};
    if (init) value = *init;
    bool with_init = init != nullptr;
    Operator op = combine;
    void *arguments[] = {&array, &size, &partial, &ticket, &result, &value, &with_init, &op};
    e = cudaLaunchKernel((const void *)kernel<T, Operator>, dim3(blocks), dim3(BLOCK), arguments, 0,
                         stream);
    const cudaError_t back = scratch.give_back();
    return e != cudaSuccess ? e : back;
}

#endif
