/* variant: each lane is a graph, captured in its stream and launched there
 */
#include "lesson.h"

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        const size_t bytes = lane->length * sizeof(float);

        error = cudaMalloc((void **)&lane->device, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaMallocHost((void **)&lane->host, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
        if (error != cudaSuccess) goto fail;
    }
    return cudaSuccess;

fail:
    (void)streams_close(lanes, count);
    return error;
}

/* The lane's three steps as a graph that can be launched. */
static cudaError_t capture(const struct streams_lane *lane, streams_kernel kernel,
                           cudaGraphExec_t *executable)
{
    const size_t bytes = lane->length * sizeof(float);
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(lane->stream, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) return error;
    error = cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
    if (error == cudaSuccess) error = kernel(lane->device, lane->length, lane->stream);
    if (error == cudaSuccess)
        error =
            cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost, lane->stream);
    keep(&error, cudaStreamEndCapture(lane->stream, &graph));
    if (error == cudaSuccess) error = cudaGraphInstantiate(executable, graph, 0);
    if (graph != NULL) keep(&error, cudaGraphDestroy(graph));
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        cudaGraphExec_t executable = NULL;
        error = capture(&lanes[i], kernel, &executable);
        if (error == cudaSuccess) error = cudaGraphLaunch(executable, lanes[i].stream);
        /* A launch under way keeps what it needs. */
        if (executable != NULL) keep(&error, cudaGraphExecDestroy(executable));
    }
    for (size_t i = 0; i < count; i++) keep(&error, cudaStreamSynchronize(lanes[i].stream));
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];

        if (lane->stream != NULL) keep(&error, cudaStreamDestroy(lane->stream));
        keep(&error, cudaFree(lane->device));
        keep(&error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
