/* Emits the basic values of a translation: numbers and addresses, the local copy of the slots, and
 * counts.
 */
#include "emulator/exec/launch.h"
#include "emulator/exec/native/translation.h"
#include "emulator/exec/ops/quick.h"

/* ---- values ---------------------------------------------------------------------------------- */

LLVMValueRef native_number(const struct native_translation *t, uint64_t value)
{
    return t->llvm->ConstInt(t->word, value, false);
}

/* Returns the address that a symbol of `size` bytes stands for. */
static LLVMValueRef symbol(const struct native_translation *t, const void *address, size_t size)
{
    const char *name = native_symbol(t->unit->symbols, address);
    if (name == NULL) return t->llvm->ConstNull(t->bytes);
    LLVMValueRef known = t->llvm->GetNamedGlobal(t->unit->module, name);
    if (known == NULL)
        known =
            t->llvm->AddGlobal(t->unit->module, t->llvm->ArrayType(t->byte, (unsigned)size), name);
    LLVMValueRef zeros[] = {native_number(t, 0), native_number(t, 0)};
    return t->llvm->BuildGEP2(t->builder, t->llvm->GlobalGetValueType(known), known, zeros, 2, "");
}

LLVMValueRef native_executed(const struct native_translation *t, const struct exec_inst *inst)
{
    const struct exec_function *function = t->unit->function;
    const size_t size = sizeof *inst;
    return native_place(t, symbol(t, t->unit->code, (function->code_count + 1) * size),
                        (size_t)(inst - function->code) * size, t->byte);
}

LLVMValueRef native_pointer(const struct native_translation *t, const void *address)
{
    if (address == NULL) return t->llvm->ConstNull(t->bytes);
    return symbol(t, address, sizeof address);
}

LLVMValueRef native_is_single(const struct native_translation *t, LLVMValueRef mask)
{
    LLVMValueRef less = t->llvm->BuildSub(t->builder, mask, native_number(t, 1), "");
    LLVMValueRef rest = t->llvm->BuildAnd(t->builder, mask, less, "");
    return t->llvm->BuildICmp(t->builder, LLVMIntEQ, rest, native_number(t, 0), "");
}

LLVMValueRef native_intrinsic(const struct native_translation *t, const char *name,
                              LLVMTypeRef type)
{
    LLVMValueRef known = t->llvm->GetNamedFunction(t->unit->module, name);
    return known != NULL ? known : t->llvm->AddFunction(t->unit->module, name, type);
}

LLVMValueRef native_place(const struct native_translation *t, LLVMValueRef base, size_t offset,
                          LLVMTypeRef type)
{
    LLVMValueRef index = t->llvm->ConstInt(t->wide, offset, false);
    LLVMValueRef at = t->llvm->BuildGEP2(t->builder, t->byte, base, &index, 1, "");
    return t->llvm->BuildBitCast(t->builder, at, t->llvm->PointerType(type, 0), "");
}

LLVMValueRef native_load(const struct native_translation *t, LLVMValueRef base, size_t offset,
                         LLVMTypeRef type)
{
    LLVMValueRef value =
        t->llvm->BuildLoad2(t->builder, type, native_place(t, base, offset, type), "");
    t->llvm->SetAlignment(value, 4);
    return value;
}

void native_store(const struct native_translation *t, LLVMValueRef base, size_t offset,
                  LLVMValueRef value)
{
    LLVMTypeRef type = t->llvm->TypeOf(value);
    t->llvm->SetAlignment(
        t->llvm->BuildStore(t->builder, value, native_place(t, base, offset, type)), 4);
}

LLVMTypeRef native_slot_type(const struct native_translation *t, uint32_t width)
{
    LLVMTypeRef type = width == NATIVE_WIDE ? t->wide : t->word;
    return t->lone || width == NATIVE_MASK ? type : t->llvm->VectorType(type, EXEC_LANES);
}

/* ---- lanes a step apart -----------------------------------------------------------------------
 *
 * For a wanted slot whose step steps.c knows, only each part's first lane is kept up to date. The
 * slot in the local copy is stale then, and is computed from the first lanes where it is needed,
 * mostly where the region is left. */

