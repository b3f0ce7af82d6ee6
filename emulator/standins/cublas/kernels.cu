// The kernels behind the stand-in for cuBLAS: each routine for each type that it has. They are
// written to be read, and for the software device: lanes of a warp go along a column, so that what
// they load and store is a row of memory.
#include "emulator/standins/cublas/factors.cuh"
#include "emulator/standins/cublas/numbers.cuh"
#include "emulator/standins/cusolver/reflections.cuh"

// ---- level 3: products --------------------------------------------------------------------------

// Elements of A and B have type E, those of C type C; sums have type S, alpha and beta type F.
template <class E, class C, class S, class F, bool APART> __device__ void gemm(const blas_gemm &p)
{
    const int64_t i = thread_x(), first = thread_y() * BLAS_COLUMNS;
    const S alpha = factor<S, F>(p.alpha), beta = factor<S, F>(p.beta);
    if (i >= p.m || first >= p.n) return;
    C *c = matrix<C, APART>(p.c, blockIdx.z) + i;
    S sum[BLAS_COLUMNS] = {};
    if (!is_zero(alpha) && p.k > 0) add_row<E, S, APART>(p, i, first, sum);
    for (int q = 0; q < BLAS_COLUMNS && first + q < p.n; q++)
        update(&c[(first + q) * p.c.column], alpha, sum[q], beta);
}

