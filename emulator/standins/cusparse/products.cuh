// products: of sparse matrices and vectors with dense ones.
#pragma once
#include "emulator/standins/cusparse/views.cuh"

// A thread has elements of C, whose row is a line of A.
template <class E, class C, class S> __device__ void product(const sparse_product &p)
{
    const int64_t line = thread_x(), z = blockIdx.z;
    if (line >= p.a.lines) return;
    const sparse_matrix a = of_batch<E>(p.a, z);
    const S alpha = factor<S, S>(p.alpha), beta = factor<S, S>(p.beta);
    const Entries at = entries_of(a, line);
    for (int64_t j = thread_y(); j < p.n; j += gridDim.y) {
        S sum = {};
        for (int64_t k = at.begin; k < at.end && !is_zero(alpha); k++) {
            const S b = (S)element_at<E>(p.b, place_of(a, k), j, z);
            add_product(sum, Number<S>::conjugate((S)value_of<E>(a, k), p.conjugate),
                        Number<S>::conjugate(b, p.b.conjugate));
        }
        update(&element_at<C>(p.c, line, j, z), alpha, sum, beta);
    }
}

template <class R> __device__ void add_atomically(R *to, R x)
{
    atomicAdd(to, x);
}
template <class R> __device__ void add_atomically(Complex<R> *to, Complex<R> x)
{
    atomicAdd(&to->re, x.re);
    atomicAdd(&to->im, x.im);
}

// A thread has a line of A, which is no row of C by itself: C has been multiplied by beta before.
template <class E, class C, class S> __device__ void scatter_product(const sparse_product &p)
{
    const int64_t line = thread_x(), z = blockIdx.z;
    const S alpha = factor<S, S>(p.alpha);
    if (line >= p.a.lines || is_zero(alpha)) return;
    const sparse_matrix a = of_batch<E>(p.a, z);
    const Entries at = entries_of(a, line);
    for (int64_t j = thread_y(); j < p.n; j += gridDim.y)
        for (int64_t k = at.begin; k < at.end; k++) {
            const int64_t from = p.to_places ? at.index : place_of(a, k);
            const int64_t to = p.to_places ? place_of(a, k) : at.index;
            const S x = Number<S>::conjugate((S)value_of<E>(a, k), p.conjugate);
            const S b = Number<S>::conjugate((S)element_at<E>(p.b, from, j, z), p.b.conjugate);
            add_atomically(&element_at<C>(p.c, to, j, z), (C)(alpha * (x * b)));
        }
}

template <class T> __device__ void scale(const sparse_scaling &p)
{
    const int64_t i = thread_x();
    const T beta = factor<T, T>(p.beta);
    for (int64_t j = thread_y(); i < p.m && j < p.n; j += gridDim.y)
        update(&element_at<T>(p.c, i, j, blockIdx.z), T(), T(), beta);
}

template <class T> __device__ void sample(const sparse_sampling &p)
{
    const int64_t line = thread_x(), z = blockIdx.z;
    if (line >= p.c.lines) return;
    const sparse_matrix c = of_batch<T>(p.c, z);
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    const Entries at = entries_of(c, line);
    for (int64_t k = at.begin; k < at.end; k++) {
        T sum = {};
        for (int64_t q = 0; q < p.k && !is_zero(alpha); q++)
            add_product(
                sum, Number<T>::conjugate(element_at<T>(p.a, at.index, q, z), p.a.conjugate),
                Number<T>::conjugate(element_at<T>(p.b, q, place_of(c, k), z), p.b.conjugate));
        update(&value_of<T>(c, k), alpha, sum, beta);
    }
}

// ---- vectors ------------------------------------------------------------------------------------

template <class T> __device__ T &of_x(const sparse_vectors &p, int64_t k)
{
    return ((T *)p.x)[k];
}
template <class T> __device__ T &of_y(const sparse_vectors &p, int64_t k)
{
    return ((T *)p.y)[index_at(p.places, k) - p.base];
}

template <class T> __device__ void axpy(const sparse_vectors &p)
{
    const int64_t k = thread_x();
    if (k >= p.count) return;
    of_y<T>(p, k) = of_y<T>(p, k) + factor<T, T>(p.alpha) * of_x<T>(p, k);
}

template <class T> __device__ void rotate(const sparse_vectors &p)
{
    const int64_t k = thread_x();
    if (k >= p.count) return;
    const T c = factor<T, T>(p.alpha), s = factor<T, T>(p.beta), x = of_x<T>(p, k),
            y = of_y<T>(p, k);
    of_x<T>(p, k) = c * x + s * y;
    of_y<T>(p, k) = c * y - s * x;
}

// One block of SPARSE_ADDERS threads.
template <class T> __device__ void dot(const sparse_vectors &p)
{
    __shared__ T sums[SPARSE_ADDERS];
    T sum = {};
    for (int64_t k = threadIdx.x; k < p.count; k += SPARSE_ADDERS)
        add_product(sum, Number<T>::conjugate(of_x<T>(p, k), p.conjugate), of_y<T>(p, k));
    sums[threadIdx.x] = sum;
    for (unsigned half = SPARSE_ADDERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *(T *)p.result = sums[0];
}

template <class T> __device__ void gather(const sparse_vectors &p)
{
    const int64_t k = thread_x();
    if (k < p.count) of_x<T>(p, k) = of_y<T>(p, k);
}
template <class T> __device__ void scatter(const sparse_vectors &p)
{
    const int64_t k = thread_x();
    if (k < p.count) of_y<T>(p, k) = of_x<T>(p, k);
}
