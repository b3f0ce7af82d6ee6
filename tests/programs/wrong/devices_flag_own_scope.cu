// Wrong: the first device fills the others' memory and sets a flag there behind a fence that holds
// for its own device only.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void send(int *to, volatile int *flag, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = 3 * i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
}

__global__ void receive(const int *from, volatile int *flag, int *out, int n)
{
    if (threadIdx.x == 0) {
        while (*flag == 0) {
        }
        __threadfence_system();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = from[i] + 1;
}

int main()
{
    const int N = 700;
    int devices = 0, wrong = 0;
    CHECK(cudaGetDeviceCount(&devices));
    cudaStream_t sends = NULL;
    CHECK(cudaStreamCreate(&sends));
    for (int d = 1; d < devices; d++) {
        int *sent = NULL, *flag = NULL, *out = NULL;
        std::vector<int> got(N);
        cudaStream_t receives = NULL;
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&sent, N * sizeof(int)));
        CHECK(cudaMalloc(&out, N * sizeof(int)));
        CHECK(cudaMalloc(&flag, sizeof(int)));
        CHECK(cudaMemset(flag, 0, sizeof(int)));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaStreamCreate(&receives));
        receive<<<1, 128, 0, receives>>>(sent, flag, out, N);
        CHECK(cudaGetLastError());
        CHECK(cudaSetDevice(0));
        CHECK(cudaDeviceEnablePeerAccess(d, 0));
        send<<<1, 128, 0, sends>>>(sent, flag, N);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(sends));
        CHECK(cudaStreamSynchronize(receives));
        CHECK(cudaMemcpy(got.data(), out, N * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) wrong += got[i] != 3 * i + 1;
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamDestroy(receives));
        CHECK(cudaFree(sent));
        CHECK(cudaFree(out));
        CHECK(cudaFree(flag));
    }
    CHECK(cudaStreamDestroy(sends));
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
