/* variant: each warp by itself, without shared memory and barriers
 * orders: 3
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

namespace warps_alone
{

constexpr unsigned lanes = 32, warps_per_block = 8;

template <typename T> struct Last {
    alignas(T) unsigned char bytes[sizeof(T)];
    bool given;
};

template <typename T> __device__ T fetch(const T &value, unsigned lane)
{
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned &word : words) word = __shfl_sync(0xffffffffu, word, lane);
    T fetched;
    memcpy(&fetched, words, sizeof(T));
    return fetched;
}

/* Warp w of `warps` takes the groups of 32 elements w, w + warps, w + 2 * warps ... and leaves its
 * value in out[w]. There are no more warps than groups. */
template <typename T, typename Operator>
__global__ void __launch_bounds__(lanes *warps_per_block)
    reduce(const T *in, size_t size, T *out, size_t warps, Last<T> last, Operator combine)
{
    const size_t warp = (size_t)blockIdx.x * warps_per_block + threadIdx.x / lanes;
    const unsigned lane = threadIdx.x % lanes;
    if (warp >= warps) return; /* a whole warp, and nobody waits for it */

    const size_t begin = warp * lanes, stride = warps * lanes;
    unsigned owners = size - begin < lanes ? (unsigned)(size - begin) : lanes;

    T value;
    memset(&value, 0, sizeof value);
    if (lane < owners) {
        size_t i = begin + lane;
        value = in[i];
        for (i += stride; i + 3 * stride < size; i += 4 * stride) {
            const T a = in[i], b = in[i + stride];
            const T c = in[i + 2 * stride], d = in[i + 3 * stride];
            value = combine(value, combine(combine(a, b), combine(c, d)));
        }
        for (; i < size; i += stride) value = combine(value, in[i]);
    }
    __syncwarp();

    /* The upper part folds onto the lower until one lane is left. The count is the same in all
     * lanes, and all of them take part in every shuffle. */
    while (owners > 1) {
        const unsigned pairs = owners / 2, kept = owners - pairs;
        const T partner = fetch(value, (lane + kept) % lanes);
        if (lane < pairs) value = combine(value, partner);
        owners = kept;
    }
    if (lane == 0) {
        if (last.given) {
            T more;
            memcpy(&more, last.bytes, sizeof more);
            value = combine(value, more);
        }
        out[warp] = value;
    }
}

template <typename T> __global__ void put(T *out, Last<T> last)
{
    memcpy(out, last.bytes, sizeof(T));
}

inline size_t groups_of(size_t size)
{
    return size / lanes + (size % lanes != 0);
}

/* How many warps are to reduce what one level has left: 32 elements for each lane. */
inline size_t next(size_t count)
{
    const size_t for_a_warp = (size_t)lanes * lanes;
    return (count - 1) / for_a_warp + 1;
}

} // namespace warps_alone

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    using namespace warps_alone;
    Last<T> given, none;
    memset(&none, 0, sizeof none);
    given = none;
    if (init != nullptr) {
        memcpy(given.bytes, init, sizeof(T));
        given.given = true;
    }
    if (size == 0) {
        if (init == nullptr) return cudaErrorInvalidValue;
        void *arguments[] = {&result, &given};
        return cudaLaunchKernel(put<T>, dim3(1), dim3(1), arguments, 0, stream);
    }

    int device, processors;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;

    /* The first level fills the device; the others are small. */
    size_t warps = groups_of(size);
    const size_t full = (size_t)processors * 64;
    if (size <= (size_t)lanes * lanes)
        warps = 1;
    else if (warps > full)
        warps = full;

    size_t scratch_values = 0;
    for (size_t w = warps; w > 1; w = next(w)) scratch_values += w;
    T *scratch = nullptr;
    if (scratch_values > 0) {
        error = cudaMallocAsync((void **)&scratch, scratch_values * sizeof(T), stream);
        if (error != cudaSuccess) return error;
    }

    Operator op = combine;
    const T *in = array;
    T *room = scratch;
    for (;;) {
        const bool end = warps == 1;
        T *out = end ? result : room;
        const unsigned blocks = (unsigned)((warps + warps_per_block - 1) / warps_per_block);
        void *arguments[] = {&in, &size, &out, &warps, end ? &given : &none, &op};
        error = cudaLaunchKernel(reduce<T, Operator>, dim3(blocks), dim3(lanes * warps_per_block),
                                 arguments, 0, stream);
        if (end || error != cudaSuccess) break;
        in = out;
        room += warps;
        size = warps;
        warps = next(warps);
    }

    if (scratch != nullptr) {
        const cudaError_t freed = cudaFreeAsync(scratch, stream);
        if (error == cudaSuccess) error = freed;
    }
    return error;
}

#endif
