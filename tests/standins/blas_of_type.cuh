// The checks of every routine that there is for one type: T, its real type R, CALL(gemm) for
// cublasSgemm, NAME for messages, IS_COMPLEX. Included once for each type.

#define M(rows, columns) Matrix<T>(rows, columns, 3, IS_COMPLEX)
#define FILLS                                                                                      \
    {                                                                                              \
        CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER                                             \
    }
#define OPS                                                                                        \
    {                                                                                              \
        CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C                                                      \
    }
#define SIDES                                                                                      \
    {                                                                                              \
        CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT                                                        \
    }
#define DIAGONALS                                                                                  \
    {                                                                                              \
        CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT                                                     \
    }
#define SCALAR(re, im) narrow(Wide(re, IS_COMPLEX ? im : 0), T())

namespace SPACE
{

void products(cublasHandle_t handle)
{
    const int m = 37, n = 21, k = 19;
    for (cublasOperation_t op_a : OPS)
        for (cublasOperation_t op_b : OPS)
            for (int beta_too : {0, 1}) {
                Matrix<T> a(op_a == CUBLAS_OP_N ? m : k, op_a == CUBLAS_OP_N ? k : m, 3,
                            IS_COMPLEX);
                Matrix<T> b(op_b == CUBLAS_OP_N ? k : n, op_b == CUBLAS_OP_N ? n : k, 3,
                            IS_COMPLEX);
                Matrix<T> c(m, n, 3, IS_COMPLEX);
                const T alpha = SCALAR(2, 1), beta = SCALAR(beta_too ? -3 : 0, beta_too ? 2 : 0);
                CHECK_STATUS(CALL(gemm)(handle, op_a, op_b, m, n, k, &alpha, a.device, a.ld,
                                        b.device, b.ld, &beta, c.device, c.ld));
                for (int i = 0; i < m; i++)
                    for (int j = 0; j < n; j++) {
                        Wide sum = 0;
                        for (int q = 0; q < k; q++)
                            sum += op_at(a, op_a, i, q) * op_at(b, op_b, q, j);
                        c(i, j) = widen(alpha) * sum + widen(beta) * c(i, j);
                    }
                check(c.is_there(), "gemm", NAME);
            }
}

void batches(cublasHandle_t handle)
{
    const int m = 9, n = 6, k = 5, count = 4;
    Matrix<T> a(m, k * count, 0, IS_COMPLEX), b(k, n * count, 0, IS_COMPLEX);
    Matrix<T> c(m, n * count, 0, IS_COMPLEX), d(m, n * count, 0, IS_COMPLEX);
    const T alpha = SCALAR(1, 0), beta = SCALAR(0, 0);
    CHECK_STATUS(CALL(gemmStridedBatched)(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha,
                                          a.device, m, m * k, b.device, k, k * n, &beta, c.device,
                                          m, m * n, count));
    T *of_a[count], *of_b[count], *of_d[count], **pointers;
    for (int q = 0; q < count; q++) {
        of_a[q] = a.device + q * m * k;
        of_b[q] = b.device + (count - 1 - q) * k * n;
        of_d[q] = d.device + q * m * n;
    }
    CHECK_STATUS(cudaMalloc(&pointers, 3 * sizeof of_a));
    CHECK_STATUS(cudaMemcpy(pointers, of_a, sizeof of_a, cudaMemcpyDefault));
    CHECK_STATUS(cudaMemcpy(pointers + count, of_b, sizeof of_b, cudaMemcpyDefault));
    CHECK_STATUS(cudaMemcpy(pointers + 2 * count, of_d, sizeof of_d, cudaMemcpyDefault));
    CHECK_STATUS(CALL(gemmBatched)(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, pointers, m,
                                   pointers + count, k, &beta, pointers + 2 * count, m, count));
    for (int q = 0; q < count; q++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                Wide same = 0, turned = 0;
                for (int p = 0; p < k; p++) {
                    same += a(i, q * k + p) * b(p, q * n + j);
                    turned += a(i, q * k + p) * b(p, (count - 1 - q) * n + j);
                }
                c(i, q * n + j) = same;
                d(i, q * n + j) = turned;
            }
    check(c.is_there(), "gemmStridedBatched", NAME);
    check(d.is_there(), "gemmBatched", NAME);
    cudaFree(pointers);
}

void symmetric(cublasHandle_t handle)
{
    const int m = 13, n = 10, k = 7;
    const T alpha = SCALAR(2, 1), beta = SCALAR(3, -1);
    for (cublasFillMode_t fill : FILLS) {
        for (cublasSideMode_t side : SIDES) {
            const int size = side == CUBLAS_SIDE_LEFT ? m : n;
            Matrix<T> a = M(size, size), b = M(m, n), c = M(m, n);
            CHECK_STATUS(CALL(symm)(handle, side, fill, m, n, &alpha, a.device, a.ld, b.device,
                                    b.ld, &beta, c.device, c.ld));
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    Wide sum = 0;
                    for (int q = 0; q < size; q++)
                        sum += side == CUBLAS_SIDE_LEFT
                                   ? symmetric_at(a, fill, false, i, q) * b(q, j)
                                   : b(i, q) * symmetric_at(a, fill, false, q, j);
                    c(i, j) = widen(alpha) * sum + widen(beta) * c(i, j);
                }
            check(c.is_there(), "symm", NAME);
        }
        for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            const int rows = op == CUBLAS_OP_N ? n : k, columns = op == CUBLAS_OP_N ? k : n;
            Matrix<T> a = M(rows, columns), b = M(rows, columns);
            Matrix<T> c = M(n, n), d = M(n, n), e = M(n, n);
            CHECK_STATUS(
                CALL(syrk)(handle, fill, op, n, k, &alpha, a.device, a.ld, &beta, c.device, c.ld));
            CHECK_STATUS(CALL(syr2k)(handle, fill, op, n, k, &alpha, a.device, a.ld, b.device, b.ld,
                                     &beta, d.device, d.ld));
            CHECK_STATUS(CALL(syrkx)(handle, fill, op, n, k, &alpha, a.device, a.ld, b.device, b.ld,
                                     &beta, e.device, e.ld));
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    if (fill == CUBLAS_FILL_MODE_UPPER ? i > j : i < j) continue;
                    Wide one = 0, two = 0, mixed = 0;
                    for (int q = 0; q < k; q++) {
                        one += op_at(a, op, i, q) * op_at(a, op, j, q);
                        mixed += op_at(a, op, i, q) * op_at(b, op, j, q);
                        two += op_at(a, op, i, q) * op_at(b, op, j, q) +
                               op_at(b, op, i, q) * op_at(a, op, j, q);
                    }
                    c(i, j) = widen(alpha) * one + widen(beta) * c(i, j);
                    d(i, j) = widen(alpha) * two + widen(beta) * d(i, j);
                    e(i, j) = widen(alpha) * mixed + widen(beta) * e(i, j);
                }
            check(c.is_there(), "syrk", NAME);
            check(d.is_there(), "syr2k", NAME);
            check(e.is_there(), "syrkx", NAME);
        }
        Matrix<T> a = M(n, n), b = M(n, n), c = M(n, n), x(1, n, 1, IS_COMPLEX),
                  y(1, n, 0, IS_COMPLEX);
        Matrix<T> z(1, n, 2, IS_COMPLEX);
        CHECK_STATUS(CALL(symv)(handle, fill, n, &alpha, a.device, a.ld, x.device, x.ld, &beta,
                                z.device, z.ld));
        CHECK_STATUS(CALL(syr)(handle, fill, n, &alpha, x.device, x.ld, b.device, b.ld));
        CHECK_STATUS(
            CALL(syr2)(handle, fill, n, &alpha, x.device, x.ld, y.device, y.ld, c.device, c.ld));
        for (int i = 0; i < n; i++) {
            Wide sum = 0;
            for (int j = 0; j < n; j++) {
                sum += symmetric_at(a, fill, false, i, j) * x(0, j);
                if (fill == CUBLAS_FILL_MODE_UPPER ? i > j : i < j) continue;
                b(i, j) += widen(alpha) * x(0, i) * x(0, j);
                c(i, j) += widen(alpha) * (x(0, i) * y(0, j) + y(0, i) * x(0, j));
            }
            z(0, i) = widen(alpha) * sum + widen(beta) * z(0, i);
        }
        check(z.is_there(), "symv", NAME);
        check(b.is_there(), "syr", NAME);
        check(c.is_there(), "syr2", NAME);
    }
}

