/* Emits the instructions of a region: inlined rows, called handlers, and the exits. */
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/native/translation.h"
#include "emulator/exec/ops/ops.h"
#include "emulator/exec/ops/quick.h"

#include <string.h>

enum {
    MOST_QUICK = 128, /* inlined loads and stores of a region: each has several exits, and LLVM's
                         passes take more than twice as long for twice as many */
    MOST_SOME = 12,   /* the same in the version for some active lanes */
};

/* Emits the instruction as a constant, so that LLVM knows its operands. */
static LLVMValueRef constant_of(const struct native_translation *t, const struct exec_inst *inst)
{
    enum { WORDS = sizeof *inst / sizeof(uint64_t) };
    static const size_t pointers[] = {offsetof(struct exec_inst, run),
                                      offsetof(struct exec_inst, inner),
                                      offsetof(struct exec_inst, extra)};
    uint64_t words[WORDS];
    LLVMValueRef values[WORDS];
    memcpy(words, inst, sizeof words);
    for (size_t k = 0; k < WORDS; k++) values[k] = t->llvm->ConstInt(t->wide, words[k], false);
    for (size_t k = 0; k < sizeof pointers / sizeof *pointers; k++) {
        const size_t at = pointers[k] / sizeof *words;
        LLVMValueRef address = native_pointer(t, (const void *)(uintptr_t)words[at]);
        values[at] = t->llvm->ConstPtrToInt(address, t->wide);
    }
    LLVMValueRef list = t->llvm->ConstArray(t->wide, values, WORDS);
    LLVMValueRef global = t->llvm->AddGlobal(t->unit->module, t->llvm->TypeOf(list), "inst");
    t->llvm->SetInitializer(global, list);
    t->llvm->SetGlobalConstant(global, true);
    t->llvm->SetLinkage(global, LLVMInternalLinkage);
    return global;
}

/* Emits a call that is to be inlined: the row's function gets `state` and the instruction. */
static LLVMValueRef call_row(const struct native_translation *t, LLVMValueRef row,
                             LLVMValueRef state, const struct exec_inst *inst)
{
    LLVMValueRef arguments[] = {state, constant_of(t, inst)};
    for (unsigned k = 0; k < 2; k++)
        arguments[k] = t->llvm->BuildBitCast(t->builder, arguments[k],
                                             t->llvm->TypeOf(t->llvm->GetParam(row, k)), "");
    return t->llvm->BuildCall2(t->builder, t->llvm->GlobalGetValueType(row), row, arguments, 2, "");
}

/* ---- exits ----------------------------------------------------------------------------------- */

static void leave_for(const struct native_translation *t, LLVMBasicBlockRef way,
                      const struct exec_inst *pc, int step)
{
    native_store(t, t->warp, offsetof(struct exec_warp, pc), native_executed(t, pc));
    t->llvm->BuildStore(t->builder, native_number(t, (uint64_t)step), t->step);
    t->llvm->BuildBr(t->builder, way);
}

/* Copies to the frame the slots that are live at `pc` or where lanes may wait. */
static void copy_out(const struct native_translation *t, const struct exec_inst *pc)
{
    const size_t index = native_index_of(t, pc);
    for (size_t k = 0; k < t->slot_count; k++) {
        const uint32_t offset = t->slots[k].offset;
        if (t->slots[k].writes &&
            (native_is_live(&t->unit->live, index, offset) || native_waits_read(t, offset)))
            native_copy_slot(t, &t->slots[k], true);
    }
}

void native_leave(const struct native_translation *t, const struct exec_inst *pc, int step)
{
    copy_out(t, pc);
    leave_for(t, t->end, pc, step);
}

