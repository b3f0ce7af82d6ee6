/* The drive of lesson 03: makes arrays and streams, lets the student's functions time kernels on
 * them, and reads both ends of every array afterwards. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/03_events/exchange.h"
#include "kernels/broken.h"
#include "kernels/multiply_divide.h"
#include "lesson.h"

#include <string.h>

/* State of the kernel that the student gets; global, because events_kernel has no user pointer. */
static struct {
    size_t launches, refused; /* the launch of this index (from 0) fails, */
    int untold;               /* 0: in a CUDA call; 1: the launcher itself returns an error */
    events_kernel kernel;
} given;

static cudaError_t given_kernel(float *array, size_t length, cudaStream_t stream)
{
    if (given.launches++ != given.refused) return given.kernel(array, length, stream);
    return given.untold ? (cudaError_t)EVENTS_UNTOLD_ERROR
                        : broken_configuration_launch(array, length, stream);
}

static void give(size_t refused, int untold)
{
    given.launches = 0;
    given.refused = refused;
    given.untold = untold;
    given.kernel = multiply_divide_launch;
}

/* Makes the runtime hold an earlier error that no call of the student's returned. */
static void leave_an_error(void)
{
    void *none;
    (void)cudaMalloc(&none, (size_t)1 << 60);
}

/* ---- arrays and streams -----------------------------------------------------------------------
 */

static size_t window_begin(const struct events_input_task *task, int window)
{
    return window == 0 ? 0 : task->length - EVENTS_WINDOW;
}

static cudaError_t task_open(const struct events_input_task *from, struct events_task *task)
{
    float values[EVENTS_WINDOW];
    task->length = from->length;
    cudaError_t error = cudaMalloc((void **)&task->array, from->length * sizeof(float));
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&task->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaMemset(task->array, 0, from->length * sizeof(float));
    for (int window = 0; window < 2 && error == cudaSuccess; window++) {
        const size_t begin = window_begin(from, window);
        for (size_t k = 0; k < EVENTS_WINDOW; k++) values[k] = values_at(from->seed, begin + k);
        error = cudaMemcpy(task->array + begin, values, sizeof values, cudaMemcpyHostToDevice);
    }
    return error;
}

