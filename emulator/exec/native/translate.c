/* A region as one function of LLVM's.
 *
 * What the handlers see of the warp is a copy with the two fields that lanes' arithmetic needs, and
 * the slots are a copy of the frame's: LLVM keeps both in registers, because nobody else sees them.
 * Slots are copied in where the region is entered, out where it is left, and those of an
 * instruction that is called around the call. A load or store is first tried in line. All is
 * compiled twice: for warps of which every lane takes part or is dead, where nothing is blended,
 * and for the others. */
#include "emulator/exec/check/check.h"
#include "emulator/exec/launch.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/native/private.h"
#include "emulator/exec/ops/quick.h"
#include "emulator/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_QUICK = 128, /* loads and stores of a region that are put in line: each has several ways
                         out, and LLVM's passes take more than twice as long for twice as many */
    MOST_SOME = 12,   /* the same where only some lanes take part */
    MOST_APART = 32,  /* instructions of a branch for which lanes part in machine code */
};

struct translation {
    const struct native_unit *unit;
    const struct llvm *llvm;
    LLVMBuilderRef builder;
    const struct native_region *region;
    struct native_use *slots; /* of the region, each offset once */
    size_t slot_count;
    LLVMValueRef function;
    LLVMTypeRef byte, word, wide, bytes; /* i8, i32, i64, i8* */
    LLVMAttributeRef cold;
    /* Of the version that is being made: */
    LLVMBasicBlockRef *blocks;    /* of instructions that lead; NULL: none */
    LLVMBasicBlockRef leave, end; /* ... with all slots; behind that */
    LLVMValueRef step;            /* where what is answered stands, until `leave` */
    LLVMValueRef last, run;       /* the same of an instruction to be executed then, and of what
                                     executes it, or NULL */
    LLVMValueRef warp, copy;      /* the warp, and what handlers see */
    LLVMValueRef quick;           /* what those of ops/quick.h see */
    LLVMValueRef frame, lanes;    /* the frame's slots, and what handlers see */
    LLVMValueRef mask, computing; /* the lanes that run, those whose results are written */
    LLVMValueRef others;          /* in a branch that some take: the lanes that do not ... */
    const struct exec_inst *go;   /* ... where they go on; NULL: all lanes go together */
    uint32_t alone;               /* instructions in it so far */
    uint32_t pending;             /* instructions that are not counted yet */
    bool full;                    /* every lane that does not run is dead */
    unsigned quick_count;         /* loads and stores that are put in line so far */
};

/* ---- values ---------------------------------------------------------------------------------- */

static LLVMValueRef number(const struct translation *t, uint64_t value)
{
    return t->llvm->ConstInt(t->word, value, false);
}

static LLVMValueRef pointer(const struct translation *t, const void *address)
{
    return t->llvm->ConstIntToPtr(t->llvm->ConstInt(t->wide, (uint64_t)(uintptr_t)address, false),
                                  t->bytes);
}

/* A pointer to `type`, `offset` bytes behind `base`. */
static LLVMValueRef place(const struct translation *t, LLVMValueRef base, size_t offset,
                          LLVMTypeRef type)
{
    LLVMValueRef index = t->llvm->ConstInt(t->wide, offset, false);
    LLVMValueRef at = t->llvm->BuildGEP2(t->builder, t->byte, base, &index, 1, "");
    return t->llvm->BuildBitCast(t->builder, at, t->llvm->PointerType(type, 0), "");
}

static LLVMValueRef load(const struct translation *t, LLVMValueRef base, size_t offset,
                         LLVMTypeRef type)
{
    LLVMValueRef value = t->llvm->BuildLoad2(t->builder, type, place(t, base, offset, type), "");
    t->llvm->SetAlignment(value, 4);
    return value;
}

static void store(const struct translation *t, LLVMValueRef base, size_t offset, LLVMValueRef value)
{
    LLVMTypeRef type = t->llvm->TypeOf(value);
    t->llvm->SetAlignment(t->llvm->BuildStore(t->builder, value, place(t, base, offset, type)), 4);
}

static LLVMTypeRef slot_type(const struct translation *t, uint32_t width)
{
    if (width == NATIVE_MASK) return t->word;
    return t->llvm->VectorType(width == NATIVE_WIDE ? t->wide : t->word, EXEC_LANES);
}

static void copy_slot(const struct translation *t, const struct native_use *slot, bool out)
{
    LLVMTypeRef type = slot_type(t, slot->width);
    LLVMValueRef value = load(t, out ? t->lanes : t->frame, slot->offset, type);
    store(t, out ? t->frame : t->lanes, slot->offset, value);
}

