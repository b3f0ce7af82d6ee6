// The functions of the stand-in for cuSOLVER that are told the types, and indexes of 64 bits:
// cusolverDnX*. Runs on a GPU with NVIDIA's library as well. Prints "all right", or what is not so.
#include "solver.cuh"

int failures;
static cusolverDnHandle_t handle;
static cusolverDnParams_t params;

template <class T> struct Types;
#define TYPES(T, R, type_, real_, L)                                                               \
    template <> struct Types<T> {                                                                  \
        typedef R Real;                                                                            \
        static constexpr cudaDataType type = type_, real = real_;                                  \
        static constexpr auto in_part = cusolverDn##L##gesvdaStridedBatched;                       \
        static constexpr auto in_part_size = cusolverDn##L##gesvdaStridedBatched_bufferSize;       \
    }
TYPES(float, float, CUDA_R_32F, CUDA_R_32F, S);
TYPES(double, double, CUDA_R_64F, CUDA_R_64F, D);
TYPES(cuComplex, float, CUDA_C_32F, CUDA_R_32F, C);
TYPES(cuDoubleComplex, double, CUDA_C_64F, CUDA_R_64F, Z);

// Work on both sides, as a function asks for it.
struct Work {
    size_t device_bytes, host_bytes;
    void *device, *host;

    Work() : device_bytes(0), host_bytes(0), device(nullptr), host(nullptr) {}
    void make()
    {
        CHECK_STATUS(cudaMalloc(&device, device_bytes + 1));
        host = std::malloc(host_bytes + 1);
    }
    ~Work()
    {
        cudaDeviceSynchronize();
        cudaFree(device);
        std::free(host);
    }
};
#define ASKED &work.device_bytes, &work.host_bytes
#define HAD work.device, work.device_bytes, work.host, work.host_bytes

template <class T> static void cholesky(const char *type, int n, cublasFillMode_t fill)
{
    const cudaDataType t = Types<T>::type;
    const Table whole = positive<T>(n);
    Dense<T> a(n, n), b(n, 2, 1);
    Array<int> info(1);
    Work work;
    a.put_triangle(whole, fill);
    CHECK_STATUS(cusolverDnXpotrf_bufferSize(handle, params, fill, n, t, a.device, a.ld, t, ASKED));
    work.make();
    CHECK_STATUS(cusolverDnXpotrf(handle, params, fill, n, t, a.device, a.ld, t, HAD, info.device));
    check(are_zero(info), "Xpotrf's info", type);
    const Table right = b.table();
    CHECK_STATUS(cusolverDnXpotrs(handle, params, fill, n, 2, t, a.device, a.ld, t, b.device, b.ld,
                                  info.device));
    CHECK_FAR(distance(product(whole, b.fetch()), right), 100 * allowed<T>(n), "Xpotrs", type);
    check(are_zero(info), "Xpotrs's info", type);
}

template <class T> static void elimination(const char *type, int n, bool pivoted)
{
    const cudaDataType t = Types<T>::type;
    Table whole = drawn<T>(n, n);
    for (int i = 0; i < n; i++) whole[i][i] = pivoted ? 0 : 5.0 * n;
    Dense<T> a(n, n), b(n, 2, 1);
    Array<int> info(1);
    Array<int64_t> pivots(n);
    Work work;
    a.put(whole);
    CHECK_STATUS(cusolverDnXgetrf_bufferSize(handle, params, n, n, t, a.device, a.ld, t, ASKED));
    work.make();
    int64_t *const used = pivoted ? pivots.device : nullptr;
    CHECK_STATUS(
        cusolverDnXgetrf(handle, params, n, n, t, a.device, a.ld, used, t, HAD, info.device));
    check(are_zero(info), "Xgetrf's info", type);
    for (int64_t row : pivoted ? pivots.fetch() : std::vector<int64_t>())
        check(row >= 1 && row <= n, "Xgetrf's pivots", type);
    const Table right = b.table();
    CHECK_STATUS(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, n, 2, t, a.device, a.ld, used, t,
                                  b.device, b.ld, info.device));
    CHECK_FAR(distance(product(whole, b.fetch()), right), 1000 * allowed<T>(n), "Xgetrs", type);
}

