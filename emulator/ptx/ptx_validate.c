/* The validator: an instruction against its row, so that whoever executes it need not ask. Number
 * and kinds of operands, registers against types, the modifiers that must be there; immediates
 * become bits of their operand's type. */
#include "emulator/ptx/ptx_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

/* One word of a row's shape. */
struct word {
    char presence; /* '?' may be left out, 'c' with .cas only, 0 always */
    char kind;
    char type;
    bool vector;
    bool wider;
};

static const char *read_word(const char *shape, struct word *word)
{
    *word = (struct word){0};
    if (*shape == '?' || *shape == 'c') word->presence = *shape++;
    word->kind = *shape++;
    if (*shape && *shape != ' ') word->type = *shape++;
    for (; *shape && *shape != ' '; shape++) {
        if (*shape == 'v') word->vector = true;
        if (*shape == '+') word->wider = true;
    }
    return *shape ? shape + 1 : shape;
}

/* The words that `count` operands match, in `words`; false when that many do not fit. `least` and
 * `most` say how many would. */
static bool match(const struct ptx_instruction *instruction, uint32_t count,
                  struct word words[PTX_MAX_OPERANDS], uint32_t *least, uint32_t *most)
{
    bool is_cas = instruction->modifiers.operation == PTX_ATOMIC_CAS;
    const char *shape = ptx_opcode_row(instruction->op)->shape;
    *least = *most = 0;
    for (const char *next = shape; *next;) {
        struct word word;
        next = read_word(next, &word);
        if (word.presence == 'c' && !is_cas) continue;
        ++*most;
        if (word.presence != '?') ++*least;
    }
    if (count < *least || count > *most) return false;

    uint32_t extra = count - *least, filled = 0;
    for (const char *next = shape; *next;) {
        struct word word;
        next = read_word(next, &word);
        if (word.presence == 'c' && !is_cas) continue;
        if (word.presence == '?' && extra == 0) continue;
        if (word.presence == '?') extra--;
        words[filled++] = word;
    }
    return true;
}

static enum ptx_type twice_as_wide(enum ptx_type type)
{
    switch (type) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    case PTX_S32:
        return PTX_S64;
    default:
        return type;
    }
}

static enum ptx_type type_of(const struct ptx_instruction *instruction, const struct word *word)
{
    enum ptx_type first = (enum ptx_type)instruction->type;
    switch (word->type) {
    case '0':
        return first;
    case '1':
        return (enum ptx_type)instruction->type2;
    case 'w':
        return instruction->modifiers.width == PTX_WIDTH_WIDE ? twice_as_wide(first) : first;
    case 'p':
        return PTX_PRED;
    case '4':
        return PTX_U32;
    case '8':
        return PTX_U64;
    default:
        return PTX_NO_TYPE;
    }
}

enum ptx_type ptx_operand_type(const struct ptx_instruction *instruction, uint32_t index)
{
    struct word words[PTX_MAX_OPERANDS];
    uint32_t least, most;
    uint32_t count = instruction->operand_count;
    if (index >= count || instruction->text) return PTX_NO_TYPE;
    if (!match(instruction, count, words, &least, &most)) return PTX_NO_TYPE;
    return type_of(instruction, &words[index]);
}

/* ---- what is checked against what ------------------------------------------------------------ */

struct check {
    struct ptx_parser *p;
    struct ptx_instruction *instruction;
    const struct ptx_opcode_row *row;
    const struct ptx_token *at;
};

static bool is_integer(enum ptx_type type)
{
    enum ptx_type_kind kind = ptx_type_kind(type);
    return kind == PTX_KIND_UNSIGNED || kind == PTX_KIND_SIGNED;
}

static bool is_float(enum ptx_type type)
{
    enum ptx_type_kind kind = ptx_type_kind(type);
    return kind == PTX_KIND_FLOAT || kind == PTX_KIND_BFLOAT;
}

/* PTX ISA 9.2 and table 28: a register of one type as an operand of another. */
static bool register_fits(enum ptx_type held, enum ptx_type wanted, bool wider)
{
    if (held == PTX_PRED || wanted == PTX_PRED) return held == wanted;
    if (wanted == PTX_NO_TYPE) return true;
    uint32_t held_bits = ptx_type_bits(held), wanted_bits = ptx_type_bits(wanted);
    if (held_bits > wanted_bits) return wider;
    if (held_bits < wanted_bits) return false;
    if (ptx_type_kind(held) == PTX_KIND_BITS || ptx_type_kind(wanted) == PTX_KIND_BITS) return true;
    if (is_float(held) && is_float(wanted)) return held == wanted;
    return !is_float(held) && !is_float(wanted);
}

