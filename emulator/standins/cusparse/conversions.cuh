// conversions: between dense and sparse matrices, and between the formats of sparse ones.
#pragma once
#include "emulator/standins/cusparse/views.cuh"

// What is only copied, by its size.
struct Bytes16 {
    int64_t low, high;
};

template <class T> __device__ bool is_nothing(T x)
{
    return is_zero(x);
}
__device__ inline bool is_nothing(__half x)
{
    return (float)x == 0;
}
__device__ inline bool is_nothing(__nv_bfloat16 x)
{
    return (float)x == 0;
}

// ---- dense and sparse ---------------------------------------------------------------------------

template <class T> __device__ void clear(const sparse_scaling &p)
{
    const int64_t i = thread_x();
    for (int64_t j = thread_y(); i < p.m && j < p.n; j += gridDim.y)
        element_at<T>(p.c, i, j, 0) = T();
}

template <class T> __device__ void to_dense(const sparse_conversion &p)
{
    const int64_t line = thread_x();
    if (line >= p.a.lines) return;
    const Entries at = entries_of(p.a, line);
    for (int64_t k = at.begin; k < at.end; k++)
        element_at<T>(p.b, at.index, place_of(p.a, k), 0) = value_of<T>(p.a, k);
}

template <class T> __device__ void count_entries(const sparse_conversion &p)
{
    const int64_t line = thread_x();
    if (line >= p.lines) return;
    int64_t count = 0;
    for (int64_t j = 0; j < p.places; j++)
        if (!is_nothing(element_at<T>(p.b, line, j, 0))) count++;
    if (p.each != nullptr)
        p.each[line] = (int32_t)count;
    else
        p.counts[line] = count;
}

template <class T> __device__ void to_sparse(const sparse_conversion &p)
{
    const int64_t line = thread_x();
    if (line >= p.lines) return;
    int64_t k = p.counts[line];
    for (int64_t j = 0; j < p.places; j++) {
        const T x = element_at<T>(p.b, line, j, 0);
        if (is_nothing(x)) continue;
        if (p.a.line_of.first != nullptr) put_index(p.a.line_of, k, line + p.a.base);
        put_index(p.a.places, k, j + p.a.base);
        value_of<T>(p.a, k++) = x;
    }
}

// ---- sums and starts ----------------------------------------------------------------------------

// One block of SPARSE_ADDERS threads: each has a piece of the numbers.
struct Piece {
    int64_t begin, end;
    __device__ explicit Piece(int64_t count)
    {
        const int64_t each = (count + SPARSE_ADDERS - 1) / SPARSE_ADDERS;
        begin = min((int64_t)threadIdx.x * each, count);
        end = min(begin + each, count);
    }
    // The sum of the numbers in front of this piece.
    template <class N> __device__ int64_t before(const N *numbers) const
    {
        __shared__ int64_t sums[SPARSE_ADDERS];
        int64_t sum = 0;
        for (int64_t k = begin; k < end; k++) sum += numbers[k];
        sums[threadIdx.x] = sum;
        __syncthreads();
        sum = 0;
        for (unsigned t = 0; t < threadIdx.x; t++) sum += sums[t];
        return sum;
    }
};

__device__ inline void scan(const sparse_scan &p)
{
    const Piece piece(p.count);
    int64_t sum = piece.before(p.numbers);
    for (int64_t k = piece.begin; k < piece.end; k++) {
        const int64_t number = p.numbers[k];
        p.numbers[k] = sum;
        sum += number;
    }
    if (threadIdx.x == SPARSE_ADDERS - 1) p.numbers[p.count] = sum;
}

__device__ inline void add_up(const sparse_adding &p)
{
    const Piece piece(p.count);
    int64_t sum = piece.before(p.numbers);
    for (int64_t k = piece.begin; k < piece.end; k++) {
        if (p.starts != nullptr) p.starts[k] = (int32_t)(sum + p.base);
        sum += p.numbers[k];
    }
    if (threadIdx.x != SPARSE_ADDERS - 1) return;
    if (p.starts != nullptr) p.starts[p.count] = (int32_t)(sum + p.base);
    if (p.total != nullptr) *p.total = (int32_t)sum;
}

__device__ inline void write_starts(const sparse_starts &p)
{
    const int64_t line = thread_x();
    if (line > p.lines) return;
    if (p.starts.first != nullptr) put_index(p.starts, line, p.sums[line] + p.base);
    if (line == p.lines && p.total != nullptr) *p.total = (int32_t)p.sums[line];
}

// ---- sparse and sparse --------------------------------------------------------------------------

