/* Barrier instructions: bar.sync, bar.arrive, bar.red and their barrier.* forms. PTX ISA 9.7.13.1.
 * machine/barrier.c implements the waiting.
 */
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/tables.h"

#include <string.h>

/* Gets the value of `slot`. Returns false when the active lanes have different values. */
static bool uniform(const struct exec_warp *warp, uint32_t slot, uint32_t *value)
{
    const uint32_t *lanes = exec_slot(warp, slot);
    *value = lanes[__builtin_ctz(warp->mask)];
    if (memcmp(lanes, lanes + 1, (EXEC_LANES - 1) * sizeof *lanes) == 0) return true;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1)
        if (lanes[__builtin_ctz(rest)] != *value) return false;
    return true;
}

/* Slot a: the barrier's number; slot b: the thread count, if imm is set; slot c: a reduction's
 * predicate. Slot field e: 1 + the number, if that is a constant and there is no count; else 0. */
static int meet(struct exec_warp *warp, const struct exec_inst *inst, bool wait, bool reduce)
{
    const unsigned first = (unsigned)__builtin_ctz(warp->mask);
    uint32_t id;
    uint32_t expected = 0;
    if (!uniform(warp, inst->a, &id) || (inst->imm && !uniform(warp, inst->b, &expected)))
        return exec_stop(warp, inst, EXEC_UNSUPPORTED, first,
                         &(struct exec_reason){.finding = FINDING_UNSUPPORTED_BARRIER});
    if (id >= EXEC_BARRIERS)
        return exec_stop(warp, inst, EXEC_TRAP, first,
                         &(struct exec_reason){.finding = FINDING_BARRIER_NUMBER,
                                               .numbers = {id, EXEC_BARRIERS}});
    if (inst->imm && (expected == 0 || expected % EXEC_LANES))
        return exec_stop(warp, inst, EXEC_TRAP, first,
                         &(struct exec_reason){.finding = FINDING_BARRIER_COUNT,
                                               .numbers = {id, expected, EXEC_LANES}});
    return exec_barrier_meet(warp, inst, id, expected, reduce ? exec_slot(warp, inst->c) : NULL,
                             wait);
}

bool exec_barrier_is_plain(const struct exec_inst *inst)
{
    return inst->run == exec_barrier_sync && inst->e - 1 < EXEC_BARRIERS;
}

int exec_barrier_sync(struct exec_warp *warp, const struct exec_inst *inst)
{
    if (inst->e - 1 < EXEC_BARRIERS)
        return exec_meeting_join(warp, inst)
                   ? EXEC_RESCHEDULE
                   : exec_barrier_meet(warp, inst, inst->e - 1, 0, NULL, true);
    return meet(warp, inst, true, false);
}

int exec_barrier_arrive(struct exec_warp *warp, const struct exec_inst *inst)
{
    return meet(warp, inst, false, false);
}

int exec_barrier_reduce(struct exec_warp *warp, const struct exec_inst *inst)
{
    return meet(warp, inst, true, true);
}

/* The rows of bar.red run when the lanes leave the barrier, and give them the result. */
static const struct exec_barrier *left(const struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t *id = exec_slot(warp, inst->a);
    return &warp->block->barriers[id[__builtin_ctz(warp->mask)]];
}

static int op_popc(struct exec_warp *warp, const struct exec_inst *inst)
{
    uint32_t *d = exec_slot(warp, inst->d);
    const uint32_t value = left(warp, inst)->positive;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = value;
    return EXEC_GO;
}

static int put_predicate(struct exec_warp *warp, const struct exec_inst *inst, bool value)
{
    uint32_t *d = exec_slot(warp, inst->d);
    *d = (*d & ~warp->mask) | (value ? warp->mask : 0);
    return EXEC_GO;
}

static int op_and(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_barrier *barrier = left(warp, inst);
    return put_predicate(warp, inst, barrier->positive == barrier->asked);
}

static int op_or(struct exec_warp *warp, const struct exec_inst *inst)
{
    return put_predicate(warp, inst, left(warp, inst)->positive != 0);
}

/* wgmma is one product of a group of four warps. A warp that waits for it waits until the other
 * warps have issued their parts too, and have read their operands. A warp that has issued nothing
 * does not wait. */
static int op_group_wait(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t group = warp->index / EXEC_GROUP_WARPS;
    if (!warp->multiplying) return EXEC_GO;
    warp->multiplying = false;
    return exec_barrier_meet(warp, inst, EXEC_BARRIERS + group, EXEC_GROUP_WARPS * EXEC_LANES, NULL,
                             true);
}

/* The name of bar.sync is for machine code's fast path. */
const struct exec_row exec_barrier_rows[] = {
    {"bar.sync", exec_barrier_sync, ""},          {"bar.red.popc.u32", op_popc, "u32 p"},
    {"bar.red.and.pred", op_and, "p p"},          {"bar.red.or.pred", op_or, "p p"},
    {"wgmma.wait_group.sync", op_group_wait, ""}, {NULL, NULL, NULL}};