static void check_register(const struct check *check, const struct ptx_token *at, uint32_t reg,
                           enum ptx_type wanted, bool wider)
{
    const struct ptx_register *registers = check->p->body.registers.items;
    if (reg == PTX_SINK) return;
    const struct ptx_register *held = &registers[reg];
    if (register_fits(held->type, wanted, wider)) return;
    if (wanted == PTX_NO_TYPE) {
        ptx_complain(check->p, at->line, at->column, "%s takes no predicate such as `%s` here.",
                     check->row->text, held->name);
        return;
    }
    ptx_complain(check->p, at->line, at->column, "`%s` is a .%s register, and %s needs .%s here.",
                 held->name, ptx_type_name(held->type), check->row->text, ptx_type_name(wanted));
}

static uint64_t cut(uint64_t bits, enum ptx_type type)
{
    uint32_t width = ptx_type_bits(type);
    if (width == 0 || width >= 64) return bits;
    uint64_t mask = (UINT64_C(1) << width) - 1;
    bits &= mask;
    bool negative = ptx_type_kind(type) == PTX_KIND_SIGNED && (bits >> (width - 1) & 1);
    return negative ? bits | ~mask : bits;
}

void ptx_immediate_convert(struct ptx_parser *p, const struct ptx_token *at, const char *what,
                           struct ptx_operand *operand, enum ptx_type type)
{
    struct ptx_constant constant = {
        .is_float = operand->is_float, .is_single = operand->component, .bits = operand->bits};
    bool scalar_float = is_float(type) && ptx_type_lanes(type) == 1;
    operand->component = 0;
    if (constant.is_float && scalar_float) {
        ptx_constant_to_float(&constant, type, &operand->bits);
    } else if (constant.is_float && ptx_type_kind(type) != PTX_KIND_BITS) {
        ptx_complain(p, at->line, at->column,
                     "%s takes an integer here, not a floating-point number.", what);
    } else if (!constant.is_float && scalar_float) {
        ptx_complain(p, at->line, at->column,
                     "%s takes a floating-point number such as 0f3F800000 here, not an integer.",
                     what);
    } else if (type == PTX_PRED) {
        operand->bits = operand->bits != 0;
    } else {
        operand->bits = cut(operand->bits, type);
    }
}

static bool special_fits(enum ptx_special special, enum ptx_type wanted)
{
    enum ptx_type held = ptx_special_type(special);
    if (register_fits(held, wanted, false)) return true;
    return held == PTX_U32 && ptx_type_bits(wanted) == 16; /* PTX 1: mov.u16 r, %tid.x */
}

static bool is_address_type(enum ptx_type type)
{
    return type == PTX_NO_TYPE || (!is_float(type) && ptx_type_bits(type) >= 32);
}

/* A source that is no vector. */
static void check_source(const struct check *check, const struct ptx_token *at,
                         struct ptx_operand *operand, enum ptx_type type, bool wider)
{
    struct ptx_parser *p = check->p;
    if (operand->negated && type != PTX_PRED)
        ptx_complain(p, at->line, at->column, "`!` is for predicates only.");
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        check_register(check, at, operand->reg, type, wider);
        break;
    case PTX_OPERAND_IMMEDIATE:
        ptx_immediate_convert(p, at, check->row->text, operand, type);
        break;
    case PTX_OPERAND_SPECIAL:
        if (!special_fits(operand->special, type))
            ptx_complain(p, at->line, at->column, "%s has .%s, and %s needs .%s here.",
                         ptx_special_name(operand->special),
                         ptx_type_name(ptx_special_type(operand->special)), check->row->text,
                         ptx_type_name(type));
        break;
    case PTX_OPERAND_SYMBOL:
        if (!is_address_type(type))
            ptx_complain(p, at->line, at->column, "An address does not fit in .%s.",
                         ptx_type_name(type));
        break;
    default:
        ptx_complain(p, at->line, at->column, "%s needs a register or a constant here.",
                     check->row->text);
    }
}

static enum ptx_type bits_type(uint32_t bits)
{
    static const enum ptx_type types[] = {PTX_B8, PTX_B16, PTX_B32, PTX_B64};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (ptx_type_bits(types[i]) == bits) return types[i];
    }
    return PTX_NO_TYPE;
}