/* Warp field += by, answers the sum. */
static LLVMValueRef count(const struct translation *t, size_t field, LLVMTypeRef type, int64_t by)
{
    LLVMValueRef sum = t->llvm->BuildAdd(t->builder, load(t, t->warp, field, type),
                                         t->llvm->ConstInt(type, (uint64_t)by, true), "");
    store(t, t->warp, field, sum);
    return sum;
}

static void count_pending(struct translation *t)
{
    if (t->pending)
        count(t, offsetof(struct exec_warp, instructions), t->wide, (int64_t)t->pending);
    t->pending = 0;
}

static LLVMBasicBlockRef new_block(const struct translation *t)
{
    return t->llvm->AppendBasicBlockInContext(t->unit->context, t->function, "");
}

/* The branch nearly always goes the first of its ways: what the other needs is not kept for it. */
static void expect(const struct translation *t, LLVMValueRef branch)
{
    static const char name[] = "branch_weights";
    LLVMValueRef weights[] = {t->llvm->MDStringInContext(t->unit->context, name, sizeof name - 1),
                              number(t, 2000), number(t, 1)};
    t->llvm->SetMetadata(branch, t->llvm->GetMDKindIDInContext(t->unit->context, "prof", 4),
                         t->llvm->MDNodeInContext(t->unit->context, weights, 3));
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void leave_for(const struct translation *t, LLVMBasicBlockRef way,
                      const struct exec_inst *pc, int step)
{
    store(t, t->warp, offsetof(struct exec_warp, pc), pointer(t, pc));
    t->llvm->BuildStore(t->builder, number(t, (uint64_t)step), t->step);
    t->llvm->BuildBr(t->builder, way);
}

/* What is still read from `pc` on, into the frame. */
static void copy_out(const struct translation *t, const struct exec_inst *pc)
{
    const size_t index = (size_t)(pc - t->unit->function->code);
    for (size_t k = 0; k < t->slot_count; k++)
        if (t->slots[k].writes && native_is_live(&t->unit->live, index, t->slots[k].offset))
            copy_slot(t, &t->slots[k], true);
}

static void leave(const struct translation *t, const struct exec_inst *pc, int step)
{
    copy_out(t, pc);
    leave_for(t, t->end, pc, step);
}

/* Leaves, and executes `inst` as the interpreter would: what it reads, or who comes behind it, is
 * in the frame then. */
static void leave_by(struct translation *t, const struct exec_inst *inst)
{
    void *run;
    t->pending++;
    count_pending(t);
    memcpy(&run, &inst->run, sizeof run);
    t->llvm->BuildStore(t->builder, pointer(t, inst), t->last);
    t->llvm->BuildStore(t->builder, pointer(t, run), t->run);
    copy_out(t, inst);
    leave_for(t, t->end, inst + 1, EXEC_GO);
}

/* Goes on at instruction `index`, in the region or not. */
static void go_on(const struct translation *t, uint32_t index)
{
    const struct native_region *region = t->region;
    if (index >= region->first && index < region->end)
        t->llvm->BuildBr(t->builder, t->blocks[index - region->first]);
    else
        leave(t, &t->unit->function->code[index], EXEC_GO);
}

/* Calls a handler for `inst`. */
static LLVMValueRef call(const struct translation *t, LLVMValueRef run, LLVMValueRef inst)
{
    LLVMTypeRef parameters[] = {t->bytes, t->bytes};
    LLVMTypeRef type = t->llvm->FunctionType(t->word, parameters, 2, false);
    LLVMValueRef arguments[] = {t->warp, inst};
    LLVMValueRef handler =
        t->llvm->BuildBitCast(t->builder, run, t->llvm->PointerType(type, 0), "");
    return t->llvm->BuildCall2(t->builder, type, handler, arguments, 2, "");
}

static LLVMValueRef call_inst(const struct translation *t, const struct exec_inst *inst)
{
    void *run;
    memcpy(&run, &inst->run, sizeof run);
    return call(t, pointer(t, run), pointer(t, inst));
}

static void build_leave(const struct translation *t)
{
    LLVMBasicBlockRef executes = new_block(t), gone = new_block(t);
    t->llvm->PositionBuilderAtEnd(t->builder, t->leave);
    for (size_t k = 0; k < t->slot_count; k++)
        if (t->slots[k].writes) copy_slot(t, &t->slots[k], true);
    t->llvm->BuildBr(t->builder, t->end);
    t->llvm->PositionBuilderAtEnd(t->builder, t->end);
    LLVMValueRef run = t->llvm->BuildLoad2(t->builder, t->bytes, t->run, "");
    LLVMValueRef none = t->llvm->BuildICmp(t->builder, LLVMIntEQ, run, pointer(t, NULL), "");
    t->llvm->BuildCondBr(t->builder, none, gone, executes);
    t->llvm->PositionBuilderAtEnd(t->builder, executes);
    t->llvm->BuildRet(t->builder,
                      call(t, run, t->llvm->BuildLoad2(t->builder, t->bytes, t->last, "")));
    t->llvm->PositionBuilderAtEnd(t->builder, gone);
    t->llvm->BuildRet(t->builder, t->llvm->BuildLoad2(t->builder, t->word, t->step, ""));
}

/* ---- instructions ---------------------------------------------------------------------------- */

static LLVMValueRef guard_of(const struct translation *t, const struct exec_inst *inst)
{
    LLVMValueRef predicate = load(t, t->lanes, inst->guard >> 1, t->word);
    return inst->guard & 1 ? t->llvm->BuildNot(t->builder, predicate, "") : predicate;
}

/* The instruction as a constant, so that its operands are known. */
static LLVMValueRef constant_of(const struct translation *t, const struct exec_inst *inst)
{
    enum { WORDS = sizeof *inst / sizeof(uint64_t) };
    uint64_t words[WORDS];
    LLVMValueRef values[WORDS];
    memcpy(words, inst, sizeof words);
    for (size_t k = 0; k < WORDS; k++) values[k] = t->llvm->ConstInt(t->wide, words[k], false);
    LLVMValueRef list = t->llvm->ConstArray(t->wide, values, WORDS);
    LLVMValueRef global = t->llvm->AddGlobal(t->unit->module, t->llvm->TypeOf(list), "inst");
    t->llvm->SetInitializer(global, list);
    t->llvm->SetGlobalConstant(global, true);
    t->llvm->SetLinkage(global, LLVMInternalLinkage);
    return global;
}

/* Calls what is to be inlined: it sees `state`, and the instruction. */
static LLVMValueRef call_row(const struct translation *t, LLVMValueRef row, LLVMValueRef state,
                             const struct exec_inst *inst)
{
    LLVMValueRef arguments[] = {state, constant_of(t, inst)};
    for (unsigned k = 0; k < 2; k++)
        arguments[k] = t->llvm->BuildBitCast(t->builder, arguments[k],
                                             t->llvm->TypeOf(t->llvm->GetParam(row, k)), "");
    return t->llvm->BuildCall2(t->builder, t->llvm->GlobalGetValueType(row), row, arguments, 2, "");
}

static void inline_row(struct translation *t, const struct exec_inst *inst, LLVMValueRef row)
{
    const bool guarded = inst->guard != EXEC_NO_GUARD;
    const size_t mask = offsetof(struct exec_warp, mask);
    if (guarded)
        store(t, t->copy, mask, t->llvm->BuildAnd(t->builder, t->computing, guard_of(t, inst), ""));
    call_row(t, row, t->copy, inst);
    if (guarded) store(t, t->copy, mask, t->computing);
    t->pending++;
}

/* Which of the region's slots an instruction names. */
static bool names(const struct exec_inst *inst, const struct native_use *slot)
{
    const uint32_t offsets[] = {inst->d, inst->a, inst->b, inst->c, inst->e, inst->guard >> 1};
    for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++)
        if (offsets[k] == slot->offset) return true;
    return false;
}

