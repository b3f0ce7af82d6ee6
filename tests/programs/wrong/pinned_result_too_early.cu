// Wrong: the host looks at the pinned result of an asynchronous copy before it waits for the
// stream.
// Found: race
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t err = (x);                                                                     \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err));                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// one Newton step towards sqrt for every element; the largest correction goes to *change
__global__ void newton(const float *a, float *x, int n, int *change)
{
    __shared__ int biggest;
    if (threadIdx.x == 0) biggest = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float old = x[i], now = 0.5f * (old + a[i] / old);
        x[i] = now;
        atomicMax(&biggest, __float_as_int(fabsf(now - old) / now));
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(change, biggest);
}

int main()
{
    const int n = 20000, limit = 30;
    float *h, *a, *x;
    int *dChange, *hChange;
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMallocHost(&h, n * sizeof(float)));
    CHECK(cudaMallocHost(&hChange, sizeof(int)));
    CHECK(cudaMalloc(&a, n * sizeof(float)));
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&dChange, sizeof(int)));
    for (int i = 0; i < n; ++i) h[i] = 1.0f + (float)i;
    CHECK(cudaMemcpyAsync(a, h, n * sizeof(float), cudaMemcpyHostToDevice, s));
    CHECK(cudaMemcpyAsync(x, h, n * sizeof(float), cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));

    int steps = 0;
    float change = 1.0f;
    while (change > 1e-5f && steps < limit) {
        CHECK(cudaMemsetAsync(dChange, 0, sizeof(int), s));
        newton<<<(n + 127) / 128, 128, 0, s>>>(a, x, n, dChange);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(hChange, dChange, sizeof(int), cudaMemcpyDeviceToHost, s));
        union {
            int i;
            float f;
        } bits;
        bits.i = *hChange;
        change = bits.f;
        ++steps;
        CHECK(cudaStreamSynchronize(s));
    }
    CHECK(cudaMemcpyAsync(h, x, n * sizeof(float), cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));

    int bad = 0;
    for (int i = 0; i < n; ++i) {
        float want = std::sqrt(1.0f + (float)i);
        if (!(std::fabs(h[i] - want) < 1e-3f * want) && bad++ < 5)
            printf("sqrt(%d) = %f, expected %f\n", i + 1, h[i], want);
    }
    if (bad) printf("stopped after %d steps\n", steps);
    CHECK(cudaFree(a));
    CHECK(cudaFree(x));
    CHECK(cudaFree(dChange));
    CHECK(cudaFreeHost(h));
    CHECK(cudaFreeHost(hChange));
    CHECK(cudaStreamDestroy(s));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
