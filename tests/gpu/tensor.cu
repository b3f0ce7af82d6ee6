// Tensor cores, asked of a GPU: which lane has which element, what sums of whole numbers are, what
// becomes of infinities, NaN, subnormals, of bits that a type has not, and of sums past their
// range. Each line is a case and its answer, a hash or the bits; of one that begins with ~ sums are
// rounded. tensor.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o tensor tests/gpu/tensor.cu && ./tensor > tests/gpu/tensor.txt
#include "gpu.cuh"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <type_traits>
#include <vector>

using namespace nvcuda;

constexpr int LANES = 32, A = 0, B = 8, C = 12, D = 0, ROOM = 16 * LANES;

// ---- mma.sync: registers of a from A on, of b from B, of c from C -------------------------------

template <typename T> __device__ T get(const uint64_t *in, int k)
{
    const uint64_t word = in[k * LANES + threadIdx.x];
    if constexpr (std::is_same_v<T, double>) return __longlong_as_double((long long)word);
    if constexpr (std::is_same_v<T, float>) return __uint_as_float((unsigned)word);
    return (T)word;
}

template <typename T> __device__ void put(uint64_t *out, int k, T value)
{
    uint64_t word = 0;
    if constexpr (std::is_same_v<T, double>)
        word = (uint64_t)__double_as_longlong(value);
    else if constexpr (std::is_same_v<T, float>)
        word = __float_as_uint(value);
    else
        word = (uint64_t)value;
    out[k * LANES + threadIdx.x] = word;
}

#define KERNEL(name, nd, na, nb, Sum, Factor, assembly)                                            \
    __global__ void name(const uint64_t *in, uint64_t *out)                                        \
    {                                                                                              \
        Factor a[na], b[nb];                                                                       \
        Sum c[nd], d[nd];                                                                          \
        for (int k = 0; k < na; k++) a[k] = get<Factor>(in, A + k);                                \
        for (int k = 0; k < nb; k++) b[k] = get<Factor>(in, B + k);                                \
        for (int k = 0; k < nd; k++) c[k] = get<Sum>(in, C + k);                                   \
        assembly;                                                                                  \
        for (int k = 0; k < nd; k++) put<Sum>(out, D + k, d[k]);                                   \
    }
#define MMA_211(name, text, Sum, s, Factor, f)                                                     \
    KERNEL(name, 2, 1, 1, Sum, Factor,                                                             \
           asm volatile("mma.sync.aligned." text " {%0, %1}, {%2}, {%3}, {%4, %5};"                \
                        : "=" s(d[0]), "=" s(d[1])                                                 \
                        : f(a[0]), f(b[0]), s(c[0]), s(c[1])))
#define MMA_221(name, text, Sum, s, Factor, f)                                                     \
    KERNEL(name, 2, 2, 1, Sum, Factor,                                                             \
           asm volatile("mma.sync.aligned." text " {%0, %1}, {%2, %3}, {%4}, {%5, %6};"            \
                        : "=" s(d[0]), "=" s(d[1])                                                 \
                        : f(a[0]), f(a[1]), f(b[0]), s(c[0]), s(c[1])))
#define MMA_242(name, text, Sum, s, Factor, f)                                                     \
    KERNEL(name, 2, 4, 2, Sum, Factor,                                                             \
           asm volatile("mma.sync.aligned." text                                                   \
                        " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"                         \
                        : "=" s(d[0]), "=" s(d[1])                                                 \
                        : f(a[0]), f(a[1]), f(a[2]), f(a[3]), f(b[0]), f(b[1]), s(c[0]), s(c[1])))
#define MMA_421(name, text, Sum, s, Factor, f)                                                     \
    KERNEL(name, 4, 2, 1, Sum, Factor,                                                             \
           asm volatile("mma.sync.aligned." text                                                   \
                        " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"                    \
                        : "=" s(d[0]), "=" s(d[1]), "=" s(d[2]), "=" s(d[3])                       \
                        : f(a[0]), f(a[1]), f(b[0]), s(c[0]), s(c[1]), s(c[2]), s(c[3])))
