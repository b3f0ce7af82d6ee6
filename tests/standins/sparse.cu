// The stand-in for cuSPARSE multiplies sparse matrices and vectors with dense ones, and turns one
// format into another. Runs on a GPU with NVIDIA's library as well. Prints "all right", or what is
// not so.
#include "sparse.cuh"

#include <cuda_fp16.h>

int failures;
static cusparseHandle_t handle;

// ---- products -----------------------------------------------------------------------------------

template <class T, class I> static void vectors(cusparseFormat_t format, cusparseOperation_t op)
{
    enum { ROWS = 70, COLUMNS = 45 };
    const int base = format == CUSPARSE_FORMAT_CSR;
    const Table table = some<T>(ROWS, COLUMNS, 4);
    const bool is_plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    for (int beta_too : {0, 1}) {
        Sparse<T, I> a(table, format, base);
        Vector<T> x(is_plain ? COLUMNS : ROWS), y(is_plain ? ROWS : COLUMNS);
        const T alpha = scalar<T>(2, 1), beta = scalar<T>(beta_too ? -3 : 0, beta_too ? 1 : 0);
        size_t size = 0;
        CHECK_STATUS(cusparseSpMV_bufferSize(handle, op, &alpha, a.description, x.description,
                                             &beta, y.description, Type<T>::type,
                                             CUSPARSE_SPMV_ALG_DEFAULT, &size));
        Array<char> buffer(size);
        CHECK_STATUS(cusparseSpMV(handle, op, &alpha, a.description, x.description, &beta,
                                  y.description, Type<T>::type, CUSPARSE_SPMV_ALG_DEFAULT,
                                  buffer.device));
        for (int i = 0; i < y.rows; i++) {
            Wide sum = 0;
            for (int k = 0; k < x.rows; k++) sum += op_of(table, op, i, k) * x(k, 0);
            y(i, 0) = widen(alpha) * sum + widen(beta) * y(i, 0);
        }
        check(y.is_there(), "SpMV", Type<T>::name);
    }
}

template <class T, class I>
static void matrices(cusparseFormat_t format, cusparseOperation_t op_a, cusparseOperation_t op_b)
{
    enum { ROWS = 40, COLUMNS = 33, WIDTH = 5 };
    const Table table = some<T>(ROWS, COLUMNS, 3);
    const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE;
    const bool plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    const int m = plain_a ? ROWS : COLUMNS, k = plain_a ? COLUMNS : ROWS;
    Sparse<T, I> a(table, format, 0);
    Full<T> b(plain_b ? k : WIDTH, plain_b ? WIDTH : k), c(m, WIDTH);
    const T alpha = scalar<T>(-2, 1), beta = scalar<T>(3, -1);
    size_t size = 0;
    CHECK_STATUS(cusparseSpMM_bufferSize(handle, op_a, op_b, &alpha, a.description, b.description,
                                         &beta, c.description, Type<T>::type,
                                         CUSPARSE_SPMM_ALG_DEFAULT, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseSpMM(handle, op_a, op_b, &alpha, a.description, b.description, &beta,
                              c.description, Type<T>::type, CUSPARSE_SPMM_ALG_DEFAULT,
                              buffer.device));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < WIDTH; j++) {
            Wide sum = 0;
            for (int q = 0; q < k; q++) sum += op_of(table, op_a, i, q) * op_of(b, op_b, q, j);
            c(i, j) = widen(alpha) * sum + widen(beta) * c(i, j);
        }
    check(c.is_there(), "SpMM", Type<T>::name);
}