/* Whether a called instruction may write the slot. */
static bool changes(const struct exec_inst *inst, const struct native_use *slot)
{
    struct native_use uses[NATIVE_USES];
    const unsigned count = native_uses(inst, uses);
    for (unsigned k = 0; k < count; k++)
        if (uses[k].writes && uses[k].offset == slot->offset) return true;
    return false;
}

/* The lanes that do not run have executed `instructions` less than those that do. */
static void count_apart(const struct translation *t, uint32_t instructions)
{
    LLVMTypeRef type = t->llvm->FunctionType(t->word, &(LLVMTypeRef){t->word}, 1, false);
    LLVMValueRef popcount = t->llvm->GetNamedFunction(t->unit->module, "llvm.ctpop.i32");
    if (popcount == NULL) popcount = t->llvm->AddFunction(t->unit->module, "llvm.ctpop.i32", type);
    LLVMValueRef lanes =
        t->llvm->BuildCall2(t->builder, type, popcount, &(LLVMValueRef){t->others}, 1, "");
    LLVMValueRef wide = t->llvm->BuildZExt(
        t->builder, t->llvm->BuildMul(t->builder, lanes, number(t, instructions), ""), t->wide, "");
    const size_t field = offsetof(struct exec_warp, lane_instructions);
    store(t, t->warp, field,
          t->llvm->BuildSub(t->builder, load(t, t->warp, field, t->wide), wide, ""));
}

