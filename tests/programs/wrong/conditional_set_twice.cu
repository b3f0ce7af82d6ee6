// Wrong: two kernels on branches beside each other set the same condition: which of the two the
// loop ends by hangs on which came last.
// Found: race
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

__global__ void sum(const int *in, int n, int *out, cudaGraphConditionalHandle handle)
{
    int total = 0;
    for (int i = 0; i < n; i++) total += in[i];
    *out = total;
    cudaGraphSetConditional(handle, total > 100);
}

__global__ void most(const int *in, int n, int *out, cudaGraphConditionalHandle handle)
{
    int highest = in[0];
    for (int i = 1; i < n; i++) highest = in[i] > highest ? in[i] : highest;
    *out = highest;
    cudaGraphSetConditional(handle, highest > 7);
}

__global__ void halve(int *data, int n)
{
    for (int i = 0; i < n; i++) data[i] /= 2;
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
    const int n = 50;
    int data[n], results[2];
    for (int i = 0; i < n; i++) data[i] = i % 17;
    int *in, *out;
    OK(cudaMalloc(&in, sizeof data));
    OK(cudaMalloc(&out, sizeof results));
    OK(cudaMemcpy(in, data, sizeof data, cudaMemcpyHostToDevice));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    cudaGraph_t body = params.conditional.phGraph_out[0];
    cudaGraphNode_t first = kernel(body, nullptr, 1, halve, in, n);
    kernel(body, first, 1, sum, (const int *)in, n, out, handle);
    kernel(body, first, 1, most, (const int *)in, n, out + 1, handle);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    printf("%d %d\n", results[0], results[1]);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(out));
    OK(cudaFree(in));
    return 0;
}
