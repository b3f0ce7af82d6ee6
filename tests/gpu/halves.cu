// Asks what arithmetic of f16 and bf16 gives: a hash of the results for 2^20 pseudo-random triples,
// half of them of similar size, or for every value. Each line is an operation and its hash.
// halves.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o halves tests/gpu/halves.cu -lcuda && ./halves
//     >tests/gpu/halves.txt
#include "tests/gpu/gpu.cuh"

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

enum { AT_ONCE = 1 << 18, THREADS = 256 };

static __device__ __half h(uint16_t bits)
{
    return __ushort_as_half(bits);
}

static __device__ __nv_bfloat16 b(uint16_t bits)
{
    return __ushort_as_bfloat16(bits);
}

static __device__ uint16_t bits_of(__half value)
{
    return __half_as_ushort(value);
}

static __device__ uint16_t bits_of(__nv_bfloat16 value)
{
    return __bfloat16_as_ushort(value);
}

static __device__ uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// An operation: of three halves, or of one word.
#define OPERATION(Name, expression)                                                                \
    struct Name {                                                                                  \
        static __device__ uint32_t of(uint16_t x, uint16_t y, uint16_t z, uint32_t word)           \
        {                                                                                          \
            (void)x, (void)y, (void)z, (void)word;                                                 \
            return expression;                                                                     \
        }                                                                                          \
    };

#define COMPARED(V)                                                                                \
    (__hlt(V(x), V(y)) | __hequ(V(x), V(y)) << 1 | __hneu(V(x), V(y)) << 2 |                       \
     __hgeu(V(x), V(y)) << 3)

static __device__ uint32_t less_of_pairs(uint32_t x, uint32_t y)
{
    uint32_t result;
    asm("set.lt.f16x2.f16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(y));
    return result;
}

static __device__ uint32_t pair_of(uint32_t x, uint32_t y)
{
    uint32_t result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;"
        : "=r"(result)
        : "f"(__uint_as_float(x)), "f"(__uint_as_float(y)));
    return result;
}

#define UNARY(name, instructions)                                                                  \
    static __device__ uint16_t name(uint16_t x)                                                    \
    {                                                                                              \
        uint16_t result;                                                                           \
        asm(instructions : "=h"(result) : "h"(x));                                                 \
        return result;                                                                             \
    }
UNARY(minus_f16, "{.reg .b16 t; abs.f16 t, %1; neg.f16 %0, t;}")
UNARY(minus_bf16, "{.reg .b16 t; abs.bf16 t, %1; neg.bf16 %0, t;}")
UNARY(power_f16, "ex2.approx.f16 %0, %1;")
UNARY(power_bf16, "ex2.approx.ftz.bf16 %0, %1;")

OPERATION(AddF16, bits_of(__hadd_rn(h(x), h(y))))
OPERATION(SubF16, bits_of(__hsub_rn(h(x), h(y))))
OPERATION(MulF16, bits_of(__hmul_rn(h(x), h(y))))
OPERATION(FmaF16, bits_of(__hfma(h(x), h(y), h(z))))
OPERATION(AddBF16, bits_of(__hadd_rn(b(x), b(y))))
OPERATION(SubBF16, bits_of(__hsub_rn(b(x), b(y))))
OPERATION(MulBF16, bits_of(__hmul_rn(b(x), b(y))))
OPERATION(FmaBF16, bits_of(__hfma(b(x), b(y), b(z))))
OPERATION(MaxF16, bits_of(__hmax(h(x), h(y))))
OPERATION(MinNanF16, bits_of(__hmin_nan(h(x), h(y))))
OPERATION(MinBF16, bits_of(__hmin(b(x), b(y))))
OPERATION(MaxNanBF16, bits_of(__hmax_nan(b(x), b(y))))
OPERATION(ToF16, bits_of(__float2half_rn(__uint_as_float(word))))
OPERATION(ToBF16, bits_of(__float2bfloat16_rn(__uint_as_float(word))))
OPERATION(FromF16, __float_as_uint(__half2float(h(x))))
OPERATION(FromBF16, __float_as_uint(__bfloat162float(b(x))))
OPERATION(MinusF16, minus_f16(x))
OPERATION(MinusBF16, minus_bf16(x))
OPERATION(CompareF16, COMPARED(h))
OPERATION(CompareBF16, COMPARED(b))
OPERATION(LessOfPairs, less_of_pairs(word, (uint32_t)y << 16 | z))
OPERATION(PairOf, pair_of(word, (uint32_t)y << 16 | z))
OPERATION(PowerF16, power_f16(x))
OPERATION(PowerBF16, power_bf16(x))

