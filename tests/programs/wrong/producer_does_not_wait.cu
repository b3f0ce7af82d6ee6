// Wrong: a producer and a consumer with two cuda::barriers; the producer does not wait for the one
// that says that the buffer is empty.
// Found: shared memory race
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda_runtime.h>

#define CK(x)                                                                                      \
    if ((x) != cudaSuccess) {                                                                      \
        printf("failed in line %d\n", __LINE__);                                                   \
        exit(1);                                                                                   \
    }

using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void work(const int *in, int rounds, int *out)
{
    __shared__ int buffer[32];
    __shared__ alignas(barrier) unsigned char room[2 * sizeof(barrier)];
    barrier *full = (barrier *)room, *empty = full + 1;
    if (threadIdx.x == 0) {
        init(full, 64);
        init(empty, 64);
    }
    __syncthreads();
    int lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            (void)empty->arrive();
            buffer[lane] = in[32 * r + lane];
            (void)full->arrive();
        }
    } else {
        (void)empty->arrive();
        for (int r = 0; r < rounds; r++) {
            full->arrive_and_wait();
            sum += buffer[31 - lane];
            if (r + 1 < rounds) (void)empty->arrive();
        }
        out[lane] = sum;
    }
}
int main()
{
    const int rounds = 6;
    int h[32 * rounds], *x, *out, got[32];
    for (int i = 0; i < 32 * rounds; i++) h[i] = i;
    CK(cudaMalloc(&x, sizeof h));
    CK(cudaMalloc(&out, sizeof got));
    CK(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
    work<<<1, 64>>>(x, rounds, out);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    printf("%d\n", got[3]);
    const bool right = got[3] == 6 * 28 + 32 * 15;
    CK(cudaFree(x));
    CK(cudaFree(out));
    return right ? 0 : 1;
}
