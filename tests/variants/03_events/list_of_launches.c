/* variant: a list of the launches that were made
 * orders: 3
 */
#include "lesson.h"

#include <math.h>
#include <stdlib.h>

struct timed {
    struct timed *next;
    const struct events_task *task;
    cudaEvent_t before, behind;
    float *milliseconds;
};

/* Puts a new node at the end of the list; also when it fails what has been made is in the list. */
static cudaError_t append(struct timed ***tail, const struct events_task *task, float *milliseconds)
{
    struct timed *node = calloc(1, sizeof *node);
    if (!node) return cudaErrorMemoryAllocation;
    node->task = task;
    node->milliseconds = milliseconds;
    **tail = node;
    *tail = &node->next;

    cudaError_t error = cudaEventCreate(&node->before);
    return error ? error : cudaEventCreate(&node->behind);
}

static cudaError_t launch(const struct timed *node, events_kernel kernel)
{
    cudaStream_t stream = node->task->stream;
    cudaError_t error = cudaEventRecord(node->before, stream);
    if (!error) error = kernel(node->task->array, node->task->length, stream);
    if (!error) error = cudaEventRecord(node->behind, stream);
    return error;
}

static cudaError_t wait_for_streams(const struct timed *list)
{
    cudaError_t error = cudaSuccess;
    for (; list; list = list->next) {
        cudaError_t waited = cudaStreamSynchronize(list->task->stream);
        if (waited) (void)cudaDeviceSynchronize();
        if (!error) error = waited;
    }
    return error;
}

static cudaError_t take_apart(struct timed *list)
{
    cudaError_t error = cudaSuccess;
    while (list) {
        struct timed *node = list;
        list = node->next;
        cudaError_t before = node->before ? cudaEventDestroy(node->before) : cudaSuccess;
        cudaError_t behind = node->behind ? cudaEventDestroy(node->behind) : cudaSuccess;
        if (!error) error = before;
        if (!error) error = behind;
        free(node);
    }
    return error;
}

static cudaError_t ask(cudaEvent_t event, cudaError_t *answer)
{
    switch (*answer = cudaEventQuery(event)) {
    case cudaErrorNotReady:
        return cudaSuccess;
    default:
        return *answer;
    }
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    struct timed *only = NULL, **tail = &only;
    cudaError_t error = append(&tail, task, &seen->milliseconds), late;
    if (!error) {
        error = launch(only, kernel);
        if (!error) error = ask(only->before, &seen->start_before);
        if (!error) error = ask(only->behind, &seen->end_before);
        late = wait_for_streams(only);
        if (!error) error = late;
        if (!error) error = ask(only->before, &seen->start_after);
        if (!error) error = ask(only->behind, &seen->end_after);
        if (!error) error = cudaEventElapsedTime(only->milliseconds, only->before, only->behind);
    }
    late = take_apart(only);
    return error ? error : late;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    struct timed *list = NULL, **tail = &list;
    cudaError_t error = cudaSuccess, late;

    for (size_t i = 0; i < count && !error; i++) error = append(&tail, &tasks[i], &milliseconds[i]);
    if (!error) {
        for (struct timed *node = list; node && !error; node = node->next)
            error = launch(node, kernel);
        late = wait_for_streams(list);
        if (!error) error = late;
        for (struct timed *node = list; node && !error; node = node->next)
            error = cudaEventElapsedTime(node->milliseconds, node->before, node->behind);
    }
    late = take_apart(list);
    return error ? error : late;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;

    long double sum = 0.0L, squares = 0.0L;
    for (size_t i = 0; i < count; i++) sum += milliseconds[i];
    const long double average = sum / count;
    for (size_t i = 0; i < count; i++)
        squares += (milliseconds[i] - average) * (milliseconds[i] - average);

    *mean = (double)average;
    *deviation = sqrt((double)(squares / count));
    return cudaSuccess;
}
