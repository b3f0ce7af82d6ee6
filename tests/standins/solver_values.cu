// The stand-in for cuSOLVER finds eigenvalues and singular values, and their vectors. Runs on a GPU
// with NVIDIA's library as well. Prints "all right", or what is not so.
#include "solver.cuh"

int failures;
static cusolverDnHandle_t handle;

template <class T> struct Calls;
#define CALLS(T, R, L, Sy)                                                                         \
    template <> struct Calls<T> {                                                                  \
        typedef R Real;                                                                            \
        static constexpr auto evd = cusolverDn##Sy##evd;                                           \
        static constexpr auto evd_size = cusolverDn##Sy##evd_bufferSize;                           \
        static constexpr auto evj = cusolverDn##Sy##evj;                                           \
        static constexpr auto evj_size = cusolverDn##Sy##evj_bufferSize;                           \
        static constexpr auto evj_batched = cusolverDn##Sy##evjBatched;                            \
        static constexpr auto evj_batched_size = cusolverDn##Sy##evjBatched_bufferSize;            \
        static constexpr auto gvd = cusolverDn##Sy##gvd;                                           \
        static constexpr auto gvd_size = cusolverDn##Sy##gvd_bufferSize;                           \
        static constexpr auto gvj = cusolverDn##Sy##gvj;                                           \
        static constexpr auto gvj_size = cusolverDn##Sy##gvj_bufferSize;                           \
        static constexpr auto gesvd = cusolverDn##L##gesvd;                                        \
        static constexpr auto gesvd_size = cusolverDn##L##gesvd_bufferSize;                        \
        static constexpr auto gesvdj = cusolverDn##L##gesvdj;                                      \
        static constexpr auto gesvdj_size = cusolverDn##L##gesvdj_bufferSize;                      \
        static constexpr auto gesvdj_batched = cusolverDn##L##gesvdjBatched;                       \
        static constexpr auto gesvdj_batched_size = cusolverDn##L##gesvdjBatched_bufferSize;       \
    }
CALLS(float, float, S, Ssy);
CALLS(double, double, D, Dsy);
CALLS(cuComplex, float, C, Che);
CALLS(cuDoubleComplex, double, Z, Zhe);
template <class T> using Reals = Array<typename Calls<T>::Real>;

static const cusolverEigMode_t VALUES = CUSOLVER_EIG_MODE_NOVECTOR;
static const cusolverEigMode_t VECTORS = CUSOLVER_EIG_MODE_VECTOR;

// ---- eigenvalues --------------------------------------------------------------------------------

template <class R> static Table diagonal(const std::vector<R> &values, size_t first, size_t n)
{
    Table d(n, std::vector<Wide>(n));
    for (size_t i = 0; i < n; i++) d[i][i] = (double)values[first + i];
    return d;
}
template <class R>
static bool ascends(const std::vector<R> &values, size_t first, size_t n, bool descends = false)
{
    for (size_t i = first; i + 1 < first + n; i++)
        if (!(descends ? values[i] >= values[i + 1] : values[i] <= values[i + 1])) return false;
    return true;
}
// A V = V diag(values), V orthogonal, values ascending.
template <class T>
static void check_eigen(const Table &a, const Table &v,
                        const std::vector<typename Calls<T>::Real> &values, size_t first,
                        const char *what, const char *type)
{
    const int n = (int)a.size();
    CHECK_FAR(distance(product(a, v), product(v, diagonal(values, first, n))), 10 * allowed<T>(n),
              what, type);
    CHECK_FAR(from_orthogonal(v), 10 * allowed<T>(n), what, type);
    check(ascends(values, first, n), what, type);
}

template <class T>
static std::vector<typename Calls<T>::Real> evd(Dense<T> &a, cusolverEigMode_t mode,
                                                cublasFillMode_t fill, const char *type)
{
    Reals<T> values(a.rows);
    Array<int> info(1);
    int size;
    CHECK_STATUS(
        Calls<T>::evd_size(handle, mode, fill, a.rows, a.device, a.ld, values.device, &size));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::evd(handle, mode, fill, a.rows, a.device, a.ld, values.device,
                               work.device, size, info.device));
    check(are_zero(info), "syevd's info", type);
    return values.fetch();
}

