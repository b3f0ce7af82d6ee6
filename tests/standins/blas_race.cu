// A wrong program: it copies a product out in another stream and waits for nothing in between. The
// race is between cublasSgemm's kernel and the copy.
#include <cublas_v2.h>

#include <cstdio>

int main()
{
    enum { N = 64 };
    const float one = 1, none = 0;
    float *a, *b, *c, *product;
    cublasHandle_t handle;
    cudaStream_t products, copies;
    cudaStreamCreateWithFlags(&products, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaMalloc(&a, N * N * sizeof *a);
    cudaMalloc(&b, N * N * sizeof *b);
    cudaMalloc(&c, N * N * sizeof *c);
    cudaMallocHost(&product, N * N * sizeof *product);
    cudaMemset(a, 0, N * N * sizeof *a);
    cudaMemset(b, 0, N * N * sizeof *b);
    cudaDeviceSynchronize();
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
    cublasSetStream(handle, products);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &none, c, N);
    cudaMemcpyAsync(product, c, N * N * sizeof *c, cudaMemcpyDeviceToHost, copies); // no wait
    cudaDeviceSynchronize();
    cublasDestroy(handle);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFreeHost(product);
    cudaStreamDestroy(products);
    cudaStreamDestroy(copies);
    std::printf("done\n");
    return 0;
}
