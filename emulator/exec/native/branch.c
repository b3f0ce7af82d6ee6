/* Branches: lanes that diverge, wait and reconverge.
 *
 * Where lanes diverge for a few instructions (a fork), the code of one side follows that of the
 * other; this serves full warps too. Otherwise code for warps of which some lanes are active does
 * what the scheduler (machine/warp.c) does with fragments: the lanes at the lowest instruction run
 * first, and lanes that have reached a higher one wait there. Each such place has a mask of waiting
 * lanes. Where the region is left, waiting lanes become fragments. */
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/native/translation.h"

#include <string.h>

/* Sets the active lanes from here on. */
static void set_lanes(const struct native_translation *t, LLVMValueRef lanes)
{
    native_store(t, t->copy, offsetof(struct exec_warp, mask), lanes);
    native_store(t, t->warp, offsetof(struct exec_warp, mask), lanes);
}

static LLVMValueRef executed(const struct native_translation *t)
{
    return native_load(t, t->warp, offsetof(struct exec_warp, instructions), t->wide);
}

/* The caller will count each instruction for all lanes that entered. For those that waited, what
 * ran since `since` is subtracted. */
static void count_apart_since(const struct native_translation *t, LLVMValueRef waiting,
                              LLVMValueRef since)
{
    LLVMTypeRef type = t->llvm->FunctionType(t->word, &(LLVMTypeRef){t->word}, 1, false);
    LLVMValueRef popcount = native_intrinsic(t, "llvm.ctpop.i32", type);
    LLVMValueRef lanes = t->llvm->BuildCall2(t->builder, type, popcount, &waiting, 1, "");
    LLVMValueRef each = t->llvm->BuildSub(t->builder, executed(t), since, "");
    LLVMValueRef all =
        t->llvm->BuildMul(t->builder, t->llvm->BuildZExt(t->builder, lanes, t->wide, ""), each, "");
    const size_t field = offsetof(struct exec_warp, lane_instructions);
    native_store(t, t->warp, field,
                 t->llvm->BuildSub(t->builder, native_load(t, t->warp, field, t->wide), all, ""));
}

/* Branches to `some` if the mask has lanes; else to a new block, where code continues. */
static LLVMBasicBlockRef if_any(const struct native_translation *t, LLVMValueRef lanes,
                                LLVMBasicBlockRef some)
{
    LLVMBasicBlockRef none = native_new_block(t);
    t->llvm->BuildCondBr(t->builder,
                         t->llvm->BuildICmp(t->builder, LLVMIntEQ, lanes, native_number(t, 0), ""),
                         none, some);
    t->llvm->PositionBuilderAtEnd(t->builder, none);
    return none;
}

static LLVMValueRef lanes_left(const struct native_translation *t, LLVMValueRef taken)
{
    return t->llvm->BuildAnd(t->builder, t->mask, t->llvm->BuildNot(t->builder, taken, ""), "");
}

/* ---- forks ----------------------------------------------------------------------------------- */

static void build_stretch(struct native_translation *t, const struct exec_inst *from,
                          const struct exec_inst *to);

/* Emits instructions `from` to `to` for `lanes`, while the side's others wait. `over`: a branch to
 * where they do follows. */
static void build_side(struct native_translation *t, const struct native_side *side,
                       const struct exec_inst *from, const struct exec_inst *to, LLVMValueRef lanes,
                       bool over)
{
    const struct native_translation before = *t;
    const size_t full = offsetof(struct exec_warp, full);
    LLVMValueRef since = executed(t);
    t->mask = t->computing = lanes;
    t->full = false;
    t->side = side;
    set_lanes(t, lanes);
    native_store(t, t->warp, full, native_number(t, 0));
    build_stretch(t, from, to);
    t->pending += over;
    native_count_pending(t);
    count_apart_since(t, side->others, since);
    t->mask = before.mask;
    t->computing = before.computing;
    t->full = before.full;
    t->side = before.side;
    native_store(t, t->copy, offsetof(struct exec_warp, mask), t->computing);
    native_store(t, t->warp, offsetof(struct exec_warp, mask), t->mask);
    native_store(t, t->warp, full, native_number(t, t->full));
}

