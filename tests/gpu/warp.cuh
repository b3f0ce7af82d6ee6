// What programs share that ask a GPU for products of a warp: registers, numbers, cases.
#pragma once
#include "gpu.cuh"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

constexpr int LANES = 32, RUNS = 10;

// Registers of a warp: factors a and b, what is added, the positions of a sparse factor, the sums.
struct Warp {
    uint32_t a[4][LANES], b[4][LANES], c[8][LANES], e[LANES], d[8][LANES];
};
using Kernel = void(Warp *);

// In the text of a FORM %0 to %7 are d, %8 to %11 a, %12 to %15 b, %16 to %23 c and %24 is e.
#define D2 "{%0,%1}"
#define D4 "{%0,%1,%2,%3}"
#define D8 "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define A1 ",{%8}"
#define A2 ",{%8,%9}"
#define A4 ",{%8,%9,%10,%11}"
#define B1 ",{%12}"
#define B2 ",{%12,%13}"
#define B4 ",{%12,%13,%14,%15}"
#define C2 ",{%16,%17};"
#define C4 ",{%16,%17,%18,%19};"
#define C8 ",{%16,%17,%18,%19,%20,%21,%22,%23};"
#define C2E(selector) ",{%16,%17},%24," selector ";"
#define C4E(selector) ",{%16,%17,%18,%19},%24," selector ";"
#define IN(x, i, l) "r"((x)[i][l])
#define FORM(name, text)                                                                           \
    __global__ void name(Warp *w)                                                                  \
    {                                                                                              \
        const int l = threadIdx.x;                                                                 \
        uint32_t d[8] = {};                                                                        \
        asm volatile(text                                                                          \
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]),     \
                       "+r"(d[6]), "+r"(d[7])                                                      \
                     : IN(w->a, 0, l), IN(w->a, 1, l), IN(w->a, 2, l), IN(w->a, 3, l),             \
                       IN(w->b, 0, l), IN(w->b, 1, l), IN(w->b, 2, l), IN(w->b, 3, l),             \
                       IN(w->c, 0, l), IN(w->c, 1, l), IN(w->c, 2, l), IN(w->c, 3, l),             \
                       IN(w->c, 4, l), IN(w->c, 5, l), IN(w->c, 6, l), IN(w->c, 7, l),             \
                       "r"(w->e[l]));                                                              \
        for (int i = 0; i < 8; i++) w->d[i][l] = d[i];                                             \
    }

inline uint64_t seed;
inline uint64_t draw()
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

enum Type { F16, BF16, TF32, F32, E4M3, E5M2, BITS };

inline int width_of(Type type)
{
    return type == F16 || type == BF16 ? 16 : type == E4M3 || type == E5M2 ? 8 : 32;
}

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

inline uint32_t word_of(Type type, int middle, int spread)
{
    if (type == BITS) return (uint32_t)draw();
    uint32_t word = 0;
    for (int at = 0; at < 32; at += width_of(type)) word |= any(type, middle, spread) << at;
    return word;
}

inline uint64_t hash(uint64_t so_far, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        so_far = (so_far ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return so_far;
}

inline void run(Kernel *kernel, Warp *warp)
{
    kernel<<<1, LANES>>>(warp);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

// The exponents of a's, b's and c's elements.
struct Range {
    int a, b, c, spread;
};

inline void fill(Warp *warp, Type a, Type b, Type c, Range range)
{
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < 4; i++) warp->a[i][l] = word_of(a, range.a, range.spread);
        for (int i = 0; i < 4; i++) warp->b[i][l] = word_of(b, range.b, range.spread);
        for (int i = 0; i < 8; i++) warp->c[i][l] = word_of(c, range.c, 2 * range.spread);
    }
}

// In a few registers an infinity, or what the type has in its place, and NaN.
inline void spoil(Warp *warp, Type a, Type b, Type c)
{
    const uint32_t infinities[] = {0x7c00, 0x7f80, 0x7f800000, 0x7f800000, 0x7f, 0x7c, 0x80000000};
    const uint32_t nans[] = {0xfe01, 0xffc1, 0x7fc12345, 0xffc12345, 0xff, 0xfd, 0x7fffffff};
    warp->a[0][5] = infinities[a];
    warp->a[1][14] = nans[a];
    warp->b[0][9] = infinities[b];
    warp->a[0][9] = warp->b[0][20] = 0;
    warp->c[0][12] = infinities[c];
    warp->c[1][27] = nans[c];
}
