/* Lesson 03, the reference solution: an event is a mark in a stream, and the device puts the time
 * on it when it comes past. */
#include "lesson.h"

#include <math.h>
#include <stdlib.h>

struct pair {
    cudaEvent_t start, end;
};

/* Keeps the first error: it is the one that explains the others. */
static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

/* On failure *pair may hold one event; pair_destroy copes with it. */
static cudaError_t pair_create(struct pair *pair)
{
    pair->start = pair->end = NULL;
    cudaError_t error = cudaEventCreate(&pair->start);
    if (error == cudaSuccess) error = cudaEventCreate(&pair->end);
    return error;
}

static void pair_destroy(struct pair *pair, cudaError_t *first)
{
    if (pair->start != NULL) keep(first, cudaEventDestroy(pair->start));
    if (pair->end != NULL) keep(first, cudaEventDestroy(pair->end));
}

/* start, kernel, end: in one stream, with nothing between them. An event in another stream is
 * passed when that stream gets to it, whatever the kernel does. And whatever the host does between
 * these three lines is part of the time, because the device passes the first event while the host
 * is still on its way to the launch. */
static cudaError_t launch_between(const struct pair *pair, events_kernel kernel,
                                  const struct events_task *task)
{
    cudaError_t error = cudaEventRecord(pair->start, task->stream);
    if (error == cudaSuccess) error = kernel(task->array, task->length, task->stream);
    if (error == cudaSuccess) error = cudaEventRecord(pair->end, task->stream);
    return error;
}

/* Asks without waiting. "Not ready" is one of the two answers; anything else is an error, and may
 * be one of a kernel that ran before. */
static cudaError_t ask(cudaEvent_t event, cudaError_t *answer)
{
    *answer = cudaEventQuery(event);
    if (*answer != cudaErrorNotReady) return *answer;
    /* The runtime also remembers "not ready" as its last error, where the next cudaGetLastError
     * would take it for the failure of something else. */
    (void)cudaGetLastError();
    return cudaSuccess;
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    struct pair pair;
    cudaError_t error = pair_create(&pair);
    if (error != cudaSuccess) goto done;
    error = launch_between(&pair, kernel, task);
    if (error != cudaSuccess) goto wait;

    /* The launch has returned and the kernel has hardly begun: the end is not there yet. */
    error = ask(pair.start, &seen->start_before);
    if (error == cudaSuccess) error = ask(pair.end, &seen->end_before);

wait:
    /* Also after a failure: the kernel may be at work, and the array is the caller's. For the
     * stream and not for the end, which was perhaps never recorded. */
    keep(&error, cudaStreamSynchronize(task->stream));
    if (error == cudaSuccess) error = ask(pair.start, &seen->start_after);
    if (error == cudaSuccess) error = ask(pair.end, &seen->end_after);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&seen->milliseconds, pair.start, pair.end);

done:
    pair_destroy(&pair, &error);
    return error;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    cudaError_t error = cudaSuccess;
    size_t issued = 0;

    if (count == 0) return cudaSuccess;
    /* A pair per stream. An event holds one time: recorded a second time it forgets the first. */
    struct pair *pairs = calloc(count, sizeof *pairs);
    if (pairs == NULL) return cudaErrorMemoryAllocation;

    /* Creating an event takes the host a while; not between start and launch. */
    for (size_t i = 0; i < count && error == cudaSuccess; i++) error = pair_create(&pairs[i]);

    /* Each pair as close around its kernel as it can be: then the times are right, whatever the
     * kernels. The price: the stamp of an end waits for its kernel and holds up the streams that
     * share its hardware queue, so that only as many kernels run side by side as there are queues.
     * With all ends in a second loop they would all run side by side, but an end could stand in its
     * queue behind that of a longer kernel. With the starts in a loop of their own as well, each
     * time would also hold the records and launches in between. */
    for (; issued < count && error == cudaSuccess; issued++)
        error = launch_between(&pairs[issued], kernel, &tasks[issued]);

    /* All are under way; now wait. Also after a failure: the caller's arrays are in use. */
    for (size_t i = 0; i < issued; i++) keep(&error, cudaStreamSynchronize(tasks[i].stream));

    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaEventElapsedTime(&milliseconds[i], pairs[i].start, pairs[i].end);

    for (size_t i = 0; i < count; i++) pair_destroy(&pairs[i], &error);
    free(pairs);
    return error;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    double sum = 0.0, squares = 0.0;

    if (count == 0) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) sum += milliseconds[i];
    *mean = sum / (double)count;

    /* Twice over the numbers. Once would do, with the mean of the squares less the square of the
     * mean; but those are two large numbers, nearly equal, and their difference is what rounding
     * has left of them. */
    for (size_t i = 0; i < count; i++) {
        const double off = milliseconds[i] - *mean;
        squares += off * off;
    }
    *deviation = sqrt(squares / (double)count);
    return cudaSuccess;
}
