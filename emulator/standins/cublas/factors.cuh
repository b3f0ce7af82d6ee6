// factors: kernels that factor small square matrices and solve by their factors, many at once.
#pragma once
#include "emulator/standins/cublas/numbers.cuh"

// P A = L U in place, by the threads of one block: L below the diagonal, its ones not stored.
// Without `pivots` P is 1. Returns which pivot, from 1 on, is 0; 0: none is.
template <class T> __device__ int factor_in_place(T *a, int64_t ld, int64_t n, int32_t *pivots)
{
    __shared__ int64_t chosen;
    int zero = 0;
    for (int64_t k = 0; k < n; k++) {
        if (threadIdx.x == 0) {
            chosen = k;
            for (int64_t i = k + 1; i < n && pivots != nullptr; i++)
                if (Number<T>::size(a[i + k * ld]) > Number<T>::size(a[chosen + k * ld]))
                    chosen = i;
            if (pivots != nullptr) pivots[k] = (int32_t)chosen + 1;
        }
        __syncthreads();
        for (int64_t j = threadIdx.x; j < n && chosen != k; j += blockDim.x) {
            const T kept = a[k + j * ld];
            a[k + j * ld] = a[chosen + j * ld];
            a[chosen + j * ld] = kept;
        }
        __syncthreads();
        const T pivot = a[k + k * ld];
        const int64_t rest = n - k - 1;
        if (is_zero(pivot)) {
            if (zero == 0) zero = (int)k + 1;
            continue; // what is below is 0 as well, or no factor can be had without a pivot
        }
        for (int64_t i = threadIdx.x; i < rest; i += blockDim.x)
            a[k + 1 + i + k * ld] = a[k + 1 + i + k * ld] / pivot;
        __syncthreads();
        for (int64_t e = threadIdx.x; e < rest * rest; e += blockDim.x) {
            const int64_t i = k + 1 + e % rest, j = k + 1 + e / rest;
            a[i + j * ld] = a[i + j * ld] - a[i + k * ld] * a[k + j * ld];
        }
        __syncthreads();
    }
    return zero;
}

// One step of a solution: x[i] less what the elements of op(A) in columns [begin, end) take away.
template <class T>
__device__ T rest_of(const T *a, int64_t ld, int op, const T *x, int64_t i, int64_t begin,
                     int64_t end)
{
    T sum = {};
    for (int64_t j = begin; j < end; j++) {
        const T element = op == 0 ? a[i + j * ld] : a[j + i * ld];
        add_product(sum, Number<T>::conjugate(element, op == 2), x[j]);
    }
    return x[i] - sum;
}
template <class T> __device__ void swap_rows(T *x, int64_t i, int64_t j)
{
    const T kept = x[i];
    x[i] = x[j];
    x[j] = kept;
}

// op(A) x = b, in place, by one thread, where `a` are the factors of P A.
template <class T>
__device__ void solve(const T *a, int64_t ld, int64_t n, const int32_t *pivots, int op, T *x)
{
    const bool plain = op == 0;
    for (int64_t i = 0; i < n && plain && pivots != nullptr; i++) swap_rows(x, i, pivots[i] - 1);
    for (int64_t i = 0; i < n; i++) { // L, or U'
        x[i] = rest_of(a, ld, op, x, i, 0, i);
        if (!plain) x[i] = x[i] / Number<T>::conjugate(a[i + i * ld], op == 2);
    }
    for (int64_t i = n - 1; i >= 0; i--) { // U, or L'
        x[i] = rest_of(a, ld, op, x, i, i + 1, n);
        if (plain) x[i] = x[i] / a[i + i * ld];
    }
    for (int64_t i = n - 1; i >= 0 && !plain && pivots != nullptr; i--)
        swap_rows(x, i, pivots[i] - 1);
}

// Column j of the inverse, by one thread.
template <class T>
__device__ void invert_column(const T *a, int64_t ld, int64_t n, const int32_t *pivots, T *to,
                              int64_t j)
{
    for (int64_t i = 0; i < n; i++) to[i] = Number<T>::make(i == j, 0);
    solve(a, ld, n, pivots, 0, to);
}

template <class T> __device__ void getrf(const blas_factors &p)
{
    int32_t *pivots = p.pivots != nullptr ? p.pivots + blockIdx.x * p.n : nullptr;
    const int zero = factor_in_place(matrix<T, true>(p.a, blockIdx.x), p.a.column, p.n, pivots);
    if (threadIdx.x == 0 && p.info != nullptr) p.info[blockIdx.x] = zero;
}
template <class T> __device__ void getrs(const blas_factors &p)
{
    const int32_t *pivots = p.pivots != nullptr ? p.pivots + blockIdx.x * p.n : nullptr;
    T *b = matrix<T, true>(p.b, blockIdx.x);
    for (int64_t j = threadIdx.x; j < p.columns; j += blockDim.x)
        solve(matrix<T, true>(p.a, blockIdx.x), p.a.column, p.n, pivots, p.op, b + j * p.b.column);
}
template <class T> __device__ void getri(const blas_factors &p)
{
    const T *a = matrix<T, true>(p.a, blockIdx.x);
    const int32_t *pivots = p.pivots != nullptr ? p.pivots + blockIdx.x * p.n : nullptr;
    T *b = matrix<T, true>(p.b, blockIdx.x);
    for (int64_t j = threadIdx.x; j < p.n; j += blockDim.x)
        invert_column(a, p.a.column, p.n, pivots, b + j * p.b.column, j);
    if (threadIdx.x != 0 || p.info == nullptr) return;
    int zero = 0;
    for (int64_t k = 0; k < p.n && zero == 0; k++)
        if (is_zero(a[k + k * p.a.column])) zero = (int)k + 1;
    p.info[blockIdx.x] = zero;
}
template <class T> __device__ void matinv(const blas_factors &p)
{
    __shared__ unsigned char room[BLAS_INVERSE_MOST * BLAS_INVERSE_MOST * sizeof(T)];
    __shared__ int32_t pivots[BLAS_INVERSE_MOST];
    T *factors = (T *)room, *b = matrix<T, true>(p.b, blockIdx.x);
    const T *a = matrix<T, true>(p.a, blockIdx.x);
    for (int64_t e = threadIdx.x; e < p.n * p.n; e += blockDim.x)
        factors[e] = a[e % p.n + e / p.n * p.a.column];
    __syncthreads();
    const int zero = factor_in_place(factors, p.n, p.n, pivots);
    for (int64_t j = threadIdx.x; j < p.n && zero == 0; j += blockDim.x)
        invert_column(factors, p.n, p.n, pivots, b + j * p.b.column, j);
    if (threadIdx.x == 0 && p.info != nullptr) p.info[blockIdx.x] = zero;
}