/* Emits both sides of a fork. The one with the lower instructions comes first. `either`: a side
 * may have no lanes, and is skipped then. */
static void build_sides(struct native_translation *t, const struct exec_inst *inst,
                        const struct native_fork *fork, LLVMValueRef taken, LLVMValueRef rest,
                        bool either)
{
    const bool has_else = fork->end != fork->target;
    for (unsigned k = 0; k < (has_else ? 2 : 1); k++) {
        LLVMBasicBlockRef some = either ? native_new_block(t) : NULL;
        LLVMBasicBlockRef next = either ? if_any(t, k == 0 ? rest : taken, some) : NULL;
        if (either) t->llvm->PositionBuilderAtEnd(t->builder, some);
        const struct native_side first = {t->side, taken, fork->target, inst},
                                 second = {t->side, rest, fork->end, inst};
        if (k == 0)
            build_side(t, &first, inst + 1, fork->target - has_else, rest, has_else);
        else
            build_side(t, &second, fork->target, fork->end, taken, false);
        if (!either) continue;
        t->llvm->BuildBr(t->builder, next);
        t->llvm->PositionBuilderAtEnd(t->builder, next);
    }
}

/* Emits a part of one side: instructions at which lanes do not diverge, and forks. */
static void build_stretch(struct native_translation *t, const struct exec_inst *from,
                          const struct exec_inst *to)
{
    while (from < to) {
        struct native_fork fork;
        if (!native_fork_find(t->unit->function, native_index_of(t, to), from, &fork)) {
            native_build_straight(t, from++);
            continue;
        }
        t->pending++;
        native_count_pending(t);
        LLVMValueRef taken = t->llvm->BuildAnd(t->builder, t->mask, native_guard_of(t, from), "");
        build_sides(t, from, &fork, taken, lanes_left(t, taken), true);
        from = fork.end;
    }
}

static void build_fork(struct native_translation *t, const struct exec_inst *inst,
                       LLVMValueRef taken, LLVMValueRef rest, const struct native_fork *fork)
{
    const size_t at = t->at;
    native_settle_all(t);
    t->pending = 1;
    native_count_pending(t);
    build_sides(t, inst, fork, taken, rest, false);
    t->where = NATIVE_NOWHERE; /* settled: no slot is stale */
    native_go_on(t, native_index_of(t, inst), native_index_of(t, fork->end));
    t->at = at;
    t->where = NATIVE_BEFORE;
}

void native_sides_leave(const struct native_translation *t)
{
    for (const struct native_side *side = t->side; side != NULL; side = side->around)
        native_part(t, side->others, side->go);
}

/* ---- lanes that wait -------------------------------------------------------------------------
 *
 * Lanes wait only at instructions behind the one that runs. */

/* Returns the first place at or behind `index`; place_count: there is none. */
static size_t first_place(const struct native_translation *t, size_t index)
{
    size_t k = 0;
    while (k < t->place_count && t->places[k].at < index) k++;
    return k;
}

/* Returns the variable with the lanes that wait there; NULL: lanes never wait there. */
static LLVMValueRef waiting_at(const struct native_translation *t, size_t index)
{
    const size_t k = first_place(t, index);
    return k < t->place_count && t->places[k].at == index ? t->places[k].lanes : NULL;
}

static void add_place(struct native_translation *t, size_t index)
{
    const size_t k = first_place(t, index);
    if (waiting_at(t, index) != NULL) return;
    memmove(&t->places[k + 1], &t->places[k], (t->place_count++ - k) * sizeof *t->places);
    t->places[k] = (struct native_place){index, t->llvm->BuildAlloca(t->builder, t->word, "")};
}

