/* variant: two streams for each device: the border rows are made and fetched beside the rest */
#include "lesson.h"

#include <stdlib.h>

/* cells[s % 2] holds the band after s steps, between a row of each neighbour. */
struct band {
    int device, first, rows;
    int *cells[2];
    cudaStream_t inner, border;
    cudaEvent_t inner_made, border_made;
};

struct grid {
    struct band *bands;
    int count, rows, columns;
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

static size_t size_of(const struct grid *grid, int rows)
{
    return (size_t)rows * (size_t)grid->columns * sizeof(int);
}

static int *row_of(const struct grid *grid, const struct band *band, int which, int row)
{
    return band->cells[which] + (size_t)row * (size_t)grid->columns;
}

static cudaError_t band_open(const struct grid *grid, struct band *band)
{
    int least = 0, greatest = 0;
    cudaError_t error = cudaSetDevice(band->device);
    if (!error) error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (!error)
        error = cudaStreamCreateWithPriority(&band->border, cudaStreamNonBlocking, greatest);
    if (!error) error = cudaStreamCreateWithPriority(&band->inner, cudaStreamNonBlocking, least);
    if (!error) error = cudaEventCreateWithFlags(&band->inner_made, cudaEventDisableTiming);
    if (!error) error = cudaEventCreateWithFlags(&band->border_made, cudaEventDisableTiming);
    for (int i = 0; i < 2 && !error; i++) {
        error = cudaMalloc((void **)&band->cells[i], size_of(grid, band->rows + 2));
        if (!error)
            error = cudaMemsetAsync(band->cells[i], 0, size_of(grid, band->rows + 2), band->border);
    }
    return error;
}

static cudaError_t band_load(const struct grid *grid, const struct band *band, const int *input)
{
    const int above = band->first > 0, below = band->first + band->rows < grid->rows;
    cudaError_t error = cudaMemcpyAsync(
        row_of(grid, band, 0, 1 - above),
        input + (size_t)(band->first - above) * (size_t)grid->columns,
        size_of(grid, above + band->rows + below), cudaMemcpyHostToDevice, band->border);
    if (!error) error = cudaEventRecord(band->border_made, band->border);
    return error;
}

static cudaError_t make_rows(const struct grid *grid, const struct band *band, int step, int first,
                             int rows, cudaStream_t stream)
{
    return stencil_launch(row_of(grid, band, step % 2, first),
                          row_of(grid, band, (step + 1) % 2, first), rows, grid->columns, stream);
}

/* The first and the last row in one stream, those between in the other. Each of the two needs what
 * both made before: the rows beside its own, and nobody must read any more what it overwrites. */
static cudaError_t band_step(const struct grid *grid, const struct band *band, int step)
{
    cudaError_t error = cudaSetDevice(band->device);
    if (!error) error = cudaStreamWaitEvent(band->inner, band->border_made, 0);
    if (!error && step > 0) error = cudaStreamWaitEvent(band->border, band->inner_made, 0);
    if (!error) error = make_rows(grid, band, step, 0, 1, band->border);
    if (!error && band->rows > 1)
        error = make_rows(grid, band, step, band->rows - 1, 1, band->border);
    if (!error) error = cudaEventRecord(band->border_made, band->border);
    if (!error && band->rows > 2)
        error = make_rows(grid, band, step, 1, band->rows - 2, band->inner);
    if (!error) error = cudaEventRecord(band->inner_made, band->inner);
    return error;
}

static cudaError_t fetch(const struct grid *grid, const struct band *band, int to,
                         const struct band *neighbour, int from, int now)
{
    cudaError_t error = cudaStreamWaitEvent(band->border, neighbour->border_made, 0);
    if (!error)
        error = cudaMemcpyPeerAsync(row_of(grid, band, now, to), band->device,
                                    row_of(grid, neighbour, now, from), neighbour->device,
                                    size_of(grid, 1), band->border);
    return error;
}

static cudaError_t fetch_borders(const struct grid *grid, int i, int now)
{
    const struct band *band = &grid->bands[i];
    cudaError_t error = cudaSuccess;
    if (i > 0) error = fetch(grid, band, 0, band - 1, band[-1].rows, now);
    if (!error && i + 1 < grid->count) error = fetch(grid, band, band->rows + 1, band + 1, 1, now);
    return error;
}

static cudaError_t run(const struct grid *grid, const int *input, int *output, int steps)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < grid->count && !error; i++) error = band_open(grid, &grid->bands[i]);
    for (int i = 0; i < grid->count && !error; i++) error = band_load(grid, &grid->bands[i], input);
    for (int step = 0; step < steps && !error; step++) {
        for (int i = 0; i < grid->count && !error; i++)
            error = band_step(grid, &grid->bands[i], step);
        for (int i = 0; i < grid->count && !error && step + 1 < steps; i++)
            error = fetch_borders(grid, i, (step + 1) % 2);
    }
    for (int i = 0; i < grid->count && !error; i++) {
        const struct band *band = &grid->bands[i];
        if (steps > 0) error = cudaStreamWaitEvent(band->border, band->inner_made, 0);
        if (!error)
            error = cudaMemcpyAsync(output + (size_t)band->first * (size_t)grid->columns,
                                    row_of(grid, band, steps % 2, 1), size_of(grid, band->rows),
                                    cudaMemcpyDeviceToHost, band->border);
    }
    return error;
}

static void close_all(const struct grid *grid, cudaError_t *error)
{
    for (int i = 0; i < grid->count; i++) {
        if (grid->bands[i].inner) keep(error, cudaStreamSynchronize(grid->bands[i].inner));
        if (grid->bands[i].border) keep(error, cudaStreamSynchronize(grid->bands[i].border));
    }
    for (int i = 0; i < grid->count; i++) {
        const struct band *band = &grid->bands[i];
        if (band->cells[0]) keep(error, cudaFree(band->cells[0]));
        if (band->cells[1]) keep(error, cudaFree(band->cells[1]));
        if (band->inner_made) keep(error, cudaEventDestroy(band->inner_made));
        if (band->border_made) keep(error, cudaEventDestroy(band->border_made));
        if (band->inner) keep(error, cudaStreamDestroy(band->inner));
        if (band->border) keep(error, cudaStreamDestroy(band->border));
    }
}

cudaError_t devices_steps(const int *input, int *output, int rows, int columns, int steps,
                          const int devices[], int count)
{
    struct grid grid = {.count = count, .rows = rows, .columns = columns};
    int before = 0;
    cudaError_t error = cudaGetDevice(&before);
    if (error) return error;
    grid.bands = calloc((size_t)count, sizeof *grid.bands);
    if (!grid.bands) return cudaErrorMemoryAllocation;
    for (int i = 0, first = 0; i < count; i++) {
        grid.bands[i] = (struct band){
            .device = devices[i], .first = first, .rows = rows / count + (i < rows % count)};
        first += grid.bands[i].rows;
    }
    error = run(&grid, input, output, steps);
    close_all(&grid, &error);
    keep(&error, cudaSetDevice(before));
    free(grid.bands);
    return error;
}
