// jacobi: eigenvalues and singular values by rotations of pairs. A sweep meets every pair once, in
// rounds of pairs that share nothing, as in a tournament; so the pairs of a round may be rotated at
// the same time, and the result is the same each time. Every function is called by all threads of a
// block.
#pragma once
#include "emulator/standins/cusolver/reflections.cuh"

// The unitary matrix (c s; -s' c), which makes a hermitian (a b; b' d) diagonal from both sides.
template <class T> struct Rotation {
    T s;
    double c;

    __device__ bool is_nothing() const
    {
        return is_zero(s);
    }
};
template <class T> __device__ Rotation<T> rotation(double a, double d, double re, double im)
{
    const double size = hypot(re, im), half = (d - a) / (2 * size);
    const double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(1 + half * half));
    const double c = 1 / sqrt(1 + t * t);
    return {Number<T>::make(c * t * (re / size), c * t * (im / size)), c};
}

// Pair `h` of round `round` among an even number of players.
__device__ void pair_of(int64_t players, int64_t round, int64_t h, int64_t &p, int64_t &q)
{
    const int64_t others = players - 1;
    p = h == 0 ? others : round + h < others ? round + h : round + h - others;
    q = round - h >= 0 ? round - h : round - h + others;
}
__host__ __device__ inline int64_t even(int64_t n)
{
    return n + n % 2;
}

// Columns p and q, of m rows, become c p - s' q and s p + c q. By a warp.
template <class T>
__device__ void rotate_columns(View<T> a, int64_t m, int64_t p, int64_t q, Rotation<T> by)
{
    for (int64_t i = lane(); i < m; i += WARP) {
        const T x = a.get(i, p), y = a.get(i, q);
        a.set(i, p, times(by.c, x) - conjugate(by.s) * y);
        a.set(i, q, by.s * x + times(by.c, y));
    }
}

// ---- order --------------------------------------------------------------------------------------

// Whether value i, x, comes before value j, y: numbers before what is none, equal ones as they are.
template <class R> __device__ bool comes_before(R x, int64_t i, R y, int64_t j, bool descending)
{
    if (x == y || (x != x && y != y)) return i < j;
    if (x != x || y != y) return y != y;
    return descending ? x > y : x < y;
}
// Which place value i has in the order.
template <class R>
__device__ int64_t place_of(const R *values, int64_t n, int64_t i, bool descending)
{
    int64_t place = 0;
    for (int64_t j = 0; j < n; j++) place += comes_before(values[j], j, values[i], i, descending);
    return place;
}

// ---- eigenvalues --------------------------------------------------------------------------------

// A hermitian matrix of even order, of which one triangle was given, and its vectors. An order that
// is odd has a row and a column of zeros behind it.
template <class T> struct Eigen {
    int64_t n, players;
    View<T> a, vectors; // no vectors: they are not wanted
    T *sines;           // of the pairs of a round
    typename Number<T>::Real *cosines, *values;

    __device__ Eigen(Room<T> &room, int64_t order, bool with_vectors)
        : n(order), players(even(order)), a(room.matrix(players, players)), vectors{}
    {
        if (with_vectors) vectors = room.matrix(players, players);
        sines = room.take(players);
        cosines = (typename Number<T>::Real *)room.take(players);
        values = (typename Number<T>::Real *)room.take(players);
    }
};

// From the lower triangle of `from`, scaled.
template <class T> __device__ void begin_eigen(const Eigen<T> &e, View<T> from, int exponent)
{
    for (int64_t j = warp(); j < e.players; j += warps())
        for (int64_t i = j + lane(); i < e.players; i += WARP) {
            T x = i < e.n ? scaled(from.get(i, j), exponent) : T{};
            if (i == j) x = Number<T>::of_real(Number<T>::real(x));
            e.a.set(i, j, x);
            if (i != j) e.a.set(j, i, conjugate(x));
        }
    if (e.vectors.first != nullptr) fill(e.vectors, e.players, e.players, one<T>());
}

// The root of the sum of squares of all elements, or of those off the diagonal. Has barriers.
template <class T> __device__ double size_of(View<T> a, int64_t n, bool diagonal)
{
    double sum = 0;
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = lane(); i < n; i += WARP)
            if (diagonal || i != j) sum += Number<T>::square(a.get(i, j), 1);
    return sqrt(block_joined<false>(sum));
}

