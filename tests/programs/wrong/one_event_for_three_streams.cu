// Wrong: one event is recorded in three streams before it is waited for once: only the
// last counts. As in torch/cutorch, pull request 222.
// Found: race
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

const int STREAMS = 3, N = 4096;

__global__ void fill(int *p, int value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void sum(const int *p, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int k = 0; k < STREAMS; k++) s += p[k * N + i];
    out[i] = s;
}

int main()
{
    cudaStream_t waiting, streams[STREAMS];
    cudaEvent_t events[STREAMS];
    int *p, *out, host[N];
    check(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
    for (int k = 0; k < STREAMS; k++) {
        check(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&events[k], cudaEventDisableTiming));
    }
    check(cudaMalloc(&p, STREAMS * N * 4));
    check(cudaMalloc(&out, N * 4));
    for (int k = 0; k < STREAMS; k++) fill<<<N / 256, 256, 0, streams[k]>>>(p + k * N, k + 1);
    for (int k = 0; k < STREAMS; k++) check(cudaEventRecord(events[0], streams[k]));
    check(cudaStreamWaitEvent(waiting, events[0], 0));
    sum<<<N / 256, 256, 0, waiting>>>(p, out);
    check(cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, waiting));
    check(cudaStreamSynchronize(waiting));
    long wrong = 0;
    for (int i = 0; i < N; i++) wrong += host[i] != 6;
    check(cudaFree(p));
    check(cudaFree(out));
    for (int k = 0; k < STREAMS; k++) {
        check(cudaStreamDestroy(streams[k]));
        check(cudaEventDestroy(events[k]));
    }
    check(cudaStreamDestroy(waiting));
    return report(wrong);
}
