// sparse: solutions of sparse systems. The matrix is made a full one: it fits where programs are
// tried, and no entry has to be foreseen.
#pragma once
#include "emulator/standins/cusolver/elimination.cuh"
#include "emulator/standins/cusolver/reflections.cuh"

// A row for each thread. Without `whole` only the lower triangle. Ends with a barrier.
template <class T> __device__ void spread(const solver_sparse &p, View<T> a, bool whole)
{
    fill(a, p.m, p.m, T());
    __syncthreads();
    for (int64_t i = threadIdx.x; i < p.m; i += blockDim.x)
        for (int64_t k = p.starts[i] - p.base; k < p.starts[i + 1] - p.base; k++) {
            const int64_t j = p.places[k] - p.base;
            if (whole || j <= i) a.set(i, j, a.get(i, j) + ((const T *)p.values)[k]);
        }
    __syncthreads();
}

template <class T> __device__ int64_t small_on_diagonal(View<T> t, int64_t n, double tolerance)
{
    for (int64_t k = 0; k < n; k++)
        if (!(sqrt(Number<T>::square(t.get(k, k), 1)) > tolerance)) return k;
    return -1;
}

template <class T> __device__ View<T> one_column(const void *first, int64_t m)
{
    return {(T *)first, 1, m, false};
}

template <class T> __device__ void sparse_qr(const solver_sparse &p)
{
    Room<T> room(p.work);
    const View<T> a = room.matrix(p.m, p.m), b = room.matrix(p.m, 1);
    T *tau = room.take(p.m);
    spread(p, a, true);
    copy(one_column<T>(p.b, p.m), b, p.m, 1);
    __syncthreads();
    triangularise(a, p.m, p.m, tau);
    apply_reflections(a, tau, p.m, true, b, p.m, 1);
    const int64_t small = small_on_diagonal(a, p.m, p.tolerance);
    write_info(p.singularity, small);
    if (small >= 0) return;
    solve_triangle(a, true, false, p.m, b, 1);
    __syncthreads();
    copy(b, one_column<T>(p.x, p.m), p.m, 1);
}

template <class T> __device__ void sparse_cholesky(const solver_sparse &p)
{
    Room<T> room(p.work);
    const View<T> a = room.matrix(p.m, p.m), b = room.matrix(p.m, 1);
    spread(p, a, false);
    copy(one_column<T>(p.b, p.m), b, p.m, 1);
    __syncthreads();
    const int64_t minor = cholesky(a, p.m);
    const int64_t small = minor > 0 ? minor - 1 : small_on_diagonal(a, p.m, p.tolerance);
    write_info(p.singularity, small);
    if (small >= 0) return;
    solve_by_cholesky(a, p.m, b, 1);
    __syncthreads();
    copy(b, one_column<T>(p.x, p.m), p.m, 1);
}