// The rotations of a round. Returns whether this thread's are any.
template <class T>
__device__ bool choose_rotations(const Eigen<T> &e, int64_t round, double nothing)
{
    bool any = false;
    for (int64_t h = threadIdx.x; h < e.players / 2; h += blockDim.x) {
        int64_t p, q;
        pair_of(e.players, round, h, p, q);
        const T between = e.a.get(p, q);
        const double re = real(between), im = imaginary(between);
        Rotation<T> by = {T{}, 1};
        if (hypot(re, im) > nothing)
            by = rotation<T>(real(e.a.get(p, p)), real(e.a.get(q, q)), re, im);
        e.sines[h] = by.s;
        e.cosines[h] = (typename Number<T>::Real)by.c;
        any = any || !by.is_nothing();
    }
    return any;
}

// The rotations of a round, from both sides: a thread has the four elements where two pairs meet.
template <class T> __device__ void rotate_sides(const Eigen<T> &e, int64_t round)
{
    for (int64_t g = warp(); g < e.players / 2; g += warps()) {
        int64_t p, q;
        pair_of(e.players, round, g, p, q);
        const Rotation<T> right = {e.sines[g], e.cosines[g]};
        for (int64_t h = lane(); h < e.players / 2; h += WARP) {
            int64_t top, low;
            pair_of(e.players, round, h, top, low);
            const Rotation<T> left = {e.sines[h], e.cosines[h]};
            if (left.is_nothing() && right.is_nothing()) continue;
            const T a = e.a.get(top, p), b = e.a.get(top, q);
            const T c = e.a.get(low, p), d = e.a.get(low, q);
            const T ap = times(right.c, a) - conjugate(right.s) * b;
            const T aq = right.s * a + times(right.c, b);
            const T cp = times(right.c, c) - conjugate(right.s) * d;
            const T cq = right.s * c + times(right.c, d);
            const T first = times(left.c, ap) - left.s * cp;
            const T last = conjugate(left.s) * aq + times(left.c, cq);
            const bool same = g == h; // the pair's own elements, which are now diagonal
            e.a.set(top, p, same ? Number<T>::of_real(Number<T>::real(first)) : first);
            e.a.set(top, q, same ? T{} : times(left.c, aq) - left.s * cq);
            e.a.set(low, p, same ? T{} : conjugate(left.s) * ap + times(left.c, cp));
            e.a.set(low, q, same ? Number<T>::of_real(Number<T>::real(last)) : last);
        }
        if (e.vectors.first != nullptr && !right.is_nothing())
            rotate_columns(e.vectors, e.n, p, q, right);
    }
}

// Sweeps until no pair is rotated. Returns whether it came to that. Has barriers.
template <class T> __device__ bool sweep_eigen(const Eigen<T> &e, const solver_sweeps &sweeps)
{
    const double size = size_of(e.a, e.n, true);
    const double tolerance = fmax(sweeps.tolerance, precision<T>());
    const double nothing = size * tolerance / (double)e.players;
    bool any = true;
    int done = 0;
    while (done < sweeps.most && any) {
        any = false;
        for (int64_t round = 0; round + 1 < e.players; round++) {
            any = choose_rotations(e, round, nothing) || any;
            __syncthreads();
            rotate_sides(e, round);
            __syncthreads();
        }
        any = __syncthreads_or(any);
        done++;
    }
    if (sweeps.report != nullptr) {
        const double residual = size_of(e.a, e.n, false);
        if (threadIdx.x == 0 && blockIdx.x == 0)
            *sweeps.report = {size > 0 ? residual / size : 0, done};
    }
    return !any;
}

// Values, and vectors if `to` is some memory, in the order that is wanted. Has barriers.
template <class T>
__device__ void end_eigen(const Eigen<T> &e, int exponent, bool sorted,
                          typename Number<T>::Real *values, View<T> to)
{
    for (int64_t i = threadIdx.x; i < e.n; i += blockDim.x)
        e.values[i] = Number<T>::real(e.a.get(i, i));
    __syncthreads();
    for (int64_t j = warp(); j < e.n; j += warps()) {
        const int64_t place = sorted ? place_of(e.values, e.n, j, false) : j;
        if (lane() == 0) values[place] = scalbn(e.values[j], -exponent);
        for (int64_t i = lane(); i < e.n && to.first != nullptr; i += WARP)
            to.set(i, place, e.vectors.get(i, j));
    }
    __syncthreads();
}

// What the problem with B = L L' becomes without B: A in place, a whole matrix. Has barriers.
template <class T> __device__ void without_other(View<T> a, View<T> l, int64_t n, int32_t problem)
{
    const View<T> other = l.adjoint();
    for (const View<T> side : {a, a.adjoint()}) {
        if (problem == 1)
            solve_triangle(l, false, false, n, side, n);
        else
            multiply_triangle(other, true, n, side, n);
        __syncthreads();
    }
}

// A, from its lower triangle, without B. Has barriers.
template <class T>
__device__ void make_standard(View<T> a, View<T> whole, View<T> l, int64_t n, int32_t problem)
{
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = j + lane(); i < n; i += WARP) {
            whole.set(i, j, a.get(i, j));
            if (i != j) whole.set(j, i, conjugate(a.get(i, j)));
        }
    __syncthreads();
    without_other(whole, l, n, problem);
}

