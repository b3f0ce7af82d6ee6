// Wrong: a warp writes its sums where its other lanes may still read the block's values.
// As in NVIDIA/cccl, pull request 2699.
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

const int T = 128;

__global__ void raking(const int *in, int *out)
{
    __shared__ union {
        int grid[T];
        int warp[32];
    } storage;
    int t = threadIdx.x;
    storage.grid[t] = in[blockIdx.x * T + t];
    __syncthreads();
    if (t < 32) {
        int sum = 0;
        for (int i = 0; i < T / 32; i++) sum += storage.grid[t * (T / 32) + i];
        storage.warp[t] = sum;
        __syncwarp();
        for (int d = 16; d; d >>= 1) {
            int other = t < d ? storage.warp[t + d] : 0;
            __syncwarp();
            storage.warp[t] += other;
            __syncwarp();
        }
        if (t == 0) out[blockIdx.x] = storage.warp[0];
    }
}

int main()
{
    const int BLOCKS = 4;
    int in[BLOCKS * T], out[BLOCKS];
    for (int i = 0; i < BLOCKS * T; i++) in[i] = i;
    int *di, *dout;
    check(cudaMalloc(&di, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
    raking<<<BLOCKS, T>>>(di, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int b = 0; b < BLOCKS; b++) {
        int sum = 0;
        for (int i = 0; i < T; i++) sum += in[b * T + i];
        wrong += sum != out[b];
    }
    check(cudaFree(di));
    check(cudaFree(dout));
    return report(wrong);
}