// R' R is A' A.
template <class T> static void reflections(const char *type, int m, int n)
{
    const cudaDataType t = Types<T>::type;
    Dense<T> a(m, n);
    Array<T> tau(n);
    Array<int> info(1);
    Work work;
    const Table whole = a.table();
    CHECK_STATUS(cusolverDnXgeqrf_bufferSize(handle, params, m, n, t, a.device, a.ld, t, tau.device,
                                             t, ASKED));
    work.make();
    CHECK_STATUS(cusolverDnXgeqrf(handle, params, m, n, t, a.device, a.ld, t, tau.device, t, HAD,
                                  info.device));
    const Table r = part(triangle(a.fetch(), CUBLAS_FILL_MODE_UPPER), n, n);
    CHECK_FAR(distance(product(adjoint(r), r), product(adjoint(whole), whole)), 10 * allowed<T>(m),
              "Xgeqrf", type);
    check(are_zero(info), "Xgeqrf's info", type);
}

template <class T>
static void inverse(const char *type, int n, cublasFillMode_t fill, cublasDiagType_t diagonal)
{
    const cudaDataType t = Types<T>::type;
    Table whole = triangle(drawn<T>(n, n), fill);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j) whole[i][j] /= n;
    for (int i = 0; i < n; i++) whole[i][i] = diagonal == CUBLAS_DIAG_UNIT ? 1 : 2 + i % 3;
    Dense<T> a(n, n);
    Array<int> info(1);
    Work work;
    a.put(whole);
    CHECK_STATUS(cusolverDnXtrtri_bufferSize(handle, fill, diagonal, n, t, a.device, a.ld, ASKED));
    work.make();
    CHECK_STATUS(cusolverDnXtrtri(handle, fill, diagonal, n, t, a.device, a.ld, HAD, info.device));
    Table found = triangle(a.fetch(), fill);
    CHECK_FAR(distance(product(found, whole), unit(n)), 10 * allowed<T>(n), "Xtrtri", type);
    check(are_zero(info), "Xtrtri's info", type);
}

template <class T> static void eigen(const char *type, int n, cublasFillMode_t fill, int count)
{
    const cudaDataType t = Types<T>::type, r = Types<T>::real;
    const cusolverEigMode_t mode = CUSOLVER_EIG_MODE_VECTOR;
    Dense<T> a(n, n * count);
    Array<typename Types<T>::Real> values(n * count);
    Array<int> info(count);
    Work work;
    std::vector<Table> wholes;
    for (int k = 0; k < count; k++) wholes.push_back(hermitian<T>(n));
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) a.put(i, k * n + j, wholes[k][i][j]);
    a.send();
    if (count == 1) {
        CHECK_STATUS(cusolverDnXsyevd_bufferSize(handle, params, mode, fill, n, t, a.device, a.ld,
                                                 r, values.device, t, ASKED));
        work.make();
        CHECK_STATUS(cusolverDnXsyevd(handle, params, mode, fill, n, t, a.device, a.ld, r,
                                      values.device, t, HAD, info.device));
    } else {
        CHECK_STATUS(cusolverDnXsyevBatched_bufferSize(handle, params, mode, fill, n, t, a.device,
                                                       a.ld, r, values.device, t, ASKED, count));
        work.make();
        CHECK_STATUS(cusolverDnXsyevBatched(handle, params, mode, fill, n, t, a.device, a.ld, r,
                                            values.device, t, HAD, info.device, count));
    }
    const Table vectors = a.fetch();
    const auto found = values.fetch();
    for (int k = 0; k < count; k++) {
        Table v(n, std::vector<Wide>(n)), scaled = v;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                v[i][j] = vectors[i][k * n + j];
                scaled[i][j] = v[i][j] * (double)found[k * n + j];
            }
        CHECK_FAR(distance(product(wholes[k], v), scaled), 10 * allowed<T>(n), "Xsyevd", type);
        CHECK_FAR(from_orthogonal(v), 10 * allowed<T>(n), "Xsyevd", type);
    }
    check(are_zero(info), "Xsyevd's info", type);
}

