// Products of floats of 8 bits, e4m3 and e5m2, by mma.sync, asked of a GPU. An H200 makes them of
// two products of halves, to whose sum c is added. Each line is a case and a hash of its sums.
// tensor_bytes.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o tensor_bytes tests/gpu/tensor_bytes.cu
//     ./tensor_bytes > tests/gpu/tensor_bytes.txt
#include "warp.cuh"

#define FORMS(a, b)                                                                                \
    FORM(f16_##a##_##b, "mma.sync.aligned.m16n8k16.row.col.f32." #a "." #b ".f32 " D4 A2 B1 C4)    \
    FORM(h16_##a##_##b, "mma.sync.aligned.m16n8k16.row.col.f16." #a "." #b ".f16 " D2 A2 B1 C2)    \
    FORM(f32_##a##_##b, "mma.sync.aligned.m16n8k32.row.col.f32." #a "." #b ".f32 " D4 A4 B2 C4)    \
    FORM(h32_##a##_##b, "mma.sync.aligned.m16n8k32.row.col.f16." #a "." #b ".f16 " D2 A4 B2 C2)
FORMS(e4m3, e4m3)
FORMS(e4m3, e5m2)
FORMS(e5m2, e4m3)
FORMS(e5m2, e5m2)

#define ROWS(a, b, A, B)                                                                           \
    {"m16n8k16 " #a " " #b " f32", f16_##a##_##b, A, B, F32},                                      \
        {"m16n8k16 " #a " " #b " f16", h16_##a##_##b, A, B, F16},                                  \
        {"m16n8k32 " #a " " #b " f32", f32_##a##_##b, A, B, F32},                                  \
    {                                                                                              \
        "m16n8k32 " #a " " #b " f16", h32_##a##_##b, A, B, F16                                     \
    }
static const Product products[] = {ROWS(e4m3, e4m3, E4M3, E4M3), ROWS(e4m3, e5m2, E4M3, E5M2),
                                   ROWS(e5m2, e4m3, E5M2, E4M3), ROWS(e5m2, e5m2, E5M2, E5M2)};

int main()
{
    static const Case cases[] = {
        {"near", {0, 0, 0, 0}, false},        {"far", {0, 0, 0, 3}, false},
        {"further", {0, 0, 0, 6}, false},     {"a subnormal", {-7, 3, -9, 3}, false},
        {"small", {-10, -10, -18, 5}, false}, {"large", {7, 7, 14, 2}, false},
        {"infinities", {0, 0, 0, 1}, true},
    };
    ask_for_all(products, cases);
    return 0;
}