void triangles(cublasHandle_t handle)
{
    const int m = 11, n = 8;
    const T alpha = SCALAR(2, 1);
    for (cublasFillMode_t fill : FILLS)
        for (cublasOperation_t op : OPS)
            for (cublasDiagType_t unit : DIAGONALS) {
                for (cublasSideMode_t side : SIDES) {
                    const bool left = side == CUBLAS_SIDE_LEFT;
                    const int size = left ? m : n;
                    Matrix<T> a = M(size, size), b = M(m, n), c = M(m, n);
                    for (int q = 0; q < size; q++) a(q, q) = Wide(4, 0);
                    a.send();
                    CHECK_STATUS(CALL(trmm)(handle, side, fill, op, unit, m, n, &alpha, a.device,
                                            a.ld, b.device, b.ld, c.device, c.ld));
                    for (int i = 0; i < m; i++)
                        for (int j = 0; j < n; j++) {
                            Wide sum = 0;
                            for (int q = 0; q < size; q++)
                                sum += left ? triangle_at(a, fill, op, unit, i, q) * b(q, j)
                                            : b(i, q) * triangle_at(a, fill, op, unit, q, j);
                            c(i, j) = widen(alpha) * sum;
                        }
                    check(c.is_there(), "trmm", NAME);
                    CHECK_STATUS(CALL(trmm)(handle, side, fill, op, unit, m, n, &alpha, a.device,
                                            a.ld, b.device, b.ld, b.device, b.ld));
                    Matrix<T> d = M(m, n); // in place; and back
                    d.at = b.at;
                    for (int i = 0; i < m; i++)
                        for (int j = 0; j < n; j++) d(i, j) = c(i, j);
                    std::swap(d.device, b.device);
                    check(d.is_there(), "trmm in place", NAME);
                    const T one = SCALAR(1, 0);
                    CHECK_STATUS(CALL(trsm)(handle, side, fill, op, unit, m, n, &one, a.device,
                                            a.ld, d.device, d.ld));
                    for (int i = 0; i < m; i++)
                        for (int j = 0; j < n; j++) d(i, j) = widen(alpha) * b(i, j);
                    check(d.is_there(sizeof(R) == 4 ? 2e-2 : 1e-9), "trsm", NAME);
                }
                Matrix<T> a = M(n, n), x(1, n, 1, IS_COMPLEX), before(1, n, 1, IS_COMPLEX);
                for (int q = 0; q < n; q++) a(q, q) = Wide(4, 0);
                a.send();
                before.at = x.at;
                CHECK_STATUS(CALL(trmv)(handle, fill, op, unit, n, a.device, a.ld, x.device, x.ld));
                for (int i = 0; i < n; i++) {
                    x(0, i) = 0;
                    for (int q = 0; q < n; q++)
                        x(0, i) += triangle_at(a, fill, op, unit, i, q) * before(0, q);
                }
                check(x.is_there(), "trmv", NAME);
                CHECK_STATUS(CALL(trsv)(handle, fill, op, unit, n, a.device, a.ld, x.device, x.ld));
                x.at = before.at;
                check(x.is_there(sizeof(R) == 4 ? 2e-2 : 1e-9), "trsv", NAME);
            }
}