#define MMA_442(name, text, Sum, s, Factor, f)                                                     \
    KERNEL(name, 4, 4, 2, Sum, Factor,                                                             \
           asm volatile("mma.sync.aligned." text                                                   \
                        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"     \
                        : "=" s(d[0]), "=" s(d[1]), "=" s(d[2]), "=" s(d[3])                       \
                        : f(a[0]), f(a[1]), f(a[2]), f(a[3]), f(b[0]), f(b[1]), s(c[0]), s(c[1]),  \
                          s(c[2]), s(c[3])))
#define MMA_484(name, text, Sum, s, Factor, f)                                                     \
    KERNEL(name, 4, 8, 4, Sum, Factor,                                                             \
           asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, "    \
                        "%10, %11}, {%12, %13, %14, %15}, {%16, %17, "                             \
                        "%18, %19};"                                                               \
                        : "=" s(d[0]), "=" s(d[1]), "=" s(d[2]), "=" s(d[3])                       \
                        : f(a[0]), f(a[1]), f(a[2]), f(a[3]), f(a[4]), f(a[5]), f(a[6]), f(a[7]),  \
                          f(b[0]), f(b[1]), f(b[2]), f(b[3]), s(c[0]), s(c[1]), s(c[2]), s(c[3])))

enum Type { F16, BF16, TF32, F64, S8, U8, F32, S32, ROWS };

// X(name, registers of d, a and b, PTX, type of d's registers, constraint, of a's, constraint,
//   types of a, b and c)
#define PRODUCTS(X)                                                                                \
    X(f16_8, 221, "m16n8k8.row.col.f16.f16.f16.f16", unsigned, "r", unsigned, "r", F16, F16, F16)  \
    X(f16_16, 242, "m16n8k16.row.col.f16.f16.f16.f16", unsigned, "r", unsigned, "r", F16, F16,     \
      F16)                                                                                         \
    X(f32_8, 421, "m16n8k8.row.col.f32.f16.f16.f32", float, "f", unsigned, "r", F16, F16, F32)     \
    X(f32_16, 442, "m16n8k16.row.col.f32.f16.f16.f32", float, "f", unsigned, "r", F16, F16, F32)   \
    X(bf16_8, 421, "m16n8k8.row.col.f32.bf16.bf16.f32", float, "f", unsigned, "r", BF16, BF16,     \
      F32)                                                                                         \
    X(bf16_16, 442, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f", unsigned, "r", BF16, BF16,   \
      F32)                                                                                         \
    X(tf32_4, 421, "m16n8k4.row.col.f32.tf32.tf32.f32", float, "f", unsigned, "r", TF32, TF32,     \
      F32)                                                                                         \
    X(tf32_8, 442, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f", unsigned, "r", TF32, TF32,     \
      F32)                                                                                         \
    X(f64_8x8, 211, "m8n8k4.row.col.f64.f64.f64.f64", double, "d", double, "d", F64, F64, F64)     \
    X(f64_4, 421, "m16n8k4.row.col.f64.f64.f64.f64", double, "d", double, "d", F64, F64, F64)      \
    X(f64_8, 442, "m16n8k8.row.col.f64.f64.f64.f64", double, "d", double, "d", F64, F64, F64)      \
    X(f64_16, 484, "m16n8k16.row.col.f64.f64.f64.f64", double, "d", double, "d", F64, F64, F64)    \
    X(s8_8x8, 211, "m8n8k16.row.col.s32.s8.u8.s32", int, "r", unsigned, "r", S8, U8, S32)          \
    X(s8_16, 421, "m16n8k16.row.col.s32.u8.s8.s32", int, "r", unsigned, "r", U8, S8, S32)          \
    X(s8_32, 442, "m16n8k32.row.col.s32.s8.s8.s32", int, "r", unsigned, "r", S8, S8, S32)          \
    X(u8_32, 442, "m16n8k32.row.col.s32.u8.u8.s32", int, "r", unsigned, "r", U8, U8, S32)          \
    X(clamped, 442, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", int, "r", unsigned, "r", S8, S8,   \
      S32)
#define DEFINE(name, registers, text, Sum, s, Factor, f, a, b, c)                                  \
    MMA_##registers(name, text, Sum, s, Factor, f)
PRODUCTS(DEFINE)

// Sums of f64 that are rounded in each direction: X(shape, registers).
#define ROUNDED(X) X(m8n8k4, 211) X(m16n8k4, 421) X(m16n8k8, 442) X(m16n8k16, 484)
#define DIRECTED(shape, registers, way)                                                            \
    MMA_##registers(shape##_##way, #shape ".row.col." #way ".f64.f64.f64.f64", double, "d",        \
                    double, "d")
#define DEFINE_ROUNDED(shape, registers)                                                           \
    DIRECTED(shape, registers, rz)                                                                 \
    DIRECTED(shape, registers, rm)                                                                 \
    DIRECTED(shape, registers, rp)
ROUNDED(DEFINE_ROUNDED)

// ---- ldmatrix, stmatrix, movmatrix --------------------------------------------------------------

__global__ void rows(const uint64_t *in, uint64_t *out)
{
    __shared__ __align__(128) unsigned short from[32][8], to[32][8];
    for (int k = 0; k < 8; k++) from[threadIdx.x][k] = (unsigned short)in[k * LANES + threadIdx.x];
    __syncwarp();
    const unsigned read = (unsigned)__cvta_generic_to_shared(from[(threadIdx.x * 5 + 3) % 32]);
    const unsigned write = (unsigned)__cvta_generic_to_shared(to[(threadIdx.x * 7 + 1) % 32]);
    unsigned a, b, c, d, e;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(read)
                 : "memory");
    put(out, 0, a), put(out, 1, b), put(out, 2, c), put(out, 3, d);
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(e) : "r"(a));
    put(out, 4, e);
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(write),
        "r"(a), "r"(b), "r"(c), "r"(d)
        : "memory");
    __syncwarp();
    for (int k = 0; k < 8; k++) put(out, 5 + k, (unsigned)to[threadIdx.x][k]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(read)
                 : "memory");
    put(out, 13, a), put(out, 14, b);
}

