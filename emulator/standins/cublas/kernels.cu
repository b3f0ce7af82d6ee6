// The kernels behind the stand-in for cuBLAS: each routine for each type that it has. They are
// written to be read, and for the software device: lanes of a warp go along a column, so that what
// they load and store is a row of memory.
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

// A factor of type F, as one of type T.
template <class T, class F> __device__ T factor(const blas_scalar &scalar)
{
    if (scalar.device == nullptr) return Number<T>::make(scalar.re, scalar.im);
    return (T) * (const F *)scalar.device;
}

// ---- places -------------------------------------------------------------------------------------

template <class T> __device__ T *matrix(const blas_matrix &m, int64_t k)
{
    return m.apart ? ((T *const *)m.first)[k] : (T *)m.first + k * m.next;
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

// ---- level 3: products --------------------------------------------------------------------------

// What is there is not read where beta is 0: it may be anything, and need not have been written.
template <class S, class C> __device__ void update(C *to, S alpha, S sum, S beta)
{
    const S product = alpha * sum;
    *to = is_zero(beta) ? (C)product : (C)(product + beta * (S)*to);
}

enum { COLUMNS = 4 }; // of C, that a thread has of one row

// Elements of A and B have type E, those of C type C; sums have type S, alpha and beta type F.
template <class E, class C, class S, class F> __device__ void gemm(const blas_gemm &p)
{
    const int64_t i = thread_x(), first = thread_y() * COLUMNS;
    const S alpha = factor<S, F>(p.alpha), beta = factor<S, F>(p.beta);
    if (i >= p.m || first >= p.n) return;
    C *c = matrix<C>(p.c, blockIdx.z) + i * p.c.row;
    S sum[COLUMNS] = {};
    if (!is_zero(alpha) && p.k > 0) {
        const E *a = matrix<E>(p.a, blockIdx.z) + i * p.a.row;
        const E *b = matrix<E>(p.b, blockIdx.z), *of[COLUMNS];
        for (int q = 0; q < COLUMNS; q++) // past the last column it is the last once more
            of[q] = b + (first + q < p.n ? first + q : p.n - 1) * p.b.column;
        for (int64_t k = 0; k < p.k; k++) {
            const S x = Number<S>::conjugate((S)a[k * p.a.column], p.a.conjugate);
            for (int q = 0; q < COLUMNS; q++)
                add_product(sum[q], x, Number<S>::conjugate((S)of[q][k * p.b.row], p.b.conjugate));
        }
    }
    for (int q = 0; q < COLUMNS && first + q < p.n; q++)
        update(&c[(first + q) * p.c.column], alpha, sum[q], beta);
}

#define GEMM(name, E, C, S, F)                                                                     \
    extern "C" __global__ void cublas_gemm_##name(const blas_gemm p)                               \
    {                                                                                              \
        gemm<E, C, S, F>(p);                                                                       \
    }
GEMM(f32, float, float, float, float)
GEMM(f64, double, double, double, double)
GEMM(c32, Complex<float>, Complex<float>, Complex<float>, Complex<float>)
GEMM(c64, Complex<double>, Complex<double>, Complex<double>, Complex<double>)
GEMM(f16_by_f16, __half, __half, float, __half)
GEMM(f16, __half, __half, float, float)
GEMM(f16_f32, __half, float, float, float)
GEMM(bf16, __nv_bfloat16, __nv_bfloat16, float, float)
GEMM(bf16_f32, __nv_bfloat16, float, float, float)
GEMM(s8_s32, int8_t, int32_t, int32_t, int32_t)
GEMM(s8_f32, int8_t, float, float, float)
