/* Writes down how a kernel computes the addresses of its accesses to global memory, and under which
 * conditions it executes them: check/proof.h. A register that is written once, from registers of
 * that kind, parameters and indexes of the thread, has the same value whenever the thread reads it.
 * A register that is written twice, the second time from itself, counts the rounds of a loop; one
 * that is written from itself once more, those of two. */
#include "emulator/exec/check/proof.h"
#include "emulator/exec/lower/access.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_INSTRUCTIONS = 8192, /* of a kernel; in longer ones little is to be proven */
    MOST_DEEP = 48,           /* registers that a value is computed through */
    MOST_BRANCHES = 256,
    MOST_ACCESSES = 128,
    MOST_GUARDS = 256,
    MOST_CHANGES = 2, /* of a register's first number: a loop that is unrolled leaves another one */
};

/* The bits of roots above those of check/proof.h: shared or local memory; anything. */
static const uint64_t of_block = UINT64_C(1) << EXEC_PROOF_ROOTS,
                      of_anything = UINT64_C(1) << (EXEC_PROOF_ROOTS + 1);
_Static_assert(EXEC_PROOF_ROOTS <= 62 && EXEC_PROOF_LOOPS <= 8, "they are bits of other fields");

/* The instructions that write a register. Those that move the same number as the first one does
 * are not counted. */
struct definitions {
    uint32_t first, changes[MOST_CHANGES]; /* in their order */
    uint32_t count;
    bool plain; /* without guards, and as a whole */
};

/* A loop that changes a register once in each round: its first instruction, that which changes the
 * register, and the branch back. */
struct round {
    uint32_t begin, change, end;
};

/* Between instructions `begin` and `end` a predicate holds, or does not. */
struct stretch {
    uint32_t begin, end;
    struct exec_proof_guard guard;
};

struct proof {
    struct lower *lower;
    const struct ptx_function *source;
    struct definitions *definitions; /* of each register */
    uint32_t *term_of;               /* of each register: 1 + its term; 0: not yet known */
    uint64_t *roots_of;              /* of each register */
    struct exec_term terms[EXEC_PROOF_TERMS];
    size_t term_count;
    bool of_loop[EXEC_PROOF_TERMS]; /* a loop's number is a part of the term */
    struct stretch stretches[MOST_BRANCHES];
    size_t stretch_count;
    struct exec_proof_guard guards[MOST_GUARDS];
    size_t guard_count;
    struct exec_proof_access accesses[MOST_ACCESSES];
    uint32_t places[MOST_ACCESSES]; /* which instruction each is */
    size_t access_count;
    uint32_t roots[EXEC_PROOF_ROOTS];
    size_t root_count;
    struct exec_proof_loop loops[EXEC_PROOF_LOOPS];
    struct round rounds[EXEC_PROOF_LOOPS];
    uint32_t loop_count, depth;
    uint32_t at; /* index of the instruction whose operands are looked at */
};

/* ---- terms ----------------------------------------------------------------------------------- */

/* Returns the index of that term, or 0 when there is no room or an operand is unknown. `operands`:
 * how many of a and b are terms. */
static uint32_t term(struct proof *proof, struct exec_term new, unsigned operands)
{
    if ((operands > 0 && new.a == 0) || (operands > 1 && new.b == 0)) return 0;
    for (uint32_t k = 1; k < proof->term_count; k++) {
        const struct exec_term *old = &proof->terms[k];
        if (old->op == new.op && old->bytes == new.bytes && old->a == new.a && old->b == new.b &&
            old->value == new.value)
            return k;
    }
    if (proof->term_count == EXEC_PROOF_TERMS) return 0;
    proof->terms[proof->term_count] = new;
    return (uint32_t)proof->term_count++;
}

static uint32_t both(struct proof *proof, enum exec_term_op op, uint32_t bytes, uint32_t a,
                     uint32_t b)
{
    return term(proof,
                (struct exec_term){.op = (uint8_t)op, .bytes = (uint8_t)bytes, .a = a, .b = b}, 2);
}

static uint32_t number(struct proof *proof, uint32_t bytes, uint64_t value)
{
    return term(proof,
                (struct exec_term){.op = EXEC_TERM_VALUE, .bytes = (uint8_t)bytes, .value = value},
                0);
}

static uint32_t widen(struct proof *proof, uint32_t a, bool is_signed)
{
    return term(proof,
                (struct exec_term){
                    .op = is_signed ? EXEC_TERM_SIGNED : EXEC_TERM_UNSIGNED, .bytes = 8, .a = a},
                1);
}