#define GEMM(name, E, C, S, F)                                                                     \
    extern "C" __global__ void cublas_gemm_##name(const blas_gemm p)                               \
    {                                                                                              \
        gemm<E, C, S, F, false>(p);                                                                \
    }                                                                                              \
    extern "C" __global__ void cublas_gemm_apart_##name(const blas_gemm p)                         \
    {                                                                                              \
        gemm<E, C, S, F, true>(p);                                                                 \
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

// The element of a symmetric or hermitian matrix of which one triangle is stored.
template <class T>
__device__ T of_triangle(const blas_matrix &a, int64_t i, int64_t j, bool upper, bool hermitian)
{
    const bool stored = upper ? i <= j : i >= j;
    const T x = stored ? element<T>(a, i, j) : element<T>(a, j, i);
    if (hermitian && i == j) return Number<T>::of_real(Number<T>::real(x));
    return Number<T>::conjugate(x, hermitian && !stored);
}

// C = alpha A B + beta C, or B A, where A is symmetric or hermitian.
template <class T> __device__ void symm(const blas_level3 &p)
{
    const int64_t i = thread_x(), j = thread_y();
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    T sum = {};
    if (i >= p.m || j >= p.n) return;
    for (int64_t k = 0; k < (p.right ? p.n : p.m) && !is_zero(alpha); k++) {
        const T a = p.right ? of_triangle<T>(p.a, k, j, p.upper, p.hermitian)
                            : of_triangle<T>(p.a, i, k, p.upper, p.hermitian);
        add_product(sum, a, p.right ? element<T>(p.b, i, k) : element<T>(p.b, k, j));
    }
    update((T *)p.c.first + i + j * p.c.column, alpha, sum, beta);
}

// One triangle of C = alpha A B' + beta C, and if `both` + alpha B A'; of hermitian C the primes
// conjugate. A and B are n x k; without B it is A.
template <class T> __device__ void rank_k(const blas_level3 &p)
{
    const int64_t i = thread_x(), j = thread_y();
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    T sum = {}, other = {};
    if (i >= p.n || j >= p.n || (p.upper ? i > j : i < j)) return;
    for (int64_t k = 0; k < p.k && !is_zero(alpha); k++) {
        const T b = Number<T>::conjugate(element<T>(p.b, j, k), p.hermitian);
        add_product(sum, element<T>(p.a, i, k), b);
        if (!p.both) continue;
        const T a = Number<T>::conjugate(element<T>(p.a, j, k), p.hermitian);
        add_product(other, element<T>(p.b, i, k), a);
    }
    T *c = (T *)p.c.first + i + j * p.c.column;
    const T added = alpha * sum + Number<T>::conjugate(alpha, p.hermitian) * other;
    T result = is_zero(beta) ? added : added + beta * *c;
    if (p.hermitian && i == j) result = Number<T>::of_real(Number<T>::real(result));
    *c = result;
}

// The element of a triangle; outside of it 0 need not be stored.
template <class T> __device__ T in_triangle(const blas_matrix &a, int64_t i, int64_t j, bool unit)
{
    return unit && i == j ? Number<T>::make(1, 0) : element<T>(a, i, j);
}

// C = alpha A B, or B A, where A is a triangle. C may be B: each thread has a column, or a row, to
// itself, and goes through it so that it reads what it has not yet written.
template <class T> __device__ void trmm(const blas_level3 &p)
{
    const int64_t other = thread_x(), size = p.right ? p.n : p.m;
    const T alpha = factor<T, T>(p.alpha);
    const bool forward = p.right ? !p.upper : p.upper;
    T *c = (T *)p.c.first;
    if (other >= (p.right ? p.m : p.n)) return;
    for (int64_t step = 0; step < size; step++) {
        const int64_t at = forward ? step : size - 1 - step;
        const int64_t begin = forward ? at : 0, end = forward ? size : at + 1;
        T sum = {};
        for (int64_t k = begin; k < end; k++) {
            const T a =
                p.right ? in_triangle<T>(p.a, k, at, p.unit) : in_triangle<T>(p.a, at, k, p.unit);
            add_product(sum, a, p.right ? element<T>(p.b, other, k) : element<T>(p.b, k, other));
        }
        c[p.right ? other + at * p.c.column : at + other * p.c.column] = alpha * sum;
    }
}

// A X = alpha B, or X A = alpha B, where A is a triangle; X takes the place of B.
template <class T> __device__ void trsm(const blas_level3 &p)
{
    const int64_t other = thread_x(), size = p.right ? p.n : p.m;
    const T alpha = factor<T, T>(p.alpha);
    const bool forward = p.right ? p.upper : !p.upper;
    T *x = (T *)p.b.first;
    if (other >= (p.right ? p.m : p.n)) return;
    for (int64_t step = 0; step < size; step++) {
        const int64_t at = forward ? step : size - 1 - step;
        const int64_t begin = forward ? 0 : at + 1, end = forward ? at : size;
        T *to = x + (p.right ? other + at * p.b.column : at + other * p.b.column);
        T sum = {};
        for (int64_t k = begin; k < end; k++) {
            const T a = p.right ? element<T>(p.a, k, at) : element<T>(p.a, at, k);
            add_product(sum, a, x[p.right ? other + k * p.b.column : k + other * p.b.column]);
        }
        const T rest = alpha * *to - sum;
        *to = p.unit ? rest : rest / element<T>(p.a, at, at);
    }
}

// The same for p.k triangles and matrices, each by a pointer.
template <class T> __device__ void trsm_each(const blas_level3 &p)
{
    blas_level3 one = p;
    for (int64_t z = blockIdx.z; z < p.k; z += gridDim.z) {
        one.a.first = ((void *const *)p.a.first)[z];
        one.b.first = ((void *const *)p.b.first)[z];
        trsm<T>(one);
    }
}

// C = alpha op(A) + beta op(B), element by element: what a factor of 0 takes away is not read.
template <class T> __device__ void geam(const blas_level3 &p)
{
    const int64_t i = thread_x(), j = thread_y();
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    if (i >= p.m || j >= p.n) return;
    T sum = {};
    if (!is_zero(alpha)) sum = alpha * element<T>(p.a, i, j);
    if (!is_zero(beta)) sum = sum + beta * element<T>(p.b, i, j);
    ((T *)p.c.first)[i + j * p.c.column] = sum;
}

// C = A diag(B), or diag(B) A.
template <class T> __device__ void dgmm(const blas_level3 &p)
{
    const int64_t i = thread_x(), j = thread_y();
    if (i >= p.m || j >= p.n) return;
    const T x = element<T>(p.b, p.right ? j : i, 0);
    ((T *)p.c.first)[i + j * p.c.column] = element<T>(p.a, i, j) * x;
}

// ---- level 2: a matrix and a vector -------------------------------------------------------------

template <class T> __device__ void gemv(const blas_level2 &p)
{
    const int64_t i = thread_x();
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    T sum = {};
    if (i >= p.m) return;
    for (int64_t k = 0; k < p.n && !is_zero(alpha); k++)
        add_product(sum, element<T>(p.a, i, k), element_of<T>(p.x, k));
    update(&element_of<T>(p.y, i), alpha, sum, beta);
}

template <class T> __device__ void symv(const blas_level2 &p)
{
    const int64_t i = thread_x();
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    T sum = {};
    if (i >= p.n) return;
    for (int64_t k = 0; k < p.n && !is_zero(alpha); k++)
        add_product(sum, of_triangle<T>(p.a, i, k, p.upper, p.hermitian), element_of<T>(p.x, k));
    update(&element_of<T>(p.y, i), alpha, sum, beta);
}

// A += alpha x y'; the prime conjugates if `hermitian`.
template <class T> __device__ void ger(const blas_level2 &p)
{
    const int64_t i = thread_x(), j = thread_y();
    if (i >= p.m || j >= p.n) return;
    T *a = (T *)p.a.first + i + j * p.a.column;
    const T y = Number<T>::conjugate(element_of<T>(p.y, j), p.hermitian);
    *a = *a + factor<T, T>(p.alpha) * element_of<T>(p.x, i) * y;
}

// One triangle of A += alpha x y', and if `both` + alpha y x'.
template <class T> __device__ void rank_one(const blas_level2 &p, bool both)
{
    const int64_t i = thread_x(), j = thread_y();
    const T alpha = factor<T, T>(p.alpha);
    if (i >= p.n || j >= p.n || (p.upper ? i > j : i < j)) return;
    T *a = (T *)p.a.first + i + j * p.a.column;
    const T right = Number<T>::conjugate(element_of<T>(p.y, j), p.hermitian);
    T result = *a + alpha * element_of<T>(p.x, i) * right;
    if (both)
        result = result + Number<T>::conjugate(alpha, p.hermitian) * element_of<T>(p.y, i) *
                              Number<T>::conjugate(element_of<T>(p.x, j), p.hermitian);
    if (p.hermitian && i == j) result = Number<T>::of_real(Number<T>::real(result));
    *a = result;
}
template <class T> __device__ void syr(const blas_level2 &p)
{
    rank_one<T>(p, false);
}
template <class T> __device__ void syr2(const blas_level2 &p)
{
    rank_one<T>(p, true);
}

// x = A x and A x = b, in place, by one thread.
template <class T> __device__ void trmv(const blas_level2 &p)
{
    for (int64_t step = 0; step < p.n; step++) {
        const int64_t i = p.upper ? step : p.n - 1 - step;
        T sum = {};
        for (int64_t k = p.upper ? i : 0; k < (p.upper ? p.n : i + 1); k++)
            add_product(sum, in_triangle<T>(p.a, i, k, p.unit), element_of<T>(p.x, k));
        element_of<T>(p.x, i) = sum;
    }
}
template <class T> __device__ void trsv(const blas_level2 &p)
{
    for (int64_t step = 0; step < p.n; step++) {
        const int64_t i = p.upper ? p.n - 1 - step : step;
        T sum = {};
        for (int64_t k = p.upper ? i + 1 : 0; k < (p.upper ? p.n : i); k++)
            add_product(sum, element<T>(p.a, i, k), element_of<T>(p.x, k));
        const T rest = element_of<T>(p.x, i) - sum;
        element_of<T>(p.x, i) = p.unit ? rest : rest / element<T>(p.a, i, i);
    }
}

// ---- level 1: vectors ---------------------------------------------------------------------------

template <class T> __device__ void axpy(const blas_level1 &p)
{
    const int64_t i = thread_x();
    if (i >= p.n) return;
    T &y = element_of<T>(p.y, i);
    T sum = y;
    add_product(sum, factor<T, T>(p.alpha), element_of<T>(p.x, i));
    y = sum;
}
template <class T> __device__ void copy(const blas_level1 &p)
{
    const int64_t i = thread_x();
    if (i < p.n) element_of<T>(p.y, i) = element_of<T>(p.x, i);
}
template <class T> __device__ void swap(const blas_level1 &p)
{
    const int64_t i = thread_x();
    if (i >= p.n) return;
    const T x = element_of<T>(p.x, i);
    element_of<T>(p.x, i) = element_of<T>(p.y, i);
    element_of<T>(p.y, i) = x;
}
template <class T> __device__ void scal(const blas_level1 &p)
{
    const int64_t i = thread_x();
    if (i < p.n) element_of<T>(p.x, i) = factor<T, T>(p.alpha) * element_of<T>(p.x, i);
}
// By a real factor.
template <class T> __device__ void scal_real(const blas_level1 &p)
{
    typedef typename Number<T>::Real Real;
    const int64_t i = thread_x();
    const T by = Number<T>::of_real(factor<Real, Real>(p.alpha));
    if (i < p.n) element_of<T>(p.x, i) = by * element_of<T>(p.x, i);
}
// alpha: the cosine, which is real; beta: the sine.
template <class T> __device__ void rot(const blas_level1 &p)
{
    typedef typename Number<T>::Real Real;
    const int64_t i = thread_x();
    if (i >= p.n) return;
    const T c = Number<T>::of_real(factor<Real, Real>(p.alpha)), s = factor<T, T>(p.beta);
    const T x = element_of<T>(p.x, i), y = element_of<T>(p.y, i);
    element_of<T>(p.x, i) = c * x + s * y;
    element_of<T>(p.y, i) = c * y - Number<T>::conjugate(s, true) * x;
}

// ---- level 1: one result, by one block ----------------------------------------------------------

enum { THREADS = 256 }; // of a block that adds up

// Every thread's value becomes that of all of them, joined by `join`, in the same order each time.
template <class T, class Join> __device__ T joined(T mine, Join join)
{
    __shared__ unsigned char room[THREADS * sizeof(T)];
    T *all = (T *)room;
    all[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) all[threadIdx.x] = join(all[threadIdx.x], all[threadIdx.x + half]);
        __syncthreads();
    }
    const T result = all[0];
    __syncthreads();
    return result;
}