void elements(cublasHandle_t handle)
{
    const int m = 12, n = 9;
    const T alpha = SCALAR(2, 1), beta = SCALAR(-1, 3);
    for (cublasOperation_t op_a : OPS)
        for (cublasOperation_t op_b : OPS) {
            Matrix<T> a(op_a == CUBLAS_OP_N ? m : n, op_a == CUBLAS_OP_N ? n : m, 3, IS_COMPLEX);
            Matrix<T> b(op_b == CUBLAS_OP_N ? m : n, op_b == CUBLAS_OP_N ? n : m, 3, IS_COMPLEX);
            Matrix<T> c = M(m, n);
            CHECK_STATUS(CALL(geam)(handle, op_a, op_b, m, n, &alpha, a.device, a.ld, &beta,
                                    b.device, b.ld, c.device, c.ld));
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++)
                    c(i, j) =
                        widen(alpha) * op_at(a, op_a, i, j) + widen(beta) * op_at(b, op_b, i, j);
            check(c.is_there(), "geam", NAME);
        }
    for (cublasSideMode_t side : SIDES)
        for (int step : {2, -2}) {
            const int size = side == CUBLAS_SIDE_LEFT ? m : n;
            Matrix<T> a = M(m, n), x(1, size, 1, IS_COMPLEX), c = M(m, n);
            CHECK_STATUS(
                CALL(dgmm)(handle, side, m, n, a.device, a.ld, x.device, step, c.device, c.ld));
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    const int at = side == CUBLAS_SIDE_LEFT ? i : j;
                    c(i, j) = a(i, j) * x(0, step > 0 ? at : size - 1 - at);
                }
            check(c.is_there(), "dgmm", NAME);
        }
    for (cublasOperation_t op : OPS) {
        const int in = op == CUBLAS_OP_N ? n : m, out = op == CUBLAS_OP_N ? m : n;
        Matrix<T> a = M(m, n), x(1, in, 1, IS_COMPLEX), y(1, out, 0, IS_COMPLEX);
        CHECK_STATUS(CALL(gemv)(handle, op, m, n, &alpha, a.device, a.ld, x.device, -x.ld, &beta,
                                y.device, y.ld));
        for (int i = 0; i < out; i++) {
            Wide sum = 0;
            for (int q = 0; q < in; q++) sum += op_at(a, op, i, q) * x(0, in - 1 - q);
            y(0, i) = widen(alpha) * sum + widen(beta) * y(0, i);
        }
        check(y.is_there(), "gemv", NAME);
    }
}

