/* Lowers tensor copies and changes of tensor maps for ops/tensor_map.c. PTX ISA 9.0, 9.7.9.27,
 * 9.7.9.28.
 */
#include "emulator/exec/lower/access.h"

#include <stddef.h>
#include <stdio.h>

enum { CACHES = 3 }; /* cache indices: of the box, of a source, of the map */

/* Finds the slots of the map's address and of the coordinates. Returns false when lower_unsupported
 * has been called. */
static bool lower_tensor_operand(struct lower *lower, const struct ptx_operand *operand,
                                 struct exec_tensor_copy *copy, uint32_t *map)
{
    copy->rank = operand->count - operand->component;
    *map = lower_generic(lower, &operand->elements[0], PTX_ABSENT);
    if (*map == EXEC_NO_SLOT) return false;
    for (uint32_t k = 0; k < copy->rank; k++) {
        copy->coordinates[k] = lower_source(lower, &operand->elements[operand->component + k], 4);
        if (copy->coordinates[k] == EXEC_NO_SLOT) return false;
    }
    return true;
}

/* Finds the atomic row for each element type that the reduction takes, by the table of
 * cp.reduce.async.bulk.tensor in the PTX ISA. */
static void find_reductions(const struct ptx_instruction *at, struct exec_tensor_copy *copy)
{
#define TYPE(symbol) (1u << EXEC_TENSOR_##symbol)
    enum {
        WORDS = TYPE(U32) | TYPE(S32),
        BITS = WORDS | TYPE(U64), /* not s64: PTX has it, an H100 does not */
        WHOLE = BITS | TYPE(S64),
        HALVES = TYPE(F16) | TYPE(BF16),
        FLOATS = TYPE(F32) | TYPE(F32_FTZ) | TYPE(TF32) | TYPE(TF32_FTZ),
    };
    static const struct {
        uint16_t operation;
        bool of_bits;
        uint32_t types;
    } taken[] = {
        {PTX_ATOMIC_ADD, false, WORDS | TYPE(U64) | FLOATS | HALVES},
        {PTX_ATOMIC_MIN, false, WHOLE | HALVES},
        {PTX_ATOMIC_MAX, false, WHOLE | HALVES},
        {PTX_ATOMIC_INC, false, TYPE(U32)},
        {PTX_ATOMIC_DEC, false, TYPE(U32)},
        {PTX_ATOMIC_AND, true, BITS},
        {PTX_ATOMIC_OR, true, BITS},
        {PTX_ATOMIC_XOR, true, BITS},
    };
#undef TYPE
    size_t way = 0;
    while (taken[way].operation != at->modifiers.operation) way++;
    copy->operation = ptx_modifier_name((enum ptx_modifier)at->modifiers.operation);
    for (unsigned type = 0; type < EXEC_TENSOR_TYPES; type++) {
        const struct exec_tensor_element *element = exec_tensor_element(type);
        char key[64];
        if (!(taken[way].types >> type & 1)) continue;
        if (taken[way].of_bits)
            snprintf(key, sizeof key, "atom.%s.b%d", copy->operation, 8 * element->bytes);
        else
            snprintf(key, sizeof key, "atom.%s.%s", copy->operation, element->reduced);
        const struct exec_row *row = exec_row_find(key);
        copy->apply[type] = row != NULL ? row->run : NULL;
    }
}