// ---- the host's side ----------------------------------------------------------------------------

static uint64_t *device_in, *device_out, host_in[ROOM], host_out[ROOM];

static uint32_t seed;
static uint32_t draw()
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static uint64_t bits_of(Type type, double value)
{
    const float single = (float)value;
    uint32_t bits;
    uint64_t wide;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&wide, &value, sizeof wide);
    switch (type) {
    case F16:
        return __half_as_ushort(__float2half(single));
    case BF16:
        return bits >> 16;
    case F64:
        return wide;
    case S8:
    case U8:
        return (uint8_t)(int)value;
    case S32:
        return (uint32_t)(int)value;
    default:
        return bits;
    }
}

// A register full of elements: small whole numbers, or fractions.
static uint64_t draw_register(Type type, bool whole)
{
    const int bits = type == S8 || type == U8 ? 8 : type == F16 || type == BF16 ? 16 : 32;
    uint64_t word = 0;
    for (int at = 0; at < 32; at += bits) {
        const double value =
            whole ? draw() % 9 - (type == U8 ? 0.0 : 4.0) : ((int)(draw() % 4001) - 2000) / 1024.0;
        word |= bits_of(type, value) << at;
    }
    return word;
}

template <typename Kernel> static void run(Kernel *kernel)
{
    CHECK(cudaMemcpy(device_in, host_in, sizeof host_in, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_out, 0, sizeof host_out));
    kernel<<<1, LANES>>>(device_in, device_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host_out, device_out, sizeof host_out, cudaMemcpyDeviceToHost));
}

static uint64_t hash(const void *bytes, size_t size)
{
    uint64_t value = 0xcbf29ce484222325;
    for (size_t k = 0; k < size; k++)
        value = (value ^ ((const unsigned char *)bytes)[k]) * 0x100000001b3;
    return value;
}

template <typename Kernel>
static void ask_product(const char *name, Kernel *kernel, Type a, Type b, Type c)
{
    for (int whole = 1; whole >= 0; whole--) {
        if (!whole && (c == S32)) continue;
        for (int k = 0; k < ROOM; k++)
            host_in[k] = draw_register(k < B * LANES ? a : k < C * LANES ? b : c, whole);
        run(kernel);
        printf("%s%s: %016llx\n", whole ? "" : "~", name,
               (unsigned long long)hash(host_out, sizeof host_out));
    }
}

