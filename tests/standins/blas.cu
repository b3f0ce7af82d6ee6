// The stand-in for cuBLAS computes what BLAS says, in the handle's stream. Runs on a GPU with
// NVIDIA's library as well. Prints "all right", or what is not so.
#include "blas.cuh"

#include <cuda_fp16.h>

int failures;

#define T float
#define TYPE CUDA_R_32F
#define REAL_TYPE CUDA_R_32F
#define R float
#define CALL(name) cublasS##name
#define NAME "float"
#define SPACE of_float
#define IS_COMPLEX false
#define DOT cublasSdot
#define DOT_CONJUGATED cublasSdot
#define ASUM cublasSasum
#define NRM2 cublasSnrm2
#define AMAX cublasIsamax
#define AMIN cublasIsamin
#include "blas_of_type.cuh"

#define T double
#define TYPE CUDA_R_64F
#define REAL_TYPE CUDA_R_64F
#define R double
#define CALL(name) cublasD##name
#define NAME "double"
#define SPACE of_double
#define IS_COMPLEX false
#define DOT cublasDdot
#define DOT_CONJUGATED cublasDdot
#define ASUM cublasDasum
#define NRM2 cublasDnrm2
#define AMAX cublasIdamax
#define AMIN cublasIdamin
#include "blas_of_type.cuh"

#define T cuComplex
#define TYPE CUDA_C_32F
#define REAL_TYPE CUDA_R_32F
#define R float
#define CALL(name) cublasC##name
#define NAME "complex"
#define SPACE of_complex
#define IS_COMPLEX true
#define DOT cublasCdotu
#define DOT_CONJUGATED cublasCdotc
#define ASUM cublasScasum
#define NRM2 cublasScnrm2
#define AMAX cublasIcamax
#define AMIN cublasIcamin
#include "blas_of_type.cuh"

#define T cuDoubleComplex
#define TYPE CUDA_C_64F
#define REAL_TYPE CUDA_R_64F
#define R double
#define CALL(name) cublasZ##name
#define NAME "double complex"
#define SPACE of_double_complex
#define IS_COMPLEX true
#define DOT cublasZdotu
#define DOT_CONJUGATED cublasZdotc
#define ASUM cublasDzasum
#define NRM2 cublasDznrm2
#define AMAX cublasIzamax
#define AMIN cublasIzamin
#include "blas_of_type.cuh"