// V is V' if `adjoint`.
template <class T> static void singular(const char *type, int m, int n, bool by_jobs)
{
    const cudaDataType t = Types<T>::type, r = Types<T>::real;
    const cusolverEigMode_t mode = CUSOLVER_EIG_MODE_VECTOR;
    Dense<T> a(m, n), u(m, n), v(n, n, 1);
    Array<typename Types<T>::Real> values(n);
    Array<int> info(1);
    Work work;
    double added = -1;
    const Table whole = a.table();
    if (by_jobs) {
        CHECK_STATUS(cusolverDnXgesvd_bufferSize(handle, params, 'S', 'S', m, n, t, a.device, a.ld,
                                                 r, values.device, t, u.device, u.ld, t, v.device,
                                                 v.ld, t, ASKED));
        work.make();
        CHECK_STATUS(cusolverDnXgesvd(handle, params, 'S', 'S', m, n, t, a.device, a.ld, r,
                                      values.device, t, u.device, u.ld, t, v.device, v.ld, t, HAD,
                                      info.device));
    } else {
        CHECK_STATUS(cusolverDnXgesvdp_bufferSize(handle, params, mode, 1, m, n, t, a.device, a.ld,
                                                  r, values.device, t, u.device, u.ld, t, v.device,
                                                  v.ld, t, ASKED));
        work.make();
        CHECK_STATUS(cusolverDnXgesvdp(handle, params, mode, 1, m, n, t, a.device, a.ld, r,
                                       values.device, t, u.device, u.ld, t, v.device, v.ld, t, HAD,
                                       info.device, &added));
        check(added >= 0, "Xgesvdp's error", type);
    }
    Table left = u.fetch(by_jobs); // NVIDIA's Xgesvdp writes to the padding of both
    const Table right = by_jobs ? v.fetch() : adjoint(v.fetch(false));
    const auto found = values.fetch();
    CHECK_FAR(from_orthogonal(left), 10 * allowed<T>(m), "Xgesvd's U", type);
    CHECK_FAR(from_orthogonal(right), 10 * allowed<T>(n), "Xgesvd's V", type);
    for (auto &row : left)
        for (int j = 0; j < n; j++) row[j] *= (double)found[j];
    CHECK_FAR(distance(product(left, right), whole), 10 * allowed<T>(m), "Xgesvd", type);
    check(are_zero(info), "Xgesvd's info", type);
}

// Matrices of rank 2, of which two values and vectors are asked for.
template <class T> static void in_part(const char *type, int m, int n)
{
    enum { RANK = 2, COUNT = 3 };
    const cusolverEigMode_t mode = CUSOLVER_EIG_MODE_VECTOR;
    Dense<T> a(m, n * COUNT), u(m, RANK * COUNT), v(n, RANK * COUNT);
    Array<typename Types<T>::Real> values(RANK * COUNT);
    Array<int> info(COUNT);
    std::vector<Table> wholes;
    double residuals[COUNT] = {-1, -1, -1};
    int size;
    for (int k = 0; k < COUNT; k++) {
        wholes.push_back(product(drawn<T>(m, RANK), drawn<T>(RANK, n)));
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) a.put(i, k * n + j, wholes[k][i][j]);
    }
    a.send();
    CHECK_STATUS(Types<T>::in_part_size(handle, mode, RANK, m, n, a.device, a.ld, a.ld * n,
                                        values.device, RANK, u.device, u.ld, u.ld * RANK, v.device,
                                        v.ld, v.ld * RANK, &size, COUNT));
    Array<T> work(size);
    CHECK_STATUS(Types<T>::in_part(handle, mode, RANK, m, n, a.device, a.ld, a.ld * n,
                                   values.device, RANK, u.device, u.ld, u.ld * RANK, v.device, v.ld,
                                   v.ld * RANK, work.device, size, info.device, residuals, COUNT));
    const Table us = u.fetch(), vs = v.fetch();
    const auto found = values.fetch();
    for (int k = 0; k < COUNT; k++) {
        Table left(m, std::vector<Wide>(RANK)), right(n, std::vector<Wide>(RANK));
        for (int j = 0; j < RANK; j++) {
            for (int i = 0; i < m; i++)
                left[i][j] = us[i][k * RANK + j] * (double)found[k * RANK + j];
            for (int i = 0; i < n; i++) right[i][j] = vs[i][k * RANK + j];
        }
        CHECK_FAR(distance(product(left, adjoint(right)), wholes[k]), 1000 * allowed<T>(m),
                  "gesvdaStridedBatched", type);
        check(residuals[k] >= 0 && residuals[k] < 1e-2, "its residuals", type);
    }
    check(are_zero(info), "its info", type);
}