static uint32_t term_of_special(struct proof *proof, const struct ptx_operand *operand)
{
    static const uint8_t ops[PTX_SPECIAL_COUNT] = {[PTX_SPECIAL_TID] = EXEC_TERM_TID,
                                                   [PTX_SPECIAL_NTID] = EXEC_TERM_NTID,
                                                   [PTX_SPECIAL_CTAID] = EXEC_TERM_CTAID,
                                                   [PTX_SPECIAL_NCTAID] = EXEC_TERM_NCTAID};
    const uint8_t op = ops[operand->special];
    if (op == EXEC_TERM_UNKNOWN || operand->component > 2) return 0;
    return term(proof, (struct exec_term){.op = op, .bytes = 4, .value = operand->component}, 0);
}

/* The address of a variable of the module in global memory; 0 for all others. */
static uint32_t term_of_symbol(struct proof *proof, const struct ptx_operand *operand)
{
    if (operand->variable == NULL || operand->variable->space != PTX_SPACE_GLOBAL ||
        operand->variable->function != NULL)
        return 0;
    const int32_t index = lower_variable_index(proof->lower, operand->variable);
    if (index < 0) return 0;
    return term(proof,
                (struct exec_term){.op = EXEC_TERM_VARIABLE,
                                   .bytes = 8,
                                   .a = (uint32_t)index,
                                   .value = (uint64_t)operand->offset},
                0);
}

static uint32_t term_of_register(struct proof *proof, uint32_t reg);

/* The register's term where instruction `index` reads it: before a loop, what it has been set to
 * there. */
static uint32_t term_read(struct proof *proof, uint32_t reg, uint32_t index)
{
    uint32_t found = term_of_register(proof, reg);
    const struct exec_term *term = &proof->terms[found];
    while (term->op == EXEC_TERM_LOOP && index < proof->rounds[term->value].begin) {
        found = term->a;
        term = &proof->terms[found];
    }
    return found;
}

static uint32_t term_of(struct proof *proof, const struct ptx_operand *operand, uint32_t bytes)
{
    uint32_t found = 0;
    if (operand->kind == PTX_OPERAND_IMMEDIATE && !operand->is_float)
        return number(proof, bytes, operand->bits);
    if (operand->kind == PTX_OPERAND_SPECIAL) found = term_of_special(proof, operand);
    if (operand->kind == PTX_OPERAND_SYMBOL) found = term_of_symbol(proof, operand);
    if (operand->kind == PTX_OPERAND_REGISTER && operand->reg < proof->source->register_count)
        found = term_read(proof, operand->reg, proof->at);
    return found != 0 && proof->terms[found].bytes == bytes ? found : 0;
}

/* ---- what an instruction computes ------------------------------------------------------------ */

/* Returns whether it is an integer type of 4 or 8 bytes. */
static bool is_number(enum ptx_type type)
{
    const enum ptx_type_kind kind = ptx_type_kind(type);
    const uint32_t bytes = ptx_type_bytes(type);
    return (kind == PTX_KIND_SIGNED || kind == PTX_KIND_UNSIGNED || kind == PTX_KIND_BITS) &&
           (bytes == 4 || bytes == 8);
}

/* A parameter of 4 bytes may be loaded into a register of 8. */
static uint32_t term_of_parameter(struct proof *proof, const struct ptx_instruction *at)
{
    uint64_t offset;
    const struct ptx_operand *to = &at->operands[0];
    const uint32_t bytes = ptx_type_bytes(at->type);
    if ((bytes != 4 && bytes != 8) || to->kind != PTX_OPERAND_REGISTER ||
        !lower_find_parameter(proof->lower, &at->operands[1], at->modifiers.space, &offset))
        return 0;
    const struct exec_term new = {
        .op = EXEC_TERM_PARAMETER, .bytes = (uint8_t)bytes, .value = offset};
    const uint32_t found = term(proof, new, 0);
    if (found == 0 || bytes == ptx_type_bytes(proof->source->registers[to->reg].type)) return found;
    return widen(proof, found, ptx_type_kind(at->type) == PTX_KIND_SIGNED);
}

/* Of mul and mad: a product of the width of the result. */
static uint32_t product(struct proof *proof, const struct ptx_instruction *at, uint32_t bytes)
{
    uint32_t a = term_of(proof, &at->operands[1], bytes);
    uint32_t b = term_of(proof, &at->operands[2], bytes);
    const bool is_signed = ptx_type_kind(at->type) == PTX_KIND_SIGNED;
    if (at->modifiers.width == PTX_WIDTH_WIDE && bytes == 4) {
        a = a != 0 ? widen(proof, a, is_signed) : 0;
        b = b != 0 ? widen(proof, b, is_signed) : 0;
        return both(proof, EXEC_TERM_MUL, 8, a, b);
    }
    return at->modifiers.width == PTX_WIDTH_LO ? both(proof, EXEC_TERM_MUL, bytes, a, b) : 0;
}

