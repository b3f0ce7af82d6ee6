#include "grader/child/drive.h"
#include "grader/lessons/11_structs/exchange.h"
#include "grader/lessons/11_structs/kernels.h"

#include <stdint.h>

namespace
{

__device__ unsigned char seen[STRUCTS_SEEN];

/* Byte by byte: what is seen lies end to end, whatever its alignment. */
template <typename Value> __device__ unsigned write_down(unsigned at, const Value &value)
{
    const unsigned char *bytes = (const unsigned char *)&value;
    for (unsigned i = 0; i < sizeof value; i++) seen[at + i] = bytes[i];
    return at + (unsigned)sizeof value;
}

template <typename... Values> __device__ void look(const Values &...values)
{
    unsigned at = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) (..., (at = write_down(at, values)));
}

__global__ void look_growing(uint8_t a, uint16_t b, uint32_t c, uint64_t d, uint8_t e)
{
    look(a, b, c, d, e);
}

__global__ void look_mixed(uint16_t a, uint8_t b, uint64_t c, uint8_t d, uint32_t e, uint16_t f)
{
    look(a, b, c, d, e, f);
}

/* Larger than its alignment, which is that of a part. */
template <typename Part, unsigned count> struct several {
    Part parts[count];
};

__global__ void look_structs(uint8_t a, several<uint32_t, 2> b, uint8_t c, several<uint32_t, 3> d,
                             several<uint32_t, 4> e, uint64_t f, several<uint64_t, 2> g, uint8_t h)
{
    look(a, b, c, d, e, f, g, h);
}

__global__ void look_large(uint8_t a, uint4 b, uint16_t c, uint4 d, uint32_t e)
{
    look(a, b, c, d, e);
}

/* What is only given is spoilt: it is not to come back. */
__global__ void work_floats(uint8_t shift, float *given, double *both, uint16_t length, float *made)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < length;
         i += gridDim.x * blockDim.x) {
        made[i] = given[i] + (float)shift;
        both[i] = both[i] + 2.0 * (double)given[i];
        given[i] = -1.0f;
    }
}

__global__ void work_bytes(uint8_t *given, uint4 *made, uint32_t length, uint8_t *both,
                           uint64_t key)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < length;
         i += gridDim.x * blockDim.x) {
        made[i] = make_uint4(given[i], both[i], (uint32_t)key + i, (uint32_t)(key >> 32));
        both[i] = (uint8_t)(both[i] ^ given[i]);
        given[i] = DRIVE_POISON;
    }
}

__global__ void work_in_place(uint32_t *numbers, uint8_t *bytes, uint32_t length)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < length;
         i += gridDim.x * blockDim.x) {
        const uint32_t number = numbers[i];
        numbers[i] = number + bytes[i];
        bytes[i] = (uint8_t)(bytes[i] ^ number);
    }
}

const void *const kernels[STRUCTS_KERNELS] = {
    (const void *)look_growing,  (const void *)look_mixed,  (const void *)look_structs,
    (const void *)look_large,    (const void *)work_floats, (const void *)work_bytes,
    (const void *)work_in_place,
};

} // namespace

extern "C" cudaError_t structs_kernel(unsigned number, CUfunction *kernel)
{
    return cudaGetFuncBySymbol((cudaFunction_t *)kernel, kernels[number]);
}

extern "C" cudaError_t structs_seen(unsigned char *to, size_t bytes, cudaStream_t stream)
{
    const cudaError_t error =
        cudaMemcpyFromSymbolAsync(to, seen, bytes, 0, cudaMemcpyDeviceToHost, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

extern "C" cudaError_t structs_forget(cudaStream_t stream)
{
    unsigned char nothing[STRUCTS_SEEN];
    for (unsigned i = 0; i < STRUCTS_SEEN; i++) nothing[i] = DRIVE_POISON;
    const cudaError_t error =
        cudaMemcpyToSymbolAsync(seen, nothing, sizeof nothing, 0, cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}
