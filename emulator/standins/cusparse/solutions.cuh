// solutions: of sparse triangles and of bands, and incomplete factors.
#pragma once
#include "emulator/standins/cusparse/views.cuh"

// ---- under a triangle ---------------------------------------------------------------------------

// The entries of lines that are asked for one after the other, from either end. COO has no starts:
// `cursor` is where the line before ended.
struct Lines {
    const sparse_matrix &m;
    int64_t cursor;

    __device__ Lines(const sparse_matrix &of, bool forward) : m(of), cursor(forward ? 0 : of.count)
    {
    }
    __device__ bool is_of(int64_t entry, int64_t line) const
    {
        return index_at(m.line_of, entry) - m.base == line;
    }
    __device__ Entries take(int64_t line, bool forward)
    {
        if (m.starts.first != nullptr) return entries_of(m, line);
        const int64_t from = cursor;
        while (forward && cursor < m.count && is_of(cursor, line)) cursor++;
        while (!forward && cursor > 0 && is_of(cursor - 1, line)) cursor--;
        return {line, forward ? from : cursor, forward ? cursor : from};
    }
};

template <class T> __device__ T &unknown(const sparse_solution &p, int64_t i, int64_t j)
{
    return element_at<T>(p.x, i, j, 0);
}

// A thread has a column of X, and finds its unknowns one after the other.
template <class T> __device__ void solve(const sparse_solution &p)
{
    const int64_t j = thread_x(), order = p.a.rows;
    const bool forward = (p.lower != 0) != (p.turned != 0); // the first unknown is found first
    if (j >= p.n) return;
    const T alpha = factor<T, T>(p.alpha);
    for (int64_t i = 0; i < order; i++)
        unknown<T>(p, i, j) =
            alpha * Number<T>::conjugate(element_at<T>(p.b, i, j, 0), p.b.conjugate);
    Lines lines(p.a, forward);
    for (int64_t step = 0; step < order; step++) {
        const int64_t line = forward ? step : order - 1 - step;
        const Entries at = lines.take(line, forward);
        T diagonal = p.unit ? Number<T>::make(1, 0) : T(), known = T();
        for (int64_t k = at.begin; k < at.end; k++) {
            const int64_t place = place_of(p.a, k);
            const T a = Number<T>::conjugate(value_of<T>(p.a, k), p.conjugate);
            if (place == line && !p.unit) diagonal = diagonal + a;
            if (!p.turned && (p.lower ? place < line : place > line))
                add_product(known, a, unknown<T>(p, place, j));
        }
        const T x = (unknown<T>(p, line, j) - known) / diagonal;
        unknown<T>(p, line, j) = x;
        for (int64_t k = at.begin; k < at.end && p.turned; k++) {
            const int64_t place = place_of(p.a, k);
            const T a = Number<T>::conjugate(value_of<T>(p.a, k), p.conjugate);
            if (p.lower ? place < line : place > line)
                unknown<T>(p, place, j) = unknown<T>(p, place, j) - a * x;
        }
    }
}

// ---- three diagonals ----------------------------------------------------------------------------

// The working copies of a system, m elements each, as LAPACK's gttrf leaves them.
template <class T> struct Bands {
    T *lower, *middle, *upper, *second, *exchanged;
    __device__ Bands(const sparse_bands &p, int64_t system)
    {
        lower = (T *)p.work + 5 * p.m * system;
        middle = lower + p.m;
        upper = middle + p.m;
        second = upper + p.m;
        exchanged = second + p.m;
    }
};

// A thread has a system: elimination, with rows exchanged where that makes pivots larger.
template <class T> __device__ void eliminate(const sparse_bands &p)
{
    const int64_t system = thread_x(), m = p.m, first = system * p.next;
    if (system >= p.count) return;
    const Bands<T> w(p, system);
    for (int64_t i = 0; i < m; i++) {
        w.lower[i] = i + 1 < m ? ((const T *)p.lower)[first + i + 1] : T();
        w.middle[i] = ((const T *)p.middle)[first + i];
        w.upper[i] = i + 1 < m ? ((const T *)p.upper)[first + i] : T();
        w.second[i] = w.exchanged[i] = T();
    }
    for (int64_t i = 0; i + 1 < m; i++) {
        if (Number<T>::size(w.middle[i]) < Number<T>::size(w.lower[i])) {
            const T pivot = w.lower[i], next = w.middle[i + 1];
            w.exchanged[i] = Number<T>::make(1, 0);
            w.lower[i] = w.middle[i] / pivot;
            w.middle[i] = pivot;
            w.middle[i + 1] = w.upper[i] - w.lower[i] * next;
            w.upper[i] = next;
            w.second[i] = w.upper[i + 1];
            w.upper[i + 1] = T() - w.lower[i] * w.upper[i + 1];
        } else {
            w.lower[i] = w.lower[i] / w.middle[i];
            w.middle[i + 1] = w.middle[i + 1] - w.lower[i] * w.upper[i];
        }
    }
}