void native_leave_by(struct native_translation *t, const struct exec_inst *inst)
{
    void *run;
    t->pending++;
    native_count_pending(t);
    if (t->again != NULL && t->full && native_is_end(inst)) {
        t->llvm->BuildBr(t->builder, t->over);
        return;
    }
    t->llvm->BuildStore(t->builder, native_executed(t, inst), t->last);
    copy_out(t, inst);
    if (t->again != NULL && exec_barrier_is_plain(inst)) {
        native_store(t, t->warp, offsetof(struct exec_warp, stepped),
                     t->stepped ? native_executed(t, inst) : native_pointer(t, NULL));
        t->llvm->BuildBr(t->builder, t->meets);
        return;
    }
    memcpy(&run, &inst->run, sizeof run);
    t->llvm->BuildStore(t->builder, native_pointer(t, run), t->run);
    leave_for(t, t->end, inst + 1, EXEC_GO);
}

LLVMValueRef native_call(const struct native_translation *t, LLVMValueRef run, LLVMValueRef inst)
{
    LLVMTypeRef parameters[] = {t->bytes, t->bytes};
    LLVMTypeRef type = t->llvm->FunctionType(t->word, parameters, 2, false);
    LLVMValueRef arguments[] = {t->warp, inst};
    LLVMValueRef handler =
        t->llvm->BuildBitCast(t->builder, run, t->llvm->PointerType(type, 0), "");
    return t->llvm->BuildCall2(t->builder, type, handler, arguments, 2, "");
}

LLVMValueRef native_call_inst(const struct native_translation *t, const struct exec_inst *inst)
{
    void *run;
    memcpy(&run, &inst->run, sizeof run);
    return native_call(t, native_pointer(t, run), native_executed(t, inst));
}

/* Emits a call of a function of machine/ that returns a `result`. */
static LLVMValueRef call_machine(const struct native_translation *t, const void *function,
                                 LLVMTypeRef result, LLVMValueRef *arguments, unsigned count)
{
    LLVMTypeRef parameters[4];
    for (unsigned k = 0; k < count; k++) parameters[k] = t->llvm->TypeOf(arguments[k]);
    LLVMTypeRef type = t->llvm->FunctionType(result, parameters, count, false);
    LLVMValueRef at = t->llvm->BuildBitCast(t->builder, native_pointer(t, function),
                                            t->llvm->PointerType(type, 0), "");
    return t->llvm->BuildCall2(t->builder, type, at, arguments, count, "");
}

void native_part(const struct native_translation *t, LLVMValueRef lanes, const struct exec_inst *pc)
{
    void *split;
    memcpy(&split,
           &(void (*)(struct exec_warp *, uint32_t, const struct exec_inst *, struct exec_frame *)){
               exec_split},
           sizeof split);
    LLVMValueRef arguments[] = {
        t->warp, lanes, native_executed(t, pc),
        native_load(t, t->warp, offsetof(struct exec_warp, frame), t->bytes)};
    call_machine(t, split, t->llvm->VoidTypeInContext(t->unit->context), arguments, 4);
}

void native_build_return(const struct native_translation *t, LLVMValueRef step)
{
    if (t->warp != t->called) {
        LLVMBasicBlockRef same = native_new_block(t), other = native_new_block(t);
        void *gone;
        memcpy(&gone, &(int (*)(struct exec_warp *, int)){exec_warp_gone}, sizeof gone);
        t->llvm->BuildCondBr(t->builder,
                             t->llvm->BuildICmp(t->builder, LLVMIntEQ, t->warp, t->called, ""),
                             same, other);
        t->llvm->PositionBuilderAtEnd(t->builder, other);
        t->llvm->BuildRet(t->builder,
                          call_machine(t, gone, t->word, (LLVMValueRef[]){t->warp, step}, 2));
        t->llvm->PositionBuilderAtEnd(t->builder, same);
    }
    t->llvm->BuildRet(t->builder, step);
}

/* Begins the turn of `warp`, the result of exec_warp_next or its kin; if that is NULL, code
 * continues. */
static void go_to(const struct native_translation *t, LLVMValueRef warp)
{
    LLVMBasicBlockRef found = native_new_block(t), done = native_new_block(t);
    t->llvm->BuildCondBr(
        t->builder, t->llvm->BuildICmp(t->builder, LLVMIntEQ, warp, native_pointer(t, NULL), ""),
        done, found);
    t->llvm->PositionBuilderAtEnd(t->builder, found);
    t->llvm->BuildStore(t->builder, warp, t->place);
    t->llvm->BuildBr(t->builder, t->again);
    t->llvm->PositionBuilderAtEnd(t->builder, done);
}

