// A wrong program: it copies a product out in another stream and waits for nothing in between. The
// race is between cusparseSpMV's kernel and the copy.
#include <cusparse.h>

#include <cstdio>

int main()
{
    enum { N = 32 };
    float *values, *x, *y, *answer;
    int *starts, *places;
    const float one = 1, none = 0;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t of_x, of_y;
    cudaStream_t products, copies;
    cudaStreamCreateWithFlags(&products, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaMallocHost(&answer, N * sizeof *answer);
    cudaMalloc(&values, N * sizeof *values);
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    cudaMalloc(&starts, (N + 1) * sizeof *starts);
    cudaMalloc(&places, N * sizeof *places);
    int rows[N + 1];
    for (int k = 0; k <= N; k++) rows[k] = k;
    for (int k = 0; k < N; k++) answer[k] = (float)k;
    cudaMemcpy(values, answer, N * sizeof *values, cudaMemcpyHostToDevice);
    cudaMemcpy(x, answer, N * sizeof *x, cudaMemcpyHostToDevice);
    cudaMemcpy(starts, rows, sizeof rows, cudaMemcpyHostToDevice);
    cudaMemcpy(places, rows, N * sizeof *places, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS) return 1;
    cusparseSetStream(handle, products);
    cusparseCreateCsr(&a, N, N, N, starts, places, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateDnVec(&of_x, N, x, CUDA_R_32F);
    cusparseCreateDnVec(&of_y, N, y, CUDA_R_32F);
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, of_x, &none, of_y, CUDA_R_32F,
                 CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
    cudaMemcpyAsync(answer, y, N * sizeof *y, cudaMemcpyDeviceToHost, copies); // no wait
    cudaDeviceSynchronize();
    cusparseDestroySpMat(a);
    cusparseDestroyDnVec(of_x);
    cusparseDestroyDnVec(of_y);
    cusparseDestroy(handle);
    cudaFree(values);
    cudaFree(x);
    cudaFree(y);
    cudaFree(starts);
    cudaFree(places);
    cudaFreeHost(answer);
    cudaStreamDestroy(products);
    cudaStreamDestroy(copies);
    std::printf("done\n");
    return 0;
}