// A thread has a right side.
template <class T> __device__ void substitute(const sparse_bands &p)
{
    const int64_t right = thread_x(), m = p.m;
    if (right >= p.n * p.count) return;
    const int64_t j = right % p.n, system = right / p.n;
    const Bands<T> w(p, system);
    T *x = (T *)p.right + j * p.ld + system * p.next;
    for (int64_t i = 0; i + 1 < m; i++) {
        if (!is_zero(w.exchanged[i])) {
            const T kept = x[i];
            x[i] = x[i + 1];
            x[i + 1] = kept;
        }
        x[i + 1] = x[i + 1] - w.lower[i] * x[i];
    }
    for (int64_t i = m; i-- > 0;) {
        if (i + 1 < m) x[i] = x[i] - w.upper[i] * x[i + 1];
        if (i + 2 < m) x[i] = x[i] - w.second[i] * x[i + 2];
        x[i] = x[i] / w.middle[i];
    }
}

// ---- incomplete factors -------------------------------------------------------------------------

// A thread has a row: where its diagonal is.
__device__ inline void find_diagonals(const sparse_factoring &p)
{
    const int64_t row = thread_x();
    if (row >= p.a.lines) return;
    const Entries at = entries_of(p.a, row);
    p.diagonals[row] = find_entry(p.a, at.begin, at.end, row);
    if (p.diagonals[row] < 0) atomicMin((unsigned *)p.pivot, (unsigned)(row + p.a.base));
}

__device__ inline void miss_pivot(const sparse_factoring &p, int64_t row)
{
    if (*p.pivot < 0) *p.pivot = (int32_t)(row + p.a.base);
}

// A pivot as it is to be divided by.
template <class T> __device__ T pivot_of(const sparse_factoring &p, int64_t row)
{
    const int64_t at = p.diagonals[row];
    const T pivot = at < 0 ? T() : value_of<T>(p.a, at);
    if (is_zero(pivot)) miss_pivot(p, row);
    return pivot;
}

// One thread: row after row of A becomes one of L and of U, whose diagonal is stored.
template <class T> __device__ void factor_lu(const sparse_factoring &p)
{
    for (int64_t i = 0; i < p.a.lines; i++) {
        const Entries at = entries_of(p.a, i);
        for (int64_t k = at.begin; k < at.end && place_of(p.a, k) < i; k++) {
            const int64_t j = place_of(p.a, k);
            const T l = value_of<T>(p.a, k) / pivot_of<T>(p, j);
            value_of<T>(p.a, k) = l;
            if (p.diagonals[j] < 0) continue;
            const int64_t end = entries_of(p.a, j).end;
            for (int64_t q = p.diagonals[j] + 1, to = k + 1; q < end; q++) {
                while (to < at.end && place_of(p.a, to) < place_of(p.a, q)) to++;
                if (to == at.end) break;
                if (place_of(p.a, to) != place_of(p.a, q)) continue;
                T &x = value_of<T>(p.a, to);
                x = x - l * value_of<T>(p.a, q);
            }
        }
        if (p.boosts && p.diagonals[i] >= 0) {
            T &pivot = value_of<T>(p.a, p.diagonals[i]);
            if (sqrt(Number<T>::square(pivot, 1)) <= factor<double, double>(p.least))
                pivot = factor<T, T>(p.boost);
        }
        pivot_of<T>(p, i);
    }
}

// The sum of the products of what rows i and j of L have before column j.
template <class T> __device__ T product_before(const sparse_factoring &p, int64_t i, int64_t j)
{
    const Entries of_i = entries_of(p.a, i), of_j = entries_of(p.a, j);
    T sum = T();
    for (int64_t a = of_i.begin, b = of_j.begin; a < of_i.end && b < of_j.end;) {
        const int64_t at_a = place_of(p.a, a), at_b = place_of(p.a, b);
        if (at_a >= j || at_b >= j) break;
        if (at_a == at_b)
            add_product(sum, value_of<T>(p.a, a), Number<T>::conjugate(value_of<T>(p.a, b), true));
        a += at_a <= at_b;
        b += at_b <= at_a;
    }
    return sum;
}

// One thread: the lower triangle of A becomes L of A = L L'.
template <class T> __device__ void factor_cholesky(const sparse_factoring &p)
{
    typedef typename Number<T>::Real Real;
    for (int64_t i = 0; i < p.a.lines; i++) {
        const Entries at = entries_of(p.a, i);
        for (int64_t k = at.begin; k < at.end && place_of(p.a, k) <= i; k++) {
            const int64_t j = place_of(p.a, k);
            T &x = value_of<T>(p.a, k);
            x = x - product_before<T>(p, i, j);
            if (j < i) {
                x = x / pivot_of<T>(p, j);
                continue;
            }
            const Real square = Number<T>::real(x);
            if (!(square > 0)) miss_pivot(p, i);
            x = Number<T>::of_real(sqrt(square));
        }
        pivot_of<T>(p, i);
    }
}