/* Where the region begins: there the next warp may begin. */
static LLVMValueRef beginning(const struct native_translation *t)
{
    return native_executed(t, &t->unit->function->code[t->region->enter]);
}

/* Asks exec_warp_next or exec_warp_exit for the next warp, and begins its turn. */
static void go_to_next(const struct native_translation *t,
                       struct exec_warp *(*ask)(struct exec_warp *, const struct exec_inst *))
{
    void *next;
    memcpy(&next, &ask, sizeof next);
    LLVMValueRef here[] = {t->warp, beginning(t)};
    go_to(t, call_machine(t, next, t->bytes, here, 2));
}

/* If the handler has returned EXEC_RESCHEDULE, the warp's turn may be over: then the next warp may
 * begin. */
static void go_to_next_after(const struct native_translation *t, LLVMValueRef step)
{
    LLVMBasicBlockRef over = native_new_block(t), done = native_new_block(t);
    t->llvm->BuildCondBr(
        t->builder,
        t->llvm->BuildICmp(t->builder, LLVMIntEQ, step, native_number(t, EXEC_RESCHEDULE), ""),
        over, done);
    t->llvm->PositionBuilderAtEnd(t->builder, over);
    go_to_next(t, exec_warp_next);
    t->llvm->BuildBr(t->builder, done);
    t->llvm->PositionBuilderAtEnd(t->builder, done);
}

/* Emits the fast path (ops/quick_meet.h) by which a turn ends at instructions with the handler
 * `run`, and the next warp's begins. */
static void go_on_quickly(const struct native_translation *t, exec_handler *run)
{
    LLVMValueRef row = native_row_function(t->llvm, &t->unit->rows, run, NATIVE_QUICK);
    const struct exec_inst *any = &t->unit->function->code[t->region->enter];
    if (row == NULL) return;
    LLVMBasicBlockRef found = native_new_block(t), rest = native_new_block(t);
    native_store(t, t->quick, offsetof(struct exec_quick, here),
                 t->llvm->BuildLoad2(t->builder, t->bytes, t->last, ""));
    native_store(t, t->quick, offsetof(struct exec_quick, begins), beginning(t));
    native_expect(t,
                  t->llvm->BuildCondBr(t->builder, call_row(t, row, t->quick, any), found, rest));
    t->llvm->PositionBuilderAtEnd(t->builder, found);
    LLVMValueRef next = native_place(t, t->warp, sizeof(struct exec_warp), t->byte);
    t->llvm->BuildStore(t->builder, next, t->place);
    t->llvm->BuildBr(t->builder, t->again);
    t->llvm->PositionBuilderAtEnd(t->builder, rest);
}

/* The handler of the region's instructions at which a kernel ends; NULL: it has none. */
static exec_handler *end_of(const struct native_translation *t)
{
    const struct exec_inst *code = t->unit->function->code;
    for (size_t k = t->region->first; k < t->region->end; k++)
        if (native_is_end(&code[k])) return code[k].run;
    return NULL;
}

/* Emits the exit of a warp all of whose lanes leave the kernel. The worker's counts of accesses are
 * added once, behind the last warp that runs here. */
static void build_over(const struct native_translation *t)
{
    t->llvm->PositionBuilderAtEnd(t->builder, t->over);
    native_count_chain(t);
    if (end_of(t) != NULL) go_on_quickly(t, end_of(t));
    go_to_next(t, exec_warp_exit);
    native_count_accesses(t);
    native_build_return(t, native_number(t, EXEC_RESCHEDULE));
}

