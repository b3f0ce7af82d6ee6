// What the checks of the stand-in for cuBLAS share: numbers, matrices on both sides, and what is
// expected, computed on the host in double. Elements are small whole numbers, so that sums are
// exact in every type and every order.
#pragma once
#include <cuComplex.h>
#include <cublas_v2.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>
#include <vector>

typedef std::complex<double> Wide;

extern int failures;
inline void check(bool fine, const char *what, const char *type)
{
    if (fine) return;
    std::printf("not so: %s, %s\n", what, type);
    failures++;
}
#define CHECK_STATUS(call)                                                                         \
    do {                                                                                           \
        const int status_ = (int)(call);                                                           \
        if (status_ != 0) {                                                                        \
            std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status_);                    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

inline float narrow(Wide x, float)
{
    return (float)x.real();
}
inline double narrow(Wide x, double)
{
    return x.real();
}
inline cuComplex narrow(Wide x, cuComplex)
{
    return make_cuFloatComplex((float)x.real(), (float)x.imag());
}
inline cuDoubleComplex narrow(Wide x, cuDoubleComplex)
{
    return make_cuDoubleComplex(x.real(), x.imag());
}
inline Wide widen(float x)
{
    return x;
}
inline Wide widen(double x)
{
    return x;
}
inline Wide widen(cuComplex x)
{
    return Wide(x.x, x.y);
}
inline Wide widen(cuDoubleComplex x)
{
    return Wide(x.x, x.y);
}

inline int draw(int most)
{
    static unsigned state = 12345;
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % (2 * most + 1) - most;
}

// A matrix, or with one column a vector whose step is `ld`.
template <class T> struct Matrix {
    int rows, columns, ld;
    std::vector<Wide> at;
    T *device;

    Matrix(int rows_, int columns_, int more = 3, bool is_complex = false)
        : rows(rows_), columns(columns_), ld(rows_ + more), at((size_t)ld * columns_)
    {
        for (Wide &x : at) x = Wide(draw(3), is_complex ? draw(3) : 0);
        CHECK_STATUS(cudaMalloc(&device, at.size() * sizeof(T)));
        send();
    }
    Matrix(const Matrix &) = delete;
    ~Matrix()
    {
        cudaFree(device);
    }
    void send()
    {
        std::vector<T> values(at.size());
        for (size_t k = 0; k < at.size(); k++) values[k] = narrow(at[k], T());
        CHECK_STATUS(
            cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyDefault));
    }
    Wide &operator()(int i, int j)
    {
        return at[(size_t)i + (size_t)j * ld];
    }
    Wide operator()(int i, int j) const
    {
        return at[(size_t)i + (size_t)j * ld];
    }
    // Whether the device has what `at` has, within a little.
    bool is_there(double tolerance = 0) const
    {
        std::vector<T> values(at.size());
        CHECK_STATUS(
            cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDefault));
        for (size_t k = 0; k < at.size(); k++)
            if (!(std::abs(widen(values[k]) - at[k]) <= tolerance * (1 + std::abs(at[k]))))
                return false;
        return true;
    }
};

template <class T> Wide op_at(const Matrix<T> &m, cublasOperation_t op, int i, int j)
{
    const Wide x = op == CUBLAS_OP_N ? m(i, j) : m(j, i);
    return op == CUBLAS_OP_C ? std::conj(x) : x;
}

// The element of the whole matrix of which one triangle is stored.
template <class T>
Wide symmetric_at(const Matrix<T> &m, cublasFillMode_t fill, bool hermitian, int i, int j)
{
    const bool stored = fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
    if (hermitian && i == j) return m(i, i).real();
    if (stored) return m(i, j);
    return hermitian ? std::conj(m(j, i)) : m(j, i);
}

// The element of op of a triangle.
template <class T>
Wide triangle_at(const Matrix<T> &m, cublasFillMode_t fill, cublasOperation_t op,
                 cublasDiagType_t diagonal, int i, int j)
{
    const int row = op == CUBLAS_OP_N ? i : j, column = op == CUBLAS_OP_N ? j : i;
    if (i == j && diagonal == CUBLAS_DIAG_UNIT) return 1;
    if (fill == CUBLAS_FILL_MODE_UPPER ? row > column : row < column) return 0;
    return op_at(m, op, i, j);
}

// ---- what the checks of other libraries use, too
// -------------------------------------------------

template <class T> inline bool is_complex()
{
    return std::is_same<T, cuComplex>::value || std::is_same<T, cuDoubleComplex>::value;
}

// Memory of the device for `count` of a type, and what is in it.
template <class T> struct Array {
    size_t count;
    T *device;

    explicit Array(size_t count_) : count(count_)
    {
        CHECK_STATUS(cudaMalloc(&device, (count + 1) * sizeof(T)));
        CHECK_STATUS(cudaMemset(device, 0x55, (count + 1) * sizeof(T)));
    }
    Array(const Array &) = delete;
    ~Array()
    {
        cudaDeviceSynchronize();
        cudaFree(device);
    }
    std::vector<T> fetch() const
    {
        std::vector<T> values(count);
        CHECK_STATUS(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
    void send(const std::vector<T> &values)
    {
        CHECK_STATUS(
            cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
};

inline int finish()
{
    std::puts(failures == 0 ? "all right" : "not all right");
    return failures != 0;
}