template <class T> static void eigen(const char *type, int n, cublasFillMode_t fill)
{
    const Table whole = hermitian<T>(n);
    Dense<T> a(n, n), b(n, n), c(n, n);
    for (Dense<T> *each : {&a, &b, &c}) each->put_triangle(whole, fill);
    const auto values = evd(a, VECTORS, fill, type);
    check_eigen<T>(whole, a.fetch(), values, 0, "syevd", type);
    const auto alone = evd(b, VALUES, fill, type);
    CHECK_FAR(distance(diagonal(alone, 0, n), diagonal(values, 0, n)), 10 * allowed<T>(n),
              "syevd without vectors", type);

    syevjInfo_t settings;
    Reals<T> found(n);
    Array<int> info(1);
    int size, sweeps = -1;
    double residual = -1;
    CHECK_STATUS(cusolverDnCreateSyevjInfo(&settings));
    CHECK_STATUS(cusolverDnXsyevjSetTolerance(settings, 1e-14));
    CHECK_STATUS(cusolverDnXsyevjSetMaxSweeps(settings, 30));
    CHECK_STATUS(cusolverDnXsyevjSetSortEig(settings, 1));
    CHECK_STATUS(Calls<T>::evj_size(handle, VECTORS, fill, n, c.device, c.ld, found.device, &size,
                                    settings));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::evj(handle, VECTORS, fill, n, c.device, c.ld, found.device, work.device,
                               size, info.device, settings));
    check_eigen<T>(whole, c.fetch(), found.fetch(), 0, "syevj", type);
    CHECK_STATUS(cusolverDnXsyevjGetResidual(handle, settings, &residual));
    CHECK_STATUS(cusolverDnXsyevjGetSweeps(handle, settings, &sweeps));
    check(residual >= 0 && residual < 1e-3 && sweeps >= 0 && sweeps <= 31, "syevj's report", type);
    CHECK_STATUS(cusolverDnDestroySyevjInfo(settings));
}

// `n` columns from column `first` on.
static Table columns_of(const Table &a, size_t first, size_t n)
{
    Table b(a.size(), std::vector<Wide>(n));
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < n; j++) b[i][j] = a[i][first + j];
    return b;
}

template <class T> static void eigen_of_many(const char *type, int n, cublasFillMode_t fill)
{
    enum { COUNT = 3 };
    Dense<T> a(n, n * COUNT); // beside each other
    Table wholes(n, std::vector<Wide>(n * COUNT));
    for (int k = 0; k < COUNT; k++) {
        const Table whole = hermitian<T>(n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const bool stored = Dense<T>::is_stored(fill, i, j);
                wholes[i][k * n + j] = whole[i][j];
                a.put(i, k * n + j, stored ? whole[i][j] : Wide(a.unused()));
            }
    }
    a.send();
    syevjInfo_t settings;
    Reals<T> values(n * COUNT);
    Array<int> info(COUNT);
    int size;
    CHECK_STATUS(cusolverDnCreateSyevjInfo(&settings));
    CHECK_STATUS(Calls<T>::evj_batched_size(handle, VECTORS, fill, n, a.device, a.ld, values.device,
                                            &size, settings, COUNT));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::evj_batched(handle, VECTORS, fill, n, a.device, a.ld, values.device,
                                       work.device, size, info.device, settings, COUNT));
    const Table vectors = a.fetch();
    for (int k = 0; k < COUNT; k++)
        check_eigen<T>(columns_of(wholes, k * n, n), columns_of(vectors, k * n, n), values.fetch(),
                       k * n, "syevjBatched", type);
    check(are_zero(info), "syevjBatched's info", type);
    CHECK_STATUS(cusolverDnDestroySyevjInfo(settings));
}

