// What the programs of generate.py share: values to and from bits, divisions without undefined
// behaviour, and the host's side.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <vector>

namespace cg = cooperative_groups;

typedef int8_t s8;
typedef uint8_t u8;
typedef int16_t s16;
typedef uint16_t u16;
typedef int32_t s32;
typedef uint32_t u32;
typedef long long s64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef __half f16;
typedef __nv_bfloat16 b16;
typedef __half2 h2;
typedef __nv_bfloat162 b2;

#define DEV static __device__ __forceinline__
#define CALLED static __device__ __noinline__

// ---- bits ---------------------------------------------------------------------------------------
// Which NaN an operation gives is the assembler's choice (operands swapped, signs moved), so that
// every NaN has the same bits as soon as anybody looks at bits.

DEV u32 bits(f32 x)
{
    const u32 b = __float_as_uint(x);
    return (b & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : b;
}
DEV u64 bits(f64 x)
{
    const u64 b = (u64)__double_as_longlong(x);
    return (b & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7fffffffffffffffull : b;
}
DEV u16 bits(f16 x)
{
    const u32 b = __half_as_ushort(x);
    return (u16)((b & 0x7fffu) > 0x7c00u ? 0x7fffu : b);
}
DEV u16 bits(b16 x)
{
    const u32 b = __bfloat16_as_ushort(x);
    return (u16)((b & 0x7fffu) > 0x7f80u ? 0x7fffu : b);
}
DEV u32 bits(h2 x)
{
    return bits(__low2half(x)) | (u32)bits(__high2half(x)) << 16;
}
DEV u32 bits(b2 x)
{
    return bits(__low2bfloat16(x)) | (u32)bits(__high2bfloat16(x)) << 16;
}
DEV u8 bits(bool x)
{
    return x;
}
DEV u8 bits(s8 x)
{
    return (u8)x;
}
DEV u8 bits(u8 x)
{
    return x;
}
DEV u16 bits(s16 x)
{
    return (u16)x;
}
DEV u16 bits(u16 x)
{
    return x;
}
DEV u32 bits(s32 x)
{
    return (u32)x;
}
DEV u32 bits(u32 x)
{
    return x;
}
DEV u64 bits(s64 x)
{
    return (u64)x;
}
DEV u64 bits(u64 x)
{
    return x;
}

template <class T> DEV T of(u64 w)
{
    return (T)w;
}
template <> __device__ __forceinline__ bool of<bool>(u64 w)
{
    return w & 1;
}
template <> __device__ __forceinline__ f32 of<f32>(u64 w)
{
    return __uint_as_float((u32)w);
}
template <> __device__ __forceinline__ f64 of<f64>(u64 w)
{
    return __longlong_as_double((s64)w);
}
template <> __device__ __forceinline__ f16 of<f16>(u64 w)
{
    return __ushort_as_half((u16)w);
}
template <> __device__ __forceinline__ b16 of<b16>(u64 w)
{
    return __ushort_as_bfloat16((u16)w);
}
template <> __device__ __forceinline__ h2 of<h2>(u64 w)
{
    return __halves2half2(of<f16>(w), of<f16>(w >> 16));
}
template <> __device__ __forceinline__ b2 of<b2>(u64 w)
{
    return __halves2bfloat162(of<b16>(w), of<b16>(w >> 16));
}

// The same value with the one NaN.
template <class T> DEV T known(T x)
{
    return of<T>(bits(x));
}

DEV u32 fold(u64 w)
{
    return (u32)(w ^ w >> 32);
}

// ---- divisions ----------------------------------------------------------------------------------

template <class T> DEV T quotient(T a, T b)
{
    if (b == T(0) || (T(-1) < T(0) && b == T(-1))) return (T)(a ^ T(5));
    return (T)(a / b);
}
template <class T> DEV T remainder_of(T a, T b)
{
    if (b == T(0) || (T(-1) < T(0) && b == T(-1))) return (T)(a ^ T(3));
    return (T)(a % b);
}

// ---- warps --------------------------------------------------------------------------------------

// The lane of `mask` that n counts to, round and round.
DEV s32 nth(u32 mask, u32 n)
{
    n %= (u32)__popc(mask);
    while (n--) mask &= mask - 1;
    return __ffs((s32)mask) - 1;
}

template <class T> DEV T from_lane(u32 mask, T x, u32 n)
{
    return __shfl_sync(mask, x, nth(mask, n));
}

// A shuffle whose source lane may be absent: then the value is the lane's own.
DEV bool has(u32 mask, s32 lane, s32 width, s32 mine)
{
    return lane >= (mine & ~(width - 1)) && lane < (mine & ~(width - 1)) + width &&
           mask >> lane & 1;
}
template <class T> DEV T from_up(u32 mask, s32 mine, T x, u32 d, s32 width)
{
    const T y = __shfl_up_sync(mask, x, d, width);
    return has(mask, mine - (s32)d, width, mine) ? y : x;
}
template <class T> DEV T from_down(u32 mask, s32 mine, T x, u32 d, s32 width)
{
    const T y = __shfl_down_sync(mask, x, d, width);
    return has(mask, mine + (s32)d, width, mine) ? y : x;
}
template <class T> DEV T from_xor(u32 mask, s32 mine, T x, u32 d, s32 width)
{
    const T y = __shfl_xor_sync(mask, x, (s32)d, width);
    const s32 lane = mine ^ (s32)d;
    return has(mask, lane & 31, width, mine) ? y : x;
}

// ---- atomics by compare-and-swap ----------------------------------------------------------------

DEV void cas_add(u32 *at, u32 x)
{
    u32 old = *(volatile u32 *)at, seen;
    while ((seen = atomicCAS(at, old, old + x * 3)) != old) old = seen;
}
DEV void cas_xor(u64 *at, u64 x)
{
    u64 old = atomicAdd(at, 0ull), seen;
    do {
        seen = old;
        old = atomicCAS(at, seen, seen ^ x);
    } while (old != seen);
}

DEV void cas_short(u16 *at, u16 x)
{
    u16 old = *(volatile u16 *)at, seen;
    while ((seen = atomicCAS(at, old, (u16)(old ^ x))) != old) old = seen;
}

// ---- pointers -----------------------------------------------------------------------------------

// Reads at p, wherever that is.
CALLED u32 sum_of(const u32 *p, u32 count)
{
    u32 sum = count;
    for (u32 k = 0; k < count; k++) sum = sum * 5u + p[k];
    return sum;
}

// ---- virtual functions --------------------------------------------------------------------------

struct Shape {
    u32 a;
    __device__ Shape(u32 x) : a(x) {}
    virtual __device__ u32 area(u32 x) const
    {
        return a * 7 + x;
    }
    virtual __device__ f32 scale(f32 x)
    {
        return x * 0.5f;
    }
};
struct Disc : Shape {
    f32 r;
    __device__ Disc(u32 x, f32 y) : Shape(x), r(y) {}
    __device__ u32 area(u32 x) const override
    {
        return (a ^ x) >> 3;
    }
    __device__ f32 scale(f32 x) override
    {
        return __fadd_rz(x, r);
    }
};
struct Box : Disc {
    u64 w;
    __device__ Box(u32 x, f32 y, u64 z) : Disc(x, y), w(z) {}
    __device__ u32 area(u32 x) const override
    {
        return Disc::area(x) + (u32)(w >> (x & 31));
    }
};

// ---- the host's side ----------------------------------------------------------------------------

enum { WORDS = 24, MOST = 1024, EXTRA = 8, BUFFER = (WORDS + EXTRA) * MOST, SLOTS = 64 };

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(3);
}

static u64 drawn(u64 &state)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1dull;
}

