/* mistake: the end event is made when it is needed, behind the launch: the kernel may have ended
 * before the host has come to record it
 * fails: Events.NothingElseIsTimed
 * finds: nothing, the events are in the right streams
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
    return cudaEventCreate(&pair->start);
}

static void pair_destroy(struct pair *pair, cudaError_t *first)
{
    if (pair->start != NULL) keep(first, cudaEventDestroy(pair->start));
    if (pair->end != NULL) keep(first, cudaEventDestroy(pair->end));
}

static cudaError_t launch_between(struct pair *pair, events_kernel kernel,
                                  const struct events_task *task)
{
    cudaError_t error = cudaEventRecord(pair->start, task->stream);
    if (error == cudaSuccess) error = kernel(task->array, task->length, task->stream);
    if (error == cudaSuccess) error = cudaEventCreate(&pair->end);
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

    error = cudaStreamSynchronize(task->stream);
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
    size_t issued = 0;

    if (count == 0) return cudaSuccess;
    struct pair *pairs = calloc(count, sizeof *pairs);
    if (pairs == NULL) return cudaErrorMemoryAllocation;

    for (size_t i = 0; i < count && error == cudaSuccess; i++) error = pair_create(&pairs[i]);

    for (; issued < count && error == cudaSuccess; issued++)
        error = launch_between(&pairs[count - 1 - issued], kernel, &tasks[count - 1 - issued]);

    for (size_t i = 0; i < count; i++) keep(&error, cudaStreamSynchronize(tasks[i].stream));

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

    for (size_t i = 0; i < count; i++) {
        const double off = milliseconds[i] - *mean;
        squares += off * off;
    }
    *deviation = sqrt(squares / (double)count);
    return cudaSuccess;
}
