// Calls what the stand-in for cuSPARSE lacks: the functions return CUSPARSE_STATUS_NOT_SUPPORTED,
// and the device names them. Prints "all right" and exits with 0, or says what is wrong and exits
// with 1.
#include <cusparse.h>

#include <cstdio>

int main()
{
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t x, y;
    int *memory, wrong = 0;
    const float one = 1;
    cudaMalloc(&memory, 64);
    cudaMemset(memory, 0, 64);
    cudaDeviceSynchronize();
    wrong += cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS;
    wrong += cusparseSpSV_updateMatrix(handle, nullptr, nullptr, CUSPARSE_SPSV_UPDATE_GENERAL) !=
             CUSPARSE_STATUS_NOT_SUPPORTED;
    cusparseCreateCsr(&a, 4, 4, 0, memory, memory, memory, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_8I);
    cusparseCreateDnVec(&x, 4, memory, CUDA_R_8I);
    cusparseCreateDnVec(&y, 4, memory, CUDA_R_32F);
    wrong += cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &one, y, CUDA_R_32F,
                          CUSPARSE_SPMV_ALG_DEFAULT, memory) != CUSPARSE_STATUS_NOT_SUPPORTED;
    cusparseDestroySpMat(a);
    cusparseDestroyDnVec(x);
    cusparseDestroyDnVec(y);
    cudaFree(memory);
    wrong += cusparseDestroy(handle) != CUSPARSE_STATUS_SUCCESS;
    std::printf(wrong == 0 ? "all right\n" : "%d calls are wrong\n", wrong);
    return wrong != 0;
}
