// Right: workers store, and count a cuda::latch down; the last warp waits for it, and reads.
#include <cstdio>
#include <cstdlib>
#include <cuda/latch>
#include <cuda_runtime.h>

#define CK(x)                                                                                      \
    if ((x) != cudaSuccess) {                                                                      \
        printf("failed in line %d\n", __LINE__);                                                   \
        exit(1);                                                                                   \
    }

using latch = cuda::latch<cuda::thread_scope_block>;
__global__ void collect(const int *in, int *out)
{
    __shared__ int got[96];
    __shared__ alignas(latch) unsigned char room[sizeof(latch)];
    latch *ready = (latch *)room;
    if (threadIdx.x == 0) new (ready) latch(96);
    __syncthreads();
    if (threadIdx.x < 96) {
        got[threadIdx.x] = in[threadIdx.x] * 3;
        ready->count_down();
    } else {
        ready->wait();
        int lane = threadIdx.x - 96;
        out[lane] = got[lane] + got[lane + 32] + got[lane + 64];
    }
}
int main()
{
    int h[96], *x, *out, got[32];
    for (int i = 0; i < 96; i++) h[i] = i;
    CK(cudaMalloc(&x, sizeof h));
    CK(cudaMalloc(&out, sizeof got));
    CK(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
    collect<<<1, 128>>>(x, out);
    CK(cudaGetLastError());
    CK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    printf("%d\n", got[1]);
    const bool right = got[1] == 3 * (1 + 33 + 65);
    CK(cudaFree(x));
    CK(cudaFree(out));
    return right ? 0 : 1;
}
