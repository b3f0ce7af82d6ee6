// Wrong: the last warp adds up in shared memory through a volatile pointer, as was done before
// Volta, and leaves __syncwarp() out.
// Found: shared memory race
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

const int T = 256, BLOCKS = 6, N = BLOCKS * 2 * T;

__device__ void last_warp(volatile int *s, int t)
{
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

__global__ void sums(const int *in, int *out)
{
    extern __shared__ int s[];
    int t = threadIdx.x, i = blockIdx.x * 2 * T + t;
    s[t] = in[i] + in[i + T];
    __syncthreads();
    for (int k = T / 2; k > 32; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t < 32) last_warp(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

int main()
{
    static int in[N];
    int out[BLOCKS], *din, *dout;
    for (int i = 0; i < N; i++) in[i] = i * 7 % 1001;
    check(cudaMalloc(&din, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    sums<<<BLOCKS, T, T * sizeof(int)>>>(din, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int b = 0; b < BLOCKS; b++) {
        int sum = 0;
        for (int i = 0; i < 2 * T; i++) sum += in[b * 2 * T + i];
        wrong += out[b] != sum;
    }
    check(cudaFree(din));
    check(cudaFree(dout));
    return report(wrong);
}
