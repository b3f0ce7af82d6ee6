// Wrong: nobody sets a block's counter in shared memory to zero, and the last block, which is not
// full, looks for the largest of values of which some are nobody's.
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

constexpr int THREADS = 128, N = 1000, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void summary(const float *in, float *largest, int *odd, int n)
{
    __shared__ float s[THREADS];
    __shared__ int counter;
    const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    if (i < n) s[t] = in[i];
    if (i < n && (int)in[i] % 2) atomicAdd(&counter, 1);
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) s[t] = fmaxf(s[t], s[t + half]);
        __syncthreads();
    }
    if (t == 0) largest[blockIdx.x] = s[0];
    if (t == 0) odd[blockIdx.x] = counter;
}

int main()
{
    std::vector<float> values(N);
    float *in, *largest, first;
    int *odd;
    for (int i = 0; i < N; i++) values[i] = float(i * 37 % 101);
    CHECK(cudaMalloc(&in, N * sizeof(float)));
    CHECK(cudaMalloc(&largest, BLOCKS * sizeof(float)));
    CHECK(cudaMalloc(&odd, BLOCKS * sizeof(int)));
    CHECK(cudaMemcpy(in, values.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    summary<<<BLOCKS, THREADS>>>(in, largest, odd, N);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&first, largest, sizeof first, cudaMemcpyDeviceToHost));
    printf("%s\n", first == 100 ? "done" : "wrong");
    CHECK(cudaFree(in));
    CHECK(cudaFree(largest));
    CHECK(cudaFree(odd));
    return 0;
}
