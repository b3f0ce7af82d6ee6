// The stand-in for cuSPARSE solves, factors, and multiplies and adds sparse matrices into sparse
// ones. Runs on a GPU with NVIDIA's library as well. Prints "all right", or what is not so.
#include "sparse.cuh"

#include <cmath>

int failures;
static cusparseHandle_t handle;
static const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

template <class T> double allowed()
{
    return std::is_same<T, float>::value || std::is_same<T, cuComplex>::value ? 2e-5 : 1e-12;
}

// How far values of the device are from what they are to be.
template <class T> double distance(const std::vector<T> &have, const std::vector<Wide> &wanted)
{
    double most = have.size() == wanted.size() ? 0 : 1e9;
    for (size_t k = 0; most < 1e9 && k < have.size(); k++)
        most = std::max(most, std::abs(widen(have[k]) - wanted[k]) / (1 + std::abs(wanted[k])));
    return most;
}

// ---- under triangles ----------------------------------------------------------------------------

// A triangle whose solutions stay small, with entries in the other triangle that are not used.
template <class T> static Table triangle(int n)
{
    Table table = some<T>(n, n, 4);
    for (int i = 0; i < n; i++) {
        for (Wide &x : table[i]) x /= 8.0;
        table[i][i] = Wide(2 + i % 3, is_complex<T>() ? 1 : 0);
    }
    return table;
}

// op(A) X, where only a triangle of A counts.
static Wide under(const Table &table, cusparseFillMode_t fill, cusparseDiagType_t diagonal,
                  cusparseOperation_t op, int i, int j)
{
    const int row = op == plain ? i : j, column = op == plain ? j : i;
    if (i == j && diagonal == CUSPARSE_DIAG_TYPE_UNIT) return 1;
    if (fill == CUSPARSE_FILL_MODE_LOWER ? column > row : column < row) return 0;
    return op_of(table, op, i, j);
}

