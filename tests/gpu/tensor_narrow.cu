// Products of 4-bit integers and of single bits, asked of a GPU: mma.sync of every shape, and wmma,
// whose lines of a matrix are loaded and stored. Each line is a case and a hash of its sums.
// tensor_narrow.txt has an H100's.
//
//     nvcc -std=c++17 -arch=sm_90 -o tensor_narrow tests/gpu/tensor_narrow.cu
//     ./tensor_narrow > tests/gpu/tensor_narrow.txt
#include "warp.cuh"

#include <mma.h>

using namespace nvcuda;

#define FOURS(a, b)                                                                                \
    FORM(k32_##a##_##b, "mma.sync.aligned.m8n8k32.row.col.s32." #a "." #b ".s32 " D2 A1 B1 C2)     \
    FORM(l32_##a##_##b, "mma.sync.aligned.m16n8k32.row.col.s32." #a "." #b ".s32 " D4 A2 B1 C4)    \
    FORM(l64_##a##_##b, "mma.sync.aligned.m16n8k64.row.col.s32." #a "." #b ".s32 " D4 A4 B2 C4)    \
    FORM(s32_##a##_##b,                                                                            \
         "mma.sync.aligned.m8n8k32.row.col.satfinite.s32." #a "." #b ".s32 " D2 A1 B1 C2)          \
    FORM(s64_##a##_##b,                                                                            \
         "mma.sync.aligned.m16n8k64.row.col.satfinite.s32." #a "." #b ".s32 " D4 A4 B2 C4)
FOURS(s4, s4)
FOURS(s4, u4)
FOURS(u4, s4)
FOURS(u4, u4)
#define BITS_BY(op)                                                                                \
    FORM(k128_##op, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32." #op ".popc " D2 A1 B1 C2)   \
    FORM(l128_##op, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32." #op ".popc " D4 A2 B1 C4)  \
    FORM(l256_##op, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32." #op ".popc " D4 A4 B2 C4)
BITS_BY(xor)
BITS_BY(and)

#define FOURS_OF(a, b)                                                                             \
    {"m8n8k32 " #a " " #b, k32_##a##_##b}, {"m16n8k32 " #a " " #b, l32_##a##_##b},                 \
        {"m16n8k64 " #a " " #b, l64_##a##_##b},                                                    \
        {"m8n8k32 " #a " " #b " satfinite", s32_##a##_##b},                                        \
    {                                                                                              \
        "m16n8k64 " #a " " #b " satfinite", s64_##a##_##b                                          \
    }
#define BITS_OF(op)                                                                                \
    {"m8n8k128 " #op, k128_##op}, {"m16n8k128 " #op, l128_##op},                                   \
    {                                                                                              \
        "m16n8k256 " #op, l256_##op                                                                \
    }
static const struct {
    const char *name;
    Kernel *kernel;
} rows[] = {FOURS_OF(s4, s4), FOURS_OF(s4, u4), FOURS_OF(u4, s4),
            FOURS_OF(u4, u4), BITS_OF(xor),     BITS_OF(and)};

// wmma: lines of a matrix lie `stride` elements apart, more than it has columns.
struct Matrices {
    uint32_t a[8 * 16], b[8 * 16];
    int c[8 * 16], d[8 * 16];
};

template <typename T, int K>
__global__ void fours(Matrices *m, unsigned stride, unsigned sums, wmma::layout_t layout)
{
    wmma::fragment<wmma::matrix_a, 8, 8, K, T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, K, T, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> c, d;
    wmma::load_matrix_sync(a, m->a, stride);
    wmma::load_matrix_sync(b, m->b, stride);
    wmma::load_matrix_sync(c, m->c, sums, layout);
    wmma::mma_sync(d, a, b, c, layout == wmma::mem_col_major);
    wmma::store_matrix_sync(m->d, d, sums, layout);
}

template <bool AND> __global__ void bits(Matrices *m, unsigned stride, unsigned sums, bool columns)
{
    using namespace wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> c, d;
    const wmma::layout_t layout = columns ? wmma::mem_col_major : wmma::mem_row_major;
    wmma::load_matrix_sync(a, m->a, stride);
    wmma::load_matrix_sync(b, m->b, stride);
    wmma::load_matrix_sync(c, m->c, sums, layout);
    wmma::bmma_sync(d, a, b, c, AND ? bmmaBitOpAND : bmmaBitOpXOR, bmmaAccumulateOpPOPC);
    wmma::store_matrix_sync(m->d, d, sums, layout);
}

template <typename Launch> static void ask(const char *name, Matrices *m, Launch launch)
{
    uint64_t all = 14695981039346656037u;
    seed = 2;
    for (int r = 0; r < RUNS; r++) {
        uint32_t *words = (uint32_t *)m;
        for (size_t i = 0; i < sizeof *m / sizeof *words; i++) words[i] = (uint32_t)draw();
        launch(r % 2);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        all = hash(all, m->d, sizeof m->d);
    }
    printf("%s: %016llx\n", name, (unsigned long long)all);
}

int main()
{
    namespace types = wmma::experimental::precision;
    Warp *warp;
    Matrices *m;
    CHECK(cudaMallocManaged(&warp, sizeof *warp));
    CHECK(cudaMallocManaged(&m, sizeof *m));
    for (const auto &row : rows) {
        uint64_t all = 14695981039346656037u;
        seed = 1;
        for (int r = 0; r < RUNS; r++) {
            fill(warp, BITS, BITS, BITS, Range{});
            for (int l = 0; r % 2 && l < LANES; l++) /* close to the ends */
                for (int i = 0; i < 8; i++) warp->c[i][l] = 0x7fffff80u + (uint32_t)draw() % 256;
            run(row.kernel, warp);
            all = hash(all, warp->d, sizeof warp->d);
        }
        printf("%s: %016llx\n", row.name, (unsigned long long)all);
    }
    for (unsigned stride : {32u, 64u, 128u})
        for (unsigned sums : {8u, 12u}) {
            char name[60];
            const auto layout = [](int columns) {
                return columns ? wmma::mem_col_major : wmma::mem_row_major;
            };
            snprintf(name, sizeof name, "wmma s4, lines of %u and %u", stride, sums);
            ask(name, m,
                [&](int c) { fours<types::s4, 32><<<1, 32>>>(m, stride, sums, layout(c)); });
            snprintf(name, sizeof name, "wmma u4, lines of %u and %u", stride, sums);
            ask(name, m,
                [&](int c) { fours<types::u4, 32><<<1, 32>>>(m, stride, sums, layout(c)); });
            snprintf(name, sizeof name, "wmma xor, lines of %u and %u", 4 * stride, sums);
            ask(name, m, [&](int c) { bits<false><<<1, 32>>>(m, 4 * stride, sums, c); });
            snprintf(name, sizeof name, "wmma and, lines of %u and %u", 4 * stride, sums);
            ask(name, m, [&](int c) { bits<true><<<1, 32>>>(m, 4 * stride, sums, c); });
        }
    CHECK(cudaFree(warp));
    CHECK(cudaFree(m));
    return 0;
}