static void lower_tensor_copy(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operands = at->operands;
    struct exec_tensor_copy *copy = arena_take(&lower->program->arena, 1, sizeof *copy);
    uint32_t map = EXEC_NO_SLOT, object = 0;
    if (copy == NULL) {
        lower->failed = true;
        return;
    }
    lower->program->proxies = true;
    *copy = (struct exec_tensor_copy){.loads = at->modifiers.source == PTX_SOURCE_GLOBAL};
    if (at->op == PTX_OP_CP_REDUCE_BULK_TENSOR) find_reductions(at, copy);
    lower_guard(lower);
    const uint32_t shared = lower_generic(lower, &operands[!copy->loads],
                                          copy->loads ? at->modifiers.space : PTX_SPACE_SHARED);
    if (shared == EXEC_NO_SLOT || !lower_tensor_operand(lower, &operands[copy->loads], copy, &map))
        return;
    if (!lower_bulk_slots(lower, at->modifiers.multicast ? &operands[3] : NULL, &copy->bulk))
        return;
    if (copy->loads) object = lower_generic(lower, &operands[2], at->modifiers.space);
    if (object == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_row(lower, "cp.async.bulk.tensor");
    inst->a = shared;
    inst->b = map;
    inst->e = object;
    inst->extra = copy;
    inst->cache = (uint32_t)lower->program->cache_count;
    lower->program->cache_count += CACHES;
    if (copy->operation != NULL) lower->function->talks = true;
}

static void lower_replace(struct lower *lower)
{
#define FIELD(member)                                                                              \
    offsetof(struct exec_tensor_map, member), sizeof((struct exec_tensor_map *)0)->member
    static const struct {
        uint16_t part, offset, size, count; /* size: bytes of all `count` elements */
    } fields[] = {
        {PTX_PART_ADDRESS, FIELD(address), 1},
        {PTX_PART_RANK, FIELD(rank), 1},
        {PTX_PART_BOX, FIELD(box), EXEC_TENSOR_DIMENSIONS},
        {PTX_PART_SIZE, FIELD(size), EXEC_TENSOR_DIMENSIONS},
        {PTX_PART_STRIDE, FIELD(stride), EXEC_TENSOR_DIMENSIONS - 1},
        {PTX_PART_STEP, FIELD(step), EXEC_TENSOR_DIMENSIONS},
        {PTX_PART_TYPE, FIELD(type), 1},
        {PTX_PART_INTERLEAVE, FIELD(interleave), 1},
        {PTX_PART_SWIZZLE, FIELD(swizzle), 1},
        {PTX_PART_ATOM, FIELD(atom), 1},
        {PTX_PART_FILL, FIELD(fill), 1},
    };
#undef FIELD
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *ordinal = at->operand_count > 2 ? &at->operands[1] : NULL;
    const uint32_t index = ordinal != NULL ? (uint32_t)ordinal->bits : 0;
    struct exec_tensor_replace *replace = arena_take(&lower->program->arena, 1, sizeof *replace);
    if (replace == NULL) {
        lower->failed = true;
        return;
    }
    size_t k = 0;
    while (fields[k].part != at->modifiers.part) k++; /* ptx/rules.c: there is one */
    const uint32_t count = fields[k].count;
    replace->bytes = fields[k].size / count;
    replace->offset = fields[k].offset + index * replace->bytes;
    replace->plus_one = at->modifiers.part == PTX_PART_RANK; /* "one less than the desired rank" */
    replace->wide = at->type == PTX_B64;
    const bool is_one = ordinal == NULL && count == 1;
    if (!is_one && (ordinal == NULL || count == 1 || ordinal->kind != PTX_OPERAND_IMMEDIATE ||
                    index >= count)) {
        lower_unsupported(lower, UNSUPPORTED_OPERAND);
        return;
    }
    lower_guard(lower);
    const uint32_t address = lower_generic(lower, &at->operands[0], at->modifiers.space);
    const uint32_t value =
        lower_source(lower, &at->operands[at->operand_count - 1], replace->wide ? 8 : 4);
    if (address == EXEC_NO_SLOT || value == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_row(lower, "tensormap.replace");
    inst->a = address;
    inst->b = value;
    inst->extra = replace;
    inst->cache = (uint32_t)lower->program->cache_count;
    lower->program->cache_count += CACHES;
}

/* Copies a tensor map and makes it visible: a copy and a fence. */
static void lower_copy_of_map(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    lower_guard(lower);
    const uint32_t to = lower_generic(lower, &operands[0], PTX_SPACE_GLOBAL);
    const uint32_t from = lower_generic(lower, &operands[1], PTX_SPACE_SHARED_CTA);
    if (to == EXEC_NO_SLOT || from == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_row(lower, "tensormap.cp_fenceproxy");
    inst->a = to;
    inst->b = from;
    inst->cache = (uint32_t)lower->program->cache_count;
    lower->program->cache_count += CACHES;
    lower_fence(lower);
}

bool lower_tensor_map(struct lower *lower)
{
    static const struct {
        enum ptx_opcode op;
        void (*lower)(struct lower *lower);
    } ways[] = {
        {PTX_OP_CP_BULK_TENSOR, lower_tensor_copy},
        {PTX_OP_CP_REDUCE_BULK_TENSOR, lower_tensor_copy},
        {PTX_OP_TENSORMAP_REPLACE, lower_replace},
        {PTX_OP_TENSORMAP_COPY, lower_copy_of_map},
    };
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        if (ways[k].op != lower->at->op) continue;
        ways[k].lower(lower);
        return true;
    }
    return false;
}