/* The region is left in a branch that some lanes do not take: they become a fragment, as they would
 * have when lanes parted. */
static void part(const struct translation *t)
{
    void *split;
    memcpy(&split,
           &(void (*)(struct exec_warp *, uint32_t, const struct exec_inst *, struct exec_frame *)){
               exec_split},
           sizeof split);
    LLVMTypeRef parameters[] = {t->bytes, t->word, t->bytes, t->bytes};
    LLVMTypeRef type =
        t->llvm->FunctionType(t->llvm->VoidTypeInContext(t->unit->context), parameters, 4, false);
    LLVMValueRef arguments[] = {t->warp, t->others, pointer(t, t->go),
                                load(t, t->warp, offsetof(struct exec_warp, frame), t->bytes)};
    count_apart(t, t->alone);
    t->llvm->BuildCall2(
        t->builder, type,
        t->llvm->BuildBitCast(t->builder, pointer(t, split), t->llvm->PointerType(type, 0), ""),
        arguments, 4, "");
}

static void call_handler(struct translation *t, const struct exec_inst *inst, bool seldom)
{
    t->pending++;
    count_pending(t);
    store(t, t->warp, offsetof(struct exec_warp, pc), pointer(t, inst + 1));
    for (size_t k = 0; k < t->slot_count; k++)
        if (t->slots[k].writes && names(inst, &t->slots[k])) copy_slot(t, &t->slots[k], true);
    LLVMValueRef step = call_inst(t, inst);
    if (seldom) t->llvm->AddCallSiteAttribute(step, LLVMAttributeFunctionIndex, t->cold);
    for (size_t k = 0; k < t->slot_count; k++)
        if (changes(inst, &t->slots[k])) copy_slot(t, &t->slots[k], false);
    LLVMBasicBlockRef gone = new_block(t), next = new_block(t);
    LLVMValueRef goes = t->llvm->BuildICmp(t->builder, LLVMIntEQ, step, number(t, EXEC_GO), "");
    t->llvm->BuildCondBr(t->builder, goes, next, gone);
    t->llvm->PositionBuilderAtEnd(t->builder, gone);
    if (t->go != NULL) part(t);
    t->llvm->BuildStore(t->builder, step, t->step);
    t->llvm->BuildBr(t->builder, t->leave);
    t->llvm->PositionBuilderAtEnd(t->builder, next);
}

/* A load or store, or what is beside it, that may be settled in line; if not, its handler is
 * called. What lanes do together ends the region then: its handler may end the turn of these lanes
 * and write slots of others. */
static void inline_quick(struct translation *t, const struct exec_inst *inst, LLVMValueRef row)
{
    const uint32_t pending = t->pending, counted = native_is_counted(inst);
    LLVMValueRef lanes = inst->guard == EXEC_NO_GUARD
                             ? t->mask
                             : t->llvm->BuildAnd(t->builder, t->mask, guard_of(t, inst), "");
    store(t, t->quick, offsetof(struct exec_quick, mask), lanes);
    struct exec_inst quick = *inst;
    const size_t behind = (size_t)(inst + 1 - t->unit->function->code);
    if (native_is_atomic(inst) && !native_is_live(&t->unit->live, behind, inst->d))
        quick.d = EXEC_NO_SLOT;
    LLVMValueRef done = call_row(t, row, t->quick, &quick);
    LLVMBasicBlockRef rest = new_block(t), next = new_block(t);
    expect(t, t->llvm->BuildCondBr(t->builder, done, next, rest));
    t->llvm->PositionBuilderAtEnd(t->builder, rest);
    if (native_kind(inst) == NATIVE_TOGETHER) {
        leave_by(t, inst);
    } else {
        call_handler(t, inst, true);
        /* Both ways meet with the same left to count. */
        count(t, offsetof(struct exec_warp, instructions), t->wide, -(int64_t)(pending + counted));
        t->llvm->BuildBr(t->builder, next);
    }
    t->llvm->PositionBuilderAtEnd(t->builder, next);
    t->pending = pending + counted;
}

/* The function that is put in line for the instruction; NULL: its handler is called. */
static LLVMValueRef row_of(const struct translation *t, const struct exec_inst *inst)
{
    const struct native_rows *rows = &t->unit->rows;
    if (native_kind(inst) == NATIVE_LANES)
        return native_row_function(t->llvm, rows, native_row_handler(inst));
    return native_row_quick(t->llvm, rows, native_row_handler(inst), t->full);
}

