// The kernels behind the stand-in for cuBLASLt: products with an epilogue, and the sums of rows
// that gradients of biases are. Lanes of a warp go along a column, so that what they load and store
// is a row of memory.
#include "emulator/standins/cublas/numbers.cuh"
#include "emulator/standins/cublasLt/parameters.h"

// ---- numbers ------------------------------------------------------------------------------------

// A value as an element of D. Bytes are rounded to the nearest even, and kept within their range.
template <class C, class V> __device__ C stored(V value)
{
    if constexpr (sizeof(C) == 1) {
        const float rounded = rintf(value);
        return (C)(rounded < -128 ? -128 : rounded > 127 ? 127 : rounded);
    } else {
        return (C)value;
    }
}

// As NVIDIA's library has it: by tanh, which is an approximation of GELU.
template <class V> __device__ V inside_gelu(V x)
{
    return (V)0.7978845608028654 * (x + (V)0.044715 * x * x * x);
}
template <class V> __device__ V gelu(V x)
{
    return (V)0.5 * x * (1 + tanh(inside_gelu(x)));
}
template <class V> __device__ V gelu_gradient(V x)
{
    const V t = tanh(inside_gelu(x));
    const V inside = (V)0.7978845608028654 * (1 + 3 * (V)0.044715 * x * x);
    return (V)0.5 * (1 + t) + (V)0.5 * x * (1 - t * t) * inside;
}

// ---- epilogues ----------------------------------------------------------------------------------

// What becomes of element (i, j), by all lanes of a warp, of which those that are not `inside` have
// no element. Elements of D, and of what goes into GELU, have type C, those of a bias type B.
template <class C, class B, class V>
__device__ V finished(const lt_matmul &m, int64_t i, int64_t j, bool inside, V value)
{
    enum { BITS = 32 };
    const int64_t at = blockIdx.z * m.auxiliary_next + j * m.auxiliary_column + i;
    if ((m.epilogue & LT_BIAS) && inside)
        value = value + (V)((const B *)m.bias)[blockIdx.z * m.bias_next + i];
    if (m.epilogue & LT_RELU) {
        const unsigned kept = __ballot_sync(~0u, inside && !(value < 0)); // 0 and NaN are
        if ((m.epilogue & LT_AUXILIARY) && threadIdx.x == 0)
            ((unsigned *)m.auxiliary)[at / BITS] = kept;
        value = value < 0 ? 0 : value;
    } else if (m.epilogue & LT_RELU_GRADIENT) {
        const unsigned word = ((const unsigned *)m.auxiliary)[at / BITS];
        value = word >> at % BITS & 1 ? value : 0;
    } else if (m.epilogue & LT_GELU) {
        if ((m.epilogue & LT_AUXILIARY) && inside) ((C *)m.auxiliary)[at] = stored<C>(value);
        value = gelu(value);
    } else if ((m.epilogue & LT_GELU_GRADIENT) && inside) {
        value = value * gelu_gradient((V)((const C *)m.auxiliary)[at]);
    }
    return value;
}

// ---- products -----------------------------------------------------------------------------------

// Elements of A and B have type E, those of C and D type C, of a bias type B; void: there are no
// epilogues. Sums have type S, what is made of them type V, alpha and beta type F.
template <class E, class C, class S, class V, class F, class B, bool APART>
__device__ void matmul(const lt_matmul &m)
{
    const blas_gemm &p = m.product;
    const int64_t i = thread_x(), first = thread_y() * BLAS_COLUMNS;
    const bool inside = i < p.m;
    if (first >= p.n) return; // a whole warp: it has one row of threads
    S sum[BLAS_COLUMNS] = {};
    V alpha = {}, beta = {};
    if (inside) {
        alpha = factor<V, F>(p.alpha, m.alpha_of_row ? i + blockIdx.z * m.alpha_next : 0);
        beta = factor<V, F>(p.beta, m.beta_of_row ? i : 0);
        if (!is_zero(alpha) && p.k > 0) add_row<E, S, APART>(p, i, first, sum);
    }
    for (int q = 0; q < BLAS_COLUMNS && first + q < p.n; q++) {
        const int64_t j = first + q;
        V value = alpha * (V)sum[q];
        if (inside && !is_zero(beta))
            value =
                value + beta * (V)matrix<C, APART>(p.c, blockIdx.z)[i * p.c.row + j * p.c.column];
        if constexpr (!std::is_void_v<B>) value = finished<C, B>(m, i, j, inside, value);
        if (inside)
            matrix<C, APART>(m.d, blockIdx.z)[i * m.d.row + j * m.d.column] = stored<C>(value);
    }
}

// The sum of row i of a matrix whose elements have type E, as one of type B, by way of type V.
template <class E, class V, class B, bool APART> __device__ void add_up(const lt_sums &p)
{
    const int64_t i = thread_x();
    if (i >= p.rows) return;
    const E *row = matrix<E, APART>(p.matrix, blockIdx.z) + i * p.matrix.row;
    V sum = 0;
    for (int64_t j = 0; j < p.columns; j++) sum += (V)row[j * p.matrix.column];
    ((B *)p.sums)[blockIdx.z * p.sums_next + i] = (B)sum;
}

// ---- the kernels --------------------------------------------------------------------------------

#define KERNEL(name, structure, ...)                                                               \
    extern "C" __global__ void cublasLt_##name(const structure p)                                  \
    {                                                                                              \
        __VA_ARGS__(p);                                                                            \
    }
#define MATMUL(name, E, C, S, V, F, B)                                                             \
    KERNEL(matmul_##name, lt_matmul, matmul<E, C, S, V, F, B, false>)                              \
    KERNEL(matmul_apart_##name, lt_matmul, matmul<E, C, S, V, F, B, true>)
#define WITH_EPILOGUES(name, E, C, S, V, F, B)                                                     \
    MATMUL(name, E, C, S, V, F, B)                                                                 \
    KERNEL(sums_of_operand_##name, lt_sums, add_up<E, V, B, false>)                                \
    KERNEL(sums_of_operand_apart_##name, lt_sums, add_up<E, V, B, true>)                           \
    KERNEL(sums_of_result_##name, lt_sums, add_up<C, V, B, false>)                                 \
    KERNEL(sums_of_result_apart_##name, lt_sums, add_up<C, V, B, true>)
WITH_EPILOGUES(f32, float, float, float, float, float, float)
WITH_EPILOGUES(f64, double, double, double, double, double, double)
WITH_EPILOGUES(f16, __half, __half, float, float, float, __half)
WITH_EPILOGUES(f16_f32, __half, float, float, float, float, float)
WITH_EPILOGUES(f16_by_f16, __half, __half, float, float, __half, __half)
WITH_EPILOGUES(bf16, __nv_bfloat16, __nv_bfloat16, float, float, float, __nv_bfloat16)
WITH_EPILOGUES(bf16_f32, __nv_bfloat16, float, float, float, float, float)
WITH_EPILOGUES(s8, int8_t, int8_t, int32_t, float, float, float)
MATMUL(s8_s32, int8_t, int32_t, int32_t, int32_t, int32_t, void)
#define COMPLEX(name, R)                                                                           \
    MATMUL(name, Complex<R>, Complex<R>, Complex<R>, Complex<R>, Complex<R>, void)
COMPLEX(c32, float)
COMPLEX(c64, double)