// A x = w B x, A B x = w x, B A x = w x.
template <class T>
static void generalised(const char *type, int n, cublasFillMode_t fill, cusolverEigType_t problem,
                        bool by_rotations)
{
    const Table a = hermitian<T>(n), b = positive<T>(n);
    Dense<T> da(n, n), db(n, n, 1);
    Reals<T> values(n);
    Array<int> info(1);
    syevjInfo_t settings;
    int size;
    da.put_triangle(a, fill);
    db.put_triangle(b, fill);
    CHECK_STATUS(cusolverDnCreateSyevjInfo(&settings));
    if (by_rotations)
        CHECK_STATUS(Calls<T>::gvj_size(handle, problem, VECTORS, fill, n, da.device, da.ld,
                                        db.device, db.ld, values.device, &size, settings));
    else
        CHECK_STATUS(Calls<T>::gvd_size(handle, problem, VECTORS, fill, n, da.device, da.ld,
                                        db.device, db.ld, values.device, &size));
    Array<T> work(size);
    if (by_rotations)
        CHECK_STATUS(Calls<T>::gvj(handle, problem, VECTORS, fill, n, da.device, da.ld, db.device,
                                   db.ld, values.device, work.device, size, info.device, settings));
    else
        CHECK_STATUS(Calls<T>::gvd(handle, problem, VECTORS, fill, n, da.device, da.ld, db.device,
                                   db.ld, values.device, work.device, size, info.device));
    const Table x = da.fetch(), w = diagonal(values.fetch(), 0, n);
    const Table left = problem == CUSOLVER_EIG_TYPE_1   ? product(a, x)
                       : problem == CUSOLVER_EIG_TYPE_2 ? product(a, product(b, x))
                                                        : product(b, product(a, x));
    const Table right = problem == CUSOLVER_EIG_TYPE_1 ? product(b, product(x, w)) : product(x, w);
    CHECK_FAR(distance(left, right), 1000 * allowed<T>(n), "sygvd", type);
    check(are_zero(info) && ascends(values.fetch(), 0, n), "sygvd's info and order", type);
    CHECK_STATUS(cusolverDnDestroySyevjInfo(settings));
}

// B is not positive definite: its second minor.
template <class T> static void not_positive(const char *type)
{
    enum { N = 4 };
    Table b = positive<T>(N);
    b[1][1] = -5;
    Dense<T> da(N, N), db(N, N);
    Reals<T> values(N);
    Array<int> info(1);
    int size;
    da.put(hermitian<T>(N));
    db.put(b);
    CHECK_STATUS(Calls<T>::gvd_size(handle, CUSOLVER_EIG_TYPE_1, VECTORS, CUBLAS_FILL_MODE_LOWER, N,
                                    da.device, da.ld, db.device, db.ld, values.device, &size));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::gvd(handle, CUSOLVER_EIG_TYPE_1, VECTORS, CUBLAS_FILL_MODE_LOWER, N,
                               da.device, da.ld, db.device, db.ld, values.device, work.device, size,
                               info.device));
    check(info.fetch()[0] == N + 2, "the minor of B that is not positive", type);
}

// One element is no number: nothing can be found, and nothing looks as if it had been.
template <class T> static void no_number(const char *type)
{
    enum { N = 6 };
    Table whole = hermitian<T>(N);
    whole[4][3] = whole[3][4] = std::nan("");
    Dense<T> a(N, N), b(N, N), u(N, N), v(N, N);
    Reals<T> values(N), found(N), real_work(2 * N);
    Array<int> info(1);
    int size;
    a.put(whole);
    b.put(whole);
    CHECK_STATUS(Calls<T>::evd_size(handle, VECTORS, CUBLAS_FILL_MODE_LOWER, N, a.device, a.ld,
                                    values.device, &size));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::evd(handle, VECTORS, CUBLAS_FILL_MODE_LOWER, N, a.device, a.ld,
                               values.device, work.device, size, info.device));
    for (auto x : values.fetch()) check(x != x, "syevd of what is no number", type);
    CHECK_STATUS(Calls<T>::gesvd_size(handle, N, N, &size));
    Array<T> more(size);
    CHECK_STATUS(Calls<T>::gesvd(handle, 'A', 'A', N, N, b.device, b.ld, found.device, u.device,
                                 u.ld, v.device, v.ld, more.device, size, real_work.device,
                                 info.device));
    for (auto x : found.fetch()) check(x != x, "gesvd of what is no number", type);
    check(!are_zero(info), "gesvd's info", type);
}