static uint32_t converted(struct proof *proof, const struct ptx_instruction *at)
{
    const uint32_t bytes = ptx_type_bytes(at->type), before = ptx_type_bytes(at->type2);
    if (!is_number(at->type) || !is_number(at->type2) || at->modifiers.sat) return 0;
    const uint32_t a = term_of(proof, &at->operands[1], before);
    if (bytes == before || a == 0) return a;
    if (bytes == 8) return widen(proof, a, ptx_type_kind(at->type2) == PTX_KIND_SIGNED);
    return term(proof, (struct exec_term){.op = EXEC_TERM_LOW, .bytes = 4, .a = a}, 1);
}

static uint32_t compared(struct proof *proof, const struct ptx_instruction *at)
{
    const uint32_t bytes = ptx_type_bytes(at->type);
    const uint16_t as = at->modifiers.compare;
    if (!is_number(at->type) || at->operand_count != 3 ||
        at->operands[0].kind != PTX_OPERAND_REGISTER)
        return 0;
    const uint32_t a = term_of(proof, &at->operands[1], bytes);
    const uint32_t b = term_of(proof, &at->operands[2], bytes);
    struct exec_term new = {
        .bytes = 1, .a = a, .b = b, .value = ptx_type_kind(at->type) == PTX_KIND_SIGNED};
    const bool turned =
        as == PTX_CMP_GT || as == PTX_CMP_HI || as == PTX_CMP_GE || as == PTX_CMP_HS;
    if (turned) new.a = b, new.b = a;
    if (as == PTX_CMP_EQ || as == PTX_CMP_NE)
        new.op = EXEC_TERM_EQUAL;
    else if (as == PTX_CMP_LT || as == PTX_CMP_LO || as == PTX_CMP_GT || as == PTX_CMP_HI)
        new.op = EXEC_TERM_LESS;
    else if (as == PTX_CMP_LE || as == PTX_CMP_LS || as == PTX_CMP_GE || as == PTX_CMP_HS)
        new.op = EXEC_TERM_LESS_EQUAL;
    else
        return 0;
    const uint32_t found = term(proof, new, 2);
    if (as != PTX_CMP_NE) return found;
    return term(proof, (struct exec_term){.op = EXEC_TERM_NOT, .bytes = 1, .a = found}, 1);
}

/* Of and, or, not. */
static uint32_t logic(struct proof *proof, const struct ptx_instruction *at)
{
    const bool predicate = ptx_type_kind(at->type) == PTX_KIND_PREDICATE;
    const uint32_t bytes = predicate ? 1 : ptx_type_bytes(at->type);
    if (at->operands[1].negated || (at->operand_count > 2 && at->operands[2].negated)) return 0;
    const uint32_t a = term_of(proof, &at->operands[1], bytes);
    if (at->op == PTX_OP_NOT && !predicate) /* ~a = -1 - a */
        return both(proof, EXEC_TERM_SUB, bytes, number(proof, bytes, UINT64_MAX), a);
    if (at->op == PTX_OP_NOT)
        return term(proof, (struct exec_term){.op = EXEC_TERM_NOT, .bytes = 1, .a = a}, 1);
    const uint32_t b = term_of(proof, &at->operands[2], bytes);
    if (at->op == PTX_OP_OR)
        return both(proof, predicate ? EXEC_TERM_EITHER : EXEC_TERM_JOIN, bytes, a, b);
    return both(proof, predicate ? EXEC_TERM_BOTH : EXEC_TERM_MASK, bytes, a, b);
}

/* Of what depends on whether numbers have signs. */
static uint32_t signed_of(struct proof *proof, const struct ptx_instruction *at)
{
    static const struct {
        enum ptx_opcode op;
        enum exec_term_op term;
    } rows[] = {{PTX_OP_SHR, EXEC_TERM_SHR},
                {PTX_OP_DIV, EXEC_TERM_DIV},
                {PTX_OP_REM, EXEC_TERM_REM},
                {PTX_OP_MIN, EXEC_TERM_MIN},
                {PTX_OP_MAX, EXEC_TERM_MAX}};
    const uint32_t bytes = ptx_type_bytes(at->type);
    size_t k = 0;
    while (rows[k].op != at->op) k++;
    return term(
        proof,
        (struct exec_term){.op = (uint8_t)rows[k].term,
                           .bytes = (uint8_t)bytes,
                           .a = term_of(proof, &at->operands[1], bytes),
                           .b = term_of(proof, &at->operands[2], at->op == PTX_OP_SHR ? 4 : bytes),
                           .value = ptx_type_kind(at->type) == PTX_KIND_SIGNED},
        2);
}

