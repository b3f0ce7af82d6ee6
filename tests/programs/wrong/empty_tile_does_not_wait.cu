// Wrong: where a tile is empty, the computing warps arrive at a named barrier and go on
// to the next tile. As in vllm-project/vllm, pull request 26026.
// Found: barrier not reached
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

const int COMPUTE = 4, LOAD = 1, TILES = 6;

__global__ void tiles(const int *length, const int *in, int *out)
{
    __shared__ int loaded[32];
    const int all = (COMPUTE + LOAD) * 32;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < TILES; k++) {
        if (warp < COMPUTE) {
            if (length[k] == 0) {
                if (warp == 0) out[k * 32 + lane] = 0;
                asm volatile("bar.arrive 2, %0;" ::"n"(all) : "memory");
                continue;
            }
            asm volatile("bar.sync 1, %0;" ::"n"(all) : "memory");
            if (warp == k % COMPUTE) out[k * 32 + lane] = loaded[31 - lane] * 3;
            asm volatile("bar.sync 2, %0;" ::"n"(all) : "memory");
        } else {
            if (length[k] != 0) {
                loaded[lane] = in[k * 32 + lane];
                asm volatile("bar.sync 1, %0;" ::"n"(all) : "memory");
            }
            asm volatile("bar.sync 2, %0;" ::"n"(all) : "memory");
        }
    }
}

int main()
{
    int length[TILES] = {1, 0, 0, 0, 1, 1}, in[TILES * 32], out[TILES * 32];
    for (int i = 0; i < TILES * 32; i++) in[i] = i + 1;
    int *dl, *di, *dout;
    check(cudaMalloc(&dl, sizeof length));
    check(cudaMalloc(&di, sizeof in));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemcpy(dl, length, sizeof length, cudaMemcpyHostToDevice));
    check(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
    tiles<<<1, (COMPUTE + LOAD) * 32>>>(dl, di, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int k = 0; k < TILES; k++)
        for (int i = 0; i < 32; i++)
            wrong += out[k * 32 + i] != (length[k] ? in[k * 32 + 31 - i] * 3 : 0);
    check(cudaFree(dl));
    check(cudaFree(di));
    check(cudaFree(dout));
    return report(wrong);
}
