// How tensor cores round, asked of a GPU: sums of random products of far and near exponents, of
// subnormals, and what is rounded to f16. Each line is a case and a hash of its sums, or one sum.
// emulator/exec/ops/tensor_sum.h says what came out.
//
//     nvcc -std=c++17 -arch=sm_90 -o tensor_sums tests/gpu/tensor_sums.cu && ./tensor_sums >
//     gpu.txt
#include "gpu.cuh"
#include "numbers.cuh"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int LANES = 32, M = 16, N = 8, RUNS = 10;

// Registers of a warp, and in `sums` those of d.
struct Warp {
    uint32_t a[4][LANES], b[2][LANES], c[4][LANES], sums[4][LANES];
};
using Kernel = void(Warp *);

#define SUMS(d, l) "=r"((d)[0][l]), "=r"((d)[1][l]), "=r"((d)[2][l]), "=r"((d)[3][l])
#define FOUR(a, l) "r"((a)[0][l]), "r"((a)[1][l]), "r"((a)[2][l]), "r"((a)[3][l])

// Factors of 4 and 2 registers.
#define WIDE(name, shape)                                                                          \
    __global__ void name(Warp *w)                                                                  \
    {                                                                                              \
        const int l = threadIdx.x;                                                                 \
        asm volatile("mma.sync.aligned." shape                                                     \
                     " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"                     \
                     : SUMS(w->sums, l)                                                            \
                     : FOUR(w->a, l), "r"(w->b[0][l]), "r"(w->b[1][l]), FOUR(w->c, l));            \
    }
// Of 2 and 1.
#define NARROW(name, shape)                                                                        \
    __global__ void name(Warp *w)                                                                  \
    {                                                                                              \
        const int l = threadIdx.x;                                                                 \
        asm volatile("mma.sync.aligned." shape " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"       \
                     : SUMS(w->sums, l)                                                            \
                     : "r"(w->a[0][l]), "r"(w->a[1][l]), "r"(w->b[0][l]), FOUR(w->c, l));          \
    }
WIDE(f16_16, "m16n8k16.row.col.f32.f16.f16.f32")
WIDE(bf16_16, "m16n8k16.row.col.f32.bf16.bf16.f32")
WIDE(tf32_8, "m16n8k8.row.col.f32.tf32.tf32.f32")
NARROW(f16_8, "m16n8k8.row.col.f32.f16.f16.f32")
NARROW(bf16_8, "m16n8k8.row.col.f32.bf16.bf16.f32")
NARROW(tf32_4, "m16n8k4.row.col.f32.tf32.tf32.f32")

// c and d of f16, two to a register; here each has a word of its own.
__global__ void half_16(Warp *w)
{
    const int l = threadIdx.x;
    const uint32_t c0 = w->c[0][l] | w->c[1][l] << 16, c1 = w->c[2][l] | w->c[3][l] << 16;
    uint32_t d0, d1;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
                 " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};"
                 : "=r"(d0), "=r"(d1)
                 : FOUR(w->a, l), "r"(w->b[0][l]), "r"(w->b[1][l]), "r"(c0), "r"(c1));
    w->sums[0][l] = d0 & 0xffff;
    w->sums[1][l] = d0 >> 16;
    w->sums[2][l] = d1 & 0xffff;
    w->sums[3][l] = d1 >> 16;
}

// ---- cases --------------------------------------------------------------------------------------

static Warp *warp;

struct Row {
    const char *name;
    Kernel *kernel;
    Type type;
    int k;
    Type sum;
};
static const Row rows[] = {
    {"f16 k16", f16_16, F16, 16, F32},         {"f16 k8", f16_8, F16, 8, F32},
    {"bf16 k16", bf16_16, BF16, 16, F32},      {"bf16 k8", bf16_8, BF16, 8, F32},
    {"tf32 k8", tf32_8, TF32, 8, F32},         {"tf32 k4", tf32_4, TF32, 4, F32},
    {"f16 k16 to f16", half_16, F16, 16, F16},
};