/* Of integer arithmetic. */
static uint32_t calculated(struct proof *proof, const struct ptx_instruction *at)
{
    const uint32_t bytes = ptx_type_bytes(at->type);
    const struct ptx_operand *operands = at->operands;
    if (!is_number(at->type) || at->modifiers.sat || at->modifiers.cc) return 0;
    switch (at->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
        return both(proof, at->op == PTX_OP_ADD ? EXEC_TERM_ADD : EXEC_TERM_SUB, bytes,
                    term_of(proof, &operands[1], bytes), term_of(proof, &operands[2], bytes));
    case PTX_OP_MUL:
        return product(proof, at, bytes);
    case PTX_OP_MAD: {
        const uint32_t result = at->modifiers.width == PTX_WIDTH_WIDE ? 2 * bytes : bytes;
        return both(proof, EXEC_TERM_ADD, result, product(proof, at, bytes),
                    term_of(proof, &operands[3], result));
    }
    case PTX_OP_NEG:
        return both(proof, EXEC_TERM_SUB, bytes, number(proof, bytes, 0),
                    term_of(proof, &operands[1], bytes));
    case PTX_OP_SHL:
        return both(proof, EXEC_TERM_SHL, bytes, term_of(proof, &operands[1], bytes),
                    term_of(proof, &operands[2], 4));
    case PTX_OP_SHR:
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return signed_of(proof, at);
    default:
        return 0;
    }
}

static uint32_t made_by(struct proof *proof, const struct ptx_instruction *at)
{
    switch (at->op) {
    case PTX_OP_MOV:
        return at->modifiers.vector == PTX_ABSENT && at->operands[1].kind != PTX_OPERAND_VECTOR
                   ? term_of(proof, &at->operands[1], ptx_type_bytes(at->type))
                   : 0;
    case PTX_OP_CVTA: /* of global memory the two addresses are the same */
        return at->modifiers.space == PTX_SPACE_GLOBAL ? term_of(proof, &at->operands[1], 8) : 0;
    case PTX_OP_LD:
        return term_of_parameter(proof, at);
    case PTX_OP_CVT:
        return converted(proof, at);
    case PTX_OP_SETP:
        return compared(proof, at);
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_NOT:
        return logic(proof, at);
    default:
        return calculated(proof, at);
    }
}

static uint32_t term_of_instruction(struct proof *proof, const struct ptx_instruction *at)
{
    const uint32_t before = proof->at;
    proof->at = (uint32_t)(at - proof->source->instructions);
    const uint32_t found = made_by(proof, at);
    proof->at = before;
    return found;
}

/* Finds the loop around instruction `change`. Leaves `round` empty if there is none or if it may
 * go round in several ways: by another branch, in a loop around it, or from its middle. */
static void find_round(const struct proof *proof, uint32_t change, struct round *round)
{
    const struct ptx_function *source = proof->source;
    struct round found = {.end = 0};
    unsigned loops = 0;
    *round = (struct round){.end = 0};
    for (uint32_t k = change; k < source->instruction_count; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (at->op != PTX_OP_BRA || at->operands[0].target > change) continue;
        found = (struct round){.begin = at->operands[0].target, .change = change, .end = k};
        loops++;
    }
    for (uint32_t k = 0; k < source->instruction_count && loops == 1; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (at->op != PTX_OP_BRA || (k >= found.begin && k <= found.end)) continue;
        const uint32_t target = at->operands[0].target;
        if (target > found.begin && target <= found.end) return;
    }
    if (loops == 1) *round = found;
}

/* A register that gets a value before a loop and another, made of the last one, in each round; and
 * so once more in a second loop. */
static uint32_t term_of_loops(struct proof *proof, uint32_t reg, const struct definitions *of)
{
    const struct ptx_instruction *code = proof->source->instructions;
    uint32_t found = term_of_instruction(proof, &code[of->first]), loops[MOST_CHANGES];
    for (uint32_t k = 0; k + 1 < of->count; k++) {
        if (found == 0 || proof->loop_count == EXEC_PROOF_LOOPS) return 0;
        const struct exec_term new = {.op = EXEC_TERM_LOOP,
                                      .bytes = proof->terms[found].bytes,
                                      .a = found,
                                      .value = proof->loop_count};
        found = loops[k] = term(proof, new, 1);
        if (found != 0) find_round(proof, of->changes[k], &proof->rounds[proof->loop_count++]);
    }
    if (found == 0) return 0;
    proof->term_of[reg] = found + 1;
    for (uint32_t k = 0; k + 1 < of->count; k++) {
        const uint32_t next = term_of_instruction(proof, &code[of->changes[k]]);
        if (next == 0) proof->terms[loops[k]].op = EXEC_TERM_UNKNOWN;
        proof->terms[loops[k]].b = next;
    }
    return found;
}

