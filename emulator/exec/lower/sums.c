/* Addresses as sums of a variable's address, registers times numbers, and a number: two of them may
 * be the same although they are computed by different instructions. How wide each step is does not
 * count. */
#include "emulator/exec/lower/access.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS = 6,
    MOST_DEEP = 12,   /* registers that an address is computed through */
    MOST_BACK = 1024, /* instructions that are searched for a register's last change */
};

struct part {
    uint32_t reg;
    int64_t times;
};

struct sum {
    const struct lower *lower;
    const struct ptx_variable *variable;
    int64_t number;
    struct part parts[MOST_PARTS]; /* none twice */
    size_t count;
    bool known;
};

/* Returns the instruction whose result the register holds before `at`; NULL: it is not known. */
static const struct ptx_instruction *find_change(const struct lower *lower,
                                                 const struct ptx_instruction *at, uint32_t reg)
{
    const struct ptx_instruction *first = lower->source->instructions;
    const bool once = lower->written[reg] == LOWER_ONCE;
    for (uint32_t back = 0; back < MOST_BACK && at > first; back++) {
        /* A register that is written more than once may come here from elsewhere with another
         * value. */
        if (!once && lower->labelled[at - first]) return NULL;
        at--;
        if (!once && at->op == PTX_OP_BRA) return NULL;
        if (!lower_writes(at, reg)) continue;
        return at->guard == PTX_NO_REGISTER && at->operands[0].kind == PTX_OPERAND_REGISTER ? at
                                                                                            : NULL;
    }
    return NULL;
}

static void add_part(struct sum *sum, uint32_t reg, int64_t times)
{
    for (size_t k = 0; k < sum->count; k++)
        if (sum->parts[k].reg == reg) {
            sum->parts[k].times += times;
            return;
        }
    if (sum->count == MOST_PARTS)
        sum->known = false;
    else
        sum->parts[sum->count++] = (struct part){reg, times};
}

static void add(struct sum *sum, const struct ptx_instruction *at,
                const struct ptx_operand *operand, int64_t times, unsigned depth);

/* Adds a register by what it was computed from. */
static void add_register(struct sum *sum, const struct ptx_instruction *at, uint32_t reg,
                         int64_t times, unsigned depth)
{
    const struct ptx_instruction *change =
        depth < MOST_DEEP ? find_change(sum->lower, at, reg) : NULL;
    const struct ptx_operand *from = change != NULL ? change->operands + 1 : NULL;
    const enum ptx_opcode op = change != NULL ? change->op : PTX_OP_UNKNOWN;
    const bool by_number = change != NULL && change->operand_count > 2 &&
                           from[1].kind == PTX_OPERAND_IMMEDIATE && !from[1].is_float;
    const int64_t number = by_number ? (int64_t)from[1].bits : 0;
    depth++;
    if (op == PTX_OP_MOV || op == PTX_OP_CVT || op == PTX_OP_CVTA) {
        add(sum, change, &from[0], times, depth);
    } else if (op == PTX_OP_ADD || op == PTX_OP_SUB) {
        add(sum, change, &from[0], times, depth);
        add(sum, change, &from[1], op == PTX_OP_ADD ? times : -times, depth);
    } else if (op == PTX_OP_SHL && by_number && number >= 0 && number < 32) {
        add(sum, change, &from[0], times * (INT64_C(1) << number), depth);
    } else if (op == PTX_OP_MUL && by_number && change->modifiers.width != PTX_WIDTH_HI) {
        add(sum, change, &from[0], times * number, depth);
    } else if (op == PTX_OP_MAD && by_number && change->modifiers.width != PTX_WIDTH_HI) {
        add(sum, change, &from[0], times * number, depth);
        add(sum, change, &from[2], times, depth);
    } else {
        add_part(sum, reg, times);
    }
}

static void add(struct sum *sum, const struct ptx_instruction *at,
                const struct ptx_operand *operand, int64_t times, unsigned depth)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        add_register(sum, at, operand->reg, times, depth);
        break;
    case PTX_OPERAND_IMMEDIATE:
        sum->number += times * (int64_t)operand->bits;
        break;
    case PTX_OPERAND_ADDRESS:
        if (operand->reg != PTX_NO_REGISTER) add_register(sum, at, operand->reg, times, depth);
        /* fall through */
    case PTX_OPERAND_SYMBOL:
        sum->known &= operand->function == NULL && (operand->variable == NULL || times == 1) &&
                      (operand->variable == NULL || sum->variable == NULL);
        if (operand->variable != NULL) sum->variable = operand->variable;
        sum->number += times * operand->offset;
        break;
    default:
        sum->known = false;
    }
}

static bool has_part(const struct sum *sum, const struct part *part)
{
    for (size_t k = 0; k < sum->count; k++)
        if (sum->parts[k].reg == part->reg) return sum->parts[k].times == part->times;
    return part->times == 0;
}

bool lower_same_sum(const struct lower *lower, const struct ptx_instruction *at,
                    const struct ptx_operand *address, const struct ptx_instruction *other_at,
                    const struct ptx_operand *other_address)
{
    struct sum a = {.lower = lower, .known = true}, b = a;
    if (address->kind != PTX_OPERAND_ADDRESS || other_address->kind != PTX_OPERAND_ADDRESS)
        return false;
    add(&a, at, address, 1, 0);
    add(&b, other_at, other_address, 1, 0);
    bool same = a.known && b.known && a.variable == b.variable && a.number == b.number;
    for (size_t k = 0; k < a.count && same; k++) same = has_part(&b, &a.parts[k]);
    for (size_t k = 0; k < b.count && same; k++) same = has_part(&a, &b.parts[k]);
    return same;
}