template <class T> struct Plus {
    __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};
struct Larger {
    __device__ double operator()(double a, double b) const
    {
        return a > b ? a : b;
    }
};

template <class T> __device__ void dot(const blas_level1 &p)
{
    T sum = {};
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS)
        add_product(sum, Number<T>::conjugate(element_of<T>(p.x, i), p.conjugate),
                    element_of<T>(p.y, i));
    sum = joined(sum, Plus<T>());
    if (threadIdx.x == 0) *(T *)p.result = sum;
}
template <class T> __device__ void asum(const blas_level1 &p)
{
    typedef typename Number<T>::Real Real;
    Real sum = 0;
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS)
        sum += Number<T>::size(element_of<T>(p.x, i));
    sum = joined(sum, Plus<Real>());
    if (threadIdx.x == 0) *(Real *)p.result = sum;
}
// In units of the largest element, so that no square is too large or too small.
template <class T> __device__ void nrm2(const blas_level1 &p)
{
    typedef typename Number<T>::Real Real;
    double most = 0, sum = 0;
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS)
        most = Larger()(most, (double)Number<T>::size(element_of<T>(p.x, i)));
    most = joined(most, Larger());
    for (int64_t i = threadIdx.x; i < p.n && most > 0; i += THREADS)
        sum += Number<T>::square(element_of<T>(p.x, i), most);
    sum = joined(sum, Plus<double>());
    if (threadIdx.x == 0) *(Real *)p.result = (Real)(most * sqrt(sum));
}