/* Emits the wait of a whole warp at a barrier; for the counts see build_over. */
static void build_meets(const struct native_translation *t)
{
    void *meet;
    memcpy(&meet,
           &(struct exec_warp * (*)(struct exec_warp *, const struct exec_inst *,
                                    const struct exec_inst *)){exec_warp_meet},
           sizeof meet);
    t->llvm->PositionBuilderAtEnd(t->builder, t->meets);
    native_count_chain(t);
    go_on_quickly(t, exec_barrier_sync);
    LLVMValueRef last = t->llvm->BuildLoad2(t->builder, t->bytes, t->last, "");
    LLVMValueRef here[] = {t->warp, last, beginning(t)};
    go_to(t, call_machine(t, meet, t->bytes, here, 3));
    native_count_accesses(t);
    LLVMValueRef block = native_load(t, t->warp, offsetof(struct exec_warp, block), t->bytes);
    const size_t step = offsetof(struct exec_block, going) + offsetof(struct exec_going, step);
    native_build_return(t, native_load(t, block, step, t->word));
}

/* Returns the step to be returned when waiting lanes may have become fragments: then EXEC_GO
 * becomes EXEC_RESCHEDULE. */
static LLVMValueRef with_waiting(const struct native_translation *t, LLVMValueRef waiting,
                                 LLVMValueRef step)
{
    LLVMValueRef zero = native_number(t, 0);
    LLVMValueRef changed = t->llvm->BuildAnd(
        t->builder, t->llvm->BuildICmp(t->builder, LLVMIntEQ, step, native_number(t, EXEC_GO), ""),
        t->llvm->BuildICmp(t->builder, LLVMIntNE, waiting, zero, ""), "");
    return t->llvm->BuildSelect(t->builder, changed, native_number(t, EXEC_RESCHEDULE), step, "");
}

void native_build_leave(struct native_translation *t)
{
    LLVMBasicBlockRef executes = native_new_block(t), gone = native_new_block(t);
    t->llvm->PositionBuilderAtEnd(t->builder, t->leave);
    t->where = NATIVE_NOWHERE;
    for (size_t k = 0; k < t->slot_count; k++)
        if (t->slots[k].writes) native_copy_slot(t, &t->slots[k], true);
    t->llvm->BuildBr(t->builder, t->end);
    t->llvm->PositionBuilderAtEnd(t->builder, t->end);
    native_count_accesses(t);
    LLVMValueRef waiting = native_waits_leave(t);
    LLVMValueRef run = t->llvm->BuildLoad2(t->builder, t->bytes, t->run, "");
    LLVMValueRef none = t->llvm->BuildICmp(t->builder, LLVMIntEQ, run, native_pointer(t, NULL), "");
    t->llvm->BuildCondBr(t->builder, none, gone, executes);
    t->llvm->PositionBuilderAtEnd(t->builder, executes);
    LLVMValueRef step = native_call(t, run, t->llvm->BuildLoad2(t->builder, t->bytes, t->last, ""));
    if (t->again != NULL) go_to_next_after(t, step);
    native_build_return(t, with_waiting(t, waiting, step));
    t->llvm->PositionBuilderAtEnd(t->builder, gone);
    step = t->llvm->BuildLoad2(t->builder, t->word, t->step, "");
    native_build_return(t, with_waiting(t, waiting, step));
    if (t->again == NULL) return;
    build_over(t);
    build_meets(t);
}

/* ---- instructions ---------------------------------------------------------------------------- */

LLVMValueRef native_guard_of(const struct native_translation *t, const struct exec_inst *inst)
{
    LLVMValueRef predicate = native_load(t, t->lanes, inst->guard >> 1, t->word);
    return inst->guard & 1 ? t->llvm->BuildNot(t->builder, predicate, "") : predicate;
}

static void inline_row(struct native_translation *t, const struct exec_inst *inst, LLVMValueRef row)
{
    const bool guarded = inst->guard != EXEC_NO_GUARD;
    native_settle_uses(t, inst, false);
    const size_t mask = offsetof(struct exec_warp, mask);
    if (guarded)
        native_store(t, t->copy, mask,
                     t->llvm->BuildAnd(t->builder, t->computing, native_guard_of(t, inst), ""));
    call_row(t, row, t->copy, inst);
    if (guarded) native_store(t, t->copy, mask, t->computing);
    t->pending++;
}

