// The stand-in for cuSOLVER factors, solves and inverts. Runs on a GPU with NVIDIA's library as
// well. Prints "all right", or what is not so.
#include "solver.cuh"

int failures;
static cusolverDnHandle_t handle;

template <class T> struct Calls;
#define CALLS(T, L, Or, MAIN)                                                                      \
    template <> struct Calls<T> {                                                                  \
        static constexpr auto potrf = cusolverDn##L##potrf;                                        \
        static constexpr auto potrf_size = cusolverDn##L##potrf_bufferSize;                        \
        static constexpr auto potrs = cusolverDn##L##potrs;                                        \
        static constexpr auto potri = cusolverDn##L##potri;                                        \
        static constexpr auto potri_size = cusolverDn##L##potri_bufferSize;                        \
        static constexpr auto potrf_batched = cusolverDn##L##potrfBatched;                         \
        static constexpr auto potrs_batched = cusolverDn##L##potrsBatched;                         \
        static constexpr auto lauum = cusolverDn##L##lauum;                                        \
        static constexpr auto lauum_size = cusolverDn##L##lauum_bufferSize;                        \
        static constexpr auto getrf = cusolverDn##L##getrf;                                        \
        static constexpr auto getrf_size = cusolverDn##L##getrf_bufferSize;                        \
        static constexpr auto getrs = cusolverDn##L##getrs;                                        \
        static constexpr auto laswp = cusolverDn##L##laswp;                                        \
        static constexpr auto geqrf = cusolverDn##L##geqrf;                                        \
        static constexpr auto geqrf_size = cusolverDn##L##geqrf_bufferSize;                        \
        static constexpr auto orgqr = cusolverDn##Or##gqr;                                         \
        static constexpr auto orgqr_size = cusolverDn##Or##gqr_bufferSize;                         \
        static constexpr auto ormqr = cusolverDn##Or##mqr;                                         \
        static constexpr auto ormqr_size = cusolverDn##Or##mqr_bufferSize;                         \
        static constexpr auto gesv = cusolverDn##MAIN##gesv;                                       \
        static constexpr auto gesv_size = cusolverDn##MAIN##gesv_bufferSize;                       \
        static constexpr auto gels = cusolverDn##MAIN##gels;                                       \
        static constexpr auto gels_size = cusolverDn##MAIN##gels_bufferSize;                       \
    }
CALLS(float, S, Sor, SS);
CALLS(double, D, Dor, DD);
CALLS(cuComplex, C, Cun, CC);
CALLS(cuDoubleComplex, Z, Zun, ZZ);

// ---- Cholesky -----------------------------------------------------------------------------------

template <class T> static void cholesky(const char *type, int n, cublasFillMode_t fill)
{
    typedef Calls<T> C;
    enum { COLUMNS = 3 };
    const Table whole = positive<T>(n);
    Dense<T> a(n, n), b(n, COLUMNS, 1);
    Array<int> info(1);
    int size = -1;
    a.put_triangle(whole, fill);
    CHECK_STATUS(C::potrf_size(handle, fill, n, a.device, a.ld, &size));
    Array<T> work(size);
    CHECK_STATUS(C::potrf(handle, fill, n, a.device, a.ld, work.device, size, info.device));
    const Table factor = triangle(a.fetch(), fill);
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    const Table again = upper ? product(adjoint(factor), factor) : product(factor, adjoint(factor));
    CHECK_FAR(distance(again, whole), allowed<T>(n), "potrf", type);
    check(are_zero(info), "potrf's info", type);

    const Table right = b.table();
    CHECK_STATUS(C::potrs(handle, fill, n, COLUMNS, a.device, a.ld, b.device, b.ld, info.device));
    CHECK_FAR(distance(product(whole, b.fetch()), right), 100 * allowed<T>(n), "potrs", type);
    check(are_zero(info), "potrs's info", type);

    Dense<T> l(n, n);
    l.put_triangle(factor, fill);
    CHECK_STATUS(C::lauum_size(handle, fill, n, l.device, l.ld, &size));
    Array<T> room_of_lauum(size);
    CHECK_STATUS(
        C::lauum(handle, fill, n, l.device, l.ld, room_of_lauum.device, size, info.device));
    const Table turned =
        upper ? product(factor, adjoint(factor)) : product(adjoint(factor), factor);
    CHECK_FAR(distance(triangle(l.fetch(), fill, true), turned), allowed<T>(n), "lauum", type);

    CHECK_STATUS(C::potri_size(handle, fill, n, a.device, a.ld, &size));
    Array<T> more(size);
    CHECK_STATUS(C::potri(handle, fill, n, a.device, a.ld, more.device, size, info.device));
    const Table inverse = triangle(a.fetch(), fill, true);
    CHECK_FAR(distance(product(inverse, whole), unit(n)), 100 * allowed<T>(n), "potri", type);
    check(are_zero(info), "potri's info", type);
}

