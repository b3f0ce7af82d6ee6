/* Lesson 02, the reference solution: page-locked memory, a stream per array, one wait at the end.
 */
#include "lesson.h"

/* Keeps the first error: it is the one that explains the others. */
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

        /* The device's part first: it is the smaller store, and asking it is cheap. */
        error = cudaMalloc((void **)&lane->device, bytes);
        if (error != cudaSuccess) goto fail;
        /* Page-locked: the copy engine reads and writes this memory by itself, while the host goes
         * on. From pageable memory the driver would first have to copy through a buffer of its own,
         * on the host's time, and "asynchronous" would be a promise that it cannot keep. Locking
         * pages is slow, so it belongs here, where it happens once, and not into streams_run. */
        error = cudaMallocHost((void **)&lane->host, bytes);
        if (error != cudaSuccess) goto fail;
        /* Non-blocking: whatever somebody else puts into the default stream, these streams neither
         * wait for it nor are waited for. */
        error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
        if (error != cudaSuccess) goto fail;
    }
    return cudaSuccess;

fail:
    /* A call that fails leaves its pointer alone, so every lane holds what it owns and no more. */
    (void)streams_close(lanes, count);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;

    /* Depth-first: all three steps of a lane, then those of the next. The first lane is at work
     * while the host still issues the second, and a copy out that waits for its kernel holds up
     * nobody else's copy in, although the streams are many and the device's queues few.
     * Breadth-first (every lane's copy in, then every kernel, ...) comes close; measured by
     * lessons/02_streams/measure.cu.
     *
     * What must not stand here is a timed event behind each kernel. Its stamp waits for the kernel,
     * at the head of a queue that several streams share, and the next stream's kernel waits behind
     * it: only as many kernels run side by side as there are queues, 8 unless
     * CUDA_DEVICE_MAX_CONNECTIONS says otherwise. */
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        const struct streams_lane *lane = &lanes[i];
        const size_t bytes = lane->length * sizeof(float);

        error =
            cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
        if (error == cudaSuccess) error = kernel(lane->device, lane->length, lane->stream);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost,
                                    lane->stream);
    }

    /* The host waits only now, and for every stream, even when a step failed: the lanes that were
     * issued are still at work on memory that the caller is about to have back. */
    for (size_t i = 0; i < count; i++) keep(&error, cudaStreamSynchronize(lanes[i].stream));
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];

        /* cudaStreamDestroy takes no NULL: that would be the default stream. The other two do. */
        if (lane->stream != NULL) keep(&error, cudaStreamDestroy(lane->stream));
        keep(&error, cudaFree(lane->device));
        keep(&error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
