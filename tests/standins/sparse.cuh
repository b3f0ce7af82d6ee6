// What the checks of the stand-in for cuSPARSE share: sparse matrices on both sides, in any format
// and with any indices. Values are small whole numbers, so that sums are exact in every order.
#pragma once
#include "blas.cuh"

#define DISABLE_CUSPARSE_DEPRECATED // the factorisations are deprecated, and still used
#include <cusparse.h>

#include <algorithm>

template <class T> struct Type;
template <> struct Type<float> {
    static constexpr cudaDataType type = CUDA_R_32F;
    static constexpr const char *name = "float";
};
template <> struct Type<double> {
    static constexpr cudaDataType type = CUDA_R_64F;
    static constexpr const char *name = "double";
};
template <> struct Type<cuComplex> {
    static constexpr cudaDataType type = CUDA_C_32F;
    static constexpr const char *name = "complex float";
};
template <> struct Type<cuDoubleComplex> {
    static constexpr cudaDataType type = CUDA_C_64F;
    static constexpr const char *name = "complex double";
};
template <class I>
constexpr cusparseIndexType_t index_type = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;

template <class X> std::vector<X> but(const std::vector<int> &of)
{
    return std::vector<X>(of.begin(), of.end());
}
template <class X> struct Sent : Array<X> {
    explicit Sent(const std::vector<X> &values) : Array<X>(values.size())
    {
        this->send(values);
    }
};

// The entries of a sparse matrix, by rows, or by columns if it is turned.
struct Entries {
    int rows, columns;
    std::vector<int> line_of, places, starts;
    std::vector<Wide> values;

    int count() const
    {
        return (int)places.size();
    }
    void take(const std::vector<std::vector<Wide>> &table, bool by_columns, int base)
    {
        rows = (int)table.size();
        columns = (int)table[0].size();
        const int lines = by_columns ? columns : rows, each = by_columns ? rows : columns;
        for (int i = 0; i < lines; i++) {
            starts.push_back(count() + base);
            for (int j = 0; j < each; j++) {
                const Wide x = by_columns ? table[j][i] : table[i][j];
                if (x == Wide(0)) continue;
                line_of.push_back(i + base);
                places.push_back(j + base);
                values.push_back(x);
            }
        }
        starts.push_back(count() + base);
    }
};

typedef std::vector<std::vector<Wide>> Table; // by rows

// About one element of `one_of` is not 0; some rows and columns have none.
template <class T> Table some(int rows, int columns, int one_of)
{
    Table table(rows, std::vector<Wide>(columns));
    for (auto &row : table)
        for (Wide &x : row) {
            const bool is_stored = draw(1000) % one_of == 0;
            const Wide drawn(draw(3), is_complex<T>() ? draw(3) : 0);
            if (is_stored) x = drawn;
        }
    if (rows > 4) std::fill(table[3].begin(), table[3].end(), Wide(0));
    return table;
}

template <class T> std::vector<T> narrowed(const std::vector<Wide> &values)
{
    std::vector<T> narrow_values;
    for (Wide x : values) narrow_values.push_back(narrow(x, T()));
    return narrow_values;
}

inline Wide op_of(const Table &table, cusparseOperation_t op, int i, int j)
{
    const Wide x = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? table[i][j] : table[j][i];
    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(x) : x;
}

// A table as a sparse matrix of the device, with its description.
template <class T, class I> struct Sparse {
    Entries entries;
    Sent<I> starts, places;
    Sent<T> values;
    cusparseSpMatDescr_t description;

    static Entries taken(const Table &table, cusparseFormat_t format, int base)
    {
        Entries entries;
        entries.take(table, format == CUSPARSE_FORMAT_CSC, base);
        return entries;
    }
    Sparse(const Table &table, cusparseFormat_t format, int base)
        : entries(taken(table, format, base)),
          starts(but<I>(format == CUSPARSE_FORMAT_COO ? entries.line_of : entries.starts)),
          places(but<I>(entries.places)), values(narrowed<T>(entries.values))
    {
        const cusparseIndexBase_t from = (cusparseIndexBase_t)base;
        const int rows = entries.rows, columns = entries.columns, count = entries.count();
        if (format == CUSPARSE_FORMAT_COO)
            CHECK_STATUS(cusparseCreateCoo(&description, rows, columns, count, starts.device,
                                           places.device, values.device, index_type<I>, from,
                                           Type<T>::type));
        else
            CHECK_STATUS((format == CUSPARSE_FORMAT_CSR ? cusparseCreateCsr : cusparseCreateCsc)(
                &description, rows, columns, count, starts.device, places.device, values.device,
                index_type<I>, index_type<I>, from, Type<T>::type));
    }
    Sparse(const Sparse &) = delete;
    ~Sparse()
    {
        cusparseDestroySpMat(description);
    }
    // What the device has, as a table.
    Table fetch(cusparseFormat_t format, int base) const
    {
        const std::vector<I> at = starts.fetch(), to = places.fetch();
        const std::vector<T> of = values.fetch();
        Table table(entries.rows, std::vector<Wide>(entries.columns));
        for (int k = 0, line = 0; k < entries.count(); k++) {
            while (format != CUSPARSE_FORMAT_COO && at[line + 1] - base <= k) line++;
            const int i = format == CUSPARSE_FORMAT_COO ? (int)at[k] - base : line;
            const int j = (int)to[k] - base;
            (format == CUSPARSE_FORMAT_CSC ? table[j][i] : table[i][j]) = widen(of[k]);
        }
        return table;
    }
};

// A dense matrix with its description, by columns or by rows.
template <class T> struct Full : Matrix<T> {
    cusparseDnMatDescr_t description;
    Full(int rows, int columns) : Matrix<T>(rows, columns, 3, is_complex<T>())
    {
        CHECK_STATUS(cusparseCreateDnMat(&description, rows, columns, this->ld, this->device,
                                         Type<T>::type, CUSPARSE_ORDER_COL));
    }
    ~Full()
    {
        cusparseDestroyDnMat(description);
    }
};
template <class T> struct Vector : Matrix<T> {
    cusparseDnVecDescr_t description;
    explicit Vector(int size) : Matrix<T>(size, 1, 0, is_complex<T>())
    {
        CHECK_STATUS(cusparseCreateDnVec(&description, size, this->device, Type<T>::type));
    }
    ~Vector()
    {
        cusparseDestroyDnVec(description);
    }
};

template <class T> Wide op_of(const Matrix<T> &m, cusparseOperation_t op, int i, int j)
{
    return op_at(m, (cublasOperation_t)op, i, j);
}
template <class T> T scalar(double re, double im)
{
    return narrow(Wide(re, is_complex<T>() ? im : 0), T());
}

#define FORMATS                                                                                    \
    {                                                                                              \
        CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO                              \
    }

// Real matrices are not conjugated.
template <class T> std::vector<cusparseOperation_t> ops()
{
    std::vector<cusparseOperation_t> all = {CUSPARSE_OPERATION_NON_TRANSPOSE,
                                            CUSPARSE_OPERATION_TRANSPOSE};
    if (is_complex<T>()) all.push_back(CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
    return all;
}
