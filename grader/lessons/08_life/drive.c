/* The drive of lesson 08: puts lattices on the device, calls the five functions, and stores their
 * results. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/08_life/exchange.h"
#include "lesson.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of(const struct life_input_lattice *lattice)
{
    return (size_t)lattice->width * lattice->height * sizeof(int);
}

static void mark_begin(struct drive *drive, const struct life_call *call, uint32_t index,
                       bool again)
{
    if (again) {
        drive_remember(drive, index, true);
        return;
    }
    drive_begin(drive, DRIVE_INJECTIONS, index);
    drive_begin(drive, call->timed ? LIFE_PHASE_TIME : LIFE_PHASE_CALL, call->timed ? 0 : index);
}

/* Waits for the device if the call is timed, so that all its work is timed. After any other call
 * the drive must not wait, which would hide a missing wait.
 */
static cudaError_t mark_end(struct drive *drive, const struct life_call *call, uint32_t index,
                            bool again)
{
    if (again) {
        drive_remember(drive, index, false);
        return cudaSuccess;
    }
    const cudaError_t later = call->timed ? cudaDeviceSynchronize() : cudaSuccess;
    drive_end(drive, call->timed ? LIFE_PHASE_TIME : LIFE_PHASE_CALL, call->timed ? 0 : index);
    drive_end(drive, DRIVE_INJECTIONS, index);
    return later;
}

/* ---- steps 1, 2, 3 and 5: a lattice on the device ---------------------------------------------
 */

struct place {
    int *host;       /* page-locked: the lattice, in and out */
    int *lattice[2]; /* on the device, exactly as large as the lattice */
};

static void place_free(struct place *place)
{
    cudaDeviceSynchronize();
    cudaFree(place->lattice[0]);
    cudaFree(place->lattice[1]);
    cudaFreeHost(place->host);
}

/* On a GPU the memory is poisoned, because reads of uninitialised memory are not detected there. */
static bool place_make(struct place *place, const struct drive *drive, size_t bytes)
{
    memset(place, 0, sizeof *place);
    if (!drive_succeeds(cudaMallocHost((void **)&place->host, bytes), "cudaMallocHost"))
        return false;
    for (size_t i = 0; i < 2; i++) {
        if (!drive_succeeds(cudaMalloc((void **)&place->lattice[i], bytes), "cudaMalloc") ||
            (drive->device == DRIVE_GPU &&
             !drive_succeeds(cudaMemset(place->lattice[i], DRIVE_POISON, bytes), "cudaMemset")))
            return false;
    }
    return drive_succeeds(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static cudaError_t student(const struct life_call *call, const struct life_input_lattice *lattice,
                           const struct place *place, cudaStream_t stream)
{
    const int width = (int)lattice->width, height = (int)lattice->height,
              generations = (int)call->generations;
    switch (call->step) {
    case LIFE_LAUNCHES:
        return life_launches(place->lattice, width, height, generations, stream);
    case LIFE_BLOCK:
        return life_block(place->lattice[0], width, height, generations, stream);
    case LIFE_SHARED:
        return life_shared(place->lattice[0], width, height, generations, stream);
    default:
        return life_grid(place->lattice, width, height, generations, stream);
    }
}

/* The lattice is still being copied when the function is called, unless the call is timed. */
static bool on_the_device(struct drive *drive, uint32_t index, cudaStream_t stream, bool again,
                          struct life_answer *answer)
{
    const struct life_input *input = drive->input;
    struct life_output *output = drive->output;
    const struct life_call *call = &input->calls[index];
    const struct life_input_lattice *lattice = &input->lattices[call->first];
    const size_t bytes = size_of(lattice);
    const bool doubled = call->step == LIFE_LAUNCHES || call->step == LIFE_GRID;
    struct place place;

    bool ok = place_make(&place, drive, bytes);
    if (ok) {
        memcpy(place.host, input->cells + lattice->offset, bytes);
        ok = drive_succeeds(
            cudaMemcpyAsync(place.lattice[0], place.host, bytes, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
    }
    if (ok && call->timed) ok = drive_succeeds(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (ok) {
        mark_begin(drive, call, index, again);
        answer->status = (int32_t)student(call, lattice, &place, stream);
        answer->later = (int32_t)mark_end(drive, call, index, again);
        if (answer->status == 0 && answer->later == 0) {
            cudaMemcpyAsync(place.host, place.lattice[doubled ? call->generations % 2 : 0], bytes,
                            cudaMemcpyDeviceToHost, stream);
            answer->later = (int32_t)cudaStreamSynchronize(stream);
        }
        const cudaError_t elsewhere = cudaDeviceSynchronize(); /* a fault in another stream */
        if (answer->later == 0) answer->later = (int32_t)elsewhere;
        if (answer->status == 0 && answer->later == 0 && !again)
            memcpy(output->cells + lattice->offset, place.host, bytes);
    }
    place_free(&place);
    return ok;
}

/* ---- step 4: lattices on the host --------------------------------------------------------------
 */

static bool on_the_host(struct drive *drive, uint32_t index, bool again, struct life_answer *answer)
{
    const struct life_input *input = drive->input;
    struct life_output *output = drive->output;
    const struct life_call *call = &input->calls[index];
    const struct life_input_lattice *given = &input->lattices[call->first];
    struct life_lattice lattices[LIFE_LATTICES] = {{0}};
    bool ok = true;

    for (uint32_t i = 0; i < call->count && ok; i++) {
        ok = drive_succeeds(cudaMallocHost((void **)&lattices[i].cells, size_of(&given[i])),
                            "cudaMallocHost");
        if (!ok) break;
        lattices[i].width = (int)given[i].width;
        lattices[i].height = (int)given[i].height;
        memcpy(lattices[i].cells, input->cells + given[i].offset, size_of(&given[i]));
    }
    if (ok) {
        mark_begin(drive, call, index, again);
        answer->status = (int32_t)life_streams(lattices, (int)call->count, (int)call->generations);
        (void)mark_end(drive, call, index, again);
        /* Copies the contents at this moment, even if work on them is pending. */
        for (uint32_t i = 0; i < call->count && !again; i++)
            memcpy(output->cells + given[i].offset, lattices[i].cells, size_of(&given[i]));
        answer->later = (int32_t)cudaDeviceSynchronize();
    }
    for (uint32_t i = 0; i < call->count; i++) cudaFreeHost(lattices[i].cells);
    return ok;
}

static bool make_call(struct drive *drive, uint32_t index, cudaStream_t stream, bool again,
                      struct life_answer *answer)
{
    const struct life_input *input = drive->input;
    return input->calls[index].step == LIFE_STREAMS
               ? on_the_host(drive, index, again, answer)
               : on_the_device(drive, index, stream, again, answer);
}

/* A fault in one call makes the context, and with it the later calls, unusable. */
int drive_main(struct drive *drive)
{
    const struct life_input *input = drive->input;
    struct life_output *output = drive->output;
    cudaStream_t stream = NULL;
    bool broken = false;

    if (!drive_succeeds(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"))
        return 1;
    for (uint32_t i = 0; i < input->call_count; i++) {
        struct life_answer *answer = &output->answers[i], again = {0};
        memset(answer, 0, sizeof *answer);
        answer->lost = broken;
        if (broken) continue;
        if (!make_call(drive, i, stream, false, answer)) return 1;
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
