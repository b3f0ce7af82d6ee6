// Calls what the stand-in for cuBLAS lacks: the function returns CUBLAS_STATUS_NOT_SUPPORTED, and
// the device names it. Prints "all right" and exits with 0, or says what is wrong and exits with 1.
#include <cublas_v2.h>

#include <cstdio>

int main()
{
    cublasHandle_t handle;
    int wrong = 0, info = 0;
    float *matrices = nullptr, *tau = nullptr;
    wrong += cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS;
    wrong += cublasSgeqrfBatched(handle, 1, 1, &matrices, 1, &tau, &info, 1) !=
             CUBLAS_STATUS_NOT_SUPPORTED;
    wrong += cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS;
    std::printf(wrong == 0 ? "all right\n" : "%d calls are wrong\n", wrong);
    return wrong != 0;
}