static uint32_t term_of_register(struct proof *proof, uint32_t reg)
{
    const struct definitions *of = &proof->definitions[reg];
    uint32_t found = 0;
    if (proof->term_of[reg] != 0) return proof->term_of[reg] - 1;
    if (!of->plain || proof->depth == MOST_DEEP) return 0;
    proof->depth++;
    proof->term_of[reg] = 1; /* unknown meanwhile */
    if (of->count == 1 && proof->lower->written[reg] == LOWER_ONCE)
        found = term_of_instruction(proof, &proof->source->instructions[of->first]);
    else if (of->count > 1 && of->count - 1 <= MOST_CHANGES)
        found = term_of_loops(proof, reg, of);
    proof->term_of[reg] = found + 1;
    proof->depth--;
    return found;
}

/* ---- where addresses come from --------------------------------------------------------------- */

static uint64_t root(struct proof *proof, uint32_t of)
{
    for (size_t k = 0; k < proof->root_count; k++)
        if (proof->roots[k] == of) return UINT64_C(1) << k;
    if (of == 0 || proof->root_count == EXEC_PROOF_ROOTS) return of_anything;
    proof->roots[proof->root_count] = of;
    return UINT64_C(1) << proof->root_count++;
}

static uint64_t roots_of_symbol(struct proof *proof, const struct ptx_operand *operand)
{
    if (operand->variable == NULL) return 0;
    const unsigned space = operand->variable->space;
    if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST) return of_block;
    struct ptx_operand whole = *operand;
    whole.offset = 0;
    return space == PTX_SPACE_CONST ? of_block : root(proof, term_of_symbol(proof, &whole));
}

static uint64_t roots_of(struct proof *proof, const struct ptx_operand *operand)
{
    uint64_t roots = 0;
    if (operand->kind == PTX_OPERAND_SYMBOL || operand->kind == PTX_OPERAND_ADDRESS)
        roots |= roots_of_symbol(proof, operand);
    if ((operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_ADDRESS) &&
        operand->reg < proof->source->register_count)
        roots |= proof->roots_of[operand->reg];
    for (uint32_t k = 0; operand->kind == PTX_OPERAND_VECTOR && k < operand->count; k++)
        roots |= roots_of(proof, &operand->elements[k]);
    return roots;
}

/* Returns the roots of what the instruction computes. A product is no address, nor is what fits
 * into four bytes of memory. */
static uint64_t roots_made(struct proof *proof, const struct ptx_instruction *at)
{
    uint64_t roots = 0;
    switch (at->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ATOM:
        if (ptx_type_bytes(at->type) < 8) return 0;
        return at->op == PTX_OP_LD ? root(proof, term_of_parameter(proof, at)) : of_anything;
    case PTX_OP_MUL:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_SETP:
        return 0;
    case PTX_OP_MAD:
        return roots_of(proof, &at->operands[3]);
    case PTX_OP_CVTA:
        return roots_of(proof, &at->operands[1]) |
               (at->modifiers.space == PTX_SPACE_GLOBAL ? 0 : of_block);
    case PTX_OP_ALLOCA:
    case PTX_OP_MAPA:
        return of_block;
    case PTX_OP_MOV: /* an address may be put together from halves */
        if (at->operands[1].kind == PTX_OPERAND_VECTOR) return of_anything;
        return roots_of(proof, &at->operands[1]);
    default:
        for (uint8_t k = 1; k < at->operand_count; k++) roots |= roots_of(proof, &at->operands[k]);
        return roots;
    }
}

static bool add_roots(struct proof *proof, const struct ptx_operand *to, uint64_t roots)
{
    bool changed = false;
    if ((to->kind == PTX_OPERAND_REGISTER || to->kind == PTX_OPERAND_PAIR) &&
        to->reg < proof->source->register_count) {
        changed = (roots & ~proof->roots_of[to->reg]) != 0;
        proof->roots_of[to->reg] |= roots;
    }
    for (uint32_t k = 0; to->kind == PTX_OPERAND_VECTOR && k < to->count; k++)
        changed |= add_roots(proof, &to->elements[k], roots);
    return changed;
}