// The third minor is not positive.
template <class T> static void not_positive(const char *type)
{
    enum { N = 5 };
    Dense<T> a(N, N);
    Array<int> info(1);
    int size;
    Table whole = positive<T>(N);
    whole[2][2] = -whole[2][2];
    a.put(whole);
    CHECK_STATUS(Calls<T>::potrf_size(handle, CUBLAS_FILL_MODE_LOWER, N, a.device, a.ld, &size));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::potrf(handle, CUBLAS_FILL_MODE_LOWER, N, a.device, a.ld, work.device,
                                 size, info.device));
    check(info.fetch()[0] == 3, "the minor that is not positive", type);
}

template <class T> static void cholesky_of_many(const char *type, int n, cublasFillMode_t fill)
{
    enum { COUNT = 3 };
    const Table first = positive<T>(n), second = positive<T>(n);
    Table third = positive<T>(n);
    third[n - 1][n - 1] = -1e3;
    const Table *const wholes[] = {&first, &second, &third};
    Dense<T> a0(n, n), a1(n, n), a2(n, n), b0(n, 1), b1(n, 1), b2(n, 1);
    Dense<T> *const as[] = {&a0, &a1, &a2}, *const bs[] = {&b0, &b1, &b2};
    Array<T *> a(COUNT), b(COUNT);
    Array<int> info(COUNT), info_of_all(1);
    a.send({a0.device, a1.device, a2.device});
    b.send({b0.device, b1.device, b2.device});
    for (int k = 0; k < COUNT; k++) as[k]->put_triangle(*wholes[k], fill);
    CHECK_STATUS(Calls<T>::potrf_batched(handle, fill, n, a.device, a0.ld, info.device, COUNT));
    const std::vector<int> infos = info.fetch();
    check(infos[0] == 0 && infos[1] == 0 && infos[2] == n, "potrfBatched's info", type);
    CHECK_STATUS(Calls<T>::potrs_batched(handle, fill, n, 1, a.device, a0.ld, b.device, b0.ld,
                                         info_of_all.device, COUNT - 1));
    for (int k = 0; k < COUNT - 1; k++) {
        const Table right = bs[k]->table();
        CHECK_FAR(distance(product(*wholes[k], bs[k]->fetch()), right), 100 * allowed<T>(n),
                  "potrsBatched", type);
    }
    check(are_zero(info_of_all), "potrsBatched's info", type);
}

// ---- Gauss --------------------------------------------------------------------------------------

