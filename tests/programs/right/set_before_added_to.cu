// Memory that nobody has written is changed in place, and each value is set first: by the thread
// itself, by another kernel, or because a factor of 0 keeps the old value out.
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

constexpr int N = 1000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void sums(const int *x, volatile int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 0;
    for (int k = 0; k < 4; k++) y[i] = y[i] + x[(i + k) % n];
}

__global__ void set_or_add(const int *x, int *y, int round, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (round == 0)
        y[i] = x[i];
    else
        y[i] += x[i];
}

__global__ void blend(int a, const int *x, int b, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = b == 0 ? a * x[i] : a * x[i] + b * y[i];
}

// Only even places are written and changed; the odd ones stay what they are.
__global__ void every_other(int *y, int n)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    y[i] = i;
    __syncthreads();
    y[i] += 1;
}

static void expect(const int *device, int at, int wanted, const char *what)
{
    int value = 0;
    CHECK(cudaMemcpy(&value, device + at, sizeof value, cudaMemcpyDeviceToHost));
    if (value != wanted) printf("%s: %d\n", what, value);
}

int main()
{
    std::vector<int> values(N);
    int *x, *y[4];
    for (int i = 0; i < N; i++) values[i] = i;
    CHECK(cudaMalloc(&x, N * sizeof(int)));
    for (int *&each : y) CHECK(cudaMalloc(&each, N * sizeof(int)));
    CHECK(cudaMemcpy(x, values.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    sums<<<BLOCKS, THREADS>>>(x, y[0], N);
    for (int round = 0; round < 3; round++) set_or_add<<<BLOCKS, THREADS>>>(x, y[1], round, N);
    blend<<<BLOCKS, THREADS>>>(2, x, 0, y[2], N);
    blend<<<BLOCKS, THREADS>>>(2, x, 3, y[2], N);
    every_other<<<BLOCKS, THREADS>>>(y[3], N);
    CHECK(cudaGetLastError());
    expect(y[0], 10, 10 + 11 + 12 + 13, "sums");
    expect(y[1], 10, 30, "set_or_add");
    expect(y[2], 10, 80, "blend");
    expect(y[3], 10, 11, "every_other");
    CHECK(cudaFree(x));
    for (int *each : y) CHECK(cudaFree(each));
    printf("done\n");
}
