/* Translates a region into one LLVM function.
 *
 * Handlers see a copy of the warp with the two fields that lane arithmetic needs, and a copy of the
 * frame's slots. LLVM keeps both in registers, because nothing else refers to them. Slots are
 * copied in where the region is entered and out where it is left; the slots of a called handler are
 * copied around the call. A load or store first tries its inlined fast path.
 *
 * There are four versions. The first, stepped, is for warps of which every lane is active or dead,
 * so that no results are blended, and whose lanes have the steps that steps.c predicts, so that
 * addresses need no vectors. The other three are made on demand, in a function of their own: the
 * same without predicted steps; for warps of which some lanes are active and may diverge further
 * (branch.c); and for a lone lane, whose slots in the copy have one element, so that the code is
 * like scalar C. */
#include "emulator/exec/check/check.h"
#include "emulator/exec/launch.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/native/translation.h"
#include "emulator/exec/ops/ops.h"
#include "emulator/exec/ops/quick.h"
#include "emulator/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

/* ---- a version of the region ----------------------------------------------------------------- */

/* Emits instruction `index`. Returns false when it ends the basic block. */
static bool build_instruction(struct native_translation *t, uint32_t index)
{
    const struct exec_inst *inst = &t->unit->function->code[index];
    const enum native_kind kind = native_kind(inst);
    t->at = index;
    t->where = NATIVE_BEFORE;
    if (kind == NATIVE_BRANCH) {
        native_build_branch(t, inst);
        return false;
    }
    LLVMValueRef row = kind != NATIVE_END ? native_row_of(t, inst) : NULL;
    if (kind == NATIVE_END || (kind == NATIVE_TOGETHER && row == NULL)) {
        native_leave_by(t, inst);
        return false;
    }
    native_build_straight(t, inst);
    return true;
}

/* Emits all lanes of a uniform constant: a known value as a constant, any other loaded once. */
static LLVMValueRef splat(const struct native_translation *t, const struct exec_constant *constant)
{
    LLVMTypeRef type = constant->width == 8 ? t->wide : t->word;
    LLVMTypeRef lanes = t->llvm->VectorType(type, EXEC_LANES);
    LLVMValueRef value = constant->kind == EXEC_CONSTANT_VALUE
                             ? t->llvm->ConstInt(type, constant->value, false)
                             : native_load(t, t->frame, constant->slot, type);
    if (t->lone) return value;
    LLVMValueRef none = t->llvm->GetUndef(lanes);
    LLVMValueRef one =
        t->llvm->BuildInsertElement(t->builder, none, value, native_number(t, 0), "");
    return t->llvm->BuildShuffleVector(
        t->builder, one, none, t->llvm->ConstNull(t->llvm->VectorType(t->word, EXEC_LANES)), "");
}

/* Emits a mask of the lanes whose value is not the predicted steps from the first lane of their
 * part. */
static LLVMValueRef differing(const struct native_translation *t, LLVMValueRef lanes, int32_t step)
{
    LLVMValueRef firsts[NATIVE_HALVES];
    native_take_firsts(t, lanes, firsts);
    LLVMValueRef differ =
        t->llvm->BuildICmp(t->builder, LLVMIntNE, lanes, native_spread(t, firsts, step), "");
    return t->llvm->BuildBitCast(t->builder, differ,
                                 t->llvm->IntTypeInContext(t->unit->context, EXEC_LANES), "");
}

/* Emits a mask of the lanes whose predicate differs from that of the next lane of their part. */
static LLVMValueRef differing_bits(const struct native_translation *t, LLVMValueRef mask)
{
    const uint32_t pairs = t->unit->parts == 1 ? UINT32_MAX >> 1 : 0x7fff7fff;
    LLVMValueRef next = t->llvm->BuildLShr(t->builder, mask, native_number(t, 1), "");
    return t->llvm->BuildAnd(t->builder, t->llvm->BuildXor(t->builder, mask, next, ""),
                             native_number(t, pairs), "");
}

