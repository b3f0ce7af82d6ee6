// A wrong program: it copies the solution out in another stream and waits for nothing in between.
// The race is between cusolverDnSpotrs's kernel and the copy.
#include <cusolverDn.h>

#include <cstdio>

int main()
{
    enum { N = 32 };
    float *a, *b, *work, *answer;
    int *info, size = 0;
    cusolverDnHandle_t handle;
    cudaStream_t solutions, copies;
    cudaStreamCreateWithFlags(&solutions, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaMallocHost(&answer, N * N * sizeof *answer);
    cudaMalloc(&a, N * N * sizeof *a);
    cudaMalloc(&b, N * sizeof *b);
    cudaMalloc(&info, sizeof *info);
    for (int k = 0; k < N * N; k++) answer[k] = k % (N + 1) == 0 ? 2.0f : 0.0f;
    cudaMemcpy(a, answer, N * N * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemcpy(b, answer, N * sizeof *b, cudaMemcpyHostToDevice);
    if (cusolverDnCreate(&handle) != CUSOLVER_STATUS_SUCCESS) return 1;
    cusolverDnSetStream(handle, solutions);
    cusolverDnSpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, N, a, N, &size);
    cudaMalloc(&work, size * sizeof *work);
    cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, N, a, N, work, size, info);
    cusolverDnSpotrs(handle, CUBLAS_FILL_MODE_LOWER, N, 1, a, N, b, N, info);
    cudaMemcpyAsync(answer, b, N * sizeof *b, cudaMemcpyDeviceToHost, copies); // no wait
    cudaDeviceSynchronize();
    cusolverDnDestroy(handle);
    cudaFree(a);
    cudaFree(b);
    cudaFree(info);
    cudaFree(work);
    cudaFreeHost(answer);
    cudaStreamDestroy(solutions);
    cudaStreamDestroy(copies);
    std::printf("done\n");
    return 0;
}
