/* What a function's values are for: some decide what a thread does (a branch, a guard, whether a
 * swap takes place), the others only become a part of what it stores. A flag is of the first kind,
 * so a load whose value is of the second kind reads data. Values are followed backwards from each
 * decision, through registers and through .shared variables; one that goes into local memory, a
 * call, or memory of an unknown kind counts as deciding. */
#include "emulator/exec/lower/access.h"

#include <stdlib.h>

enum { MOST_VARIABLES = 64 };

struct decisions {
    const struct ptx_function *source;
    bool *registers;                      /* those that decide */
    const struct ptx_variable **pointees; /* of each register: the variable into which it points;
                                             NULL: none is known */
    const struct ptx_variable *shared[MOST_VARIABLES]; /* variables of which a load decides */
    size_t shared_count;
    bool any_shared; /* so does a load from shared memory whose variable is not known */
    bool changed;
};

static bool is_shared(uint16_t space)
{
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CTA;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Stands for several variables. */
static const struct ptx_variable several;

static const struct ptx_variable *points_to(const struct decisions *of,
                                            const struct ptx_operand *operand)
{
    if ((operand->kind == PTX_OPERAND_SYMBOL || operand->kind == PTX_OPERAND_ADDRESS) &&
        operand->variable != NULL)
        return operand->variable;
    if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_ADDRESS) return NULL;
    return operand->reg < PTX_SINK ? of->pointees[operand->reg] : NULL;
}

/* Returns the variable that the address is in; NULL: it is not known. */
static const struct ptx_variable *variable_at(const struct decisions *of,
                                              const struct ptx_operand *address)
{
    const struct ptx_variable *variable = points_to(of, address);
    return variable != &several ? variable : NULL;
}

static const struct ptx_variable *either(const struct ptx_variable *one,
                                         const struct ptx_variable *other)
{
    if (one == NULL || other == NULL) return one != NULL ? one : other;
    return one == other ? one : &several;
}

static bool moves_pointer(enum ptx_opcode op)
{
    return op == PTX_OP_MOV || op == PTX_OP_ADD || op == PTX_OP_SUB || op == PTX_OP_MAD ||
           op == PTX_OP_CVTA;
}

/* Adds to `pointees` what the instruction writes; returns whether that is new. */
static bool point(struct decisions *of, const struct ptx_instruction *at)
{
    const struct ptx_operand *to = &at->operands[0];
    const struct ptx_variable *from = NULL;
    if (at->operand_count == 0 || !lower_writes_first(at) || to->kind != PTX_OPERAND_REGISTER ||
        to->reg >= PTX_SINK)
        return false;
    const struct ptx_variable *before = of->pointees[to->reg];
    if (moves_pointer(at->op))
        for (uint8_t k = 1; k < at->operand_count; k++)
            from = either(from, points_to(of, &at->operands[k]));
    else if (before != NULL)
        from = &several;
    of->pointees[to->reg] = either(before, from);
    return of->pointees[to->reg] != before;
}

/* A load from shared memory at `address` decides. */
static void shared_decides(struct decisions *of, const struct ptx_operand *address)
{
    const struct ptx_variable *variable = variable_at(of, address);
    if (of->any_shared) return;
    for (size_t k = 0; variable != NULL && k < of->shared_count; k++)
        if (of->shared[k] == variable) return;
    of->changed = true;
    if (variable == NULL || of->shared_count == MOST_VARIABLES)
        of->any_shared = true;
    else
        of->shared[of->shared_count++] = variable;
}

/* Returns whether a load that decides may read what is stored at `address`. */
static bool may_decide(const struct decisions *of, const struct ptx_operand *address)
{
    const struct ptx_variable *variable = variable_at(of, address);
    if (of->any_shared || variable == NULL) return of->any_shared || of->shared_count > 0;
    for (size_t k = 0; k < of->shared_count; k++)
        if (of->shared[k] == variable) return true;
    return false;
}

/* ---- registers ------------------------------------------------------------------------------- */