void vectors(cublasHandle_t handle)
{
    const int n = 1000;
    const T alpha = SCALAR(3, -2);
    Matrix<T> x(1, n, 1, IS_COMPLEX), y(1, n, 2, IS_COMPLEX), z(1, n, 0, IS_COMPLEX);
    CHECK_STATUS(CALL(axpy)(handle, n, &alpha, x.device, x.ld, y.device, y.ld));
    for (int i = 0; i < n; i++) y(0, i) += widen(alpha) * x(0, i);
    check(y.is_there(), "axpy", NAME);
    CHECK_STATUS(CALL(copy)(handle, n, x.device, -x.ld, z.device, z.ld));
    for (int i = 0; i < n; i++) z(0, i) = x(0, n - 1 - i);
    check(z.is_there(), "copy backwards", NAME);
    CHECK_STATUS(CALL(swap)(handle, n, x.device, x.ld, y.device, y.ld));
    for (int i = 0; i < n; i++) std::swap(x(0, i), y(0, i));
    check(x.is_there() && y.is_there(), "swap", NAME);
    CHECK_STATUS(CALL(scal)(handle, n, &alpha, x.device, x.ld));
    for (int i = 0; i < n; i++) x(0, i) *= widen(alpha);
    check(x.is_there(), "scal", NAME);
    const R cosine = 2;
    const T sine = SCALAR(3, 1);
    CHECK_STATUS(CALL(rot)(handle, n, x.device, x.ld, y.device, y.ld, &cosine, &sine));
    for (int i = 0; i < n; i++) {
        const Wide a = x(0, i), b = y(0, i);
        x(0, i) = 2.0 * a + widen(sine) * b;
        y(0, i) = 2.0 * b - std::conj(widen(sine)) * a;
    }
    check(x.is_there() && y.is_there(), "rot", NAME);
}