void native_waits_find(struct native_translation *t)
{
    t->place_count = 0;
    if (t->full) return;
    for (size_t k = t->region->first; k < t->region->end; k++) {
        const struct exec_inst *inst = &t->unit->function->code[k];
        if (native_kind(inst) != NATIVE_BRANCH || !t->reached[k - t->region->first]) continue;
        const size_t target = native_index_of(t, inst->extra);
        const size_t behind = target > k ? target : k + 1;
        if (behind >= t->region->end || t->reached[behind - t->region->first]) add_place(t, behind);
    }
    t->running = t->llvm->BuildAlloca(t->builder, t->word, "");
    t->entered = t->llvm->BuildAlloca(t->builder, t->word, "");
    t->since = t->llvm->BuildAlloca(t->builder, t->wide, "");
    t->rounds = t->llvm->BuildAlloca(t->builder, t->word, "");
}

bool native_waits_read(const struct native_translation *t, uint32_t offset)
{
    for (size_t k = 0; k < t->place_count; k++)
        if (native_is_live(&t->unit->live, t->places[k].at, offset)) return true;
    return false;
}

static LLVMValueRef load_word(const struct native_translation *t, LLVMValueRef place)
{
    return t->llvm->BuildLoad2(t->builder, t->word, place, "");
}

void native_waits_begin(const struct native_translation *t)
{
    if (t->full) return;
    for (size_t k = 0; k < t->place_count; k++)
        t->llvm->BuildStore(t->builder, native_number(t, 0), t->places[k].lanes);
    t->llvm->BuildStore(t->builder, t->mask, t->running);
    t->llvm->BuildStore(t->builder, t->mask, t->entered);
    t->llvm->BuildStore(t->builder, executed(t), t->since);
    t->llvm->BuildStore(t->builder, native_number(t, 0), t->rounds);
}

/* The waiting lanes have not executed what ran since lanes last diverged or reconverged. */
static void count_waits(const struct native_translation *t)
{
    LLVMValueRef waiting =
        t->llvm->BuildXor(t->builder, load_word(t, t->entered), load_word(t, t->running), "");
    count_apart_since(t, waiting, t->llvm->BuildLoad2(t->builder, t->wide, t->since, ""));
    t->llvm->BuildStore(t->builder, executed(t), t->since);
}

static void set_running(const struct native_translation *t, LLVMValueRef lanes)
{
    t->llvm->BuildStore(t->builder, lanes, t->running);
    set_lanes(t, lanes);
}

/* Makes lanes wait at the place; others run. */
static void add_waiting(const struct native_translation *t, size_t index, LLVMValueRef lanes)
{
    LLVMValueRef place = waiting_at(t, index);
    t->llvm->BuildStore(t->builder, t->llvm->BuildOr(t->builder, load_word(t, place), lanes, ""),
                        place);
}

/* A lane that has gone round the loop alone often enough leaves the region, and comes back into the
 * version for lone lanes. */
static void leave_alone(struct native_translation *t)
{
    enum { ROUNDS = 4 };
    LLVMValueRef zero = native_number(t, 0), one = native_number(t, 1);
    LLVMValueRef more = t->llvm->BuildAdd(t->builder, load_word(t, t->rounds), one, "");
    LLVMValueRef rounds =
        t->llvm->BuildSelect(t->builder, native_is_single(t, t->mask), more, zero, "");
    LLVMBasicBlockRef leaves = native_new_block(t), stays = native_new_block(t);
    t->llvm->BuildStore(t->builder, rounds, t->rounds);
    LLVMValueRef enough =
        t->llvm->BuildICmp(t->builder, LLVMIntEQ, rounds, native_number(t, ROUNDS), "");
    t->llvm->BuildCondBr(t->builder, enough, leaves, stays);
    t->llvm->PositionBuilderAtEnd(t->builder, leaves);
    native_leave(t, &t->unit->function->code[t->region->enter], EXEC_GO);
    t->llvm->PositionBuilderAtEnd(t->builder, stays);
}

