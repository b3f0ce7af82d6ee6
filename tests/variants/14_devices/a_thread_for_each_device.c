/* variant: a host thread for each device; they meet twice in each step */
#include "lesson.h"

#include <pthread.h>
#include <stdlib.h>

struct work {
    const int *input;
    int *output;
    int rows, columns, steps, count;
    struct band *bands;
    pthread_barrier_t all;
    pthread_mutex_t lock;
    cudaError_t error; /* the first; once there is one, nobody begins anything new */
};

struct band {
    struct work *work;
    int index, device, first, rows;
    int *cells[2];
    cudaStream_t stream;
    cudaEvent_t made;
    pthread_t thread;
    int started;
};

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

static cudaError_t link_one_way(int device, int peer)
{
    int can = 0;
    cudaError_t error = cudaDeviceCanAccessPeer(&can, device, peer);
    if (error != cudaSuccess || !can) return error;
    /* It is the current device that gets access. */
    error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error != cudaErrorPeerAccessAlreadyEnabled) return error;
    (void)cudaGetLastError(); /* the runtime remembers it, for the next who asks */
    return cudaSuccess;
}

cudaError_t devices_link(const int devices[], int count)
{
    int before = 0;
    cudaError_t error = cudaGetDevice(&before);
    if (error != cudaSuccess) return error;

    for (int i = 0; i + 1 < count && error == cudaSuccess; i++) {
        error = link_one_way(devices[i], devices[i + 1]);
        if (error == cudaSuccess) error = link_one_way(devices[i + 1], devices[i]);
    }
    keep(&error, cudaSetDevice(before));
    return error;
}

static void note(struct work *work, cudaError_t error)
{
    pthread_mutex_lock(&work->lock);
    keep(&work->error, error);
    pthread_mutex_unlock(&work->lock);
}

static int goes_on(struct work *work)
{
    pthread_mutex_lock(&work->lock);
    const int fine = work->error == cudaSuccess;
    pthread_mutex_unlock(&work->lock);
    return fine;
}

/* All threads come here, equally often, and agree whether they go on. */
static int together(struct work *work)
{
    pthread_barrier_wait(&work->all);
    const int fine = goes_on(work);
    pthread_barrier_wait(&work->all);
    return fine;
}

static size_t size_of(const struct work *work, int rows)
{
    return (size_t)rows * (size_t)work->columns * sizeof(int);
}

static int *row_of(const struct band *band, int which, int row)
{
    return band->cells[which] + (size_t)row * (size_t)band->work->columns;
}

static cudaError_t band_open(struct band *band)
{
    const struct work *work = band->work;
    const int above = band->first > 0, below = band->first + band->rows < work->rows;
    cudaError_t error = cudaSetDevice(band->device); /* of this thread */
    if (!error) error = cudaStreamCreateWithFlags(&band->stream, cudaStreamNonBlocking);
    if (!error) error = cudaEventCreateWithFlags(&band->made, cudaEventDisableTiming);
    for (int i = 0; i < 2 && !error; i++) {
        error = cudaMalloc((void **)&band->cells[i], size_of(work, band->rows + 2));
        if (!error)
            error = cudaMemsetAsync(band->cells[i], 0, size_of(work, band->rows + 2), band->stream);
    }
    if (!error)
        error = cudaMemcpyAsync(row_of(band, 0, 1 - above),
                                work->input + (size_t)(band->first - above) * (size_t)work->columns,
                                size_of(work, above + band->rows + below), cudaMemcpyHostToDevice,
                                band->stream);
    return error;
}

static cudaError_t fetch(const struct band *band, int to, const struct band *from, int row, int now)
{
    cudaError_t error = cudaStreamWaitEvent(band->stream, from->made, 0);
    if (!error)
        error = cudaMemcpyPeerAsync(row_of(band, now, to), band->device, row_of(from, now, row),
                                    from->device, size_of(band->work, 1), band->stream);
    return error;
}

/* Two meetings in a step: the neighbours have recorded this step; and both have waited for the
 * record before it is made anew. */