// By rows, many at once, with factors in the memory of the device, and of halves.
static void other_products()
{
    enum { M = 24, K = 20, N = 4, BATCH = 3 };
    const Table table = some<float>(M, K, 3);
    Sparse<float, int> a(table, CUSPARSE_FORMAT_CSR, 0);
    Matrix<float> b(N, K * BATCH, 0), c(N, M * BATCH, 0); // rows are what columns are here
    cusparseDnMatDescr_t of_b, of_c;
    CHECK_STATUS(cusparseCreateDnMat(&of_b, K, N, N, b.device, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK_STATUS(cusparseCreateDnMat(&of_c, M, N, N, c.device, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK_STATUS(cusparseDnMatSetStridedBatch(of_b, BATCH, N * K));
    CHECK_STATUS(cusparseDnMatSetStridedBatch(of_c, BATCH, N * M));
    CHECK_STATUS(cusparseCsrSetStridedBatch(a.description, BATCH, 0, 0));
    Sent<float> factors(std::vector<float>{2, 3});
    size_t size = 0;
    CHECK_STATUS(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE));
    CHECK_STATUS(cusparseSpMM_bufferSize(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, factors.device,
        a.description, of_b, factors.device + 1, of_c, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                              CUSPARSE_OPERATION_NON_TRANSPOSE, factors.device, a.description, of_b,
                              factors.device + 1, of_c, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2,
                              buffer.device));
    CHECK_STATUS(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    for (int z = 0; z < BATCH; z++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                Wide sum = 0;
                for (int q = 0; q < K; q++) sum += table[i][q] * b(j, z * K + q);
                c(j, z * M + i) = 2.0 * sum + 3.0 * c(j, z * M + i);
            }
    check(c.is_there(), "SpMM by rows, in a batch", "float");
    CHECK_STATUS(cusparseDestroyDnMat(of_b));
    CHECK_STATUS(cusparseDestroyDnMat(of_c));
}

// More columns than a grid may have rows.
static void many_columns()
{
    enum { M = 3, COLUMNS = 70000 };
    const Table table = {{1, 0, 2}, {0, 0, 0}, {0, 3, 0}};
    for (cusparseFormat_t format : FORMATS) {
        Sparse<float, int> a(table, format, 0);
        Full<float> b(M, COLUMNS), c(M, COLUMNS);
        const float alpha = 1, beta = 0;
        size_t size = 0;
        CHECK_STATUS(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                             CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                                             a.description, b.description, &beta, c.description,
                                             CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &size));
        Array<char> buffer(size);
        CHECK_STATUS(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a.description,
                                  b.description, &beta, c.description, CUDA_R_32F,
                                  CUSPARSE_SPMM_ALG_DEFAULT, buffer.device));
        for (int j = 0; j < COLUMNS; j++) {
            c(0, j) = b(0, j) + 2.0 * b(2, j);
            c(1, j) = 0;
            c(2, j) = 3.0 * b(1, j);
        }
        check(c.is_there(), "SpMM of many columns", "float");
    }
}

static void halves()
{
    enum { M = 32, K = 24 };
    const Table table = some<float>(M, K, 3);
    Entries entries;
    entries.take(table, false, 0);
    std::vector<__half> values, of_x;
    std::vector<float> x;
    for (Wide v : entries.values) values.push_back(__float2half((float)v.real()));
    for (int k = 0; k < K; k++) {
        x.push_back((float)draw(3));
        of_x.push_back(__float2half(x.back()));
    }
    Sent<int> starts(entries.starts), places(entries.places);
    Sent<__half> at(values), vector(of_x);
    Array<float> y(M);
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t descr_x, descr_y;
    CHECK_STATUS(cusparseCreateCsr(&a, M, K, entries.count(), starts.device, places.device,
                                   at.device, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_BASE_ZERO, CUDA_R_16F));
    CHECK_STATUS(cusparseCreateDnVec(&descr_x, K, vector.device, CUDA_R_16F));
    CHECK_STATUS(cusparseCreateDnVec(&descr_y, M, y.device, CUDA_R_32F));
    const float alpha = 2, beta = 0;
    size_t size = 0;
    CHECK_STATUS(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a,
                                         descr_x, &beta, descr_y, CUDA_R_32F,
                                         CUSPARSE_SPMV_ALG_DEFAULT, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, descr_x, &beta,
                              descr_y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer.device));
    const std::vector<float> have = y.fetch();
    bool fine = true;
    for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int k = 0; k < K; k++) sum += table[i][k].real() * x[k];
        fine = fine && have[i] == (float)(2 * sum);
    }
    check(fine, "SpMV", "half");
    CHECK_STATUS(cusparseDestroySpMat(a));
    CHECK_STATUS(cusparseDestroyDnVec(descr_x));
    CHECK_STATUS(cusparseDestroyDnVec(descr_y));
}