/* ---- lane arithmetic on first lanes ---------------------------------------------------------- */

/* Returns true when the result is kept as first lanes. */
static bool is_stepped(const struct native_translation *t, const struct exec_inst *inst)
{
    return native_keeps_firsts(t, inst->d) &&
           native_step_made(&t->unit->steps, native_index_of(t, inst)) != NATIVE_ANY;
}

/* The computation of an instruction's result for the first lane of each part. */
struct stepping {
    const struct exec_inst *inst;
    const struct native_rule *rule;
    LLVMValueRef
        sure; /* the condition that no lane's sum wraps, so that the steps hold; NULL: always */
};

/* Emits a source's first lane, converted as the instruction does it. */
static LLVMValueRef source(const struct native_translation *t, struct stepping *stepping,
                           uint32_t offset, unsigned part, bool widened)
{
    const enum native_widens widens = widened ? stepping->rule->widens : NATIVE_AS_IT_IS;
    const int32_t step =
        native_step_before(&t->unit->steps, native_index_of(t, stepping->inst), offset);
    LLVMValueRef value = native_first_of(t, offset, part);
    if (widens == NATIVE_AS_IT_IS) return value;
    if (widens == NATIVE_CUT) return t->llvm->BuildTrunc(t->builder, value, t->word, "");
    const int64_t away = (int64_t)step * (EXEC_LANES / t->unit->parts - 1);
    LLVMValueRef wide[2],
        last = t->llvm->BuildAdd(t->builder, value, native_number(t, (uint32_t)away), "");
    LLVMValueRef ends[2] = {value, last};
    for (unsigned k = 0; k < 2; k++)
        wide[k] = widens == NATIVE_BY_SIGN ? t->llvm->BuildSExt(t->builder, ends[k], t->wide, "")
                                           : t->llvm->BuildZExt(t->builder, ends[k], t->wide, "");
    if (step != 0) {
        LLVMValueRef sum = t->llvm->BuildAdd(t->builder, wide[0],
                                             t->llvm->ConstInt(t->wide, (uint64_t)away, true), "");
        LLVMValueRef fits = t->llvm->BuildICmp(t->builder, LLVMIntEQ, sum, wide[1], "");
        stepping->sure =
            stepping->sure == NULL ? fits : t->llvm->BuildAnd(t->builder, stepping->sure, fits, "");
    }
    return wide[0];
}

static LLVMValueRef shifted(const struct native_translation *t, LLVMValueRef value, LLVMValueRef by)
{
    LLVMTypeRef type = t->llvm->TypeOf(value);
    if (type == t->wide) by = t->llvm->BuildZExt(t->builder, by, t->wide, "");
    return t->llvm->BuildShl(t->builder, value, by, "");
}

static LLVMValueRef step_part(const struct native_translation *t, struct stepping *stepping,
                              unsigned part)
{
    const struct exec_inst *inst = stepping->inst;
    const enum native_does does = stepping->rule->does;
    LLVMValueRef a = source(t, stepping, inst->a, part, true), b, sum;
    if (does == NATIVE_MOVES) return a;
    const bool multiplies = does == NATIVE_MULTIPLIES || does == NATIVE_MULTIPLIES_ADDS;
    b = source(t, stepping, inst->b, part, multiplies);
    switch (does) {
    case NATIVE_ADDS:
        return t->llvm->BuildAdd(t->builder, a, b, "");
    case NATIVE_SUBTRACTS:
        return t->llvm->BuildSub(t->builder, a, b, "");
    case NATIVE_SHIFTS:
        return shifted(t, a, b);
    default:
        sum = t->llvm->BuildMul(t->builder, a, b, "");
        return does == NATIVE_MULTIPLIES
                   ? sum
                   : t->llvm->BuildAdd(t->builder, sum, source(t, stepping, inst->c, part, false),
                                       "");
    }
}

