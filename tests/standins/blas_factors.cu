// The stand-in for cuBLAS factors many small matrices, solves by the factors and under triangles,
// and inverts. Runs on a GPU with NVIDIA's library as well. Prints "all right", or what is not so.
#include "blas.cuh"

#include <vector>

int failures;

// `count` matrices of n columns, and an array of pointers to them, both in managed memory.
template <class T> struct Batch {
    int n, columns, ld, count;
    T *first, **each;

    Batch(int n_, int columns_, int count_) : n(n_), columns(columns_), ld(n_ + 2), count(count_)
    {
        const size_t elements = (size_t)ld * columns * count;
        CHECK_STATUS(cudaMallocManaged(&first, elements * sizeof(T)));
        CHECK_STATUS(cudaMallocManaged(&each, count * sizeof(T *)));
        for (int z = 0; z < count; z++) each[z] = first + (size_t)z * ld * columns;
        for (size_t k = 0; k < elements; k++) first[k] = narrow(Wide(draw(9), draw(9)), T());
    }
    ~Batch()
    {
        CHECK_STATUS(cudaFree(first));
        CHECK_STATUS(cudaFree(each));
    }
    T &at(int z, int i, int j)
    {
        return each[z][i + (size_t)j * ld];
    }
    Wide wide(int z, int i, int j)
    {
        return widen(at(z, i, j));
    }
    void copy(const Batch &from)
    {
        for (size_t k = 0; k < (size_t)ld * columns * count; k++) first[k] = from.first[k];
    }
};

// op(A) at (i, j).
template <class T> static Wide element(Batch<T> &a, cublasOperation_t op, int z, int i, int j)
{
    const Wide x = op == CUBLAS_OP_N ? a.wide(z, i, j) : a.wide(z, j, i);
    return op == CUBLAS_OP_C ? std::conj(x) : x;
}

// Whether op(A) X is B, but for rounding.
template <class T>
static bool is_solution(Batch<T> &a, cublasOperation_t op, Batch<T> &x, Batch<T> &b, double allowed)
{
    for (int z = 0; z < a.count; z++)
        for (int j = 0; j < x.columns; j++)
            for (int i = 0; i < a.n; i++) {
                Wide sum = -b.wide(z, i, j);
                double size = 1;
                for (int k = 0; k < a.n; k++) {
                    const Wide product = element(a, op, z, i, k) * x.wide(z, k, j);
                    sum += product;
                    size += std::abs(product);
                }
                if (!(std::abs(sum) <= allowed * size)) return false;
            }
    return true;
}

template <class T> struct Calls;
#define CALLS(T, L)                                                                                \
    template <> struct Calls<T> {                                                                  \
        static constexpr auto getrf = cublas##L##getrfBatched;                                     \
        static constexpr auto getrs = cublas##L##getrsBatched;                                     \
        static constexpr auto getri = cublas##L##getriBatched;                                     \
        static constexpr auto matinv = cublas##L##matinvBatched;                                   \
        static constexpr auto geqrf = cublas##L##geqrfBatched;                                     \
        static constexpr auto trsm = cublas##L##trsm;                                              \
        static constexpr auto trsm_each = cublas##L##trsmBatched;                                  \
    }
CALLS(float, S);
CALLS(double, D);
CALLS(cuComplex, C);
CALLS(cuDoubleComplex, Z);

template <class T>
static void of_type(cublasHandle_t handle, const char *name, double allowed, int n, bool pivoted)
{
    enum { COUNT = 3, COLUMNS = 4 };
    Batch<T> a(n, n, COUNT), factors(n, n, COUNT), inverse(n, n, COUNT), units(n, n, COUNT);
    Batch<T> b(n, COLUMNS, COUNT), x(n, COLUMNS, COUNT);
    int *pivots, *info, host_info = -1;
    CHECK_STATUS(cudaMallocManaged(&pivots, n * COUNT * sizeof *pivots));
    CHECK_STATUS(cudaMallocManaged(&info, COUNT * sizeof *info));
    for (int z = 0; z < COUNT; z++)
        for (int i = 0; i < n; i++) {
            // Without pivots the diagonal has to be large; with them it is 0 at first.
            a.at(z, i, i) = narrow(Wide(pivoted ? 0 : 20 * n), T());
            for (int j = 0; j < n; j++) units.at(z, i, j) = narrow(Wide(i == j), T());
        }
    int *const used = pivoted ? pivots : nullptr;
    factors.copy(a);
    CHECK_STATUS(Calls<T>::getrf(handle, n, factors.each, factors.ld, used, info, COUNT));
    CHECK_STATUS(cudaDeviceSynchronize());
    bool fine = true;
    for (int z = 0; z < COUNT; z++) fine = fine && info[z] == 0;
    check(fine, "getrf", name);
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        x.copy(b);
        CHECK_STATUS(Calls<T>::getrs(handle, op, n, COLUMNS, factors.each, factors.ld, used, x.each,
                                     x.ld, &host_info, COUNT));
        CHECK_STATUS(cudaDeviceSynchronize());
        check(host_info == 0 && is_solution(a, op, x, b, allowed), "getrs", name);
    }
    CHECK_STATUS(Calls<T>::getri(handle, n, factors.each, factors.ld, used, inverse.each,
                                 inverse.ld, info, COUNT));
    CHECK_STATUS(cudaDeviceSynchronize());
    check(info[0] == 0 && is_solution(a, CUBLAS_OP_N, inverse, units, allowed), "getri", name);
    if (n <= 32) {
        CHECK_STATUS(
            Calls<T>::matinv(handle, n, a.each, a.ld, inverse.each, inverse.ld, info, COUNT));
        CHECK_STATUS(cudaDeviceSynchronize());
        check(info[0] == 0 && is_solution(a, CUBLAS_OP_N, inverse, units, allowed), "matinv", name);
    }
    // A matrix that has no inverse: its second row is its first.
    a.at(1, 0, 0) = narrow(Wide(1), T());
    for (int j = 0; j < n; j++) a.at(1, 1, j) = a.at(1, 0, j);
    factors.copy(a);
    CHECK_STATUS(Calls<T>::getrf(handle, n, factors.each, factors.ld, used, info, COUNT));
    CHECK_STATUS(cudaDeviceSynchronize());
    if (n == 2) check(info[0] == 0 && info[1] == 2, "getrf of what has no inverse", name);
    CHECK_STATUS(cudaFree(pivots));
    CHECK_STATUS(cudaFree(info));
}