template <class T, class I>
static void solve(cusparseFormat_t format, cusparseFillMode_t fill, cusparseDiagType_t diagonal,
                  cusparseOperation_t op)
{
    enum { N = 33, WIDTH = 3 };
    const Table table = triangle<T>(N);
    Sparse<T, I> a(table, format, 0);
    CHECK_STATUS(
        cusparseSpMatSetAttribute(a.description, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    CHECK_STATUS(cusparseSpMatSetAttribute(a.description, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal,
                                           sizeof diagonal));
    const T alpha = scalar<T>(2, -1);
    size_t size = 0;
    Vector<T> x(N), b(N);
    for (int i = 0; i < N; i++) {
        Wide sum = 0;
        for (int k = 0; k < N; k++) sum += under(table, fill, diagonal, op, i, k) * x(k, 0);
        b(i, 0) = sum / widen(alpha);
    }
    b.send();
    CHECK_STATUS(cudaMemset(x.device, 0, N * sizeof(T)));
    cusparseSpSVDescr_t descr;
    CHECK_STATUS(cusparseSpSV_createDescr(&descr));
    CHECK_STATUS(cusparseSpSV_bufferSize(handle, op, &alpha, a.description, b.description,
                                         x.description, Type<T>::type, CUSPARSE_SPSV_ALG_DEFAULT,
                                         descr, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseSpSV_analysis(handle, op, &alpha, a.description, b.description,
                                       x.description, Type<T>::type, CUSPARSE_SPSV_ALG_DEFAULT,
                                       descr, buffer.device));
    CHECK_STATUS(cusparseSpSV_solve(handle, op, &alpha, a.description, b.description, x.description,
                                    Type<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, descr));
    check(x.is_there(allowed<T>()), "SpSV", Type<T>::name);
    CHECK_STATUS(cusparseSpSV_destroyDescr(descr));

    Full<T> many(N, WIDTH), right(N, WIDTH);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < WIDTH; j++) {
            Wide sum = 0;
            for (int k = 0; k < N; k++) sum += under(table, fill, diagonal, op, i, k) * many(k, j);
            right(i, j) = sum / widen(alpha);
        }
    const std::vector<Wide> wanted = many.at;
    right.send();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < WIDTH; j++) many(i, j) = 0;
    many.send();
    many.at = wanted;
    cusparseSpSMDescr_t of_many;
    CHECK_STATUS(cusparseSpSM_createDescr(&of_many));
    CHECK_STATUS(cusparseSpSM_bufferSize(handle, op, plain, &alpha, a.description,
                                         right.description, many.description, Type<T>::type,
                                         CUSPARSE_SPSM_ALG_DEFAULT, of_many, &size));
    Array<char> another(size);
    CHECK_STATUS(cusparseSpSM_analysis(handle, op, plain, &alpha, a.description, right.description,
                                       many.description, Type<T>::type, CUSPARSE_SPSM_ALG_DEFAULT,
                                       of_many, another.device));
    CHECK_STATUS(cusparseSpSM_solve(handle, op, plain, &alpha, a.description, right.description,
                                    many.description, Type<T>::type, CUSPARSE_SPSM_ALG_DEFAULT,
                                    of_many));
    check(many.is_there(allowed<T>()), "SpSM", Type<T>::name);
    CHECK_STATUS(cusparseSpSM_destroyDescr(of_many));
}

// ---- functions by their letters -----------------------------------------------------------------

template <class T> struct Calls;
#define CALLS(T, L)                                                                                \
    template <> struct Calls<T> {                                                                  \
        static constexpr auto bands_size = cusparse##L##gtsv2_bufferSizeExt;                       \
        static constexpr auto bands = cusparse##L##gtsv2;                                          \
        static constexpr auto many_size = cusparse##L##gtsv2StridedBatch_bufferSizeExt;            \
        static constexpr auto many = cusparse##L##gtsv2StridedBatch;                               \
        static constexpr auto sum_size = cusparse##L##csrgeam2_bufferSizeExt;                      \
        static constexpr auto sum = cusparse##L##csrgeam2;                                         \
        static constexpr auto lu_size = cusparse##L##csrilu02_bufferSize;                          \
        static constexpr auto lu_analysis = cusparse##L##csrilu02_analysis;                        \
        static constexpr auto lu = cusparse##L##csrilu02;                                          \
        static constexpr auto ic_size = cusparse##L##csric02_bufferSize;                           \
        static constexpr auto ic_analysis = cusparse##L##csric02_analysis;                         \
        static constexpr auto ic = cusparse##L##csric02;                                           \
    }
CALLS(float, S);
CALLS(double, D);
CALLS(cuComplex, C);
CALLS(cuDoubleComplex, Z);

// ---- three diagonals ----------------------------------------------------------------------------

template <class T> static std::vector<Wide> some_values(int count)
{
    std::vector<Wide> values(count);
    for (Wide &x : values) x = Wide(draw(3), is_complex<T>() ? draw(3) : 0);
    return values;
}

// `systems` systems, each with diagonals of its own; `pivots`: every other two rows have to change
// places.
template <class T> static void bands(int systems, bool pivots)
{
    enum { M = 40, N = 3 };
    const int columns = systems > 1 ? systems : N;
    std::vector<Wide> lower = some_values<T>(M * systems), upper = some_values<T>(M * systems);
    std::vector<Wide> middle(M * systems), x = some_values<T>(M * columns), right(M * columns);
    for (int k = 0; k < M * systems; k++) {
        middle[k] = pivots ? Wide(0.01, 0) : Wide(9 + k % 3, is_complex<T>() ? 1 : 0);
        if (pivots && k % 2 == 1) lower[k] = Wide(50, 0);
        if (pivots && k % 2 == 0) upper[k] = Wide(40, 0);
        if (k % M == 0) lower[k] = 0;
        if (k % M == M - 1) upper[k] = 0;
    }
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < M; i++) {
            const int at = (systems > 1 ? j * M : 0) + i, to = j * M + i;
            right[to] = middle[at] * x[to];
            if (i > 0) right[to] += lower[at] * x[to - 1];
            if (i + 1 < M) right[to] += upper[at] * x[to + 1];
        }
    Sent<T> a(narrowed<T>(lower)), b(narrowed<T>(middle)), c(narrowed<T>(upper)),
        d(narrowed<T>(right));
    size_t size = 0;
    if (systems > 1)
        CHECK_STATUS(Calls<T>::many_size(handle, M, a.device, b.device, c.device, d.device, systems,
                                         M, &size));
    else
        CHECK_STATUS(
            Calls<T>::bands_size(handle, M, N, a.device, b.device, c.device, d.device, M, &size));
    Array<char> buffer(size);
    if (systems > 1)
        CHECK_STATUS(Calls<T>::many(handle, M, a.device, b.device, c.device, d.device, systems, M,
                                    buffer.device));
    else
        CHECK_STATUS(Calls<T>::bands(handle, M, N, a.device, b.device, c.device, d.device, M,
                                     buffer.device));
    const double far = distance(d.fetch(), x);
    if (!(far <= 50 * allowed<T>())) std::printf("%g from right\n", far);
    check(far <= 50 * allowed<T>(), systems > 1 ? "gtsv2StridedBatch" : "gtsv2", Type<T>::name);
}

