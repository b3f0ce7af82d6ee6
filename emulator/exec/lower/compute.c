/* Instructions that compute: those with a row, found by key and shape, and the few that are made of
 * several rows (vector mov, set, address conversions). */
#include "emulator/exec/lower/lower.h"

#include <stdio.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* Returns the width in bytes per lane, and the signedness, of the `index`-th word of a shape; 0
 * when there is no such operand. */
static uint32_t shape_width(const char *shape, unsigned index, bool *is_signed)
{
    for (; index && *shape; index--) shape = exec_shape_next(shape);
    *is_signed = *shape == 's';
    if (*shape == 'p') return LOWER_MASK;
    if (!*shape || *shape == 'c') return 0;
    return strncmp(shape + 1, "64", 2) ? 4 : 8;
}

static uint32_t destination_register(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_SINK ? PTX_SINK : operand->reg;
}

/* Lowers `at` to `row`. A `round` of 0 or more makes the instruction run in that rounding mode. */
static void lower_by_row(struct lower *lower, const struct exec_row *row, int round)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operands = at->operands;
    uint32_t sources[4] = {0, 0, 0, 0};
    bool is_signed;
    unsigned count = 0;
    for (; count < 4; count++) {
        const uint32_t width = shape_width(row->shape, count + 1, &is_signed);
        if (!width) break;
        if (count + 1u >= at->operand_count) {
            sources[count] = lower_scratch(lower);
            continue;
        }
        sources[count] = lower_source(lower, &operands[count + 1], width);
        if (sources[count] == EXEC_NO_SLOT) return;
    }
    if (round >= 0) lower_guard(lower);
    const uint32_t width = shape_width(row->shape, 0, &is_signed);
    uint32_t second = lower_scratch(lower);
    if (operands[0].kind == PTX_OPERAND_PAIR && operands[0].second != PTX_SINK)
        second = lower->registers[operands[0].second];
    const uint32_t d =
        lower_destination(lower, destination_register(&operands[0]), width, is_signed);
    struct exec_inst *inst = lower_emit(lower, row->run);
    if (round >= 0) {
        inst->inner = row->run;
        inst->run = exec_rounded;
        inst->imm = (uint64_t)round;
    }
    inst->d = d;
    inst->a = sources[0];
    inst->b = sources[1];
    inst->c = sources[2];
    inst->e = count == 4 ? sources[3] : second;
    if (strstr(row->shape, " cc") != NULL) inst->e = lower->carry;
    if (at->op == PTX_OP_LOP3) inst->imm = operands[4].bits;
}

int lower_rounding(const struct ptx_instruction *inst)
{
    switch (inst->modifiers.rounding) {
    case PTX_ROUND_RZ:
        return EXEC_ROUND_ZERO;
    case PTX_ROUND_RM:
        return EXEC_ROUND_DOWN;
    case PTX_ROUND_RP:
        return EXEC_ROUND_UP;
    default:
        return -1;
    }
}

static void move(struct lower *lower, uint32_t from, uint32_t to, uint32_t width)
{
    struct exec_inst *inst = lower_row(lower, width == 8            ? "mov.b64"
                                              : width == LOWER_MASK ? "mov.pred"
                                                                    : "mov.b32");
    inst->a = inst->b = from;
    inst->d = to;
}

/* ---- set, setp with a third predicate -------------------------------------------------------- */

static uint32_t combine(struct lower *lower, uint16_t boolean, uint32_t a, uint32_t b, uint32_t d)
{
    const char *key = boolean == PTX_BOOL_AND  ? "and.pred"
                      : boolean == PTX_BOOL_OR ? "or.pred"
                                               : "xor.pred";
    struct exec_inst *inst = lower_row(lower, key);
    inst->a = a;
    inst->b = b;
    return inst->d = d;
}

