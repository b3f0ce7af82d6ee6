// numbers: what kernels of cuBLAS, cuBLASLt and cuSOLVER share: real and complex numbers, factors,
// places in matrices, the products of a row and some columns, which every product of matrices is
// made of, and a routine as a kernel for each type.
#pragma once
#include "emulator/standins/cublas/parameters.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ---- numbers ------------------------------------------------------------------------------------

template <class R> struct Complex {
    R re, im;
};

template <class R> __device__ Complex<R> operator+(Complex<R> a, Complex<R> b)
{
    return {a.re + b.re, a.im + b.im};
}
template <class R> __device__ Complex<R> operator-(Complex<R> a, Complex<R> b)
{
    return {a.re - b.re, a.im - b.im};
}
template <class R> __device__ Complex<R> operator*(Complex<R> a, Complex<R> b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> __device__ Complex<R> operator/(Complex<R> a, Complex<R> b)
{
    const R size = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

// What differs between real and complex numbers.
template <class T> struct Number {
    typedef T Real;
    static __device__ T make(double re, double)
    {
        return (T)re;
    }
    static __device__ T conjugate(T x, bool)
    {
        return x;
    }
    static __device__ T of_real(T re)
    {
        return re;
    }
    static __device__ T real(T x)
    {
        return x;
    }
    static __device__ T size(T x) // |re| + |im|, as amax and asum have it
    {
        return x < 0 ? -x : x;
    }
    static __device__ double square(T x, double unit)
    {
        return (x / unit) * (x / unit);
    }
};
template <class R> struct Number<Complex<R>> {
    typedef R Real;
    static __device__ Complex<R> make(double re, double im)
    {
        return {(R)re, (R)im};
    }
    static __device__ Complex<R> conjugate(Complex<R> x, bool wanted)
    {
        return {x.re, wanted ? -x.im : x.im};
    }
    static __device__ Complex<R> of_real(R re)
    {
        return {re, 0};
    }
    static __device__ R real(Complex<R> x)
    {
        return x.re;
    }
    static __device__ R size(Complex<R> x)
    {
        return (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im);
    }
    static __device__ double square(Complex<R> x, double unit)
    {
        return (x.re / unit) * (x.re / unit) + (x.im / unit) * (x.im / unit);
    }
};

template <class T> __device__ bool is_zero(T x)
{
    return Number<T>::size(x) == 0;
}

// A sum grows by a product, rounded once where there is an instruction for it.
template <class T> __device__ void add_product(T &sum, T a, T b)
{
    sum = sum + a * b;
}
__device__ void add_product(float &sum, float a, float b)
{
    sum = fmaf(a, b, sum);
}
__device__ void add_product(double &sum, double a, double b)
{
    sum = fma(a, b, sum);
}

// What is there is not read where beta is 0: it may be anything, and need not have been written.
template <class S, class C> __device__ void update(C *to, S alpha, S sum, S beta)
{
    const S product = alpha * sum;
    *to = is_zero(beta) ? (C)product : (C)(product + beta * (S)*to);
}

// A factor of type F, as one of type T; of a vector of factors the one at `at`.
template <class T, class F> __device__ T factor(const blas_scalar &scalar, int64_t at = 0)
{
    if (scalar.device == nullptr) return Number<T>::make(scalar.re, scalar.im);
    return (T)((const F *)scalar.device)[at];
}

// ---- places -------------------------------------------------------------------------------------

// Matrix `k` of a batch. APART: `first` is an array of pointers.
template <class T, bool APART> __device__ T *matrix(const blas_matrix &m, int64_t k)
{
    return APART ? ((T *const *)m.first)[k] : (T *)m.first + k * m.next;
}
template <class T> __device__ T element(const blas_matrix &m, int64_t i, int64_t j)
{
    return Number<T>::conjugate(((const T *)m.first)[i * m.row + j * m.column], m.conjugate);
}
template <class T> __device__ T &element_of(const blas_vector &v, int64_t i)
{
    return ((T *)v.first)[i * v.step];
}
__device__ int64_t thread_x()
{
    return threadIdx.x + (int64_t)blockIdx.x * blockDim.x;
}
__device__ int64_t thread_y()
{
    return threadIdx.y + (int64_t)blockIdx.y * blockDim.y;
}

// ---- products ----------------------------------------------------------------------------------

// Adds the products of a row of op(A) and BLAS_COLUMNS columns of op(B), `of` by their first
// elements, to `sum`. BY_COLUMNS: neighbouring rows of op(A) are neighbours in memory, which the
// compiler knows so.
template <class E, class S, bool BY_COLUMNS>
__device__ void add_products(const blas_gemm &p, const E *a, int64_t i, const E *const *of, S *sum)
{
    const E *x = BY_COLUMNS ? a + i : a + i * p.a.row;
    const E *y[BLAS_COLUMNS];
    for (int q = 0; q < BLAS_COLUMNS; q++) y[q] = of[q];
#pragma unroll 1
    for (int64_t k = 0; k < p.k; k++) {
        const S left = Number<S>::conjugate((S)*x, p.a.conjugate);
        x += p.a.column;
        for (int q = 0; q < BLAS_COLUMNS; q++) {
            add_product(sum[q], left, Number<S>::conjugate((S)*y[q], p.b.conjugate));
            y[q] += p.b.row;
        }
    }
}

// Of matrices `blockIdx.z` of a batch, whose elements have type E: the products of row i of op(A)
// and the columns of op(B) from `first` on.
template <class E, class S, bool APART>
__device__ void add_row(const blas_gemm &p, int64_t i, int64_t first, S *sum)
{
    const E *a = matrix<E, APART>(p.a, blockIdx.z), *b = matrix<E, APART>(p.b, blockIdx.z);
    const E *of[BLAS_COLUMNS];
    for (int q = 0; q < BLAS_COLUMNS; q++) // past the last column it is the last once more
        of[q] = b + (first + q < p.n ? first + q : p.n - 1) * p.b.column;
    if (p.a.row == 1)
        add_products<E, S, true>(p, a, i, of, sum);
    else
        add_products<E, S, false>(p, a, i, of, sum);
}

// ---- kernels ------------------------------------------------------------------------------------

// LIBRARY_NAME_f32 and so on: the routine `name`, a template, of each type.
#define KERNEL_OF(library, name, suffix, parameters, T)                                            \
    extern "C" __global__ void library##_##name##_##suffix(const parameters p)                     \
    {                                                                                              \
        name<T>(p);                                                                                \
    }
#define KERNELS_OF(library, name, parameters)                                                      \
    KERNEL_OF(library, name, f32, parameters, float)                                               \
    KERNEL_OF(library, name, f64, parameters, double)                                              \
    KERNEL_OF(library, name, c32, parameters, Complex<float>)                                      \
    KERNEL_OF(library, name, c64, parameters, Complex<double>)