template <class T> __device__ void eigen(const solver_eigen &p)
{
    typedef typename Number<T>::Real Real;
    Room<T> room(p.work);
    const View<T> stored = view<T>(p.a), a = p.upper ? stored.adjoint() : stored;
    const Eigen<T> e(room, p.n, p.vectors != 0);
    View<T> from = a, l = {};
    if (p.b.first != nullptr) {
        l = p.upper ? view<T>(p.b).adjoint() : view<T>(p.b);
        from = room.matrix(p.n, p.n);
        const int64_t wrong = cholesky(l, p.n);
        if (wrong != 0) write_info(p.info, p.n + wrong);
        if (wrong != 0) return;
        make_standard(a, from, l, p.n, p.problem);
    }
    const Scale scale = scale_of(from, p.n, p.n, true);
    const View<T> to = p.vectors ? stored : View<T>{};
    Real *values = (Real *)p.values + blockIdx.x * p.n;
    if (!scale.is_finite) {
        spoil(View<Real>{values, 1, p.n, false}, p.n, 1);
        spoil(to, p.n, p.n);
        return write_info(p.info, p.n + 1);
    }
    begin_eigen(e, from, scale.exponent);
    __syncthreads();
    const bool is_done = sweep_eigen(e, p.sweeps);
    end_eigen(e, scale.exponent, !p.sweeps.unsorted, values, to);
    write_info(p.info, is_done ? 0 : p.n + 1);
    if (l.first == nullptr || !p.vectors) return;
    if (p.problem == 3)
        multiply_triangle(l, false, p.n, stored, p.n);
    else
        solve_triangle(l.adjoint(), true, false, p.n, stored, p.n);
}

// ---- singular values ----------------------------------------------------------------------------

// Columns that are to be orthogonal, no more of them than rows, and what they were multiplied by.
template <class T> struct Singular {
    int64_t rows, n;
    View<T> columns, sorted, right;
    T *tau;
    typename Number<T>::Real *values;
    bool has_left, has_right;

    __device__ Singular(Room<T> &room, int64_t m, int64_t least, bool left, bool with_right)
        : rows(m), n(least), columns(room.matrix(m, least)), sorted{}, right{}, tau(nullptr),
          has_left(left), has_right(with_right)
    {
        if (has_right) right = room.matrix(n, n);
        if (has_left) sorted = room.matrix(rows, n);
        tau = room.take(n);
        values = (typename Number<T>::Real *)room.take(n);
    }
};

// Rotates a pair of columns, unless they are orthogonal; returns whether it did. By a warp.
template <class T>
__device__ bool make_orthogonal(const Singular<T> &s, int64_t p, int64_t q, double nothing)
{
    double first = 0, second = 0, re = 0, im = 0;
    for (int64_t i = lane(); i < s.rows; i += WARP) {
        const T x = s.columns.get(i, p), y = s.columns.get(i, q);
        const double xr = real(x), xi = imaginary(x), yr = real(y), yi = imaginary(y);
        first += xr * xr + xi * xi;
        second += yr * yr + yi * yi;
        re += xr * yr + xi * yi;
        im += xr * yi - xi * yr;
    }
    first = warp_sum(first);
    second = warp_sum(second);
    re = warp_sum(re);
    im = warp_sum(im);
    if (!(hypot(re, im) > nothing * sqrt(first) * sqrt(second))) return false;
    const Rotation<T> by = rotation<T>(first, second, re, im);
    if (by.is_nothing()) return false;
    rotate_columns(s.columns, s.rows, p, q, by);
    if (s.has_right) rotate_columns(s.right, s.n, p, q, by);
    return true;
}

// Sweeps until all columns are orthogonal. Returns whether it came to that. Has barriers.
template <class T> __device__ bool sweep_singular(const Singular<T> &s, const solver_sweeps &sweeps)
{
    const int64_t players = even(s.n);
    const double nothing =
        fmax(sweeps.tolerance, precision<T>()) * sqrt((double)(s.rows > 1 ? s.rows : 1));
    bool any = true;
    int done = 0;
    while (done < sweeps.most && any) {
        any = false;
        for (int64_t round = 0; round + 1 < players; round++) {
            for (int64_t h = warp(); h < players / 2; h += warps()) {
                int64_t p, q;
                pair_of(players, round, h, p, q);
                if (p < s.n && q < s.n) any = make_orthogonal(s, p, q, nothing) || any;
            }
            __syncthreads();
        }
        any = __syncthreads_or(any);
        done++;
    }
    if (sweeps.report != nullptr && threadIdx.x == 0 && blockIdx.x == 0)
        *sweeps.report = {nothing, done};
    return !any;
}

