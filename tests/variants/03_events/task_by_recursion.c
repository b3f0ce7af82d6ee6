/* variant: each task is a level of a recursion
 * orders: 3
 */
#include "lesson.h"

#include <math.h>
#include <stdbool.h>

struct call {
    events_kernel kernel;
    const struct events_task *tasks;
    size_t count;
    float *milliseconds;
    cudaError_t error; /* the first */
};

static bool good(struct call *call, cudaError_t error)
{
    if (call->error == cudaSuccess) call->error = error;
    return error == cudaSuccess;
}

/* Launches task i and those behind it, waits, and reads its time. */
static void from(struct call *call, size_t i)
{
    if (i == call->count) return;

    const struct events_task *task = &call->tasks[i];
    cudaEvent_t start = NULL, end = NULL;
    bool touched = false;

    if (good(call, cudaEventCreate(&start)) && good(call, cudaEventCreate(&end))) {
        touched = true;
        if (good(call, cudaEventRecord(start, task->stream)) &&
            good(call, call->kernel(task->array, task->length, task->stream)) &&
            good(call, cudaEventRecord(end, task->stream)))
            from(call, i + 1);
    }
    if (touched && !good(call, cudaStreamSynchronize(task->stream))) (void)cudaDeviceSynchronize();
    if (call->error == cudaSuccess)
        good(call, cudaEventElapsedTime(&call->milliseconds[i], start, end));

    if (end) good(call, cudaEventDestroy(end));
    if (start) good(call, cudaEventDestroy(start));
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    struct call call = {kernel, tasks, count, milliseconds, cudaSuccess};
    from(&call, 0);
    return call.error;
}

static bool ask(struct call *call, cudaEvent_t event, cudaError_t *answer)
{
    *answer = cudaEventQuery(event);
    return *answer == cudaErrorNotReady || good(call, *answer);
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    struct call call = {.error = cudaSuccess};
    cudaEvent_t marks[2] = {NULL, NULL};

    if (good(&call, cudaEventCreate(&marks[0])) && good(&call, cudaEventCreate(&marks[1]))) {
        bool asked = good(&call, cudaEventRecord(marks[0], task->stream)) &&
                     good(&call, kernel(task->array, task->length, task->stream)) &&
                     good(&call, cudaEventRecord(marks[1], task->stream)) &&
                     ask(&call, marks[0], &seen->start_before) &&
                     ask(&call, marks[1], &seen->end_before);
        bool waited = good(&call, cudaStreamSynchronize(task->stream));
        if (!waited) (void)cudaDeviceSynchronize();
        if (asked && waited && ask(&call, marks[0], &seen->start_after) &&
            ask(&call, marks[1], &seen->end_after))
            good(&call, cudaEventElapsedTime(&seen->milliseconds, marks[0], marks[1]));
    }
    for (int m = 0; m < 2; m++)
        if (marks[m]) good(&call, cudaEventDestroy(marks[m]));
    return call.error;
}

/* Both are of the distances from the first time, which is one of them: no distance is larger than
 * the spread of the times, so nothing is lost where they are long and differ by little. */
cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;

    const double origin = milliseconds[0], n = (double)count;
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        double distance = milliseconds[i] - origin;
        sum += distance;
        squares += distance * distance;
    }
    double variance = (squares - sum * sum / n) / n;
    *mean = origin + sum / n;
    *deviation = variance > 0.0 ? sqrt(variance) : 0.0;
    return cudaSuccess;
}
