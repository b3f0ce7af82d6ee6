// schur: eigenvalues and right eigenvectors of a matrix that need not be symmetric, by the QR
// algorithm. Whatever the type, it computes with complex numbers in double; of a real matrix the
// eigenvalues are brought together as pairs of conjugates in the end. Every function is called by
// all threads of a block.
#pragma once
#include "emulator/standins/cusolver/jacobi.cuh"

typedef Complex<double> Wide;
__device__ double size_of(Wide x)
{
    return hypot(x.re, x.im);
}

// A = q h q': h a Hessenberg matrix at first, then a triangle; q only if vectors are wanted.
struct Schur {
    int64_t n;
    View<Wide> h, q, vectors;
    Wide *values, *tau;
    double *partners; // of each eigenvalue, and where its column goes
    double *places;
    bool has_vectors;
    double size; // of A

    __device__ Schur(Room<Wide> &room, int64_t order, bool with_vectors)
        : n(order), h(room.matrix(n, n)), q{}, vectors{}, values(room.take(n)), tau(room.take(1)),
          partners((double *)room.take(n)), places(partners + n), has_vectors(with_vectors), size(0)
    {
        if (has_vectors) q = room.matrix(n, n);
        if (has_vectors) vectors = room.matrix(n, n);
    }
};

// h becomes H' h H, and q becomes q H, where H is the reflection of column k. Has barriers.
__device__ void reflect_both_sides(const Schur &s, int64_t k)
{
    const View<Wide> below = s.h.from(1, 0);
    if (warp() == 0) {
        const Wide factor = make_reflection(below, s.n - 1, k);
        if (lane() == 0) *s.tau = factor;
    }
    __syncthreads();
    const Wide tau = conjugate(*s.tau);
    reflect(below, tau, s.n - 1, k, below, k + 1, s.n);
    __syncthreads();
    reflect(below, tau, s.n - 1, k, s.h.from(0, 1).adjoint(), 0, s.n);
    if (s.has_vectors) reflect(below, tau, s.n - 1, k, s.q.from(0, 1).adjoint(), 0, s.n);
    __syncthreads();
}

// Rows [begin, end) of columns p and p + 1, by all threads.
__device__ void rotate_rows(View<Wide> a, int64_t begin, int64_t end, int64_t p, Rotation<Wide> by)
{
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const Wide x = a.get(i, p), y = a.get(i, p + 1);
        a.set(i, p, times(by.c, x) - conjugate(by.s) * y);
        a.set(i, p + 1, by.s * x + times(by.c, y));
    }
}

// What makes y zero under x.
__device__ Rotation<Wide> rotation_of(Wide x, Wide y)
{
    const double size = size_of(x), all = hypot(size, size_of(y));
    if (all == 0) return {Wide{}, 1};
    const Wide turn = size > 0 ? times(1 / size, x) : Wide{1, 0};
    return {times(-1 / all, turn * conjugate(y)), size / all};
}

// The eigenvalue of the last two rows and columns of [.., last] that is nearer to the last element.
__device__ Wide shift_of(const Schur &s, int64_t last)
{
    const Wide a = s.h.get(last - 1, last - 1), d = s.h.get(last, last);
    const Wide product = s.h.get(last - 1, last) * s.h.get(last, last - 1);
    const Wide half = times(0.5, a - d), square = half * half + product;
    const double size = size_of(square);
    const double re = sqrt(fmax((size + square.re) / 2, 0.0));
    const double im = sqrt(fmax((size - square.re) / 2, 0.0));
    Wide root = {re, square.im < 0 ? -im : im};
    if (half.re * root.re + half.im * root.im < 0) root = {-root.re, -root.im};
    const Wide divisor = half + root;
    return size_of(divisor) > 0 ? d - product / divisor : d;
}

// One step of QR on rows and columns [first, last]. Has barriers.
__device__ void chase(const Schur &s, int64_t first, int64_t last, Wide shift)
{
    for (int64_t k = first; k < last; k++) {
        const bool begins = k == first;
        const Wide x = begins ? s.h.get(k, k) - shift : s.h.get(k, k - 1);
        const Rotation<Wide> by = rotation_of(x, s.h.get(k + 1, begins ? k : k - 1));
        __syncthreads();
        rotate_rows(s.h.adjoint(), begins ? k : k - 1, s.n, k, by);
        __syncthreads();
        rotate_rows(s.h, 0, (k + 2 < last ? k + 2 : last) + 1, k, by);
        if (s.has_vectors) rotate_rows(s.q, 0, s.n, k, by);
        __syncthreads();
    }
}