LLVMTypeRef native_lane_type(const struct native_translation *t, uint32_t offset)
{
    return native_live_width(&t->unit->live, offset) == NATIVE_WIDE ? t->wide : t->word;
}

size_t native_index_of(const struct native_translation *t, const struct exec_inst *inst)
{
    return (size_t)(inst - t->unit->function->code);
}

/* Returns the variable of a part's first lane; NULL: there is none. */
static LLVMValueRef place_of(const struct native_translation *t, uint32_t offset, unsigned part)
{
    const int32_t slot = native_live_slot(&t->unit->live, offset);
    return slot < 0 || !t->stepped ? NULL : t->firsts[t->unit->parts * slot + part];
}

bool native_keeps_firsts(const struct native_translation *t, uint32_t offset)
{
    return t->full && place_of(t, offset, 0) != NULL;
}

bool native_knows_firsts(const struct native_translation *t, uint32_t offset)
{
    const struct native_side *side = t->side;
    if (side == NULL || place_of(t, offset, 0) == NULL) return native_keeps_firsts(t, offset);
    while (side->around != NULL) side = side->around;
    const struct exec_inst *here = &t->unit->function->code[t->at];
    for (const struct exec_inst *inst = side->fork + 1; inst < here; inst++)
        if (native_kind(inst) != NATIVE_BRANCH && native_writes(inst, offset)) return false;
    return true;
}

LLVMValueRef native_first_of(const struct native_translation *t, uint32_t offset, unsigned part)
{
    return t->llvm->BuildLoad2(t->builder, native_lane_type(t, offset), place_of(t, offset, part),
                               "");
}

LLVMValueRef native_first_of_half(const struct native_translation *t, uint32_t offset,
                                  unsigned half, int32_t step)
{
    if (half < t->unit->parts) return native_first_of(t, offset, half);
    const int64_t away = (int64_t)NATIVE_HALF * step;
    return t->llvm->BuildAdd(t->builder, native_first_of(t, offset, 0),
                             t->llvm->ConstInt(native_lane_type(t, offset), (uint64_t)away, true),
                             "");
}

LLVMValueRef native_spread(const struct native_translation *t, LLVMValueRef firsts[NATIVE_HALVES],
                           int32_t step)
{
    LLVMTypeRef type = t->llvm->TypeOf(firsts[0]);
    LLVMValueRef none = t->llvm->GetUndef(t->llvm->VectorType(type, EXEC_LANES));
    LLVMValueRef lanes[EXEC_LANES], from[EXEC_LANES], each[NATIVE_HALVES] = {none, none};
    const unsigned parts = t->unit->parts, length = EXEC_LANES / parts;
    for (unsigned p = 0; p < parts; p++)
        each[p] = t->llvm->BuildInsertElement(t->builder, none, firsts[p], native_number(t, 0), "");
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        const int64_t away = (int64_t)(l % length) * step;
        from[l] = native_number(t, l < length ? 0 : EXEC_LANES);
        lanes[l] = t->llvm->ConstInt(type, (uint64_t)away, true);
    }
    LLVMValueRef where = t->llvm->ConstVector(from, EXEC_LANES);
    LLVMValueRef all = t->llvm->BuildShuffleVector(t->builder, each[0], each[1], where, "");
    return step == 0
               ? all
               : t->llvm->BuildAdd(t->builder, all, t->llvm->ConstVector(lanes, EXEC_LANES), "");
}

void native_keep_firsts(const struct native_translation *t, uint32_t offset,
                        LLVMValueRef firsts[NATIVE_HALVES])
{
    for (unsigned p = 0; p < t->unit->parts; p++)
        t->llvm->BuildStore(t->builder, firsts[p], place_of(t, offset, p));
}

void native_take_firsts(const struct native_translation *t, LLVMValueRef vector,
                        LLVMValueRef firsts[NATIVE_HALVES])
{
    for (unsigned p = 0; p < t->unit->parts; p++)
        firsts[p] =
            t->llvm->BuildExtractElement(t->builder, vector, native_number(t, p * NATIVE_HALF), "");
}