void native_waits_meet(struct native_translation *t, size_t index)
{
    if (t->full) return;
    LLVMValueRef place = waiting_at(t, index);
    if (place != NULL) {
        LLVMBasicBlockRef some = native_new_block(t);
        LLVMValueRef lanes = load_word(t, place);
        LLVMBasicBlockRef next = if_any(t, lanes, some);
        t->llvm->PositionBuilderAtEnd(t->builder, some);
        count_waits(t);
        set_running(t, t->llvm->BuildOr(t->builder, load_word(t, t->running), lanes, ""));
        t->llvm->BuildStore(t->builder, native_number(t, 0), place);
        t->llvm->BuildBr(t->builder, next);
        t->llvm->PositionBuilderAtEnd(t->builder, next);
    }
    t->mask = t->computing = load_word(t, t->running);
    if (index == t->region->enter && (t->versions & NATIVE_LONE)) leave_alone(t);
}

void native_lone_meets(struct native_translation *t, size_t index)
{
    const struct exec_inst *inst = &t->unit->function->code[index];
    if (index == t->region->enter) return;
    LLVMBasicBlockRef met = native_new_block(t), next = native_new_block(t);
    LLVMValueRef here = native_executed(t, inst);
    native_expect(t, t->llvm->BuildCondBr(
                         t->builder, t->llvm->BuildICmp(t->builder, LLVMIntUGT, t->limit, here, ""),
                         next, met));
    t->llvm->PositionBuilderAtEnd(t->builder, met);
    native_leave(t, inst, EXEC_GO);
    t->llvm->PositionBuilderAtEnd(t->builder, next);
}

/* The running lanes continue at `index`, unless others wait at `place`, which is before it: then
 * these run first. */
static void let_pass(const struct native_translation *t, const struct native_place *place,
                     size_t index)
{
    LLVMBasicBlockRef some = native_new_block(t);
    LLVMBasicBlockRef none = if_any(t, load_word(t, place->lanes), some);
    t->llvm->PositionBuilderAtEnd(t->builder, some);
    count_waits(t);
    add_waiting(t, index, load_word(t, t->running));
    set_running(t, native_number(t, 0));
    t->llvm->BuildBr(t->builder, t->blocks[place->at - t->region->first]);
    t->llvm->PositionBuilderAtEnd(t->builder, none);
}

/* Makes the lanes that wait at the place a fragment. */
static void part_waiting(const struct native_translation *t, const struct native_place *place)
{
    LLVMBasicBlockRef some = native_new_block(t);
    LLVMValueRef lanes = load_word(t, place->lanes);
    LLVMBasicBlockRef none = if_any(t, lanes, some);
    t->llvm->PositionBuilderAtEnd(t->builder, some);
    native_part(t, lanes, &t->unit->function->code[place->at]);
    t->llvm->BuildBr(t->builder, none);
    t->llvm->PositionBuilderAtEnd(t->builder, none);
}

LLVMValueRef native_waits_leave(const struct native_translation *t)
{
    LLVMValueRef any = native_number(t, 0);
    if (t->full) return any;
    for (size_t k = 0; k < t->place_count; k++)
        any = t->llvm->BuildOr(t->builder, any, load_word(t, t->places[k].lanes), "");
    LLVMBasicBlockRef some = native_new_block(t);
    LLVMBasicBlockRef next = if_any(t, any, some);
    t->llvm->PositionBuilderAtEnd(t->builder, some);
    count_waits(t);
    for (size_t k = 0; k < t->place_count; k++) part_waiting(t, &t->places[k]);
    t->llvm->BuildBr(t->builder, next);
    t->llvm->PositionBuilderAtEnd(t->builder, next);
    return any;
}

void native_go_on(const struct native_translation *t, size_t from, size_t index)
{
    const size_t before = index < t->region->end ? index : t->region->end;
    for (size_t k = first_place(t, from + 1); k < t->place_count && t->places[k].at < before; k++)
        let_pass(t, &t->places[k], index);
    if (index >= t->region->first && index < t->region->end) {
        native_settle_for(t, index);
        t->llvm->BuildBr(t->builder, t->blocks[index - t->region->first]);
    } else {
        native_leave(t, &t->unit->function->code[index], EXEC_GO);
    }
}

/* ---- branches ---------------------------------------------------------------------------------
 */

