/* variant: events in blocks of 64 pairs
 * orders: 3
 */
#include "lesson.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define SLAB 64

struct slab {
    struct slab *next;
    size_t first, used; /* task of start[0]; pairs of which at least the start is made */
    cudaEvent_t start[SLAB], end[SLAB];
};

struct timing {
    struct slab *slabs, **last;
    cudaError_t error;
};

static bool did(struct timing *t, cudaError_t error)
{
    if (t->error == cudaSuccess) t->error = error;
    return error == cudaSuccess;
}

static void make(struct timing *t, size_t count)
{
    t->slabs = NULL;
    t->last = &t->slabs;
    t->error = cudaSuccess;
    for (size_t i = 0; i < count; i += SLAB) {
        struct slab *slab = calloc(1, sizeof *slab);
        if (!slab) {
            did(t, cudaErrorMemoryAllocation);
            return;
        }
        slab->first = i;
        *t->last = slab;
        t->last = &slab->next;
        while (slab->used < SLAB && i + slab->used < count) {
            size_t k = slab->used;
            if (!did(t, cudaEventCreate(&slab->start[k]))) return;
            slab->used++;
            if (!did(t, cudaEventCreate(&slab->end[k]))) return;
        }
    }
}

static void launch(struct timing *t, events_kernel kernel, const struct events_task tasks[])
{
    for (struct slab *s = t->slabs; s; s = s->next)
        for (size_t k = 0; k < s->used; k++) {
            const struct events_task *task = &tasks[s->first + k];
            if (!did(t,
                     cudaEventRecordWithFlags(s->start[k], task->stream, cudaEventRecordDefault)) ||
                !did(t, kernel(task->array, task->length, task->stream)) ||
                !did(t, cudaEventRecordWithFlags(s->end[k], task->stream, cudaEventRecordDefault)))
                return;
        }
}

static void wait_for_all(struct timing *t, const struct events_task tasks[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!did(t, cudaStreamSynchronize(tasks[i].stream))) (void)cudaDeviceSynchronize();
}

static void read_times(struct timing *t, float milliseconds[])
{
    for (struct slab *s = t->slabs; s; s = s->next)
        for (size_t k = 0; k < s->used; k++)
            if (!did(t, cudaEventElapsedTime(&milliseconds[s->first + k], s->start[k], s->end[k])))
                return;
}

static cudaError_t unmake(struct timing *t)
{
    while (t->slabs) {
        struct slab *slab = t->slabs;
        t->slabs = slab->next;
        for (size_t k = 0; k < slab->used; k++) {
            did(t, cudaEventDestroy(slab->start[k]));
            if (slab->end[k]) did(t, cudaEventDestroy(slab->end[k]));
        }
        free(slab);
    }
    return t->error;
}

cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[])
{
    struct timing t;
    make(&t, count);
    if (!t.error) {
        launch(&t, kernel, tasks);
        wait_for_all(&t, tasks, count);
    }
    if (!t.error) read_times(&t, milliseconds);
    return unmake(&t);
}

static void ask(struct timing *t, cudaError_t *start, cudaError_t *end)
{
    cudaError_t *answers[2] = {start, end};
    cudaEvent_t events[2] = {t->slabs->start[0], t->slabs->end[0]};
    for (int k = 0; k < 2 && !t->error; k++) {
        *answers[k] = cudaEventQuery(events[k]);
        if (*answers[k] != cudaErrorNotReady) did(t, *answers[k]);
    }
}

cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen)
{
    struct timing t;
    make(&t, 1);
    if (!t.error) {
        launch(&t, kernel, task);
        if (!t.error) ask(&t, &seen->start_before, &seen->end_before);
        wait_for_all(&t, task, 1);
    }
    if (!t.error) ask(&t, &seen->start_after, &seen->end_after);
    if (!t.error) read_times(&t, &seen->milliseconds);
    return unmake(&t);
}

struct moments {
    double count, mean, squares;
};

static struct moments moments_of(const float values[], size_t count)
{
    if (count == 1) return (struct moments){1.0, values[0], 0.0};

    struct moments a = moments_of(values, count / 2);
    struct moments b = moments_of(values + count / 2, count - count / 2);
    double n = a.count + b.count, apart = b.mean - a.mean;
    return (struct moments){
        .count = n,
        .mean = a.mean + apart * b.count / n,
        .squares = a.squares + b.squares + apart * apart * a.count * b.count / n,
    };
}

cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation)
{
    if (count == 0) return cudaErrorInvalidValue;
    struct moments all = moments_of(milliseconds, count);
    *mean = all.mean;
    *deviation = sqrt(all.squares / all.count);
    return cudaSuccess;
}
