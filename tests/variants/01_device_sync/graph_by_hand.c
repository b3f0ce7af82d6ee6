/* variant: a graph made node by node; what the kernel is, a capture of it alone says
 */
#include "lesson.h"

#include <stdint.h>

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

/* The launch as a graph of its own. */
static cudaError_t capture(cudaGraph_t *graph, device_sync_kernel kernel, float *array,
                           size_t length, cudaStream_t stream)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) return error;
    error = kernel(array, length, stream);
    keep(&error, cudaStreamEndCapture(stream, graph));
    return error;
}

static cudaError_t make_graph(cudaGraph_t *graph, device_sync_kernel kernel, const float *input,
                              float *output, float *array, size_t length, cudaStream_t stream)
{
    const size_t bytes = length * sizeof *array;
    cudaGraphNode_t in, work, out;
    cudaGraph_t launch = NULL;

    cudaError_t error = capture(&launch, kernel, array, length, stream);
    if (error == cudaSuccess) error = cudaGraphCreate(graph, 0);
    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNode1D(&in, *graph, NULL, 0, array, input, bytes,
                                         cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaGraphAddChildGraphNode(&work, *graph, &in, 1, launch);
    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNode1D(&out, *graph, &work, 1, output, array, bytes,
                                         cudaMemcpyDeviceToHost);
    if (launch != NULL) keep(&error, cudaGraphDestroy(launch));
    return error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable = NULL;
    float *array = NULL;
    cudaError_t error;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    error = cudaMalloc((void **)&array, length * sizeof *array);
    if (error != cudaSuccess) return error;
    error = make_graph(&graph, kernel, input, output, array, length, stream);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph, 0);
    if (error == cudaSuccess) error = cudaGraphLaunch(executable, stream);
    keep(&error, cudaStreamSynchronize(stream));
    for (size_t i = 0; error == cudaSuccess && i < length; i++) *sum += output[i];

    if (executable != NULL) keep(&error, cudaGraphExecDestroy(executable));
    if (graph != NULL) keep(&error, cudaGraphDestroy(graph));
    keep(&error, cudaFree(array));
    return error;
}
