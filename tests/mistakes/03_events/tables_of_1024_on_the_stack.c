/* mistake: the events of 1024 kernels are on the stack, and those of more are written behind them
 * fails: Events.EveryKernelHasItsOwnPair
 * finds: as it comes, what stands behind the tables is overwritten
 * told: as it comes, what stands behind the tables is overwritten
 */
#include "lesson.h"
#include <math.h>
#include <stdlib.h>

static void note(cudaError_t *first, cudaError_t e)
{
    if (e && !*first) *first = e;
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    cudaEvent_t start = NULL, end = NULL;
    cudaError_t first = cudaEventCreate(&start);
    if (!first) first = cudaEventCreate(&end);
    if (!first) {
        first = cudaEventRecord(start, task->stream);
        if (!first) note(&first, kernel(task->array, task->length, task->stream));
        if (!first) note(&first, cudaEventRecord(end, task->stream));
        if (!first) {
            seen->start_before = cudaEventQuery(start);
            seen->end_before = cudaEventQuery(end);
            if (seen->start_before != cudaErrorNotReady) note(&first, seen->start_before);
            if (seen->end_before != cudaErrorNotReady) note(&first, seen->end_before);
        }
        note(&first, cudaStreamSynchronize(task->stream));
        if (!first) {
            note(&first, seen->start_after = cudaEventQuery(start));
            note(&first, seen->end_after = cudaEventQuery(end));
        }
        if (!first) note(&first, cudaEventElapsedTime(&seen->milliseconds, start, end));
    }
    if (start) note(&first, cudaEventDestroy(start));
    if (end) note(&first, cudaEventDestroy(end));
    return first;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    cudaError_t first = cudaSuccess;
    size_t begun = 0;
    if (count == 0) return cudaSuccess;
    cudaEvent_t start[1024] = {NULL}, end[1024] = {NULL};
    for (size_t i = 0; i < count && !first; i++) {
        note(&first, cudaEventCreate(&start[i]));
        if (!first) note(&first, cudaEventCreate(&end[i]));
    }
    for (size_t i = 0; i < count && !first; i++) {
        begun = i + 1;
        note(&first, cudaEventRecord(start[i], tasks[i].stream));
        if (!first) note(&first, kernel(tasks[i].array, tasks[i].length, tasks[i].stream));
        if (!first) note(&first, cudaEventRecord(end[i], tasks[i].stream));
    }
    for (size_t i = 0; i < begun; i++) note(&first, cudaStreamSynchronize(tasks[i].stream));
    for (size_t i = 0; i < count && !first; i++)
        note(&first, cudaEventElapsedTime(&milliseconds[i], start[i], end[i]));
    for (size_t i = 0; i < count; i++) {
        if (start[i]) note(&first, cudaEventDestroy(start[i]));
        if (end[i]) note(&first, cudaEventDestroy(end[i]));
    }
    return first;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    double m = 0.0, s = 0.0;
    if (count == 0) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) m += milliseconds[i];
    m /= (double)count;
    for (size_t i = 0; i < count; i++) s += (milliseconds[i] - m) * (milliseconds[i] - m);
    *mean = m;
    *deviation = sqrt(s / (double)count);
    return cudaSuccess;
}
