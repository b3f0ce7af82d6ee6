/* variant: all events in one array, starts and ends in turn
 * orders: 3
 */
#include "lesson.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define BEFORE(i) events[2 * (i)]
#define BEHIND(i) events[2 * (i) + 1]

static void collect(cudaError_t *first, cudaError_t next)
{
    if (!*first) *first = next;
}

/* Makes all or none. */
static cudaError_t make_events(cudaEvent_t events[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cudaError_t error = cudaEventCreate(&events[i]);
        if (error) {
            while (i > 0) (void)cudaEventDestroy(events[--i]);
            return error;
        }
    }
    return cudaSuccess;
}

static cudaError_t destroy_events(cudaEvent_t events[], size_t count)
{
    cudaError_t error = cudaSuccess;
    while (count > 0) collect(&error, cudaEventDestroy(events[--count]));
    return error;
}

static cudaError_t launch(cudaEvent_t before, cudaEvent_t behind, events_kernel kernel,
                          const struct events_task *task)
{
    cudaError_t error = cudaEventRecord(before, task->stream);
    if (!error) error = kernel(task->array, task->length, task->stream);
    if (!error) error = cudaEventRecord(behind, task->stream);
    return error;
}

static cudaError_t wait_for(const struct events_task tasks[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) collect(&error, cudaStreamSynchronize(tasks[i].stream));
    if (error) (void)cudaDeviceSynchronize();
    return error;
}

static cudaError_t ask_both(const cudaEvent_t events[2], cudaError_t *before, cudaError_t *behind)
{
    *before = cudaEventQuery(events[0]);
    *behind = cudaEventQuery(events[1]);
    if (*before && *before != cudaErrorNotReady) return *before;
    if (*behind && *behind != cudaErrorNotReady) return *behind;
    return cudaSuccess;
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    cudaEvent_t events[2];
    cudaError_t error = make_events(events, 2);
    if (error) return error;

    error = launch(BEFORE(0), BEHIND(0), kernel, task);
    if (!error) error = ask_both(events, &seen->start_before, &seen->end_before);
    collect(&error, wait_for(task, 1));
    if (!error) error = ask_both(events, &seen->start_after, &seen->end_after);
    if (!error) error = cudaEventElapsedTime(&seen->milliseconds, BEFORE(0), BEHIND(0));

    collect(&error, destroy_events(events, 2));
    return error;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    if (count == 0) return cudaSuccess;
    if (count > SIZE_MAX / 2 / sizeof(cudaEvent_t)) return cudaErrorMemoryAllocation;

    cudaEvent_t *events = malloc(2 * count * sizeof *events);
    if (!events) return cudaErrorMemoryAllocation;

    cudaError_t error = make_events(events, 2 * count);
    if (!error) {
        for (size_t i = 0; i < count && !error; i++)
            error = launch(BEFORE(i), BEHIND(i), kernel, &tasks[i]);
        collect(&error, wait_for(tasks, count));
        for (size_t i = 0; i < count && !error; i++)
            error = cudaEventElapsedTime(&milliseconds[i], BEFORE(i), BEHIND(i));
        collect(&error, destroy_events(events, 2 * count));
    }
    free(events);
    return error;
}

/* Neumaier's sum. */
struct sum {
    double value, lost;
};

static void add(struct sum *sum, double term)
{
    double next = sum->value + term;
    if (fabs(sum->value) >= fabs(term))
        sum->lost += (sum->value - next) + term;
    else
        sum->lost += (term - next) + sum->value;
    sum->value = next;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;

    struct sum times = {0.0, 0.0}, squares = {0.0, 0.0};
    for (size_t i = 0; i < count; i++) add(&times, milliseconds[i]);
    double middle = (times.value + times.lost) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double off = milliseconds[i] - middle;
        add(&squares, off * off);
    }
    *mean = middle;
    *deviation = sqrt((squares.value + squares.lost) / (double)count);
    return cudaSuccess;
}