// ---- sparse results -----------------------------------------------------------------------------

static Table product(const Table &a, const Table &b)
{
    Table c(a.size(), std::vector<Wide>(b[0].size()));
    for (size_t i = 0; i < a.size(); i++)
        for (size_t k = 0; k < b.size(); k++)
            for (size_t j = 0; j < b[0].size(); j++) c[i][j] += a[i][k] * b[k][j];
    return c;
}

// A result of CSR whose entries may be zeros: as a table.
template <class T>
static Table table_of(int rows, int columns, const std::vector<int> &starts,
                      const std::vector<int> &places, const std::vector<T> &values)
{
    Table table(rows, std::vector<Wide>(columns));
    for (int i = 0; i < rows; i++)
        for (int k = starts[i] - starts[0]; k < starts[i + 1] - starts[0]; k++)
            table[i][places[k] - starts[0]] += widen(values[k]);
    return table;
}

template <class T> static void square()
{
    enum { M = 30, K = 25, N = 35 };
    const Table of_a = some<T>(M, K, 5), of_b = some<T>(K, N, 5);
    Sparse<T, int> a(of_a, CUSPARSE_FORMAT_CSR, 0), b(of_b, CUSPARSE_FORMAT_CSR, 0);
    const T alpha = scalar<T>(2, 1), beta = scalar<T>(0, 0);
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t descr;
    size_t size1 = 0, size2 = 0;
    int64_t rows = 0, columns = 0, count = 0;
    CHECK_STATUS(cusparseCreateCsr(&c, M, N, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type<T>::type));
    CHECK_STATUS(cusparseSpGEMM_createDescr(&descr));
#define GIVEN                                                                                      \
    handle, plain, plain, &alpha, a.description, b.description, &beta, c, Type<T>::type,           \
        CUSPARSE_SPGEMM_DEFAULT, descr
    CHECK_STATUS(cusparseSpGEMM_workEstimation(GIVEN, &size1, nullptr));
    Array<char> buffer1(size1);
    CHECK_STATUS(cusparseSpGEMM_workEstimation(GIVEN, &size1, buffer1.device));
    CHECK_STATUS(cusparseSpGEMM_compute(GIVEN, &size2, nullptr));
    Array<char> buffer2(size2);
    CHECK_STATUS(cusparseSpGEMM_compute(GIVEN, &size2, buffer2.device));
    CHECK_STATUS(cusparseSpMatGetSize(c, &rows, &columns, &count));
    Array<int> starts(M + 1), places((size_t)count);
    Array<T> values((size_t)count);
    CHECK_STATUS(cusparseCsrSetPointers(c, starts.device, places.device, values.device));
    CHECK_STATUS(cusparseSpGEMM_copy(GIVEN));
#undef GIVEN
    Table wanted = product(of_a, of_b);
    for (auto &row : wanted)
        for (Wide &x : row) x *= widen(alpha);
    const Table have = table_of(M, N, starts.fetch(), places.fetch(), values.fetch());
    int stored = 0; // an entry is where a product is, though its sum may be 0
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            bool is_stored = false;
            for (int k = 0; k < K; k++)
                is_stored = is_stored || (of_a[i][k] != Wide(0) && of_b[k][j] != Wide(0));
            stored += is_stored;
        }
    check(rows == M && columns == N && count == stored && have == wanted, "SpGEMM", Type<T>::name);
    CHECK_STATUS(cusparseSpGEMM_destroyDescr(descr));
    CHECK_STATUS(cusparseDestroySpMat(c));
}

