/* mistake: all starts and kernels in one loop, all ends in a second: an end can stand in its queue
 * behind the end of a longer kernel
 * fails: Events.EveryKernelIsTimed
 * fails: Events.NothingElseIsTimed
 * finds: nothing, the events are in the right streams, only too late
 */
#include "lesson.h"

#include <math.h>
#include <stdlib.h>

struct pair {
    cudaEvent_t start, end;
};

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

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

static cudaError_t launch_between(const struct pair *pair, events_kernel kernel,
                                  const struct events_task *task)
{
    cudaError_t error = cudaEventRecord(pair->start, task->stream);
    if (error == cudaSuccess) error = kernel(task->array, task->length, task->stream);
    if (error == cudaSuccess) error = cudaEventRecord(pair->end, task->stream);
    return error;
}

static cudaError_t ask(cudaEvent_t event, cudaError_t *answer)
{
    *answer = cudaEventQuery(event);
    if (*answer != cudaErrorNotReady) return *answer;
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
    if (error != cudaSuccess) goto done;

    error = ask(pair.start, &seen->start_before);
    if (error == cudaSuccess) error = ask(pair.end, &seen->end_before);
    if (error != cudaSuccess) goto done;

    error = cudaEventSynchronize(pair.end);
    if (error != cudaSuccess) goto done;
    error = ask(pair.start, &seen->start_after);
    if (error == cudaSuccess) error = ask(pair.end, &seen->end_after);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&seen->milliseconds, pair.start, pair.end);

done:
    if (error != cudaSuccess) (void)cudaStreamSynchronize(task->stream); /* may be at work */
    pair_destroy(&pair, &error);
    return error;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    cudaError_t error = cudaSuccess;

    if (count == 0) return cudaSuccess;
    struct pair *pairs = calloc(count, sizeof *pairs);
    if (pairs == NULL) return cudaErrorMemoryAllocation;

    for (size_t i = 0; i < count && error == cudaSuccess; i++) error = pair_create(&pairs[i]);

    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = cudaEventRecord(pairs[i].start, tasks[i].stream);
        if (error == cudaSuccess) error = kernel(tasks[i].array, tasks[i].length, tasks[i].stream);
    }
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaEventRecord(pairs[i].end, tasks[i].stream);

    keep(&error, cudaDeviceSynchronize());

    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaEventElapsedTime(&milliseconds[i], pairs[i].start, pairs[i].end);

    for (size_t i = 0; i < count; i++) pair_destroy(&pairs[i], &error);
    free(pairs);
    return error;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    double squares = 0.0;

    if (count == 0) return cudaErrorInvalidValue;
    *mean = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double off = milliseconds[i] - *mean;
        *mean += off / (double)(i + 1);
        squares += off * (milliseconds[i] - *mean);
    }
    *deviation = sqrt(squares / (double)count);
    return cudaSuccess;
}