static void decide_register(struct decisions *of, uint32_t reg)
{
    if (reg >= PTX_SINK || of->registers[reg]) return;
    of->registers[reg] = true;
    of->changed = true;
}

static void decide(struct decisions *of, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_ADDRESS)
        decide_register(of, operand->reg);
    const bool parts = operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_IMAGE;
    for (uint32_t k = 0; parts && k < operand->count; k++) decide(of, &operand->elements[k]);
}

static void decide_from(struct decisions *of, const struct ptx_instruction *at, uint8_t first)
{
    for (uint8_t k = first; k < at->operand_count; k++) decide(of, &at->operands[k]);
}

static bool decides(const bool *registers, const struct ptx_operand *to)
{
    const bool pair = to->kind == PTX_OPERAND_PAIR || to->kind == PTX_OPERAND_VECTOR;
    if ((to->kind == PTX_OPERAND_REGISTER || to->kind == PTX_OPERAND_PAIR) && to->reg < PTX_SINK &&
        registers[to->reg])
        return true;
    if (pair && to->second < PTX_SINK && registers[to->second]) return true;
    for (uint32_t k = 0; to->kind == PTX_OPERAND_VECTOR && k < to->count; k++)
        if (decides(registers, &to->elements[k])) return true;
    return false;
}

/* Follows what the instruction stores at `address`, its operands from `first` on. */
static void follow_store(struct decisions *of, const struct ptx_instruction *at,
                         const struct ptx_operand *address, uint8_t first)
{
    const uint16_t space = at->modifiers.space;
    if (space == PTX_SPACE_GLOBAL || (is_shared(space) && !may_decide(of, address))) return;
    decide_from(of, at, first);
}

static void follow_load(struct decisions *of, const struct ptx_instruction *at)
{
    if (!decides(of->registers, &at->operands[0])) return;
    if (is_shared(at->modifiers.space) || at->modifiers.space == PTX_ABSENT)
        shared_decides(of, &at->operands[1]);
    decide(of, &at->operands[1]);
}

static void follow(struct decisions *of, const struct ptx_instruction *at)
{
    decide_register(of, at->guard);
    switch (at->op) {
    case PTX_OP_ST:
    case PTX_OP_RED:
        follow_store(of, at, &at->operands[0], 1);
        break;
    case PTX_OP_ATOM:
        follow_load(of, at);
        follow_store(of, at, &at->operands[1], 2);
        if (at->modifiers.operation == PTX_ATOMIC_CAS) decide_from(of, at, 2);
        break;
    case PTX_OP_LD:
        follow_load(of, at);
        break;
    case PTX_OP_CALL:
        decide_register(of, at->call->reg);
        for (uint32_t k = 0; k < at->call->argument_count; k++) decide(of, &at->call->arguments[k]);
        break;
    default:
        if (at->operand_count == 0) break;
        if (!lower_writes_first(at))
            decide_from(of, at, 0);
        else if (decides(of->registers, &at->operands[0]))
            decide_from(of, at, 1);
    }
}

bool *lower_deciding(const struct ptx_function *source)
{
    struct decisions of = {.source = source};
    of.registers = calloc(source->register_count + (size_t)1, sizeof *of.registers);
    of.pointees = calloc(source->register_count + (size_t)1, sizeof *of.pointees);
    if (of.registers == NULL || of.pointees == NULL) goto failed;
    for (of.changed = true; of.changed;) {
        of.changed = false;
        for (uint32_t k = 0; k < source->instruction_count; k++)
            of.changed |= point(&of, &source->instructions[k]);
    }
    for (of.changed = true; of.changed;) {
        of.changed = false;
        for (uint32_t k = source->instruction_count; k-- > 0;)
            follow(&of, &source->instructions[k]);
    }
    free(of.pointees);
    return of.registers;
failed:
    free(of.registers);
    free(of.pointees);
    return NULL;
}

bool lower_brings_data(const bool *deciding, const struct ptx_instruction *at)
{
    return deciding != NULL && !decides(deciding, &at->operands[0]);
}