/* Emits the comparison of a and b into two scratch masks: `yes`, and its complement `no`. */
static bool compare(struct lower *lower, uint32_t *yes, uint32_t *no)
{
    struct ptx_instruction plain = *lower->at;
    char key[64];
    plain.op = PTX_OP_SETP;
    if (lower->at->op == PTX_OP_SET) {
        plain.type = lower->at->type2;
        plain.type2 = PTX_NO_TYPE;
    }
    lower_key(&plain, key, sizeof key);
    const struct exec_row *row = exec_row_find(key);
    bool is_signed;
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_COMPARISON);
        return false;
    }
    const uint32_t width = shape_width(row->shape, 1, &is_signed);
    const uint32_t a = lower_source(lower, &lower->at->operands[1], width);
    const uint32_t b = lower_source(lower, &lower->at->operands[2], width);
    if (a == EXEC_NO_SLOT || b == EXEC_NO_SLOT) return false;
    struct exec_inst *inst = lower_emit(lower, row->run);
    inst->a = a;
    inst->b = b;
    *yes = inst->d = lower_scratch(lower);
    *no = inst->e = lower_scratch(lower);
    return true;
}

/* setp.cmp.bool p|q, a, b, c: p = (a cmp b) bool c, q = !(a cmp b) bool c. */
static void lower_setp_combined(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    uint32_t yes, no;
    lower_guard(lower); /* p may be the guard, and q is written after it */
    if (!compare(lower, &yes, &no)) return;
    uint32_t c = lower_source(lower, &operands[3], LOWER_MASK);
    if (c == EXEC_NO_SLOT) return;
    const uint32_t p =
        lower_destination(lower, destination_register(&operands[0]), LOWER_MASK, false);
    if (operands[0].kind == PTX_OPERAND_PAIR && operands[0].second != PTX_SINK) {
        /* c and p may be the same register. */
        const uint32_t q = combine(lower, lower->at->modifiers.boolean, no, c, no);
        combine(lower, lower->at->modifiers.boolean, yes, c, p);
        struct exec_inst *inst = lower_row(lower, "mov.pred");
        inst->a = inst->b = q;
        inst->d = lower->registers[operands[0].second];
    } else {
        combine(lower, lower->at->modifiers.boolean, yes, c, p);
    }
}

/* lop3.bool d|p, a, b, c, table, q: d as without .bool, p = (d != 0) bool q. */
static void lower_lop3_combined(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    lower_guard(lower); /* p may be the guard */
    const uint32_t q = lower_source(lower, &operands[5], LOWER_MASK);
    if (q == EXEC_NO_SLOT) return;
    lower_by_row(lower, exec_row_find("lop3.b32"), -1);
    if (operands[0].kind != PTX_OPERAND_PAIR || operands[0].second == PTX_SINK) return;
    const uint32_t d = lower->code[lower->code_count - 1].d;
    const uint32_t zero = lower_value(lower, 0, 4);
    struct exec_inst *inst = lower_row(lower, "setp.ne.b32");
    inst->a = d;
    inst->b = zero;
    const uint32_t some = inst->d = lower_scratch(lower);
    inst->e = lower_scratch(lower);
    combine(lower, lower->at->modifiers.boolean, some, q, lower->registers[operands[0].second]);
}

/* setp of packed values: p receives the result of the lower halves, q that of the upper halves. */
static void lower_setp_packed(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    struct ptx_instruction plain = *lower->at;
    char key[64];
    plain.op = PTX_OP_SET;
    plain.type2 = plain.type;
    plain.type = PTX_U32;
    lower_key(&plain, key, sizeof key);
    const struct exec_row *row = exec_row_find(key);
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_COMPARISON);
        return;
    }
    lower_guard(lower);
    uint32_t c = 0;
    if (lower->at->modifiers.boolean) {
        const uint32_t given = lower_source(lower, &operands[3], LOWER_MASK);
        if (given == EXEC_NO_SLOT) return;
        c = lower_scratch(lower);
        move(lower, given, c, LOWER_MASK); /* c may be a destination */
    }
    const uint32_t a = lower_source(lower, &operands[1], 4);
    const uint32_t b = lower_source(lower, &operands[2], 4);
    const uint32_t zero = lower_value(lower, 0, 4);
    if (a == EXEC_NO_SLOT || b == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_emit(lower, row->run);
    inst->a = a;
    inst->b = b;
    const uint32_t both = inst->d = lower_scratch(lower);
    const bool pair = operands[0].kind == PTX_OPERAND_PAIR;
    const uint32_t registers[2] = {operands[0].reg, pair ? operands[0].second : PTX_SINK};
    for (int k = 0; k < 2; k++) {
        if (registers[k] == PTX_SINK) continue;
        inst = lower_row(lower, k ? "high.b32" : "low.b32");
        inst->a = both;
        const uint32_t half = inst->d = lower_scratch(lower);
        inst = lower_row(lower, "setp.ne.b16");
        inst->a = half;
        inst->b = zero;
        inst->e = lower_scratch(lower);
        if (!lower->at->modifiers.boolean) {
            inst->d = lower->registers[registers[k]];
            continue;
        }
        const uint32_t holds = inst->d = lower_scratch(lower);
        combine(lower, lower->at->modifiers.boolean, holds, c, lower->registers[registers[k]]);
    }
}

