/* The drive of lesson 04: calls context_create_round_trip with and without a context of its own on
 * the stack, and inspects the stack afterwards. */
#include "grader/child/drive.h"
#include "grader/lessons/04_context_create/exchange.h"
#include "kernels/image.h"
#include "lesson.h"

#include <stdio.h>
#include <string.h>

static int failed(const char *what, CUresult result)
{
    const char *text = NULL;
    (void)cuGetErrorString(result, &text);
    fprintf(stderr, "drive: %s: %s\n", what, text != NULL ? text : "unknown error");
    return 1;
}

/* Global, because context_create_work has no user pointer. */
static struct {
    uint32_t calls;
} worked;

/* Launches multiply_divide from a module loaded into the current context. The kernel still runs on
 * return; the module ends with the context. */
static CUresult work_with(CUdeviceptr array, size_t length, const char *kernel)
{
    void *arguments[] = {&array, &length};
    CUmodule module;
    CUfunction function;

    worked.calls++;
    CUresult result = cuModuleLoadData(&module, multiply_divide_image);
    if (result != CUDA_SUCCESS) return result;
    result = cuModuleGetFunction(&function, module, kernel);
    if (result == CUDA_SUCCESS)
        result = cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
    return result;
}

static CUresult work(CUdeviceptr array, size_t length)
{
    return work_with(array, length, "multiply_divide");
}

static CUresult work_refused(CUdeviceptr array, size_t length)
{
    return work_with(array, length, "no_kernel_of_this_name");
}

/* Launches one kernel and then fails. */
static CUresult work_halfway(CUdeviceptr array, size_t length)
{
    const CUresult result = work_with(array, length, "multiply_divide");
    return result == CUDA_SUCCESS ? CUDA_ERROR_NOT_FOUND : result;
}

/* The launch succeeds, and the kernel accesses an invalid address. */
static CUresult work_faulty(CUdeviceptr array, size_t length)
{
    (void)array;
    return work_with(CONTEXT_CREATE_NOBODYS, length, "multiply_divide");
}

static const context_create_work works[CONTEXT_CREATE_WAY_COUNT] = {
    [CONTEXT_CREATE_GOOD] = work,
    [CONTEXT_CREATE_NO_DEVICE] = work,
    [CONTEXT_CREATE_TOO_LONG] = work,
    [CONTEXT_CREATE_REFUSED] = work_refused,
    [CONTEXT_CREATE_HALFWAY] = work_halfway,
    [CONTEXT_CREATE_FAULTY] = work_faulty,
};

/* Pops the stack completely, puts `outer` (NULL: nothing) back if it was there, and records what
 * else was. It does not stop at `outer`: a submission that pushes it again leaves it there twice,
 * and what lies below would be held against the next case. */
static void look_at_stack(CUcontext outer, struct context_create_answer *answer)
{
    CUcontext current = NULL, popped;
    uint32_t deep = 0, found = 0, left = 0;
    while (deep < CONTEXT_CREATE_DEEPEST && !left) {
        if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == NULL) break;
        deep++;
        found += current == outer;
        left = cuCtxPopCurrent(&popped) != CUDA_SUCCESS;
    }
    answer->lost = outer != NULL && found == 0;
    answer->extra = deep - (found > 0);
    if (found > 0 && !left) (void)cuCtxPushCurrent(outer);
}

/* Memory of the caller's in the primary context, which the whole process shares. */
struct belongings {
    CUdevice device;
    CUdeviceptr memory;
    uint32_t held; /* 1: the primary context is retained and the memory allocated */
};

static const uint32_t treasure = 0x0ddba11u;

