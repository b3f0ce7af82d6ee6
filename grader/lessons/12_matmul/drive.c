/* The drive of lesson 12: puts matrices on the device, calls the three functions, and stores their
 * results. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/12_matmul/cublas.h"
#include "grader/lessons/12_matmul/exchange.h"
#include "lesson.h"

#include <stdbool.h>
#include <string.h>

/* One matrix, or all of a kind: page-locked on the host, and exactly as large on the device. */
struct place {
    void *host, *device;
    size_t bytes;
};

static bool place_make(struct place *place, size_t bytes)
{
    place->bytes = bytes;
    return bytes == 0 || (drive_succeeds(cudaMallocHost(&place->host, bytes), "cudaMallocHost") &&
                          drive_succeeds(cudaMalloc(&place->device, bytes), "cudaMalloc"));
}

static void place_free(struct place *place)
{
    cudaFree(place->device);
    cudaFreeHost(place->host);
}

struct places {
    struct place a, b, c;
};

/* On a GPU the result's memory is poisoned, because reads of uninitialised memory are not detected
 * there. */
static bool places_make(struct places *places, const struct drive *drive,
                        const struct matmul_call *call)
{
    const size_t element = call->step == MATMUL_BATCHED ? sizeof(int64_t) : sizeof(float);
    const size_t m = call->captured ? 1 : call->m, n = call->n, p = call->p,
                 each = call->count * element;

    if (!place_make(&places->a, m * n * each) || !place_make(&places->b, n * p * each) ||
        !place_make(&places->c, m * p * each))
        return false;
    if (drive->device == DRIVE_GPU && places->c.bytes > 0 &&
        !drive_succeeds(cudaMemset(places->c.device, DRIVE_POISON, places->c.bytes), "cudaMemset"))
        return false;
    return drive_succeeds(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static bool send(struct place *place, const void *from, cudaStream_t stream)
{
    if (place->bytes == 0) return true;
    memcpy(place->host, from, place->bytes);
    return drive_succeeds(
        cudaMemcpyAsync(place->device, place->host, place->bytes, cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
}

static cudaError_t student(const struct matmul_call *call, const struct places *places,
                           cudaStream_t stream)
{
    const int m = (int)call->m, n = (int)call->n, p = (int)call->p;
    const void *a = places->a.device, *b = places->b.device;
    void *c = places->c.device;

    switch (call->step) {
    case MATMUL_NAIVE:
        return matmul_naive(a, b, c, m, n, p, stream);
    case MATMUL_TILED:
        return matmul_tiled(a, b, c, m, n, p, stream);
    default:
        return matmul_batched(a, b, c, (int)call->count, m, n, p, stream);
    }
}

static void mark(struct drive *drive, const struct matmul_call *call, uint32_t index, bool again,
                 bool begins)
{
    if (again) {
        drive_remember(drive, index, begins);
        return;
    }
    const char *name = call->repeats > 0 ? MATMUL_PHASE_TIME : MATMUL_PHASE_CALL;
    const uint32_t number = call->repeats > 0 ? 0 : index;
    if (begins) {
        drive_begin(drive, DRIVE_INJECTIONS, index);
        drive_begin(drive, name, number);
    } else {
        drive_end(drive, name, number);
        drive_end(drive, DRIVE_INJECTIONS, index);
    }
}

/* Waits for the device if the call is timed, so that all its work is timed. After any other call
 * the drive must not wait, which would hide a missing wait.
 */
static void call_it(struct drive *drive, const struct matmul_call *call, uint32_t index,
                    const struct places *places, cudaStream_t stream, bool again,
                    struct matmul_answer *answer)
{
    cudaError_t error = cudaSuccess;
    mark(drive, call, index, again, true);
    const uint32_t times = call->repeats > 0 ? call->repeats : 1;
    for (uint32_t r = 0; r < times && error == cudaSuccess; r++)
        error = student(call, places, stream);
    answer->status = (int32_t)error;
    if (call->repeats > 0) answer->later = (int32_t)cudaDeviceSynchronize();
    mark(drive, call, index, again, false);
}

/* After a timed call on a GPU: runs the same product by cuBLAS, once the student's result is
 * stored. */
static void show_beside(struct drive *drive, const struct matmul_call *call,
                        const struct places *places, cudaStream_t stream)
{
    drive_begin(drive, MATMUL_PHASE_CUBLAS, 0);
    cublas_multiply(call, places->a.device, places->b.device, places->c.device, stream);
    cudaDeviceSynchronize();
    drive_end(drive, MATMUL_PHASE_CUBLAS, 0);
}

/* Has the launch captured, and thrown away: it is refused if its grid is none, and takes no time. A
 * call that a capture forbids is not what this asks for. */
static bool capture_call(struct drive *drive, uint32_t index, cudaStream_t stream,
                         struct matmul_answer *answer)
{
    const struct matmul_input *input = drive->input;
    const struct matmul_call *call = &input->calls[index];
    struct places places = {0};
    cudaGraph_t graph = NULL;

    const bool ok = places_make(&places, drive, call) &&
                    drive_succeeds(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                                   "cudaStreamBeginCapture");
    if (ok) {
        call_it(drive, call, index, &places, stream, false, answer);
        if (answer->status >= cudaErrorStreamCaptureUnsupported &&
            answer->status <= cudaErrorStreamCaptureWrongThread)
            answer->status = 0;
        if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
        (void)cudaGetLastError();
        answer->later = (int32_t)cudaDeviceSynchronize(); /* what ran in another stream */
    }
    place_free(&places.a);
    place_free(&places.b);
    place_free(&places.c);
    return ok;
}

/* The matrices are still being copied when the function is called, unless the call is timed. */
static bool make_call(struct drive *drive, uint32_t index, cudaStream_t stream, bool again,
                      struct matmul_answer *answer)
{
    const struct matmul_input *input = drive->input;
    struct matmul_output *output = drive->output;
    const struct matmul_call *call = &input->calls[index];
    struct places places = {0};

    bool ok = places_make(&places, drive, call) &&
              send(&places.a, input->bytes + call->a, stream) &&
              send(&places.b, input->bytes + call->b, stream);
    if (ok && call->repeats > 0)
        ok = drive_succeeds(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (ok) {
        call_it(drive, call, index, &places, stream, again, answer);
        if (answer->status == 0 && answer->later == 0 && places.c.bytes > 0) {
            cudaMemcpyAsync(places.c.host, places.c.device, places.c.bytes, cudaMemcpyDeviceToHost,
                            stream);
            answer->later = (int32_t)cudaStreamSynchronize(stream);
        }
        const cudaError_t elsewhere = cudaDeviceSynchronize(); /* a fault in another stream */
        if (answer->later == 0) answer->later = (int32_t)elsewhere;
        if (answer->status == 0 && answer->later == 0 && places.c.bytes > 0 && !again)
            memcpy(output->bytes + call->c, places.c.host, places.c.bytes);
        if (drive->device == DRIVE_GPU && call->repeats > 0 && answer->later == 0)
            show_beside(drive, call, &places, stream);
    }
    cudaDeviceSynchronize();
    place_free(&places.a);
    place_free(&places.b);
    place_free(&places.c);
    return ok;
}

/* A fault in one call makes the context, and with it the later calls, unusable. */
int drive_main(struct drive *drive)
{
    const struct matmul_input *input = drive->input;
    struct matmul_output *output = drive->output;
    cudaStream_t stream = NULL;
    bool broken = false;

    if (!drive_succeeds(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"))
        return 1;
    for (uint32_t i = 0; i < input->call_count; i++) {
        struct matmul_answer *answer = &output->answers[i], again = {0};
        memset(answer, 0, sizeof *answer);
        answer->lost = broken;
        if (broken) continue;
        if (!(input->calls[i].captured ? capture_call(drive, i, stream, answer)
                                       : make_call(drive, i, stream, false, answer)))
            return 1;
        if (input->calls[i].again && answer->status == 0 && answer->later == 0) {
            if (!make_call(drive, i, stream, true, &again)) return 1;
            answer->remembered = again.status;
            answer->later = again.later;
        }
        broken = answer->later != 0;
    }
    cudaStreamDestroy(stream);
    return 0;
}
