/* variant: four threads take a share of the lanes each
 * orders: 3
 */
#include "lesson.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CREW 4

struct run {
    struct streams_lane *lanes;
    size_t count;
    streams_kernel kernel;
    int device;
    atomic_int error; /* the first of all threads */
};

struct share {
    struct run *run;
    size_t first; /* and every CREW-th from there */
    pthread_t thread;
    bool has_thread;
};

static void report(struct run *run, cudaError_t error)
{
    int none = cudaSuccess;
    if (error) atomic_compare_exchange_strong(&run->error, &none, (int)error);
}

static cudaError_t issue_lane(const struct streams_lane *lane, streams_kernel kernel)
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

static void issue(const struct share *share)
{
    struct run *run = share->run;
    for (size_t i = share->first; i < run->count; i += CREW) {
        cudaError_t error = issue_lane(&run->lanes[i], run->kernel);
        report(run, error);
        if (error) break;
    }
}

static void await(const struct share *share)
{
    struct run *run = share->run;
    for (size_t i = share->first; i < run->count; i += CREW) {
        cudaError_t error = cudaStreamSynchronize(run->lanes[i].stream);
        report(run, error);
        if (error) (void)cudaDeviceSynchronize();
    }
}

static void *member(void *user)
{
    struct share *share = user;
    cudaError_t error = cudaSetDevice(share->run->device);
    report(share->run, error);
    if (!error) {
        issue(share);
        await(share);
    }
    return NULL;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    size_t i = 0;
    for (; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        if (lane->length > SIZE_MAX / sizeof(float)) {
            error = cudaErrorMemoryAllocation;
            break;
        }
        size_t bytes = lane->length * sizeof(float);
        if ((error = cudaMallocHost((void **)&lane->host, bytes))) break;
        if ((error = cudaMalloc((void **)&lane->device, bytes))) break;
        if ((error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking))) break;
    }
    if (error) (void)streams_close(lanes, i + 1);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    struct run run = {.lanes = lanes, .count = count, .kernel = kernel};
    cudaError_t error = cudaGetDevice(&run.device);
    if (error) return error;
    atomic_init(&run.error, cudaSuccess);

    struct share shares[CREW];
    for (size_t s = 0; s < CREW; s++) {
        shares[s] = (struct share){.run = &run, .first = s};
        shares[s].has_thread =
            s < count && pthread_create(&shares[s].thread, NULL, member, &shares[s]) == 0;
    }
    for (size_t s = 0; s < CREW; s++)
        if (!shares[s].has_thread) issue(&shares[s]);
    for (size_t s = 0; s < CREW; s++)
        if (!shares[s].has_thread) await(&shares[s]);
    for (size_t s = 0; s < CREW; s++)
        if (shares[s].has_thread) pthread_join(shares[s].thread, NULL);

    return (cudaError_t)atomic_load(&run.error);
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        cudaError_t results[3] = {
            lane->stream ? cudaStreamDestroy(lane->stream) : cudaSuccess,
            cudaFree(lane->device),
            lane->host ? cudaFreeHost(lane->host) : cudaSuccess,
        };
        for (int k = 0; k < 3 && !error; k++) error = results[k];
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