static void find_roots(struct proof *proof)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < proof->source->instruction_count; k++) {
            const struct ptx_instruction *at = &proof->source->instructions[k];
            if (at->operand_count == 0 || !lower_writes_first(at)) continue;
            changed |= add_roots(proof, &at->operands[0], roots_made(proof, at));
        }
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Returns whether every way into the instructions from `begin` to before `end` leads through the
 * one before them. */
static bool is_entered_in_front(const struct ptx_function *source, uint32_t begin, uint32_t end)
{
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (at->op != PTX_OP_BRA || (k >= begin && k < end)) continue;
        const uint32_t target = at->operands[0].target;
        if (target >= begin && target < end) return false;
    }
    return true;
}

/* Finds what a branch forward, or the exit of some threads, tells of the threads that go on. */
static void find_stretches(struct proof *proof)
{
    const struct ptx_function *source = proof->source;
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        const bool ends = at->op == PTX_OP_EXIT || at->op == PTX_OP_RET;
        if (at->guard == PTX_NO_REGISTER || (at->op != PTX_OP_BRA && !ends)) continue;
        const uint32_t end = ends ? source->instruction_count : at->operands[0].target;
        if (end <= k + 1 || proof->stretch_count == MOST_BRANCHES) continue;
        const uint32_t guard = term_of_register(proof, at->guard);
        if (guard == 0 || !is_entered_in_front(source, k + 1, end)) continue;
        proof->stretches[proof->stretch_count++] = (struct stretch){
            .begin = k + 1, .end = end, .guard = {.term = guard, .holds = at->guard_negated}};
    }
}

/* Returns whether instruction `index` of the loop is executed in every round that comes to its
 * end. */
static bool is_in_each(const struct ptx_function *source, const struct round *round, uint32_t index)
{
    if (index < round->begin || index >= round->end) return false;
    for (uint32_t k = round->begin; k < index; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (at->op != PTX_OP_BRA) continue;
        const uint32_t target = at->operands[0].target;
        if (target > index && target <= round->end) return false;
    }
    return true;
}

/* Returns the only operand of which a loop's number is a part; NULL: none, or several, which may
 * come from different rounds. */
static const struct ptx_operand *only_of_loop(const struct proof *proof,
                                              const struct ptx_instruction *at)
{
    const struct ptx_operand *only = NULL;
    for (uint8_t k = 1; k < at->operand_count; k++) {
        const struct ptx_operand *operand = &at->operands[k];
        if (operand->kind != PTX_OPERAND_REGISTER || proof->term_of[operand->reg] == 0 ||
            !proof->of_loop[proof->term_of[operand->reg] - 1])
            continue;
        if (only != NULL) return NULL;
        only = operand;
    }
    return only;
}

/* Returns whether instruction `index`, in each round of the loop, makes something of a register
 * that the loop changes once in each, or of what an instruction before it has made so. *late: that
 * register is read after the change. */
static bool tells_rounds(const struct proof *proof, uint32_t index, const struct round *round,
                         bool *late)
{
    const struct ptx_instruction *at = &proof->source->instructions[index];
    const struct ptx_operand *operand = only_of_loop(proof, at);
    if (operand == NULL || !is_in_each(proof->source, round, index)) return false;
    const struct definitions *of = &proof->definitions[operand->reg];
    const struct exec_term *term = &proof->terms[proof->term_of[operand->reg] - 1];
    if (term->op != EXEC_TERM_LOOP)
        return of->count == 1 && of->first < index && tells_rounds(proof, of->first, round, late);
    const struct round *its = &proof->rounds[term->value];
    *late = index > its->change;
    return its->end == round->end && index > its->begin &&
           is_in_each(proof->source, its, its->change);
}

/* Finds the terms of which a loop's number is a part. */
static void find_of_loop(struct proof *proof)
{
    for (size_t k = 1; k < proof->term_count; k++) {
        const struct exec_term *term = &proof->terms[k];
        proof->of_loop[k] =
            term->op == EXEC_TERM_LOOP ||
            (term->op >= EXEC_TERM_ADD && (proof->of_loop[term->a] || proof->of_loop[term->b]));
    }
}

