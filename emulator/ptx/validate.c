/* The validator: checks an instruction against its row, so that the executor need not. Checks
 * number and kinds of operands, types of registers, and required modifiers; converts immediates to
 * the bits of their operand's type. */
#include "emulator/ptx/internal.h"

#include <stdio.h>
#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

/* One word of a row's shape. */
struct word {
    char presence; /* '?' optional, 'c' with .cas only, 0 always */
    char kind;
    char type;
    bool vector;
    bool wider;
    bool matrix;
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
        if (*shape == 'm') word->matrix = true;
    }
    return *shape ? shape + 1 : shape;
}

/* Finds the words that `count` operands match. Returns false when that number does not fit; `least`
 * and `most` are the numbers that do. */
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
    case 'b':
        return PTX_B32;
    default:
        return PTX_NO_TYPE;
    }
}

enum ptx_type ptx_operand_type(const struct ptx_instruction *instruction, uint32_t index)
{
    struct word words[PTX_MAX_OPERANDS];
    uint32_t least, most;
    uint32_t count = instruction->operand_count;
    if (index >= count || instruction->text != NULL) return PTX_NO_TYPE;
    if (!match(instruction, count, words, &least, &most)) return PTX_NO_TYPE;
    return type_of(instruction, &words[index]);
}

/* ---- one operand ----------------------------------------------------------------------------- */

struct check {
    struct ptx_parser *p;
    struct ptx_instruction *instruction;
    const struct ptx_opcode_row *row;
    const struct ptx_token *at;
};

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
    if (held_bits > wanted_bits) return wider && !is_float(held);
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
    } else if (constant.is_float && (ptx_type_kind(type) != PTX_KIND_BITS ||
                                     ptx_type_bits(type) != (constant.is_single ? 32 : 64))) {
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
    /* It had 32 bits before PTX 3.0, and may be read as such still. */
    if (special == PTX_SPECIAL_GRIDID) return ptx_type_bits(wanted) == 32 && !is_float(wanted);
    return held == PTX_U32 && ptx_type_bits(wanted) == 16; /* PTX 1: mov.u16 r, %tid.x */
}

static bool is_address_type(enum ptx_type type)
{
    return type == PTX_NO_TYPE || (!is_float(type) && ptx_type_bits(type) >= 32);
}