// Hermitian matrices: what differs from symmetric ones.
static void hermitian(cublasHandle_t handle)
{
    const int n = 9, k = 5;
    const float real_alpha = 2, real_beta = 3;
    const cuComplex alpha = {2, 1}, beta = {0, 0};
    for (cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        Matrix<cuComplex> a(n, k, 3, true), b(n, k, 3, true), c(n, n, 3, true), d(n, n, 3, true);
        Matrix<cuComplex> e(n, n, 3, true), x(1, n, 0, true), y(1, n, 0, true), f(n, n, 3, true);
        const Matrix<cuComplex> &whole = e;
        for (int i = 0; i < n; i++) c(i, i) = c(i, i).real(), d(i, i) = d(i, i).real();
        for (int i = 0; i < n; i++) f(i, i) = f(i, i).real();
        c.send(), d.send(), f.send();
        CHECK_STATUS(cublasCherk(handle, fill, CUBLAS_OP_N, n, k, &real_alpha, a.device, a.ld,
                                 &real_beta, c.device, c.ld));
        CHECK_STATUS(cublasCher2k(handle, fill, CUBLAS_OP_N, n, k, &alpha, a.device, a.ld, b.device,
                                  b.ld, &real_beta, d.device, d.ld));
        CHECK_STATUS(cublasChemv(handle, fill, n, &alpha, e.device, e.ld, x.device, x.ld, &beta,
                                 y.device, y.ld));
        CHECK_STATUS(cublasCher(handle, fill, n, &real_alpha, x.device, x.ld, f.device, f.ld));
        for (int i = 0; i < n; i++) {
            y(0, i) = 0;
            for (int j = 0; j < n; j++) {
                y(0, i) += widen(alpha) * symmetric_at(whole, fill, true, i, j) * x(0, j);
                if (fill == CUBLAS_FILL_MODE_UPPER ? i > j : i < j) continue;
                Wide one = 0, two = 0;
                for (int q = 0; q < k; q++) {
                    one += a(i, q) * std::conj(a(j, q));
                    two += widen(alpha) * a(i, q) * std::conj(b(j, q)) +
                           std::conj(widen(alpha)) * b(i, q) * std::conj(a(j, q));
                }
                c(i, j) = 2.0 * one + 3.0 * c(i, j);
                d(i, j) = two + 3.0 * d(i, j);
                f(i, j) += 2.0 * x(0, i) * std::conj(x(0, j));
            }
        }
        check(c.is_there(), "herk", "complex");
        check(d.is_there(), "her2k", "complex");
        check(y.is_there(), "hemv", "complex");
        check(f.is_there(), "her", "complex");
    }
    Matrix<cuComplex> x(1, 7, 0, true), y(1, 5, 0, true), a(7, 5, 3, true), b(7, 5, 3, true);
    CHECK_STATUS(cublasCgeru(handle, 7, 5, &alpha, x.device, 1, y.device, 1, a.device, a.ld));
    CHECK_STATUS(cublasCgerc(handle, 7, 5, &alpha, x.device, 1, y.device, 1, b.device, b.ld));
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 5; j++) {
            a(i, j) += widen(alpha) * x(0, i) * y(0, j);
            b(i, j) += widen(alpha) * x(0, i) * std::conj(y(0, j));
        }
    check(a.is_there(), "geru", "complex");
    check(b.is_there(), "gerc", "complex");
    const float by = 3;
    CHECK_STATUS(cublasCsscal(handle, 7, &by, x.device, 1));
    for (int i = 0; i < 7; i++) x(0, i) *= 3;
    check(x.is_there(), "csscal", "complex");
}

// Products of narrow types: the numbers are whole and few, and so exact.
static void narrow_types(cublasHandle_t handle)
{
    const int m = 33, n = 18, k = 20;
    std::vector<__half> a(m * k), b(k * n), c(m * n);
    std::vector<int8_t> of_bytes(m * k), with_bytes(k * n);
    std::vector<double> sums(m * n);
    for (int q = 0; q < m * k; q++) a[q] = __float2half((float)(of_bytes[q] = (int8_t)draw(3)));
    for (int q = 0; q < k * n; q++) b[q] = __float2half((float)(with_bytes[q] = (int8_t)draw(3)));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int q = 0; q < k; q++)
                sums[i + j * m] += of_bytes[i + q * m] * with_bytes[q + j * k];
    __half *x, *y, *z;
    float *wide;
    CHECK_STATUS(cudaMalloc(&x, m * k * 2));
    CHECK_STATUS(cudaMalloc(&y, k * n * 2));
    CHECK_STATUS(cudaMalloc(&z, m * n * 2));
    CHECK_STATUS(cudaMalloc(&wide, m * n * 4));
    CHECK_STATUS(cublasSetMatrix(m, k, 2, a.data(), m, x, m));
    CHECK_STATUS(cublasSetMatrix(k, n, 2, b.data(), k, y, k));
    const float one = 1, none = 0;
    const __half half_one = __float2half(1.0f), half_none = __float2half(0.0f);
    std::vector<float> got(m * n);
    std::vector<int> whole(m * n);
    const int int_one = 1, int_none = 0;
    CHECK_STATUS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, x, CUDA_R_16F, m, y,
                              CUDA_R_16F, k, &none, wide, CUDA_R_32F, m, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
    CHECK_STATUS(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &half_one, x, m, y, k,
                             &half_none, z, m));
    CHECK_STATUS(cublasGetVector(m * n, 4, wide, 1, got.data(), 1));
    CHECK_STATUS(cublasGetMatrix(m, n, 2, z, m, c.data(), m));
    bool fine = true, fine_half = true, fine_bytes = true;
    for (int q = 0; q < m * n; q++) {
        fine = fine && got[q] == sums[q];
        fine_half = fine_half && __half2float(c[q]) == sums[q];
    }
    check(fine, "GemmEx", "half to float");
    check(fine_half, "Hgemm", "half");
    // Leading dimensions are multiples of 4, as NVIDIA's library wants them.
    CHECK_STATUS(cublasSetMatrix(32, k, 1, of_bytes.data(), m, x, 32));
    CHECK_STATUS(cublasSetMatrix(k, n, 1, with_bytes.data(), k, y, k));
    CHECK_STATUS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 16, k, &int_one, x, CUDA_R_8I,
                              32, y, CUDA_R_8I, k, &int_none, wide, CUDA_R_32I, 32,
                              CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
    CHECK_STATUS(cublasGetVector(32 * 16, 4, wide, 1, whole.data(), 1));
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 16; j++)
            fine_bytes = fine_bytes && whole[i + j * 32] == sums[i + j * m];
    check(fine_bytes, "GemmEx", "bytes");
    cudaFree(x), cudaFree(y), cudaFree(z), cudaFree(wide);
}

