// Wrong: the host fills the pinned memory that the graph's copy of the launch before may
// still read. As in invergent-ai/surogate, issue 124.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

struct Ingress {
    int token[64];
};

__global__ void step(const Ingress *in, int *out, int *round)
{
    out[*round * 64 + threadIdx.x] = in->token[threadIdx.x] * 2;
    __syncthreads();
    if (threadIdx.x == 0) ++*round;
}

int main()
{
    const int ROUNDS = 4;
    Ingress *host, *device;
    int *out, *round, result[ROUNDS * 64];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaMallocHost(&host, sizeof *host));
    check(cudaMalloc(&device, sizeof *device));
    check(cudaMalloc(&out, sizeof result));
    check(cudaMalloc(&round, 4));
    check(cudaMemsetAsync(round, 0, 4, stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check(cudaMemcpyAsync(device, host, sizeof *host, cudaMemcpyHostToDevice, stream));
    step<<<1, 64, 0, stream>>>(device, out, round);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&exec, graph, 0));
    for (int r = 0; r < ROUNDS; r++) {
        memset(host, 0, sizeof *host);
        for (int i = 0; i < 64; i++) host->token[i] = r * 100 + i;
        check(cudaGraphLaunch(exec, stream));
    }
    check(cudaMemcpyAsync(result, out, sizeof result, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    long wrong = 0;
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < 64; i++) wrong += result[r * 64 + i] != 2 * (r * 100 + i);
    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
    check(cudaFreeHost(host));
    check(cudaFree(device));
    check(cudaFree(out));
    check(cudaFree(round));
    check(cudaStreamDestroy(stream));
    return report(wrong);
}
