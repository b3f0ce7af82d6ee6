/* variant: a callback behind the end wakes the host
 * orders: 3
 */
#include "lesson.h"

#include <errno.h>
#include <math.h>
#include <semaphore.h>
#include <stdlib.h>

#define KEEP(call)                                                                                 \
    do {                                                                                           \
        cudaError_t kept_ = (call);                                                                \
        if (!error) error = kept_;                                                                 \
    } while (0)

struct ends {
    cudaEvent_t left, right;
};

static cudaError_t create(struct ends *e)
{
    cudaError_t error = cudaEventCreate(&e->left);
    if (!error) error = cudaEventCreate(&e->right);
    return error;
}

static cudaError_t destroy(struct ends *e)
{
    cudaError_t error = cudaSuccess;
    if (e->left) KEEP(cudaEventDestroy(e->left));
    if (e->right) KEEP(cudaEventDestroy(e->right));
    return error;
}

static cudaError_t launch_between(const struct ends *e, events_kernel kernel,
                                  const struct events_task *task)
{
    cudaError_t error = cudaEventRecord(e->left, task->stream);
    if (!error) error = kernel(task->array, task->length, task->stream);
    if (!error) error = cudaEventRecord(e->right, task->stream);
    return error;
}

struct bell {
    sem_t rung;
    cudaError_t status;
};

/* Comes with the device's error as well, if there is one. */
static void CUDART_CB ring(cudaStream_t stream, cudaError_t status, void *user)
{
    struct bell *bell = user;
    (void)stream;
    bell->status = status;
    sem_post(&bell->rung);
}

static cudaError_t sleep_until_passed(cudaStream_t stream)
{
    struct bell bell = {.status = cudaSuccess};
    if (sem_init(&bell.rung, 0, 0)) return cudaStreamSynchronize(stream);

    cudaError_t error = cudaStreamAddCallback(stream, ring, &bell, 0);
    if (!error) {
        while (sem_wait(&bell.rung) && errno == EINTR) continue;
        error = bell.status;
    }
    /* The stream is done but for the end of the callback itself. */
    KEEP(cudaStreamSynchronize(stream));
    sem_destroy(&bell.rung);
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
    struct ends e = {NULL, NULL};
    cudaError_t error = create(&e);
    if (!error) {
        error = launch_between(&e, kernel, task);
        if (!error) error = ask(e.left, &seen->start_before);
        if (!error) error = ask(e.right, &seen->end_before);
        if (!error) error = sleep_until_passed(task->stream);
        if (!error) error = ask(e.left, &seen->start_after);
        if (!error) error = ask(e.right, &seen->end_after);
        if (!error) error = cudaEventElapsedTime(&seen->milliseconds, e.left, e.right);
        if (error && cudaStreamSynchronize(task->stream)) (void)cudaDeviceSynchronize();
    }
    KEEP(destroy(&e));
    return error;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    if (count == 0) return cudaSuccess;
    cudaStream_t gate = NULL;
    struct ends *ends = calloc(count, sizeof *ends);
    if (!ends) return cudaErrorMemoryAllocation;

    cudaError_t error = cudaStreamCreateWithFlags(&gate, cudaStreamNonBlocking);
    for (size_t i = 0; i < count && !error; i++) error = create(&ends[i]);
    for (size_t i = 0; i < count && !error; i++)
        error = launch_between(&ends[i], kernel, &tasks[i]);
    for (size_t i = 0; i < count && !error; i++)
        error = cudaStreamWaitEvent(gate, ends[i].right, 0);
    if (!error) error = cudaStreamSynchronize(gate);
    for (size_t i = 0; i < count && !error; i++)
        error = cudaEventElapsedTime(&milliseconds[i], ends[i].left, ends[i].right);

    if (error) {
        for (size_t i = 0; i < count; i++)
            if (cudaStreamSynchronize(tasks[i].stream)) (void)cudaDeviceSynchronize();
        if (gate && cudaStreamSynchronize(gate)) (void)cudaDeviceSynchronize();
    }
    for (size_t i = 0; i < count; i++) KEEP(destroy(&ends[i]));
    if (gate) KEEP(cudaStreamDestroy(gate));
    free(ends);
    return error;
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;

    double average = 0.0, squares = 0.0;
    for (size_t i = count; i-- > 0;) average += milliseconds[i];
    average /= (double)count;
    for (size_t i = count; i-- > 0;)
        squares = fma(milliseconds[i] - average, milliseconds[i] - average, squares);

    *mean = average;
    *deviation = sqrt(squares / (double)count);
    return cudaSuccess;
}