// Singular values, the first `rank` of them; the columns in their order; of V what is wanted. Has
// barriers.
template <class T>
__device__ void sort_singular(const Singular<T> &s, bool sorted, int exponent,
                              typename Number<T>::Real *values, View<T> right, int64_t rank)
{
    typedef typename Number<T>::Real Real;
    for (int64_t j = warp(); j < s.n; j += warps()) {
        const double size = norm_of(s.columns, 0, s.rows, j);
        if (lane() == 0) s.values[j] = (Real)size;
    }
    __syncthreads();
    for (int64_t j = warp(); j < s.n; j += warps()) {
        const int64_t place = sorted ? place_of(s.values, s.n, j, true) : j;
        for (int64_t i = lane(); i < s.rows && s.has_left; i += WARP)
            s.sorted.set(i, place, s.columns.get(i, j));
        if (place >= rank) continue;
        if (lane() == 0) values[place] = scalbn(s.values[j], -exponent);
        for (int64_t i = lane(); i < s.n && s.has_right; i += WARP)
            right.set(i, place, s.right.get(i, j));
    }
    __syncthreads();
}

// The columns divided by their lengths, and `columns` - n more, so that all are orthogonal: the Q
// of the columns, whose R is diagonal. Lengths may be 0. Has barriers.
template <class T>
__device__ void complete_left(const Singular<T> &s, View<T> left, int64_t columns)
{
    triangularise(s.sorted, s.rows, s.n, s.tau);
    for (int64_t j = warp(); j < columns; j += warps())
        for (int64_t i = lane(); i < s.rows; i += WARP) {
            const bool turned = i == j && j < s.n && real(s.sorted.get(j, j)) < 0;
            left.set(i, j, Number<T>::make(i != j ? 0 : turned ? -1 : 1, 0));
        }
    __syncthreads();
    apply_reflections(s.sorted, s.tau, s.n, false, left, s.rows, columns);
}

// How large A - U S V' is, where the three have `rank` columns. Has barriers.
template <class T>
__device__ double residual_of(View<T> a, View<T> u, const typename Number<T>::Real *values,
                              View<T> v, int64_t m, int64_t n, int64_t rank)
{
    double sum = 0;
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = lane(); i < m; i += WARP) {
            T rest = a.get(i, j);
            for (int64_t k = 0; k < rank; k++)
                rest = rest - times(values[k], u.get(i, k)) * conjugate(v.get(j, k));
            sum += Number<T>::square(rest, 1);
        }
    return sqrt(block_joined<false>(sum));
}

// Of a matrix with fewer rows than columns, the adjoint is taken, whose U is V.
template <class T> __device__ void singular(const solver_singular &p)
{
    typedef typename Number<T>::Real Real;
    const bool wide = p.m < p.n, u = p.u.first != nullptr, v = p.v.first != nullptr;
    const int64_t rows = wide ? p.n : p.m, n = wide ? p.m : p.n;
    const View<T> a = wide ? view<T>(p.a).adjoint() : view<T>(p.a);
    const View<T> to_u = view<T>(p.u), to_v = p.v_adjoint ? view<T>(p.v).adjoint() : view<T>(p.v);
    Room<T> room(p.work);
    const Singular<T> s(room, rows, n, wide ? v : u, wide ? u : v);
    Real *values = (Real *)p.values + (int64_t)blockIdx.x * p.values_next;
    const Scale scale = scale_of(a, rows, n, false);
    if (!scale.is_finite) {
        spoil(View<Real>{values, 1, p.rank, false}, p.rank, 1);
        spoil(to_u, p.m, p.u_columns);
        spoil(to_v, p.n, p.v_columns);
        return write_info(p.info, n + 1);
    }
    for (int64_t j = warp(); j < n; j += warps())
        for (int64_t i = lane(); i < rows; i += WARP)
            s.columns.set(i, j, scaled(a.get(i, j), scale.exponent));
    if (s.has_right) fill(s.right, n, n, one<T>());
    __syncthreads();
    const bool is_done = sweep_singular(s, p.sweeps);
    sort_singular(s, !p.sweeps.unsorted, scale.exponent, values, wide ? to_u : to_v, p.rank);
    if (s.has_left) complete_left(s, wide ? to_v : to_u, wide ? p.v_columns : p.u_columns);
    write_info(p.info, is_done ? 0 : n + 1);
    if (p.residuals == nullptr) return;
    __syncthreads();
    const double residual = residual_of(view<T>(p.a), to_u, values, to_v, p.m, p.n, p.rank);
    if (threadIdx.x == 0) p.residuals[blockIdx.x] = residual;
}
