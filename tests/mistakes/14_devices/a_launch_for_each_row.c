/* mistake: each row is made by a launch of its own, one behind the other
 * fails: Devices.AsFastAsTheReference
 * finds: nothing, every row is there in time
 */
#include "lesson.h"

#include <stdlib.h>

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

/* ---- who reaches whom ----------------------------------------------------------------------- */

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

/* ---- bands ---------------------------------------------------------------------------------- */

/* cells[s % 2] holds the band after s steps: a row of the neighbour above, its own rows, a row of
 * the neighbour below. */
struct band {
    int device, first, rows; /* first: the grid's row that is the band's first */
    int *cells[2];
    cudaStream_t stream;
    cudaEvent_t made; /* the latest step's rows are there */
};

struct grid {
    struct band *bands;
    int count, rows, columns;
};

static size_t size_of(const struct grid *grid, int rows)
{
    return (size_t)rows * (size_t)grid->columns * sizeof(int);
}

static int *row_of(const struct grid *grid, int *cells, int row)
{
    return cells + (size_t)row * (size_t)grid->columns;
}

/* Streams, events and memory belong to the device that is current when they are made. */
static cudaError_t band_open(const struct grid *grid, struct band *band)
{
    cudaError_t error = cudaSetDevice(band->device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&band->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&band->made, cudaEventDisableTiming);
    for (int i = 0; i < 2 && error == cudaSuccess; i++) {
        void *cells = NULL;
        error = cudaMalloc(&cells, size_of(grid, band->rows + 2));
        band->cells[i] = cells;
    }
    return error;
}

/* The rows beside the band come along, so the first step needs nobody. At the grid's edges they are
 * 0, in both arrays, and stay so. */
static cudaError_t band_load(const struct grid *grid, const struct band *band, const int *input)
{
    const int above = band->first > 0, below = band->first + band->rows < grid->rows;
    cudaError_t error = cudaSuccess;

    for (int i = 0; i < 2 && error == cudaSuccess; i++) {
        if (!above) error = cudaMemsetAsync(band->cells[i], 0, size_of(grid, 1), band->stream);
        if (error == cudaSuccess && !below)
            error = cudaMemsetAsync(row_of(grid, band->cells[i], band->rows + 1), 0,
                                    size_of(grid, 1), band->stream);
    }
    if (error != cudaSuccess) return error;
    return cudaMemcpyAsync(row_of(grid, band->cells[0], 1 - above),
                           input + (size_t)(band->first - above) * (size_t)grid->columns,
                           size_of(grid, above + band->rows + below), cudaMemcpyHostToDevice,
                           band->stream);
}

static cudaError_t band_step(const struct grid *grid, const struct band *band, int step)
{
    cudaError_t error = cudaSetDevice(band->device);
    for (int row = 0; row < band->rows && error == cudaSuccess; row++)
        error = stencil_launch(row_of(grid, band->cells[step % 2], row),
                               row_of(grid, band->cells[(step + 1) % 2], row), 1, grid->columns,
                               band->stream);
    return error == cudaSuccess ? cudaEventRecord(band->made, band->stream) : error;
}

/* Fetches row `from` of the neighbour into row `to` of the band. The stream waits for the event as
 * it was recorded last, so the neighbour's step has to have been asked for already.
 *
 * Nothing else has to be waited for. The neighbour overwrites what is read here two steps later; it
 * fetches a row of ours in between, which we make behind this copy. */
static cudaError_t band_fetch(const struct grid *grid, const struct band *band, int to,
                              const struct band *neighbour, int from, int now)
{
    cudaError_t error = cudaStreamWaitEvent(band->stream, neighbour->made, 0);
    if (error != cudaSuccess) return error;
    return cudaMemcpyPeerAsync(row_of(grid, band->cells[now], to), band->device,
                               row_of(grid, neighbour->cells[now], from), neighbour->device,
                               size_of(grid, 1), band->stream);
}

static cudaError_t fetch_borders(const struct grid *grid, int i, int now)
{
    const struct band *band = &grid->bands[i];
    cudaError_t error = cudaSuccess;
    if (i > 0) error = band_fetch(grid, band, 0, band - 1, band[-1].rows, now);
    if (error == cudaSuccess && i + 1 < grid->count)
        error = band_fetch(grid, band, band->rows + 1, band + 1, 1, now);
    return error;
}

/* Step by step, not band by band: an event is waited for when it has been recorded. */
static cudaError_t run(const struct grid *grid, const int *input, int *output, int steps)
{
    cudaError_t error = cudaSuccess;

    for (int i = 0; i < grid->count && error == cudaSuccess; i++)
        error = band_open(grid, &grid->bands[i]);
    for (int i = 0; i < grid->count && error == cudaSuccess; i++)
        error = band_load(grid, &grid->bands[i], input);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < grid->count && error == cudaSuccess; i++)
            error = band_step(grid, &grid->bands[i], step);
        for (int i = 0; i < grid->count && error == cudaSuccess && step + 1 < steps; i++)
            error = fetch_borders(grid, i, (step + 1) % 2);
    }
    for (int i = 0; i < grid->count && error == cudaSuccess; i++) {
        const struct band *band = &grid->bands[i];
        error = cudaMemcpyAsync(output + (size_t)band->first * (size_t)grid->columns,
                                row_of(grid, band->cells[steps % 2], 1), size_of(grid, band->rows),
                                cudaMemcpyDeviceToHost, band->stream);
    }
    return error;
}

/* All are waited for before the first is released: a device reads its neighbours' memory. */
static cudaError_t close_all(const struct grid *grid)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < grid->count; i++)
        if (grid->bands[i].stream != NULL)
            keep(&error, cudaStreamSynchronize(grid->bands[i].stream));
    for (int i = 0; i < grid->count; i++) {
        struct band *band = &grid->bands[i];
        for (int k = 0; k < 2; k++)
            if (band->cells[k] != NULL) keep(&error, cudaFree(band->cells[k]));
        if (band->made != NULL) keep(&error, cudaEventDestroy(band->made));
        if (band->stream != NULL) keep(&error, cudaStreamDestroy(band->stream));
    }
    return error;
}

cudaError_t devices_steps(const int *input, int *output, int rows, int columns, int steps,
                          const int devices[], int count)
{
    struct grid grid = {.count = count, .rows = rows, .columns = columns};
    int before = 0;
    cudaError_t error = cudaGetDevice(&before);
    if (error != cudaSuccess) return error;
    grid.bands = calloc((size_t)count, sizeof *grid.bands);
    if (grid.bands == NULL) return cudaErrorMemoryAllocation;
    for (int i = 0, first = 0; i < count; first += grid.bands[i++].rows) {
        grid.bands[i].device = devices[i];
        grid.bands[i].first = first;
        grid.bands[i].rows = rows / count + (i < rows % count);
    }

    error = run(&grid, input, output, steps);
    keep(&error, close_all(&grid));
    keep(&error, cudaSetDevice(before));
    free(grid.bands);
    return error;
}