/* {a, b}: as many as .vN says; without .vN, for mov, parts of the type. */
static void check_vector(const struct check *check, const struct ptx_token *at,
                         const struct ptx_operand *operand, const struct word *word,
                         enum ptx_type type, uint32_t expected)
{
    struct ptx_parser *p = check->p;
    if (!word->vector || (expected == 1 && check->instruction->op != PTX_OP_MOV)) {
        ptx_complain(p, at->line, at->column, "%s takes no vector here.", check->row->text);
        return;
    }
    if (expected == 1) { /* pack or unpack */
        enum ptx_type part = bits_type(ptx_type_bits(type) / operand->count);
        if (ptx_type_bits(part) * operand->count != ptx_type_bits(type)) {
            ptx_complain(p, at->line, at->column, "%u elements do not make a .%s.", operand->count,
                         ptx_type_name(type));
            return;
        }
        type = part;
    } else if (operand->count != expected) {
        ptx_complain(p, at->line, at->column, "Expected a vector of %u elements, found %u.",
                     expected, operand->count);
        return;
    }
    /* made by this parse for this instruction, so not read-only yet */
    struct ptx_operand *elements = (struct ptx_operand *)(uintptr_t)operand->elements;
    for (uint32_t i = 0; i < operand->count; i++) {
        struct ptx_operand *element = &elements[i];
        bool is_sink = element->kind == PTX_OPERAND_SINK;
        if (word->kind == 'S') {
            check_source(check, at, element, type, word->wider);
        } else if (!is_sink && (element->kind != PTX_OPERAND_REGISTER || element->negated)) {
            ptx_complain(p, at->line, at->column, "%s writes to registers only.", check->row->text);
        } else if (!is_sink) {
            check_register(check, at, element->reg, type, word->wider);
        }
    }
}

static void check_destination(const struct check *check, const struct ptx_token *at,
                              const struct ptx_operand *operand, const struct word *word,
                              enum ptx_type type)
{
    bool is_pair = operand->kind == PTX_OPERAND_PAIR && word->kind == 'P';
    if (operand->kind == PTX_OPERAND_SINK) return;
    if (operand->negated || (operand->kind != PTX_OPERAND_REGISTER && !is_pair)) {
        ptx_complain(check->p, at->line, at->column, "%s writes its result to a register.",
                     check->row->text);
        return;
    }
    check_register(check, at, operand->reg, type, word->wider);
    if (is_pair) check_register(check, at, operand->second, PTX_PRED, false);
}

static void check_address(const struct check *check, const struct ptx_token *at,
                          const struct ptx_operand *operand)
{
    const struct ptx_register *registers = check->p->body.registers.items;
    if (operand->kind != PTX_OPERAND_ADDRESS) {
        ptx_complain(check->p, at->line, at->column, "%s needs an address in brackets here.",
                     check->row->text);
    } else if (operand->reg != PTX_NO_REGISTER) {
        enum ptx_type held = registers[operand->reg].type;
        uint32_t bits = ptx_type_bits(held);
        if (is_float(held) || (bits != 32 && bits != 64))
            ptx_complain(check->p, at->line, at->column,
                         "`%s` is a .%s register; an address has 32 or 64 bits.",
                         registers[operand->reg].name, ptx_type_name(held));
    }
}

static void check_operand(const struct check *check, const struct ptx_token *at,
                          struct ptx_operand *operand, const struct word *word)
{
    static const uint32_t counts[] = {2, 4, 8};
    uint8_t vector = check->instruction->modifiers.vector;
    uint32_t expected = vector ? counts[vector - PTX_V2] : 1;
    enum ptx_type type = type_of(check->instruction, word);
    switch (word->kind) {
    case 'D':
    case 'P':
    case 'S':
        if (operand->kind == PTX_OPERAND_VECTOR) {
            check_vector(check, at, operand, word, type, expected);
        } else if (word->vector && expected != 1) {
            ptx_complain(check->p, at->line, at->column,
                         "Expected a vector of %u elements in braces.", expected);
        } else if (word->kind == 'S') {
            check_source(check, at, operand, type, word->wider);
        } else {
            check_destination(check, at, operand, word, type);
        }
        break;
    case 'A':
        check_address(check, at, operand);
        break;
    default: /* L and T are what the parser made of them; X is anything */
        if (operand->kind == PTX_OPERAND_IMMEDIATE) operand->component = 0;
    }
}

/* ---- types and modifiers --------------------------------------------------------------------- */