// One thread, since equal columns keep their order.
template <class T> __device__ void turn(const sparse_turning &p)
{
    for (int64_t j = 0; j <= p.places; j++) p.cursors[j] = 0;
    for (int64_t k = 0; k < p.count; k++) p.cursors[p.at[k] - p.base + 1]++;
    for (int64_t j = 0; j < p.places; j++) p.cursors[j + 1] += p.cursors[j];
    for (int64_t j = 0; j <= p.places; j++) p.new_starts[j] = (int32_t)(p.cursors[j] + p.base);
    for (int64_t i = 0; i < p.lines; i++) {
        for (int64_t k = p.starts[i] - p.base; k < p.starts[i + 1] - p.base; k++) {
            const int64_t to = p.cursors[p.at[k] - p.base]++;
            p.new_at[to] = (int32_t)(i + p.base);
            if (p.values != nullptr) ((T *)p.new_values)[to] = ((const T *)p.values)[k];
        }
    }
}

// A thread has the start of a row: how many entries are in rows before it.
__device__ inline void starts_of_rows(const sparse_rows &p)
{
    const int64_t row = thread_x();
    if (row > p.rows) return;
    int64_t begin = 0, end = p.count;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (p.row_of[middle] - p.base < row)
            begin = middle + 1;
        else
            end = middle;
    }
    p.starts[row] = (int32_t)(begin + p.base);
}

__device__ inline void rows_of_starts(const sparse_rows &p)
{
    const int64_t row = thread_x();
    if (row >= p.rows) return;
    for (int64_t k = p.starts[row] - p.base; k < p.starts[row + 1] - p.base; k++)
        p.row_of[k] = (int32_t)(row + p.base);
}

struct Indices {
    int32_t *first, *second, *along, *order; // first, along: may be NULL
    __device__ Indices(int32_t *first_, int32_t *second_, int32_t *along_, int32_t *order_,
                       int64_t count)
        : first(first_), second(second_), along(along_), order(order_)
    {
        for (int64_t k = 0; k < count; k++) order[k] = (int32_t)k;
    }
    __device__ bool is_less(int64_t a, int64_t b) const
    {
        if (first != nullptr && first[a] != first[b]) return first[a] < first[b];
        if (second[a] != second[b]) return second[a] < second[b];
        return order[a] < order[b];
    }
    __device__ static void exchange_two(int32_t *of, int64_t a, int64_t b)
    {
        if (of == nullptr) return;
        const int32_t kept = of[a];
        of[a] = of[b];
        of[b] = kept;
    }
    __device__ void exchange(int64_t a, int64_t b) const
    {
        exchange_two(first, a, b);
        exchange_two(second, a, b);
        exchange_two(along, a, b);
        exchange_two(order, a, b);
    }
};

__device__ inline void sort_all(const sparse_sorting &p)
{
    sort(Indices(p.first, p.second, p.permutation, p.order, p.count), p.count);
}

__device__ inline void sort_lines(const sparse_sorting &p)
{
    const int64_t line = thread_x();
    if (line >= p.lines) return;
    const int64_t begin = p.starts[line] - p.base, count = p.starts[line + 1] - p.base - begin;
    int32_t *along = p.permutation == nullptr ? nullptr : p.permutation + begin;
    sort(Indices(nullptr, p.second + begin, along, p.order + begin, count), count);
}

__device__ inline void identity(const sparse_sorting &p)
{
    const int64_t k = thread_x();
    if (k < p.count) p.permutation[k] = (int32_t)k;
}

// ---- a part of the entries ----------------------------------------------------------------------

template <class T> __device__ double size_of(T x)
{
    return fabs((double)x);
}
template <class R> __device__ double size_of(Complex<R> x)
{
    return hypot((double)x.re, (double)x.im);
}

template <class T> __device__ bool is_selected(const sparse_selection &p, int64_t k)
{
    return size_of(value_of<T>(p.a, k)) > size_of(Number<T>::make(p.re, p.im));
}

template <class T> __device__ void count_selected(const sparse_selection &p)
{
    const int64_t line = thread_x();
    if (line >= p.a.lines) return;
    const Entries at = entries_of(p.a, line);
    int64_t count = 0;
    for (int64_t k = at.begin; k < at.end; k++)
        if (is_selected<T>(p, k)) count++;
    p.each[line] = (int32_t)count;
}

template <class T> __device__ void select(const sparse_selection &p)
{
    const int64_t line = thread_x();
    if (line >= p.a.lines) return;
    const Entries at = entries_of(p.a, line);
    int64_t to = entries_of(p.c, line).begin;
    for (int64_t k = at.begin; k < at.end; k++) {
        if (!is_selected<T>(p, k)) continue;
        put_index(p.c.places, to, index_at(p.a.places, k));
        value_of<T>(p.c, to++) = value_of<T>(p.a, k);
    }
}