// Where the largest, or smallest, element is; of equal ones the first.
template <class R> struct Place {
    R size;
    int64_t index; // from 1 on; 0: none
};
template <class R> struct Better {
    bool smallest;
    __device__ Place<R> operator()(Place<R> a, Place<R> b) const
    {
        if (a.index == 0 || b.index == 0) return a.index == 0 ? b : a;
        if (a.size == b.size) return a.index < b.index ? a : b;
        return (a.size > b.size) != smallest ? a : b;
    }
};
template <class T> __device__ void amax(const blas_level1 &p)
{
    typedef typename Number<T>::Real Real;
    const Better<Real> better = {p.smallest != 0};
    Place<Real> best = {0, 0};
    for (int64_t i = threadIdx.x; i < p.n; i += THREADS)
        best = better(best, Place<Real>{Number<T>::size(element_of<T>(p.x, i)), i + 1});
    best = joined(best, better);
    if (threadIdx.x != 0) return;
    if (p.wide)
        *(int64_t *)p.result = best.index;
    else
        *(int *)p.result = (int)best.index;
}

// ---- many small QR ------------------------------------------------------------------------------

// A matrix to a block: p.n rows, p.columns columns; `b` is where the factors of the reflections go.
template <class T> __device__ void geqrf_each(const blas_factors &p)
{
    const View<T> a = {((T *const *)p.a.first)[blockIdx.x], 1, p.a.column, false};
    triangularise(a, p.n, p.columns, ((T *const *)p.b.first)[blockIdx.x]);
}

// ---- the kernels --------------------------------------------------------------------------------

#define KERNELS(name, parameters) KERNELS_OF(cublas, name, parameters)
KERNELS(symm, blas_level3)
KERNELS(rank_k, blas_level3)
KERNELS(trmm, blas_level3)
KERNELS(trsm, blas_level3)
KERNELS(trsm_each, blas_level3)
KERNELS(geam, blas_level3)
KERNELS(dgmm, blas_level3)
KERNELS(getrf, blas_factors)
KERNELS(getrs, blas_factors)
KERNELS(getri, blas_factors)
KERNELS(matinv, blas_factors)
KERNELS(geqrf_each, blas_factors)
KERNELS(gemv, blas_level2)
KERNELS(symv, blas_level2)
KERNELS(ger, blas_level2)
KERNELS(syr, blas_level2)
KERNELS(syr2, blas_level2)
KERNELS(trmv, blas_level2)
KERNELS(trsv, blas_level2)
KERNELS(axpy, blas_level1)
KERNELS(copy, blas_level1)
KERNELS(swap, blas_level1)
KERNELS(scal, blas_level1)
KERNELS(scal_real, blas_level1)
KERNELS(rot, blas_level1)
KERNELS(dot, blas_level1)
KERNELS(asum, blas_level1)
KERNELS(nrm2, blas_level1)
KERNELS(amax, blas_level1)