/* Finds on what it depends whether a loop goes on, and which accesses are in it. */
static void find_ends(struct proof *proof)
{
    for (uint32_t k = 0; k < proof->loop_count; k++) {
        const struct ptx_instruction *back = &proof->source->instructions[proof->rounds[k].end];
        if (back->guard != PTX_NO_REGISTER) term_of_register(proof, back->guard);
    }
    find_of_loop(proof);
    for (uint32_t k = 0; k < proof->loop_count; k++) {
        const struct round *round = &proof->rounds[k];
        for (size_t l = 0; l < proof->access_count; l++)
            if (proof->places[l] >= round->begin && proof->places[l] < round->change)
                proof->accesses[l].within |= (uint8_t)(1u << k);
        const struct ptx_instruction *back = &proof->source->instructions[round->end];
        if (round->end == 0 || back->guard == PTX_NO_REGISTER) continue;
        const struct definitions *of = &proof->definitions[back->guard];
        const uint32_t guard = term_of_register(proof, back->guard);
        if (guard != 0 && tells_rounds(proof, of->first, round, &proof->loops[k].late))
            proof->loops[k].term = guard;
        proof->loops[k].holds = !back->guard_negated;
    }
}

static void add_guard(struct proof *proof, struct exec_proof_guard guard)
{
    if (guard.term == 0 || proof->guard_count == MOST_GUARDS) return;
    proof->guards[proof->guard_count++] = guard;
    proof->accesses[proof->access_count].guard_count++;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static bool modifies(enum ptx_opcode op)
{
    return op == PTX_OP_ST || op == PTX_OP_ATOM || op == PTX_OP_RED || op == PTX_OP_SUST;
}

/* Adds the access `at` through `address`, or of unknown place. Returns false if it may be to any
 * region. */
static bool add_access(struct proof *proof, const struct ptx_instruction *at,
                       const struct ptx_operand *address, uint32_t count, bool is_known)
{
    const uint64_t roots = roots_of(proof, address);
    const uint32_t index = (uint32_t)(at - proof->source->instructions);
    struct exec_proof_access *access = &proof->accesses[proof->access_count];
    if (roots == of_block) return true;
    if ((roots & of_anything) != 0 || roots == 0 || proof->access_count == MOST_ACCESSES)
        return false;
    *access = (struct exec_proof_access){.bytes = ptx_type_bytes(at->type) * count,
                                         .modifies = modifies(at->op),
                                         .first_guard = proof->guard_count,
                                         .roots = roots & ~of_block};
    if (is_known && address->reg != PTX_NO_REGISTER && address->variable == NULL) {
        access->address = both(proof, EXEC_TERM_ADD, 8, term_read(proof, address->reg, index),
                               number(proof, 8, (uint64_t)address->offset));
    } else if (is_known && address->reg == PTX_NO_REGISTER) {
        access->address = term_of_symbol(proof, address);
    }
    for (size_t k = 0; k < proof->stretch_count; k++)
        if (index >= proof->stretches[k].begin && index < proof->stretches[k].end)
            add_guard(proof, proof->stretches[k].guard);
    if (at->guard != PTX_NO_REGISTER)
        add_guard(proof, (struct exec_proof_guard){.term = term_of_register(proof, at->guard),
                                                   .holds = !at->guard_negated});
    proof->places[proof->access_count++] = index;
    return true;
}

/* Adds an access through a texture or surface object. Its region is known at the launch. */
static bool add_image(struct proof *proof, const struct ptx_instruction *at,
                      const struct ptx_operand *image)
{
    const struct ptx_operand *object = &image->elements[0];
    return image->kind == PTX_OPERAND_IMAGE && object->variable == NULL &&
           add_access(proof, at, object, 1, false);
}

/* Handles an instruction that names an address. Returns false if it may touch any region. */
static bool note_access(struct proof *proof, const struct ptx_instruction *at)
{
    const bool anywhere = lower_may_be_global(at->modifiers.space);
    switch (at->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ATOM:
        return !anywhere || add_access(proof, at, &at->operands[1],
                                       lower_elements(&at->operands[0], NULL), true);
    case PTX_OP_ST:
    case PTX_OP_RED:
        return !anywhere || add_access(proof, at, &at->operands[0],
                                       lower_elements(&at->operands[1], NULL), true);
    case PTX_OP_CP_ASYNC:
        return add_access(proof, at, &at->operands[1], 1, false);
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_SULD:
        return add_image(proof, at, &at->operands[1]);
    case PTX_OP_SUST:
        return add_image(proof, at, &at->operands[0]);
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        return true;
    default:
        return false;
    }
}

/* Returns whether the instruction calls what accesses no memory of the program's: printf, and a
 * failed assertion. */
static bool calls_builtin(const struct proof *proof, const struct ptx_instruction *at)
{
    const struct ptx_function *callee = at->call->function;
    if (callee == NULL) return false;
    const enum exec_builtin builtin = proof->lower->program->functions[callee->index]->builtin;
    return builtin == EXEC_BUILTIN_VPRINTF || builtin == EXEC_BUILTIN_ASSERTFAIL;
}

static bool note_accesses(struct proof *proof)
{
    for (uint32_t k = 0; k < proof->source->instruction_count; k++) {
        const struct ptx_instruction *at = &proof->source->instructions[k];
        if (at->op == PTX_OP_UNKNOWN || at->op == PTX_OP_BRX_IDX ||
            (at->op == PTX_OP_CALL && !calls_builtin(proof, at)))
            return false;
        if (lower_names_address(at) && !note_access(proof, at)) return false;
    }
    return proof->access_count > 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Returns whether both instructions move the same number into a register. */
static bool moves_same(const struct ptx_instruction *a, const struct ptx_instruction *b)
{
    const struct ptx_operand *from = &a->operands[1], *too = &b->operands[1];
    return a->op == PTX_OP_MOV && b->op == PTX_OP_MOV && a->type == b->type &&
           from->kind == PTX_OPERAND_IMMEDIATE && too->kind == PTX_OPERAND_IMMEDIATE &&
           from->bits == too->bits;
}

static void define(struct proof *proof, uint32_t index, const struct ptx_operand *to, bool plain)
{
    const struct ptx_instruction *code = proof->source->instructions;
    if (to->kind == PTX_OPERAND_REGISTER || to->kind == PTX_OPERAND_PAIR) {
        const uint32_t regs[2] = {to->reg,
                                  to->kind == PTX_OPERAND_PAIR ? to->second : PTX_NO_REGISTER};
        for (unsigned k = 0; k < 2; k++) {
            if (regs[k] >= proof->source->register_count) continue;
            struct definitions *of = &proof->definitions[regs[k]];
            if (of->count == 1 && plain && moves_same(&code[of->first], &code[index])) continue;
            if (of->count == 0)
                of->first = index;
            else if (of->count <= MOST_CHANGES)
                of->changes[of->count - 1] = index;
            of->plain = (of->count == 0 || of->plain) && plain && to->kind == PTX_OPERAND_REGISTER;
            of->count++;
        }
    }
    for (uint32_t k = 0; to->kind == PTX_OPERAND_VECTOR && k < to->count; k++)
        define(proof, index, &to->elements[k], false);
}

static void find_definitions(struct proof *proof)
{
    for (uint32_t k = 0; k < proof->source->instruction_count; k++) {
        const struct ptx_instruction *at = &proof->source->instructions[k];
        if (at->operand_count > 0 && lower_writes_first(at))
            define(proof, k, &at->operands[0], at->guard == PTX_NO_REGISTER);
    }
}

static void *keep(struct proof *proof, const void *from, size_t count, size_t size)
{
    void *kept = arena_take(&proof->lower->program->arena, count, size);
    if (kept != NULL) memcpy(kept, from, count * size);
    return kept;
}

/* Copies what has been found into the program. */
static const struct exec_proof *conclude(struct proof *proof)
{
    struct exec_proof *made = arena_take(&proof->lower->program->arena, 1, sizeof *made);
    if (made == NULL) return NULL;
    made->terms = keep(proof, proof->terms, proof->term_count, sizeof *proof->terms);
    made->guards = keep(proof, proof->guards, proof->guard_count, sizeof *proof->guards);
    made->accesses = keep(proof, proof->accesses, proof->access_count, sizeof *proof->accesses);
    if (made->terms == NULL || made->guards == NULL || made->accesses == NULL) return NULL;
    made->term_count = proof->term_count;
    made->access_count = proof->access_count;
    memcpy(made->roots, proof->roots, sizeof made->roots);
    memcpy(made->loops, proof->loops, sizeof made->loops);
    made->root_count = proof->root_count;
    return made;
}

const struct exec_proof *lower_proof(struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    const size_t registers = source->register_count + (size_t)1;
    const struct exec_proof *made = NULL;
    if (!source->is_entry || !lower->program->watched || lower_converses(source) ||
        source->instruction_count > MOST_INSTRUCTIONS)
        return NULL;
    struct proof *proof = calloc(1, sizeof *proof);
    if (proof == NULL) return NULL;
    proof->lower = lower;
    proof->source = source;
    proof->term_count = 1;
    proof->definitions = calloc(registers, sizeof *proof->definitions);
    proof->term_of = calloc(registers, sizeof *proof->term_of);
    proof->roots_of = calloc(registers, sizeof *proof->roots_of);
    if (proof->definitions != NULL && proof->term_of != NULL && proof->roots_of != NULL) {
        find_definitions(proof);
        find_roots(proof);
        find_stretches(proof);
        if (note_accesses(proof)) {
            find_ends(proof);
            made = conclude(proof);
        }
    }
    free(proof->definitions);
    free(proof->term_of);
    free(proof->roots_of);
    free(proof);
    return made;
}
