/* variant: one block of memory on each side, cut into pieces
 * orders: 3
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define STEP ((size_t)256)

/* What one streams_open has allocated. */
struct slab {
    struct slab *next;
    char *host, *device;
    size_t size;
    size_t lanes; /* still open */
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct slab *slabs;

static size_t room_for(const struct streams_lane *lane)
{
    return (lane->length * sizeof(float) + STEP - 1) / STEP * STEP;
}

static cudaError_t total_room(const struct streams_lane lanes[], size_t count, size_t *size)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].length > (SIZE_MAX - STEP) / sizeof(float)) return cudaErrorMemoryAllocation;
        size_t room = room_for(&lanes[i]);
        if (room > SIZE_MAX - total) return cudaErrorMemoryAllocation;
        total += room;
    }
    *size = total;
    return cudaSuccess;
}

static cudaError_t give_back(struct slab *slab)
{
    cudaError_t host = slab->host ? cudaFreeHost(slab->host) : cudaSuccess;
    cudaError_t device = cudaFree(slab->device);
    free(slab);
    return host ? host : device;
}

/* One lane less that uses the slab with `host` in it; the last one gives the slab back. */
static cudaError_t let_go(const float *host)
{
    struct slab *last = NULL;
    uintptr_t address = (uintptr_t)host;

    pthread_mutex_lock(&guard);
    for (struct slab **link = &slabs; *link; link = &(*link)->next) {
        struct slab *slab = *link;
        if (address - (uintptr_t)slab->host < slab->size) {
            if (--slab->lanes == 0) {
                *link = slab->next;
                last = slab;
            }
            break;
        }
    }
    pthread_mutex_unlock(&guard);
    return last ? give_back(last) : cudaSuccess;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    if (count == 0) return cudaSuccess;

    struct slab *slab = calloc(1, sizeof *slab);
    if (!slab) return cudaErrorMemoryAllocation;
    slab->lanes = count;

    cudaError_t error = total_room(lanes, count, &slab->size);
    if (!error) error = cudaMalloc((void **)&slab->device, slab->size);
    if (!error) error = cudaMallocHost((void **)&slab->host, slab->size);

    size_t streams = 0;
    while (!error && streams < count) {
        error = cudaStreamCreateWithFlags(&lanes[streams].stream, cudaStreamNonBlocking);
        if (!error) streams++;
    }

    if (error) {
        while (streams > 0) (void)cudaStreamDestroy(lanes[--streams].stream);
        for (size_t i = 0; i < count; i++) lanes[i].stream = NULL;
        (void)give_back(slab);
        return error;
    }

    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        lanes[i].host = (float *)(slab->host + at);
        lanes[i].device = (float *)(slab->device + at);
        at += room_for(&lanes[i]);
    }

    pthread_mutex_lock(&guard);
    slab->next = slabs;
    slabs = slab;
    pthread_mutex_unlock(&guard);
    return cudaSuccess;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) {
        const struct streams_lane *lane = &lanes[i];
        size_t bytes = lane->length * sizeof(float);
        error =
            cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
        if (!error) error = kernel(lane->device, lane->length, lane->stream);
        if (!error)
            error = cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost,
                                    lane->stream);
    }

    cudaError_t waited = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        cudaError_t this = cudaStreamSynchronize(lanes[i].stream);
        if (!waited) waited = this;
    }
    if (waited) (void)cudaDeviceSynchronize();
    return error ? error : waited;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        if (lane->stream) {
            cudaError_t destroyed = cudaStreamDestroy(lane->stream);
            if (!error) error = destroyed;
        }
        if (lane->host) {
            cudaError_t released = let_go(lane->host);
            if (!error) error = released;
        }
        lane->stream = NULL;
        lane->host = NULL;
        lane->device = NULL;
    }
    return error;
}
