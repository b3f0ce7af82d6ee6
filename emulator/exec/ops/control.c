/* Control flow: guards, branches, calls, returns, exits, traps. PTX ISA 9.7.12, 9.7.19; "Predicated
 * Execution". Lanes that diverge become fragments; machine/warp.c makes them reconverge. */
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/private.h"
#include "emulator/exec/ops/tables.h"

#include <string.h>

static uint32_t guard_mask(const struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t predicate = *(const uint32_t *)exec_slot(warp, inst->guard >> 1);
    return warp->mask & (inst->guard & 1 ? ~predicate : predicate);
}

/* A guarded (@p) instruction that does not change control flow: executed for the lanes whose
 * predicate holds. */
int exec_guarded(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t mask = guard_mask(warp, inst);
    if (!mask) return EXEC_GO;
    if (mask == warp->mask) return inst->inner(warp, inst);
    const uint32_t all = warp->mask;
    const uint32_t full = warp->full;
    warp->mask = mask;
    warp->full = 0;
    const int step = inst->inner(warp, inst);
    warp->mask = all;
    warp->full = full;
    return step;
}

/* ---- branches -------------------------------------------------------------------------------- */

/* All active lanes continue at `target`. Every backward branch is counted, so that the scheduler
 * gets to choose again. */
static inline int branch(struct exec_warp *warp, const struct exec_inst *inst,
                         const struct exec_inst *target)
{
    warp->pc = target;
    if (target <= inst && --warp->backward == 0) return EXEC_RESCHEDULE;
    return EXEC_GO;
}

static int op_bra(struct exec_warp *warp, const struct exec_inst *inst)
{
    return branch(warp, inst, inst->extra);
}

/* @p bra. Lowering turns every other guarded control instruction into a @!p bra around it, so this
 * is the one place where lanes diverge by a predicate. */
int exec_branch_guarded(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t taken = guard_mask(warp, inst);
    if (taken == warp->mask) return branch(warp, inst, inst->extra);
    if (!taken) return EXEC_GO;
    exec_split(warp, taken, inst->extra, warp->frame);
    if (warp->backward > 1 && (const struct exec_inst *)inst->extra <= inst) warp->backward--;
    return EXEC_RESCHEDULE;
}

/* The same two instructions where they start a new iteration of a loop with a barrier in it, in a
 * program that is race-checked. */
int exec_branch_round(struct exec_warp *warp, const struct exec_inst *inst)
{
    warp->rounds |= warp->mask;
    return branch(warp, inst, inst->extra);
}

int exec_branch_round_guarded(struct exec_warp *warp, const struct exec_inst *inst)
{
    warp->rounds |= guard_mask(warp, inst);
    return exec_branch_guarded(warp, inst);
}

/* brx.idx: each lane's index selects a label from a table. */
static int op_brx(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_targets *targets = inst->extra;
    const uint32_t *index = exec_slot(warp, inst->a);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if (index[l] >= targets->count)
            return exec_stop(warp, inst, EXEC_TRAP, l,
                             &(struct exec_reason){.finding = FINDING_BRANCH_INDEX,
                                                   .numbers = {index[l], targets->count}});
    }
    bool split = false;
    while (warp->mask) {
        const uint32_t first = index[__builtin_ctz(warp->mask)];
        uint32_t same = 0;
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
            const unsigned l = (unsigned)__builtin_ctz(rest);
            same |= index[l] == first ? 1u << l : 0;
        }
        if (same == warp->mask && !split) return branch(warp, inst, targets->targets[first]);
        exec_split(warp, same, targets->targets[first], warp->frame);
        split = true;
    }
    return EXEC_RESCHEDULE;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void copy_formals(struct exec_warp *warp, uint32_t mask, uint64_t to_base,
                         const struct exec_formal *to, uint64_t from_base,
                         const struct exec_formal *from, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const uint32_t size = to[k].size < from[k].size ? to[k].size : from[k].size;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned char *local = warp->local + (uint64_t)__builtin_ctz(rest) * warp->local_stride;
            memcpy(local + to_base + to[k].offset, local + from_base + from[k].offset, size);
        }
    }
}

/* Returns true for the functions behind `<<<>>>` and the runtime's functions in kernels before CUDA
 * 12 (libcudadevrt; CUDA C++ Programming Guide, "Device-side Launch from PTX"). */
static bool is_of_device_runtime(const char *name)
{
    static const char *const beginnings[] = {"cudaLaunchDevice", "cudaGetParameterBuffer",
                                             "cudaDevice"};
    for (size_t k = 0; k < sizeof beginnings / sizeof *beginnings; k++)
        if (!strncmp(name, beginnings[k], strlen(beginnings[k]))) return true;
    return false;
}

