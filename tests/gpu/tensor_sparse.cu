// Products with a sparse first factor, asked of a GPU: mma.sp of every shape and type, each lane
// that may hold the positions, and sums of far and near exponents. Each line is a case and a hash
// of its sums. tensor_sparse.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o tensor_sparse tests/gpu/tensor_sparse.cu
//     ./tensor_sparse > tests/gpu/tensor_sparse.txt
#include "warp.cuh"

#define ORDERED "mma.sp::ordered_metadata.sync.aligned."
// X(name, shape, types of d, a, b and c, registers, types of a, b and c, lanes that have positions)
#define ONE(X, name, text, registers, a, b, c) X(name, text, registers, a, b, c, "0")
#define TWO(X, name, text, registers, a, b, c)                                                     \
    X(name##_0, text, registers, a, b, c, "0") X(name##_1, text, registers, a, b, c, "1")
#define FOUR(X, name, text, registers, a, b, c)                                                    \
    TWO(X, name, text, registers, a, b, c)                                                         \
    X(name##_2, text, registers, a, b, c, "2") X(name##_3, text, registers, a, b, c, "3")
#define PRODUCTS(X)                                                                                \
    FOUR(X, f16_16, "m16n8k16.row.col.f32.f16.f16.f32", D4 A2 B2 C4E, F16, F16, F32)               \
    FOUR(X, h16_16, "m16n8k16.row.col.f16.f16.f16.f16", D2 A2 B2 C2E, F16, F16, F16)               \
    TWO(X, f16_32, "m16n8k32.row.col.f32.f16.f16.f32", D4 A4 B4 C4E, F16, F16, F32)                \
    TWO(X, h16_32, "m16n8k32.row.col.f16.f16.f16.f16", D2 A4 B4 C2E, F16, F16, F16)                \
    FOUR(X, bf16_16, "m16n8k16.row.col.f32.bf16.bf16.f32", D4 A2 B2 C4E, BF16, BF16, F32)          \
    TWO(X, bf16_32, "m16n8k32.row.col.f32.bf16.bf16.f32", D4 A4 B4 C4E, BF16, BF16, F32)           \
    FOUR(X, tf32_8, "m16n8k8.row.col.f32.tf32.tf32.f32", D4 A2 B2 C4E, TF32, TF32, F32)            \
    TWO(X, tf32_16, "m16n8k16.row.col.f32.tf32.tf32.f32", D4 A4 B4 C4E, TF32, TF32, F32)           \
    TWO(X, s8_32, "m16n8k32.row.col.s32.s8.u8.s32", D4 A2 B2 C4E, BITS, BITS, BITS)                \
    TWO(X, u8_32, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", D4 A2 B2 C4E, BITS, BITS, BITS)      \
    ONE(X, s8_64, "m16n8k64.row.col.satfinite.s32.s8.s8.s32", D4 A4 B4 C4E, BITS, BITS, BITS)      \
    ONE(X, u8_64, "m16n8k64.row.col.s32.u8.u8.s32", D4 A4 B4 C4E, BITS, BITS, BITS)                \
    TWO(X, s4_64, "m16n8k64.row.col.s32.s4.u4.s32", D4 A2 B2 C4E, BITS, BITS, BITS)                \
    TWO(X, u4_64, "m16n8k64.row.col.satfinite.s32.u4.s4.s32", D4 A2 B2 C4E, BITS, BITS, BITS)      \
    ONE(X, s4_128, "m16n8k128.row.col.satfinite.s32.s4.s4.s32", D4 A4 B4 C4E, BITS, BITS, BITS)    \
    ONE(X, u4_128, "m16n8k128.row.col.s32.u4.u4.s32", D4 A4 B4 C4E, BITS, BITS, BITS)              \
    ONE(X, e4_e4, "m16n8k64.row.col.f32.e4m3.e4m3.f32", D4 A4 B4 C4E, E4M3, E4M3, F32)             \
    ONE(X, e4_e5, "m16n8k64.row.col.f32.e4m3.e5m2.f32", D4 A4 B4 C4E, E4M3, E5M2, F32)             \
    ONE(X, e5_e4, "m16n8k64.row.col.f32.e5m2.e4m3.f32", D4 A4 B4 C4E, E5M2, E4M3, F32)             \
    ONE(X, e5_e5, "m16n8k64.row.col.f32.e5m2.e5m2.f32", D4 A4 B4 C4E, E5M2, E5M2, F32)
#define DEFINE(name, text, registers, a, b, c, selector)                                           \
    FORM(ordered_##name, ORDERED text " " registers(selector))                                     \
    FORM(sparse_##name, "mma.sp.sync.aligned." text " " registers(selector))
PRODUCTS(DEFINE)

static const struct {
    const char *name;
    Kernel *ordered, *sparse;
    Type a, b, c;
} rows[] = {
#define ROW(name, text, registers, a, b, c, selector)                                              \
    {text ", " selector, ordered_##name, sparse_##name, a, b, c},
    PRODUCTS(ROW)};

// Positions: of two elements in four, or, of tf32, of one in two.
static void place(Warp *warp, Type a, bool ordered)
{
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, ones[] = {0x4, 0xe};
    static const uint32_t turned[] = {0x1, 0x2, 0x3, 0x6, 0x7, 0xb};
    for (int l = 0; l < LANES; l++) {
        warp->e[l] = 0;
        for (int at = 0; at < 32; at += 4) {
            const uint32_t word = (uint32_t)draw();
            const uint32_t nibble = a == TF32                 ? ones[word % 2]
                                    : ordered || word / 6 % 2 ? pairs[word % 6]
                                                              : turned[word % 6];
            warp->e[l] |= nibble << at;
        }
    }
}

static void ask(const char *what, Warp *warp, size_t k, bool ordered, Range range, bool spoilt)
{
    const auto &row = rows[k];
    uint64_t all = 14695981039346656037u;
    for (int r = 0; r < RUNS; r++) {
        fill(warp, row.a, row.b, row.c, range);
        place(warp, row.a, ordered);
        if (spoilt) spoil(warp, row.a, row.b, row.c);
        run(ordered ? row.ordered : row.sparse, warp);
        all = hash(all, warp->d, sizeof warp->d);
    }
    printf("%s, %s: %016llx\n", row.name, what, (unsigned long long)all);
}

int main()
{
    Warp *warp;
    CHECK(cudaMallocManaged(&warp, sizeof *warp));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const Type a = rows[k].a;
        seed = 1;
        ask("near", warp, k, true, {0, 0, 0, 0}, false);
        ask("any order", warp, k, false, {0, 0, 0, 0}, false);
        if (a == BITS) continue;
        ask("far", warp, k, true, {0, 0, 0, 3}, false);
        ask("further", warp, k, true, {0, 0, 0, 6}, false);
        if (a == F16) ask("a subnormal", warp, k, true, {-15, 6, -9, 5}, false);
        if (a == F16) ask("large", warp, k, true, {7, 7, 14, 2}, false);
        ask("infinities", warp, k, true, {0, 0, 0, 1}, true);
    }
    CHECK(cudaFree(warp));
    return 0;
}
