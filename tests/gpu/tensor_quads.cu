// Products of matrices of 8 x 4 by 4 x 8 halves, four at once, asked of a GPU (mma.sync.m8n8k4).
// From sm_80 on they are made of ordinary arithmetic. Each line is a case and a hash of its sums.
// tensor_quads.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o tensor_quads tests/gpu/tensor_quads.cu
//     ./tensor_quads > tests/gpu/tensor_quads.txt
#include "warp.cuh"

#define LAYOUTS(a, b)                                                                              \
    FORM(f32_##a##_##b, "mma.sync.aligned.m8n8k4." #a "." #b ".f32.f16.f16.f32 " D8 A2 B2 C8)      \
    FORM(f16_##a##_##b, "mma.sync.aligned.m8n8k4." #a "." #b ".f16.f16.f16.f16 " D4 A2 B2 C4)      \
    FORM(mix_##a##_##b, "mma.sync.aligned.m8n8k4." #a "." #b ".f32.f16.f16.f16 " D8 A2 B2 C4)
LAYOUTS(row, row)
LAYOUTS(row, col)
LAYOUTS(col, row)
LAYOUTS(col, col)

#define ROWS(a, b)                                                                                 \
    {#a "." #b " f32", f32_##a##_##b, F16, F16, F32},                                              \
        {#a "." #b " f16", f16_##a##_##b, F16, F16, F16},                                          \
    {                                                                                              \
#a "." #b " f16 to f32", mix_##a##_##b, F16, F16, F16                                      \
    }
static const Product products[] = {ROWS(row, row), ROWS(row, col), ROWS(col, row), ROWS(col, col)};

int main()
{
    static const Case cases[] = {
        {"near", {0, 0, 0, 0}, false},        {"far", {0, 0, 0, 3}, false},
        {"further", {0, 0, 0, 7}, false},     {"a subnormal", {-15, 6, -9, 4}, false},
        {"small", {-12, -12, -18, 4}, false}, {"large", {8, 8, 14, 2}, false},
        {"infinities", {0, 0, 0, 1}, true},
    };
    ask_for_all(products, cases);
    return 0;
}