/* The running fragment calls `function`. */
static int call_function(struct exec_warp *warp, const struct exec_inst *inst,
                         const struct exec_call *call, const struct exec_function *function)
{
    const unsigned first = (unsigned)__builtin_ctz(warp->mask);
    if (function->builtin != EXEC_BUILTIN_NONE)
        return exec_builtin_call(warp, inst, call, function);
    if (!function->defined && is_of_device_runtime(function->info.name))
        return exec_stop(warp, inst, EXEC_UNSUPPORTED, first,
                         &(struct exec_reason){.finding = FINDING_UNSUPPORTED_KERNEL_LAUNCH,
                                               .name = function->info.name});
    if (!function->defined)
        return exec_stop(warp, inst, EXEC_UNSUPPORTED, first,
                         &(struct exec_reason){.finding = FINDING_UNDEFINED_FUNCTION,
                                               .name = function->info.name});
    if (call->argument_count != function->formal_count ||
        call->result_count > function->return_count)
        return exec_stop(
            warp, inst, EXEC_TRAP, first,
            &(struct exec_reason){.finding = FINDING_CALL_OF_OTHER_TYPE,
                                  .numbers = {call->argument_count, call->result_count,
                                              function->formal_count, function->return_count},
                                  .name = function->info.name});
    enum exec_end end = EXEC_DONE;
    struct exec_frame *frame = exec_frame_enter(warp, warp->frame, function, &end);
    if (frame == NULL)
        return exec_stop(warp, inst, end, first,
                         &(struct exec_reason){.finding = end == EXEC_STACK
                                                              ? FINDING_STACK_OVERFLOW
                                                              : FINDING_NO_MEMORY_FOR_CALL,
                                               .numbers = {warp->frame->depth + 1},
                                               .name = function->info.name});
    copy_formals(warp, warp->mask, frame->local_base, function->formals, warp->frame->local_base,
                 call->arguments, call->argument_count);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        frame->return_to[l] = inst;
        frame->stack_before[l] = warp->stack[l];
        if ((uint64_t)frame->local_base + function->local_bytes > warp->stack[l])
            return exec_stop(
                warp, inst, EXEC_STACK, l,
                &(struct exec_reason){.finding = FINDING_STACK_FULL, .name = function->info.name});
    }
    warp->frame = frame;
    warp->slots = frame->slots;
    warp->pc = function->code;
    return warp->fragment_count ? EXEC_RESCHEDULE : EXEC_GO;
}

static int op_call(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_call *call = inst->extra;
    return call_function(warp, inst, call, call->callee);
}

/* An indirect call: lanes that call the same function stay together. */
static int op_call_indirect(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_call *call = inst->extra;
    const struct exec_program *program = warp->worker->function->program;
    const uint64_t *token = exec_slot(warp, inst->a);
    const unsigned first = (unsigned)__builtin_ctz(warp->mask);
    const uint64_t target = token[first];
    const uint64_t index = (target - EXEC_WINDOW_CODE) / 16;
    if ((target & EXEC_WINDOW_MASK) != EXEC_WINDOW_CODE || (target & 15) ||
        index >= program->function_count)
        return exec_stop(
            warp, inst, EXEC_TRAP, first,
            &(struct exec_reason){.finding = FINDING_CALL_OF_NO_FUNCTION, .numbers = {target}});
    uint32_t same = 0;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        same |= token[l] == target ? 1u << l : 0;
    }
    /* The other lanes execute this instruction again. */
    const bool split = same != warp->mask;
    if (split) exec_split(warp, warp->mask & ~same, inst, warp->frame);
    const int step = call_function(warp, inst, call, program->functions[index]);
    return split && step == EXEC_GO ? EXEC_RESCHEDULE : step;
}

static int op_exit(struct exec_warp *warp, const struct exec_inst *inst)
{
    (void)inst;
    return exec_lanes_exit(warp);
}

