// views: what all kernels of the stand-in for cuSOLVER share: matrices as seen from their adjoint
// or their transpose, and sums over a warp or a block. Lanes of a warp go along a column, warps
// from column to column. Nothing here has a barrier but where its comment says so.
#pragma once
#include "emulator/standins/cublas/numbers.cuh"
#include "emulator/standins/cusolver/parameters.h"

enum { WARP = 32 };
__device__ int lane()
{
    return threadIdx.x % WARP;
}
__device__ int warp()
{
    return threadIdx.x / WARP;
}
__device__ int warps()
{
    return blockDim.x / WARP;
}

// ---- numbers ------------------------------------------------------------------------------------

template <class T> __device__ T conjugate(T x)
{
    return Number<T>::conjugate(x, true);
}
template <class T> __device__ T one()
{
    return Number<T>::make(1, 0);
}
template <class T> __device__ T times(double real, T x)
{
    return Number<T>::of_real((typename Number<T>::Real)real) * x;
}
template <class T> __device__ double imaginary(T)
{
    return 0;
}
template <class R> __device__ double imaginary(Complex<R> x)
{
    return x.im;
}
template <class T> __device__ double real(T x)
{
    return Number<T>::real(x);
}
// The distance from 1 to the next number of the type.
template <class T> __device__ double precision()
{
    return sizeof(typename Number<T>::Real) == sizeof(float) ? 1.1920928955078125e-7
                                                             : 2.220446049250313e-16;
}
// x times 2 to the power of `exponent`, exact unless it is too small.
template <class T> __device__ T scaled(T x, int exponent)
{
    return Number<T>::make(scalbn(real(x), exponent), scalbn(imaginary(x), exponent));
}

// ---- matrices -----------------------------------------------------------------------------------

template <class T> struct View {
    T *first;
    int64_t row, column;
    bool conjugated;

    __device__ T get(int64_t i, int64_t j) const
    {
        return Number<T>::conjugate(first[i * row + j * column], conjugated);
    }
    __device__ void set(int64_t i, int64_t j, T x) const
    {
        first[i * row + j * column] = Number<T>::conjugate(x, conjugated);
    }
    __device__ View transposed() const
    {
        return {first, column, row, conjugated};
    }
    __device__ View adjoint() const
    {
        return {first, column, row, !conjugated};
    }
    // op is an enum blas_op.
    __device__ View under(int op) const
    {
        return op == 0 ? *this : op == 1 ? transposed() : adjoint();
    }
    __device__ View from(int64_t i, int64_t j) const
    {
        return {first + i * row + j * column, row, column, conjugated};
    }
};

template <class T> __device__ View<T> view(const solver_matrix &m)
{
    T *first =
        m.apart ? ((T *const *)m.first)[blockIdx.x] : (T *)m.first + (int64_t)blockIdx.x * m.next;
    return {first, 1, m.ld, false};
}
// The block's part of the caller's memory, handed out piece by piece.
template <class T> struct Room {
    T *next;

    explicit __device__ Room(const solver_work &work)
        : next((T *)work.first + (int64_t)blockIdx.x * work.each)
    {
    }
    __device__ T *take(int64_t elements)
    {
        T *taken = next;
        next += elements;
        return taken;
    }
    __device__ View<T> matrix(int64_t rows, int64_t columns)
    {
        return {take(rows * columns), 1, rows, false};
    }
};

template <class T> __device__ void copy(View<T> from, View<T> to, int64_t m, int64_t n)
{
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = lane(); i < m; i += WARP) to.set(i, j, from.get(i, j));
}
// `diagonal` on the diagonal, 0 elsewhere.
template <class T> __device__ void fill(View<T> to, int64_t m, int64_t n, T diagonal)
{
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = lane(); i < m; i += WARP) to.set(i, j, i == j ? diagonal : T{});
}

__device__ void write_info(int32_t *info, int64_t value)
{
    if (threadIdx.x == 0 && info != nullptr) info[blockIdx.x] = (int32_t)value;
}

// ---- sums ---------------------------------------------------------------------------------------

__device__ double exchanged(double x, int distance)
{
    return __shfl_xor_sync(0xffffffff, x, distance);
}
__device__ float exchanged(float x, int distance)
{
    return __shfl_xor_sync(0xffffffff, x, distance);
}
template <class R> __device__ Complex<R> exchanged(Complex<R> x, int distance)
{
    return {exchanged(x.re, distance), exchanged(x.im, distance)};
}
// Of the lanes of a warp, in the same order each time. Every lane has the result.
template <class T> __device__ T warp_sum(T x)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) x = x + exchanged(x, distance);
    return x;
}
__device__ double warp_most(double x)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) x = fmax(x, exchanged(x, distance));
    return x;
}

// Of the threads of a block: their sum, or the most of them. Has barriers.
template <bool MOST> __device__ double block_joined(double x)
{
    __shared__ double all[SOLVER_MOST_THREADS / WARP];
    const double mine = MOST ? warp_most(x) : warp_sum(x);
    if (lane() == 0) all[warp()] = mine;
    __syncthreads();
    double result = all[0];
    for (int w = 1; w < warps(); w++) result = MOST ? fmax(result, all[w]) : result + all[w];
    __syncthreads();
    return result;
}

// How a matrix is scaled so that its largest element is about 1.
struct Scale {
    int exponent;
    bool is_finite; // every element of it is; otherwise nothing can be found
};
// Of a matrix, or of its lower triangle. Has barriers.
template <class T> __device__ Scale scale_of(View<T> a, int64_t m, int64_t n, bool lower)
{
    double most = 0;
    bool wrong = false;
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = lane() + (lower ? j : 0); i < m; i += WARP) {
            const double re = real(a.get(i, j)), im = imaginary(a.get(i, j));
            wrong = wrong || !isfinite(re) || !isfinite(im);
            most = fmax(most, fmax(fabs(re), fabs(im)));
        }
    most = block_joined<true>(most);
    wrong = __syncthreads_or(wrong);
    return {most > 0 && !wrong ? -ilogb(most) : 0, !wrong};
}

// What is no number, where none can be found. Without memory, nothing.
template <class T> __device__ void spoil(View<T> to, int64_t m, int64_t n)
{
    const double none = nan("");
    for (int64_t j = warp(); j < n && to.first != nullptr; j += warps())
        for (int64_t i = lane(); i < m; i += WARP) to.set(i, j, Number<T>::make(none, none));
}
