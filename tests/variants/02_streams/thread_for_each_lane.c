/* variant: a host thread for each lane, which issues its work and waits for it
 *
 * slow on a GPU: Streams.AsFastAsTheReference
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "lesson.h"
#include <string.h>

static void release(struct streams_lane *l, cudaError_t *first)
{
    cudaError_t e;
    if (l->stream) {
        e = cudaStreamDestroy(l->stream);
        if (*first == cudaSuccess) *first = e;
        l->stream = NULL;
    }
    if (l->device) {
        e = cudaFree(l->device);
        if (*first == cudaSuccess) *first = e;
        l->device = NULL;
    }
    if (l->host) {
        e = cudaFreeHost(l->host);
        if (*first == cudaSuccess) *first = e;
        l->host = NULL;
    }
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t err = cudaSuccess, ignored = cudaSuccess;
    size_t i;
    for (i = 0; i < count; i++) {
        if ((err = cudaStreamCreate(&lanes[i].stream)) != cudaSuccess) break;
        if ((err = cudaMallocHost((void **)&lanes[i].host, sizeof(float) * lanes[i].length)) !=
            cudaSuccess)
            break;
        if ((err = cudaMalloc((void **)&lanes[i].device, sizeof(float) * lanes[i].length)) !=
            cudaSuccess)
            break;
    }
    if (err != cudaSuccess) {
        for (i = 0; i < count; i++) release(&lanes[i], &ignored);
    }
    return err;
}

struct worker {
    pthread_t thread;
    struct streams_lane *lane;
    streams_kernel kernel;
    cudaError_t error;
    int running;
};

static void *work(void *p)
{
    struct worker *w = p;
    struct streams_lane *l = w->lane;
    size_t n = l->length * sizeof(float);
    cudaError_t e;
    w->error = cudaMemcpyAsync(l->device, l->host, n, cudaMemcpyHostToDevice, l->stream);
    if (!w->error) w->error = w->kernel(l->device, l->length, l->stream);
    if (!w->error)
        w->error = cudaMemcpyAsync(l->host, l->device, n, cudaMemcpyDeviceToHost, l->stream);
    e = cudaStreamSynchronize(l->stream);
    if (!w->error) w->error = e;
    return NULL;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t err = cudaSuccess;
    struct worker *w = calloc(count ? count : 1, sizeof *w);
    if (!w) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++) {
        w[i].lane = &lanes[i];
        w[i].kernel = kernel;
        if (pthread_create(&w[i].thread, NULL, work, &w[i]) == 0)
            w[i].running = 1;
        else
            work(&w[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (w[i].running) pthread_join(w[i].thread, NULL);
        if (!err) err = w[i].error;
    }
    free(w);
    return err;
}
cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t err = cudaSuccess;
    for (size_t i = 0; i < count; i++) release(&lanes[i], &err);
    return err;
}
