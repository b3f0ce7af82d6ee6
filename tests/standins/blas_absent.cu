// Calls what the stand-in for cuBLAS lacks: the function returns CUBLAS_STATUS_NOT_SUPPORTED, and
// the device names it. Prints "all right" and exits with 0, or says what is wrong and exits with 1.
#include <cublas_v2.h>

#include <cstdio>

int main()
{
    cublasHandle_t handle;
    int wrong = 0, info = 0;
    float *matrices = nullptr;
    wrong += cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS;
    wrong += cublasSgelsBatched(handle, CUBLAS_OP_N, 1, 1, 1, &matrices, 1, &matrices, 1, &info,
                                &info, 1) != CUBLAS_STATUS_NOT_SUPPORTED;
    wrong += cublasDotEx(handle, 1, matrices, CUDA_R_16F, 1, matrices, CUDA_R_16F, 1, matrices,
                         CUDA_R_16F, CUDA_R_32F) != CUBLAS_STATUS_NOT_SUPPORTED;
    wrong += cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS;
    std::printf(wrong == 0 ? "all right\n" : "%d calls are wrong\n", wrong);
    return wrong != 0;
}
