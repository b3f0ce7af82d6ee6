/* The drive of lesson 14: uses every device once, calls the two functions, and looks at what they
 * leave: the grid, the current device, the last error, who may access whom. */
#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/14_devices/exchange.h"
#include "lesson.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- all devices ---------------------------------------------------------------------------- */

/* Makes the primary contexts, in the order of the devices' numbers: by that order the judge tells
 * them apart. */
static bool use_all(const struct devices_input *input)
{
    for (uint32_t i = 0; i < input->there; i++)
        if (!drive_succeeds(cudaSetDevice((int)i), "cudaSetDevice") ||
            !drive_succeeds(cudaFree(NULL), "a device"))
            return false;
    return true;
}

static cudaError_t wait_for_all(const struct devices_input *input)
{
    cudaError_t first = cudaSuccess;
    for (uint32_t i = 0; i < input->there; i++) {
        cudaError_t error = cudaSetDevice((int)i);
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        if (first == cudaSuccess) first = error;
    }
    return first;
}

static uint32_t can_access(const struct devices_input *input, uint32_t device)
{
    uint32_t bits = 0;
    for (uint32_t peer = 0; peer < input->there; peer++) {
        int can = 0;
        if (peer != device &&
            cudaDeviceCanAccessPeer(&can, (int)device, (int)peer) == cudaSuccess && can)
            bits |= 1u << peer;
    }
    return bits;
}

static void enable(const struct devices_input *input, const uint32_t *wanted)
{
    for (uint32_t i = 0; i < input->there; i++)
        for (uint32_t peer = 0; peer < input->there; peer++)
            if ((wanted[i] >> peer & 1) != 0 && cudaSetDevice((int)i) == cudaSuccess)
                (void)cudaDeviceEnablePeerAccess((int)peer, 0);
}

/* Disables all access; `found` gets what was enabled. */
static void disable(const struct devices_input *input, uint32_t *found)
{
    for (uint32_t i = 0; i < input->there; i++) {
        found[i] = 0;
        for (uint32_t peer = 0; peer < input->there; peer++)
            if (peer != i && cudaSetDevice((int)i) == cudaSuccess &&
                cudaDeviceDisablePeerAccess((int)peer) == cudaSuccess)
                found[i] |= 1u << peer;
    }
    (void)cudaGetLastError();
}

/* ---- a call --------------------------------------------------------------------------------- */

struct place {
    int *input, *output; /* page-locked */
};

static bool place_make(struct place *place, size_t bytes)
{
    *place = (struct place){0};
    return drive_succeeds(cudaMallocHost((void **)&place->input, bytes), "cudaMallocHost") &&
           drive_succeeds(cudaMallocHost((void **)&place->output, bytes), "cudaMallocHost");
}

static void place_free(const struct place *place)
{
    cudaFreeHost(place->input);
    cudaFreeHost(place->output);
}

static cudaError_t student(const struct devices_call *call, const struct place *place)
{
    int devices[DEVICES_MOST];
    for (uint32_t i = 0; i < call->count; i++) devices[i] = call->devices[i];
    if (call->what == DEVICES_LINK) return devices_link(devices, (int)call->count);
    return devices_steps(place->input, place->output, (int)call->rows, (int)call->columns,
                         (int)call->steps, devices, (int)call->count);
}

static void mark_begin(struct drive *drive, const struct devices_call *call, uint32_t index,
                       bool again)
{
    if (again) {
        drive_remember(drive, index, true);
        return;
    }
    drive_begin(drive, DRIVE_INJECTIONS, index);
    drive_begin(drive, call->timed ? DEVICES_PHASE_TIME : DEVICES_PHASE_CALL,
                call->timed ? 0 : index);
}

static void mark_end(struct drive *drive, const struct devices_call *call, uint32_t index,
                     bool again)
{
    if (again) {
        drive_remember(drive, index, false);
        return;
    }
    drive_end(drive, call->timed ? DEVICES_PHASE_TIME : DEVICES_PHASE_CALL,
              call->timed ? 0 : index);
    drive_end(drive, DRIVE_INJECTIONS, index);
}

/* Calls the function once. Nothing waits before the results have been looked at, which would hide a
 * missing wait; a timed call's time includes all of its work. */
static void make_call(struct drive *drive, uint32_t index, bool again, const struct place *place,
                      struct devices_answer *answer)
{
    const struct devices_input *input = drive->input;
    struct devices_output *output = drive->output;
    const struct devices_call *call = &input->calls[index];
    const size_t bytes = (size_t)call->rows * call->columns * sizeof(int);

    if (call->what == DEVICES_STEPS) {
        memcpy(place->input, input->cells + call->offset, bytes);
        memset(place->output, DRIVE_POISON, bytes);
    }
    (void)cudaSetDevice(call->current);
    (void)cudaGetLastError();
    mark_begin(drive, call, index, again);
    answer->status = (int32_t)student(call, place);
    if (call->timed) (void)wait_for_all(input);
    mark_end(drive, call, index, again);
    answer->last = (int32_t)cudaGetLastError();
    if (call->timed || cudaGetDevice(&answer->current) != cudaSuccess)
        answer->current = call->current;
    if (call->what == DEVICES_STEPS && !again) {
        memcpy(output->cells + call->offset, place->output, bytes);
        answer->changed = memcmp(place->input, input->cells + call->offset, bytes) != 0;
    }
    answer->later = (int32_t)wait_for_all(input);
}

static bool do_call(struct drive *drive, uint32_t index)
{
    const struct devices_input *input = drive->input;
    struct devices_output *output = drive->output;
    const struct devices_call *call = &input->calls[index];
    const bool link = call->what == DEVICES_LINK;
    struct devices_answer *answer = &output->answers[index], again = {0};
    struct place place = {0};
    uint32_t found[DEVICES_MOST];

    if (!link && !place_make(&place, (size_t)call->rows * call->columns * sizeof(int)))
        return false;
    enable(input, link || call->enabled[0] == 0 ? call->enabled : output->can);
    make_call(drive, index, false, &place, answer);
    if (answer->later == 0) disable(input, link ? answer->enabled : found);
    if (call->again && answer->status == 0 && answer->later == 0) {
        make_call(drive, index, true, &place, &again);
        answer->remembered = again.status;
        answer->later = again.later;
        if (again.later == 0) disable(input, found);
    }
    place_free(&place);
    return true;
}

int drive_main(struct drive *drive)
{
    const struct devices_input *input = drive->input;
    struct devices_output *output = drive->output;
    bool broken = false;

    if (!use_all(input)) return 1;
    for (uint32_t i = 0; i < input->there; i++) output->can[i] = can_access(input, i);
    for (uint32_t i = 0; i < input->call_count; i++) {
        struct devices_answer *answer = &output->answers[i];
        memset(answer, 0, sizeof *answer);
        answer->lost = broken;
        if (broken) continue;
        if (!do_call(drive, i)) return 1;
        broken = answer->later != 0;
    }
    return 0;
}