// `similar`: every second triple has values of similar size. `every`: x takes every value.
template <class Operation>
__global__ void compute(uint32_t *results, uint32_t first, bool similar, bool every)
{
    const uint32_t i = first + blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t one = scramble(2 * i + 1), other = scramble(2 * i + 2);
    uint16_t x = (uint16_t)one, y = (uint16_t)(one >> 16), z = (uint16_t)other;
    if (every) x = (uint16_t)i;
    if (similar && i & 1) {
        x = (x & 0x83ff) | 0x3c00;
        y = (y & 0x83ff) | 0x3800;
        z = (z & 0xbfff) | 0x3000;
    }
    results[i - first] = Operation::of(x, y, z, other ^ one << 7);
}

static uint32_t *device;

template <class Operation> static void ask(const char *name, bool similar, bool every)
{
    std::vector<uint32_t> results(AT_ONCE);
    uint64_t hash = 1469598103934665603u;
    for (uint32_t round = 0; round < (similar ? 4 : 1); round++) {
        compute<Operation><<<AT_ONCE / THREADS, THREADS>>>(device, round * AT_ONCE, similar, every);
        CHECK(cudaMemcpy(results.data(), device, AT_ONCE * sizeof *device, cudaMemcpyDefault));
        for (uint32_t result : results) hash = (hash ^ result) * 1099511628211u;
    }
    printf("%s: %016llx\n", name, (unsigned long long)hash);
}

int main()
{
    CHECK(cudaMalloc(&device, AT_ONCE * sizeof *device));
    ask<AddF16>("add.f16", true, false);
    ask<SubF16>("sub.f16", true, false);
    ask<MulF16>("mul.f16", true, false);
    ask<FmaF16>("fma.f16", true, false);
    ask<AddBF16>("add.bf16", true, false);
    ask<SubBF16>("sub.bf16", true, false);
    ask<MulBF16>("mul.bf16", true, false);
    ask<FmaBF16>("fma.bf16", true, false);
    ask<MaxF16>("max.f16", false, false);
    ask<MinNanF16>("min.NaN.f16", false, false);
    ask<MinBF16>("min.bf16", false, false);
    ask<MaxNanBF16>("max.NaN.bf16", false, false);
    ask<ToF16>("cvt.rn.f16.f32", false, false);
    ask<ToBF16>("cvt.rn.bf16.f32", false, false);
    ask<FromF16>("cvt.f32.f16", false, true);
    ask<FromBF16>("cvt.f32.bf16", false, true);
    ask<MinusF16>("abs.f16, neg.f16", false, true);
    ask<MinusBF16>("abs.bf16, neg.bf16", false, true);
    ask<CompareF16>("comparisons of f16", false, false);
    ask<CompareBF16>("comparisons of bf16", false, false);
    ask<LessOfPairs>("set.lt.f16x2", false, false);
    ask<PairOf>("cvt.rn.f16x2.f32", false, false);
    ask<PowerF16>("ex2.approx.f16", false, true);
    ask<PowerBF16>("ex2.approx.ftz.bf16", false, true);
    CHECK(cudaFree(device));
    return 0;
}