/* Emits 0 if in all warps each part lies in one row of the block, else 1. */
static LLVMValueRef not_in_rows(const struct native_translation *t)
{
    LLVMValueRef worker = native_load(t, t->warp, offsetof(struct exec_warp, worker), t->bytes);
    LLVMValueRef lanes = native_load(t, worker, offsetof(struct exec_worker, row_lanes), t->word);
    LLVMValueRef less = t->llvm->BuildICmp(t->builder, LLVMIntULT, lanes,
                                           native_number(t, EXEC_LANES / t->unit->parts), "");
    return t->llvm->BuildZExt(t->builder, less, t->word, "");
}

/* Emits the condition that all predictions are right; NULL: there are none. Steps of special
 * registers follow from the block's shape, so the next warp of the block (`next`) need not verify
 * them. */
static LLVMValueRef build_guesses(const struct native_translation *t, bool next)
{
    const struct native_live *live = &t->unit->live;
    LLVMValueRef frame = native_load(t, t->warp, offsetof(struct exec_warp, slots), t->bytes),
                 all = NULL;
    bool in_rows = false;
    for (size_t k = 0; k < live->slot_count; k++) {
        const uint32_t offset = live->slots[k].offset;
        const struct exec_constant *constant = native_constant_at(t->unit->function, offset);
        const int32_t step = native_step_before(&t->unit->steps, t->region->enter, offset);
        if (!native_is_guessed(&t->unit->steps, t->region, k) ||
            native_uniform_at(t->unit->function, offset) != NULL)
            continue;
        if (constant != NULL && (in_rows || next)) continue;
        in_rows |= constant != NULL;
        LLVMValueRef here =
            native_load(t, frame, offset, native_slot_type(t, live->slots[k].width));
        LLVMValueRef word = constant != NULL                      ? not_in_rows(t)
                            : live->slots[k].width == NATIVE_MASK ? differing_bits(t, here)
                                                                  : differing(t, here, step);
        all = all == NULL ? word : t->llvm->BuildOr(t->builder, all, word, "");
    }
    return all == NULL ? NULL
                       : t->llvm->BuildICmp(t->builder, LLVMIntEQ, all, native_number(t, 0), "");
}

/* Returns the constant of a slot that the region only reads and that is the same in all lanes of
 * all warps; NULL: it is not known to be. */
static const struct exec_constant *same_for_all(const struct native_translation *t,
                                                const struct native_use *slot)
{
    const struct exec_constant *constant = native_uniform_at(t->unit->function, slot->offset);
    return constant != NULL && !slot->writes && slot->width == constant->width * EXEC_LANES
               ? constant
               : NULL;
}

/* Loads the first lanes of predicted slots: with `of_all` of slots that are the same in all warps,
 * else of the others. */
static void take_guesses(const struct native_translation *t, bool of_all)
{
    const struct native_live *live = &t->unit->live;
    for (size_t k = 0; k < live->slot_count; k++) {
        const uint32_t offset = live->slots[k].offset, width = live->slots[k].width;
        const struct exec_constant *constant = native_constant_at(t->unit->function, offset);
        LLVMTypeRef type = native_lane_type(t, offset);
        LLVMValueRef firsts[NATIVE_HALVES];
        if (!native_is_guessed(&t->unit->steps, t->region, k) || width == NATIVE_MASK) continue;
        if (of_all != (native_uniform_at(t->unit->function, offset) != NULL)) continue;
        for (unsigned p = 0; p < t->unit->parts; p++)
            firsts[p] = constant != NULL && constant->kind == EXEC_CONSTANT_VALUE
                            ? t->llvm->ConstInt(type, constant->value, false)
                            : native_load(t, t->frame, offset + p * (width / NATIVE_HALVES), type);
        native_keep_firsts(t, offset, firsts);
    }
}

static void copy_in(const struct native_translation *t)
{
    for (size_t k = 0; k < t->slot_count; k++) {
        const struct native_use *slot = &t->slots[k];
        if (same_for_all(t, slot) != NULL) continue;
        /* No lane of a full warp needs the old value. */
        if (t->full && !native_is_live(&t->unit->live, t->region->enter, slot->offset))
            native_store(t, t->lanes, slot->offset,
                         t->llvm->ConstNull(native_slot_type(t, slot->width)));
        else
            native_copy_slot(t, slot, false);
    }
}