// All of a, of b and of c the same: the first element of d.
template <typename Kernel>
static void ask_edge(const char *name, Kernel *kernel, uint64_t a, uint64_t b, uint64_t c)
{
    for (int k = 0; k < ROOM; k++) host_in[k] = k < B * LANES ? a : k < C * LANES ? b : c;
    run(kernel);
    printf("%s, %llx, %llx, %llx: %08llx\n", name, (unsigned long long)a, (unsigned long long)b,
           (unsigned long long)c, (unsigned long long)host_out[0]);
}

// Products of 2^-53 and a little more are added to 1 and to -1.
template <typename Kernel> static void ask_rounded(const char *name, Kernel *kernel)
{
    ask_edge(name, kernel, 0x3ff0000000000001, 0x3ca0000000000000, 0x3ff0000000000000);
    ask_edge(name, kernel, 0x3ff0000000000001, 0x3ca0000000000000, 0xbff0000000000000);
    ask_edge(name, kernel, 0xbff0000000000001, 0x3ca0000000000000, 0x3ff0000000000000);
}

// ---- wmma ---------------------------------------------------------------------------------------

// Lines begin at multiples of 16 bytes, also of bytes.
static constexpr __host__ __device__ int stride(int elements)
{
    return elements < 16 ? 16 : elements;
}

template <int M, int N, int K, typename Factor, typename Element, typename Sum, typename LayoutA,
          typename LayoutB>
__global__ void product(const Element *a, const Element *b, const Sum *c, Sum *d,
                        wmma::layout_t layout)
{
    constexpr bool a_rows = std::is_same_v<LayoutA, wmma::row_major>;
    constexpr bool b_rows = std::is_same_v<LayoutB, wmma::row_major>;
    wmma::fragment<wmma::matrix_a, M, N, K, Factor, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Factor, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc, fd;
    const unsigned line = layout == wmma::mem_row_major ? N : M;
    wmma::load_matrix_sync(fa, a, stride(a_rows ? K : M));
    wmma::load_matrix_sync(fb, b, stride(b_rows ? N : K));
    wmma::load_matrix_sync(fc, c, line, layout);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, line, layout);
}

template <typename T> static T element(Type type, bool whole)
{
    const uint64_t bits = draw_register(type, whole) & (sizeof(T) == 1 ? 0xff : ~UINT64_C(0));
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <int M, int N, int K, typename Factor, typename Element, typename Sum, typename LayoutA,
          typename LayoutB>
static void ask_layout(const char *name, Type factor, Type sum, wmma::layout_t layout)
{
    Element a[stride(M) * stride(K)], b[stride(K) * stride(N)], *da, *db;
    Sum c[M * N], *dc;
    for (Element &x : a) x = element<Element>(factor, true);
    for (Element &x : b) x = element<Element>(factor, true);
    for (Sum &x : c) x = element<Sum>(sum, true);
    CHECK(cudaMalloc(&da, sizeof a));
    CHECK(cudaMalloc(&db, sizeof b));
    CHECK(cudaMalloc(&dc, sizeof c));
    CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice));
    product<M, N, K, Factor, Element, Sum, LayoutA, LayoutB><<<1, LANES>>>(da, db, dc, dc, layout);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    printf("wmma m%dn%dk%d %s %d%d%d: %016llx\n", M, N, K, name,
           std::is_same_v<LayoutA, wmma::row_major>, std::is_same_v<LayoutB, wmma::row_major>,
           layout == wmma::mem_row_major, (unsigned long long)hash(c, sizeof c));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
}

template <int M, int N, int K, typename Factor, typename Element, typename Sum>
static void ask_wmma(const char *name, Type factor, Type sum)
{
    using row = wmma::row_major;
    using col = wmma::col_major;
    ask_layout<M, N, K, Factor, Element, Sum, row, row>(name, factor, sum, wmma::mem_row_major);
    ask_layout<M, N, K, Factor, Element, Sum, row, col>(name, factor, sum, wmma::mem_col_major);
    ask_layout<M, N, K, Factor, Element, Sum, col, row>(name, factor, sum, wmma::mem_row_major);
    ask_layout<M, N, K, Factor, Element, Sum, col, col>(name, factor, sum, wmma::mem_col_major);
}