/* Returns the step of a slot at the place where code is being emitted. */
static int32_t step_here(const struct native_translation *t, uint32_t offset)
{
    if (t->where == NATIVE_NOWHERE) return NATIVE_ANY;
    return t->where == NATIVE_BEFORE ? native_step_before(&t->unit->steps, t->at, offset)
                                     : native_step_behind(&t->unit->steps, t->at, offset);
}

static bool is_stale(const struct native_translation *t, uint32_t offset)
{
    return native_keeps_firsts(t, offset) &&
           native_constant_at(t->unit->function, offset) == NULL &&
           step_here(t, offset) != NATIVE_ANY;
}

/* Computes all lanes of a stale slot. */
static LLVMValueRef whole(const struct native_translation *t, uint32_t offset)
{
    LLVMValueRef firsts[NATIVE_HALVES];
    for (unsigned p = 0; p < t->unit->parts; p++) firsts[p] = native_first_of(t, offset, p);
    return native_spread(t, firsts, step_here(t, offset));
}

void native_settle(const struct native_translation *t, uint32_t offset)
{
    if (is_stale(t, offset)) native_store(t, t->lanes, offset, whole(t, offset));
}

void native_settle_all(const struct native_translation *t)
{
    for (size_t k = 0; k < t->slot_count; k++) native_settle(t, t->slots[k].offset);
}

void native_settle_for(const struct native_translation *t, size_t index)
{
    for (size_t k = 0; k < t->slot_count; k++) {
        const uint32_t offset = t->slots[k].offset;
        if (native_step_before(&t->unit->steps, index, offset) == NATIVE_ANY &&
            native_is_live(&t->unit->live, index, offset))
            native_settle(t, offset);
    }
}

void native_settle_uses(const struct native_translation *t, const struct exec_inst *inst,
                        bool accesses)
{
    struct native_use uses[NATIVE_USES];
    const unsigned count = native_uses(inst, uses);
    for (unsigned k = 0; k < count; k++)
        if ((!uses[k].writes || inst->guard != EXEC_NO_GUARD) &&
            !(accesses && uses[k].offset == inst->a))
            native_settle(t, uses[k].offset);
}

/* ---- slots and counts ------------------------------------------------------------------------ */

/* Returns the address of the lone lane's element, to which the slot's offset is to be added. */
static LLVMValueRef lane_of_frame(const struct native_translation *t, uint32_t width)
{
    const uint64_t bytes = width / EXEC_LANES;
    LLVMValueRef index =
        t->llvm->BuildMul(t->builder, t->lane, t->llvm->ConstInt(t->wide, bytes, false), "");
    return t->llvm->BuildGEP2(t->builder, t->byte, t->frame, &index, 1, "");
}

/* Copies a lone lane's bit of a mask to bit 0 of the local copy, or back with `out`. */
static void copy_bit(const struct native_translation *t, uint32_t offset, bool out)
{
    LLVMValueRef one = native_number(t, 1);
    LLVMValueRef lane = t->llvm->BuildTrunc(t->builder, t->lane, t->word, "");
    LLVMValueRef frame = native_load(t, t->frame, offset, t->word);
    if (!out) {
        LLVMValueRef bit = t->llvm->BuildLShr(t->builder, frame, lane, "");
        native_store(t, t->lanes, offset, t->llvm->BuildAnd(t->builder, bit, one, ""));
        return;
    }
    LLVMValueRef bit =
        t->llvm->BuildAnd(t->builder, native_load(t, t->lanes, offset, t->word), one, "");
    LLVMValueRef mine = t->llvm->BuildShl(t->builder, one, lane, "");
    LLVMValueRef rest =
        t->llvm->BuildAnd(t->builder, frame, t->llvm->BuildNot(t->builder, mine, ""), "");
    native_store(
        t, t->frame, offset,
        t->llvm->BuildOr(t->builder, rest, t->llvm->BuildShl(t->builder, bit, lane, ""), ""));
}