/* An instruction that lanes execute without parting. */
static void build_straight(struct translation *t, const struct exec_inst *inst)
{
    const enum native_kind kind = native_kind(inst);
    const unsigned most = t->full ? MOST_QUICK : MOST_SOME;
    LLVMValueRef row = row_of(t, inst);
    if (row != NULL && kind == NATIVE_LANES)
        inline_row(t, inst, row);
    else if (row != NULL && (t->quick_count++ < most || kind == NATIVE_TOGETHER))
        inline_quick(t, inst, row);
    else
        call_handler(t, inst, false);
}

/* ---- lanes that part for a few instructions ---------------------------------------------------
 */

/* A branch that some lanes take and others not. The scheduler (machine/warp.c) runs the lanes that
 * do not take it first, from the next instruction to `target`, where the others wait; or, of an if
 * that has an else, to a branch before it over what is there to `end`, where all meet. */
struct fork {
    const struct exec_inst *target, *end; /* the same: there is no else */
};

static bool is_straight(const struct exec_inst *from, const struct exec_inst *to)
{
    for (; from < to; from++) {
        const enum native_kind kind = native_kind(from);
        if (kind != NATIVE_LANES && (kind != NATIVE_CALL || native_is_judge(from))) return false;
    }
    return true;
}

static bool find_fork(const struct translation *t, const struct exec_inst *inst, struct fork *fork)
{
    const struct exec_inst *code = t->unit->function->code, *last = code + t->region->end;
    const struct exec_inst *target = inst->extra;
    if (native_is_round(inst) || target <= inst || target > last || target - inst > MOST_APART)
        return false;
    *fork = (struct fork){target, target};
    if (is_straight(inst + 1, target)) return true;
    const struct exec_inst *over = target - 1;
    if (native_kind(over) != NATIVE_BRANCH || over->guard != EXEC_NO_GUARD || over == inst ||
        native_is_round(over))
        return false;
    fork->end = over->extra;
    return fork->end > target && fork->end <= last && fork->end - target <= MOST_APART &&
           is_straight(inst + 1, over) && is_straight(target, fork->end);
}

/* `from` to `to` for `lanes`, while `others` wait at `go`. `over`: another, a branch, follows. */
static void build_side(struct translation *t, const struct exec_inst *from,
                       const struct exec_inst *to, LLVMValueRef lanes, LLVMValueRef others,
                       const struct exec_inst *go, bool over)
{
    const struct translation before = *t;
    const size_t mask = offsetof(struct exec_warp, mask), full = offsetof(struct exec_warp, full);
    t->mask = t->computing = lanes;
    t->full = false;
    t->others = others;
    t->go = go;
    t->alone = 0;
    store(t, t->copy, mask, lanes);
    store(t, t->warp, mask, lanes);
    store(t, t->warp, full, number(t, 0));
    for (; from < to; from++) {
        t->alone += native_is_counted(from);
        build_straight(t, from);
    }
    t->pending += over;
    count_pending(t);
    count_apart(t, t->alone + over);
    t->mask = before.mask;
    t->computing = before.computing;
    t->full = before.full;
    t->others = NULL;
    t->go = NULL;
    store(t, t->copy, mask, t->computing);
    store(t, t->warp, mask, t->mask);
    store(t, t->warp, full, number(t, t->full));
}

static void build_fork(struct translation *t, const struct exec_inst *inst, LLVMValueRef taken,
                       const struct fork *fork)
{
    LLVMValueRef rest =
        t->llvm->BuildAnd(t->builder, t->mask, t->llvm->BuildNot(t->builder, taken, ""), "");
    const bool has_else = fork->end != fork->target;
    t->pending = 1;
    build_side(t, inst + 1, fork->target - has_else, rest, taken, fork->target, has_else);
    if (has_else) build_side(t, fork->target, fork->end, taken, rest, fork->end, false);
    go_on(t, (uint32_t)(fork->end - t->unit->function->code));
}

/* ---- branches ---------------------------------------------------------------------------------
 */

/* ops/control.c's branch(), for all lanes that run. */
static void take_branch(struct translation *t, const struct exec_inst *inst)
{
    const struct exec_inst *target = inst->extra;
    t->pending++;
    count_pending(t);
    if (native_is_round(inst))
        store(t, t->warp, offsetof(struct exec_warp, rounds),
              t->llvm->BuildOr(t->builder,
                               load(t, t->warp, offsetof(struct exec_warp, rounds), t->word),
                               t->mask, ""));
    if (target <= inst) {
        LLVMValueRef left = count(t, offsetof(struct exec_warp, backward), t->word, -1);
        LLVMBasicBlockRef spent = new_block(t), next = new_block(t);
        t->llvm->BuildCondBr(t->builder,
                             t->llvm->BuildICmp(t->builder, LLVMIntEQ, left, number(t, 0), ""),
                             spent, next);
        t->llvm->PositionBuilderAtEnd(t->builder, spent);
        leave(t, target, EXEC_RESCHEDULE);
        t->llvm->PositionBuilderAtEnd(t->builder, next);
    }
    go_on(t, (uint32_t)(target - t->unit->function->code));
}