// Where PTX puts elements of a (16 x k), of b (k x 8) and of c (16 x 8).
static void put_factors(const Row &row, int middle_a, int middle_b, int spread)
{
    const int per = row.type == TF32 ? 1 : 2;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < row.k; k++)
            warp->a[k / (4 * per) * 2 + i / 8][i % 8 * 4 + k % (4 * per) / per] |=
                any(row.type, middle_a, spread) << k % per * 16;
    for (int k = 0; k < row.k; k++)
        for (int j = 0; j < N; j++)
            warp->b[k / (4 * per)][j * 4 + k % (4 * per) / per] |= any(row.type, middle_b, spread)
                                                                   << k % per * 16;
}

static void run(Kernel *kernel)
{
    kernel<<<1, LANES>>>(warp);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

static void ask(const Row &row, const char *what, int middle_a, int middle_b, int spread)
{
    uint64_t all = 14695981039346656037u;
    for (int r = 0; r < RUNS; r++) {
        memset(warp, 0, sizeof *warp);
        put_factors(row, middle_a, middle_b, spread);
        for (int i = 0; i < 4 * LANES; i++)
            warp->c[i / LANES][i % LANES] = any(row.sum, middle_a + middle_b, 2 * spread);
        run(row.kernel);
        all = hash(all, warp->sums, sizeof warp->sums);
    }
    printf("%s, %s: %016llx\n", row.name, what, (unsigned long long)all);
}

// The first product is `first`, another is `other`, and the rest are 0.
static void ask_one(const Row &row, double first, double other, double added)
{
    const int per = row.type == TF32 ? 1 : 2;
    memset(warp, 0, sizeof *warp);
    for (int l = 0; l < LANES; l++) {
        warp->b[0][l] = bits_of(row.type, 1.0f) * (per == 2 ? 0x10001u : 1u);
        for (int r = 0; r < 4; r++) warp->c[r][l] = bits_of(row.sum, (float)added);
    }
    for (int l = 0; l < LANES; l += 4) {
        const uint32_t low = bits_of(row.type, (float)first),
                       next = bits_of(row.type, (float)other);
        warp->a[0][l] = warp->a[1][l] = per == 2 ? low | next << 16 : low;
        if (per == 1) warp->a[0][l + 1] = warp->a[1][l + 1] = next;
    }
    run(row.kernel);
    printf("%s, %a + %a + %a: %08x\n", row.name, first, other, added, warp->sums[0][0]);
}

int main()
{
    CHECK(cudaMallocManaged(&warp, sizeof *warp));
    for (const Row &row : rows) {
        const int low = row.type == F16 ? -15 : -127, high = row.type == F16 ? 6 : 120;
        seed = 1;
        for (int spread = 0; spread < 8; spread++) {
            char what[40];
            snprintf(what, sizeof what, "exponents -%d to %d", spread, spread);
            ask(row, what, 0, 0, spread);
        }
        ask(row, "a subnormal", low, high, 5);
        ask(row, "both small", row.type == F16 ? -12 : -70, row.type == F16 ? -12 : -70, 6);
        ask(row, "large", row.type == F16 ? 7 : 60, row.type == F16 ? 7 : 60,
            row.type == F16 ? 2 : 4);
        for (int e = 20; e <= 28; e++) ask_one(row, 1, std::ldexp(1.0, -e), 0);
        for (int e = 20; e <= 28; e++) ask_one(row, -1, std::ldexp(1.0, -e), 0);
        ask_one(row, 0x1p-11, 0x1p-24, 1); // past the middle between two numbers of f16
        ask_one(row, 0x1p-11, 0, 1);
        ask_one(row, 0x1p-11, -0x1p-24, 1);
        ask_one(row, 0x1p-14, 0x1p-24, 0x1p-20);
    }
    CHECK(cudaFree(warp));
    return 0;
}
