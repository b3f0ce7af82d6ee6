// Random numbers in the types of tensor cores, the same wherever they are drawn, and a hash of
// answers.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

inline uint64_t seed;
inline uint64_t draw()
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

enum Type { F16, BF16, TF32, F32, E4M3, E5M2, BITS };

inline uint32_t bits_of(Type type, float value)
{
    uint32_t bits;
    if (type == F16) {
        const __half half = __float2half_rz(value);
        uint16_t low;
        memcpy(&low, &half, sizeof low);
        return low;
    }
    if (type == E4M3 || type == E5M2)
        return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, type == E4M3 ? __NV_E4M3 : __NV_E5M2);
    memcpy(&bits, &value, sizeof bits);
    return type == BF16 ? bits >> 16 : type == TF32 ? bits & 0xffffe000u : bits;
}

// Of an exponent from `middle` - `spread` to `middle` + `spread`, or 0.
inline uint32_t any(Type type, int middle, int spread)
{
    const int exponent = middle + (int)(draw() % (unsigned)(2 * spread + 1)) - spread;
    const float size = ldexpf(1.0f + (float)(draw() >> 41) * 0x1p-23f, exponent);
    const bool negative = draw() & 1, nothing = draw() % 16 == 0;
    return bits_of(type, nothing ? 0.0f : negative ? -size : size);
}

inline uint64_t hash(uint64_t so_far, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        so_far = (so_far ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return so_far;
}
