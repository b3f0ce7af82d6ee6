// reflections: QR by Householder. A reflection is H = 1 - tau v v', where v has a 1 at its
// beginning that is not stored; Q = H1 H2 ... Every function is called by all threads of a block.
#pragma once
#include "emulator/standins/cusolver/elimination.cuh"

// The root of the sum of squares of column k from row `begin` on, in units of its largest element.
// By a warp.
template <class T> __device__ double norm_of(View<T> a, int64_t begin, int64_t end, int64_t k)
{
    double most = 0, sum = 0;
    bool wrong = false; // what is no number is no largest element either
    for (int64_t i = begin + lane(); i < end; i += WARP) {
        const double size = (double)Number<T>::size(a.get(i, k));
        wrong = wrong || size != size;
        most = fmax(most, size);
    }
    most = warp_most(most);
    if (__any_sync(0xffffffff, wrong)) return nan("");
    for (int64_t i = begin + lane(); i < end && most > 0; i += WARP)
        sum += Number<T>::square(a.get(i, k), most);
    return most * sqrt(warp_sum(sum));
}

// The reflection that makes column k of A zero below its diagonal, in its place; A(k, k) becomes
// what is left. By a warp. Returns tau.
template <class T> __device__ T make_reflection(View<T> a, int64_t m, int64_t k)
{
    const T top = a.get(k, k);
    const double rest = norm_of(a, k + 1, m, k);
    __syncwarp();
    if (rest == 0 && imaginary(top) == 0) return T{};
    const double size = hypot(hypot(real(top), imaginary(top)), rest);
    const double left = real(top) >= 0 ? -size : size;
    const T divisor = Number<T>::make(real(top) - left, imaginary(top));
    if (lane() == 0) a.set(k, k, Number<T>::make(left, 0));
    for (int64_t i = k + 1 + lane(); i < m; i += WARP) a.set(i, k, a.get(i, k) / divisor);
    return Number<T>::make((left - real(top)) / left, -imaginary(top) / left);
}

// Columns [begin, end) of C become (1 - tau v v') C, where v is column k of `v`, from row k on:
// each column by a warp.
template <class T>
__device__ void reflect(View<T> v, T tau, int64_t m, int64_t k, View<T> c, int64_t begin,
                        int64_t end)
{
    for (int64_t j = begin + warp(); j < end && !is_zero(tau); j += warps()) {
        T sum = {};
        for (int64_t i = k + 1 + lane(); i < m; i += WARP)
            add_product(sum, conjugate(v.get(i, k)), c.get(i, j));
        sum = tau * (warp_sum(sum) + c.get(k, j));
        __syncwarp();
        if (lane() == 0) c.set(k, j, c.get(k, j) - sum);
        for (int64_t i = k + 1 + lane(); i < m; i += WARP)
            c.set(i, j, c.get(i, j) - v.get(i, k) * sum);
    }
}

// A = Q R in place, of an m x n matrix. Ends with a barrier.
template <class T> __device__ void triangularise(View<T> a, int64_t m, int64_t n, T *tau)
{
    for (int64_t k = 0; k < (m < n ? m : n); k++) {
        if (warp() == 0) {
            const T factor = make_reflection(a, m, k);
            if (lane() == 0) tau[k] = factor;
        }
        __syncthreads();
        reflect(a, conjugate(tau[k]), m, k, a, k + 1, n);
        __syncthreads();
    }
}

// C = op(Q) C, where Q is of k reflections of length m, and C has n columns. Has barriers.
template <class T>
__device__ void apply_reflections(View<T> v, const T *tau, int64_t k, bool adjoint, View<T> c,
                                  int64_t m, int64_t n)
{
    for (int64_t step = 0; step < k; step++) {
        const int64_t at = adjoint ? step : k - 1 - step;
        reflect(v, Number<T>::conjugate(tau[at], adjoint), m, at, c, 0, n);
        __syncthreads();
    }
}

// ---- the kernels --------------------------------------------------------------------------------

template <class T> __device__ void geqrf(const solver_reflections &p)
{
    triangularise(view<T>(p.a), p.m, p.n, (T *)p.tau);
    write_info(p.info, 0);
}
template <class T> __device__ void orgqr(const solver_reflections &p)
{
    const View<T> a = view<T>(p.a), v = Room<T>(p.work).matrix(p.m, p.k);
    copy(a, v, p.m, p.k);
    __syncthreads();
    fill(a, p.m, p.n, one<T>());
    __syncthreads();
    apply_reflections(v, (const T *)p.tau, p.k, false, a, p.m, p.n);
    write_info(p.info, 0);
}
// B Q is the adjoint of Q' B'. Of real numbers the transpose of Q is its adjoint.
template <class T> __device__ void ormqr(const solver_reflections &p)
{
    const View<T> b = view<T>(p.b);
    const bool adjoint = (p.op != 0) != (p.right != 0);
    apply_reflections(view<T>(p.a), (const T *)p.tau, p.k, adjoint, p.right ? b.adjoint() : b,
                      p.right ? p.n : p.m, p.right ? p.m : p.n);
    write_info(p.info, 0);
}
// The least squares of A X - B, A m x n with m >= n, which stays as it is, as B does.
template <class T> __device__ void gels(const solver_reflections &p)
{
    Room<T> room(p.work);
    const View<T> a = room.matrix(p.m, p.n), b = room.matrix(p.m, p.columns);
    T *tau = room.take(p.n);
    copy(view<T>(p.a), a, p.m, p.n);
    copy(view<T>(p.b), b, p.m, p.columns);
    __syncthreads();
    triangularise(a, p.m, p.n, tau);
    apply_reflections(a, tau, p.n, true, b, p.m, p.columns);
    const int64_t zero = zero_on_diagonal(a, p.n);
    write_info(p.info, zero);
    if (zero != 0) return;
    solve_triangle(a, true, false, p.n, b, p.columns);
    __syncthreads();
    copy(b, view<T>(p.x), p.n, p.columns);
}
