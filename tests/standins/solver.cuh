// What the checks of the stand-in for cuSOLVER share: matrices on both sides, whose padding and
// whose triangle that is not stored have numbers that must not be used, and products on the host in
// double.
#pragma once
#include "blas.cuh"

#include <cusolverDn.h>

// How far from right a result of a type may be, relative to the numbers that it is made of.
template <class T> inline double allowed(int n)
{
    const bool is_float = sizeof(T) == sizeof(float) || std::is_same<T, cuComplex>::value;
    return (is_float ? 1e-6 : 2e-15) * (n + 8);
}
typedef std::vector<std::vector<Wide>> Table; // by rows

// A matrix by columns; `more` rows of padding, which stay what they are.
template <class T> struct Dense {
    int rows, columns, ld;
    std::vector<T> values;
    T *device;

    Dense(int rows_, int columns_, int more = 2)
        : rows(rows_), columns(columns_), ld(rows_ + more), values((size_t)ld * columns_)
    {
        for (T &x : values) x = narrow(Wide(unused()), T());
        for (int j = 0; j < columns; j++)
            for (int i = 0; i < rows; i++) put(i, j, drawn());
        CHECK_STATUS(cudaMalloc(&device, values.size() * sizeof(T) + 1));
        send();
    }
    Dense(const Dense &) = delete;
    ~Dense()
    {
        cudaDeviceSynchronize();
        cudaFree(device);
    }
    static double unused()
    {
        return 1e15;
    }
    static Wide drawn()
    {
        const double re = draw(1000) / 1000.0, im = draw(1000) / 1000.0;
        return Wide(re, is_complex<T>() ? im : 0);
    }
    Wide at(int i, int j) const
    {
        return widen(values[(size_t)i + (size_t)j * ld]);
    }
    void put(int i, int j, Wide x)
    {
        values[(size_t)i + (size_t)j * ld] = narrow(x, T());
    }
    void put(const Table &table)
    {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) put(i, j, table[i][j]);
        send();
    }
    // One triangle of a table; the other one has numbers that are not to be used.
    void put_triangle(const Table &table, cublasFillMode_t fill)
    {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                put(i, j, is_stored(fill, i, j) ? table[i][j] : Wide(unused()));
        send();
    }
    static bool is_stored(cublasFillMode_t fill, int i, int j)
    {
        return fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
    }
    void send()
    {
        CHECK_STATUS(
            cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    // What the device has, asked for in that line; the padding must be as it was, if it is kept.
    Table fetch(bool keeps = true, int line = __builtin_LINE())
    {
        bool stays = true;
        Table table(rows, std::vector<Wide>(columns));
        CHECK_STATUS(
            cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
        for (int j = 0; j < columns; j++)
            for (int i = rows; i < ld; i++)
                stays &=
                    widen(values[(size_t)i + (size_t)j * ld]) == widen(narrow(Wide(unused()), T()));
        if (keeps && !stays) std::printf("padding of what line %d fetches\n", line);
        check(stays || !keeps, "the padding stays", "some type");
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) table[i][j] = at(i, j);
        return table;
    }
    Table table() const
    {
        Table table(rows, std::vector<Wide>(columns));
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) table[i][j] = at(i, j);
        return table;
    }
};

inline bool are_zero(const Array<int> &info)
{
    for (int each : info.fetch())
        if (each != 0) return false;
    return true;
}

// ---- tables -------------------------------------------------------------------------------------

inline Table product(const Table &a, const Table &b)
{
    Table c(a.size(), std::vector<Wide>(b.empty() ? 0 : b[0].size()));
    for (size_t i = 0; i < a.size(); i++)
        for (size_t k = 0; k < b.size(); k++)
            for (size_t j = 0; j < b[k].size(); j++) c[i][j] += a[i][k] * b[k][j];
    return c;
}
inline Table adjoint(const Table &a)
{
    Table b(a.empty() ? 0 : a[0].size(), std::vector<Wide>(a.size()));
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < a[i].size(); j++) b[j][i] = std::conj(a[i][j]);
    return b;
}
inline Table under(const Table &a, cublasOperation_t op)
{
    if (op == CUBLAS_OP_N) return a;
    Table b = adjoint(a);
    for (auto &row : b)
        for (Wide &x : row)
            if (op == CUBLAS_OP_T) x = std::conj(x);
    return b;
}
inline Table unit(size_t n)
{
    Table a(n, std::vector<Wide>(n));
    for (size_t i = 0; i < n; i++) a[i][i] = 1;
    return a;
}
inline Table part(const Table &a, size_t rows, size_t columns)
{
    Table b(rows, std::vector<Wide>(columns));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) b[i][j] = a[i][j];
    return b;
}
inline double size_of(const Table &a)
{
    double most = 0;
    for (const auto &row : a)
        for (Wide x : row) most = std::max(most, std::abs(x));
    return most;
}
// The largest difference, relative to the largest element; no number is far away.
inline double distance(const Table &a, const Table &b)
{
    double most = 0;
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < a[i].size(); j++) {
            const double difference = std::abs(a[i][j] - b[i][j]);
            if (!(difference <= most)) most = difference == difference ? difference : 1e300;
        }
    return most / (1 + size_of(b));
}
// Whether the columns are orthogonal, and 1 long.
inline double from_orthogonal(const Table &a)
{
    return distance(product(adjoint(a), a), unit(a.empty() ? 0 : a[0].size()));
}
// One triangle of a table, and 0, or the adjoint, in the other one.
inline Table triangle(const Table &a, cublasFillMode_t fill, bool hermitian = false)
{
    Table b = a;
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < a[i].size(); j++) {
            const bool stored = fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
            if (!stored) b[i][j] = hermitian ? std::conj(a[j][i]) : 0;
        }
    return b;
}
template <class T> Table drawn(int rows, int columns)
{
    Table a(rows, std::vector<Wide>(columns));
    for (auto &row : a)
        for (Wide &x : row) x = Dense<T>::drawn();
    return a;
}
template <class T> Table hermitian(int n)
{
    const Table a = drawn<T>(n, n), b = adjoint(a);
    Table c = a;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c[i][j] = (a[i][j] + b[i][j]) * 0.5;
    return c;
}
template <class T> Table positive(int n)
{
    const Table a = drawn<T>(n, n);
    Table b = product(a, adjoint(a));
    for (int i = 0; i < n; i++) b[i][i] = b[i][i].real() + 1;
    return b;
}

#define CHECK_FAR(value, most, what, type)                                                         \
    do {                                                                                           \
        const double far_ = (value);                                                               \
        if (!(far_ <= (most))) std::printf("%s:%d: %g\n", __FILE__, __LINE__, far_);               \
        check(far_ <= (most), what, type);                                                         \
    } while (0)
