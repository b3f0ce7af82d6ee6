/* mistake: there is room for 256 kernels, and what is more is cut off
 * fails: Events.EveryKernelHasItsOwnPair
 * finds: nothing, the kernels that are launched are timed as they should
 */
#include "lesson.h"

#include <math.h>

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

/* Not ready is an answer; anything else but success is an error. */
static cudaError_t ask(cudaEvent_t event, cudaError_t *answer)
{
    *answer = cudaEventQuery(event);
    return *answer == cudaErrorNotReady ? cudaSuccess : *answer;
}

#define MOST 256

struct pair {
    cudaEvent_t start, end;
};

static cudaError_t pair_create(struct pair *pair)
{
    pair->start = pair->end = NULL;
    cudaError_t error = cudaEventCreate(&pair->start);
    if (!error) error = cudaEventCreate(&pair->end);
    return error;
}

static cudaError_t pair_destroy(struct pair *pair)
{
    cudaError_t error = cudaSuccess;
    if (pair->start) keep(&error, cudaEventDestroy(pair->start));
    if (pair->end) keep(&error, cudaEventDestroy(pair->end));
    return error;
}

static cudaError_t pair_around(const struct pair *pair, events_kernel kernel,
                               const struct events_task *task)
{
    cudaError_t error = cudaEventRecord(pair->start, task->stream);
    if (!error) error = kernel(task->array, task->length, task->stream);
    if (!error) error = cudaEventRecord(pair->end, task->stream);
    return error;
}

static cudaError_t settle(const struct events_task tasks[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) keep(&error, cudaStreamSynchronize(tasks[i].stream));
    if (error) cudaDeviceSynchronize();
    return error;
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    struct pair pair;
    cudaError_t error = pair_create(&pair);
    if (!error) {
        error = pair_around(&pair, kernel, task);
        if (!error) error = ask(pair.start, &seen->start_before);
        if (!error) error = ask(pair.end, &seen->end_before);
        keep(&error, settle(task, 1));
        if (!error) error = ask(pair.start, &seen->start_after);
        if (!error) error = ask(pair.end, &seen->end_after);
        if (!error) error = cudaEventElapsedTime(&seen->milliseconds, pair.start, pair.end);
    }
    keep(&error, pair_destroy(&pair));
    return error;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    if (count == 0) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    struct pair pairs[MOST] = {{NULL, NULL}};
    if (count > MOST) count = MOST;

    for (size_t i = 0; i < count; i++)
        if ((error = pair_create(&pairs[i]))) goto destroy;
    for (size_t i = 0; i < count && !error; i++) error = pair_around(&pairs[i], kernel, &tasks[i]);

    keep(&error, settle(tasks, count));
    if (error) goto destroy;
    for (size_t i = 0; i < count; i++)
        if ((error = cudaEventElapsedTime(&milliseconds[i], pairs[i].start, pairs[i].end)))
            goto destroy;

destroy:
    for (size_t i = 0; i < count; i++) keep(&error, pair_destroy(&pairs[i]));
    return error;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;

    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++) sum += milliseconds[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        double off = milliseconds[i] - *mean;
        squares += off * off;
    }
    *deviation = sqrt(squares / (double)count);
    return cudaSuccess;
}