template <class T> static void elimination(const char *type, int m, int n, bool pivoted)
{
    typedef Calls<T> C;
    const int least = m < n ? m : n;
    Table whole = drawn<T>(m, n);
    for (int i = 0; i < least && !pivoted; i++) whole[i][i] += 3.0 * (m + n);
    if (pivoted) whole[0][0] = 0;
    Dense<T> a(m, n), rows(m, n);
    Array<int> info(1), pivots(least);
    int size;
    a.put(whole);
    rows.put(whole);
    CHECK_STATUS(C::getrf_size(handle, m, n, a.device, a.ld, &size));
    Array<T> work(size);
    CHECK_STATUS(C::getrf(handle, m, n, a.device, a.ld, work.device,
                          pivoted ? pivots.device : nullptr, info.device));
    const Table factors = a.fetch();
    Table l = part(triangle(factors, CUBLAS_FILL_MODE_LOWER), m, least);
    const Table u = part(triangle(factors, CUBLAS_FILL_MODE_UPPER), least, n);
    for (int i = 0; i < least; i++) l[i][i] = 1;
    if (pivoted)
        CHECK_STATUS(C::laswp(handle, n, rows.device, rows.ld, 1, least, pivots.device, 1));
    CHECK_FAR(distance(product(l, u), rows.fetch()), allowed<T>(n), "getrf", type);
    check(are_zero(info) && (!pivoted || size_of(l) <= 1.5), "getrf's info and pivots", type);
    if (m != n) return;
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        Dense<T> b(n, 3, 4);
        const Table right = b.table();
        CHECK_STATUS(C::getrs(handle, op, n, 3, a.device, a.ld, pivoted ? pivots.device : nullptr,
                              b.device, b.ld, info.device));
        CHECK_FAR(distance(product(under(whole, op), b.fetch()), right), 1000 * allowed<T>(n),
                  "getrs", type);
    }
    check(are_zero(info), "getrs's info", type);
}

// The third column is twice the first one; with whole numbers, nothing is rounded.
template <class T> static void singular_matrix(const char *type)
{
    const Table whole = {{1, 2, 2, 4}, {0, 1, 0, 5}, {0, 0, 0, 1}, {0, 0, 0, 1}};
    for (bool pivoted : {true, false}) {
        Dense<T> a(4, 4);
        Array<int> info(1), pivots(4);
        int size;
        a.put(whole);
        CHECK_STATUS(Calls<T>::getrf_size(handle, 4, 4, a.device, a.ld, &size));
        Array<T> work(size);
        CHECK_STATUS(Calls<T>::getrf(handle, 4, 4, a.device, a.ld, work.device,
                                     pivoted ? pivots.device : nullptr, info.device));
        check(info.fetch()[0] == 3, "the pivot that is 0", type);
    }
}

template <class T> static void direct(const char *type, int n)
{
    enum { COLUMNS = 2 };
    const Table whole = drawn<T>(n, n);
    Dense<T> a(n, n), b(n, COLUMNS), x(n, COLUMNS, 3);
    Array<int> info(1), pivots(n);
    size_t bytes = 0;
    int iterations = -100;
    a.put(whole);
    const Table right = b.table();
    CHECK_STATUS(Calls<T>::gesv_size(handle, n, COLUMNS, a.device, a.ld, pivots.device, b.device,
                                     b.ld, x.device, x.ld, nullptr, &bytes));
    Array<char> work(bytes);
    CHECK_STATUS(Calls<T>::gesv(handle, n, COLUMNS, a.device, a.ld, pivots.device, b.device, b.ld,
                                x.device, x.ld, work.device, bytes, &iterations, info.device));
    CHECK_FAR(distance(product(whole, x.fetch()), right), 1000 * allowed<T>(n), "gesv", type);
    check(are_zero(info) && iterations >= 0, "gesv's info and iterations", type);
}

template <class T> static void least_squares(const char *type, int m, int n)
{
    const Table whole = drawn<T>(m, n);
    Dense<T> a(m, n), b(m, 1), x(n, 1, 3);
    Array<int> info(1);
    size_t bytes = 0;
    int iterations = -100;
    a.put(whole);
    const Table right = b.table();
    CHECK_STATUS(Calls<T>::gels_size(handle, m, n, 1, a.device, a.ld, b.device, b.ld, x.device,
                                     x.ld, nullptr, &bytes));
    Array<char> work(bytes);
    CHECK_STATUS(Calls<T>::gels(handle, m, n, 1, a.device, a.ld, b.device, b.ld, x.device, x.ld,
                                work.device, bytes, &iterations, info.device));
    // What is left over is orthogonal to the columns of A.
    const Table there = product(whole, x.fetch());
    CHECK_FAR(distance(product(adjoint(whole), there), product(adjoint(whole), right)),
              1000 * allowed<T>(m), "gels", type);
    // Negative: what refining gave was not used, which NVIDIA's says of some.
    check(are_zero(info) && iterations != -100, "gels's info and iterations", type);
}

