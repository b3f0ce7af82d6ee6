#include "tests/differential_api/kernels.h"

#undef NDEBUG // one of the kernels fails by its assertion, in every build
#include <cassert>

__device__ uint32_t variable[16];
__constant__ uint32_t constant[16];

// Elements are dealt out to all the threads of the grid, whatever its shape; blocks are flat.
static __device__ unsigned first_element()
{
    return (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) * blockDim.x +
           threadIdx.x;
}

static __device__ unsigned step()
{
    return gridDim.x * gridDim.y * gridDim.z * blockDim.x;
}

__global__ void scale(uint32_t *data, unsigned n, uint32_t k)
{
    for (unsigned i = first_element(); i < n; i += step()) data[i] = data[i] * 3 + k + i;
}

__global__ void mix(uint32_t *to, const uint32_t *from, unsigned n)
{
    for (unsigned i = first_element(); i < n; i += step()) to[i] = to[i] * 5 + from[i];
}

__global__ void __launch_bounds__(64) bounded(uint32_t *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void shared(uint32_t *data)
{
    __shared__ uint32_t words[4096];
    words[threadIdx.x * 4] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = words[(blockDim.x - 1 - threadIdx.x) * 4] + 1;
}

__global__ void dynamic(uint32_t *data, unsigned words)
{
    extern __shared__ uint32_t room[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) room[i] = data[i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) data[i] = room[words - 1 - i];
}

__global__ void symbols(uint32_t *data)
{
    if (threadIdx.x >= 16) return;
    data[threadIdx.x] = variable[threadIdx.x] + constant[threadIdx.x];
    variable[threadIdx.x]++;
}

__global__ void trap()
{
    __trap();
}

__global__ void illegal()
{
    *(volatile uint32_t *)64 = 1;
}

__global__ void misaligned(uint32_t *data)
{
    *(volatile uint32_t *)((char *)data + 1) = 1;
}

__global__ void asserting()
{
    assert(threadIdx.x == 77);
}

const char *const kernel_names[KERNEL_COUNT] = {"scale",      "mix",      "bounded", "shared",
                                                "dynamic",    "symbols",  "trap",    "illegal",
                                                "misaligned", "asserting"};

const void *kernel_address(enum kernel kernel)
{
    switch (kernel) {
    case KERNEL_SCALE:
        return (const void *)scale;
    case KERNEL_MIX:
        return (const void *)mix;
    case KERNEL_BOUNDED:
        return (const void *)bounded;
    case KERNEL_SHARED:
        return (const void *)shared;
    case KERNEL_DYNAMIC:
        return (const void *)dynamic;
    case KERNEL_SYMBOLS:
        return (const void *)symbols;
    case KERNEL_TRAP:
        return (const void *)trap;
    case KERNEL_ILLEGAL:
        return (const void *)illegal;
    case KERNEL_MISALIGNED:
        return (const void *)misaligned;
    case KERNEL_ASSERT:
        return (const void *)asserting;
    default:
        return nullptr;
    }
}

const void *symbol_variable(void)
{
    return (const void *)variable;
}

const void *symbol_constant(void)
{
    return (const void *)constant;
}