static void copy_in_for_all(const struct native_translation *t)
{
    for (size_t k = 0; k < t->slot_count; k++) {
        const struct exec_constant *constant = same_for_all(t, &t->slots[k]);
        if (constant != NULL) native_store(t, t->lanes, constant->slot, splat(t, constant));
    }
}

static LLVMValueRef room_for(const struct native_translation *t, uint64_t bytes)
{
    LLVMValueRef room =
        t->llvm->BuildAlloca(t->builder, t->llvm->ArrayType(t->byte, (unsigned)bytes), "");
    t->llvm->SetAlignment(room, 64);
    return t->llvm->BuildBitCast(t->builder, room, t->bytes, "");
}

static void room_for_firsts(const struct native_translation *t)
{
    const struct native_live *live = &t->unit->live;
    const unsigned parts = t->unit->parts;
    for (size_t k = 0; k < parts * live->slot_count; k++) {
        const struct native_use *slot = &live->slots[k / parts];
        const bool kept = t->stepped && t->region->steps[k / parts] && slot->width != NATIVE_MASK;
        t->firsts[k] =
            kept ? t->llvm->BuildAlloca(t->builder, native_lane_type(t, slot->offset), "") : NULL;
    }
}

/* The worker always runs the kernel, so a kernel's cache range is constant. A function that kernels
 * call takes the range from the worker. */
static void fill_caches(const struct native_translation *t, LLVMValueRef worker)
{
    const struct exec_function *function = t->unit->function;
    LLVMValueRef first = t->llvm->ConstInt(t->wide, function->first_cache, false);
    LLVMValueRef count = t->llvm->ConstInt(t->wide, function->cache_count, false);
    if (!function->entry) {
        first = native_load(t, worker, offsetof(struct exec_worker, first_cache), t->wide);
        count = native_load(t, worker, offsetof(struct exec_worker, cache_count), t->wide);
    }
    native_store(t, t->quick, offsetof(struct exec_quick, caches),
                 native_load(t, worker, offsetof(struct exec_worker, caches), t->bytes));
    native_store(t, t->quick, offsetof(struct exec_quick, first_cache), first);
    native_store(t, t->quick, offsetof(struct exec_quick, cache_count), count);
}

static void fill_quick(const struct native_translation *t)
{
    LLVMValueRef block = native_load(t, t->warp, offsetof(struct exec_warp, block), t->bytes);
    LLVMValueRef worker = native_load(t, t->warp, offsetof(struct exec_warp, worker), t->bytes);
    native_store(t, t->quick, offsetof(struct exec_quick, slots), t->lanes);
    native_store(t, t->quick, offsetof(struct exec_quick, counts), t->counts);
    native_store(t, t->quick, offsetof(struct exec_quick, worker), worker);
    native_store(t, t->quick, offsetof(struct exec_quick, shared),
                 native_load(t, block, offsetof(struct exec_block, shared), t->bytes));
    native_store(t, t->quick, offsetof(struct exec_quick, shared_bytes),
                 native_load(t, worker, offsetof(struct exec_worker, shared_bytes), t->word));
    fill_caches(t, worker);
    LLVMValueRef launch = native_load(t, worker, offsetof(struct exec_worker, launch), t->bytes);
    LLVMValueRef watch = native_load(t, launch, offsetof(struct exec_launch, watch), t->bytes);
    LLVMValueRef watched =
        t->llvm->BuildICmp(t->builder, LLVMIntNE, watch, native_pointer(t, NULL), "");
    native_store(t, t->quick, offsetof(struct exec_quick, watched),
                 t->llvm->BuildZExt(t->builder, watched, t->byte, ""));
    void *order;
    memcpy(&order, &(void (*)(const struct exec_warp *)){exec_shadow_order_warp}, sizeof order);
    native_store(t, t->quick, offsetof(struct exec_quick, order), native_pointer(t, order));
}