// The structure is found once, and values are computed twice.
template <class T> static void reused()
{
    enum { M = 20, K = 30, N = 25 };
    const Table of_a = some<T>(M, K, 5), of_b = some<T>(K, N, 5);
    Sparse<T, int> a(of_a, CUSPARSE_FORMAT_CSR, 0), b(of_b, CUSPARSE_FORMAT_CSR, 0);
    const T alpha = scalar<T>(1, 1), beta = scalar<T>(0, 0);
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t descr;
    size_t size1 = 0, size2 = 0, size3 = 0, size4 = 0, size5 = 0;
    int64_t rows = 0, columns = 0, count = 0;
    Array<int> starts(M + 1);
    CHECK_STATUS(cusparseCreateCsr(&c, M, N, 0, starts.device, nullptr, nullptr, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type<T>::type));
    CHECK_STATUS(cusparseSpGEMM_createDescr(&descr));
#define GIVEN handle, plain, plain, a.description, b.description, c, CUSPARSE_SPGEMM_DEFAULT, descr
    Array<char> *buffer1, *buffer2, *buffer3, *buffer4, *buffer5;
    CHECK_STATUS(cusparseSpGEMMreuse_workEstimation(GIVEN, &size1, nullptr));
    buffer1 = new Array<char>(size1);
    CHECK_STATUS(cusparseSpGEMMreuse_workEstimation(GIVEN, &size1, buffer1->device));
    CHECK_STATUS(cusparseSpGEMMreuse_nnz(GIVEN, &size2, nullptr, &size3, nullptr, &size4, nullptr));
    buffer2 = new Array<char>(size2);
    buffer3 = new Array<char>(size3);
    buffer4 = new Array<char>(size4);
    CHECK_STATUS(cusparseSpGEMMreuse_nnz(GIVEN, &size2, buffer2->device, &size3, buffer3->device,
                                         &size4, buffer4->device));
    delete buffer1;
    delete buffer2;
    CHECK_STATUS(cusparseSpMatGetSize(c, &rows, &columns, &count));
    Array<int> places((size_t)count);
    Array<T> values((size_t)count);
    CHECK_STATUS(cusparseCsrSetPointers(c, starts.device, places.device, values.device));
    CHECK_STATUS(cusparseSpGEMMreuse_copy(GIVEN, &size5, nullptr));
    buffer5 = new Array<char>(size5);
    CHECK_STATUS(cusparseSpGEMMreuse_copy(GIVEN, &size5, buffer5->device));
    delete buffer3;
#undef GIVEN
    Table wanted = product(of_a, of_b);
    for (auto &row : wanted)
        for (Wide &x : row) x *= widen(alpha);
    for (int round = 0; round < 2; round++) {
        CHECK_STATUS(cusparseSpGEMMreuse_compute(handle, plain, plain, &alpha, a.description,
                                                 b.description, &beta, c, Type<T>::type,
                                                 CUSPARSE_SPGEMM_DEFAULT, descr));
        const Table have = table_of(M, N, starts.fetch(), places.fetch(), values.fetch());
        check(have == wanted, "SpGEMMreuse", Type<T>::name);
        std::vector<Wide> doubled = a.entries.values;
        for (Wide &x : doubled) x *= 2;
        a.values.send(narrowed<T>(doubled));
        for (auto &row : wanted)
            for (Wide &x : row) x *= 2;
    }
    delete buffer4;
    delete buffer5;
    CHECK_STATUS(cusparseSpGEMM_destroyDescr(descr));
    CHECK_STATUS(cusparseDestroySpMat(c));
}

