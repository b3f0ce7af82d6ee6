/* mistake: each of four threads takes a quarter, rounded down
 * fails: Streams.EveryArrayIsRight
 * finds: nothing, some lanes are given no work at all
 */
#include "lesson.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CREW 4

struct share {
    struct streams_lane *lanes;
    size_t count;
    streams_kernel kernel;
    int device;
    cudaError_t error;
};

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

static void *do_share(void *user)
{
    struct share *share = user;
    share->error = cudaSetDevice(share->device);
    if (share->error) return NULL;
    for (size_t i = 0; i < share->count && !share->error; i++)
        share->error = issue(&share->lanes[i], share->kernel);
    share->error = keep(share->error, wait_for_all(share->lanes, share->count));
    return NULL;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    struct share shares[CREW];
    pthread_t threads[CREW];
    bool started[CREW];
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;

    size_t each = count / CREW;
    for (int t = 0; t < CREW; t++) {
        shares[t] = (struct share){
            .lanes = lanes + (size_t)t * each,
            .count = each,
            .kernel = kernel,
            .device = device,
        };
        started[t] = pthread_create(&threads[t], NULL, do_share, &shares[t]) == 0;
    }
    for (int t = 0; t < CREW; t++)
        if (!started[t]) do_share(&shares[t]);
    for (int t = 0; t < CREW; t++) {
        if (started[t]) pthread_join(threads[t], NULL);
        error = keep(error, shares[t].error);
    }
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        if (lane->stream) error = keep(error, cudaStreamDestroy(lane->stream));
        if (lane->device) error = keep(error, cudaFree(lane->device));
        if (lane->host) error = keep(error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
