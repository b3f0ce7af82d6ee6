// The kernels behind the stand-in for NCCL: what the ranks have put into the slots of a segment,
// combined, and the product of a rank's values and a scalar. One of each for each type.
#include "emulator/standins/nccl/abi.h"
#include "emulator/standins/nccl/parameters.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// A type computes in itself; those that have no arithmetic compute in float, and each result is
// rounded, as if they had.
template <class T> struct Wide {
    typedef T Type;
};
template <> struct Wide<__half> {
    typedef float Type;
};
template <> struct Wide<__nv_bfloat16> {
    typedef float Type;
};
template <> struct Wide<__nv_fp8_e4m3> {
    typedef float Type;
};
template <> struct Wide<__nv_fp8_e5m2> {
    typedef float Type;
};

template <class T> __device__ T combined(T a, T b, uint32_t op)
{
    typedef typename Wide<T>::Type W;
    const W x = (W)a, y = (W)b;
    switch (op) {
    case NCCL_PROD:
        return (T)(W)(x * y);
    case NCCL_MAX:
        return x > y ? a : b;
    case NCCL_MIN:
        return x < y ? a : b;
    default:
        return (T)(W)(x + y);
    }
}

template <class T> __device__ void combine(const nccl_combine &p)
{
    const uint64_t i = (uint64_t)blockIdx.x * NCCL_BLOCK + threadIdx.x;
    const T *slots = (const T *)p.slots;
    if (i >= p.count) return;
    T value = slots[i];
    for (uint32_t rank = 1; rank < p.ranks; rank++)
        value = combined(value, slots[rank * p.stride + i], p.op);
    if (p.op == NCCL_AVG) { // of whole numbers: the others' are scaled before
        typedef typename Wide<T>::Type W;
        value = (T)(W)((W)value / (W)p.ranks);
    }
    ((T *)p.out)[i] = value;
}

template <class T> __device__ void scale(const nccl_scale &p)
{
    const uint64_t i = (uint64_t)blockIdx.x * NCCL_BLOCK + threadIdx.x;
    if (i >= p.count) return;
    const T scalar = *(const T *)(p.scalar != 0 ? p.scalar : (const void *)&p.value);
    ((T *)p.out)[i] = combined(((const T *)p.in)[i], scalar, NCCL_PROD);
}

#define KERNELS(name, T)                                                                           \
    extern "C" __global__ void nccl_combine_##name(const __grid_constant__ nccl_combine p)         \
    {                                                                                              \
        combine<T>(p);                                                                             \
    }                                                                                              \
    extern "C" __global__ void nccl_scale_##name(const __grid_constant__ nccl_scale p)             \
    {                                                                                              \
        scale<T>(p);                                                                               \
    }
KERNELS(i8, int8_t)
KERNELS(u8, uint8_t)
KERNELS(i32, int32_t)
KERNELS(u32, uint32_t)
KERNELS(i64, int64_t)
KERNELS(u64, uint64_t)
KERNELS(f16, __half)
KERNELS(f32, float)
KERNELS(f64, double)
KERNELS(bf16, __nv_bfloat16)
KERNELS(e4m3, __nv_fp8_e4m3)
KERNELS(e5m2, __nv_fp8_e5m2)
