// Asks the stand-in for cuBLASLt for a product of bytes that are floating-point numbers, which it
// lacks: the device names the types. Exits with 0 if the call fails as it should.
#include <cublasLt.h>

int main()
{
    cublasLtHandle_t handle;
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t bytes, half;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
    cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutInit(&bytes, CUDA_R_8F_E4M3, 32, 32, 32);
    cublasLtMatrixLayoutInit(&half, CUDA_R_16BF, 32, 32, 32);
    cublasLtMatmulPreferenceInit(&preference);
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, &operation, &bytes, &bytes, &half, &half, &preference, 1, &found, &count);
    cublasLtDestroy(handle);
    return status == CUBLAS_STATUS_NOT_SUPPORTED && count == 0 ? 0 : 1;
}
