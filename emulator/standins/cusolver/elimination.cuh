// elimination: factorisations by Gauss and Cholesky, triangles, and what is solved by them. Every
// function is called by all threads of a block; where its comment does not say otherwise, the
// caller has a barrier before and after it.
#pragma once
#include "emulator/standins/cusolver/views.cuh"

// ---- triangles ----------------------------------------------------------------------------------

// T X = B, X in place of B: each column by a warp.
template <class T>
__device__ void solve_triangle(View<T> t, bool upper, bool unit, int64_t n, View<T> b,
                               int64_t columns)
{
    for (int64_t j = warp(); j < columns; j += warps())
        for (int64_t step = 0; step < n; step++) {
            const int64_t k = upper ? n - 1 - step : step;
            const T x = unit ? b.get(k, j) : b.get(k, j) / t.get(k, k);
            __syncwarp();
            if (lane() == 0) b.set(k, j, x);
            for (int64_t i = lane() + (upper ? 0 : k + 1); i < (upper ? k : n); i += WARP)
                b.set(i, j, b.get(i, j) - t.get(i, k) * x);
            __syncwarp();
        }
}

// B = T B: each column by a warp.
template <class T>
__device__ void multiply_triangle(View<T> t, bool upper, int64_t n, View<T> b, int64_t columns)
{
    for (int64_t j = warp(); j < columns; j += warps())
        for (int64_t step = 0; step < n; step++) {
            const int64_t i = upper ? step : n - 1 - step;
            T sum = {};
            for (int64_t k = lane() + (upper ? i : 0); k < (upper ? n : i + 1); k += WARP)
                add_product(sum, t.get(i, k), b.get(k, j));
            sum = warp_sum(sum);
            __syncwarp();
            if (lane() == 0) b.set(i, j, sum);
            __syncwarp();
        }
}

// Which element of the diagonal, from 1 on, is 0; 0: none is.
template <class T> __device__ int64_t zero_on_diagonal(View<T> t, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (is_zero(t.get(k, k))) return k + 1;
    return 0;
}

// ---- Cholesky -----------------------------------------------------------------------------------

// A = L L' in place, of the lower triangle. Returns which minor, from 1 on, is not positive
// definite; 0: all are. Ends with a barrier.
template <class T> __device__ int64_t cholesky(View<T> a, int64_t n)
{
    typedef typename Number<T>::Real Real;
    __shared__ bool is_positive;
    for (int64_t k = 0; k < n; k++) {
        if (warp() == 0) {
            const Real pivot = Number<T>::real(a.get(k, k));
            const bool fine = pivot > 0; // false for what is no number
            const T root = Number<T>::of_real(sqrt(pivot));
            __syncwarp();
            if (lane() == 0) is_positive = fine;
            if (lane() == 0 && fine) a.set(k, k, root);
            for (int64_t i = k + 1 + lane(); i < n && fine; i += WARP)
                a.set(i, k, a.get(i, k) / root);
        }
        __syncthreads();
        if (!is_positive) return k + 1;
        for (int64_t j = k + 1 + warp(); j < n; j += warps()) {
            const T other = conjugate(a.get(j, k));
            for (int64_t i = j + lane(); i < n; i += WARP) {
                const T rest = a.get(i, j) - a.get(i, k) * other;
                a.set(i, j, i == j ? Number<T>::of_real(Number<T>::real(rest)) : rest);
            }
        }
        __syncthreads();
    }
    return 0;
}

template <class T>
__device__ void solve_by_cholesky(View<T> l, int64_t n, View<T> b, int64_t columns)
{
    solve_triangle(l, false, false, n, b, columns);
    solve_triangle(l.adjoint(), true, false, n, b, columns);
}

// The lower triangle of A = L' L, of what is in `l`, elsewhere. Barriers are the caller's.
template <class T> __device__ void square_of_triangle(View<T> l, View<T> a, int64_t n)
{
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = j + lane(); i < n; i += WARP) {
            T sum = {};
            for (int64_t k = i; k < n; k++) add_product(sum, conjugate(l.get(k, i)), l.get(k, j));
            a.set(i, j, i == j ? Number<T>::of_real(Number<T>::real(sum)) : sum);
        }
}

