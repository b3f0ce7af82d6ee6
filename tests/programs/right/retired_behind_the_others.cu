// Right: a barrier stands between the atomics of all threads and the counting, so the
// last block may read the histogram by plain loads. As NVIDIA/cccl has it since pull
// request 10627.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

const int T = 256, BINS = 256, BLOCKS = 8, N = BLOCKS * 1024;

__global__ void topk(const unsigned char *keys, int *histogram, unsigned *retired, int *prefix)
{
    __shared__ int local[BINS];
    __shared__ bool last;
    int t = threadIdx.x;
    local[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * T + t; i < N; i += BLOCKS * T) atomicAdd(&local[keys[i]], 1);
    __syncthreads();
    if (local[t]) atomicAdd(&histogram[t], local[t]);
    __syncthreads();
    __threadfence();
    if (t == 0) last = atomicInc(retired, BLOCKS - 1) == BLOCKS - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        int sum = 0;
        for (int i = 0; i <= t; i++) sum += histogram[i];
        prefix[t] = sum;
    }
}

int main()
{
    static unsigned char keys[N];
    int prefix[BINS], expected[BINS] = {0};
    for (int i = 0; i < N; i++) {
        keys[i] = (i * 2654435761u) >> 24;
        expected[keys[i]]++;
    }
    for (int i = 1; i < BINS; i++) expected[i] += expected[i - 1];
    unsigned char *dk;
    int *dh, *dp;
    unsigned *dr;
    check(cudaMalloc(&dk, N));
    check(cudaMalloc(&dh, sizeof prefix));
    check(cudaMalloc(&dp, sizeof prefix));
    check(cudaMalloc(&dr, 4));
    check(cudaMemcpy(dk, keys, N, cudaMemcpyHostToDevice));
    check(cudaMemset(dh, 0, sizeof prefix));
    check(cudaMemset(dr, 0, 4));
    topk<<<BLOCKS, T>>>(dk, dh, dr, dp);
    check(cudaMemcpy(prefix, dp, sizeof prefix, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int i = 0; i < BINS; i++) wrong += prefix[i] != expected[i];
    check(cudaFree(dk));
    check(cudaFree(dh));
    check(cudaFree(dp));
    check(cudaFree(dr));
    return report(wrong);
}