template <class T> static void sum()
{
    enum { M = 26, N = 31 };
    const Table of_a = some<T>(M, N, 4), of_b = some<T>(M, N, 4);
    Sparse<T, int> a(of_a, CUSPARSE_FORMAT_CSR, 1), b(of_b, CUSPARSE_FORMAT_CSR, 1);
    cusparseMatDescr_t from_1;
    CHECK_STATUS(cusparseCreateMatDescr(&from_1));
    CHECK_STATUS(cusparseSetMatIndexBase(from_1, CUSPARSE_INDEX_BASE_ONE));
    const T alpha = scalar<T>(2, 1), beta = scalar<T>(-1, 3);
    const int in_a = a.entries.count(), in_b = b.entries.count();
    Array<int> starts(M + 1);
    size_t size = 0;
    int total = 0;
    CHECK_STATUS(Calls<T>::sum_size(handle, M, N, &alpha, from_1, in_a, a.values.device,
                                    a.starts.device, a.places.device, &beta, from_1, in_b,
                                    b.values.device, b.starts.device, b.places.device, from_1,
                                    nullptr, starts.device, nullptr, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseXcsrgeam2Nnz(handle, M, N, from_1, in_a, a.starts.device, a.places.device,
                                      from_1, in_b, b.starts.device, b.places.device, from_1,
                                      starts.device, &total, buffer.device));
    Array<int> places(total);
    Array<T> values(total);
    CHECK_STATUS(Calls<T>::sum(handle, M, N, &alpha, from_1, in_a, a.values.device, a.starts.device,
                               a.places.device, &beta, from_1, in_b, b.values.device,
                               b.starts.device, b.places.device, from_1, values.device,
                               starts.device, places.device, buffer.device));
    Table wanted(M, std::vector<Wide>(N));
    int count = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            wanted[i][j] = widen(alpha) * of_a[i][j] + widen(beta) * of_b[i][j];
            count += of_a[i][j] != Wide(0) || of_b[i][j] != Wide(0);
        }
    check(total == count &&
              table_of(M, N, starts.fetch(), places.fetch(), values.fetch()) == wanted,
          "csrgeam2", Type<T>::name);
    CHECK_STATUS(cusparseDestroyMatDescr(from_1));
}

// ---- incomplete factors -------------------------------------------------------------------------

// Positive definite, with few entries: both triangles are stored.
template <class T> static Table positive(int n)
{
    Table table = some<T>(n, n, 6);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) table[i][j] = std::conj(table[j][i]);
        table[i][i] = Wide(4 * n, 0);
    }
    return table;
}

// The factors where the matrix has entries, by the definition.
static Table incomplete_lu(const Table &table)
{
    const size_t n = table.size();
    Table f = table;
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            if (table[i][k] == Wide(0)) continue;
            f[i][k] /= f[k][k];
            for (size_t j = k + 1; j < n; j++)
                if (table[i][j] != Wide(0)) f[i][j] -= f[i][k] * f[k][j];
        }
    return f;
}
static Table incomplete_cholesky(const Table &table)
{
    const size_t n = table.size();
    Table f = table;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            if (table[i][k] == Wide(0)) continue;
            for (size_t j = 0; j < k; j++) f[i][k] -= f[i][j] * std::conj(f[k][j]);
            f[i][k] = k < i ? f[i][k] / f[k][k] : std::sqrt(f[i][k]);
        }
    return f;
}

template <class T> static void factors()
{
    enum { N = 28 };
    const Table table = positive<T>(N);
    cusparseMatDescr_t description;
    CHECK_STATUS(cusparseCreateMatDescr(&description));
    Sparse<T, int> a(table, CUSPARSE_FORMAT_CSR, 0), b(table, CUSPARSE_FORMAT_CSR, 0);
    const int count = a.entries.count();
    int size = 0, position = 0;
    csrilu02Info_t lu;
    CHECK_STATUS(cusparseCreateCsrilu02Info(&lu));
    CHECK_STATUS(Calls<T>::lu_size(handle, N, count, description, a.values.device, a.starts.device,
                                   a.places.device, lu, &size));
    Array<char> buffer((size_t)size);
    CHECK_STATUS(Calls<T>::lu_analysis(handle, N, count, description, a.values.device,
                                       a.starts.device, a.places.device, lu,
                                       CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer.device));
    CHECK_STATUS(Calls<T>::lu(handle, N, count, description, a.values.device, a.starts.device,
                              a.places.device, lu, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer.device));
    check(cusparseXcsrilu02_zeroPivot(handle, lu, &position) == CUSPARSE_STATUS_SUCCESS &&
              position == -1,
          "csrilu02's pivot", Type<T>::name);
    Entries wanted;
    const Table of_lu = incomplete_lu(table), of_ic = incomplete_cholesky(table);
    std::vector<Wide> expected;
    for (int k = 0, i = 0; k < count; k++) {
        while (a.entries.starts[i + 1] <= k) i++;
        expected.push_back(of_lu[i][a.entries.places[k]]);
    }
    check(distance(a.values.fetch(), expected) <= allowed<T>(), "csrilu02", Type<T>::name);
    CHECK_STATUS(cusparseDestroyCsrilu02Info(lu));

    csric02Info_t ic;
    CHECK_STATUS(cusparseCreateCsric02Info(&ic));
    CHECK_STATUS(Calls<T>::ic_size(handle, N, count, description, b.values.device, b.starts.device,
                                   b.places.device, ic, &size));
    Array<char> another((size_t)size);
    CHECK_STATUS(Calls<T>::ic_analysis(handle, N, count, description, b.values.device,
                                       b.starts.device, b.places.device, ic,
                                       CUSPARSE_SOLVE_POLICY_NO_LEVEL, another.device));
    CHECK_STATUS(Calls<T>::ic(handle, N, count, description, b.values.device, b.starts.device,
                              b.places.device, ic, CUSPARSE_SOLVE_POLICY_NO_LEVEL, another.device));
    check(cusparseXcsric02_zeroPivot(handle, ic, &position) == CUSPARSE_STATUS_SUCCESS &&
              position == -1,
          "csric02's pivot", Type<T>::name);
    const std::vector<T> have = b.values.fetch();
    std::vector<T> of_lower;
    expected.clear();
    for (int k = 0, i = 0; k < count; k++) {
        while (b.entries.starts[i + 1] <= k) i++;
        if (b.entries.places[k] > i) continue; // only the lower triangle is promised
        of_lower.push_back(have[k]);
        expected.push_back(of_ic[i][b.entries.places[k]]);
    }
    check(distance(of_lower, expected) <= allowed<T>(), "csric02", Type<T>::name);
    CHECK_STATUS(cusparseDestroyCsric02Info(ic));
    CHECK_STATUS(cusparseDestroyMatDescr(description));
}