template <class T, class I> static void sampled()
{
    enum { M = 21, N = 26, K = 7 };
    const Table table = some<T>(M, N, 3);
    Sparse<T, I> c(table, CUSPARSE_FORMAT_CSR, 0);
    Full<T> a(M, K), b(N, K);
    const T alpha = scalar<T>(2, 1), beta = scalar<T>(-1, 2);
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE,
                              turned = CUSPARSE_OPERATION_TRANSPOSE;
    size_t size = 0;
    CHECK_STATUS(cusparseSDDMM_bufferSize(handle, plain, turned, &alpha, a.description,
                                          b.description, &beta, c.description, Type<T>::type,
                                          CUSPARSE_SDDMM_ALG_DEFAULT, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseSDDMM(handle, plain, turned, &alpha, a.description, b.description, &beta,
                               c.description, Type<T>::type, CUSPARSE_SDDMM_ALG_DEFAULT,
                               buffer.device));
    Table wanted = table;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            Wide sum = 0;
            for (int k = 0; k < K; k++) sum += a(i, k) * b(j, k);
            if (table[i][j] != Wide(0))
                wanted[i][j] = widen(alpha) * sum + widen(beta) * table[i][j];
        }
    check(c.fetch(CUSPARSE_FORMAT_CSR, 0) == wanted, "SDDMM", Type<T>::name);
}

// ---- sparse vectors -----------------------------------------------------------------------------

template <class T, class I> static void sparse_vectors()
{
    enum { SIZE = 300 };
    std::vector<I> places;
    std::vector<Wide> values;
    for (int k = 0; k < SIZE; k += 2) { // fewer than a half: the size is not that of the vector
        if (draw(1) == 0) continue;
        places.push_back((I)k + 1);
        values.push_back(Wide(draw(4), is_complex<T>() ? draw(4) : 0));
    }
    const size_t count = places.size();
    Sent<I> at(places);
    Sent<T> of(narrowed<T>(values));
    Vector<T> y(SIZE);
    cusparseSpVecDescr_t x;
    CHECK_STATUS(cusparseCreateSpVec(&x, SIZE, count, at.device, of.device, index_type<I>,
                                     CUSPARSE_INDEX_BASE_ONE, Type<T>::type));
    const T alpha = scalar<T>(3, 1), beta = scalar<T>(-2, 1);
    T result = scalar<T>(0, 0);
    size_t size = 0;
    const cusparseOperation_t op =
        is_complex<T>() ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    CHECK_STATUS(
        cusparseSpVV_bufferSize(handle, op, x, y.description, &result, Type<T>::type, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseSpVV(handle, op, x, y.description, &result, Type<T>::type, buffer.device));
    Wide sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (is_complex<T>() ? std::conj(values[k]) : values[k]) * y((int)places[k] - 1, 0);
    check(widen(result) == sum, "SpVV", Type<T>::name);

    CHECK_STATUS(cusparseAxpby(handle, &alpha, x, &beta, y.description));
    for (int k = 0; k < SIZE; k++) y(k, 0) *= widen(beta);
    for (size_t k = 0; k < count; k++) y((int)places[k] - 1, 0) += widen(alpha) * values[k];
    check(y.is_there(), "Axpby", Type<T>::name);

    CHECK_STATUS(cusparseGather(handle, y.description, x));
    const std::vector<T> gathered = of.fetch();
    bool fine = true;
    for (size_t k = 0; k < count; k++)
        fine = fine && widen(gathered[k]) == y((int)places[k] - 1, 0);
    check(fine, "Gather", Type<T>::name);

    of.send(narrowed<T>(values));
    CHECK_STATUS(cusparseScatter(handle, x, y.description));
    for (size_t k = 0; k < count; k++) y((int)places[k] - 1, 0) = values[k];
    check(y.is_there(), "Scatter", Type<T>::name);
    CHECK_STATUS(cusparseDestroySpVec(x));
}

// ---- conversions --------------------------------------------------------------------------------

template <class T, class I> static void conversions(cusparseFormat_t format, int base)
{
    enum { ROWS = 37, COLUMNS = 29 };
    const Table table = some<T>(ROWS, COLUMNS, 3);
    Sparse<T, I> sparse(table, format, base);
    Full<T> dense(ROWS, COLUMNS);
    size_t size = 0;
    CHECK_STATUS(cusparseSparseToDense_bufferSize(handle, sparse.description, dense.description,
                                                  CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &size));
    Array<char> first(size);
    CHECK_STATUS(cusparseSparseToDense(handle, sparse.description, dense.description,
                                       CUSPARSE_SPARSETODENSE_ALG_DEFAULT, first.device));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) dense(i, j) = table[i][j];
    check(dense.is_there(), "SparseToDense", Type<T>::name);

    Sparse<T, I> again(table, format, base); // overwritten: what it has is wiped first
    CHECK_STATUS(cudaMemset(again.starts.device, 0, again.starts.count * sizeof(I)));
    CHECK_STATUS(cudaMemset(again.places.device, 0, again.places.count * sizeof(I)));
    CHECK_STATUS(cudaMemset(again.values.device, 0, again.values.count * sizeof(T)));
    CHECK_STATUS(cusparseDenseToSparse_bufferSize(handle, dense.description, again.description,
                                                  CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &size));
    Array<char> second(size);
    CHECK_STATUS(cusparseDenseToSparse_analysis(handle, dense.description, again.description,
                                                CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, second.device));
    int64_t rows = 0, columns = 0, count = 0;
    CHECK_STATUS(cusparseSpMatGetSize(again.description, &rows, &columns, &count));
    check(rows == ROWS && columns == COLUMNS && count == sparse.entries.count(),
          "DenseToSparse's size", Type<T>::name);
    CHECK_STATUS(cusparseDenseToSparse_convert(handle, dense.description, again.description,
                                               CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, second.device));
    check(again.fetch(format, base) == table, "DenseToSparse", Type<T>::name);
}

