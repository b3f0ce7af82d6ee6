// Wrong: the body of a conditional node writes what a kernel on the branch beside it reads: the
// two branches of the graph are joined only behind both.
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

__global__ void look(const float *in, int n, cudaGraphConditionalHandle handle)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += in[i];
    cudaGraphSetConditional(handle, sum > 0);
}

__global__ void scale(float *data, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by;
}

__global__ void squares(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
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
    const int n = 1000;
    static float data[n], result[n];
    for (int i = 0; i < n; i++) data[i] = (float)(i % 10);
    float *in, *out;
    OK(cudaMalloc(&in, sizeof data));
    OK(cudaMalloc(&out, sizeof data));
    OK(cudaMemcpy(in, data, sizeof data, cudaMemcpyHostToDevice));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
    cudaGraphNode_t first = kernel(graph, nullptr, 1, look, (const float *)in, n, handle), node;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    OK(cudaGraphAddNode(&node, graph, &first, nullptr, 1, &params));
    kernel(params.conditional.phGraph_out[0], nullptr, 8, scale, in, n, 0.5f);
    kernel(graph, first, 8, squares, (const float *)in, out, n);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    printf("%g\n", result[9]);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(out));
    OK(cudaFree(in));
    return 0;
}