static void inline_stepped(struct native_translation *t, const struct exec_inst *inst,
                           LLVMValueRef row)
{
    struct stepping stepping = {.inst = inst, .rule = native_rule_of(&t->unit->steps, inst)};
    LLVMTypeRef type = native_lane_type(t, inst->d);
    LLVMValueRef firsts[NATIVE_HALVES];
    if (stepping.rule == NULL) {
        /* Uniform sources give a uniform result. */
        inline_row(t, inst, row);
        native_take_firsts(
            t, native_load(t, t->lanes, inst->d, t->llvm->VectorType(type, EXEC_LANES)), firsts);
        native_keep_firsts(t, inst->d, firsts);
        return;
    }
    for (unsigned p = 0; p < t->unit->parts; p++) firsts[p] = step_part(t, &stepping, p);
    if (stepping.sure != NULL) {
        const uint32_t pending = t->pending;
        LLVMBasicBlockRef rest = native_new_block(t), next = native_new_block(t);
        native_expect(t, t->llvm->BuildCondBr(t->builder, stepping.sure, next, rest));
        t->llvm->PositionBuilderAtEnd(t->builder, rest);
        native_leave_by(t, inst);
        t->llvm->PositionBuilderAtEnd(t->builder, next);
        t->pending = pending;
    }
    native_keep_firsts(t, inst->d, firsts);
    t->pending++;
}

/* Emits the last lane's value of a slot. `sure` becomes the condition that this value is on the
 * expected side of the first lane's, which excludes that it has wrapped. */
static LLVMValueRef last_of(const struct native_translation *t, const struct exec_inst *inst,
                            const struct native_comparison *comparison, uint32_t offset,
                            LLVMValueRef first, LLVMValueRef *sure)
{
    const int32_t step = native_step_before(&t->unit->steps, native_index_of(t, inst), offset);
    if (step == 0) return first;
    const int64_t away = (int64_t)step * (EXEC_LANES - 1);
    LLVMValueRef last = t->llvm->BuildAdd(
        t->builder, first, t->llvm->ConstInt(t->llvm->TypeOf(first), (uint64_t)away, true), "");
    const LLVMIntPredicate grows = comparison->is_signed ? LLVMIntSGE : LLVMIntUGE,
                           shrinks = comparison->is_signed ? LLVMIntSLE : LLVMIntULE;
    LLVMValueRef fits = t->llvm->BuildICmp(t->builder, step > 0 ? grows : shrinks, last, first, "");
    *sure = *sure == NULL ? fits : t->llvm->BuildAnd(t->builder, *sure, fits, "");
    return last;
}

/* Nearly all warps are on one side of a bound: then the results of the first and the last lane are
 * those of all lanes. */
static void inline_compared(struct native_translation *t, const struct exec_inst *inst,
                            const struct native_comparison *comparison, LLVMValueRef row)
{
    LLVMValueRef sure = NULL;
    LLVMValueRef a = native_first_of(t, inst->a, 0), b = native_first_of(t, inst->b, 0);
    LLVMValueRef last_a = last_of(t, inst, comparison, inst->a, a, &sure);
    LLVMValueRef last_b = last_of(t, inst, comparison, inst->b, b, &sure);
    LLVMValueRef holds = t->llvm->BuildICmp(t->builder, comparison->holds, a, b, "");
    LLVMValueRef all = t->llvm->BuildSExt(t->builder, holds, t->word, "");
    LLVMBasicBlockRef next = NULL;
    if (sure != NULL) {
        LLVMValueRef other = t->llvm->BuildICmp(t->builder, comparison->holds, last_a, last_b, "");
        LLVMValueRef same = t->llvm->BuildICmp(t->builder, LLVMIntEQ, holds, other, "");
        LLVMBasicBlockRef quick = native_new_block(t), rest = native_new_block(t);
        next = native_new_block(t);
        native_expect(t, t->llvm->BuildCondBr(t->builder,
                                              t->llvm->BuildAnd(t->builder, sure, same, ""), quick,
                                              rest));
        t->llvm->PositionBuilderAtEnd(t->builder, rest);
        inline_row(t, inst, row);
        t->pending--;
        t->llvm->BuildBr(t->builder, next);
        t->llvm->PositionBuilderAtEnd(t->builder, quick);
    }
    native_store(t, t->lanes, inst->e, t->llvm->BuildNot(t->builder, all, ""));
    native_store(t, t->lanes, inst->d, all);
    if (next != NULL) {
        t->llvm->BuildBr(t->builder, next);
        t->llvm->PositionBuilderAtEnd(t->builder, next);
    }
    t->pending++;
}