// Solving under many triangles is what solving under each is.
template <class T>
static void under_triangles(cublasHandle_t handle, const char *name, double allowed)
{
    enum { N = 7, COLUMNS = 5, COUNT = 3 };
    const T two = narrow(Wide(2), T());
    Batch<T> a(N, N, COUNT), left(N, COLUMNS, COUNT), right(COLUMNS, N, COUNT);
    for (int z = 0; z < COUNT; z++)
        for (int i = 0; i < N; i++) a.at(z, i, i) = narrow(Wide(20 * N, 1), T());
    for (int way = 0; way < 24; way++) {
        const cublasSideMode_t side = way % 2 ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
        const cublasFillMode_t fill = way / 2 % 2 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        const cublasDiagType_t unit = way / 4 % 2 ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        const cublasOperation_t op = (cublasOperation_t)(way / 8);
        Batch<T> &b = side == CUBLAS_SIDE_LEFT ? left : right;
        Batch<T> x(b.n, b.columns, COUNT), y(b.n, b.columns, COUNT);
        x.copy(b);
        y.copy(b);
        CHECK_STATUS(Calls<T>::trsm_each(handle, side, fill, op, unit, b.n, b.columns, &two, a.each,
                                         a.ld, x.each, x.ld, COUNT));
        CHECK_STATUS(cudaDeviceSynchronize());
        for (int z = 0; z < COUNT; z++)
            CHECK_STATUS(Calls<T>::trsm(handle, side, fill, op, unit, b.n, b.columns, &two,
                                        a.first + (size_t)z * a.ld * N, a.ld,
                                        y.first + (size_t)z * y.ld * y.columns, y.ld));
        CHECK_STATUS(cudaDeviceSynchronize());
        bool same = true;
        for (int k = 0; k < x.ld * x.columns * COUNT; k++) {
            const double apart = std::abs(widen(x.first[k]) - widen(y.first[k]));
            same = same && apart <= allowed * (1 + std::abs(widen(y.first[k])));
        }
        check(same, "trsmBatched", name);
    }
    CHECK_STATUS(Calls<T>::trsm_each(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                                     CUBLAS_DIAG_UNIT, N, COLUMNS, &two, a.each, a.ld, left.each,
                                     left.ld, 0));
}

// Many matrices of m rows and n columns become R and reflections, whose product is the matrix.
template <class T>
static void reflections(cublasHandle_t handle, const char *name, double allowed, int m, int n)
{
    enum { COUNT = 3 };
    const int least = m < n ? m : n;
    Batch<T> a(m, n, COUNT), qr(m, n, COUNT), tau(least, 1, COUNT);
    int info = -1;
    qr.copy(a);
    CHECK_STATUS(Calls<T>::geqrf(handle, m, n, qr.each, qr.ld, tau.each, &info, COUNT));
    CHECK_STATUS(cudaDeviceSynchronize());
    bool fine = info == 0;
    for (int z = 0; z < COUNT; z++)
        for (int j = 0; j < n; j++) {
            std::vector<Wide> column(m);
            for (int i = 0; i < m && i <= j; i++) column[i] = qr.wide(z, i, j);
            for (int k = least - 1; k >= 0; k--) { // H = 1 - tau v v'
                Wide sum = column[k];
                for (int i = k + 1; i < m; i++) sum += std::conj(qr.wide(z, i, k)) * column[i];
                sum *= tau.wide(z, k, 0);
                column[k] -= sum;
                for (int i = k + 1; i < m; i++) column[i] -= qr.wide(z, i, k) * sum;
            }
            for (int i = 0; i < m; i++)
                fine = fine && std::abs(column[i] - a.wide(z, i, j)) <= allowed * 9 * m;
        }
    check(fine, "geqrfBatched", name);
}

int main()
{
    cublasHandle_t handle;
    CHECK_STATUS(cublasCreate(&handle));
    for (bool pivoted : {true, false})
        for (int n : {2, 7, 32, 45}) {
            of_type<float>(handle, "float", 1e-4, n, pivoted);
            of_type<double>(handle, "double", 1e-12, n, pivoted);
            of_type<cuComplex>(handle, "complex", 1e-4, n, pivoted);
            of_type<cuDoubleComplex>(handle, "double complex", 1e-12, n, pivoted);
        }
    for (int n : {1, 5, 9}) {
        reflections<float>(handle, "float", 1e-5, 7, n);
        reflections<double>(handle, "double", 1e-13, 7, n);
        reflections<cuComplex>(handle, "complex", 1e-5, 7, n);
        reflections<cuDoubleComplex>(handle, "double complex", 1e-13, 7, n);
    }
    under_triangles<float>(handle, "float", 1e-4);
    under_triangles<double>(handle, "double", 1e-12);
    under_triangles<cuComplex>(handle, "complex", 1e-4);
    under_triangles<cuDoubleComplex>(handle, "double complex", 1e-12);
    CHECK_STATUS(cublasDestroy(handle));
    std::puts(failures == 0 ? "all right" : "not all right");
    return failures != 0;
}