/* Emits what is the same for all warps that run through this call of the code. */
static void begin_version(const struct native_translation *t)
{
    native_store(t, t->copy, offsetof(struct exec_warp, slots), t->lanes);
    fill_quick(t);
    native_count_nothing(t);
    copy_in_for_all(t);
    if (t->stepped) take_guesses(t, true);
}

/* Finds the index of the only active lane. */
static void find_lane(struct native_translation *t)
{
    LLVMTypeRef bit = t->llvm->IntTypeInContext(t->unit->context, 1);
    LLVMTypeRef type = t->llvm->FunctionType(t->word, (LLVMTypeRef[]){t->word, bit}, 2, false);
    LLVMValueRef count = native_intrinsic(t, "llvm.cttz.i32", type);
    LLVMValueRef mask = native_load(t, t->warp, offsetof(struct exec_warp, mask), t->word);
    LLVMValueRef arguments[] = {mask, t->llvm->ConstInt(bit, 1, false)};
    LLVMValueRef lane = t->llvm->BuildCall2(t->builder, type, count, arguments, 2, "");
    native_store(t, t->quick, offsetof(struct exec_quick, lane), lane);
    t->lane = t->llvm->BuildZExt(t->builder, lane, t->wide, "");
    t->limit = native_load(t, t->warp, offsetof(struct exec_warp, limit), t->bytes);
}

static void begin_warp(struct native_translation *t)
{
    t->frame = native_load(t, t->warp, offsetof(struct exec_warp, slots), t->bytes);
    if (t->lone) find_lane(t);
    t->mask = t->lone ? native_number(t, 1)
                      : native_load(t, t->warp, offsetof(struct exec_warp, mask), t->word);
    t->computing = t->full && !t->lone ? native_number(t, EXEC_ALL) : t->mask;
    t->llvm->BuildStore(t->builder, native_pointer(t, NULL), t->run);
    native_store(t, t->copy, offsetof(struct exec_warp, mask), t->computing);
    native_store(t, t->quick, offsetof(struct exec_quick, warp), t->warp);
    /* The loop that calls the code has counted its first instruction. */
    native_count(t, offsetof(struct exec_warp, instructions), t->wide, -1);
    native_waits_begin(t);
    copy_in(t);
    if (t->stepped) take_guesses(t, false);
}

/* Returns true when a warp's turn often begins and ends in the region: the region reaches from a
 * kernel's beginning, or from a barrier, to a barrier or to the kernel's end. */
static bool goes_on(const struct native_translation *t)
{
    const struct exec_inst *code = t->unit->function->code;
    const uint32_t enter = t->region->enter;
    bool ends = false;
    for (size_t k = t->region->first; k < t->region->end; k++)
        ends |= t->reached[k - t->region->first] &&
                (native_is_end(&code[k]) || code[k].run == exec_barrier_sync);
    return ends && t->unit->function->entry &&
           (enter == 0 || code[enter - 1].run == exec_barrier_sync);
}

static void build_again(struct native_translation *t, LLVMBasicBlockRef head);

/* Allocates a version's variables on the stack; LLVM moves them to registers. */
static void room_for_version(struct native_translation *t)
{
    t->step = t->llvm->BuildAlloca(t->builder, t->word, "");
    t->last = t->llvm->BuildAlloca(t->builder, t->bytes, "");
    t->run = t->llvm->BuildAlloca(t->builder, t->bytes, "");
    t->copy = room_for(t, sizeof(struct exec_warp));
    t->quick = room_for(t, sizeof(struct exec_quick));
    t->counts = room_for(t, sizeof(struct exec_quick_counts));
    t->lanes = room_for(t, t->unit->function->frame_bytes);
}

static void new_blocks(const struct native_translation *t)
{
    for (size_t k = 0; k < t->region->end - t->region->first; k++) {
        const size_t at = t->region->first + k;
        const bool leads = at == t->region->enter || t->unit->leads[at];
        t->blocks[k] = t->reached[k] && leads ? native_new_block(t) : NULL;
    }
}

/* Emits one version, beginning at block `start`. The builder is at the end of the entry block. A
 * full warp may be followed by the next warp of its block. */
