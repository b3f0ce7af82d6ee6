// Right: a graph's node that frees memory depends on the kernel that uses it.
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

const int N = 4096;

__global__ void root(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void use(int *temporary, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    temporary[i] = i;
    out[i] = temporary[i] + 1;
}

int main()
{
    static int host[N];
    int *begin_data, *out;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t root_node, alloc_node, use_node, free_node;
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&begin_data, sizeof host));
    check(cudaMalloc(&out, sizeof host));
    check(cudaGraphCreate(&graph, 0));
    cudaKernelNodeParams kernel = {};
    void *root_args[] = {&begin_data};
    kernel.func = (void *)root;
    kernel.gridDim = N / 256;
    kernel.blockDim = 256;
    kernel.kernelParams = root_args;
    check(cudaGraphAddKernelNode(&root_node, graph, 0, 0, &kernel));
    cudaMemAllocNodeParams alloc = {};
    alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    alloc.poolProps.location.id = 0;
    alloc.bytesize = sizeof host;
    check(cudaGraphAddMemAllocNode(&alloc_node, graph, &root_node, 1, &alloc));
    void *use_args[] = {&alloc.dptr, &out};
    kernel.func = (void *)use;
    kernel.kernelParams = use_args;
    check(cudaGraphAddKernelNode(&use_node, graph, &alloc_node, 1, &kernel));
    check(cudaGraphAddMemFreeNode(&free_node, graph, &use_node, 1, alloc.dptr));
    check(cudaGraphInstantiate(&exec, graph, 0));
    for (int r = 0; r < 3; r++) check(cudaGraphLaunch(exec, stream));
    check(cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    long wrong = 0;
    for (int i = 0; i < N; i++) wrong += host[i] != i + 1;
    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
    check(cudaFree(begin_data));
    check(cudaFree(out));
    check(cudaStreamDestroy(stream));
    return report(wrong);
}
