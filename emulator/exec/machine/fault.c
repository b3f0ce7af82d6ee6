/* Why a launch stopped, in a sentence that says what happened, where, and what to look at. */
#include "emulator/exec/machine/private.h"

#include <stdarg.h>
#include <stdio.h>

static void fault_begin(struct exec_warp *warp, const struct exec_inst *inst, enum exec_end end,
                        unsigned lane)
{
    struct exec_worker *worker = warp->worker;
    struct exec_fault *fault = &worker->fault;
    const struct exec_program *program = worker->function->program;
    const struct exec_position *position = &program->positions[inst->position];
    const uint32_t *block = worker->launch->block;
    const uint32_t thread = warp->index * EXEC_LANES + lane;
    worker->end = end;
    worker->fault_block = warp->block->index;
    *fault = (struct exec_fault){
        .block = {warp->block->position[0], warp->block->position[1], warp->block->position[2]},
        .thread = {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]},
        .function =
            warp->frame != NULL ? warp->frame->function->info.name : worker->function->info.name,
        .file = position->file,
        .line = position->line};
}

int exec_stop(struct exec_warp *warp, const struct exec_inst *inst, enum exec_end end,
              unsigned lane, const char *format, ...)
{
    va_list arguments;
    fault_begin(warp, inst, end, lane);
    va_start(arguments, format);
    vsnprintf(warp->worker->fault.message, sizeof warp->worker->fault.message, format, arguments);
    va_end(arguments);
    return EXEC_STOP;
}

static const char *verb(bool store)
{
    return store ? "store" : "load";
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static int stop_window(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t address, uint32_t size, bool store, bool generic)
{
    const uint64_t window = address & EXEC_WINDOW_MASK;
    const unsigned long long offset = address & ~EXEC_WINDOW_MASK;
    if (!generic)
        return exec_stop(warp, inst, EXEC_WRONG_SPACE, lane,
                         "a %s of %u byte%s of global memory at 0x%llx, an address of %s memory",
                         verb(store), size, plural(size), (unsigned long long)address,
                         window == EXEC_WINDOW_SHARED  ? "shared"
                         : window == EXEC_WINDOW_LOCAL ? "local"
                                                       : "parameter or code");
    if (window == EXEC_WINDOW_SHARED)
        return exec_stop(warp, inst, EXEC_WRONG_SPACE, lane,
                         "a %s of %u byte%s at byte %llu of shared memory, but the block has %u "
                         "bytes of it (%u static, %u dynamic)",
                         verb(store), size, plural(size), offset, warp->worker->user_shared,
                         warp->worker->function->info.static_shared,
                         warp->worker->launch->dynamic_shared);
    if (window == EXEC_WINDOW_LOCAL)
        return exec_stop(warp, inst, EXEC_WRONG_SPACE, lane,
                         "a %s of %u byte%s at byte %llu of local memory, outside of the thread's "
                         "%llu bytes: an index into a local array is out of range",
                         verb(store), size, plural(size), offset,
                         (unsigned long long)warp->local_stride);
    if (window == EXEC_WINDOW_PARAM)
        return exec_stop(warp, inst, EXEC_WRONG_SPACE, lane,
                         "a %s of %u byte%s at byte %llu of the kernel's parameters%s", verb(store),
                         size, plural(size), offset,
                         store ? ", which are constant" : ", outside of its parameter block");
    return exec_stop(warp, inst, EXEC_WRONG_SPACE, lane,
                     "a %s of %u byte%s at 0x%llx, the address of a device function", verb(store),
                     size, plural(size), (unsigned long long)address);
}

int exec_stop_access(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t address, uint32_t size, bool store, bool generic)
{
    if (address & (size - 1)) {
        exec_stop(warp, inst, EXEC_MISALIGNED, lane,
                  "a %s of %u byte%s at address 0x%llx, which is not a multiple of %u: the pointer "
                  "was cast from a smaller type, or moved by a number of bytes",
                  verb(store), size, plural(size), (unsigned long long)address, size);
    } else if ((address >> 56) == 1) {
        stop_window(warp, inst, lane, address, size, store, generic);
    } else {
        const struct memory_region *region = memory_find(address);
        if (region != NULL && store && region->read_only) {
            exec_stop(warp, inst, EXEC_WRONG_SPACE, lane,
                      "a store of %u byte%s at 0x%llx, in constant memory", size, plural(size),
                      (unsigned long long)address);
        } else {
            /* What is there instead is for those to say who know the calls that made it. */
            exec_stop(warp, inst, EXEC_OUT_OF_BOUNDS, lane, "a %s of %u byte%s at address 0x%llx",
                      verb(store), size, plural(size), (unsigned long long)address);
        }
    }
    warp->worker->fault.address = address;
    warp->worker->fault.size = size;
    warp->worker->fault.is_store = store;
    return EXEC_STOP;
}
