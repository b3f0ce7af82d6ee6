/* The drive of lesson 11: passes the four functions their arguments, in page-locked and in pageable
 * memory, and copies the results at the moment at which they return. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/11_structs/exchange.h"
#include "grader/lessons/11_structs/kernels.h"
#include "lesson.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two copies of the input's bytes that the student's functions may change. */
struct images {
    unsigned char *pageable, *pinned;
};

static bool images_make(struct images *images, const struct structs_input *input)
{
    images->pageable = malloc(input->size + 1);
    if (images->pageable == NULL) {
        fprintf(stderr, "drive: no memory\n");
        return false;
    }
    if (!drive_succeeds(cudaMallocHost((void **)&images->pinned, input->size + 1),
                        "cudaMallocHost"))
        return false;
    memcpy(images->pageable, input->bytes, input->size);
    memcpy(images->pinned, input->bytes, input->size);
    return true;
}

/* One call of a run. */
struct call {
    struct drive *drive;
    const struct structs_case *given;
    struct structs_answer *answer;
    uint32_t index;
    struct images images;
    cudaStream_t stream;
    bool again; /* made once more: DRIVE_REMEMBERS */
};

/* Stores a result; that of a call that is made again is dropped. */
static void keep(const struct call *call, uint64_t at, const void *result, size_t bytes)
{
    struct structs_output *output = call->drive->output;
    if (!call->again) memcpy(output->bytes + at, result, bytes);
}

static void begin(const struct call *call)
{
    if (call->again) {
        drive_remember(call->drive, call->index, true);
        return;
    }
    drive_begin(call->drive, DRIVE_INJECTIONS, call->index);
    drive_begin(call->drive, call->given->timed ? STRUCTS_PHASE_TIME : STRUCTS_PHASE_CALL,
                call->given->timed ? 0 : call->index);
}

/* Waits for the device if the call is timed, so that all its work is timed. After any other call
 * the drive must not wait, which would hide a missing wait.
 */
static void end(const struct call *call, int status)
{
    call->answer->status = status;
    if (call->again) {
        drive_remember(call->drive, call->index, false);
        return;
    }
    if (call->given->timed) call->answer->later = (int32_t)cudaDeviceSynchronize();
    drive_end(call->drive, call->given->timed ? STRUCTS_PHASE_TIME : STRUCTS_PHASE_CALL,
              call->given->timed ? 0 : call->index);
    drive_end(call->drive, DRIVE_INJECTIONS, call->index);
}

/* Waits for the device, so that a fault in another stream is found too. */
static void wait_for_all(struct structs_answer *answer)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (answer->later == 0) answer->later = (int32_t)error;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* The matrix's memory on the device ends with its last element. */
static bool call_double(const struct call *call)
{
    const struct structs_case *c = call->given;
    const size_t bytes = ((size_t)(c->rows - 1) * c->stride + c->columns) * sizeof(float);
    unsigned char *host = call->images.pinned + c->at;
    struct structs_matrix matrix = {(int32_t)c->rows, (int32_t)c->columns, (int32_t)c->stride,
                                    NULL};

    if (!drive_succeeds(cudaMalloc((void **)&matrix.elements, bytes), "cudaMalloc") ||
        !drive_succeeds(
            cudaMemcpyAsync(matrix.elements, host, bytes, cudaMemcpyHostToDevice, call->stream),
            "cudaMemcpyAsync"))
        return false;
    begin(call);
    end(call, (int)structs_double(matrix, call->stream));
    if (call->answer->status == 0)
        call->answer->later = (int32_t)cudaMemcpyAsync(host, matrix.elements, bytes,
                                                       cudaMemcpyDeviceToHost, call->stream);
    wait_for_all(call->answer);
    keep(call, c->at, host, bytes);
    cudaFree(matrix.elements);
    return true;
}

static void keep_layout(const struct structs_layout *layout,
                        uint64_t figures[STRUCTS_LAYOUT_FIGURES])
{
    figures[0] = layout->size;
    figures[1] = layout->alignment;
    memcpy(figures + 2, layout->offsets, sizeof layout->offsets);
}

static bool call_layouts(const struct call *call)
{
    struct structs_layout pageable[2], *pinned = NULL, *layouts = pageable;

    if (!drive_succeeds(cudaMallocHost((void **)&pinned, 2 * sizeof *pinned), "cudaMallocHost"))
        return false;
    if (!call->given->pageable) layouts = pinned;
    memset(layouts, DRIVE_POISON, sizeof pageable);
    begin(call);
    end(call, (int)structs_layouts(&layouts[0], &layouts[1], call->stream));
    keep_layout(&layouts[0], call->answer->host);
    keep_layout(&layouts[1], call->answer->device);
    wait_for_all(call->answer);
    cudaFreeHost(pinned);
    return true;
}