// ---- singular values ----------------------------------------------------------------------------

// A = U diag(values) V', U and V orthogonal, values descending. The sides may have more columns.
template <class T>
static void check_singular(const Table &a, const Table &u,
                           const std::vector<typename Calls<T>::Real> &values, size_t first,
                           const Table &v, const char *what, const char *type)
{
    const int m = (int)a.size(), n = (int)a[0].size(), k = m < n ? m : n;
    const Table again =
        product(product(part(u, m, k), diagonal(values, first, k)), adjoint(part(v, n, k)));
    CHECK_FAR(distance(again, a), 10 * allowed<T>(m + n), what, type);
    CHECK_FAR(from_orthogonal(u), 10 * allowed<T>(m), what, type);
    CHECK_FAR(from_orthogonal(v), 10 * allowed<T>(n), what, type);
    check(ascends(values, first, k, true) && values[first + k - 1] >= 0, what, type);
}

template <class T>
static void by_jobs(const char *type, const Table &whole, signed char u_job, signed char v_job)
{
    const int m = (int)whole.size(), n = (int)whole[0].size();
    Dense<T> a(m, n), u(m, u_job == 'A' ? m : n), v(n, n, 3);
    Reals<T> values(n), real_work(m + n);
    Array<int> info(1);
    int size;
    a.put(whole);
    CHECK_STATUS(Calls<T>::gesvd_size(handle, m, n, &size));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::gesvd(handle, u_job, v_job, m, n, a.device, a.ld, values.device,
                                 u.device, u.ld, v.device, v.ld, work.device, size,
                                 real_work.device, info.device));
    check(are_zero(info), "gesvd's info", type);
    if (u_job == 'N' || v_job == 'N') {
        check(ascends(values.fetch(), 0, n, true), "gesvd without vectors", type);
        return;
    }
    const Table over = a.fetch();
    check_singular<T>(whole, u_job == 'O' ? over : u.fetch(), values.fetch(), 0,
                      adjoint(v_job == 'O' ? part(over, n, n) : v.fetch()), "gesvd", type);
}

template <class T> static void by_rotations(const char *type, int m, int n, int economic)
{
    const int k = m < n ? m : n;
    const Table whole = drawn<T>(m, n);
    Dense<T> a(m, n), u(m, economic ? k : m), v(n, economic ? k : n, 3);
    Reals<T> values(k);
    Array<int> info(1);
    gesvdjInfo_t settings;
    int size, sweeps = -1;
    double residual = -1;
    a.put(whole);
    CHECK_STATUS(cusolverDnCreateGesvdjInfo(&settings));
    CHECK_STATUS(cusolverDnXgesvdjSetTolerance(settings, 1e-14));
    CHECK_STATUS(cusolverDnXgesvdjSetMaxSweeps(settings, 40));
    CHECK_STATUS(cusolverDnXgesvdjSetSortEig(settings, 1));
    CHECK_STATUS(Calls<T>::gesvdj_size(handle, VECTORS, economic, m, n, a.device, a.ld,
                                       values.device, u.device, u.ld, v.device, v.ld, &size,
                                       settings));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::gesvdj(handle, VECTORS, economic, m, n, a.device, a.ld, values.device,
                                  u.device, u.ld, v.device, v.ld, work.device, size, info.device,
                                  settings));
    check_singular<T>(whole, u.fetch(), values.fetch(), 0, v.fetch(), "gesvdj", type);
    CHECK_STATUS(cusolverDnXgesvdjGetResidual(handle, settings, &residual));
    CHECK_STATUS(cusolverDnXgesvdjGetSweeps(handle, settings, &sweeps));
    check(are_zero(info) && residual >= 0 && residual < 1e-3 && sweeps >= 0 && sweeps <= 41,
          "gesvdj's info and report", type);
    CHECK_STATUS(cusolverDnDestroyGesvdjInfo(settings));
}

