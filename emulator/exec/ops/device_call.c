/* Calls of the device runtime. Each thread's arguments go, one thread after the other, to the
 * launch's device_call, which implements the functions. CUDA C++ Programming Guide, "CUDA Dynamic
 * Parallelism".
 */
#include "emulator/exec/ops/private.h"

#include <string.h>

struct place {
    struct exec_warp *warp;
    unsigned lane;
};

static unsigned char *memory(const struct exec_device_call *call, uint64_t address, size_t size)
{
    const struct place *place = call->place;
    size_t left;
    const unsigned char *bytes = exec_peek(place->warp, place->lane, address, &left);
    return bytes != NULL && left >= size ? (unsigned char *)(uintptr_t)bytes : NULL;
}

static int stop(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                const struct exec_device_call *asked)
{
    const enum exec_end end =
        asked->finding == FINDING_UNSUPPORTED_KERNEL_LAUNCH ? EXEC_UNSUPPORTED : EXEC_WRONG_SPACE;
    return exec_stop(
        warp, inst, end, lane,
        &(struct exec_reason){.finding = asked->finding,
                              .numbers = {asked->number},
                              .name = asked->said != NULL ? asked->said : asked->name});
}

int exec_device_call(struct exec_warp *warp, const struct exec_inst *inst,
                     const struct exec_call *call, const struct exec_function *function)
{
    const struct exec_launch *launch = warp->worker->launch;
    const struct exec_position *position =
        &warp->worker->function->program->positions[inst->position];
    exec_touches_settle(warp->worker);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const struct place place = {warp, lane};
        unsigned char *frame = warp->local + lane * warp->local_stride + warp->frame->local_base;
        struct exec_device_call asked = {.name = function->info.name,
                                         .block = warp->block->index,
                                         .thread = warp->index * EXEC_LANES + lane,
                                         .file = position->file,
                                         .line = position->line,
                                         .memory = memory,
                                         .place = &place,
                                         .finding = FINDING_UNSUPPORTED_KERNEL_LAUNCH};
        for (size_t k = 0; k < call->argument_count && k < EXEC_DEVICE_ARGUMENTS; k++) {
            asked.arguments[k].bytes = frame + call->arguments[k].offset;
            asked.arguments[k].size = call->arguments[k].size;
            asked.argument_count = k + 1;
        }
        if (call->argument_count > EXEC_DEVICE_ARGUMENTS || launch->device_call == NULL ||
            !launch->device_call(launch->device_user, &asked))
            return stop(warp, inst, lane, &asked);
        if (call->result_count > 0)
            memcpy(frame + call->results[0].offset, &asked.result,
                   call->results[0].size < 8 ? call->results[0].size : 8);
    }
    return EXEC_GO;
}

const struct exec_function *exec_function_meant(const struct exec_function *kernel, uint64_t token)
{
    const struct exec_program *program = kernel->program;
    const uint64_t index = (token & ~EXEC_WINDOW_MASK) / 16;
    if ((token & EXEC_WINDOW_MASK) != EXEC_WINDOW_CODE || token % 16 != 0 ||
        index >= program->function_count)
        return NULL;
    const struct exec_function *meant = program->functions[index];
    return meant->entry && meant->defined ? meant : NULL;
}

bool exec_is_own_address(uint64_t address)
{
    const uint64_t window = address & EXEC_WINDOW_MASK;
    return window == EXEC_WINDOW_SHARED || window == EXEC_WINDOW_LOCAL ||
           window == EXEC_WINDOW_PARAM;
}
