// The kernels behind the stand-in for cuSPARSE: each routine for each type. They are written to be
// read: most give a thread a row, or a whole problem where one step needs the one before.
#include "emulator/standins/cusparse/conversions.cuh"
#include "emulator/standins/cusparse/products.cuh"
#include "emulator/standins/cusparse/solutions.cuh"
#include "emulator/standins/cusparse/squares.cuh"

#define KERNELS(name, parameters) KERNELS_OF(cusparse, name, parameters)

// Elements of A and B have type E, those of C type C; sums have type S.
#define PRODUCT(routine, suffix, E, C, S)                                                          \
    extern "C" __global__ void cusparse_##routine##_##suffix(const sparse_product p)               \
    {                                                                                              \
        routine<E, C, S>(p);                                                                       \
    }
#define PRODUCTS(routine)                                                                          \
    PRODUCT(routine, f32, float, float, float)                                                     \
    PRODUCT(routine, f64, double, double, double)                                                  \
    PRODUCT(routine, c32, Complex<float>, Complex<float>, Complex<float>)                          \
    PRODUCT(routine, c64, Complex<double>, Complex<double>, Complex<double>)                       \
    PRODUCT(routine, f16_f32, __half, float, float)                                                \
    PRODUCT(routine, bf16_f32, __nv_bfloat16, float, float)
PRODUCTS(product)
PRODUCTS(scatter_product)
PRODUCT(product, f16, __half, __half, float)
PRODUCT(product, bf16, __nv_bfloat16, __nv_bfloat16, float)

KERNELS(scale, sparse_scaling)
KERNELS(sample, sparse_sampling)
KERNELS(axpy, sparse_vectors)
KERNELS(rotate, sparse_vectors)
KERNELS(dot, sparse_vectors)
KERNELS(solve, sparse_solution)
KERNELS(eliminate, sparse_bands)
KERNELS(substitute, sparse_bands)
KERNELS(factor_lu, sparse_factoring)
KERNELS(factor_cholesky, sparse_factoring)
KERNELS(square, sparse_square)
KERNELS(sum, sparse_sum)
KERNELS(count_selected, sparse_selection)
KERNELS(select, sparse_selection)

// What looks at values and has none to compute.
#define LOOKS(name)                                                                                \
    KERNELS(name, sparse_conversion)                                                               \
    KERNEL_OF(cusparse, name, f16, sparse_conversion, __half)                                      \
    KERNEL_OF(cusparse, name, bf16, sparse_conversion, __nv_bfloat16)
LOOKS(count_entries)
LOOKS(to_sparse)

// What only copies values, by their size in bytes.
#define COPIES(name, parameters)                                                                   \
    KERNEL_OF(cusparse, name, 2, parameters, int16_t)                                              \
    KERNEL_OF(cusparse, name, 4, parameters, int32_t)                                              \
    KERNEL_OF(cusparse, name, 8, parameters, int64_t)                                              \
    KERNEL_OF(cusparse, name, 16, parameters, Bytes16)
COPIES(clear, sparse_scaling)
COPIES(to_dense, sparse_conversion)
COPIES(gather, sparse_vectors)
COPIES(scatter, sparse_vectors)
COPIES(turn, sparse_turning)

// What has no values.
#define INDICES(name, parameters)                                                                  \
    extern "C" __global__ void cusparse_##name##_indices(const parameters p)                       \
    {                                                                                              \
        name(p);                                                                                   \
    }
INDICES(scan, sparse_scan)
INDICES(add_up, sparse_adding)
INDICES(write_starts, sparse_starts)
INDICES(starts_of_rows, sparse_rows)
INDICES(rows_of_starts, sparse_rows)
INDICES(sort_all, sparse_sorting)
INDICES(sort_lines, sparse_sorting)
INDICES(identity, sparse_sorting)
INDICES(count_products, sparse_square)
INDICES(find_columns, sparse_square)
INDICES(write_columns, sparse_square)
INDICES(count_sums, sparse_sum)
INDICES(find_diagonals, sparse_factoring)
