/* Lowers bulk copies, reductions and stores for ops/bulk.c. PTX ISA 9.0, 9.7.9.25.4, 9.7.9.15.
 */
#include "emulator/exec/lower/access.h"

bool lower_bulk_slots(struct lower *lower, const struct ptx_operand *ranks, struct exec_bulk *bulk)
{
    bulk->ranks = ranks != NULL ? lower_source(lower, ranks, 4) : EXEC_NO_SLOT;
    bulk->address = lower_scratch(lower);
    bulk->value = lower_scratch(lower);
    bulk->before = lower_scratch(lower);
    return ranks == NULL || bulk->ranks != EXEC_NO_SLOT;
}

static void lower_copy(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operands = at->operands;
    const bool reduces = at->op == PTX_OP_CP_REDUCE_BULK;
    const bool from_global = at->modifiers.source == PTX_SOURCE_GLOBAL;
    struct exec_bulk *bulk = arena_take(&lower->program->arena, 1, sizeof *bulk);
    if (bulk == NULL) {
        lower->failed = true;
        return;
    }
    lower->program->proxies = true;
    bulk->tells = at->modifiers.completion == PTX_COMPLETE_TX;
    if (bulk->tells && (at->operand_count < 4 || operands[3].kind != PTX_OPERAND_ADDRESS)) {
        lower_unsupported(lower, UNSUPPORTED_NO_BARRIER_OBJECT);
        return;
    }
    if (reduces) {
        struct ptx_instruction plain = *at;
        char key[64];
        plain.op = PTX_OP_ATOM;
        plain.modifiers.hint = plain.modifiers.completion = PTX_ABSENT;
        lower_key(&plain, key, sizeof key);
        /* Unlike atom, an H200 keeps subnormals here. */
        const struct exec_row *row =
            exec_row_find(at->type == PTX_F32 ? "atom.add.noftz.f32" : key);
        if (row == NULL) {
            lower_unsupported(lower, UNSUPPORTED_REDUCTION_TYPE);
            return;
        }
        bulk->apply = row->run;
        bulk->bytes = ptx_type_bytes((enum ptx_type)at->type);
    }
    lower_guard(lower);
    const uint32_t to = lower_generic(lower, &operands[0], at->modifiers.space);
    const uint32_t from =
        lower_generic(lower, &operands[1], from_global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED);
    const uint32_t size = lower_source(lower, &operands[2], 4);
    uint32_t object = 0;
    const bool many = at->modifiers.multicast && at->operand_count > 4;
    if (!lower_bulk_slots(lower, many ? &operands[4] : NULL, bulk)) return;
    if (bulk->tells) object = lower_generic(lower, &operands[3], PTX_SPACE_SHARED);
    if (to == EXEC_NO_SLOT || from == EXEC_NO_SLOT || size == EXEC_NO_SLOT ||
        object == EXEC_NO_SLOT)
        return;
    struct exec_inst *inst = lower_row(lower, reduces ? "cp.reduce.async.bulk" : "cp.async.bulk");
    inst->a = to;
    inst->b = from;
    inst->c = size;
    inst->e = object;
    inst->extra = bulk;
    inst->cache = (uint32_t)lower->program->cache_count;
    lower->program->cache_count += 2;
    if (reduces) lower->function->talks = true;
}

static void lower_store(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    lower_guard(lower);
    const uint32_t a = lower_generic(lower, &operands[0], lower->at->modifiers.space);
    const uint32_t size = lower_source(lower, &operands[1], 8);
    if (a == EXEC_NO_SLOT || size == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_row(lower, "st.bulk");
    inst->a = a;
    inst->c = size;
    inst->cache = (uint32_t)lower->program->cache_count++;
}

bool lower_bulk(struct lower *lower)
{
    switch (lower->at->op) {
    case PTX_OP_CP_BULK:
    case PTX_OP_CP_REDUCE_BULK:
        lower_copy(lower);
        return true;
    case PTX_OP_ST_BULK:
        lower_store(lower);
        return true;
    case PTX_OP_CP_BULK_COMMIT:
    case PTX_OP_CP_BULK_WAIT:
        lower_racecheck_groups(lower);
        lower_row(lower, "nop");
        return true;
    case PTX_OP_CP_BULK_PREFETCH:
    case PTX_OP_CP_BULK_PREFETCH_TENSOR:
        lower_row(lower, "nop");
        return true;
    default:
        return false;
    }
}
