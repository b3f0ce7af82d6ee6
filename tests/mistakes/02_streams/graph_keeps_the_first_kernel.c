/* mistake: a captured graph is kept, and with it the kernel of the first call
 * fails: Streams.EveryArrayIsRight
 * finds: nothing, the wrong kernel does its work well
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct recipe {
    struct recipe *next;
    cudaStream_t stream;
    cudaGraphExec_t executable;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct recipe *recipes;

static cudaError_t keep(cudaError_t first, cudaError_t next)
{
    return first ? first : next;
}

static cudaError_t wait_for_all(const struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) error = keep(error, cudaStreamSynchronize(lanes[i].stream));
    if (error) cudaDeviceSynchronize();
    return error;
}

static cudaError_t issue(const struct streams_lane *lane, streams_kernel kernel)
{
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error =
        cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
    if (!error) error = kernel(lane->device, lane->length, lane->stream);
    if (!error)
        error =
            cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost, lane->stream);
    return error;
}

static cudaError_t capture(const struct streams_lane *lane, streams_kernel kernel,
                           cudaGraphExec_t *executable)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaStreamBeginCapture(lane->stream, cudaStreamCaptureModeRelaxed);
    if (error) return error;
    error = issue(lane, kernel);
    error = keep(error, cudaStreamEndCapture(lane->stream, &graph));
    if (!error) error = cudaGraphInstantiate(executable, graph, 0);
    if (graph) error = keep(error, cudaGraphDestroy(graph));
    if (error && *executable) {
        cudaGraphExecDestroy(*executable);
        *executable = NULL;
    }
    return error;
}

static cudaError_t find(const struct streams_lane *lane, streams_kernel kernel,
                        cudaGraphExec_t *executable)
{
    for (struct recipe *r = recipes; r; r = r->next)
        if (r->stream == lane->stream) {
            *executable = r->executable;
            return cudaSuccess;
        }

    struct recipe *new = calloc(1, sizeof *new);
    if (!new) return cudaErrorMemoryAllocation;
    cudaError_t error = capture(lane, kernel, &new->executable);
    if (error) {
        free(new);
        return error;
    }
    new->stream = lane->stream;
    new->next = recipes;
    recipes = new;
    *executable = new->executable;
    return cudaSuccess;
}

static cudaError_t forget(cudaStream_t stream)
{
    for (struct recipe **r = &recipes; *r; r = &(*r)->next)
        if ((*r)->stream == stream) {
            struct recipe *gone = *r;
            *r = gone->next;
            cudaError_t error = cudaGraphExecDestroy(gone->executable);
            free(gone);
            return error;
        }
    return cudaSuccess;
}

static cudaError_t open_lane(struct streams_lane *lane)
{
    if (lane->length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error = cudaMallocHost((void **)&lane->host, bytes);
    if (!error) error = cudaMalloc((void **)&lane->device, bytes);
    if (!error) error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
    return error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) error = open_lane(&lanes[i]);
    if (error) streams_close(lanes, count);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&guard);
    for (size_t i = 0; i < count && !error; i++) {
        cudaGraphExec_t executable = NULL;
        error = find(&lanes[i], kernel, &executable);
        if (!error) error = cudaGraphLaunch(executable, lanes[i].stream);
    }
    pthread_mutex_unlock(&guard);
    return keep(error, wait_for_all(lanes, count));
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&guard);
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        if (lane->stream) {
            error = keep(error, forget(lane->stream));
            error = keep(error, cudaStreamDestroy(lane->stream));
        }
        if (lane->device) error = keep(error, cudaFree(lane->device));
        if (lane->host) error = keep(error, cudaFreeHost(lane->host));
        *lane = (struct streams_lane){.length = lane->length};
    }
    pthread_mutex_unlock(&guard);
    return error;
}