// A stream that is captured, and what is refused.
static void around(cublasHandle_t handle, cudaStream_t stream)
{
    const float one = 1, none = 0;
    Matrix<float> a(8, 8, 0), b(8, 8, 0), c(8, 8, 0);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK_STATUS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK_STATUS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a.device, 8, b.device,
                             8, &one, c.device, 8));
    CHECK_STATUS(cudaStreamEndCapture(stream, &graph));
    CHECK_STATUS(cudaGraphInstantiate(&ready, graph, 0));
    for (int k = 0; k < 3; k++) CHECK_STATUS(cudaGraphLaunch(ready, stream));
    CHECK_STATUS(cudaStreamSynchronize(stream));
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            for (int q = 0; q < 8; q++) c(i, j) += 3.0 * a(i, q) * b(q, j);
    check(c.is_there(), "gemm in a graph", "float");
    CHECK_STATUS(cudaGraphExecDestroy(ready));
    CHECK_STATUS(cudaGraphDestroy(graph));
    check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a.device, 7, b.device, 8,
                      &none, c.device, 8) == CUBLAS_STATUS_INVALID_VALUE,
          "a leading dimension that is too small", "float");
    check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 8, 8, &one, a.device, 8, b.device, 8,
                      &none, c.device, 8) == CUBLAS_STATUS_INVALID_VALUE,
          "a size below zero", "float");
    check(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a.device, 8, b.device, 8,
                      &none, c.device, 8) == CUBLAS_STATUS_NOT_INITIALIZED,
          "no handle", "float");
    CHECK_STATUS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 8, 8, &one, a.device, 8, b.device,
                             8, &none, c.device, 8));
}

int main()
{
    cublasHandle_t handle;
    cudaStream_t stream;
    int version = 0;
    CHECK_STATUS(cublasCreate(&handle));
    CHECK_STATUS(cudaStreamCreate(&stream)); // copies without a stream wait for it
    CHECK_STATUS(cublasSetStream(handle, stream));
    CHECK_STATUS(cublasGetVersion(handle, &version));
    check(version / 10000 == CUBLAS_VER_MAJOR, "the version", "cublas_v2.h");
    of_float::all(handle);
    of_double::all(handle);
    of_complex::all(handle);
    of_double_complex::all(handle);
    hermitian(handle);
    narrow_types(handle);
    around(handle, stream);
    CHECK_STATUS(cublasDestroy(handle));
    CHECK_STATUS(cudaStreamDestroy(stream));
    if (failures == 0) std::puts("all right");
    return failures != 0;
}