/* Retains the primary context, makes it current, and allocates a word of memory in it. */
static CUresult move_in(struct belongings *mine, CUcontext *primary)
{
    CUresult result = cuDeviceGet(&mine->device, 0);
    if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxRetain(primary, mine->device);
    if (result != CUDA_SUCCESS) return result;
    result = cuCtxPushCurrent(*primary);
    if (result == CUDA_SUCCESS) result = cuMemAlloc(&mine->memory, sizeof treasure);
    if (result == CUDA_SUCCESS) result = cuMemcpyHtoD(mine->memory, &treasure, sizeof treasure);
    mine->held = 1;
    return result;
}

/* Checks that the memory is intact, and releases it; `lost`: the primary context is no longer on
 * the stack. */
static uint32_t move_out(const struct belongings *mine, CUcontext primary, uint32_t lost)
{
    uint32_t found = 0;
    CUcontext popped;
    CUresult result = lost ? cuCtxPushCurrent(primary) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) result = cuMemcpyDtoH(&found, mine->memory, sizeof found);
    const uint32_t spoiled = result != CUDA_SUCCESS || found != treasure;
    if (!spoiled) (void)cuMemFree(mine->memory);
    (void)cuCtxPopCurrent(&popped);
    (void)cuDevicePrimaryCtxRelease(mine->device);
    return spoiled;
}

/* Calls case i. Returns 0 also when an earlier case has made further ones impossible: that is the
 * submission's doing, and data. */
static int call(struct drive *drive, uint32_t i)
{
    const struct context_create_input *input = drive->input;
    struct context_create_output *output = drive->output;
    const struct context_create_case *c = &input->cases[i];
    struct context_create_answer *answer = &output->answers[i];
    struct belongings mine = {.held = 0};
    CUcontext outer = NULL;

    answer->ready = 1;
    if (c->inside) {
        CUresult result = cuInit(0);
        if (result == CUDA_SUCCESS && c->inside == CONTEXT_CREATE_PRIMARY)
            result = move_in(&mine, &outer);
        else if (result == CUDA_SUCCESS)
            result = cuCtxCreate(&outer, NULL, 0, 0);
        if (result != CUDA_SUCCESS) return failed("no context for the drive", result);
    }

    worked.calls = 0;
    drive_begin(drive, DRIVE_INJECTIONS, i);
    drive_begin(drive, CONTEXT_CREATE_PHASE, i);
    answer->code = context_create_round_trip(
        c->way == CONTEXT_CREATE_NO_DEVICE ? input->bad_ordinal : 0, input->values + c->offset,
        output->values + c->offset,
        c->way == CONTEXT_CREATE_TOO_LONG ? CONTEXT_CREATE_TOO_MANY + c->length : c->length,
        works[c->way]);
    drive_end(drive, CONTEXT_CREATE_PHASE, i);
    drive_end(drive, DRIVE_INJECTIONS, i);
    answer->worked = worked.calls;

    look_at_stack(outer, answer);
    answer->spoiled = 0;
    if (mine.held) {
        answer->spoiled = move_out(&mine, outer, answer->lost);
        return 0;
    }
    if (outer != NULL && !answer->lost) {
        const CUresult result = cuCtxDestroy(outer);
        if (result != CUDA_SUCCESS) return failed("the drive's context was not destroyed", result);
    }
    return 0;
}

int drive_main(struct drive *drive)
{
    const struct context_create_input *input = drive->input;
    const struct context_create_output *output = drive->output;
    /* After a fault, or a call that was made to fail, the device may be lost. */
    const int faults = strcmp(drive->run, "injections") == 0 || strcmp(drive->run, "fault") == 0;
    int ended = 0, lost = 0;
    drive_begin(drive, CONTEXT_CREATE_ALL_PHASE, 0);
    for (uint32_t i = 0; i < input->count && ended == 0 && !lost; i++) {
        ended = call(drive, i);
        if (i > 0 && ended != 0) {
            ended = 0;
            break;
        }
        lost = faults && output->answers[i].code != CUDA_SUCCESS;
    }
    drive_end(drive, CONTEXT_CREATE_ALL_PHASE, 0);
    return ended;
}
