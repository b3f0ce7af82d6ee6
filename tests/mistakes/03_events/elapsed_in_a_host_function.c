/* mistake: a host function asks for the time
 * fails: Events.EachKernelRunsOnce
 * finds: call in a host function at "r->error = cudaEventElapsedTime("
 */
#include "lesson.h"

#include <math.h>
#include <stdlib.h>

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

struct reading {
    struct pair pair;
    float *milliseconds;
    cudaError_t error;
};

static void CUDART_CB read_time(void *user)
{
    struct reading *r = user;
    r->error = cudaEventElapsedTime(r->milliseconds, r->pair.start, r->pair.end);
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    if (count == 0) return cudaSuccess;
    struct reading *readings = calloc(count, sizeof *readings);
    if (!readings) return cudaErrorMemoryAllocation;

    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) {
        readings[i].milliseconds = &milliseconds[i];
        error = pair_create(&readings[i].pair);
    }
    for (size_t i = 0; i < count && !error; i++) {
        error = pair_around(&readings[i].pair, kernel, &tasks[i]);
        if (!error) error = cudaLaunchHostFunc(tasks[i].stream, read_time, &readings[i]);
    }
    keep(&error, settle(tasks, count));

    for (size_t i = 0; i < count; i++) {
        keep(&error, readings[i].error);
        keep(&error, pair_destroy(&readings[i].pair));
    }
    free(readings);
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