// ---- Gauss --------------------------------------------------------------------------------------

// Pivots of either width; none without memory for them.
struct Pivots {
    void *first;
    bool wide;

    __device__ bool are_wanted() const
    {
        return first != nullptr;
    }
    __device__ int64_t get(int64_t k) const
    {
        return (wide ? ((int64_t *)first)[k] : ((int32_t *)first)[k]) - 1;
    }
    __device__ void set(int64_t k, int64_t row) const
    {
        if (wide)
            ((int64_t *)first)[k] = row + 1;
        else
            ((int32_t *)first)[k] = (int32_t)row + 1;
    }
};

// The row of the largest element of column k, from row k on; of equal ones the first. By a warp.
template <class T> __device__ int64_t largest_of(View<T> a, int64_t m, int64_t k)
{
    double size = -1;
    int64_t row = k;
    for (int64_t i = k + lane(); i < m; i += WARP) {
        const double mine = (double)Number<T>::size(a.get(i, k));
        if (!(mine > size)) continue;
        size = mine;
        row = i;
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        const double other = exchanged(size, distance);
        const int64_t at = __shfl_xor_sync(0xffffffff, row, distance);
        if (other < size || (other == size && at >= row)) continue;
        size = other;
        row = at;
    }
    return row;
}

// Exchanges two rows of `columns` columns, but for column `but`.
template <class T>
__device__ void exchange_rows(View<T> a, int64_t i, int64_t j, int64_t columns, int64_t but = -1)
{
    for (int64_t c = threadIdx.x; c < columns && i != j; c += blockDim.x) {
        if (c == but) continue;
        const T kept = a.get(i, c);
        a.set(i, c, a.get(j, c));
        a.set(j, c, kept);
    }
}

// Column k of the factors: its pivot on the diagonal, the others divided by it. By a warp.
template <class T> __device__ void eliminate_column(View<T> a, int64_t m, int64_t k, int64_t chosen)
{
    const T pivot = a.get(chosen, k), top = a.get(k, k);
    __syncwarp();
    if (lane() == 0) a.set(chosen, k, top);
    __syncwarp();
    if (lane() == 0) a.set(k, k, pivot);
    if (is_zero(pivot)) return;
    for (int64_t i = k + 1 + lane(); i < m; i += WARP) a.set(i, k, a.get(i, k) / pivot);
}

// P A = L U in place, of an m x n matrix. Returns which pivot, from 1 on, is 0; 0: none is. Ends
// with a barrier.
template <class T>
__device__ int64_t eliminate(View<T> a, int64_t m, int64_t n, const Pivots &pivots)
{
    __shared__ int64_t chosen;
    int64_t zero = 0;
    for (int64_t k = 0; k < (m < n ? m : n); k++) {
        if (warp() == 0) {
            const int64_t row = pivots.are_wanted() ? largest_of(a, m, k) : k;
            if (lane() == 0) chosen = row;
            if (lane() == 0 && pivots.are_wanted()) pivots.set(k, row);
            eliminate_column(a, m, k, row);
        }
        __syncthreads();
        exchange_rows(a, k, chosen, n, k);
        if (zero == 0 && is_zero(a.get(k, k))) zero = k + 1;
        __syncthreads();
        for (int64_t j = k + 1 + warp(); j < n; j += warps()) {
            const T top = a.get(k, j);
            for (int64_t i = k + 1 + lane(); i < m; i += WARP)
                a.set(i, j, a.get(i, j) - a.get(i, k) * top);
        }
        __syncthreads();
    }
    return zero;
}

// op(A) X = B, X in place of B, where `a` has the factors of P A. Has barriers.
template <class T>
__device__ void solve_by_elimination(View<T> a, int64_t n, const Pivots &pivots, int op, View<T> b,
                                     int64_t columns)
{
    const bool plain = op == 0;
    for (int64_t k = 0; k < n && plain && pivots.are_wanted(); k++)
        exchange_rows(b, k, pivots.get(k), columns);
    __syncthreads();
    solve_triangle(a.under(op), false, plain, n, b, columns); // L, or U'
    solve_triangle(a.under(op), true, !plain, n, b, columns); // U, or L'
    __syncthreads();
    for (int64_t k = n - 1; k >= 0 && !plain && pivots.are_wanted(); k--)
        exchange_rows(b, k, pivots.get(k), columns);
}