/* set.cmp{.bool}.dtype.stype: all ones, or 1.0 for floating-point dtypes. */
static void lower_set(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    uint64_t one = UINT64_MAX;
    uint32_t yes, no;
    switch (lower->at->type) {
    case PTX_F32:
        one = 0x3f800000;
        break;
    case PTX_F16:
        one = 0x3c00;
        break;
    case PTX_BF16:
        one = 0x3f80;
        break;
    case PTX_U16:
    case PTX_S16:
        one = 0xffff;
        break;
    case PTX_U32:
    case PTX_S32:
        break;
    default:
        lower_unsupported(lower, UNSUPPORTED_COMPARISON);
        return;
    }
    if (!compare(lower, &yes, &no)) return;
    if (lower->at->modifiers.boolean) {
        const uint32_t c = lower_source(lower, &operands[3], LOWER_MASK);
        if (c == EXEC_NO_SLOT) return;
        combine(lower, lower->at->modifiers.boolean, yes, c, yes);
    }
    const uint32_t a = lower_value(lower, one, 4);
    const uint32_t b = lower_value(lower, 0, 4);
    const uint32_t d = lower_destination(lower, destination_register(&operands[0]), 4, false);
    struct exec_inst *inst = lower_row(lower, "selp.b32");
    inst->a = a;
    inst->b = b;
    inst->c = yes;
    inst->d = d;
}

/* ---- mov ------------------------------------------------------------------------------------- */

static const char *bits_key(const char *what, uint32_t bits, char *key, size_t size)
{
    snprintf(key, size, "%s.b%u", what, bits);
    return key;
}

/* Emits d = {a, b, ...}, where a is lowest, by packing halves recursively. */
static uint32_t pack(struct lower *lower, const struct ptx_operand *elements, uint32_t count,
                     uint32_t bits)
{
    char key[16];
    if (count == 1) return lower_source(lower, elements, bits > 32 ? 8 : 4);
    const uint32_t low = pack(lower, elements, count / 2, bits / 2);
    const uint32_t high = pack(lower, elements + count / 2, count / 2, bits / 2);
    if (low == EXEC_NO_SLOT || high == EXEC_NO_SLOT) return EXEC_NO_SLOT;
    struct exec_inst *inst = lower_row(lower, bits_key("pack", bits, key, sizeof key));
    inst->a = low;
    inst->b = high;
    return inst->d = lower_scratch(lower);
}

static void unpack(struct lower *lower, const struct ptx_operand *elements, uint32_t count,
                   uint32_t bits, uint32_t from)
{
    char key[16];
    if (count == 1) {
        if (elements->kind == PTX_OPERAND_SINK || elements->reg == PTX_SINK) return;
        const uint32_t width = bits > 32 ? 8 : 4;
        move(lower, from, lower_destination(lower, elements->reg, width, false), width);
        lower_finish(lower);
        return;
    }
    struct exec_inst *inst = lower_row(lower, bits_key("low", bits, key, sizeof key));
    inst->a = from;
    const uint32_t low = inst->d = lower_scratch(lower);
    inst = lower_row(lower, bits_key("high", bits, key, sizeof key));
    inst->a = from;
    const uint32_t high = inst->d = lower_scratch(lower);
    unpack(lower, elements, count / 2, bits / 2, low);
    unpack(lower, elements + count / 2, count / 2, bits / 2, high);
}