// Any square matrix; of a real one, a pair of vectors has the real and the imaginary part.
template <class T> static void general(const char *type, const Table &whole)
{
    const int n = (int)whole.size();
    const cudaDataType t = Types<T>::type;
    const bool is_float = sizeof(typename Types<T>::Real) == sizeof(float);
    const cudaDataType of_values = is_float ? CUDA_C_32F : CUDA_C_64F;
    const cusolverEigMode_t none = CUSOLVER_EIG_MODE_NOVECTOR, mode = CUSOLVER_EIG_MODE_VECTOR;
    Dense<T> a(n, n), v(n, n, 1);
    Array<typename Types<T>::Real> values(2 * n);
    Array<int> info(1);
    Work work;
    a.put(whole);
    CHECK_STATUS(cusolverDnXgeev_bufferSize(handle, params, none, mode, n, t, a.device, a.ld,
                                            of_values, values.device, t, nullptr, n, t, v.device,
                                            v.ld, t, ASKED));
    work.make();
    CHECK_STATUS(cusolverDnXgeev(handle, params, none, mode, n, t, a.device, a.ld, of_values,
                                 values.device, t, nullptr, n, t, v.device, v.ld, t, HAD,
                                 info.device));
    Table vectors = v.fetch();
    const auto found = values.fetch();
    for (int j = 0; j + 1 < n && !is_complex<T>(); j++) {
        if (found[2 * j + 1] == 0) continue;
        check(found[2 * j + 1] > 0 && found[2 * j + 3] == -found[2 * j + 1], "pairs", type);
        for (auto &row : vectors) {
            row[j] = Wide(row[j].real(), row[j + 1].real());
            row[j + 1] = std::conj(row[j]);
        }
        j++;
    }
    Table scaled = vectors;
    for (auto &row : scaled)
        for (int j = 0; j < n; j++) row[j] *= Wide((double)found[2 * j], (double)found[2 * j + 1]);
    CHECK_FAR(distance(product(whole, vectors), scaled), 100 * allowed<T>(n), "Xgeev", type);
    for (int j = 0; j < n; j++) {
        double length = 0;
        for (int i = 0; i < n; i++) length += std::norm(vectors[i][j]);
        CHECK_FAR(std::abs(length - 1), 10 * allowed<T>(n), "Xgeev's lengths", type);
    }
    check(are_zero(info), "Xgeev's info", type);
}

template <class T> static void of_type(const char *type)
{
    for (cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        cholesky<T>(type, 19, fill);
        for (cublasDiagType_t diagonal : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT})
            inverse<T>(type, 17, fill, diagonal);
        eigen<T>(type, 13, fill, 1);
        eigen<T>(type, 6, fill, 3);
    }
    elimination<T>(type, 21, true);
    elimination<T>(type, 21, false);
    reflections<T>(type, 20, 9);
    singular<T>(type, 15, 8, true);
    singular<T>(type, 15, 8, false);
    in_part<T>(type, 9, 5);
    for (int n : {1, 2, 5, 24}) general<T>(type, drawn<T>(n, n));
    general<T>(type, {{0, 0, 2}, {1, 0, 0}, {0, 1, 0}}); // a shift of its own never ends
}

int main()
{
    CHECK_STATUS(cusolverDnCreate(&handle));
    CHECK_STATUS(cusolverDnCreateParams(&params));
    of_type<float>("float");
    of_type<double>("double");
    of_type<cuComplex>("complex");
    of_type<cuDoubleComplex>("double complex");
    CHECK_STATUS(cusolverDnDestroyParams(params));
    CHECK_STATUS(cusolverDnDestroy(handle));
    return finish();
}