// Where the part begins that ends with `last` and has no zero below its diagonal.
__device__ int64_t beginning_of_part(const Schur &s, int64_t last)
{
    int64_t first = last;
    while (first > 0) {
        const double beside =
            size_of(s.h.get(first, first)) + size_of(s.h.get(first - 1, first - 1));
        const double nothing = precision<double>() * (beside > 0 ? beside : s.size);
        if (!(size_of(s.h.get(first, first - 1)) > nothing)) break;
        first--;
    }
    return first;
}

// Makes h a triangle. Returns how many eigenvalues were not found. Has barriers.
__device__ int64_t make_triangle(const Schur &s)
{
    enum { MOST_STEPS = 60, UNUSUAL = 10 };
    int64_t last = s.n - 1;
    int steps = 0;
    for (int64_t k = 0; k + 2 < s.n; k++) reflect_both_sides(s, k);
    for (int64_t j = warp(); j < s.n; j += warps()) // the reflections themselves
        for (int64_t i = j + 2 + lane(); i < s.n; i += WARP) s.h.set(i, j, Wide{});
    __syncthreads();
    while (last >= 0 && steps < MOST_STEPS) {
        const int64_t first = beginning_of_part(s, last);
        if (first == last) {
            last--;
            steps = 0;
            continue;
        }
        steps++;
        Wide shift = shift_of(s, last);
        if (steps % UNUSUAL == 0) shift.re += size_of(s.h.get(last, last - 1));
        chase(s, first, last, shift);
    }
    return last + 1;
}

// ---- vectors ------------------------------------------------------------------------------------

// The eigenvector of the triangle for its j-th element, in column j of `vectors`. By a warp.
__device__ void vector_of_triangle(const Schur &s, int64_t j)
{
    enum { LARGE = 1 << 30 };
    const Wide value = s.h.get(j, j);
    const double least = precision<double>() * s.size;
    for (int64_t i = lane(); i < s.n; i += WARP) {
        const Wide above = i < j ? s.h.get(i, j) : Wide{};
        s.vectors.set(i, j, i == j ? Wide{1, 0} : Wide{-above.re, -above.im});
    }
    __syncwarp();
    for (int64_t k = j - 1; k >= 0; k--) {
        Wide divisor = s.h.get(k, k) - value;
        if (!(size_of(divisor) > least)) divisor = {least > 0 ? least : 1, 0};
        const Wide x = s.vectors.get(k, j) / divisor;
        const double size = size_of(x), unit = size > LARGE ? 1 / size : 1;
        __syncwarp();
        for (int64_t i = lane(); i <= j; i += WARP) {
            Wide there = i == k ? x : s.vectors.get(i, j);
            if (i < k) there = there - s.h.get(i, k) * x;
            s.vectors.set(i, j, times(unit, there));
        }
        __syncwarp();
    }
}

// Column j of q times what is in `vectors`, 1 long, its largest element real, in h. By a warp.
__device__ void vector_of_whole(const Schur &s, int64_t j)
{
    for (int64_t i = lane(); i < s.n; i += WARP) {
        Wide sum = {};
        for (int64_t k = 0; k <= j; k++) add_product(sum, s.q.get(i, k), s.vectors.get(k, j));
        s.h.set(i, j, sum);
    }
    __syncwarp();
    const double size = norm_of(s.h, 0, s.n, j);
    Wide largest = {1, 0};
    double most = 0;
    for (int64_t i = 0; i < s.n; i++) {
        const Wide x = s.h.get(i, j);
        if (!(size_of(x) > most)) continue;
        most = size_of(x);
        largest = x;
    }
    __syncwarp();
    const Wide by = times(1 / (most * size), conjugate(largest));
    for (int64_t i = lane(); i < s.n && most > 0; i += WARP) s.h.set(i, j, by * s.h.get(i, j));
}

// ---- pairs --------------------------------------------------------------------------------------

// The one that is nearest to the conjugate of eigenvalue i, among those without a partner; -1:
// there is none as near as the real axis.
__device__ int64_t conjugate_of(const Schur &s, int64_t i)
{
    const Wide x = s.values[i];
    double near = fabs(x.im);
    int64_t at = -1;
    if (!(near > (double)s.n * precision<double>() * s.size)) return -1;
    for (int64_t j = 0; j < s.n; j++) {
        const double far = size_of(s.values[j] - conjugate(x));
        if (j == i || s.partners[j] != -1 || !(far < near)) continue;
        near = far;
        at = j;
    }
    return at;
}