static void build_version(struct native_translation *t, LLVMBasicBlockRef start,
                          enum native_version version)
{
    t->full = version != NATIVE_PARTLY;
    t->lone = version == NATIVE_LONE;
    t->stepped = version == NATIVE_STEPPED;
    t->quick_count = 0;
    room_for_firsts(t);
    room_for_version(t);
    native_waits_find(t);
    t->leave = native_new_block(t);
    t->end = native_new_block(t);
    new_blocks(t);
    LLVMBasicBlockRef head = native_new_block(t);
    t->again = t->full && !t->lone && goes_on(t) ? native_new_block(t) : NULL;
    t->over = t->again != NULL ? native_new_block(t) : NULL;
    t->meets = t->again != NULL ? native_new_block(t) : NULL;
    t->llvm->PositionBuilderAtEnd(t->builder, start);
    t->warp = t->called;
    t->frame = native_load(t, t->warp, offsetof(struct exec_warp, slots), t->bytes);
    begin_version(t);
    t->llvm->BuildBr(t->builder, head);
    t->llvm->PositionBuilderAtEnd(t->builder, head);
    if (t->again != NULL) t->warp = t->llvm->BuildLoad2(t->builder, t->bytes, t->place, "");
    begin_warp(t);
    t->pending = 0;
    t->at = t->region->enter;
    t->where = NATIVE_BEFORE;
    native_settle_for(t, t->region->enter);
    t->llvm->BuildBr(t->builder, t->blocks[t->region->enter - t->region->first]);
    bool open = false;
    for (size_t k = t->region->first; k < t->region->end; k++) {
        LLVMBasicBlockRef block = t->blocks[k - t->region->first];
        if (block != NULL) {
            native_count_pending(t);
            if (open) {
                native_settle_for(t, k);
                t->llvm->BuildBr(t->builder, block);
            }
            t->llvm->PositionBuilderAtEnd(t->builder, block);
            if (t->lone)
                native_lone_meets(t, k);
            else
                native_waits_meet(t, k);
            open = true;
        }
        if (open) open = build_instruction(t, k);
    }
    if (open) {
        native_count_pending(t);
        native_go_on(t, t->region->end - 1, t->region->end);
    }
    native_build_leave(t);
    if (t->again != NULL) build_again(t, head);
    t->warp = t->called;
    t->lone = false;
}

/* ---- a region -------------------------------------------------------------------------------- */

static void note_slot(struct native_translation *t, const struct native_use *use)
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

static void find_slots(struct native_translation *t)
{
    for (size_t k = t->region->first; k < t->region->end; k++) {
        const struct exec_inst *inst = &t->unit->function->code[k];
        struct native_use uses[NATIVE_USES];
        unsigned used = 0;
        if (!t->reached[k - t->region->first]) continue;
        const enum native_kind kind = native_kind(inst);
        const bool may = kind == NATIVE_CALL || kind == NATIVE_TOGETHER;
        if (kind == NATIVE_LANES || (may && native_row_of(t, inst) != NULL))
            used = native_uses(inst, uses);
        else if (kind == NATIVE_BRANCH && inst->guard != EXEC_NO_GUARD)
            uses[used++] = (struct native_use){.offset = inst->guard >> 1, .width = NATIVE_MASK};
        for (unsigned u = 0; u < used; u++) note_slot(t, &uses[u]);
    }
}

/* Branches to the version that serves the warp. */
static void choose(const struct native_translation *t, LLVMBasicBlockRef full,
                   LLVMBasicBlockRef partly, LLVMBasicBlockRef others)
{
    LLVMBasicBlockRef whole = native_new_block(t);
    LLVMValueRef is_full = t->llvm->BuildICmp(
        t->builder, LLVMIntNE, native_load(t, t->warp, offsetof(struct exec_warp, full), t->word),
        native_number(t, 0), "");
    t->llvm->BuildCondBr(t->builder, is_full, whole, partly);
    t->llvm->PositionBuilderAtEnd(t->builder, whole);
    LLVMValueRef right = t->versions & NATIVE_STEPPED ? build_guesses(t, false) : NULL;
    if (right == NULL)
        t->llvm->BuildBr(t->builder, full);
    else
        native_expect(t, t->llvm->BuildCondBr(t->builder, right, full, others));
}

