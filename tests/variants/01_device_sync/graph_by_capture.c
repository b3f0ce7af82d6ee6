/* variant: the three steps are captured into a graph, which is launched once
 */
#include "lesson.h"

#include <stdint.h>

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

/* The three steps, recorded instead of run. A capture that has begun is ended on every path. */
static cudaError_t make_graph(cudaGraph_t *graph, device_sync_kernel kernel, const float *input,
                              float *output, float *array, size_t length, cudaStream_t stream)
{
    const size_t bytes = length * sizeof *array;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess) return error;
    error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = kernel(array, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);
    keep(&error, cudaStreamEndCapture(stream, graph));
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