// ---- the kernels --------------------------------------------------------------------------------

// The triangle that is stored, as a lower one.
template <class T> __device__ View<T> lower(const solver_factors &p)
{
    return p.upper ? view<T>(p.a).adjoint() : view<T>(p.a);
}
__device__ Pivots pivots_of(const solver_factors &p)
{
    return {p.pivots, p.wide_pivots != 0};
}

template <class T> __device__ void potrf(const solver_factors &p)
{
    write_info(p.info, cholesky(lower<T>(p), p.n));
}
// `info` is one for the whole batch.
template <class T> __device__ void potrs(const solver_factors &p)
{
    solve_by_cholesky(lower<T>(p), p.n, view<T>(p.b), p.columns);
    if (blockIdx.x == 0) write_info(p.info, 0);
}
// The inverse of A = L L' is W' W, where W is the inverse of L.
template <class T> __device__ void potri(const solver_factors &p)
{
    const View<T> l = lower<T>(p), w = Room<T>(p.work).matrix(p.n, p.n);
    const int64_t zero = zero_on_diagonal(l, p.n);
    write_info(p.info, zero);
    if (zero != 0) return;
    fill(w, p.n, p.n, one<T>());
    __syncthreads();
    solve_triangle(l, false, false, p.n, w, p.n);
    __syncthreads();
    square_of_triangle(w, l, p.n);
}
template <class T> __device__ void lauum(const solver_factors &p)
{
    const View<T> l = lower<T>(p), w = Room<T>(p.work).matrix(p.n, p.n);
    for (int64_t j = warp(); j < p.n; j += warps())
        for (int64_t i = j + lane(); i < p.n; i += WARP) w.set(i, j, l.get(i, j));
    __syncthreads();
    square_of_triangle(w, l, p.n);
    write_info(p.info, 0);
}
template <class T> __device__ void trtri(const solver_factors &p)
{
    const View<T> l = lower<T>(p), w = Room<T>(p.work).matrix(p.n, p.n);
    const int64_t zero = p.unit ? 0 : zero_on_diagonal(l, p.n);
    write_info(p.info, zero);
    if (zero != 0) return;
    fill(w, p.n, p.n, one<T>());
    __syncthreads();
    solve_triangle(l, false, p.unit != 0, p.n, w, p.n);
    __syncthreads();
    for (int64_t j = warp(); j < p.n; j += warps())
        for (int64_t i = j + (p.unit ? 1 : 0) + lane(); i < p.n; i += WARP)
            l.set(i, j, w.get(i, j));
}
template <class T> __device__ void getrf(const solver_factors &p)
{
    write_info(p.info, eliminate(view<T>(p.a), p.m, p.n, pivots_of(p)));
}
template <class T> __device__ void getrs(const solver_factors &p)
{
    solve_by_elimination(view<T>(p.a), p.n, pivots_of(p), p.op, view<T>(p.b), p.columns);
    write_info(p.info, 0);
}
template <class T> __device__ void laswp(const solver_factors &p)
{
    const View<T> a = view<T>(p.a);
    const bool forward = p.pivot_step > 0;
    const int64_t rows = p.end_row - p.first_row, step = forward ? p.pivot_step : -p.pivot_step;
    for (int64_t s = 0; s < rows; s++) {
        const int64_t k = forward ? p.first_row + s : p.end_row - 1 - s;
        exchange_rows(a, k, pivots_of(p).get(p.first_row + (k - p.first_row) * step), p.n);
    }
}
// A and B stay as they are.
template <class T> __device__ void gesv(const solver_factors &p)
{
    const View<T> a = Room<T>(p.work).matrix(p.n, p.n), x = view<T>(p.x);
    copy(view<T>(p.a), a, p.n, p.n);
    copy(view<T>(p.b), x, p.n, p.columns);
    __syncthreads();
    const int64_t zero = eliminate(a, p.n, p.n, pivots_of(p));
    write_info(p.info, zero);
    if (zero == 0) solve_by_elimination(a, p.n, pivots_of(p), 0, x, p.columns);
}