/* Returns to the callers. Lanes that were called from different places diverge. */
static __attribute__((noinline)) int return_lanes(struct exec_warp *warp, struct exec_frame *frame,
                                                  struct exec_frame *parent)
{
    for (;;) {
        const struct exec_inst *site = frame->return_to[__builtin_ctz(warp->mask)];
        const struct exec_call *call = site->extra;
        uint32_t same = 0;
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
            const unsigned l = (unsigned)__builtin_ctz(rest);
            if (frame->return_to[l] != site) continue;
            same |= 1u << l;
            warp->stack[l] = frame->stack_before[l];
        }
        copy_formals(warp, same, parent->local_base, call->results, frame->local_base,
                     frame->function->returns, call->result_count);
        if (same == warp->mask) {
            warp->frame = parent;
            warp->slots = parent->slots;
            warp->pc = site + 1;
            return warp->fragment_count ? EXEC_RESCHEDULE : EXEC_GO;
        }
        exec_split(warp, same, site + 1, parent);
    }
}

static int op_ret(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_frame *frame = warp->frame;
    (void)inst;
    return frame->parent == NULL ? exec_lanes_exit(warp) : return_lanes(warp, frame, frame->parent);
}

/* ---- the stack: alloca, stacksave, stackrestore (9.7.17) ------------------------------------- */

/* Slot d = address in local memory of `a` bytes; imm: the alignment. The memory is freed when the
 * function returns. */
static int op_alloca(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *size = exec_slot(warp, inst->a);
    uint64_t *d = exec_slot(warp, inst->d);
    const uint64_t used = (uint64_t)warp->frame->local_base + warp->frame->function->local_bytes;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t room = warp->stack[l] - used;
        if (size[l] > room || room - size[l] < inst->imm)
            return exec_stop(warp, inst, EXEC_STACK, l,
                             &(struct exec_reason){.finding = FINDING_ALLOCA_TOO_LARGE,
                                                   .numbers = {size[l], room}});
        warp->stack_moved = true;
        warp->stack[l] = (warp->stack[l] - size[l]) / inst->imm * inst->imm;
        memset(warp->local + l * warp->local_stride + warp->stack[l], 0xa5, size[l]);
        d[l] = warp->stack[l];
    }
    return EXEC_GO;
}

static int op_stacksave(struct exec_warp *warp, const struct exec_inst *inst)
{
    uint64_t *d = exec_slot(warp, inst->d);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = warp->stack[__builtin_ctz(rest)];
    return EXEC_GO;
}

static int op_stackrestore(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *a = exec_slot(warp, inst->a);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if (a[l] < warp->stack[l] || a[l] > warp->local_stride)
            return exec_stop(warp, inst, EXEC_TRAP, l,
                             &(struct exec_reason){.finding = FINDING_STACK_RESTORE});
        warp->stack[l] = a[l];
    }
    return EXEC_GO;
}

/* ---- traps and exits ------------------------------------------------------------------------- */

static int op_trap(struct exec_warp *warp, const struct exec_inst *inst)
{
    return exec_stop(warp, inst, EXEC_TRAP, (unsigned)__builtin_ctz(warp->mask),
                     &(struct exec_reason){.finding = FINDING_TRAP});
}

static int op_brkpt(struct exec_warp *warp, const struct exec_inst *inst)
{
    return exec_stop(warp, inst, EXEC_TRAP, (unsigned)__builtin_ctz(warp->mask),
                     &(struct exec_reason){.finding = FINDING_BREAKPOINT});
}

/* extra: struct exec_refused. */
int exec_unsupported(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_refused *refused = inst->extra;
    return exec_stop(warp, inst, EXEC_UNSUPPORTED, (unsigned)__builtin_ctz(warp->mask),
                     &(struct exec_reason){.finding = FINDING_UNSUPPORTED_INSTRUCTION,
                                           .numbers = {refused->why},
                                           .name = refused->text,
                                           .said = refused->meaning});
}

/* Control reaches the end of a function. PTX ends every function with ret or exit, except where
 * nvcc considers the end unreachable. */
int exec_fell_off(struct exec_warp *warp, const struct exec_inst *inst)
{
    return op_ret(warp, inst);
}

static int op_nop(struct exec_warp *warp, const struct exec_inst *inst)
{
    (void)warp;
    (void)inst;
    return EXEC_GO;
}

const struct exec_row exec_control_rows[] = {{"bra", op_bra, ""},
                                             {"brx.idx", op_brx, ""},
                                             {"call", op_call, ""},
                                             {"call.indirect", op_call_indirect, ""},
                                             {"ret", op_ret, ""},
                                             {"exit", op_exit, ""},
                                             {"trap", op_trap, ""},
                                             {"brkpt", op_brkpt, ""},
                                             {"nop", op_nop, ""},
                                             {"alloca.u64", op_alloca, ""},
                                             {"stacksave.u64", op_stacksave, ""},
                                             {"stackrestore.u64", op_stackrestore, ""},
                                             {NULL, NULL, NULL}};
