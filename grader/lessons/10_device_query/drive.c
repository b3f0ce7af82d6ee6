/* The drive of lesson 10: calls the three functions, with various contexts current, in a process
 * that has not used CUDA before the first call, and checks what they leave behind. */
#include "grader/child/drive.h"
#include "grader/lessons/10_device_query/exchange.h"
#include "lesson.h"

#include <stdio.h>
#include <string.h>

static int failed(const char *what, CUresult result)
{
    fprintf(stderr, "drive: %s: error %d\n", what, (int)result);
    return 1;
}

/* ---- state before and after ------------------------------------------------------------------ */

/* Returns one bit per device whose primary context is active. Initialises the driver. */
static uint32_t alive(void)
{
    uint32_t bits = 0;
    int count = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS) return 0;
    for (int i = 0; i < count && i < DEVICE_QUERY_DEVICES; i++) {
        CUdevice device;
        unsigned flags;
        int active = 0;
        if (cuDeviceGet(&device, i) == CUDA_SUCCESS &&
            cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active)
            bits |= 1u << i;
    }
    return bits;
}

/* Objects of the drive's on a device during a call. */
struct place {
    CUcontext outer;    /* pushed on the stack; NULL: none */
    CUcontext primary;  /* of `held_on`, retained; NULL: not retained */
    CUdevice held_on;   /* the device with the drive's memory */
    CUdevice lent_from; /* the device whose primary context is `outer` */
    CUdeviceptr memory; /* 0: none */
    CUdeviceptr apart;  /* the same in `outer` */
    int lent;
};

#define LEAST_HELD 1000

static const uint32_t treasure = 0x0ddba11u;

/* Allocates *held bytes, or what is free of them. */
static CUresult take(CUdeviceptr *memory, uint32_t *held)
{
    CUresult result = cuMemAlloc(memory, *held);
    while (result == CUDA_ERROR_OUT_OF_MEMORY && *held > LEAST_HELD)
        result = cuMemAlloc(memory, *held /= 2);
    return result;
}

/* The same in the primary context of a device, with a word in them. */
static CUresult hold(struct place *place, int ordinal, uint32_t *held)
{
    CUcontext popped;
    CUresult result = cuDeviceGet(&place->held_on, ordinal);
    if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxRetain(&place->primary, place->held_on);
    if (result == CUDA_SUCCESS) result = cuCtxPushCurrent(place->primary);
    if (result == CUDA_SUCCESS) result = take(&place->memory, held);
    if (result == CUDA_SUCCESS) result = cuMemcpyHtoD(place->memory, &treasure, sizeof treasure);
    if (result == CUDA_SUCCESS) result = cuCtxPopCurrent(&popped);
    return result;
}

static CUresult move_in(struct place *place, const struct device_query_case *c, uint32_t *held)
{
    CUdevice device;
    CUresult result = CUDA_SUCCESS;
    if (c->held > 0 || c->current != DEVICE_QUERY_NOTHING) result = cuInit(0);
    if (result == CUDA_SUCCESS && c->held > 0 && c->apart == 0)
        result = hold(place, c->ordinal, held);
    if (result != CUDA_SUCCESS || c->current == DEVICE_QUERY_NOTHING) return result;
    result = cuDeviceGet(&device, c->at);
    if (result == CUDA_SUCCESS && c->current == DEVICE_QUERY_OWN) {
        result = cuCtxCreate(&place->outer, NULL, 0, device);
        /* It goes with its context. */
        return result == CUDA_SUCCESS && c->apart != 0 ? take(&place->apart, held) : result;
    }
    if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxRetain(&place->outer, device);
    place->lent = result == CUDA_SUCCESS;
    place->lent_from = device;
    return result == CUDA_SUCCESS ? cuCtxPushCurrent(place->outer) : result;
}

/* Releases everything, and records what was changed. */
static CUresult move_out(struct place *place, struct device_query_answer *answer)
{
    CUcontext current = NULL, popped;
    uint32_t found = 0;
    CUresult result = CUDA_SUCCESS;

    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS) answer->moved = current != place->outer;
    if (!answer->moved && place->outer != NULL && cuCtxPopCurrent(&popped) == CUDA_SUCCESS) {
        answer->moved = cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != NULL;
    }
    while (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != NULL)
        if (cuCtxPopCurrent(&popped) != CUDA_SUCCESS) break;
    if (place->lent)
        (void)cuDevicePrimaryCtxRelease(place->lent_from);
    else if (place->outer != NULL)
        result = cuCtxDestroy(place->outer);
    if (place->memory == 0) return result;
    if (cuCtxPushCurrent(place->primary) != CUDA_SUCCESS ||
        cuMemcpyDtoH(&found, place->memory, sizeof found) != CUDA_SUCCESS || found != treasure)
        answer->spoiled = 1;
    else
        (void)cuMemFree(place->memory);
    (void)cuCtxPopCurrent(&popped);
    (void)cuDevicePrimaryCtxRelease(place->held_on);
    return result;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void keep_facts(const struct device_query_facts *facts, struct device_query_told *told)
{
    memcpy(told->name, facts->name, sizeof told->name);
    told->figures[DEVICE_QUERY_MAJOR] = facts->major;
    told->figures[DEVICE_QUERY_MINOR] = facts->minor;
    told->figures[DEVICE_QUERY_TOTAL] = (int64_t)facts->memory;
    told->figures[DEVICE_QUERY_MULTIPROCESSORS] = facts->multiprocessors;
    told->figures[DEVICE_QUERY_CLOCK] = facts->clock;
    told->figures[DEVICE_QUERY_THREADS] = facts->threads_per_block;
    for (int axis = 0; axis < 3; axis++) {
        told->figures[DEVICE_QUERY_BLOCK + axis] = facts->block[axis];
        told->figures[DEVICE_QUERY_GRID + axis] = facts->grid[axis];
    }
    told->figures[DEVICE_QUERY_SHARED] = facts->shared_per_block;
}