static bool in_set(uint64_t set, uint8_t type)
{
    return type != PTX_NO_TYPE && (set >> type & 1);
}

static bool check_types(const struct check *check)
{
    const struct ptx_instruction *instruction = check->instruction;
    const struct ptx_opcode_row *row = check->row;
    struct ptx_parser *p = check->p;
    uint32_t line = check->at->line, column = check->at->column;
    const char *first = ptx_type_name((enum ptx_type)instruction->type);
    const char *second = ptx_type_name((enum ptx_type)instruction->type2);
    if (row->types == 0 && instruction->type != PTX_NO_TYPE) {
        ptx_complain(p, line, column, "%s has no type, and .%s is given.", row->text, first);
    } else if (row->types != 0 && instruction->type == PTX_NO_TYPE) {
        ptx_complain(p, line, column, "%s needs a type.", row->text);
    } else if (row->types != 0 && !in_set(row->types, instruction->type)) {
        ptx_complain(p, line, column, "%s has no type .%s.", row->text, first);
    } else if (row->types2 == 0 && instruction->type2 != PTX_NO_TYPE) {
        ptx_complain(p, line, column, "%s has one type, and .%s is given as well.", row->text,
                     second);
    } else if (row->types2 != 0 && instruction->type2 == PTX_NO_TYPE && strchr(row->shape, '1')) {
        ptx_complain(p, line, column, "%s needs a second type.", row->text);
    } else if (row->types2 != 0 && instruction->type2 != PTX_NO_TYPE &&
               !in_set(row->types2, instruction->type2)) {
        ptx_complain(p, line, column, "%s has no second type .%s.", row->text, second);
    } else {
        return true;
    }
    return false;
}

enum {
    ANY = 0,
    INTEGER = 1,
    FLOATING = 2,
};

/* What an opcode must have: one of `fields` for types of the class, and where `first` is given,
 * a value between first and last of the only field. */
