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

    /* Breadth-first: the first step of every lane, then the second of every lane, then the third.
     * Depth-first (all three of lane 0, then of lane 1, ...) would do as well: a copy that waits
     * for its kernel holds up neither copies the other way nor other lanes' kernels, although the
     * streams are many and the device's queues few (measured: tests/gpu/issue_order.cu).
     *
     * What must not stand here is a timed event behind each kernel. Its stamp waits for the kernel,
     * at the head of a queue that several streams share, and the next stream's kernel waits behind
     * it: only as many kernels run side by side as there are queues, 8 unless
     * CUDA_DEVICE_MAX_CONNECTIONS says otherwise. */
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(lanes[i].device, lanes[i].host, lanes[i].length * sizeof(float),
                                cudaMemcpyHostToDevice, lanes[i].stream);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = kernel(lanes[i].device, lanes[i].length, lanes[i].stream);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(lanes[i].host, lanes[i].device, lanes[i].length * sizeof(float),
                                cudaMemcpyDeviceToHost, lanes[i].stream);

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