// A pivot that is missing is told at the analysis, and one that becomes 0 at the factorisation.
static void missing_pivots()
{
    enum { N = 3 };
    const Table missing = {{2, 1, 0}, {1, 0, 1}, {0, 1, 2}},
                zero = {{2, 1, 0}, {2, 1, 1}, {0, 1, 2}};
    cusparseMatDescr_t description;
    CHECK_STATUS(cusparseCreateMatDescr(&description));
    for (bool is_missing : {true, false}) {
        Sparse<double, int> a(is_missing ? missing : zero, CUSPARSE_FORMAT_CSR, 0);
        const int count = a.entries.count();
        int size = 0, position = -7;
        csrilu02Info_t info;
        CHECK_STATUS(cusparseCreateCsrilu02Info(&info));
        CHECK_STATUS(cusparseDcsrilu02_bufferSize(handle, N, count, description, a.values.device,
                                                  a.starts.device, a.places.device, info, &size));
        Array<char> buffer((size_t)size);
        CHECK_STATUS(cusparseDcsrilu02_analysis(handle, N, count, description, a.values.device,
                                                a.starts.device, a.places.device, info,
                                                CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer.device));
        if (!is_missing)
            CHECK_STATUS(cusparseDcsrilu02(handle, N, count, description, a.values.device,
                                           a.starts.device, a.places.device, info,
                                           CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer.device));
        const cusparseStatus_t status = cusparseXcsrilu02_zeroPivot(handle, info, &position);
        check(status == CUSPARSE_STATUS_ZERO_PIVOT && position == 1,
              is_missing ? "a missing pivot" : "a pivot that is 0", "double");
        CHECK_STATUS(cusparseDestroyCsrilu02Info(info));
    }
    CHECK_STATUS(cusparseDestroyMatDescr(description));
}

template <class T> static void of_type()
{
    for (cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO})
        for (cusparseFillMode_t fill : {CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER})
            for (cusparseOperation_t op : ops<T>())
                solve<T, int>(format, fill,
                              op == plain ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT,
                              op);
    solve<T, int64_t>(CUSPARSE_FORMAT_CSR, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT,
                      plain);
    solve<T, int>(CUSPARSE_FORMAT_CSR, CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT,
                  CUSPARSE_OPERATION_TRANSPOSE);
    bands<T>(1, false);
    bands<T>(1, true);
    bands<T>(4, false);
    square<T>();
    reused<T>();
    sum<T>();
    factors<T>();
}

int main()
{
    CHECK_STATUS(cusparseCreate(&handle));
    of_type<float>();
    of_type<double>();
    of_type<cuComplex>();
    of_type<cuDoubleComplex>();
    missing_pivots();
    CHECK_STATUS(cusparseDestroy(handle));
    return finish();
}
