/* Stores that change what their function has loaded from the same address, such as x++: two threads
 * must not do that at once. The origin of the stored value is followed backwards through the text,
 * through arithmetic only: a selected value (selp), or one that depends on a branch only, does not
 * count. And atomics of the word around a value that is narrower, which change that alone. */
#include "emulator/exec/lower/access.h"

enum {
    MOST_BACK = 256, /* instructions searched for each definition */
    MOST_DEEP = 12,  /* length of a chain of values */
    MOST_VALUES = 64 /* values of one store */
};

/* What happens to the value between the load and the store; of several steps the largest counts. */
enum origin {
    ORIGIN_OTHER,   /* not loaded from there */
    ORIGIN_MOVED,   /* stored as it was loaded */
    ORIGIN_COUNTED, /* doing it twice differs from doing it once: x += 1 */
    ORIGIN_JOINED,  /* doing it twice may not differ: x |= bit, x = x / 8 * 8 */
};

static enum origin passes(enum ptx_opcode op)
{
    switch (op) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
        return ORIGIN_MOVED;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_XOR:
    case PTX_OP_SHL:
        return ORIGIN_COUNTED;
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_LOP3:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_PRMT:
    case PTX_OP_BFI:
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_SHR:
        return ORIGIN_JOINED;
    default:
        return ORIGIN_OTHER;
    }
}

/* Instructions that order the lanes of a warp: every lane has loaded before any lane stores. */
static bool orders(enum ptx_opcode op)
{
    switch (op) {
    case PTX_OP_BAR_SYNC:
    case PTX_OP_BAR_RED:
    case PTX_OP_BARRIER_SYNC:
    case PTX_OP_BARRIER_RED:
    case PTX_OP_BAR_WARP_SYNC:
    case PTX_OP_SHFL_SYNC:
    case PTX_OP_VOTE_SYNC:
    case PTX_OP_MATCH_ANY:
    case PTX_OP_MATCH_ALL:
    case PTX_OP_REDUX_SYNC:
        return true;
    default:
        return false;
    }
}

/* Returns the nearest instruction before `at` that writes the register; NULL: none within
 * MOST_BACK. */
static const struct ptx_instruction *definition(const struct lower *lower,
                                                const struct ptx_instruction *at, uint32_t reg)
{
    const struct ptx_instruction *first = lower->source->instructions;
    for (uint32_t back = 0; at > first && back < MOST_BACK; back++)
        if (lower_writes(--at, reg)) return at;
    return NULL;
}

/* Loads before `first`, the result of loads_there, do not count; `left` counts the values that may
 * still be followed. */
static enum origin origin_of(struct lower *lower, const struct ptx_instruction *first,
                             const struct ptx_instruction *before, const struct ptx_operand *value,
                             uint32_t depth, uint32_t *left)
{
    enum origin origin = ORIGIN_OTHER;
    if (value->kind != PTX_OPERAND_REGISTER || depth == MOST_DEEP || *left == 0) return origin;
    --*left;
    const struct ptx_instruction *at = definition(lower, before, value->reg);
    if (at == NULL) return origin;
    if (at->op == PTX_OP_LD)
        return at >= first && !lower_is_strong(lower, at) &&
                       lower_same_address(lower, &lower->at->operands[0], &at->operands[1])
                   ? ORIGIN_MOVED
                   : ORIGIN_OTHER;
    const enum origin step = passes(at->op);
    if (step == ORIGIN_OTHER) return origin;
    for (uint8_t k = 1; k < at->operand_count; k++) {
        const enum origin from = origin_of(lower, first, at, &at->operands[k], depth + 1, left);
        const enum origin both = from > step ? from : step;
        if (from != ORIGIN_OTHER && both > origin) origin = both;
    }
    return origin;
}

/* Returns the first instruction after the last one that orders the lanes, if the function loads
 * from `address` between that and the store; otherwise NULL, as before most stores. */
static const struct ptx_instruction *loads_there(struct lower *lower,
                                                 const struct ptx_operand *address)
{
    const struct ptx_instruction *first = lower->source->instructions, *at = lower->place;
    bool loads = false;
    for (uint32_t back = 0; at > first && back < MOST_BACK && !orders(at[-1].op); back++) {
        at--;
        loads |= at->op == PTX_OP_LD && lower_same_address(lower, address, &at->operands[1]);
    }
    return loads ? at : NULL;
}

unsigned lower_updates(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *address = &at->operands[0], *value = &at->operands[1];
    const struct ptx_instruction *first;
    enum origin origin = ORIGIN_OTHER;
    uint32_t left = MOST_VALUES;
    if (!lower->program->watched || at->op != PTX_OP_ST || lower_is_strong(lower, at) ||
        address->kind != PTX_OPERAND_ADDRESS ||
        (address->reg != PTX_NO_REGISTER && lower->written[address->reg] != LOWER_ONCE) ||
        (first = loads_there(lower, address)) == NULL)
        return 0;
    const bool vector = value->kind == PTX_OPERAND_VECTOR;
    for (uint32_t k = 0; k < (vector ? value->count : 1); k++) {
        const enum origin one =
            origin_of(lower, first, lower->place, vector ? &value->elements[k] : value, 0, &left);
        origin = one > origin ? one : origin;
    }
    if (origin == ORIGIN_COUNTED) return EXEC_LOOK_UPDATES | EXEC_LOOK_COUNTS;
    return origin == ORIGIN_JOINED ? EXEC_LOOK_UPDATES : 0;
}

/* ---- swaps of a part ------------------------------------------------------------------------- */

/* Returns whether the register holds an address that was rounded down to a multiple of 4. */
static bool is_rounded_down(const struct lower *lower, uint32_t reg)
{
    const struct ptx_instruction *at = lower->place;
    for (uint32_t deep = 0; deep < MOST_DEEP && reg != PTX_NO_REGISTER; deep++) {
        at = definition(lower, at, reg);
        if (at == NULL || at->operand_count < 2) return false;
        const struct ptx_operand *mask = &at->operands[at->operand_count - 1];
        if (at->op == PTX_OP_AND)
            return mask->kind == PTX_OPERAND_IMMEDIATE && (int32_t)mask->bits == -4;
        if ((at->op != PTX_OP_MOV && at->op != PTX_OP_CVTA) ||
            at->operands[1].kind != PTX_OPERAND_REGISTER)
            return false;
        reg = at->operands[1].reg;
    }
    return false;
}

bool lower_swaps_part(const struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *address = &at->operands[1];
    return at->op == PTX_OP_ATOM && at->modifiers.operation == PTX_ATOMIC_CAS &&
           ptx_type_bytes(at->type) == 4 && address->kind == PTX_OPERAND_ADDRESS &&
           is_rounded_down(lower, address->reg);
}