// ---- Householder --------------------------------------------------------------------------------

template <class T>
static Table q_of(const Dense<T> &factors, const Array<T> &tau, int columns, int reflections,
                  const char *type)
{
    Dense<T> q(factors.rows, columns);
    Array<int> info(1);
    int size;
    for (int j = 0; j < reflections; j++)
        for (int i = 0; i < q.rows; i++) q.put(i, j, factors.at(i, j));
    q.send();
    CHECK_STATUS(Calls<T>::orgqr_size(handle, q.rows, columns, reflections, q.device, q.ld,
                                      tau.device, &size));
    Array<T> work(size);
    CHECK_STATUS(Calls<T>::orgqr(handle, q.rows, columns, reflections, q.device, q.ld, tau.device,
                                 work.device, size, info.device));
    const Table result = q.fetch();
    CHECK_FAR(from_orthogonal(result), allowed<T>(q.rows), "orgqr", type);
    check(are_zero(info), "orgqr's info", type);
    return result;
}

template <class T>
static void multiply(Dense<T> &factors, const Array<T> &tau, const Table &q, int k,
                     const char *type)
{
    const int m = factors.rows;
    const cublasOperation_t turned = is_complex<T>() ? CUBLAS_OP_C : CUBLAS_OP_T;
    for (cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT})
        for (cublasOperation_t op : {CUBLAS_OP_N, turned}) {
            const bool left = side == CUBLAS_SIDE_LEFT;
            Dense<T> c(left ? m : 3, left ? 3 : m);
            Array<int> info(1);
            int size;
            const Table before = c.table(), by = under(q, op);
            CHECK_STATUS(Calls<T>::ormqr_size(handle, side, op, c.rows, c.columns, k,
                                              factors.device, factors.ld, tau.device, c.device,
                                              c.ld, &size));
            Array<T> work(size);
            CHECK_STATUS(Calls<T>::ormqr(handle, side, op, c.rows, c.columns, k, factors.device,
                                         factors.ld, tau.device, c.device, c.ld, work.device, size,
                                         info.device));
            CHECK_FAR(distance(c.fetch(), left ? product(by, before) : product(before, by)),
                      allowed<T>(m), "ormqr", type);
            check(are_zero(info), "ormqr's info", type);
        }
}

template <class T> static void reflections(const char *type, int m, int n)
{
    const int k = m < n ? m : n;
    Dense<T> a(m, n);
    Array<T> tau(k);
    Array<int> info(1);
    const Table whole = a.table();
    int size;
    CHECK_STATUS(Calls<T>::geqrf_size(handle, m, n, a.device, a.ld, &size));
    Array<T> work(size);
    CHECK_STATUS(
        Calls<T>::geqrf(handle, m, n, a.device, a.ld, tau.device, work.device, size, info.device));
    const Table r = triangle(a.fetch(), CUBLAS_FILL_MODE_UPPER);
    const Table q = q_of(a, tau, m, k, type);
    CHECK_FAR(distance(product(q, r), whole), allowed<T>(m), "geqrf", type);
    check(are_zero(info), "geqrf's info", type);
    CHECK_FAR(distance(q_of(a, tau, k, k, type), part(q, m, k)), allowed<T>(m),
              "orgqr of some columns", type);
    multiply(a, tau, q, k, type);
}

// ---- what is refused ----------------------------------------------------------------------------

// A refused call says which parameter is wrong, counted from behind the handle. No call has no
// handle: NVIDIA's cusolverDnDpotrf ends the process.
static void refused(int status, const Array<int> &info, int parameter, const char *what)
{
    check(status == CUSOLVER_STATUS_INVALID_VALUE && info.fetch()[0] == -parameter, what, "double");
}