/* Where lanes part for more than a few instructions, the interpreter executes the branch. */
static void build_branch(struct translation *t, const struct exec_inst *inst)
{
    struct fork fork;
    if (inst->guard == EXEC_NO_GUARD) {
        take_branch(t, inst);
        return;
    }
    count_pending(t);
    LLVMValueRef taken = t->llvm->BuildAnd(t->builder, t->mask, guard_of(t, inst), "");
    LLVMBasicBlockRef all = new_block(t), rest = new_block(t);
    LLVMBasicBlockRef none = new_block(t), some = new_block(t);
    t->llvm->BuildCondBr(t->builder, t->llvm->BuildICmp(t->builder, LLVMIntEQ, taken, t->mask, ""),
                         all, rest);
    t->llvm->PositionBuilderAtEnd(t->builder, all);
    take_branch(t, inst);
    t->llvm->PositionBuilderAtEnd(t->builder, rest);
    t->llvm->BuildCondBr(
        t->builder, t->llvm->BuildICmp(t->builder, LLVMIntEQ, taken, number(t, 0), ""), none, some);
    t->llvm->PositionBuilderAtEnd(t->builder, some);
    if (find_fork(t, inst, &fork))
        build_fork(t, inst, taken, &fork);
    else
        leave_by(t, inst);
    t->llvm->PositionBuilderAtEnd(t->builder, none);
    t->pending = 1;
    count_pending(t);
    go_on(t, (uint32_t)(inst + 1 - t->unit->function->code));
}

/* Instruction `index`; false: the block has ended. */
static bool build_instruction(struct translation *t, uint32_t index)
{
    const struct exec_inst *inst = &t->unit->function->code[index];
    const enum native_kind kind = native_kind(inst);
    if (kind == NATIVE_BRANCH) {
        build_branch(t, inst);
        return false;
    }
    LLVMValueRef row = kind != NATIVE_END ? row_of(t, inst) : NULL;
    if (kind == NATIVE_END || (kind == NATIVE_TOGETHER && row == NULL)) {
        leave_by(t, inst);
        return false;
    }
    build_straight(t, inst);
    return true;
}

/* ---- a version of the region ----------------------------------------------------------------- */

/* Whether all lanes have the same. */
static bool is_uniform(const struct exec_constant *constant)
{
    return constant->kind != EXEC_CONSTANT_SPECIAL || constant->index == PTX_SPECIAL_NTID ||
           constant->index == PTX_SPECIAL_CTAID || constant->index == PTX_SPECIAL_NCTAID;
}

/* What is known is a constant, and of what all lanes have one is loaded. */
static LLVMValueRef splat(const struct translation *t, const struct exec_constant *constant)
{
    LLVMTypeRef type = constant->width == 8 ? t->wide : t->word;
    LLVMTypeRef lanes = t->llvm->VectorType(type, EXEC_LANES);
    LLVMValueRef value = constant->kind == EXEC_CONSTANT_VALUE
                             ? t->llvm->ConstInt(type, constant->value, false)
                             : load(t, t->frame, constant->slot, type);
    LLVMValueRef none = t->llvm->GetUndef(lanes);
    LLVMValueRef one = t->llvm->BuildInsertElement(t->builder, none, value, number(t, 0), "");
    return t->llvm->BuildShuffleVector(
        t->builder, one, none, t->llvm->ConstNull(t->llvm->VectorType(t->word, EXEC_LANES)), "");
}

static void copy_in(const struct translation *t)
{
    const struct exec_function *function = t->unit->function;
    for (size_t k = 0; k < t->slot_count; k++) {
        const struct native_use *slot = &t->slots[k];
        /* Nobody else has lanes there that live. */
        if (t->full && !native_is_live(&t->unit->live, t->region->first, slot->offset))
            store(t, t->lanes, slot->offset, t->llvm->ConstNull(slot_type(t, slot->width)));
        else
            copy_slot(t, slot, false);
    }
    for (size_t c = 0; c < function->constant_count; c++) {
        const struct exec_constant *constant = &function->constants[c];
        if (!is_uniform(constant)) continue;
        for (size_t k = 0; k < t->slot_count; k++)
            if (t->slots[k].offset == constant->slot && !t->slots[k].writes &&
                t->slots[k].width == constant->width * EXEC_LANES)
                store(t, t->lanes, constant->slot, splat(t, constant));
    }
}