struct rule {
    enum ptx_opcode op;
    uint8_t types;
    enum ptx_modifier first;
    enum ptx_modifier last;
    uint64_t fields;
    const char *needs;
};
#define FIELD(name) (UINT64_C(1) << PTX_FIELD_##name)
static const struct rule rules[] = {
    {PTX_OP_MUL, INTEGER, 0, 0, FIELD(width), ".lo, .hi or .wide"},
    {PTX_OP_MAD, INTEGER, 0, 0, FIELD(width), ".lo, .hi or .wide"},
    {PTX_OP_MADC, ANY, PTX_WIDTH_LO, PTX_WIDTH_HI, FIELD(width), ".lo or .hi"},
    {PTX_OP_MUL24, ANY, PTX_WIDTH_LO, PTX_WIDTH_HI, FIELD(width), ".lo or .hi"},
    {PTX_OP_MAD24, ANY, PTX_WIDTH_LO, PTX_WIDTH_HI, FIELD(width), ".lo or .hi"},
    {PTX_OP_DP2A, ANY, PTX_WIDTH_LO, PTX_WIDTH_HI, FIELD(width), ".lo or .hi"},
    {PTX_OP_SZEXT, ANY, 0, 0, FIELD(clamp), ".clamp or .wrap"},
    {PTX_OP_BMSK, ANY, 0, 0, FIELD(clamp), ".clamp or .wrap"},
    {PTX_OP_DIV, FLOATING, 0, 0, FIELD(accuracy) | FIELD(rounding), "a rounding, .approx or .full"},
    {PTX_OP_RCP, ANY, 0, 0, FIELD(accuracy) | FIELD(rounding), "a rounding or .approx"},
    {PTX_OP_SQRT, ANY, 0, 0, FIELD(accuracy) | FIELD(rounding), "a rounding or .approx"},
    {PTX_OP_RSQRT, ANY, PTX_APPROX, PTX_APPROX, FIELD(accuracy), ".approx"},
    {PTX_OP_SIN, ANY, PTX_APPROX, PTX_APPROX, FIELD(accuracy), ".approx"},
    {PTX_OP_COS, ANY, PTX_APPROX, PTX_APPROX, FIELD(accuracy), ".approx"},
    {PTX_OP_LG2, ANY, PTX_APPROX, PTX_APPROX, FIELD(accuracy), ".approx"},
    {PTX_OP_EX2, ANY, PTX_APPROX, PTX_APPROX, FIELD(accuracy), ".approx"},
    {PTX_OP_TANH, ANY, PTX_APPROX, PTX_APPROX, FIELD(accuracy), ".approx"},
    {PTX_OP_FMA, ANY, PTX_ROUND_RN, PTX_ROUND_RP, FIELD(rounding), ".rn, .rz, .rm or .rp"},
    {PTX_OP_MAD, FLOATING, PTX_ROUND_RN, PTX_ROUND_RP, FIELD(rounding), ".rn, .rz, .rm or .rp"},
    {PTX_OP_SET, ANY, 0, 0, FIELD(compare), "a comparison such as .lt"},
    {PTX_OP_SETP, ANY, 0, 0, FIELD(compare), "a comparison such as .lt"},
    {PTX_OP_TESTP, ANY, PTX_TESTP_FINITE, PTX_TESTP_SUBNORMAL, FIELD(mode),
     "a question such as .finite"},
    {PTX_OP_SHF, ANY, PTX_SHF_LEFT, PTX_SHF_RIGHT, FIELD(mode), ".l or .r"},
    {PTX_OP_SHF, ANY, 0, 0, FIELD(clamp), ".clamp or .wrap"},
    {PTX_OP_SHFL_SYNC, ANY, PTX_SHFL_UP, PTX_SHFL_IDX, FIELD(mode), ".up, .down, .bfly or .idx"},
    {PTX_OP_VOTE_SYNC, ANY, PTX_VOTE_ALL, PTX_VOTE_BALLOT, FIELD(mode),
     ".all, .any, .uni or .ballot"},
    {PTX_OP_CVTA, ANY, 0, 0, FIELD(space), "a state space"},
    {PTX_OP_ISSPACEP, ANY, 0, 0, FIELD(space), "a state space"},
    {PTX_OP_CP_ASYNC, ANY, 0, 0, FIELD(source), ".shared.global"},
    {PTX_OP_MEMBAR, ANY, 0, 0, FIELD(scope), ".cta, .gl or .sys"},
    {PTX_OP_FENCE, ANY, 0, 0, FIELD(semantics), ".sc, .acq_rel, .acquire or .release"},
    {PTX_OP_GRIDDEPCONTROL, ANY, PTX_GRID_LAUNCH, PTX_GRID_WAIT, FIELD(mode),
     ".launch_dependents or .wait"},
    {PTX_OP_BAR_RED, ANY, 0, 0, FIELD(operation), ".and, .or or .popc"},
    {PTX_OP_BARRIER_RED, ANY, 0, 0, FIELD(operation), ".and, .or or .popc"},
    {PTX_OP_ATOM, ANY, PTX_ATOMIC_ADD, PTX_ATOMIC_CAS, FIELD(operation),
     "an operation such as .add"},
    {PTX_OP_RED, ANY, PTX_ATOMIC_ADD, PTX_ATOMIC_DEC, FIELD(operation),
     "an operation such as .add"},
    {PTX_OP_REDUX_SYNC, ANY, PTX_ATOMIC_ADD, PTX_ATOMIC_XOR, FIELD(operation),
     "an operation such as .add"},
};

static bool rule_applies(const struct rule *rule, enum ptx_type type)
{
    return rule->types == ANY || (rule->types == INTEGER && is_integer(type)) ||
           (rule->types == FLOATING && is_float(type));
}

static bool has_any(const struct ptx_modifiers *modifiers, uint64_t fields)
{
    for (unsigned field = 0; field < PTX_FIELD_COUNT; field++) {
        if ((fields >> field & 1) && ptx_modifiers_get(modifiers, (enum ptx_field)field))
            return true;
    }
    return false;
}

static bool in_range(const struct ptx_modifiers *modifiers, const struct rule *rule)
{
    if (rule->first == PTX_ABSENT) return true;
    uint8_t value = ptx_modifiers_get(modifiers, ptx_modifier_field(rule->first));
    return value >= rule->first && value <= rule->last;
}

static void check_rules(const struct check *check)
{
    const struct ptx_instruction *instruction = check->instruction;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct rule *rule = &rules[i];
        if (rule->op != instruction->op || !rule_applies(rule, (enum ptx_type)instruction->type))
            continue;
        if (!has_any(&instruction->modifiers, rule->fields) ||
            !in_range(&instruction->modifiers, rule))
            ptx_complain(check->p, check->at->line, check->at->column, "%s needs %s.",
                         check->row->text, rule->needs);
    }
}

