/* Stores that change what their function has loaded from the same place: x++ and its kin, of which
 * two threads must not do one at once. Where the value comes from is read off the text, backwards
 * through arithmetic: a value that was chosen (selp), or that only a branch depends on, is none. */
#include "emulator/exec/lower/access.h"

enum {
    MOST_BACK = 256, /* instructions that are looked at for each value */
    MOST_DEEP = 12,  /* values behind one another */
    MOST_VALUES = 64 /* of one store */
};

/* What stands between the load and the store. */
enum origin {
    ORIGIN_OTHER,  /* nothing was loaded there */
    ORIGIN_JOINED, /* done twice it is what it is done once, by the same value: x |= bit */
    ORIGIN_COUNTED /* it is not: x += 1 */
};

static enum origin passes(enum ptx_opcode op)
{
    switch (op) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_LOP3:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_PRMT:
    case PTX_OP_BFI:
        return ORIGIN_JOINED;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_DIV:
    case PTX_OP_XOR:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
        return ORIGIN_COUNTED;
    default:
        return ORIGIN_OTHER;
    }
}

static bool writes(const struct ptx_instruction *inst, uint32_t reg)
{
    if (inst->operand_count == 0 || inst->op == PTX_OP_ST) return false;
    const struct ptx_operand *d = &inst->operands[0];
    if (d->kind == PTX_OPERAND_REGISTER || d->kind == PTX_OPERAND_PAIR) return d->reg == reg;
    for (uint32_t k = 0; d->kind == PTX_OPERAND_VECTOR && k < d->count; k++)
        if (d->elements[k].kind == PTX_OPERAND_REGISTER && d->elements[k].reg == reg) return true;
    return false;
}

/* The nearest instruction before `at` that writes the register; NULL: none is near. */
static const struct ptx_instruction *definition(const struct lower *lower,
                                                const struct ptx_instruction *at, uint32_t reg)
{
    const struct ptx_instruction *first = lower->source->instructions;
    for (uint32_t back = 0; at > first && back < MOST_BACK; back++)
        if (writes(--at, reg)) return at;
    return NULL;
}

static bool is_weak(const struct ptx_instruction *at)
{
    return at->modifiers.semantics == PTX_ABSENT || at->modifiers.semantics == PTX_SEM_WEAK;
}

/* `left`: values that may still be looked at. */
static enum origin origin_of(struct lower *lower, const struct ptx_instruction *before,
                             const struct ptx_operand *value, uint32_t depth, uint32_t *left)
{
    enum origin origin = ORIGIN_OTHER;
    if (value->kind != PTX_OPERAND_REGISTER || depth == MOST_DEEP || *left == 0) return origin;
    --*left;
    const struct ptx_instruction *at = definition(lower, before, value->reg);
    if (at == NULL) return origin;
    if (at->op == PTX_OP_LD)
        return is_weak(at) && lower_same_address(lower, &lower->at->operands[0], &at->operands[1])
                   ? ORIGIN_JOINED
                   : ORIGIN_OTHER;
    const enum origin step = passes(at->op);
    if (step == ORIGIN_OTHER) return origin;
    for (uint8_t k = 1; k < at->operand_count && origin != ORIGIN_COUNTED; k++) {
        const enum origin from = origin_of(lower, at, &at->operands[k], depth + 1, left);
        if (from != ORIGIN_OTHER) origin = from > step ? from : step;
    }
    return origin;
}

/* Most stores are to where the function loads nothing. */
static bool loads_there(struct lower *lower, const struct ptx_operand *address)
{
    const struct ptx_instruction *first = lower->source->instructions, *at = lower->at;
    for (uint32_t back = 0; at > first && back < MOST_BACK; back++) {
        at--;
        if (at->op == PTX_OP_LD && lower_same_address(lower, address, &at->operands[1]))
            return true;
    }
    return false;
}

unsigned lower_updates(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *address = &at->operands[0], *value = &at->operands[1];
    enum origin origin = ORIGIN_OTHER;
    uint32_t left = MOST_VALUES;
    if (!lower->program->watched || at->op != PTX_OP_ST || !is_weak(at) ||
        address->kind != PTX_OPERAND_ADDRESS ||
        (address->reg != PTX_NO_REGISTER && lower->written[address->reg] != LOWER_ONCE) ||
        !loads_there(lower, address))
        return 0;
    const bool vector = value->kind == PTX_OPERAND_VECTOR;
    for (uint32_t k = 0; k < (vector ? value->count : 1); k++) {
        const enum origin one =
            origin_of(lower, at, vector ? &value->elements[k] : value, 0, &left);
        origin = one > origin ? one : origin;
    }
    return (origin != ORIGIN_OTHER ? EXEC_LOOK_UPDATES : 0u) |
           (origin == ORIGIN_COUNTED ? EXEC_LOOK_COUNTS : 0u);
}
