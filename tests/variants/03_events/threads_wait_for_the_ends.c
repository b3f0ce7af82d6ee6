/* variant: one thread launches, four wait for the ends
 * orders: 3
 */
#include "lesson.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define WAITERS 4

struct mark {
    cudaEvent_t start, end;
};

struct waiter {
    pthread_t thread;
    bool started;
    int device;
    const struct mark *marks;
    float *milliseconds;
    size_t begin, end;
    cudaError_t error;
};

static cudaError_t merge(cudaError_t first, cudaError_t second)
{
    return first ? first : second;
}

static cudaError_t mark_create(struct mark *m)
{
    cudaError_t error = cudaEventCreateWithFlags(&m->start, cudaEventBlockingSync);
    if (!error) error = cudaEventCreateWithFlags(&m->end, cudaEventBlockingSync);
    return error;
}

static cudaError_t mark_destroy(struct mark *m)
{
    cudaError_t error = m->start ? cudaEventDestroy(m->start) : cudaSuccess;
    return m->end ? merge(error, cudaEventDestroy(m->end)) : error;
}

static cudaError_t mark_launch(const struct mark *m, events_kernel kernel,
                               const struct events_task *task)
{
    cudaError_t error = cudaEventRecord(m->start, task->stream);
    if (!error) error = kernel(task->array, task->length, task->stream);
    return error ? error : cudaEventRecord(m->end, task->stream);
}

static void *wait_and_read(void *user)
{
    struct waiter *w = user;
    w->error = cudaSetDevice(w->device);
    for (size_t i = w->begin; i < w->end && !w->error; i++) {
        w->error = cudaEventSynchronize(w->marks[i].end);
        if (!w->error)
            w->error =
                cudaEventElapsedTime(&w->milliseconds[i], w->marks[i].start, w->marks[i].end);
    }
    return NULL;
}

static cudaError_t read_all(const struct mark *marks, size_t count, float *milliseconds)
{
    struct waiter waiters[WAITERS];
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;

    size_t begin = 0;
    for (size_t k = 0; k < WAITERS; k++) {
        size_t share = (count - begin) / (WAITERS - k);
        waiters[k] = (struct waiter){
            .device = device,
            .marks = marks,
            .milliseconds = milliseconds,
            .begin = begin,
            .end = begin + share,
        };
        begin += share;
        waiters[k].started =
            pthread_create(&waiters[k].thread, NULL, wait_and_read, &waiters[k]) == 0;
        if (!waiters[k].started) wait_and_read(&waiters[k]);
    }
    for (size_t k = 0; k < WAITERS; k++) {
        if (waiters[k].started) pthread_join(waiters[k].thread, NULL);
        error = merge(error, waiters[k].error);
    }
    return error;
}

static void drain(const struct events_task tasks[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cudaStreamSynchronize(tasks[i].stream)) (void)cudaDeviceSynchronize();
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    if (count == 0) return cudaSuccess;
    struct mark *marks = calloc(count, sizeof *marks);
    if (!marks) return cudaErrorMemoryAllocation;

    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) error = mark_create(&marks[i]);
    for (size_t i = 0; i < count && !error; i++) error = mark_launch(&marks[i], kernel, &tasks[i]);
    if (!error) error = read_all(marks, count, milliseconds);
    if (error) drain(tasks, count);

    for (size_t i = 0; i < count; i++) error = merge(error, mark_destroy(&marks[i]));
    free(marks);
    return error;
}

static cudaError_t ask(cudaEvent_t event, cudaError_t *answer)
{
    *answer = cudaEventQuery(event);
    return *answer == cudaErrorNotReady ? cudaSuccess : *answer;
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    struct mark m = {NULL, NULL};
    cudaError_t error = mark_create(&m);
    if (!error) {
        error = mark_launch(&m, kernel, task);
        if (!error) error = ask(m.start, &seen->start_before);
        if (!error) error = ask(m.end, &seen->end_before);
        if (!error) error = cudaEventSynchronize(m.end);
        if (!error) error = ask(m.start, &seen->start_after);
        if (!error) error = ask(m.end, &seen->end_after);
        if (!error) error = cudaEventElapsedTime(&seen->milliseconds, m.start, m.end);
        if (error) drain(task, 1);
    }
    return merge(error, mark_destroy(&m));
}

static double average(const float values[], size_t count, double from, int power)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += power == 2 ? (values[i] - from) * (values[i] - from) : values[i] - from;
    return sum / (double)count;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;
    *mean = average(milliseconds, count, 0.0, 1);
    *deviation = sqrt(average(milliseconds, count, *mean, 2));
    return cudaSuccess;
}