static void copy_lone(const struct native_translation *t, const struct native_use *slot, bool out)
{
    if (slot->width == NATIVE_MASK) {
        copy_bit(t, slot->offset, out);
        return;
    }
    LLVMValueRef frame = lane_of_frame(t, slot->width);
    LLVMTypeRef type = native_slot_type(t, slot->width);
    native_store(t, out ? frame : t->lanes, slot->offset,
                 native_load(t, out ? t->lanes : frame, slot->offset, type));
}

void native_copy_slot(const struct native_translation *t, const struct native_use *slot, bool out)
{
    if (t->lone) {
        copy_lone(t, slot, out);
        return;
    }
    LLVMTypeRef type = native_slot_type(t, slot->width);
    LLVMValueRef value = out && is_stale(t, slot->offset)
                             ? whole(t, slot->offset)
                             : native_load(t, out ? t->lanes : t->frame, slot->offset, type);
    native_store(t, out ? t->frame : t->lanes, slot->offset, value);
}

LLVMValueRef native_count(const struct native_translation *t, size_t field, LLVMTypeRef type,
                          int64_t by)
{
    LLVMValueRef sum = t->llvm->BuildAdd(t->builder, native_load(t, t->warp, field, type),
                                         t->llvm->ConstInt(type, (uint64_t)by, true), "");
    native_store(t, t->warp, field, sum);
    return sum;
}

void native_count_pending(struct native_translation *t)
{
    if (t->pending)
        native_count(t, offsetof(struct exec_warp, instructions), t->wide, (int64_t)t->pending);
    t->pending = 0;
}

/* Where each count of struct exec_quick_counts is added: to the warp or to the worker. */
static const struct {
    size_t from, to;
    bool of_warp;
} accesses[] = {
    {offsetof(struct exec_quick_counts, loaded),
     offsetof(struct exec_worker, counts) + offsetof(struct exec_counts, bytes_loaded), false},
    {offsetof(struct exec_quick_counts, stored),
     offsetof(struct exec_worker, counts) + offsetof(struct exec_counts, bytes_stored), false},
    {offsetof(struct exec_quick_counts, transactions),
     offsetof(struct exec_worker, counts) + offsetof(struct exec_counts, transactions), false},
    {offsetof(struct exec_quick_counts, chain), offsetof(struct exec_warp, chain), true},
};

void native_count_nothing(const struct native_translation *t)
{
    for (size_t k = 0; k < sizeof accesses / sizeof *accesses; k++)
        native_store(t, t->counts, accesses[k].from, t->llvm->ConstNull(t->wide));
}

/* Adds the warp's counts, or `all`. */
static void count_accesses(const struct native_translation *t, bool all)
{
    LLVMValueRef worker = native_load(t, t->warp, offsetof(struct exec_warp, worker), t->bytes);
    for (size_t k = 0; k < sizeof accesses / sizeof *accesses; k++) {
        if (!all && !accesses[k].of_warp) continue;
        LLVMValueRef base = accesses[k].of_warp ? t->warp : worker;
        LLVMValueRef sum = native_load(t, base, accesses[k].to, t->wide);
        LLVMValueRef here = native_load(t, t->counts, accesses[k].from, t->wide);
        native_store(t, base, accesses[k].to, t->llvm->BuildAdd(t->builder, sum, here, ""));
        native_store(t, t->counts, accesses[k].from, t->llvm->ConstNull(t->wide));
    }
}

void native_count_accesses(const struct native_translation *t)
{
    count_accesses(t, true);
}

void native_count_chain(const struct native_translation *t)
{
    count_accesses(t, false);
}

LLVMBasicBlockRef native_new_block(const struct native_translation *t)
{
    return t->llvm->AppendBasicBlockInContext(t->unit->context, t->function, "");
}

void native_expect(const struct native_translation *t, LLVMValueRef branch)
{
    static const char name[] = "branch_weights";
    LLVMValueRef weights[] = {t->llvm->MDStringInContext(t->unit->context, name, sizeof name - 1),
                              native_number(t, 2000), native_number(t, 1)};
    t->llvm->SetMetadata(branch, t->llvm->GetMDKindIDInContext(t->unit->context, "prof", 4),
                         t->llvm->MDNodeInContext(t->unit->context, weights, 3));
}