// Of a real matrix: an eigenvalue is real, or has its conjugate behind it. By one thread.
__device__ void pair_values(const Schur &s)
{
    int64_t place = 0;
    for (int64_t i = 0; i < s.n; i++) s.partners[i] = -1;
    for (int64_t i = 0; i < s.n; i++) {
        if (s.partners[i] != -1) continue;
        const int64_t other = conjugate_of(s, i);
        s.partners[i] = other >= 0 ? (double)other : (double)i;
        if (other < 0) {
            s.values[i].im = 0;
            s.places[i] = (double)place++;
            continue;
        }
        const int64_t upper = s.values[i].im > 0 ? i : other, under = i + other - upper;
        const Wide mean = times(0.5, s.values[upper] + conjugate(s.values[under]));
        s.partners[other] = (double)i;
        s.values[upper] = mean;
        s.values[under] = conjugate(mean);
        s.places[upper] = (double)place++;
        s.places[under] = (double)place++;
    }
}

// ---- the kernel ---------------------------------------------------------------------------------

// Of a real matrix, a pair has the real and the imaginary part of its first vector.
template <class T> struct General {
    static __device__ void give_vectors(const Schur &s, View<T> to)
    {
        for (int64_t j = warp(); j < s.n; j += warps()) {
            const int64_t other = (int64_t)s.partners[j], place = (int64_t)s.places[j];
            if (other != j && s.values[j].im < 0) continue;
            for (int64_t i = lane(); i < s.n; i += WARP) {
                to.set(i, place, (T)s.h.get(i, j).re);
                if (other != j) to.set(i, place + 1, (T)s.h.get(i, j).im);
            }
        }
    }
    static __device__ void pair(const Schur &s)
    {
        if (threadIdx.x == 0) pair_values(s);
    }
};
template <class R> struct General<Complex<R>> {
    static __device__ void give_vectors(const Schur &s, View<Complex<R>> to)
    {
        for (int64_t j = warp(); j < s.n; j += warps())
            for (int64_t i = lane(); i < s.n; i += WARP)
                to.set(i, j, Number<Complex<R>>::make(s.h.get(i, j).re, s.h.get(i, j).im));
    }
    static __device__ void pair(const Schur &s)
    {
        for (int64_t i = threadIdx.x; i < s.n; i += blockDim.x) s.places[i] = (double)i;
    }
};

template <class T>
__device__ void give_values(const Schur &s, const solver_general &p, int exponent)
{
    typedef typename Number<T>::Real Real;
    for (int64_t i = threadIdx.x; i < s.n; i += blockDim.x) {
        const int64_t place = (int64_t)s.places[i];
        const Wide value = scaled(s.values[i], -exponent);
        Real *to = (Real *)p.values;
        to[p.apart ? place : 2 * place] = (Real)value.re;
        to[p.apart ? s.n + place : 2 * place + 1] = (Real)value.im;
    }
}

template <class T> __device__ void geev(const solver_general &p)
{
    typedef typename Number<T>::Real Real;
    Room<Wide> room(p.work);
    Schur s(room, p.n, p.vectors.first != nullptr);
    const View<T> a = view<T>(p.a);
    const Scale scale = scale_of(a, p.n, p.n, false);
    if (!scale.is_finite) {
        spoil(View<Real>{(Real *)p.values, 1, 2 * p.n, false}, 2 * p.n, 1);
        spoil(view<T>(p.vectors), p.n, p.n);
        return write_info(p.info, p.n);
    }
    for (int64_t j = warp(); j < p.n; j += warps())
        for (int64_t i = lane(); i < p.n; i += WARP) {
            const T x = a.get(i, j);
            s.h.set(i, j, scaled(Wide{real(x), imaginary(x)}, scale.exponent));
        }
    if (s.has_vectors) fill(s.q, p.n, p.n, Wide{1, 0});
    __syncthreads();
    s.size = size_of(s.h, p.n, true);
    const int64_t missing = make_triangle(s);
    write_info(p.info, missing);
    for (int64_t i = threadIdx.x; i < p.n; i += blockDim.x) s.values[i] = s.h.get(i, i);
    for (int64_t j = warp(); j < p.n && s.has_vectors; j += warps()) vector_of_triangle(s, j);
    __syncthreads();
    for (int64_t j = warp(); j < p.n && s.has_vectors; j += warps()) vector_of_whole(s, j);
    General<T>::pair(s);
    __syncthreads();
    give_values<T>(s, p, scale.exponent);
    if (s.has_vectors) General<T>::give_vectors(s, view<T>(p.vectors));
}