template <class T> static void singular_of_many(const char *type, int m, int n)
{
    enum { COUNT = 3 };
    const int k = m < n ? m : n;
    Dense<T> a(m, n * COUNT), u(m, m * COUNT), v(n, n * COUNT, 1);
    const Table wholes = a.table();
    Reals<T> values(k * COUNT);
    Array<int> info(COUNT);
    gesvdjInfo_t settings;
    int size;
    CHECK_STATUS(cusolverDnCreateGesvdjInfo(&settings));
    CHECK_STATUS(Calls<T>::gesvdj_batched_size(handle, VECTORS, m, n, a.device, a.ld, values.device,
                                               u.device, u.ld, v.device, v.ld, &size, settings,
                                               COUNT));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::gesvdj_batched(handle, VECTORS, m, n, a.device, a.ld, values.device,
                                          u.device, u.ld, v.device, v.ld, work.device, size,
                                          info.device, settings, COUNT));
    const Table us = u.fetch(), vs = v.fetch();
    for (int z = 0; z < COUNT; z++)
        check_singular<T>(columns_of(wholes, z * n, n), columns_of(us, z * m, m), values.fetch(),
                          z * k, columns_of(vs, z * n, n), "gesvdjBatched", type);
    check(are_zero(info), "gesvdjBatched's info", type);
    CHECK_STATUS(cusolverDnDestroyGesvdjInfo(settings));
}

template <class T> static void all_jobs(const char *type, int m, int n)
{
    const Table whole = drawn<T>(m, n);
    for (signed char u_job : {'A', 'S', 'O'})
        for (signed char v_job : {'A', 'S'}) by_jobs<T>(type, whole, u_job, v_job);
    by_jobs<T>(type, whole, 'S', 'O');
    by_jobs<T>(type, whole, 'N', 'N');
    // Of rank 1: all columns are multiples of the first one.
    Table flat = whole;
    for (auto &row : flat)
        for (size_t j = 1; j < row.size(); j++) row[j] = row[0] * (double)(j + 1);
    by_jobs<T>(type, flat, 'A', 'A');
}

template <class T> static void of_type(const char *type)
{
    for (cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        for (int n : {1, 2, 3, 8, 33}) eigen<T>(type, n, fill);
        for (int n : {2, 5, 16}) eigen_of_many<T>(type, n, fill);
        for (cusolverEigType_t problem :
             {CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3})
            for (bool by_rotations : {false, true})
                generalised<T>(type, 7, fill, problem, by_rotations);
    }
    not_positive<T>(type);
    no_number<T>(type);
    all_jobs<T>(type, 5, 5);
    all_jobs<T>(type, 9, 4);
    all_jobs<T>(type, 40, 33);
    for (int economic : {0, 1}) {
        by_rotations<T>(type, 6, 6, economic);
        by_rotations<T>(type, 35, 7, economic);
        by_rotations<T>(type, 7, 20, economic);
    }
    singular_of_many<T>(type, 6, 6);
    singular_of_many<T>(type, 9, 5);
    singular_of_many<T>(type, 5, 9);
}

int main()
{
    CHECK_STATUS(cusolverDnCreate(&handle));
    of_type<float>("float");
    of_type<double>("double");
    of_type<cuComplex>("complex");
    of_type<cuDoubleComplex>("double complex");
    CHECK_STATUS(cusolverDnDestroy(handle));
    return finish();
}
