// What programs share that ask a GPU for products of a warp: registers, numbers, cases.
#pragma once
#include "gpu.cuh"
#include "numbers.cuh"

#include <cstdio>

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

inline int width_of(Type type)
{
    return type == F16 || type == BF16 ? 16 : type == E4M3 || type == E5M2 ? 8 : 32;
}

inline uint32_t word_of(Type type, int middle, int spread)
{
    if (type == BITS) return (uint32_t)draw();
    uint32_t word = 0;
    for (int at = 0; at < 32; at += width_of(type)) word |= any(type, middle, spread) << at;
    return word;
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

// A product to ask for, and the types of its factors and of what is added.
struct Product {
    const char *name;
    Kernel *kernel;
    Type a, b, c;
};

struct Case {
    const char *name;
    Range range;
    bool spoilt;
};

// Prints a line for each case of each product.
template <size_t PRODUCTS, size_t CASES>
void ask_for_all(const Product (&products)[PRODUCTS], const Case (&cases)[CASES])
{
    Warp *warp;
    CHECK(cudaMallocManaged(&warp, sizeof *warp));
    for (const Product &product : products) {
        seed = 1;
        for (const Case &c : cases) {
            uint64_t all = 14695981039346656037u;
            for (int r = 0; r < RUNS; r++) {
                fill(warp, product.a, product.b, product.c, c.range);
                if (c.spoilt) spoil(warp, product.a, product.b, product.c);
                run(product.kernel, warp);
                all = hash(all, warp->d, sizeof warp->d);
            }
            printf("%s, %s: %016llx\n", product.name, c.name, (unsigned long long)all);
        }
    }
    CHECK(cudaFree(warp));
}