/* Returns the comparison if both operands' first lanes are kept; else NULL. */
static const struct native_comparison *comparison_at(const struct native_translation *t,
                                                     const struct exec_inst *inst)
{
    return t->unit->parts == 1 && native_keeps_firsts(t, inst->a) && native_keeps_firsts(t, inst->b)
               ? native_comparison_of(&t->unit->steps, inst)
               : NULL;
}

/* Returns true when the inlined row reads all lanes' addresses although their step is known. It
 * does not for a load or store at one address, or for one through 64-bit addresses of global
 * memory. */
static bool looks_at_lanes(const struct native_translation *t, const struct exec_inst *inst,
                           int32_t step)
{
    const bool moves = native_kind(inst) == NATIVE_CALL && native_is_counted(inst);
    const bool stores_it =
        inst->d == inst->a || inst->b == inst->a || inst->c == inst->a || inst->e == inst->a;
    return !moves || native_is_atomic(inst) || stores_it ||
           (native_lane_type(t, inst->a) != t->wide && step != 0);
}

/* Passes what is known of an access's address to its inlined row. */
static void tell_step(const struct native_translation *t, const struct exec_inst *inst)
{
    static const size_t fields[NATIVE_HALVES] = {offsetof(struct exec_quick, low),
                                                 offsetof(struct exec_quick, high)};
    const int32_t step = native_step_before(&t->unit->steps, native_index_of(t, inst), inst->a);
    const bool known = native_knows_firsts(t, inst->a) && step != NATIVE_ANY;
    native_store(t, t->quick, offsetof(struct exec_quick, stepped),
                 t->llvm->ConstInt(t->byte, known, false));
    native_store(t, t->quick, offsetof(struct exec_quick, whole),
                 t->llvm->ConstInt(t->byte, known && t->unit->parts == 1, false));
    if (!known || looks_at_lanes(t, inst, step)) native_settle(t, inst->a);
    if (!known) return;
    LLVMTypeRef type = native_lane_type(t, inst->a);
    native_store(t, t->quick, offsetof(struct exec_quick, step),
                 t->llvm->ConstInt(t->wide, (uint64_t)(int64_t)step, true));
    for (unsigned h = 0; h < NATIVE_HALVES; h++) {
        LLVMValueRef first = native_first_of_half(t, inst->a, h, step);
        native_store(t, t->quick, fields[h],
                     type == t->wide ? first : t->llvm->BuildZExt(t->builder, first, t->wide, ""));
    }
}

/* Returns true when the instruction names the slot. */
static bool names(const struct exec_inst *inst, const struct native_use *slot)
{
    const uint32_t offsets[] = {inst->d, inst->a, inst->b, inst->c, inst->e, inst->guard >> 1};
    for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++)
        if (offsets[k] == slot->offset) return true;
    return false;
}

static void call_handler(struct native_translation *t, const struct exec_inst *inst, bool seldom)
{
    t->pending++;
    native_count_pending(t);
    native_count_accesses(t);
    native_store(t, t->warp, offsetof(struct exec_warp, pc), native_executed(t, inst + 1));
    for (size_t k = 0; k < t->slot_count; k++)
        if (t->slots[k].writes && names(inst, &t->slots[k]))
            native_copy_slot(t, &t->slots[k], true);
    LLVMValueRef step = native_call_inst(t, inst);
    t->where = NATIVE_BEHIND;
    if (seldom) t->llvm->AddCallSiteAttribute(step, LLVMAttributeFunctionIndex, t->cold);
    for (size_t k = 0; k < t->slot_count; k++)
        if (native_writes(inst, t->slots[k].offset)) native_copy_slot(t, &t->slots[k], false);
    LLVMBasicBlockRef gone = native_new_block(t), next = native_new_block(t);
    LLVMValueRef goes =
        t->llvm->BuildICmp(t->builder, LLVMIntEQ, step, native_number(t, EXEC_GO), "");
    t->llvm->BuildCondBr(t->builder, goes, next, gone);
    t->llvm->PositionBuilderAtEnd(t->builder, gone);
    native_sides_leave(t);
    native_settle_all(t);
    t->llvm->BuildStore(t->builder, step, t->step);
    t->llvm->BuildBr(t->builder, t->leave);
    t->llvm->PositionBuilderAtEnd(t->builder, next);
}

