// Wrong: y = a * x + b * y with b = 0, where nobody has ever written y. What lies there may be no
// number, and 0 times that is none either.
// Found: never written
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int N = 1000, THREADS = 128;

__global__ void axpby(float a, const float *x, float b, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + b * y[i];
}

int main()
{
    std::vector<float> values(N);
    float *x, *y;
    for (int i = 0; i < N; i++) values[i] = float(i);
    CHECK(cudaMalloc(&x, N * sizeof(float)));
    CHECK(cudaMalloc(&y, N * sizeof(float)));
    CHECK(cudaMemcpy(x, values.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    axpby<<<(N + THREADS - 1) / THREADS, THREADS>>>(2, x, 0, y, N);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(values.data(), y, N * sizeof(float), cudaMemcpyDeviceToHost));
    printf("%g\n", values[10]);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}