template <int M, int N, int K> static void ask_shape()
{
    ask_wmma<M, N, K, half, half, half>("f16 f16", F16, F16);
    ask_wmma<M, N, K, half, half, float>("f16 f32", F16, F32);
    ask_wmma<M, N, K, __nv_bfloat16, __nv_bfloat16, float>("bf16", BF16, F32);
    ask_wmma<M, N, K, signed char, signed char, int>("s8", S8, S32);
    ask_wmma<M, N, K, unsigned char, unsigned char, int>("u8", U8, S32);
}

// ---- how sums are rounded -----------------------------------------------------------------------

int main()
{
    CHECK(cudaMalloc(&device_in, sizeof host_in));
    CHECK(cudaMalloc(&device_out, sizeof host_out));
    seed = 1;
#define ASK(name, registers, text, Sum, s, Factor, f, a, b, c) ask_product(text, name, a, b, c);
    PRODUCTS(ASK)
    for (int k = 0; k < ROOM; k++) host_in[k] = draw() & 0xffff;
    run(rows);
    for (int k = 0; k < 15; k++)
        printf("rows %d: %016llx\n", k,
               (unsigned long long)hash(host_out + k * LANES, LANES * sizeof *host_out));
    ask_shape<16, 16, 16>();
    ask_shape<32, 8, 16>();
    ask_shape<8, 32, 16>();
    ask_wmma<16, 16, 8, wmma::precision::tf32, float, float>("tf32", TF32, F32);
    ask_wmma<8, 8, 4, double, double, double>("f64", F64, F64);

    ask_edge("inf", f32_16, 0x7c007c00, 0x3c003c00, 0);
    ask_edge("inf * 0", f32_16, 0x7c007c00, 0, 0);
    ask_edge("inf - inf", f32_16, 0x7c007c00, 0x3c003c00, 0xff800000);
    ask_edge("NaN", f32_16, 0x7e017e01, 0x3c003c00, 0);
    ask_edge("NaN added", f32_16, 0x3c003c00, 0x3c003c00, 0xffc12345);
    ask_edge("subnormal", f32_16, 0x00010001, 0x3c003c00, 0);
    ask_edge("only -0", f32_16, 0x80008000, 0x3c003c00, 0x80000000);
    ask_edge("subnormal added", f32_16, 0, 0, 0x00000123);
    ask_edge("f16 overflow", f16_16, 0x7bff7bff, 0x3c003c00, 0);
    ask_edge("f16 NaN", f16_16, 0x7c007c00, 0x80008000, 0);
    ask_edge("f16 subnormal", f16_16, 0x00010001, 0x3c003c00, 0x00010001);
    ask_edge("bf16 inf", bf16_16, 0x7f807f80, 0xbf80bf80, 0);
    ask_edge("bf16 overflow", bf16_16, 0x7f007f00, 0x40004000, 0);
    ask_edge("bf16 subnormal", bf16_16, 0x00010001, 0x3f803f80, 0);
    ask_edge("tf32 with more bits", tf32_8, 0x3f801fff, 0x3f800000, 0);
    ask_edge("tf32 NaN of those", tf32_8, 0x7f800001, 0x3f800000, 0);
    ask_edge("f64 NaN", f64_16, 0x7ff8000000000001, 0x3ff0000000000000, 0);
    ask_edge("f64 inf - inf", f64_16, 0x7ff0000000000000, 0x3ff0000000000000, 0xfff0000000000000);
    ask_edge("s32 past its range", s8_32, 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff);
    ask_edge("s32 below its range", s8_32, 0x80808080, 0x7f7f7f7f, 0x80000000);
    ask_edge("clamped", clamped, 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff);
    ask_edge("clamped below", clamped, 0x80808080, 0x7f7f7f7f, 0x80000000);
#define ASK_ROUNDED(shape, registers)                                                              \
    ask_rounded(#shape " rz", shape##_rz);                                                         \
    ask_rounded(#shape " rm", shape##_rm);                                                         \
    ask_rounded(#shape " rp", shape##_rp);
    ROUNDED(ASK_ROUNDED)

    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
    return 0;
}
