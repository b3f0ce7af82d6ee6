/* The drive of lesson 01: calls device_sync_transform once per case, from page-locked memory and
 * with a stream that is ordered against nothing, and takes what is in `output` in the moment in
 * which the function returns. */
#include "grader/drive.h"
#include "grader/lessons/01_device_sync/exchange.h"
#include "kernels/broken.h"
#include "kernels/multiply_divide.h"
#include "lesson.h"

#include <stdio.h>
#include <string.h>

static const device_sync_kernel kernels[] = {
    [DEVICE_SYNC_GOOD] = multiply_divide_launch,
    [DEVICE_SYNC_TOO_LONG] = multiply_divide_launch,
    [DEVICE_SYNC_REFUSED] = broken_configuration_launch,
    [DEVICE_SYNC_FAULTY] = broken_address_launch,
};

static int failed(const char *what, cudaError_t error)
{
    fprintf(stderr, "drive: %s: %s\n", what, cudaGetErrorString(error));
    return 1;
}

int drive_main(struct drive *drive)
{
    const struct device_sync_input *input = drive->input;
    struct device_sync_output *output = drive->output;
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error != cudaSuccess) return failed("the stream could not be made", error);

    for (uint32_t i = 0; i < input->count; i++) {
        const struct device_sync_case *c = &input->cases[i];
        struct device_sync_answer *answer = &output->answers[i];
        const size_t bytes = c->length * sizeof(float);
        const size_t length = c->way == DEVICE_SYNC_TOO_LONG ? DEVICE_SYNC_TOO_MANY : c->length;
        float *in = NULL, *out = NULL;

        error = cudaMallocHost((void **)&in, bytes + 1);
        if (error == cudaSuccess) error = cudaMallocHost((void **)&out, bytes + 1);
        if (error != cudaSuccess) return failed("no page-locked memory", error);
        memcpy(in, input->values + c->offset, bytes);
        memset(out, DRIVE_POISON, bytes);

        drive_begin(drive, DEVICE_SYNC_PHASE, i);
        answer->code =
            device_sync_transform(kernels[c->way], in, out, length, stream, &answer->sum);
        drive_end(drive, DEVICE_SYNC_PHASE, i);

        /* Before anything waits: what has not arrived by now has not arrived. */
        memcpy(output->values + c->offset, out, bytes);
        memset(in, DRIVE_POISON, bytes);

        answer->later = cudaDeviceSynchronize();
        if (c->way == DEVICE_SYNC_FAULTY)
            return 0; /* the context is lost; nothing can be released any more */
        (void)
            cudaGetLastError(); /* a refused launch may be remembered; the next case starts clean */
        error = cudaFreeHost(in);
        if (error == cudaSuccess) error = cudaFreeHost(out);
        if (error != cudaSuccess) return failed("page-locked memory could not be released", error);
    }
    return cudaStreamDestroy(stream) == cudaSuccess ? 0 : 1;
}