static void refusals()
{
    Dense<double> a(4, 4, 0);
    Array<int> info(1), pivots(4);
    Array<double> work(1000), tau(4);
    double *const x = work.device;
    const cublasFillMode_t fill = CUBLAS_FILL_MODE_LOWER;
    int version = 0, major = -1, iterations = -1;
    refused(cusolverDnDpotrf(handle, (cublasFillMode_t)9, 4, a.device, 4, x, 1000, info.device),
            info, 1, "potrf: no triangle");
    refused(cusolverDnDpotrf(handle, fill, -1, a.device, 4, x, 1000, info.device), info, 2,
            "potrf: a negative order");
    refused(cusolverDnDpotrf(handle, fill, 4, a.device, 3, x, 1000, info.device), info, 4,
            "potrf: too small a leading dimension");
    refused(cusolverDnDpotrs(handle, fill, 4, 1, a.device, 4, x, 3, info.device), info, 7,
            "potrs: too small a leading dimension");
    refused(cusolverDnDgetrf(handle, 4, 4, a.device, 3, x, nullptr, info.device), info, 4,
            "getrf: too small a leading dimension");
    refused(cusolverDnDgeqrf(handle, 4, 4, a.device, 3, tau.device, x, 1000, info.device), info, 4,
            "geqrf: too small a leading dimension");
    refused(cusolverDnDorgqr(handle, 4, 5, 4, a.device, 4, tau.device, x, 1000, info.device), info,
            2, "orgqr: more columns than rows");
    refused(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 4, 4, 4, a.device, 4,
                             tau.device, x, 3, x + 100, 900, info.device),
            info, 10, "ormqr: too small a leading dimension");
    refused(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, fill, 4, a.device, 3, tau.device, x,
                             1000, info.device),
            info, 5, "syevd: too small a leading dimension");
    refused(cusolverDnDgesvd(handle, 'A', 'A', 4, 4, a.device, 4, tau.device, x, 4, x + 16, 3,
                             x + 100, 900, nullptr, info.device),
            info, 11, "gesvd: too small a leading dimension");
    check(cusolverDnDDgesv(handle, 4, 1, a.device, 4, pivots.device, x, 3, x + 10, 4, x + 100, 7000,
                           &iterations, info.device) == CUSOLVER_STATUS_IRS_PARAMS_INVALID &&
              info.fetch()[0] == -7,
          "gesv: too small a leading dimension", "double");
    CHECK_STATUS(cusolverGetVersion(&version));
    CHECK_STATUS(cusolverGetProperty(MAJOR_VERSION, &major));
    check(version / 1000 == major && major == CUSOLVER_VER_MAJOR, "the version", "");
}

template <class T> static void of_type(const char *type)
{
    for (cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        for (int n : {1, 2, 7, 33, 50}) cholesky<T>(type, n, fill);
        for (int n : {1, 5, 20}) cholesky_of_many<T>(type, n, fill);
    }
    not_positive<T>(type);
    for (bool pivoted : {true, false})
        for (int n : {2, 7, 33, 50}) elimination<T>(type, n, n, pivoted);
    elimination<T>(type, 9, 5, true);
    elimination<T>(type, 5, 36, true);
    elimination<T>(type, 9, 5, false);
    singular_matrix<T>(type);
    for (int n : {1, 8, 35}) direct<T>(type, n);
    least_squares<T>(type, 7, 7);
    least_squares<T>(type, 40, 11);
    reflections<T>(type, 1, 1);
    reflections<T>(type, 8, 8);
    reflections<T>(type, 40, 33);
    reflections<T>(type, 5, 9);
}

int main()
{
    CHECK_STATUS(cusolverDnCreate(&handle));
    of_type<float>("float");
    of_type<double>("double");
    of_type<cuComplex>("complex");
    of_type<cuDoubleComplex>("double complex");
    refusals();
    CHECK_STATUS(cusolverDnDestroy(handle));
    return finish();
}
