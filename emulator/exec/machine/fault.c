/* Why a launch stopped: the reason, the source place, and what is known of the address. */
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/private.h"

#include <string.h>

/* Returns true if a place does not help the author of the program: it has no file, or is in a
 * header of CUDA's C++ libraries. */
static bool is_elsewhere(const struct exec_position *position)
{
    static const char *const libraries[] = {"/include/cccl/", "/include/cuda/", "/include/cub/",
                                            "/include/thrust/", "/include/cooperative_groups"};
    if (position->file == NULL) return true;
    for (size_t k = 0; k < sizeof libraries / sizeof *libraries; k++)
        if (strstr(position->file, libraries[k]) != NULL) return true;
    return false;
}

uint32_t exec_place_of(const struct exec_warp *warp, const struct exec_frame *frame,
                       const struct exec_inst *inst, unsigned lane)
{
    const struct exec_position *positions = warp->worker->function->program->positions;
    uint32_t place = inst->position;
    for (; frame != NULL && is_elsewhere(&positions[place]) && frame->parent != NULL &&
           frame->return_to[lane] != NULL;
         frame = frame->parent)
        place = frame->return_to[lane]->position;
    return place;
}

int exec_stop(struct exec_warp *warp, const struct exec_inst *inst, enum exec_end end,
              unsigned lane, const struct exec_reason *reason)
{
    struct exec_worker *worker = warp->worker;
    struct exec_fault *fault = &worker->fault;
    const struct exec_program *program = worker->function->program;
    const struct exec_position *position =
        &program->positions[exec_place_of(warp, warp->frame, inst, lane)];
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
        .line = position->line,
        .finding = {.id = reason->finding}};
    struct trace_side *side = &fault->finding.sides[0];
    memcpy(fault->finding.numbers, reason->numbers, sizeof fault->finding.numbers);
    memcpy(side->block, fault->block, sizeof side->block);
    memcpy(side->thread, fault->thread, sizeof side->thread);
    side->known = true;
    if (fault->file != NULL && fault->line != 0) {
        side->line = fault->line;
        trace_finding_word_set(&fault->finding, WORD_FILE, fault->file);
    }
    if (reason->name != NULL) trace_finding_word_set(&fault->finding, WORD_DETAIL, reason->name);
    if (reason->said != NULL)
        trace_finding_word_set(&fault->finding, WORD_OTHER_NAME, reason->said);
    return EXEC_STOP;
}

/* The reason for an address in shared memory, of the block or of another one in its cluster. */
static struct exec_reason reason_of_shared(const struct exec_warp *warp, uint64_t offset)
{
    const struct exec_block *block = warp->block, *home = exec_cluster_home(block, offset);
    const uint64_t rank = (offset >> EXEC_RANK_SHIFT & EXEC_RANK_BITS) - 1;
    const uint64_t at = offset & ~EXEC_RANK_MASK;
    if (home == NULL && offset <= UINT32_MAX)
        return (struct exec_reason){.finding = FINDING_CLUSTER_NO_BLOCK,
                                    .numbers = {at, rank, exec_cluster_count(block)}};
    if (home != NULL && home->ended)
        return (struct exec_reason){.finding = FINDING_CLUSTER_BLOCK_ENDED, .numbers = {at, rank}};
    return (struct exec_reason){.finding = FINDING_SHARED_OUT_OF_BOUNDS,
                                .numbers = {home != NULL ? at : offset, warp->worker->user_shared,
                                            warp->worker->function->info.static_shared,
                                            warp->worker->launch->dynamic_shared}};
}

/* The reason for an address in a window that the access may not use, or beyond the window's end. */
static struct exec_reason reason_of_window(const struct exec_warp *warp, uint64_t address,
                                           bool store, bool generic)
{
    const uint64_t window = address & EXEC_WINDOW_MASK, offset = address & ~EXEC_WINDOW_MASK;
    if (!generic)
        return (struct exec_reason){.finding =
                                        window == EXEC_WINDOW_SHARED  ? FINDING_SHARED_AS_GLOBAL
                                        : window == EXEC_WINDOW_LOCAL ? FINDING_LOCAL_AS_GLOBAL
                                                                      : FINDING_CODE_AS_GLOBAL};
    if (window == EXEC_WINDOW_SHARED) return reason_of_shared(warp, offset);
    if (window == EXEC_WINDOW_LOCAL)
        return (struct exec_reason){.finding = FINDING_LOCAL_OUT_OF_BOUNDS,
                                    .numbers = {offset, warp->local_stride}};
    if (window == EXEC_WINDOW_PARAM)
        return (struct exec_reason){.finding = store ? FINDING_PARAMETERS_WRITTEN
                                                     : FINDING_PARAMETERS_OUT_OF_BOUNDS,
                                    .numbers = {offset}};
    return (struct exec_reason){.finding = FINDING_CODE_ACCESSED};
}

int exec_stop_access(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t address, uint32_t size, enum exec_access access, bool generic)
{
    static const enum trace_access accesses[EXEC_ACCESS_COUNT] = {
        [EXEC_LOAD] = ACCESS_READ, [EXEC_STORE] = ACCESS_WRITE, [EXEC_ATOMIC] = ACCESS_ATOMIC};
    const bool store = access != EXEC_LOAD;
    /* The driver, which knows the allocations, explains what is at the address instead. */
    struct exec_reason reason = {.finding = FINDING_OUT_OF_BOUNDS};
    enum exec_end end = EXEC_OUT_OF_BOUNDS;
    const struct exec_launch *launch = warp->worker->launch;
    if (address & (size - 1)) {
        end = EXEC_MISALIGNED;
        reason = (struct exec_reason){.finding = FINDING_MISALIGNED, .numbers = {size}};
    } else if ((address >> 56) == 1) {
        end = EXEC_WRONG_SPACE;
        reason = reason_of_window(warp, address, store, generic);
    } else {
        const struct memory_region *region = memory_find(address);
        if (region != NULL && store && region->read_only) {
            end = EXEC_WRONG_SPACE;
            reason.finding = FINDING_READ_ONLY_WRITTEN;
        } else if (region != NULL && !exec_reaches(launch, region, store)) {
            reason = (struct exec_reason){.finding = FINDING_MEMORY_OF_OTHER_DEVICE,
                                          .numbers = {region->device, launch->device}};
        }
    }
    exec_stop(warp, inst, end, lane, &reason);
    struct exec_fault *fault = &warp->worker->fault;
    fault->address = address;
    fault->size = size;
    fault->is_store = store;
    fault->finding.sides[0].access = (uint8_t)accesses[access];
    return EXEC_STOP;
}