// Words as they are interesting: random bits, small numbers, floats and doubles of similar size,
// halves, infinities, NaNs, denormals.
static u64 word(u64 &state)
{
    static const u64 odd[] = {0,
                              1,
                              ~0ull,
                              0x7f8000007f800000ull,
                              0x7ff0000000000000ull,
                              0x8000000080000000ull,
                              0x7fc00000ffc00001ull,
                              0x7fffffff7fffffffull,
                              0x0000000100000001ull,
                              0x3c00bc003c00bc00ull,
                              0x3f800000bf800000ull,
                              0x8000000000000000ull,
                              0x7fffffffffffffffull,
                              0x00800000007fffffull,
                              0x7bff0001fc007e00ull,
                              0x3ff0000000000000ull};
    const u64 a = drawn(state), kind = drawn(state) % 10;
    if (kind < 3) return a;
    if (kind < 5) return (a & 0xff) | (a >> 8 & 0xff) << 32;
    if (kind == 5) return odd[a % 16];
    if (kind == 6) { // two floats around 1
        return (a & 0x83ffffff83ffffffull) | 0x3c0000003c000000ull;
    }
    if (kind == 7) return (a & 0x803fffffffffffffull) | 0x3fe0000000000000ull; // a double
    if (kind == 8) return (a & 0x8fff8fff8fff8fffull) | 0x3000300030003000ull; // halves
    return 0ull - (a & 0xffff);
}

