/* Questions 2 and 4 of lesson 14: the time of devices_steps on 1, 2, 4 ... devices, for the same
 * grid. Call it with ROWS COLUMNS STEPS. Times are the first device's own. */
#include "lesson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 64 };

static int failed(const char *what, cudaError_t error)
{
    if (error != cudaSuccess) fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return error != cudaSuccess;
}

struct grid {
    int rows, columns, steps;
    int *input, *output;
    cudaEvent_t before, after;
};

static cudaError_t measure(const struct grid *grid, const int devices[], int count, float *ms)
{
    cudaError_t error = cudaEventRecord(grid->before, NULL);
    if (error == cudaSuccess)
        error = devices_steps(grid->input, grid->output, grid->rows, grid->columns, grid->steps,
                              devices, count);
    if (error == cudaSuccess) error = cudaEventRecord(grid->after, NULL);
    if (error == cudaSuccess) error = cudaEventSynchronize(grid->after);
    return error == cudaSuccess ? cudaEventElapsedTime(ms, grid->before, grid->after) : error;
}

int main(int count, char **arguments)
{
    struct grid grid = {.rows = count > 3 ? atoi(arguments[1]) : 0,
                        .columns = count > 3 ? atoi(arguments[2]) : 0,
                        .steps = count > 3 ? atoi(arguments[3]) : 0};
    const size_t bytes = (size_t)grid.rows * (size_t)grid.columns * sizeof(int);
    int devices[DEVICES], there = 0;
    float ms = 0.0f;

    if (bytes == 0) return 2;
    for (int i = 0; i < DEVICES; i++) devices[i] = i;
    if (failed("the devices", cudaGetDeviceCount(&there)) ||
        failed("the input", cudaMallocHost((void **)&grid.input, bytes)) ||
        failed("the output", cudaMallocHost((void **)&grid.output, bytes)) ||
        failed("an event", cudaEventCreate(&grid.before)) ||
        failed("an event", cudaEventCreate(&grid.after)))
        return 1;
    memset(grid.input, 0, bytes);
    if (there > DEVICES) there = DEVICES;
    if (failed("devices_link", devices_link(devices, there))) return 1;
    if (failed("devices_steps", measure(&grid, devices, there, &ms))) return 1; /* warms up */
    for (int n = 1; n <= there && n <= grid.rows; n *= 2) {
        if (failed("devices_steps", measure(&grid, devices, n, &ms))) return 1;
        printf("%d x %d, %d steps, %d devices  %.3f ms\n", grid.rows, grid.columns, grid.steps, n,
               (double)ms);
    }
    if (failed("the events", cudaEventDestroy(grid.before)) ||
        failed("the events", cudaEventDestroy(grid.after)) ||
        failed("the input", cudaFreeHost(grid.input)) ||
        failed("the output", cudaFreeHost(grid.output)))
        return 1;
    return 0;
}