static void note_round(const struct native_translation *t, const struct exec_inst *inst,
                       LLVMValueRef taken)
{
    const size_t rounds = offsetof(struct exec_warp, rounds);
    if (!native_is_round(inst)) return;
    if (t->lone) taken = native_load(t, t->warp, offsetof(struct exec_warp, mask), t->word);
    native_store(t, t->warp, rounds,
                 t->llvm->BuildOr(t->builder, native_load(t, t->warp, rounds, t->word), taken, ""));
}

/* The branch() of ops/control.c, for all active lanes. */
static void take_branch(struct native_translation *t, const struct exec_inst *inst)
{
    const struct exec_inst *target = inst->extra;
    if (target <= inst) {
        LLVMValueRef left = native_count(t, offsetof(struct exec_warp, backward), t->word, -1);
        LLVMBasicBlockRef spent = native_new_block(t), next = native_new_block(t);
        t->llvm->BuildCondBr(
            t->builder, t->llvm->BuildICmp(t->builder, LLVMIntEQ, left, native_number(t, 0), ""),
            spent, next);
        t->llvm->PositionBuilderAtEnd(t->builder, spent);
        native_leave(t, target, EXEC_RESCHEDULE);
        t->llvm->PositionBuilderAtEnd(t->builder, next);
    }
    native_go_on(t, native_index_of(t, inst), native_index_of(t, target));
}

/* The lanes `taken` take the branch, `rest` do not. The side at the lower instruction runs
 * first. */
static void part_for_long(struct native_translation *t, const struct exec_inst *inst,
                          LLVMValueRef taken, LLVMValueRef rest)
{
    const size_t behind = native_index_of(t, inst + 1), target = native_index_of(t, inst->extra);
    const bool forward = target >= behind;
    t->pending = 1;
    native_count_pending(t);
    note_round(t, inst, taken);
    count_waits(t);
    add_waiting(t, forward ? target : behind, forward ? taken : rest);
    set_running(t, forward ? rest : taken);
    if (forward)
        native_go_on(t, behind - 1, behind);
    else
        take_branch(t, inst);
}

static void build_some(struct native_translation *t, const struct exec_inst *inst,
                       LLVMValueRef taken)
{
    struct native_fork fork;
    LLVMValueRef rest = lanes_left(t, taken);
    if (native_fork_find(t->unit->function, t->region->end, inst, &fork))
        build_fork(t, inst, taken, rest, &fork);
    else if (t->full)
        native_leave_by(t, inst);
    else
        part_for_long(t, inst, taken, rest);
}

static void build_taken(struct native_translation *t, const struct exec_inst *inst)
{
    t->pending++;
    native_count_pending(t);
    note_round(t, inst, t->mask);
    take_branch(t, inst);
}

void native_build_branch(struct native_translation *t, const struct exec_inst *inst)
{
    if (inst->guard == EXEC_NO_GUARD) {
        build_taken(t, inst);
        return;
    }
    native_count_pending(t);
    LLVMValueRef taken = t->llvm->BuildAnd(t->builder, t->mask, native_guard_of(t, inst), "");
    LLVMBasicBlockRef all = native_new_block(t), rest = native_new_block(t);
    t->llvm->BuildCondBr(t->builder, t->llvm->BuildICmp(t->builder, LLVMIntEQ, taken, t->mask, ""),
                         all, rest);
    t->llvm->PositionBuilderAtEnd(t->builder, all);
    build_taken(t, inst);
    t->llvm->PositionBuilderAtEnd(t->builder, rest);
    if (!t->lone) {
        LLVMBasicBlockRef some = native_new_block(t);
        LLVMBasicBlockRef none = if_any(t, taken, some);
        t->llvm->PositionBuilderAtEnd(t->builder, some);
        build_some(t, inst, taken);
        t->llvm->PositionBuilderAtEnd(t->builder, none);
    }
    t->pending = 1;
    native_count_pending(t);
    native_go_on(t, native_index_of(t, inst), native_index_of(t, inst + 1));
}
