// Wrong: each block leaves its part by a volatile store and takes a ticket, with no fence between;
// the last one reads all parts.
// Found: race between blocks
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

const int T = 128, BLOCKS = 24, N = BLOCKS * T;

__global__ void largest(const float *in, volatile float *parts, unsigned *done, float *out)
{
    __shared__ float s[T];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * T + t];
    __syncthreads();
    for (int k = T / 2; k > 0; k /= 2) {
        if (t < k) s[t] = fmaxf(s[t], s[t + k]);
        __syncthreads();
    }
    if (t == 0) {
        parts[blockIdx.x] = s[0];
        last = atomicInc(done, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last || t >= 32) return;
    float most = t < BLOCKS ? parts[t] : 0;
    for (int k = 16; k > 0; k /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    if (t == 0) *out = most;
}

int main()
{
    static float in[N];
    float out, *din, *parts, *dout, most = 0;
    unsigned *done;
    for (int i = 0; i < N; i++) {
        in[i] = i * 37 % 1009;
        most = in[i] > most ? in[i] : most;
    }
    check(cudaMalloc(&din, sizeof in));
    check(cudaMalloc(&parts, BLOCKS * sizeof *parts));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMalloc(&done, sizeof *done));
    check(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    check(cudaMemset(done, 0, sizeof *done));
    largest<<<BLOCKS, T>>>(din, parts, done, dout);
    check(cudaMemcpy(&out, dout, sizeof out, cudaMemcpyDeviceToHost));
    check(cudaFree(din));
    check(cudaFree(parts));
    check(cudaFree(dout));
    check(cudaFree(done));
    return report(out != most);
}
