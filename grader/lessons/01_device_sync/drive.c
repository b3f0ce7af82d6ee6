/* The drive of lesson 01: calls device_sync_transform once per case, with page-locked memory and a
 * non-blocking stream, and copies the contents of `output` at the moment at which the function
 * returns. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/01_device_sync/exchange.h"
#include "kernels/broken.h"
#include "kernels/multiply_divide.h"
#include "lesson.h"

#include <string.h>

/* The launcher for cases whose allocation must fail, so it should never be called. */
static cudaError_t none_launch(float *array, size_t length, cudaStream_t stream)
{
    (void)array, (void)length, (void)stream;
    return cudaErrorInvalidValue;
}

static cudaError_t untold_launch(float *array, size_t length, cudaStream_t stream)
{
    (void)array, (void)length, (void)stream;
    return (cudaError_t)DEVICE_SYNC_UNTOLD_ERROR;
}

static const device_sync_kernel kernels[] = {
    [DEVICE_SYNC_GOOD] = multiply_divide_launch,
    [DEVICE_SYNC_STALE] = multiply_divide_launch,
    [DEVICE_SYNC_SLOW] = multiply_divide_slow_launch,
    [DEVICE_SYNC_TOO_LONG] = none_launch,
    [DEVICE_SYNC_WRAPS] = none_launch,
    [DEVICE_SYNC_REFUSED] = broken_configuration_launch,
    [DEVICE_SYNC_UNTOLD] = untold_launch,
    [DEVICE_SYNC_FAULTY] = broken_address_launch,
};

/* A case's page-locked memory. */
struct buffers {
    float *in, *out;
};

/* Calls the student's function for case i and stores its results. Returns the error of the drive's
 * own wait: after an error the context is lost. */
static cudaError_t call(struct drive *drive, uint32_t i, const struct buffers *buffers,
                        cudaStream_t stream)
{
    const struct device_sync_input *input = drive->input;
    struct device_sync_output *output = drive->output;
    const struct device_sync_case *c = &input->cases[i];
    struct device_sync_answer *answer = &output->answers[i];
    const size_t length = c->length + device_sync_beyond(c->way);
    double sum;
    void *none;

    if (c->way == DEVICE_SYNC_STALE) (void)cudaMalloc(&none, DEVICE_SYNC_TOO_MANY);

    memset(&sum, DRIVE_POISON, sizeof sum);
    drive_begin(drive, DRIVE_INJECTIONS, i);
    drive_begin(drive, DEVICE_SYNC_PHASE, i);
    answer->code =
        device_sync_transform(kernels[c->way], buffers->in, buffers->out, length, stream, &sum);
    drive_end(drive, DEVICE_SYNC_PHASE, i);
    drive_end(drive, DRIVE_INJECTIONS, i);
    answer->sum = sum;

    /* Before anything waits: a result that has not arrived by now is late, and input that the
     * function no longer needs may be overwritten. */
    memcpy(output->values + c->offset, buffers->out, c->length * sizeof(float));
    memset(buffers->in, DRIVE_POISON, c->length * sizeof(float));
    answer->later = cudaDeviceSynchronize();
    if (answer->later == cudaSuccess) (void)cudaGetLastError(); /* the next case starts clean */
    return answer->later;
}

int drive_main(struct drive *drive)
{
    const struct device_sync_input *input = drive->input;
    struct device_sync_output *output = drive->output;
    struct buffers buffers[DEVICE_SYNC_CASES] = {{NULL, NULL}};
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error != cudaSuccess) return drive_failed("the stream could not be made", error);

    for (uint32_t i = 0; i < input->count; i++) {
        const size_t bytes = input->cases[i].length * sizeof(float);
        error = cudaMallocHost((void **)&buffers[i].in, bytes + sizeof(float));
        if (error == cudaSuccess)
            error = cudaMallocHost((void **)&buffers[i].out, bytes + sizeof(float));
        if (error != cudaSuccess) return drive_failed("no page-locked memory", error);
        memcpy(buffers[i].in, input->values + input->cases[i].offset, bytes);
        memset(buffers[i].out, DRIVE_POISON, bytes);
    }

    /* The first launch of a kernel loads it, which must not be part of a measured time. The
     * software device also learns the kernel's duration here: it runs a kernel of unknown duration
     * early. */
    error = multiply_divide_launch(NULL, 0, stream);
    if (error == cudaSuccess && input->cases[0].way == DEVICE_SYNC_SLOW)
        error = multiply_divide_slow_launch(NULL, 0, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) return drive_failed("the kernel could not be launched", error);

    drive_begin(drive, DEVICE_SYNC_ALL_PHASE, 0);
    output->reached = 0;
    while (output->reached < input->count && error == cudaSuccess) {
        error = call(drive, output->reached, &buffers[output->reached], stream);
        output->reached++;
    }
    drive_end(drive, DEVICE_SYNC_ALL_PHASE, 0);

    if (error != cudaSuccess) return 0; /* the context is lost: nothing can be released */
    for (uint32_t i = 0; i < input->count; i++) {
        error = cudaFreeHost(buffers[i].in);
        if (error == cudaSuccess) error = cudaFreeHost(buffers[i].out);
        if (error != cudaSuccess) return drive_failed("page-locked memory was not released", error);
    }
    error = cudaStreamDestroy(stream);
    return error == cudaSuccess ? 0 : drive_failed("the stream was not destroyed", error);
}
