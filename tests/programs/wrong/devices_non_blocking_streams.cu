// Wrong: as devices_default_streams, but in streams that do not wait for a default stream, nor for
// cudaMemcpyPeer: its documentation says that they do, GPUs do not.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void number(int *to, int n, int first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = first + i;
}

__global__ void twice(int *at, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] *= 2;
}

int main()
{
    const int N = 1 << 12;
    int devices = 0, bad = 0, *p[2];
    static int back[N];
    CHECK(cudaGetDeviceCount(&devices));
    const int last = devices > 1 ? 1 : 0;
    cudaStream_t streams[2];
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d ? last : 0));
        CHECK(cudaMalloc(&p[d], N * sizeof(int)));
        CHECK(cudaStreamCreateWithFlags(&streams[d], cudaStreamNonBlocking));
    }
    CHECK(cudaSetDevice(0));
    number<<<N / 256, 256, 0, streams[0]>>>(p[0], N, 5);
    CHECK(cudaMemcpyPeer(p[1], last, p[0], 0, N * sizeof(int)));
    number<<<N / 256, 256, 0, streams[0]>>>(p[0], N, 0);
    CHECK(cudaSetDevice(last));
    twice<<<N / 256, 256, 0, streams[1]>>>(p[1], N);
    // With the first device current again: the copy is of the other one's memory.
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(back, p[1], N * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) bad += back[i] != 2 * (5 + i);
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(p[0]));
    CHECK(cudaFree(p[1]));
    printf("%d wrong\n", bad);
    return bad != 0;
}