static cudaError_t task_close(const struct events_input_task *from, struct events_task *task,
                              float windows[2][EVENTS_WINDOW])
{
    cudaError_t error = cudaSuccess;
    for (int window = 0; window < 2 && error == cudaSuccess; window++)
        error = cudaMemcpy(windows[window], task->array + window_begin(from, window),
                           sizeof windows[window], cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaStreamDestroy(task->stream);
    if (error == cudaSuccess) error = cudaFree(task->array);
    return error;
}

/* The first launch of a kernel loads it, which must not be part of a measured time. */
static cudaError_t warm_up(size_t length)
{
    float *array;
    cudaError_t error = cudaMalloc((void **)&array, length * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(array, 0, length * sizeof(float));
    if (error == cudaSuccess) error = multiply_divide_launch(array, length, NULL);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    return error == cudaSuccess ? cudaFree(array) : error;
}

/* Number of kernels queued before a timed one: milliseconds of work for the device. */
#define EVENTS_AHEAD 8

/* ---- calls ------------------------------------------------------------------------------------
 */

static void one(struct drive *drive, const char *phase, const struct events_task *task,
                struct events_output_one *out)
{
    struct events_observation seen;
    memset(&seen, DRIVE_POISON, sizeof seen);
    drive_begin(drive, DRIVE_INJECTIONS, 0);
    drive_begin(drive, phase, 0);
    out->code = events_time_one(given_kernel, task, &seen);
    drive_end(drive, phase, 0);
    drive_end(drive, DRIVE_INJECTIONS, 0);
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
    out->milliseconds = seen.milliseconds;
    out->start_before = (int32_t)seen.start_before;
    out->end_before = (int32_t)seen.end_before;
    out->start_after = (int32_t)seen.start_after;
    out->end_after = (int32_t)seen.end_after;
}

static void each(struct drive *drive, const char *phase, uint32_t index,
                 const struct events_task *tasks, uint32_t count, struct events_output_each *out)
{
    drive_begin(drive, DRIVE_INJECTIONS, 1);
    drive_begin(drive, phase, index);
    out->code = events_time_each(given_kernel, tasks, count, out->milliseconds);
    drive_end(drive, phase, index);
    drive_end(drive, DRIVE_INJECTIONS, 1);
    out->busy = 0;
    for (uint32_t i = 0; i < count; i++)
        out->busy += cudaStreamQuery(tasks[i].stream) != cudaSuccess;
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError(); /* the runtime may hold "not ready" or a refused launch as its last
                                 error */
}

static void statistics(struct drive *drive)
{
    const struct events_input *input = drive->input;
    struct events_output *output = drive->output;
    drive_begin(drive, EVENTS_PHASE_STATISTICS, 0);
    for (int i = 0; i < EVENTS_SETS; i++) {
        struct events_output_statistics *out = &output->sets[i];
        double mean, deviation;
        memset(&mean, DRIVE_POISON, sizeof mean);
        memset(&deviation, DRIVE_POISON, sizeof deviation);
        out->code =
            events_statistics(input->sets[i].numbers, input->sets[i].count, &mean, &deviation);
        out->mean = mean;
        out->deviation = deviation;
    }
    drive_end(drive, EVENTS_PHASE_STATISTICS, 0);
}

static void failures(struct drive *drive, const struct events_task *tasks,
                     const struct events_task *few)
{
    const struct events_input *input = drive->input;
    struct events_output *output = drive->output;
    double mean, deviation;

    give(0, 0);
    one(drive, EVENTS_PHASE_ONE_FAILS, &tasks[0], &output->one_failed);
    give(input->refused, 0);
    each(drive, EVENTS_PHASE_EACH_FAILS, 0, few, EVENTS_FEW, &output->each_failed);
    give(0, 1);
    one(drive, EVENTS_PHASE_ONE_UNTOLD, &tasks[0], &output->one_untold);
    give(input->refused, 1);
    each(drive, EVENTS_PHASE_EACH_UNTOLD, 0, few, EVENTS_FEW, &output->each_untold);
    output->each_of_none = events_time_each(given_kernel, few, 0, output->each[0].milliseconds);
    drive_begin(drive, EVENTS_PHASE_STATISTICS_OF_NONE, 0);
    output->statistics_of_none = events_statistics(input->sets[0].numbers, 0, &mean, &deviation);
    drive_end(drive, EVENTS_PHASE_STATISTICS_OF_NONE, 0);
    give(SIZE_MAX, 0);
    for (int i = 0; i < EVENTS_AHEAD; i++)
        (void)multiply_divide_launch(few->array, few->length, tasks[0].stream);
    one(drive, EVENTS_PHASE_ONE_BEHIND, &tasks[0], &output->one_behind);
    leave_an_error();
    one(drive, EVENTS_PHASE_ONE, &tasks[0], &output->one);
    leave_an_error();
    each(drive, EVENTS_PHASE_EACH, 0, few, EVENTS_FEW, &output->each[0]);
}

int drive_main(struct drive *drive)
{
    const struct events_input *input = drive->input;
    struct events_output *output = drive->output;
    const uint32_t count = 1 + EVENTS_FEW + input->many;
    const struct events_task *few = NULL, *many = NULL;
    static struct events_task tasks[EVENTS_TASKS];

    cudaError_t error = warm_up(input->tasks[1].length);
    for (uint32_t i = 0; i < count && error == cudaSuccess; i++)
        error = task_open(&input->tasks[i], &tasks[i]);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return drive_failed("the arrays could not be made", error);
    few = tasks + 1;
    many = few + EVENTS_FEW;

    give(SIZE_MAX, 0);
    if (strcmp(drive->run, "failures") == 0) {
        failures(drive, tasks, few);
    } else if (strcmp(drive->run, "injections") == 0) {
        one(drive, EVENTS_PHASE_ONE, &tasks[0], &output->one);
        each(drive, EVENTS_PHASE_EACH, 1, many, input->many, &output->each[1]);
    } else if (strcmp(drive->run, "slow") == 0) {
        /* Runs the kernel once, so that the software device knows its duration: it runs a kernel of
         * unknown duration early. */
        error = multiply_divide_slow_launch(NULL, 0, NULL);
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        given.kernel = multiply_divide_slow_launch;
        one(drive, EVENTS_PHASE_ONE, &tasks[0], &output->one);
        each(drive, EVENTS_PHASE_EACH, 0, few, EVENTS_FEW, &output->each[0]);
    } else {
        drive_begin(drive, EVENTS_PHASE_ALL, 0);
        one(drive, EVENTS_PHASE_ONE, &tasks[0], &output->one);
        each(drive, EVENTS_PHASE_EACH, 0, few, EVENTS_FEW, &output->each[0]);
        each(drive, EVENTS_PHASE_EACH, 1, many, input->many, &output->each[1]);
        drive_end(drive, EVENTS_PHASE_ALL, 0);
        statistics(drive);
    }

    for (uint32_t i = 0; i < count && error == cudaSuccess; i++)
        error = task_close(&input->tasks[i], &tasks[i], output->windows[i]);
    /* Where a wait was made to fail the device is lost, and nothing can be read. */
    if (strcmp(drive->run, "injections") == 0) return 0;
    return error == cudaSuccess ? 0 : drive_failed("the arrays could not be read", error);
}