/* A 128-bit slot holds the low 64 bits of all lanes, then the high ones. */
static void lower_mov128(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    uint32_t slots[2][2], kept[2];
    for (uint32_t side = 0; side < 2; side++) {
        const struct ptx_operand *operand = &operands[side];
        const bool vector = operand->kind == PTX_OPERAND_VECTOR;
        if (vector ? operand->count != 2 : operand->kind != PTX_OPERAND_REGISTER) {
            lower_unsupported(lower, UNSUPPORTED_WIDE_OPERAND);
            return;
        }
        for (uint32_t k = 0; k < 2; k++) {
            const struct ptx_operand *half = vector ? &operand->elements[k] : operand;
            if (!vector)
                slots[side][k] = lower->registers[operand->reg] + k * 8 * EXEC_LANES;
            else if (half->kind == PTX_OPERAND_SINK)
                slots[side][k] = lower_scratch(lower);
            else
                slots[side][k] = side ? lower_source(lower, half, 8) : lower->registers[half->reg];
            if (slots[side][k] == EXEC_NO_SLOT) return;
        }
    }
    /* Both halves are read before either is written. */
    lower_guard(lower);
    for (uint32_t k = 0; k < 2; k++) move(lower, slots[1][k], kept[k] = lower_scratch(lower), 8);
    for (uint32_t k = 0; k < 2; k++) move(lower, kept[k], slots[0][k], 8);
}