static void turned()
{
    enum { ROWS = 31, COLUMNS = 44 };
    const Table table = some<double>(ROWS, COLUMNS, 3);
    Entries by_rows, by_columns;
    by_rows.take(table, false, 1);
    by_columns.take(table, true, 1);
    const int count = by_rows.count();
    Sent<int> starts(by_rows.starts), places(by_rows.places);
    Sent<double> values(narrowed<double>(by_rows.values));
    Array<int> new_starts(COLUMNS + 1), new_places(count), row_of(count), again(ROWS + 1);
    Array<double> new_values(count);
    size_t size = 0;
    CHECK_STATUS(cusparseCsr2cscEx2_bufferSize(
        handle, ROWS, COLUMNS, count, values.device, starts.device, places.device,
        new_values.device, new_starts.device, new_places.device, CUDA_R_64F,
        CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG1, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseCsr2cscEx2(handle, ROWS, COLUMNS, count, values.device, starts.device,
                                    places.device, new_values.device, new_starts.device,
                                    new_places.device, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
                                    CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG1, buffer.device));
    check(new_starts.fetch() == by_columns.starts && new_places.fetch() == by_columns.places &&
              new_values.fetch() == narrowed<double>(by_columns.values),
          "Csr2cscEx2", "double");
    CHECK_STATUS(cusparseXcsr2coo(handle, starts.device, count, ROWS, row_of.device,
                                  CUSPARSE_INDEX_BASE_ONE));
    check(row_of.fetch() == by_rows.line_of, "Xcsr2coo", "indices");
    CHECK_STATUS(cusparseXcoo2csr(handle, row_of.device, count, ROWS, again.device,
                                  CUSPARSE_INDEX_BASE_ONE));
    check(again.fetch() == by_rows.starts, "Xcoo2csr", "indices");
}

// Rows and columns in any order are sorted, and a permutation with them.
static void sorted()
{
    enum { ROWS = 23, COLUMNS = 37 };
    const Table table = some<float>(ROWS, COLUMNS, 3);
    Entries entries;
    entries.take(table, false, 0);
    const int count = entries.count();
    std::vector<int> order(count), rows(count + 1), columns(count + 1);
    for (int k = 0; k < count; k++) order[k] = k;
    for (int k = count - 1; k > 0; k--) std::swap(order[k], order[(draw(1000) + 1000) % (k + 1)]);
    for (int k = 0; k < count; k++) {
        rows[k] = entries.line_of[order[k]];
        columns[k] = entries.places[order[k]];
    }
    rows[count] = rows[0]; // and one place twice
    columns[count] = columns[0];
    const int all = count + 1;
    for (bool by_rows : {true, false}) {
        Sent<int> of_rows(rows), of_columns(columns);
        Array<int> permutation(all);
        size_t size = 0;
        CHECK_STATUS(cusparseCreateIdentityPermutation(handle, all, permutation.device));
        CHECK_STATUS(cusparseXcoosort_bufferSizeExt(handle, ROWS, COLUMNS, all, of_rows.device,
                                                    of_columns.device, &size));
        Array<char> buffer(size);
        CHECK_STATUS((by_rows ? cusparseXcoosortByRow : cusparseXcoosortByColumn)(
            handle, ROWS, COLUMNS, all, of_rows.device, of_columns.device, permutation.device,
            buffer.device));
        const std::vector<int> i = of_rows.fetch(), j = of_columns.fetch(), p = permutation.fetch();
        bool fine = true, goes_along = true;
        for (int k = 0; k < all; k++) {
            goes_along = goes_along && i[k] == rows[p[k]] && j[k] == columns[p[k]];
            if (k == 0) continue;
            const int one = by_rows ? i[k - 1] * COLUMNS + j[k - 1] : j[k - 1] * ROWS + i[k - 1];
            const int next = by_rows ? i[k] * COLUMNS + j[k] : j[k] * ROWS + i[k];
            fine = fine && (one < next || (one == next && p[k - 1] < p[k]));
        }
        check(fine, by_rows ? "XcoosortByRow" : "XcoosortByColumn", "indices");
        check(goes_along, "the permutation of Xcoosort", "indices");
    }

    std::vector<int> mixed = entries.places; // rows turned round
    for (int i = 0; i < ROWS; i++)
        std::reverse(mixed.begin() + entries.starts[i], mixed.begin() + entries.starts[i + 1]);
    Sent<int> starts(entries.starts), places(mixed);
    Array<int> permutation(count);
    cusparseMatDescr_t description;
    size_t size = 0;
    CHECK_STATUS(cusparseCreateMatDescr(&description));
    CHECK_STATUS(cusparseCreateIdentityPermutation(handle, count, permutation.device));
    CHECK_STATUS(cusparseXcsrsort_bufferSizeExt(handle, ROWS, COLUMNS, count, starts.device,
                                                places.device, &size));
    Array<char> buffer(size);
    CHECK_STATUS(cusparseXcsrsort(handle, ROWS, COLUMNS, count, description, starts.device,
                                  places.device, permutation.device, buffer.device));
    const std::vector<int> p = permutation.fetch();
    bool goes_along = true;
    for (int k = 0; k < count; k++) goes_along = goes_along && mixed[p[k]] == entries.places[k];
    check(places.fetch() == entries.places && goes_along, "Xcsrsort", "indices");
    CHECK_STATUS(cusparseDestroyMatDescr(description));
}

// Entries are counted, and small ones left out.
static void counted()
{
    enum { ROWS = 19, COLUMNS = 27 };
    Table table = some<double>(ROWS, COLUMNS, 3);
    Entries entries, large;
    for (auto &row : table) // NVIDIA's csr2csr_compress leaves out what is negative, too
        for (Wide &x : row) x = std::abs(x);
    entries.take(table, false, 0);
    Table of_large = table;
    for (auto &row : of_large)
        for (Wide &x : row)
            if (std::abs(x) <= 1) x = 0;
    large.take(of_large, false, 0);
    Full<double> dense(ROWS, COLUMNS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) dense(i, j) = table[i][j];
    dense.send();
    Array<int> each(COLUMNS);
    cusparseMatDescr_t description;
    int total = 0, sum = 0;
    CHECK_STATUS(cusparseCreateMatDescr(&description));
    CHECK_STATUS(cusparseDnnz(handle, CUSPARSE_DIRECTION_COLUMN, ROWS, COLUMNS, description,
                              dense.device, dense.ld, each.device, &total));
    bool fine = total == entries.count();
    const std::vector<int> counts = each.fetch();
    for (int j = 0; j < COLUMNS; j++) {
        int count = 0;
        for (int i = 0; i < ROWS; i++) count += table[i][j] != Wide(0);
        fine = fine && counts[j] == count;
    }
    check(fine, "nnz", "double");

    Sent<int> starts(entries.starts), places(entries.places);
    Sent<double> values(narrowed<double>(entries.values));
    Array<int> of_rows(ROWS);
    CHECK_STATUS(cusparseDnnz_compress(handle, ROWS, description, values.device, starts.device,
                                       of_rows.device, &total, 1.0));
    for (int count : of_rows.fetch()) sum += count;
    check(total == large.count() && sum == total, "nnz_compress", "double");
    Array<int> new_starts(ROWS + 1), new_places(total);
    Array<double> new_values(total);
    CHECK_STATUS(cusparseDcsr2csr_compress(handle, ROWS, COLUMNS, description, values.device,
                                           places.device, starts.device, entries.count(),
                                           of_rows.device, new_values.device, new_places.device,
                                           new_starts.device, 1.0));
    check(new_starts.fetch() == large.starts && new_places.fetch() == large.places &&
              new_values.fetch() == narrowed<double>(large.values),
          "csr2csr_compress", "double");
    CHECK_STATUS(cusparseDestroyMatDescr(description));
}

// ---- descriptions -------------------------------------------------------------------------------

static void described()
{
    const Table table = some<float>(6, 7, 2);
    Sparse<float, int64_t> a(table, CUSPARSE_FORMAT_CSR, 1);
    int64_t rows = 0, columns = 0, count = 0;
    void *starts = nullptr, *places = nullptr, *values = nullptr;
    cusparseIndexType_t of_starts, of_places;
    cusparseIndexBase_t base;
    cudaDataType type;
    CHECK_STATUS(cusparseCsrGet(a.description, &rows, &columns, &count, &starts, &places, &values,
                                &of_starts, &of_places, &base, &type));
    check(rows == 6 && columns == 7 && count == a.entries.count() && starts == a.starts.device &&
              places == a.places.device && values == a.values.device &&
              of_starts == CUSPARSE_INDEX_64I && of_places == CUSPARSE_INDEX_64I &&
              base == CUSPARSE_INDEX_BASE_ONE && type == CUDA_R_32F,
          "CsrGet", "");
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_UPPER, had = CUSPARSE_FILL_MODE_LOWER;
    CHECK_STATUS(
        cusparseSpMatSetAttribute(a.description, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    CHECK_STATUS(
        cusparseSpMatGetAttribute(a.description, CUSPARSE_SPMAT_FILL_MODE, &had, sizeof had));
    check(had == CUSPARSE_FILL_MODE_UPPER, "SpMatGetAttribute", "");
    int version = 0;
    cudaStream_t stream, set = nullptr;
    CHECK_STATUS(cudaStreamCreate(&stream));
    CHECK_STATUS(cusparseSetStream(handle, stream));
    CHECK_STATUS(cusparseGetStream(handle, &set));
    CHECK_STATUS(cusparseSetStream(handle, nullptr));
    CHECK_STATUS(cudaStreamDestroy(stream));
    CHECK_STATUS(cusparseGetVersion(handle, &version));
    check(set == stream, "GetStream", "");
    check(version >= 12000 && version < 13000, "GetVersion", "");
    check(cusparseSpMV(nullptr, CUSPARSE_OPERATION_NON_TRANSPOSE, nullptr, nullptr, nullptr,
                       nullptr, nullptr, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                       nullptr) == CUSPARSE_STATUS_INVALID_VALUE &&
              cusparseXcoo2csr(nullptr, nullptr, 0, 0, nullptr, CUSPARSE_INDEX_BASE_ZERO) ==
                  CUSPARSE_STATUS_NOT_INITIALIZED,
          "no handle", "");
    Vector<float> x(6), y(7);
    const float one = 1;
    check(cusparseSpMV(handle, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, &one, a.description,
                       x.description, &one, y.description, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                       nullptr) == CUSPARSE_STATUS_INVALID_VALUE,
          "no real matrix is conjugated", "");
    CHECK_STATUS(cudaDeviceSynchronize());
}

template <class T> static void of_type()
{
    for (cusparseFormat_t format : FORMATS) {
        for (cusparseOperation_t op : ops<T>()) {
            vectors<T, int>(format, op);
            matrices<T, int>(format, op, CUSPARSE_OPERATION_NON_TRANSPOSE);
            matrices<T, int>(format, CUSPARSE_OPERATION_NON_TRANSPOSE, op);
        }
        matrices<T, int64_t>(format, CUSPARSE_OPERATION_NON_TRANSPOSE,
                             CUSPARSE_OPERATION_TRANSPOSE);
        conversions<T, int>(format, 0);
        conversions<T, int64_t>(format, 1);
    }
    vectors<T, int64_t>(CUSPARSE_FORMAT_CSR, CUSPARSE_OPERATION_NON_TRANSPOSE);
    sampled<T, int>();
    sparse_vectors<T, int>();
    sparse_vectors<T, int64_t>();
}

int main()
{
    CHECK_STATUS(cusparseCreate(&handle));
    of_type<float>();
    of_type<double>();
    of_type<cuComplex>();
    of_type<cuDoubleComplex>();
    other_products();
    many_columns();
    halves();
    turned();
    sorted();
    counted();
    described();
    CHECK_STATUS(cusparseDestroy(handle));
    return finish();
}