/* Emits the call of the handler that runs the region for other warps. The stepped version reads
 * that handler from region->others, since versions may be added later. */
static void build_others(const struct native_translation *t)
{
    const struct exec_inst *first = &t->unit->function->code[t->region->enter];
    LLVMTypeRef type = t->llvm->PointerType(t->bytes, 0);
    void *run;
    memcpy(&run, &t->others_run, sizeof run);
    LLVMValueRef handler = native_pointer(t, run);
    if (t->versions & NATIVE_STEPPED) {
        LLVMValueRef cell = native_pointer(t, &t->region->others);
        handler = t->llvm->BuildLoad2(t->builder, t->bytes,
                                      t->llvm->BuildBitCast(t->builder, cell, type, ""), "");
    }
    native_build_return(t, native_call(t, handler, native_executed(t, first)));
}

/* Emits the condition that the warp has come to the barrier before the region by code that has kept
 * the steps, so that the predictions hold. NULL: there is no barrier. */
static LLVMValueRef has_kept_steps(const struct native_translation *t)
{
    if (t->region->enter == 0) return NULL;
    const struct exec_inst *before = &t->unit->function->code[t->region->enter - 1];
    LLVMValueRef kept = native_load(t, t->warp, offsetof(struct exec_warp, stepped), t->bytes);
    return t->llvm->BuildICmp(t->builder, LLVMIntEQ, kept, native_executed(t, before), "");
}

/* Emits the block `again`: the next warp goes to `head` if the predictions hold for it. */
static void build_again(struct native_translation *t, LLVMBasicBlockRef head)
{
    t->llvm->PositionBuilderAtEnd(t->builder, t->again);
    t->warp = t->llvm->BuildLoad2(t->builder, t->bytes, t->place, "");
    LLVMBasicBlockRef unsure = native_new_block(t), others = native_new_block(t);
    LLVMValueRef kept = t->stepped ? has_kept_steps(t) : NULL;
    if (kept != NULL)
        native_expect(t, t->llvm->BuildCondBr(t->builder, kept, head, unsure));
    else
        t->llvm->BuildBr(t->builder, unsure);
    t->llvm->PositionBuilderAtEnd(t->builder, unsure);
    LLVMValueRef right = t->stepped ? build_guesses(t, true) : NULL;
    if (right == NULL)
        t->llvm->BuildBr(t->builder, head);
    else
        native_expect(t, t->llvm->BuildCondBr(t->builder, right, head, others));
    t->llvm->PositionBuilderAtEnd(t->builder, others);
    native_count_accesses(t);
    build_others(t);
}

/* Emits the first of these versions that is wanted, and returns its block; `others` if none is. */
static LLVMBasicBlockRef build_wanted(struct native_translation *t, LLVMBasicBlockRef entry,
                                      LLVMBasicBlockRef others, unsigned versions)
{
    const unsigned wanted = t->versions & versions;
    if (wanted == 0) return others;
    LLVMBasicBlockRef block = native_new_block(t);
    t->llvm->PositionBuilderAtEnd(t->builder, entry);
    build_version(t, block, (enum native_version)(wanted & -wanted));
    return block;
}

/* Emits the condition that no other fragment stands before `inst`, and that nothing has to observe
 * each instruction (warp->limit is NULL then). */
static LLVMValueRef is_clear(const struct native_translation *t, const struct exec_inst *inst)
{
    LLVMValueRef limit = native_load(t, t->warp, offsetof(struct exec_warp, limit), t->bytes);
    return t->llvm->BuildICmp(t->builder, LLVMIntUGE, limit, native_executed(t, inst), "");
}

/* At the function's entry: a lone lane goes to `lone`, unless another fragment stands at its first
 * instruction. Fragments further on are met by native_lone_meets. If each instruction is observed,
 * it goes to `aside`. */