/* Every other array is page-locked. */
static float *elements_of(const struct call *call, const struct structs_list *list, uint32_t i)
{
    unsigned char *image = i % 2 == 1 ? call->images.pinned : call->images.pageable;
    return list->length > 0 ? (float *)(void *)(image + list->at) : NULL;
}

static uint32_t first_changed(const struct call *call, const struct structs_list *lists,
                              const struct structs_array *arrays)
{
    for (uint32_t i = 0; i < call->given->count; i++)
        if (arrays[i].factor != lists[i].factor ||
            arrays[i].data != elements_of(call, &lists[i], i) ||
            arrays[i].length != (int32_t)lists[i].length)
            return i + 1;
    return 0;
}

static bool call_multiply(const struct call *call)
{
    const struct structs_case *c = call->given;
    const struct structs_input *input = call->drive->input;
    const struct structs_list *lists = (const void *)(input->bytes + c->at);
    struct structs_array *arrays = calloc(c->count + 1, sizeof *arrays);

    if (arrays == NULL) {
        fprintf(stderr, "drive: no memory\n");
        return false;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        arrays[i].factor = (int16_t)lists[i].factor;
        arrays[i].data = elements_of(call, &lists[i], i);
        arrays[i].length = (int32_t)lists[i].length;
    }
    begin(call);
    end(call, (int)structs_multiply(c->count > 0 ? arrays : NULL, (int)c->count, (int)c->first,
                                    call->stream));
    for (uint32_t i = 0; i < c->count; i++)
        if (lists[i].length > 0)
            keep(call, lists[i].at, elements_of(call, &lists[i], i),
                 lists[i].length * sizeof(float));
    call->answer->spoilt = first_changed(call, lists, arrays);
    wait_for_all(call->answer);
    free(arrays);
    return true;
}

static bool call_kernel(const struct call *call)
{
    const struct structs_case *c = call->given;
    const bool looks = c->kernel <= STRUCTS_LOOK_LARGE;
    struct structs_argument arguments[STRUCTS_ARGUMENTS];
    CUfunction kernel = NULL;

    for (uint32_t i = 0; i < c->arguments; i++) {
        const struct structs_given *g = &c->given[i];
        unsigned char *image = g->pageable ? call->images.pageable : call->images.pinned;
        arguments[i] = (struct structs_argument){(enum structs_way)g->way, image + g->at, g->size,
                                                 g->alignment};
    }
    if (!drive_succeeds(structs_kernel(c->kernel, &kernel), "the kernel") ||
        (looks && !drive_succeeds(structs_forget(call->stream), "what the kernel sees")))
        return false;
    begin(call);
    end(call, (int)structs_call(kernel, c->blocks, c->threads, arguments, (int)c->arguments,
                                call->stream));
    for (uint32_t i = 0; i < c->arguments; i++)
        keep(call, c->given[i].at, arguments[i].data, c->given[i].size);
    wait_for_all(call->answer);
    if (looks && call->answer->status == 0 && call->answer->later == 0) {
        unsigned char seen[STRUCTS_SEEN];
        call->answer->later = (int32_t)structs_seen(seen, STRUCTS_SEEN, call->stream);
        keep(call, c->at, seen, sizeof seen);
    }
    return true;
}

static bool (*const calls[STRUCTS_STEPS])(const struct call *) = {
    [STRUCTS_STEP_DOUBLE] = call_double,
    [STRUCTS_STEP_LAYOUT] = call_layouts,
    [STRUCTS_STEP_MULTIPLY] = call_multiply,
    [STRUCTS_STEP_CALL] = call_kernel,
};

/* A fault in one call makes the context, and with it the later calls, unusable. */
int drive_main(struct drive *drive)
{
    const struct structs_input *input = drive->input;
    struct structs_output *output = drive->output;
    struct images images = {NULL, NULL};
    cudaStream_t stream = NULL;
    bool broken = false;

    if (!drive_succeeds(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream") ||
        !images_make(&images, input))
        return 1;
    for (uint32_t i = 0; i < input->case_count; i++) {
        struct structs_answer remembers = {0};
        struct call call = {drive, &input->cases[i], &output->answers[i], i, images, stream, false};
        memset(call.answer, 0, sizeof *call.answer);
        call.answer->lost = broken;
        if (broken) continue;
        if (!calls[call.given->step](&call)) return 1;
        if (call.given->again && call.answer->status == 0 && call.answer->later == 0) {
            call.answer = &remembers;
            call.again = true;
            if (!calls[call.given->step](&call)) return 1;
            output->answers[i].remembered = remembers.status;
            output->answers[i].later = remembers.later;
        }
        broken = output->answers[i].later != 0;
    }
    cudaStreamDestroy(stream);
    cudaFreeHost(images.pinned);
    free(images.pageable);
    return 0;
}
