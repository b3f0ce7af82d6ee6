// Wrong: the handle is made without a default, and the kernel that sets the condition stands in
// the body: what the first round is decided by, nobody knows.
// Found: never written
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define OK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t status = (x);                                                                  \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s, line %d: %s\n", #x, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void halve(int *value, cudaGraphConditionalHandle handle)
{
    *value /= 2;
    cudaGraphSetConditional(handle, *value > 10);
}

template <typename... P>
static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, int blocks,
                              void (*function)(P...), P... args)
{
    void *list[] = {&args...};
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)function;
    params.kernel.gridDim = dim3(blocks);
    params.kernel.blockDim = dim3(blocks > 1 ? 128 : 1);
    params.kernel.kernelParams = list;
    OK(cudaGraphAddNode(&node, graph, &after, nullptr, after != nullptr, &params));
    return node;
}

int main()
{
    int value = 1000, *cell;
    OK(cudaMalloc(&cell, sizeof value));
    OK(cudaMemcpy(cell, &value, sizeof value, cudaMemcpyHostToDevice));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, 0));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    kernel(params.conditional.phGraph_out[0], nullptr, 1, halve, cell, handle);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(&value, cell, sizeof value, cudaMemcpyDeviceToHost));
    printf("%d\n", value);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(cell));
    return 0;
}
