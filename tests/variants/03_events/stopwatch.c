/* variant: an object that knows how much of it has been made
 * orders: 3
 */
#include "lesson.h"

#include <math.h>
#include <stdlib.h>

enum { START, STOP, MARKS };

struct stopwatch {
    cudaEvent_t mark[MARKS];
    cudaStream_t stream;
    enum { EMPTY, MADE, RUNNING, STOPPED } state;
};

static cudaError_t stopwatch_make(struct stopwatch *watch)
{
    *watch = (struct stopwatch){.state = EMPTY};
    for (int m = 0; m < MARKS; m++) {
        cudaError_t error = cudaEventCreateWithFlags(&watch->mark[m], cudaEventBlockingSync);
        if (error) {
            if (m == STOP) (void)cudaEventDestroy(watch->mark[START]);
            return error;
        }
    }
    watch->state = MADE;
    return cudaSuccess;
}

static cudaError_t stopwatch_run(struct stopwatch *watch, events_kernel kernel,
                                 const struct events_task *task)
{
    watch->stream = task->stream;
    watch->state = RUNNING;
    cudaError_t error = cudaEventRecord(watch->mark[START], task->stream);
    if (!error) error = kernel(task->array, task->length, task->stream);
    if (!error) error = cudaEventRecord(watch->mark[STOP], task->stream);
    return error;
}

static cudaError_t stopwatch_wait(struct stopwatch *watch)
{
    cudaError_t error = cudaEventSynchronize(watch->mark[STOP]);
    if (!error) watch->state = STOPPED;
    return error;
}

static cudaError_t stopwatch_read(const struct stopwatch *watch, float *milliseconds)
{
    return cudaEventElapsedTime(milliseconds, watch->mark[START], watch->mark[STOP]);
}

/* From any state; one that still runs is waited for. */
static cudaError_t stopwatch_drop(struct stopwatch *watch)
{
    cudaError_t errors[MARKS] = {cudaSuccess, cudaSuccess};
    switch (watch->state) {
    case RUNNING:
        if (cudaStreamSynchronize(watch->stream)) (void)cudaDeviceSynchronize();
        /* fall through */
    case STOPPED:
    case MADE:
        for (int m = 0; m < MARKS; m++) errors[m] = cudaEventDestroy(watch->mark[m]);
        /* fall through */
    case EMPTY:
        break;
    }
    watch->state = EMPTY;
    return errors[START] ? errors[START] : errors[STOP];
}

static cudaError_t look(cudaEvent_t event, cudaError_t *answer)
{
    *answer = cudaEventQuery(event);
    return *answer == cudaErrorNotReady ? cudaSuccess : *answer;
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    struct stopwatch watch;
    cudaError_t error = stopwatch_make(&watch);
    if (!error) error = stopwatch_run(&watch, kernel, task);
    if (!error) error = look(watch.mark[START], &seen->start_before);
    if (!error) error = look(watch.mark[STOP], &seen->end_before);
    if (!error) error = stopwatch_wait(&watch);
    if (!error) error = look(watch.mark[START], &seen->start_after);
    if (!error) error = look(watch.mark[STOP], &seen->end_after);
    if (!error) error = stopwatch_read(&watch, &seen->milliseconds);

    cudaError_t dropped = stopwatch_drop(&watch);
    return error ? error : dropped;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    if (count == 0) return cudaSuccess;
    struct stopwatch *watches = calloc(count, sizeof *watches); /* all EMPTY */
    if (!watches) return cudaErrorMemoryAllocation;

    cudaError_t error = cudaSuccess;
    size_t i;
    for (i = 0; i < count && !error; i++) error = stopwatch_make(&watches[i]);
    for (i = 0; i < count && !error; i++) error = stopwatch_run(&watches[i], kernel, &tasks[i]);
    for (i = 0; i < count && !error; i++) error = stopwatch_wait(&watches[i]);
    for (i = 0; i < count && !error; i++) error = stopwatch_read(&watches[i], &milliseconds[i]);

    while (count > 0) {
        cudaError_t dropped = stopwatch_drop(&watches[--count]);
        if (!error) error = dropped;
    }
    free(watches);
    return error;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;

    double m = 0.0;
    for (const float *t = milliseconds; t < milliseconds + count; t++) m += *t;
    m /= (double)count;

    /* The second sum would be 0 without rounding; it takes out what m is off by. */
    double squares = 0.0, rest = 0.0;
    for (const float *t = milliseconds; t < milliseconds + count; t++) {
        squares += (*t - m) * (*t - m);
        rest += *t - m;
    }
    double variance = (squares - rest * rest / (double)count) / (double)count;
    *mean = m;
    *deviation = sqrt(fmax(variance, 0.0));
    return cudaSuccess;
}