static void band_steps(struct band *band)
{
    struct work *work = band->work;
    for (int step = 0; step < work->steps; step++) {
        const int now = (step + 1) % 2;
        cudaError_t error = stencil_launch(band->cells[step % 2], band->cells[now], band->rows,
                                           work->columns, band->stream);
        if (!error) error = cudaEventRecord(band->made, band->stream);
        note(work, error);
        if (!together(work)) return;
        if (step + 1 == work->steps) return;
        if (band->index > 0) error = fetch(band, 0, band - 1, band[-1].rows, now);
        if (!error && band->index + 1 < work->count)
            error = fetch(band, band->rows + 1, band + 1, 1, now);
        note(work, error);
        if (!together(work)) return;
    }
}

static void *thread_main(void *argument)
{
    struct band *band = argument;
    struct work *work = band->work;
    note(work, band_open(band));
    if (together(work)) band_steps(band);
    if (goes_on(work))
        note(work, cudaMemcpyAsync(work->output + (size_t)band->first * (size_t)work->columns,
                                   row_of(band, work->steps % 2, 1), size_of(work, band->rows),
                                   cudaMemcpyDeviceToHost, band->stream));
    if (band->stream) note(work, cudaStreamSynchronize(band->stream));
    pthread_barrier_wait(&work->all); /* a neighbour may still read this memory */
    for (int i = 0; i < 2; i++)
        if (band->cells[i]) note(work, cudaFree(band->cells[i]));
    if (band->made) note(work, cudaEventDestroy(band->made));
    if (band->stream) note(work, cudaStreamDestroy(band->stream));
    return NULL;
}

/* A thread that cannot be started has its work done by nobody, and the others would wait for it:
 * each start waits at a gate of its own until all have begun. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t open;
    int state; /* 0: closed; 1: go; -1: go home */
};

struct start {
    struct gate *gate;
    struct band *band;
};

static void *wait_at_the_gate(void *argument)
{
    const struct start start = *(struct start *)argument;
    pthread_mutex_lock(&start.gate->lock);
    while (start.gate->state == 0) pthread_cond_wait(&start.gate->open, &start.gate->lock);
    const int go = start.gate->state > 0;
    pthread_mutex_unlock(&start.gate->lock);
    return go ? thread_main(start.band) : NULL;
}

static cudaError_t run(struct work *work, struct start *starts)
{
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    int started = 0;
    for (int i = 0; i < work->count; i++) {
        starts[i] = (struct start){&gate, &work->bands[i]};
        work->bands[i].started =
            !pthread_create(&work->bands[i].thread, NULL, wait_at_the_gate, &starts[i]);
        started += work->bands[i].started;
    }
    pthread_mutex_lock(&gate.lock);
    gate.state = started == work->count ? 1 : -1;
    pthread_cond_broadcast(&gate.open);
    pthread_mutex_unlock(&gate.lock);
    for (int i = 0; i < work->count; i++)
        if (work->bands[i].started) pthread_join(work->bands[i].thread, NULL);
    return started == work->count ? work->error : cudaErrorOperatingSystem;
}

cudaError_t devices_steps(const int *input, int *output, int rows, int columns, int steps,
                          const int devices[], int count)
{
    struct work work = {.input = input,
                        .output = output,
                        .rows = rows,
                        .columns = columns,
                        .steps = steps,
                        .count = count,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    cudaError_t error = cudaErrorMemoryAllocation;
    struct start *starts = calloc((size_t)count, sizeof *starts);
    work.bands = calloc((size_t)count, sizeof *work.bands);
    if (starts && work.bands && !pthread_barrier_init(&work.all, NULL, (unsigned)count)) {
        for (int i = 0, first = 0; i < count; i++) {
            work.bands[i] = (struct band){.work = &work,
                                          .index = i,
                                          .device = devices[i],
                                          .first = first,
                                          .rows = rows / count + (i < rows % count)};
            first += work.bands[i].rows;
        }
        error = run(&work, starts);
        pthread_barrier_destroy(&work.all);
    }
    free(work.bands);
    free(starts);
    return error;
}