static void keep_all(const struct device_query_facts *facts, struct device_query_answer *answer)
{
    struct device_query_facts untouched;
    memset(&untouched, DRIVE_POISON, sizeof untouched);
    answer->written = 0;
    for (int i = 0; i < DEVICE_QUERY_DEVICES; i++) {
        if (memcmp(&facts[i], &untouched, sizeof untouched) != 0) answer->written |= 1u << i;
        keep_facts(&facts[i], &answer->told[i]);
    }
}

/* Calls case i. Returns 0 unless the drive could not prepare for it. */
static int call(struct drive *drive, uint32_t i)
{
    const struct device_query_input *input = drive->input;
    struct device_query_output *output = drive->output;
    const struct device_query_case *c = &input->at[i];
    struct device_query_answer *answer = &output->answers[i];
    struct device_query_facts facts[DEVICE_QUERY_DEVICES];
    struct place place = {.outer = NULL};
    size_t free = 0, total = 0;
    int count;

    memset(facts, DRIVE_POISON, sizeof facts);
    memset(&count, DRIVE_POISON, sizeof count);
    answer->spoiled = answer->moved = 0;
    answer->held = c->held;
    CUresult result = move_in(&place, c, &answer->held);
    if (result != CUDA_SUCCESS) return failed("no context for the drive", result);
    answer->before = i > 0 ? alive() : 0; /* the first call finds CUDA uninitialised */

    drive_begin(drive, DRIVE_INJECTIONS, i);
    drive_begin(drive, DEVICE_QUERY_PHASE, i);
    if (c->what == DEVICE_QUERY_RUNTIME)
        answer->code = device_query_runtime(c->room > 0 ? facts : NULL, c->room, &count);
    else if (c->what == DEVICE_QUERY_DRIVER)
        answer->code = device_query_driver(c->room > 0 ? facts : NULL, c->room, &count);
    else
        answer->code = device_query_memory(c->ordinal, &free, &total);
    drive_end(drive, DEVICE_QUERY_PHASE, i);
    drive_end(drive, DRIVE_INJECTIONS, i);

    answer->kept = c->what == DEVICE_QUERY_RUNTIME ? (int32_t)cudaGetLastError() : 0;
    answer->count = count;
    answer->free = free;
    answer->total = total;
    keep_all(facts, answer);
    answer->after = alive();
    result = move_out(&place, answer);
    return result == CUDA_SUCCESS ? 0 : failed("the drive's context was not destroyed", result);
}

/* ---- on a GPU: the expected description ------------------------------------------------------ */

static const CUdevice_attribute attributes[DEVICE_QUERY_FIGURES] = {
    [DEVICE_QUERY_MAJOR] = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    [DEVICE_QUERY_MINOR] = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    [DEVICE_QUERY_MULTIPROCESSORS] = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    [DEVICE_QUERY_CLOCK] = CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
    [DEVICE_QUERY_THREADS] = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    [DEVICE_QUERY_BLOCK] = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
    [DEVICE_QUERY_BLOCK + 1] = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    [DEVICE_QUERY_BLOCK + 2] = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
    [DEVICE_QUERY_GRID] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    [DEVICE_QUERY_GRID + 1] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
    [DEVICE_QUERY_GRID + 2] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    [DEVICE_QUERY_SHARED] = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
};

static CUresult ask(struct device_query_told *truth, int ordinal)
{
    CUdevice device;
    size_t bytes = 0;
    CUresult result = cuDeviceGet(&device, ordinal);
    memset(truth, 0, sizeof *truth);
    if (result == CUDA_SUCCESS) result = cuDeviceGetName(truth->name, sizeof truth->name, device);
    if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&bytes, device);
    truth->figures[DEVICE_QUERY_TOTAL] = (int64_t)bytes;
    for (int i = 0; result == CUDA_SUCCESS && i < DEVICE_QUERY_FIGURES; i++) {
        int value = 0;
        if (i == DEVICE_QUERY_TOTAL) continue;
        result = cuDeviceGetAttribute(&value, attributes[i], device);
        truth->figures[i] = value;
    }
    return result;
}

static int ask_all(struct device_query_output *output)
{
    int count = 0;
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
    if (count > DEVICE_QUERY_DEVICES) count = DEVICE_QUERY_DEVICES;
    for (int i = 0; result == CUDA_SUCCESS && i < count; i++) result = ask(&output->truth[i], i);
    output->asked = (uint32_t)count;
    return result == CUDA_SUCCESS ? 0 : failed("the device could not be asked", result);
}

int drive_main(struct drive *drive)
{
    const struct device_query_input *input = drive->input;
    struct device_query_output *output = drive->output;
    const int injections = strcmp(drive->run, "injections") == 0;
    int ended = 0, lost = 0;

    for (output->reached = 0; output->reached < input->cases && ended == 0 && !lost;) {
        const uint32_t i = output->reached++;
        ended = call(drive, i);
        /* After a call that was made to fail the device may be lost. */
        lost = injections && output->answers[i].code != 0;
        if (lost) ended = 0;
    }
    if (ended == 0 && drive->device == DRIVE_GPU) ended = ask_all(output);
    return ended;
}