// The results of reductions: of `result` as what is expected.
void results(cublasHandle_t handle)
{
    const int n = 777;
    Matrix<T> x(1, n, 1, IS_COMPLEX), y(1, n, 0, IS_COMPLEX);
    x(0, 500) = Wide(-9, IS_COMPLEX ? 9 : 0);
    x(0, 600) = Wide(9, IS_COMPLEX ? 9 : 0);
    for (int i = 0; i < n; i++)
        if (x(0, i) == Wide(0)) x(0, i) = 1;
    x(0, 333) = 0;
    x.send();
    double sum = 0, squares = 0;
    Wide product = 0, conjugated = 0;
    for (int i = 0; i < n; i++) {
        sum += std::abs(x(0, i).real()) + std::abs(x(0, i).imag());
        squares += std::norm(x(0, i));
        product += x(0, i) * y(0, i);
        conjugated += std::conj(x(0, i)) * y(0, i);
    }
    T dot;
    R real;
    int index;
    CHECK_STATUS(DOT(handle, n, x.device, x.ld, y.device, y.ld, &dot));
    check(widen(dot) == product, "dot", NAME);
    CHECK_STATUS(DOT_CONJUGATED(handle, n, x.device, x.ld, y.device, y.ld, &dot));
    check(widen(dot) == conjugated, "dotc", NAME);
    CHECK_STATUS(
        cublasDotEx(handle, n, x.device, TYPE, x.ld, y.device, TYPE, y.ld, &dot, TYPE, TYPE));
    check(widen(dot) == product, "dotEx", NAME);
    CHECK_STATUS(
        cublasDotcEx(handle, n, x.device, TYPE, x.ld, y.device, TYPE, y.ld, &dot, TYPE, TYPE));
    check(widen(dot) == conjugated, "dotcEx", NAME);
    CHECK_STATUS(ASUM(handle, n, x.device, x.ld, &real));
    check(real == sum, "asum", NAME);
    CHECK_STATUS(NRM2(handle, n, x.device, x.ld, &real));
    check(std::abs(real - std::sqrt(squares)) < 1e-4 * std::sqrt(squares), "nrm2", NAME);
    real = 0;
    CHECK_STATUS(cublasNrm2Ex(handle, n, x.device, TYPE, x.ld, &real, REAL_TYPE, REAL_TYPE));
    check(std::abs(real - std::sqrt(squares)) < 1e-4 * std::sqrt(squares), "nrm2Ex", NAME);
    CHECK_STATUS(AMAX(handle, n, x.device, x.ld, &index));
    check(index == 501, "amax", NAME);
    CHECK_STATUS(AMIN(handle, n, x.device, x.ld, &index));
    check(index == 334, "amin", NAME);
    // The same on the device, behind it in the stream.
    T *there;
    CHECK_STATUS(cudaMalloc(&there, sizeof dot));
    CHECK_STATUS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    CHECK_STATUS(DOT(handle, n, x.device, x.ld, y.device, y.ld, there));
    CHECK_STATUS(CALL(scal)(handle, n, there, y.device, y.ld));
    CHECK_STATUS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    for (int i = 0; i < n; i++) y(0, i) *= product;
    check(y.is_there(1e-5), "dot and scal on the device", NAME);
    const T two = SCALAR(2, 0), half = SCALAR(0.5, 0);
    CHECK_STATUS(cublasScalEx(handle, n, &half, TYPE, y.device, TYPE, y.ld, TYPE));
    CHECK_STATUS(
        cublasAxpyEx(handle, n, &two, TYPE, x.device, TYPE, x.ld, y.device, TYPE, y.ld, TYPE));
    for (int i = 0; i < n; i++) y(0, i) = y(0, i) / 2.0 + 2.0 * x(0, i);
    check(y.is_there(1e-5), "scalEx and axpyEx", NAME);
    cudaFree(there);
}

void all(cublasHandle_t handle)
{
    products(handle);
    batches(handle);
    symmetric(handle);
    triangles(handle);
    elements(handle);
    vectors(handle);
    results(handle);
}

} // namespace SPACE

#undef T
#undef R
#undef TYPE
#undef REAL_TYPE
#undef CALL
#undef NAME
#undef SPACE
#undef IS_COMPLEX
#undef DOT
#undef DOT_CONJUGATED
#undef ASUM
#undef NRM2
#undef AMAX
#undef AMIN
#undef M
#undef FILLS
#undef OPS
#undef SIDES
#undef DIAGONALS
#undef SCALAR