static LLVMValueRef room_for(const struct translation *t, uint64_t bytes)
{
    LLVMValueRef room =
        t->llvm->BuildAlloca(t->builder, t->llvm->ArrayType(t->byte, (unsigned)bytes), "");
    t->llvm->SetAlignment(room, 64);
    return t->llvm->BuildBitCast(t->builder, room, t->bytes, "");
}

/* A kernel is always the one that the worker runs; what it calls is not. */
static void fill_caches(const struct translation *t, LLVMValueRef worker)
{
    const struct exec_function *function = t->unit->function;
    LLVMValueRef first = t->llvm->ConstInt(t->wide, function->first_cache, false);
    LLVMValueRef count = t->llvm->ConstInt(t->wide, function->cache_count, false);
    if (!function->entry) {
        first = load(t, worker, offsetof(struct exec_worker, first_cache), t->wide);
        count = load(t, worker, offsetof(struct exec_worker, cache_count), t->wide);
    }
    store(t, t->quick, offsetof(struct exec_quick, caches),
          load(t, worker, offsetof(struct exec_worker, caches), t->bytes));
    store(t, t->quick, offsetof(struct exec_quick, first_cache), first);
    store(t, t->quick, offsetof(struct exec_quick, cache_count), count);
}

static void fill_quick(const struct translation *t)
{
    LLVMValueRef block = load(t, t->warp, offsetof(struct exec_warp, block), t->bytes);
    LLVMValueRef worker = load(t, t->warp, offsetof(struct exec_warp, worker), t->bytes);
    store(t, t->quick, offsetof(struct exec_quick, slots), t->lanes);
    store(t, t->quick, offsetof(struct exec_quick, warp), t->warp);
    store(t, t->quick, offsetof(struct exec_quick, worker), worker);
    store(t, t->quick, offsetof(struct exec_quick, shared),
          load(t, block, offsetof(struct exec_block, shared), t->bytes));
    store(t, t->quick, offsetof(struct exec_quick, shared_bytes),
          load(t, worker, offsetof(struct exec_worker, shared_bytes), t->word));
    fill_caches(t, worker);
    LLVMValueRef launch = load(t, worker, offsetof(struct exec_worker, launch), t->bytes);
    LLVMValueRef watch = load(t, launch, offsetof(struct exec_launch, watch), t->bytes);
    LLVMValueRef watched = t->llvm->BuildICmp(t->builder, LLVMIntNE, watch, pointer(t, NULL), "");
    store(t, t->quick, offsetof(struct exec_quick, watched),
          t->llvm->BuildZExt(t->builder, watched, t->byte, ""));
    void *order;
    memcpy(&order, &(void (*)(const struct exec_warp *)){exec_shadow_order_warp}, sizeof order);
    store(t, t->quick, offsetof(struct exec_quick, order), pointer(t, order));
}

/* From here on, with the builder at the entry block's end; `start`: where the version begins. */
static void build_version(struct translation *t, LLVMBasicBlockRef start, bool full)
{
    const struct native_region *region = t->region;
    t->full = full;
    t->quick_count = 0;
    t->step = t->llvm->BuildAlloca(t->builder, t->word, "");
    t->last = t->llvm->BuildAlloca(t->builder, t->bytes, "");
    t->run = t->llvm->BuildAlloca(t->builder, t->bytes, "");
    t->copy = room_for(t, sizeof(struct exec_warp));
    t->quick = room_for(t, sizeof(struct exec_quick));
    t->lanes = room_for(t, t->unit->function->frame_bytes);
    t->leave = new_block(t);
    t->end = new_block(t);
    for (uint32_t k = region->first; k < region->end; k++)
        t->blocks[k - region->first] =
            k == region->first || t->unit->leads[k] ? new_block(t) : NULL;

    t->llvm->PositionBuilderAtEnd(t->builder, start);
    t->frame = load(t, t->warp, offsetof(struct exec_warp, slots), t->bytes);
    t->mask = load(t, t->warp, offsetof(struct exec_warp, mask), t->word);
    t->computing = full ? number(t, EXEC_ALL) : t->mask;
    store(t, t->copy, offsetof(struct exec_warp, slots), t->lanes);
    store(t, t->copy, offsetof(struct exec_warp, mask), t->computing);
    t->llvm->BuildStore(t->builder, pointer(t, NULL), t->run);
    fill_quick(t);
    copy_in(t);
    t->pending = 0;
    bool open = true;
    for (uint32_t k = region->first; k < region->end; k++) {
        LLVMBasicBlockRef block = t->blocks[k - region->first];
        if (block != NULL) {
            count_pending(t);
            if (open) t->llvm->BuildBr(t->builder, block);
            t->llvm->PositionBuilderAtEnd(t->builder, block);
            open = true;
        }
        if (open) open = build_instruction(t, k);
    }
    if (open) {
        count_pending(t);
        go_on(t, region->end);
    }
    build_leave(t);
}