static void choose_lone(const struct native_translation *t, LLVMBasicBlockRef lone,
                        LLVMBasicBlockRef aside)
{
    const struct exec_inst *second = &t->unit->function->code[t->region->enter + 1];
    LLVMBasicBlockRef one = native_new_block(t), several = native_new_block(t);
    LLVMValueRef mask = native_load(t, t->warp, offsetof(struct exec_warp, mask), t->word);
    t->llvm->BuildCondBr(t->builder, native_is_single(t, mask), one, several);
    t->llvm->PositionBuilderAtEnd(t->builder, one);
    t->llvm->BuildCondBr(t->builder, is_clear(t, second), lone, aside);
    t->llvm->PositionBuilderAtEnd(t->builder, several);
}

static void build_function(struct native_translation *t, const char *name)
{
    const struct llvm *llvm = t->llvm;
    const struct exec_inst *first = &t->unit->function->code[t->region->enter];
    const struct exec_inst *end = &t->unit->function->code[t->region->end];
    LLVMTypeRef parameters[] = {t->bytes, t->bytes};
    t->function =
        llvm->AddFunction(t->unit->module, name, llvm->FunctionType(t->word, parameters, 2, false));
    llvm->SetAlignment(t->function,
                       64); /* so that its speed does not depend on the code before it */
    t->warp = t->called = llvm->GetParam(t->function, 0);
    LLVMBasicBlockRef entry = native_new_block(t), aside = native_new_block(t),
                      start = native_new_block(t);
    LLVMBasicBlockRef others = native_new_block(t);
    llvm->PositionBuilderAtEnd(t->builder, others);
    build_others(t);
    llvm->PositionBuilderAtEnd(t->builder, entry);
    t->place = llvm->BuildAlloca(t->builder, t->bytes, "");
    llvm->BuildStore(t->builder, t->called, t->place);
    LLVMBasicBlockRef full = build_wanted(t, entry, others, NATIVE_STEPPED | NATIVE_FULL);
    LLVMBasicBlockRef partly = build_wanted(t, entry, others, NATIVE_PARTLY);
    LLVMBasicBlockRef lone = build_wanted(t, entry, others, NATIVE_LONE);
    llvm->PositionBuilderAtEnd(t->builder, entry);
    choose_lone(t, lone, aside);
    llvm->BuildCondBr(t->builder, is_clear(t, end), start, aside);
    llvm->PositionBuilderAtEnd(t->builder, aside);
    llvm->BuildRet(t->builder, native_call_inst(t, first));
    llvm->PositionBuilderAtEnd(t->builder, start);
    choose(t, full, partly, others);
}

bool native_translate(struct native_unit *unit, const struct native_region *region,
                      unsigned versions, exec_handler *others, const char *name)
{
    const struct llvm *llvm = unit->llvm;
    const uint32_t length = region->end - region->first;
    struct native_translation t = {.unit = unit,
                                   .full = true, /* find_slots: what any version needs */
                                   .llvm = llvm,
                                   .builder = unit->builder,
                                   .region = region,
                                   .versions = versions,
                                   .others_run = others,
                                   .byte = llvm->Int8TypeInContext(unit->context),
                                   .word = llvm->Int32TypeInContext(unit->context),
                                   .wide = llvm->Int64TypeInContext(unit->context)};
    t.bytes = llvm->PointerType(t.byte, 0);
    t.cold =
        llvm->CreateEnumAttribute(unit->context, llvm->GetEnumAttributeKindForName("cold", 4), 0);
    t.slots = calloc((size_t)length * NATIVE_USES, sizeof *t.slots);
    t.blocks = calloc(length, sizeof(LLVMBasicBlockRef));
    t.firsts = calloc(unit->parts * unit->live.slot_count + 1, sizeof(LLVMValueRef));
    t.places = calloc(length, sizeof *t.places);
    t.reached = native_region_reached(unit->function, region);
    const bool fine = t.slots != NULL && t.blocks != NULL && t.firsts != NULL && t.places != NULL &&
                      t.reached != NULL;
    if (fine) {
        find_slots(&t);
        build_function(&t, name);
    }
    free(t.slots);
    free(t.blocks);
    free(t.firsts);
    free(t.places);
    free(t.reached);
    return fine;
}