struct Program {
    const char *name;
    u32 threads, stages;
    u64 seed;
    void (*launch)(u32 stage, const u64 *in, u64 *out, u32 *slots);
};

static u64 hash(const void *bytes, size_t count)
{
    u64 h = 0xcbf29ce484222325ull;
    for (size_t k = 0; k < count / 4; k++) {
        h = (h ^ ((const u32 *)bytes)[k]) * 0x100000001b3ull;
        h ^= h >> 29;
    }
    return h;
}

static int run_programs(const Program *programs, size_t count, int argc, char **argv)
{
    FILE *dump = argc > 2 ? fopen(argv[2], "wb") : nullptr;
    check(cudaDeviceSetLimit(cudaLimitStackSize, 65536), "stack");
    u64 *buffer[2];
    u32 *slots;
    for (u64 *&b : buffer) check(cudaMalloc(&b, BUFFER * 8), "cudaMalloc");
    check(cudaMalloc(&slots, SLOTS * 8), "cudaMalloc");
    std::vector<u64> host(BUFFER);
    for (size_t k = 0; k < count; k++) {
        const Program &p = programs[k];
        if (argc > 1 && *argv[1] && strcmp(argv[1], p.name)) continue;
        u64 state = p.seed;
        for (u64 &w : host) w = word(state);
        check(cudaMemcpy(buffer[0], host.data(), BUFFER * 8, cudaMemcpyHostToDevice), "in");
        check(cudaMemset(slots, 0, SLOTS * 8), "slots");
        printf("%s", p.name);
        for (u32 stage = 0; stage < p.stages; stage++) {
            u64 *to = buffer[~stage & 1];
            check(cudaMemset(to, 0xa5, BUFFER * 8), "out");
            p.launch(stage, buffer[stage & 1], to, slots);
            check(cudaGetLastError(), "launch");
            check(cudaMemcpy(host.data(), to, BUFFER * 8, cudaMemcpyDeviceToHost), "run");
            printf(" %016llx", hash(host.data(), BUFFER * 8));
            if (dump) fwrite(host.data(), 8, (WORDS + EXTRA) * p.threads, dump);
        }
        u64 sums[SLOTS];
        check(cudaMemcpy(sums, slots, sizeof sums, cudaMemcpyDeviceToHost), "sums");
        printf(" %016llx\n", hash(sums, sizeof sums));
        if (dump) fwrite(sums, sizeof sums, 1, dump);
        fflush(stdout);
    }
    if (dump) fclose(dump);
    for (u64 *b : buffer) check(cudaFree(b), "cudaFree");
    check(cudaFree(slots), "cudaFree");
    return 0;
}