/* ---- a region -------------------------------------------------------------------------------- */

static void note_slot(struct translation *t, const struct native_use *use)
{
    struct native_use *slot = t->slots;
    while (slot < t->slots + t->slot_count && slot->offset != use->offset) slot++;
    if (slot == t->slots + t->slot_count) {
        t->slot_count++;
        *slot = *use;
    }
    if (use->width > slot->width) slot->width = use->width;
    slot->writes |= use->writes;
}

static void find_slots(struct translation *t)
{
    for (uint32_t k = t->region->first; k < t->region->end; k++) {
        const struct exec_inst *inst = &t->unit->function->code[k];
        struct native_use uses[NATIVE_USES];
        unsigned used = 0;
        const enum native_kind kind = native_kind(inst);
        const bool may = kind == NATIVE_CALL || kind == NATIVE_TOGETHER;
        if (kind == NATIVE_LANES || (may && row_of(t, inst) != NULL))
            used = native_uses(inst, uses);
        else if (kind == NATIVE_BRANCH && inst->guard != EXEC_NO_GUARD)
            uses[used++] = (struct native_use){.offset = inst->guard >> 1, .width = NATIVE_MASK};
        for (unsigned u = 0; u < used; u++) note_slot(t, &uses[u]);
    }
}

static void build_function(struct translation *t, const char *name)
{
    const struct llvm *llvm = t->llvm;
    const struct exec_inst *first = &t->unit->function->code[t->region->first];
    LLVMTypeRef parameters[] = {t->bytes, t->bytes};
    t->function =
        llvm->AddFunction(t->unit->module, name, llvm->FunctionType(t->word, parameters, 2, false));
    t->warp = llvm->GetParam(t->function, 0);
    LLVMBasicBlockRef entry = new_block(t), aside = new_block(t), start = new_block(t);
    LLVMBasicBlockRef versions[] = {new_block(t), new_block(t)};
    for (int full = 0; full < 2; full++) {
        llvm->PositionBuilderAtEnd(t->builder, entry);
        build_version(t, versions[full], full == 1);
    }
    llvm->PositionBuilderAtEnd(t->builder, entry);
    /* Another fragment stands inside, or somebody looks at each instruction. */
    LLVMValueRef clear = llvm->BuildICmp(
        t->builder, LLVMIntUGE, load(t, t->warp, offsetof(struct exec_warp, limit), t->bytes),
        pointer(t, &t->unit->function->code[t->region->end]), "");
    llvm->BuildCondBr(t->builder, clear, start, aside);
    llvm->PositionBuilderAtEnd(t->builder, aside);
    llvm->BuildRet(t->builder, call_inst(t, first));
    llvm->PositionBuilderAtEnd(t->builder, start);
    /* The loop that calls us has counted the first. */
    count(t, offsetof(struct exec_warp, instructions), t->wide, -1);
    LLVMValueRef full = llvm->BuildICmp(t->builder, LLVMIntNE,
                                        load(t, t->warp, offsetof(struct exec_warp, full), t->word),
                                        number(t, 0), "");
    llvm->BuildCondBr(t->builder, full, versions[1], versions[0]);
}

bool native_translate(struct native_unit *unit, const struct native_region *region,
                      const char *name)
{
    const struct llvm *llvm = unit->llvm;
    const uint32_t length = region->end - region->first;
    struct translation t = {.unit = unit,
                            .full = true, /* find_slots: what any version needs */
                            .llvm = llvm,
                            .builder = unit->builder,
                            .region = region,
                            .byte = llvm->Int8TypeInContext(unit->context),
                            .word = llvm->Int32TypeInContext(unit->context),
                            .wide = llvm->Int64TypeInContext(unit->context)};
    t.bytes = llvm->PointerType(t.byte, 0);
    t.cold =
        llvm->CreateEnumAttribute(unit->context, llvm->GetEnumAttributeKindForName("cold", 4), 0);
    t.slots = calloc((size_t)length * NATIVE_USES, sizeof *t.slots);
    t.blocks = calloc(length, sizeof(LLVMBasicBlockRef));
    const bool fine = t.slots != NULL && t.blocks != NULL;
    if (fine) {
        find_slots(&t);
        build_function(&t, name);
    }
    free(t.slots);
    free(t.blocks);
    return fine;
}