/* Emits the fast path of a load, store or row beside it; if that path cannot complete the
 * instruction, its handler is called. For a warp-wide operation the handler ends the region
 * instead, since it may end the turn of these lanes and write slots of others. */
static void inline_quick(struct native_translation *t, const struct exec_inst *inst,
                         LLVMValueRef row)
{
    const uint32_t pending = t->pending, counted = native_is_counted(inst);
    LLVMValueRef lanes = inst->guard == EXEC_NO_GUARD
                             ? t->mask
                             : t->llvm->BuildAnd(t->builder, t->mask, native_guard_of(t, inst), "");
    native_store(t, t->quick, offsetof(struct exec_quick, mask), lanes);
    native_settle_uses(t, inst, true);
    tell_step(t, inst);
    struct exec_inst quick = *inst;
    const size_t behind = native_index_of(t, inst + 1);
    if (native_is_atomic(inst) && !native_is_live(&t->unit->live, behind, inst->d))
        quick.d = EXEC_NO_SLOT;
    LLVMValueRef done = call_row(t, row, t->quick, &quick);
    LLVMBasicBlockRef rest = native_new_block(t), next = native_new_block(t);
    native_expect(t, t->llvm->BuildCondBr(t->builder, done, next, rest));
    t->llvm->PositionBuilderAtEnd(t->builder, rest);
    if (native_kind(inst) == NATIVE_TOGETHER) {
        native_leave_by(t, inst);
    } else {
        call_handler(t, inst, true);
        /* Both ways meet with the same number of instructions still to count. */
        native_count(t, offsetof(struct exec_warp, instructions), t->wide,
                     -(int64_t)(pending + counted));
        t->llvm->BuildBr(t->builder, next);
    }
    t->llvm->PositionBuilderAtEnd(t->builder, next);
    t->pending = pending + counted;
}

LLVMValueRef native_row_of(const struct native_translation *t, const struct exec_inst *inst)
{
    const bool whole = native_kind(inst) == NATIVE_LANES;
    const enum native_form form = t->lone   ? whole ? NATIVE_WHOLE_LONE : NATIVE_QUICK_LONE
                                  : whole   ? NATIVE_WHOLE
                                  : t->full ? NATIVE_QUICK
                                            : NATIVE_SOME;
    return native_row_function(t->llvm, &t->unit->rows, native_row_handler(inst), form);
}

void native_build_straight(struct native_translation *t, const struct exec_inst *inst)
{
    const enum native_kind kind = native_kind(inst);
    const unsigned most = t->full ? MOST_QUICK : MOST_SOME;
    LLVMValueRef row = native_row_of(t, inst);
    t->at = native_index_of(t, inst);
    t->where = NATIVE_BEFORE;
    const struct native_comparison *comparison =
        row != NULL && kind == NATIVE_LANES ? comparison_at(t, inst) : NULL;
    if (comparison != NULL)
        inline_compared(t, inst, comparison, row);
    else if (row != NULL && kind == NATIVE_LANES && is_stepped(t, inst))
        inline_stepped(t, inst, row);
    else if (row != NULL && kind == NATIVE_LANES)
        inline_row(t, inst, row);
    else if (row != NULL && (t->quick_count++ < most || kind == NATIVE_TOGETHER))
        inline_quick(t, inst, row);
    else
        call_handler(t, inst, false);
    t->where = NATIVE_BEHIND;
}