/* Checks a source that is not a vector. */
static void check_source(const struct check *check, const struct ptx_token *at,
                         struct ptx_operand *operand, enum ptx_type type, bool wider)
{
    struct ptx_parser *p = check->p;
    /* -a is valid there: see ptx_parts_check */
    const enum ptx_opcode op = check->instruction->op;
    const bool has_sign = op >= PTX_OP_VADD && op <= PTX_OP_VSET4;
    if (operand->negated && type != PTX_PRED && !has_sign)
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

/* Checks {a, b}: as many elements as .vN says; without .vN, for mov, parts of the type. */
static void check_vector(const struct check *check, const struct ptx_token *at,
                         const struct ptx_operand *operand, const struct word *word,
                         enum ptx_type type, uint32_t expected)
{
    struct ptx_parser *p = check->p;
    enum ptx_opcode op = check->instruction->op;
    /* ptxas accepts {a} in loads and stores, but not in atomics */
    bool is_single =
        operand->count == 1 && op != PTX_OP_MOV && op != PTX_OP_ATOM && op != PTX_OP_RED;
    bool is_resident = operand->second != PTX_NO_REGISTER;
    if (is_resident && op != PTX_OP_TEX && op != PTX_OP_TLD4)
        ptx_complain(p, at->line, at->column, "%s takes no predicate here.", check->row->text);
    if (is_resident) check_register(check, at, operand->second, PTX_PRED, false);
    if (!word->vector || (expected == 1 && op != PTX_OP_MOV && !is_single)) {
        ptx_complain(p, at->line, at->column, "%s takes no vector here.", check->row->text);
        return;
    }
    if (expected == 1 && !is_single) { /* pack or unpack */
        enum ptx_type part = bits_type(ptx_type_bits(type) / operand->count);
        if (ptx_type_kind(type) != PTX_KIND_BITS) {
            ptx_complain(p, at->line, at->column,
                         "Vectors are packed as .b32, .b64 or .b128, not as .%s.",
                         ptx_type_name(type));
            return;
        }
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
    enum ptx_opcode op = check->instruction->op;
    bool may_sink = word->kind == 'P' || op == PTX_OP_ATOM || op == PTX_OP_MBARRIER_ARRIVE ||
                    op == PTX_OP_MBARRIER_DROP;
    if (operand->kind == PTX_OPERAND_SINK && may_sink) return;
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

/* Checks the coordinates: as many as the geometry has, padded to 1, 2 or 4. A layer's index comes
 * first. */
static void check_image(const struct check *check, const struct ptx_token *at,
                        const struct ptx_operand *operand, enum ptx_type type)
{
    static const struct {
        uint16_t geometry;
        uint8_t coordinates, index;
    } shapes[] = {
        {PTX_GEOMETRY_1D, 1, 0},    {PTX_GEOMETRY_2D, 2, 0},   {PTX_GEOMETRY_3D, 4, 0},
        {PTX_GEOMETRY_A1D, 2, 1},   {PTX_GEOMETRY_A2D, 4, 1},  {PTX_GEOMETRY_CUBE, 4, 0},
        {PTX_GEOMETRY_ACUBE, 4, 1}, {PTX_GEOMETRY_2DMS, 4, 1}, {PTX_GEOMETRY_A2DMS, 4, 2},
    };
    struct ptx_parser *p = check->p;
    const uint16_t geometry = check->instruction->modifiers.geometry;
    if (operand->kind != PTX_OPERAND_IMAGE) {
        ptx_complain(p, at->line, at->column,
                     "%s needs a texture or surface and coordinates in brackets here: [a, {b}].",
                     check->row->text);
        return;
    }
    const struct ptx_register *registers = p->body.registers.items;
    for (uint32_t i = 0; i < operand->component; i++) {
        const uint32_t reg = operand->elements[i].reg;
        if (operand->elements[i].offset != 0)
            ptx_complain(p, at->line, at->column, "A texture or surface takes no offset.");
        if (reg != PTX_NO_REGISTER &&
            (is_float(registers[reg].type) || ptx_type_bits(registers[reg].type) != 64))
            ptx_complain(p, at->line, at->column,
                         "`%s` is a .%s register; a texture or surface has 64 bits.",
                         registers[reg].name, ptx_type_name(registers[reg].type));
    }
    const uint32_t given = operand->count - operand->component;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (shapes[i].geometry != geometry) continue;
        if (given != shapes[i].coordinates)
            ptx_complain(p, at->line, at->column, "%s.%s takes %u coordinate%s, and %u %s given.",
                         check->row->text, ptx_modifier_name((enum ptx_modifier)geometry),
                         shapes[i].coordinates, shapes[i].coordinates == 1 ? "" : "s", given,
                         given == 1 ? "is" : "are");
        /* made by this parse for this instruction, so not read-only yet */
        struct ptx_operand *elements = (struct ptx_operand *)(uintptr_t)operand->elements;
        for (uint32_t k = 0; k < given; k++)
            check_source(check, at, &elements[operand->component + k],
                         k < shapes[i].index ? PTX_B32 : type, false);
    }
}

/* Checks a tensor map and its coordinates, as many as the tensor has dimensions. */
static void check_tensor(const struct check *check, const struct ptx_token *at,
                         const struct ptx_operand *operand)
{
    struct ptx_parser *p = check->p;
    const uint16_t dimensions = check->instruction->modifiers.dimensions;
    const uint32_t given = operand->count - operand->component;
    const uint32_t wanted = dimensions - PTX_DIMENSIONS_1 + 1u;
    /* made by this parse for this instruction, so not read-only yet */
    struct ptx_operand *elements = (struct ptx_operand *)(uintptr_t)operand->elements;
    if (operand->component != 1 || elements[0].offset != 0)
        ptx_complain(p, at->line, at->column, "A tensor map is one address without an offset.");
    check_address(check, at, &elements[0]);
    if (dimensions != PTX_ABSENT && given != wanted)
        ptx_complain(p, at->line, at->column, "%s.%s takes %u coordinate%s, and %u %s given.",
                     check->row->text, ptx_modifier_name((enum ptx_modifier)dimensions), wanted,
                     wanted == 1 ? "" : "s", given, given == 1 ? "is" : "are");
    for (uint32_t k = operand->component; k < operand->count; k++)
        check_source(check, at, &elements[k], PTX_S32, false);
}

/* Checks a lane's share of a matrix. The executor knows how many registers it has. */
static void check_matrix(const struct check *check, const struct ptx_token *at,
                         const struct ptx_operand *operand)
{
    const struct ptx_register *registers = check->p->body.registers.items;
    const bool vector = operand->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *elements = vector ? operand->elements : operand;
    for (uint32_t i = 0; i < (vector ? operand->count : 1); i++) {
        const bool is_register = elements[i].kind == PTX_OPERAND_REGISTER && !elements[i].negated;
        const uint32_t bits = is_register ? ptx_type_bits(registers[elements[i].reg].type) : 0;
        if (bits == 32 || bits == 64) continue;
        ptx_complain(check->p, at->line, at->column,
                     "%s takes registers of 32 or 64 bits in braces here.", check->row->text);
        return;
    }
}

static void check_operand(const struct check *check, const struct ptx_token *at,
                          struct ptx_operand *operand, const struct word *word)
{
    static const uint32_t counts[] = {2, 4, 8};
    uint16_t vector = check->instruction->modifiers.vector;
    uint32_t expected = vector ? counts[vector - PTX_V2] : 1;
    enum ptx_type type = type_of(check->instruction, word);
    switch (word->kind) {
    case 'D':
    case 'P':
    case 'S':
        if (word->matrix) {
            check_matrix(check, at, operand);
        } else if (operand->kind == PTX_OPERAND_VECTOR) {
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
    case 'V':
    case 'W':
        if (word->kind == 'V')
            check_source(check, at, operand, type, false);
        else
            check_destination(check, at, operand, word, type);
        ptx_parts_check(check->p, check->instruction, at, operand, word->kind == 'W');
        break;
    case 'A':
        check_address(check, at, operand);
        break;
    case 'C':
        if (operand->kind == PTX_OPERAND_IMAGE)
            check_tensor(check, at, operand);
        else
            check_address(check, at, operand);
        break;
    case 'I':
        check_image(check, at, operand, type);
        break;
    default: /* the parser has resolved L and T; X is not checked */
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
    } else if (row->types2 != 0 && instruction->type2 == PTX_NO_TYPE &&
               strchr(row->shape, '1') != NULL) {
        ptx_complain(p, line, column, "%s needs a second type.", row->text);
    } else if (row->types2 != 0 && instruction->type2 != PTX_NO_TYPE &&
               !in_set(row->types2, instruction->type2)) {
        ptx_complain(p, line, column, "%s has no second type .%s.", row->text, second);
    } else {
        return true;
    }
    return false;
}

/* ---- an instruction -------------------------------------------------------------------------- */

void ptx_validate(struct ptx_parser *p, struct ptx_instruction *instruction,
                  struct ptx_operand *operands, const struct ptx_token *at)
{
    struct word words[PTX_MAX_OPERANDS];
    uint32_t least, most;
    uint32_t count = instruction->operand_count;
    struct check check = {p, instruction, ptx_opcode_row(instruction->op), at};
    if (!check_types(&check)) return;
    if (!match(instruction, count, words, &least, &most)) {
        char range[32];
        snprintf(range, sizeof range, least == most ? "%u" : "%u to %u", least, most);
        ptx_complain(p, at->line, at->column, "%s takes %s operand%s, and %u %s given.",
                     check.row->text, range, most == 1 ? "" : "s", count,
                     count == 1 ? "is" : "are");
        return;
    }
    ptx_rules_check(p, instruction, at);
    for (uint32_t i = 0; i < count; i++)
        check_operand(&check, &p->operand_at[i], &operands[i], &words[i]);
}