/* Which operation an atomic or reduction has on which types (PTX ISA 9.7.13.5 to 9.7.13.12). */
struct operation_rule {
    enum ptx_modifier first;
    enum ptx_modifier last;
    uint64_t types;
};
#define TYPE(symbol) (UINT64_C(1) << PTX_##symbol)
static const struct operation_rule operation_rules[] = {
    {PTX_ATOMIC_ADD, PTX_ATOMIC_ADD,
     TYPE(U32) | TYPE(S32) | TYPE(U64) | TYPE(S64) | TYPE(F32) | TYPE(F64) | TYPE(F16) |
         TYPE(F16X2) | TYPE(BF16) | TYPE(BF16X2)},
    {PTX_ATOMIC_MIN, PTX_ATOMIC_MAX,
     TYPE(U32) | TYPE(S32) | TYPE(U64) | TYPE(S64) | TYPE(F32) | TYPE(F16) | TYPE(F16X2) |
         TYPE(BF16) | TYPE(BF16X2)},
    {PTX_ATOMIC_AND, PTX_ATOMIC_XOR, TYPE(B32) | TYPE(B64) | TYPE(PRED)},
    {PTX_ATOMIC_INC, PTX_ATOMIC_DEC, TYPE(U32)},
    {PTX_ATOMIC_EXCH, PTX_ATOMIC_CAS, TYPE(B16) | TYPE(B32) | TYPE(B64) | TYPE(B128)},
    {PTX_ATOMIC_POPC, PTX_ATOMIC_POPC, TYPE(U32)},
};

static void check_operation(const struct check *check)
{
    uint8_t operation = check->instruction->modifiers.operation;
    if (operation == PTX_ABSENT) return;
    for (size_t i = 0; i < sizeof operation_rules / sizeof operation_rules[0]; i++) {
        const struct operation_rule *rule = &operation_rules[i];
        if (operation < rule->first || operation > rule->last) continue;
        if (!in_set(rule->types, check->instruction->type))
            ptx_complain(check->p, check->at->line, check->at->column, "%s.%s has no type .%s.",
                         check->row->text, ptx_modifier_name((enum ptx_modifier)operation),
                         ptx_type_name((enum ptx_type)check->instruction->type));
    }
}

/* Modifiers that a type excludes. */
static void check_exclusions(const struct check *check)
{
    const struct ptx_modifiers *modifiers = &check->instruction->modifiers;
    enum ptx_type type = (enum ptx_type)check->instruction->type;
    enum ptx_opcode op = check->instruction->op;
    struct ptx_parser *p = check->p;
    uint32_t line = check->at->line, column = check->at->column;
    bool converts = op == PTX_OP_CVT || op == PTX_OP_SET;
    if (is_integer(type) && !converts && (modifiers->rounding || modifiers->ftz))
        ptx_complain(p, line, column, "%s.%s has no .%s: that is for floating point.",
                     check->row->text, ptx_type_name(type),
                     ptx_modifier_name((enum ptx_modifier)(modifiers->rounding ? modifiers->rounding
                                                                               : modifiers->ftz)));
    if (is_float(type) && (modifiers->cc || modifiers->width))
        ptx_complain(p, line, column, "%s.%s has no .%s: that is for integers.", check->row->text,
                     ptx_type_name(type),
                     ptx_modifier_name(
                         (enum ptx_modifier)(modifiers->cc ? modifiers->cc : modifiers->width)));
    if (modifiers->width == PTX_WIDTH_WIDE && twice_as_wide(type) == type)
        ptx_complain(p, line, column, "%s.wide has no type .%s.", check->row->text,
                     ptx_type_name(type));
}

/* ---- the whole ------------------------------------------------------------------------------- */

void ptx_validate(struct ptx_parser *p, struct ptx_instruction *instruction,
                  struct ptx_operand *operands, const struct ptx_token *at)
{
    struct word words[PTX_MAX_OPERANDS];
    uint32_t least, most;
    uint32_t count = instruction->operand_count;
    struct check check = {p, instruction, ptx_opcode_row(instruction->op), at};
    if (!check_types(&check)) return;
    check_rules(&check);
    check_operation(&check);
    check_exclusions(&check);
    if (!match(instruction, count, words, &least, &most)) {
        char range[32];
        snprintf(range, sizeof range, least == most ? "%u" : "%u to %u", least, most);
        ptx_complain(p, at->line, at->column, "%s takes %s operand%s, and %u %s given.",
                     check.row->text, range, most == 1 ? "" : "s", count,
                     count == 1 ? "is" : "are");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        check_operand(&check, &p->operand_at[i], &operands[i], &words[i]);
}
