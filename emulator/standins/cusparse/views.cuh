// views: places in sparse matrices and vectors, and how indices are sorted.
#pragma once
#include "emulator/standins/cublas/numbers.cuh"
#include "emulator/standins/cusparse/parameters.h"

__device__ inline int64_t index_at(const sparse_indices &of, int64_t k)
{
    return of.wide ? ((const int64_t *)of.first)[k] : ((const int32_t *)of.first)[k];
}
__device__ inline void put_index(const sparse_indices &of, int64_t k, int64_t value)
{
    if (of.wide)
        ((int64_t *)of.first)[k] = value;
    else
        ((int32_t *)of.first)[k] = (int32_t)value;
}
__device__ inline void advance(sparse_indices &of, int64_t by)
{
    if (of.first != nullptr) of.first = (char *)of.first + by * (of.wide ? 8 : 4);
}

// Matrix `k` of a batch.
template <class T> __device__ sparse_matrix of_batch(const sparse_matrix &first, int64_t k)
{
    sparse_matrix m = first;
    if (k == 0) return m;
    advance(m.starts, k * m.next_start);
    advance(m.line_of, k * m.next_entry);
    advance(m.places, k * m.next_entry);
    m.values = (T *)m.values + k * m.next_entry;
    return m;
}
template <class T> __device__ T &element_at(const blas_matrix &m, int64_t i, int64_t j, int64_t z)
{
    return ((T *)m.first)[i * m.row + j * m.column + z * m.next];
}

// The entries [begin, end) of line `line`, which is the matrix's number `index`.
struct Entries {
    int64_t index, begin, end;
};
__device__ inline Entries entries_of(const sparse_matrix &m, int64_t line)
{
    if (m.starts.first == nullptr) return {index_at(m.line_of, line) - m.base, line, line + 1};
    return {line, index_at(m.starts, line) - m.base, index_at(m.starts, line + 1) - m.base};
}
__device__ inline int64_t place_of(const sparse_matrix &m, int64_t entry)
{
    return index_at(m.places, entry) - m.base;
}
template <class T> __device__ T &value_of(const sparse_matrix &m, int64_t entry)
{
    return ((T *)m.values)[entry];
}

// Where `place` is among the entries [begin, end), whose places ascend; -1: it is not there.
__device__ inline int64_t find_entry(const sparse_matrix &m, int64_t begin, int64_t end,
                                     int64_t place)
{
    const int64_t behind = end;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (place_of(m, middle) < place)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < behind && place_of(m, begin) == place ? begin : -1;
}

// Heap sort of `count` things that LIST compares and exchanges by their numbers.
template <class List> __device__ void sift(const List &list, int64_t from, int64_t count)
{
    for (int64_t child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && list.is_less(child, child + 1)) child++;
        if (!list.is_less(from, child)) return;
        list.exchange(from, child);
    }
}
template <class List> __device__ void sort(const List &list, int64_t count)
{
    for (int64_t k = count / 2; k-- > 0;) sift(list, k, count);
    for (int64_t k = count; k-- > 1;) {
        list.exchange(0, k);
        sift(list, 0, k);
    }
}
