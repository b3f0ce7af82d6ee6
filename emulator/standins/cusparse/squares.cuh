// squares: products and sums of sparse matrices that are sparse themselves. A thread has a row.
#pragma once
#include "emulator/standins/cusparse/views.cuh"

__device__ inline void count_products(const sparse_square &p)
{
    const int64_t row = thread_x();
    if (row >= p.a.lines) return;
    const Entries at = entries_of(p.a, row);
    int64_t count = 0;
    for (int64_t k = at.begin; k < at.end; k++) {
        const Entries of = entries_of(p.b, place_of(p.a, k));
        count += of.end - of.begin;
    }
    p.products[row] = count;
}

struct Columns {
    int64_t *first;
    __device__ bool is_less(int64_t a, int64_t b) const
    {
        return first[a] < first[b];
    }
    __device__ void exchange(int64_t a, int64_t b) const
    {
        const int64_t kept = first[a];
        first[a] = first[b];
        first[b] = kept;
    }
};

// The columns of a row of C: those of all products, each once, in order.
__device__ inline void find_columns(const sparse_square &p)
{
    const int64_t row = thread_x();
    if (row >= p.a.lines) return;
    const Entries at = entries_of(p.a, row);
    int64_t *columns = p.columns + p.products[row], count = 0, kept = 0;
    for (int64_t k = at.begin; k < at.end; k++) {
        const Entries of = entries_of(p.b, place_of(p.a, k));
        for (int64_t q = of.begin; q < of.end; q++) columns[count++] = place_of(p.b, q);
    }
    sort(Columns{columns}, count);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || columns[k] != columns[k - 1]) columns[kept++] = columns[k];
    p.counts[row] = kept;
}

__device__ inline void write_columns(const sparse_square &p)
{
    const int64_t row = thread_x();
    if (row >= p.a.lines) return;
    const int64_t *columns = p.columns + p.products[row];
    for (int64_t k = p.counts[row]; k < p.counts[row + 1]; k++)
        put_index(p.c.places, k, *columns++ + p.c.base);
}

template <class T> __device__ void square(const sparse_square &p)
{
    const int64_t row = thread_x();
    if (row >= p.a.lines) return;
    const Entries at = entries_of(p.a, row), to = entries_of(p.c, row);
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    for (int64_t k = to.begin; k < to.end; k++) {
        T &c = value_of<T>(p.c, k);
        c = is_zero(beta) ? T() : beta * c;
    }
    for (int64_t k = at.begin; k < at.end; k++) {
        const T a = alpha * value_of<T>(p.a, k);
        const Entries of = entries_of(p.b, place_of(p.a, k));
        for (int64_t q = of.begin; q < of.end; q++) {
            const int64_t there = find_entry(p.c, to.begin, to.end, place_of(p.b, q));
            if (there >= 0) add_product(value_of<T>(p.c, there), a, value_of<T>(p.b, q));
        }
    }
}

// ---- sums ---------------------------------------------------------------------------------------

// Walks through a row of A and one of B at once, in the order of their places.
struct Merge {
    const sparse_sum &p;
    Entries a, b;
    int64_t place;
    bool in_a, in_b; // where the present place has an entry: a.begin, b.begin

    __device__ Merge(const sparse_sum &of, int64_t row)
        : p(of), a(entries_of(of.a, row)), b(entries_of(of.b, row)), in_a(false), in_b(false)
    {
    }
    __device__ bool next()
    {
        a.begin += in_a;
        b.begin += in_b;
        const bool more_a = a.begin < a.end, more_b = b.begin < b.end;
        const int64_t at_a = more_a ? place_of(p.a, a.begin) : INT64_MAX;
        const int64_t at_b = more_b ? place_of(p.b, b.begin) : INT64_MAX;
        place = min(at_a, at_b);
        in_a = more_a && at_a == place;
        in_b = more_b && at_b == place;
        return more_a || more_b;
    }
};

__device__ inline void count_sums(const sparse_sum &p)
{
    const int64_t row = thread_x();
    if (row >= p.a.lines) return;
    int64_t count = 0;
    for (Merge merge(p, row); merge.next();) count++;
    p.counts[row] = count;
}

template <class T> __device__ void sum(const sparse_sum &p)
{
    const int64_t row = thread_x();
    if (row >= p.a.lines) return;
    const T alpha = factor<T, T>(p.alpha), beta = factor<T, T>(p.beta);
    int64_t to = entries_of(p.c, row).begin;
    for (Merge merge(p, row); merge.next(); to++) {
        const T a = merge.in_a ? alpha * value_of<T>(p.a, merge.a.begin) : T();
        const T b = merge.in_b ? beta * value_of<T>(p.b, merge.b.begin) : T();
        put_index(p.c.places, to, merge.place + p.c.base);
        value_of<T>(p.c, to) = a + b;
    }
}