static void lower_mov(struct lower *lower)
{
    const struct ptx_operand *d = &lower->at->operands[0];
    const struct ptx_operand *a = &lower->at->operands[1];
    const uint32_t bits = ptx_type_bits(lower->at->type);
    const uint32_t width = lower_width(lower->at->type);
    if (!width) {
        lower_mov128(lower);
        return;
    }
    if (d->kind == PTX_OPERAND_VECTOR) {
        const uint32_t from = lower_source(lower, a, width);
        if (from != EXEC_NO_SLOT) unpack(lower, d->elements, d->count, bits, from);
        return;
    }
    const uint32_t from = a->kind == PTX_OPERAND_VECTOR ? pack(lower, a->elements, a->count, bits)
                                                        : lower_source(lower, a, width);
    if (from == EXEC_NO_SLOT || lower_stands_for(lower, destination_register(d), from, width))
        return;
    move(lower, from, lower_destination(lower, destination_register(d), width, false), width);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Returns the difference between a generic address and the address inside the state space. */
static uint64_t window_of(const struct lower *lower, uint16_t space, bool *known)
{
    *known = true;
    switch (space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return 0;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CTA:
    case PTX_SPACE_SHARED_CLUSTER:
        return EXEC_WINDOW_SHARED;
    case PTX_SPACE_LOCAL:
        return EXEC_WINDOW_LOCAL;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
        return lower->source->is_entry ? EXEC_WINDOW_PARAM : EXEC_WINDOW_LOCAL;
    case PTX_SPACE_PARAM_FUNC:
        return EXEC_WINDOW_LOCAL;
    default:
        *known = false;
        return 0;
    }
}

static void lower_cvta(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    bool known;
    uint64_t window = window_of(lower, lower->at->modifiers.space, &known);
    if (!known || lower->at->type != PTX_U64) {
        lower_unsupported(lower, UNSUPPORTED_GENERIC_ADDRESS);
        return;
    }
    if (lower->at->modifiers.to) window = 0 - window;
    const uint32_t from = lower_source(lower, &operands[1], 8);
    if (from == EXEC_NO_SLOT) return;
    if (!window && lower_stands_for(lower, destination_register(&operands[0]), from, 8)) return;
    const uint32_t d = lower_destination(lower, destination_register(&operands[0]), 8, false);
    if (!window) {
        move(lower, from, d, 8);
        return;
    }
    const uint32_t offset = lower_value(lower, window, 8);
    struct exec_inst *inst = lower_row(lower, "add.u64");
    inst->a = from;
    inst->b = offset;
    inst->d = d;
}

/* A generic address lies in the window of its space, or in none (global, constant). Kernel
 * parameters are in global memory as well; whether an address belongs to a constant variable is
 * looked up at run time. */
static void lower_isspacep(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    const uint16_t space = lower->at->modifiers.space;
    bool known;
    const uint64_t window = window_of(lower, space, &known);
    if (!known) {
        lower_unsupported(lower, UNSUPPORTED_STATE_SPACE_OF_ADDRESS);
        return;
    }
    const uint32_t from = lower_source(lower, &operands[1], 8);
    if (from == EXEC_NO_SLOT) return;
    const uint32_t d =
        lower_destination(lower, destination_register(&operands[0]), LOWER_MASK, false);
    const bool of_block = space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CTA;
    struct exec_inst *inst = lower_row(lower, space == PTX_SPACE_CONST    ? "isspacep.const"
                                              : space == PTX_SPACE_GLOBAL ? "isspacep.global"
                                              : of_block                  ? "isspacep.shared"
                                                                          : "isspacep.window");
    inst->a = from;
    inst->d = d;
    inst->imm = window;
}

/* mapa d, a, b; getctarank d, a. */
static void lower_rank(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    const bool maps = lower->at->op == PTX_OP_MAPA;
    const uint32_t width = lower_width(lower->at->type);
    const uint32_t a = lower_source(lower, &operands[1], width);
    const uint32_t b = maps ? lower_source(lower, &operands[2], 4) : 0;
    char key[32];
    if (a == EXEC_NO_SLOT || b == EXEC_NO_SLOT) return;
    snprintf(key, sizeof key, "%s.u%u", ptx_opcode_name(lower->at->op), width * 8);
    const uint32_t d =
        lower_destination(lower, destination_register(&operands[0]), maps ? width : 4, false);
    struct exec_inst *inst = lower_row(lower, key);
    inst->a = a;
    inst->b = b;
    inst->d = d;
}

/* ---- the entry point ------------------------------------------------------------------------- */

/* Lowers opcodes that no single row computes. Returns false when a row may compute the
 * instruction. */
static bool lower_without_row(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    char key[96];
    switch (at->op) {
    case PTX_OP_MOV:
        lower_mov(lower);
        return true;
    case PTX_OP_CVTA:
        lower_cvta(lower);
        return true;
    case PTX_OP_ISSPACEP:
        lower_isspacep(lower);
        return true;
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK:
        lower_rank(lower);
        return true;
    case PTX_OP_CREATEPOLICY: /* any value: no instruction uses the policy */
        move(lower, lower_value(lower, 0, 8),
             lower_destination(lower, destination_register(&at->operands[0]), 8, false), 8);
        return true;
    case PTX_OP_SETMAXNREG:
        lower_row(lower, "nop");
        return true;
    case PTX_OP_LOP3:
        if (at->modifiers.boolean) lower_lop3_combined(lower);
        return at->modifiers.boolean;
    case PTX_OP_SET:
        lower_key(at, key, sizeof key);
        if (!at->modifiers.boolean && exec_row_find(key) != NULL) return false;
        lower_set(lower);
        return true;
    case PTX_OP_SETP:
        if (ptx_type_lanes((enum ptx_type)at->type) == 2)
            lower_setp_packed(lower);
        else if (at->modifiers.boolean)
            lower_setp_combined(lower);
        else
            return false;
        return true;
    default:
        return false;
    }
}

/* Returns the row for the instruction. *round is the rounding mode that the row needs around it, or
 * -1. */
static const struct exec_row *find_row(const struct ptx_instruction *at, int *round)
{
    char key[96];
    lower_key(at, key, sizeof key);
    if ((at->op == PTX_OP_MIN || at->op == PTX_OP_MAX) && at->operand_count == 4) {
        memmove(key + 4, key + 3, sizeof key - 4); /* min.f32 becomes min3.f32 */
        key[3] = '3';
        key[sizeof key - 1] = '\0';
    }
    const struct exec_row *row = exec_row_find(key);
    *round = row != NULL ? -1 : lower_rounding(at);
    if (*round < 0) return row;
    struct ptx_instruction nearest = *at;
    nearest.modifiers.rounding = PTX_ROUND_RN;
    lower_key(&nearest, key, sizeof key);
    return exec_row_find(key);
}

bool lower_compute(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    if (lower_without_row(lower)) return true;
    int round;
    const struct exec_row *row = find_row(at, &round);
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_COMBINATION);
        return true;
    }
    bool is_signed;
    unsigned sources = 0;
    while (sources < 4 && shape_width(row->shape, sources + 1, &is_signed)) sources++;
    if (at->operand_count > sources + 1 + (at->op == PTX_OP_LOP3)) {
        lower_unsupported(lower, UNSUPPORTED_ADDITIONAL_OPERAND);
        return true;
    }
    lower_by_row(lower, row, round);
    return true;
}
