/* Instructions: guard, opcode, modifiers, types, operands. */
#include "emulator/ptx/internal.h"

#include <string.h>

/* The words of an instruction, `ld` `global` `u32`, and the opcode that the rows make of them. */
struct mnemonic {
    struct ptx_token words[PTX_MAX_SUFFIXES + 1];
    uint32_t count;
    uint32_t used; /* number of words that form the opcode's name */
    enum ptx_opcode op;
};

static void read_mnemonic(struct ptx_parser *p, struct mnemonic *mnemonic)
{
    mnemonic->words[0] = ptx_expect(p, PTX_TOKEN_WORD, "an instruction");
    mnemonic->count = 1;
    while (p->token.kind == PTX_TOKEN_SUFFIX) {
        if (mnemonic->count > PTX_MAX_SUFFIXES)
            ptx_fail(p, &p->token, "An instruction has at most %d modifiers.", PTX_MAX_SUFFIXES);
        mnemonic->words[mnemonic->count++] = p->token;
        ptx_next(p);
    }
}

/* Finds the longest name of a row: `cp.async.wait_all` before `cp.async`. */
static void find_opcode(const struct ptx_parser *p, struct mnemonic *mnemonic)
{
    enum { LONGEST = 5 }; /* words: cp.reduce.async.bulk.tensor */
    char name[PTX_MAX_WORD];
    size_t length = 0;
    mnemonic->op = PTX_OP_UNKNOWN;
    for (uint32_t i = 0; i < mnemonic->count && i < LONGEST; i++) {
        const struct ptx_token *word = &mnemonic->words[i];
        if (length + word->length + 1 >= sizeof name) return;
        if (i) name[length++] = '.';
        memcpy(name + length, word->text, word->length);
        length += word->length;
        enum ptx_opcode op = ptx_opcode_find(p->names, name, length);
        if (op != PTX_OP_UNKNOWN) {
            mnemonic->op = op;
            mnemonic->used = i + 1;
        }
    }
}

/* CUB writes vote.ballot.sync.b32 for vote.sync.ballot.b32. */
static void find_opcode_with_sync(const struct ptx_parser *p, struct mnemonic *mnemonic)
{
    find_opcode(p, mnemonic);
    if (ptx_opcode_supported(mnemonic->op)) return;
    struct mnemonic moved = *mnemonic;
    for (uint32_t i = 2; i < moved.count; i++) {
        if (!ptx_token_is(&moved.words[i], "sync")) continue;
        struct ptx_token sync = moved.words[i];
        memmove(&moved.words[2], &moved.words[1], (i - 1) * sizeof sync);
        moved.words[1] = sync;
        find_opcode(p, &moved);
        if (ptx_opcode_supported(moved.op)) *mnemonic = moved;
        return;
    }
}

/* Fields whose second value belongs to another field: .row.col of mma. */
static const struct {
    enum ptx_field first, second;
} pairs[] = {{PTX_FIELD_hint, PTX_FIELD_hint2},
             {PTX_FIELD_layout, PTX_FIELD_layout2},
             {PTX_FIELD_factor, PTX_FIELD_addend}};

static void read_modifier(struct ptx_parser *p, struct ptx_instruction *instruction,
                          const struct ptx_token *word, const struct ptx_opcode_row *row)
{
    char buffer[64];
    enum ptx_modifier modifier = ptx_modifier_find(p->names, word->text, word->length, row->fields);
    if (modifier == PTX_ABSENT) {
        ptx_complain(p, word->line, word->column, "%s has no modifier %s.", row->text,
                     ptx_show(word, buffer));
        return;
    }
    enum ptx_field field = ptx_modifier_field(modifier);
    uint16_t old = ptx_modifiers_get(&instruction->modifiers, field);
    bool is_source = modifier == PTX_SPACE_GLOBAL || modifier == PTX_SPACE_SHARED_CTA;
    if (old != PTX_ABSENT && is_source &&
        (row->fields >> PTX_FIELD_source & 1)) { /* cp.async.shared.global: to, then from */
        field = PTX_FIELD_source;
        modifier = modifier == PTX_SPACE_GLOBAL ? PTX_SOURCE_GLOBAL : PTX_SOURCE_SHARED_CTA;
        old = instruction->modifiers.source;
    }
    for (size_t i = 0; old != PTX_ABSENT && i < sizeof pairs / sizeof pairs[0]; i++) {
        if (field != pairs[i].first || !(row->fields >> pairs[i].second & 1)) continue;
        field = pairs[i].second;
        old = ptx_modifiers_get(&instruction->modifiers, field);
        break;
    }
    if (old != PTX_ABSENT) {
        ptx_complain(p, word->line, word->column, "%s of %s comes after .%s, which excludes it.",
                     ptx_show(word, buffer), row->text, ptx_modifier_name((enum ptx_modifier)old));
        return;
    }
    ptx_modifiers_set(&instruction->modifiers, field, modifier);
}

/* Completes modifiers for sm_1x, whose 32-bit floats always flush subnormals, and whose mad has no
 * rounding modifier: an H200 rounds it once. (PTX ISA, "Floating Point Instructions"; "mad": also
 * of mad.f64 before 1.4.) */
static void complete_for_oldest(const struct ptx_parser *p, struct ptx_instruction *instruction)
{
    static const enum ptx_opcode flushed[] = {
        PTX_OP_ADD,  PTX_OP_SUB,   PTX_OP_MUL, PTX_OP_MAD, PTX_OP_DIV, PTX_OP_RCP,
        PTX_OP_SQRT, PTX_OP_RSQRT, PTX_OP_SIN, PTX_OP_COS, PTX_OP_LG2, PTX_OP_EX2,
        PTX_OP_ABS,  PTX_OP_NEG,   PTX_OP_MIN, PTX_OP_MAX, PTX_OP_SETP};
    const struct ptx_module *module = &p->owner->module;
    struct ptx_modifiers *modifiers = &instruction->modifiers;
    const bool single = instruction->type == PTX_F32;
    if (module->target == NULL || strncmp(module->target, "sm_1", 4) != 0 ||
        strlen(module->target) != strlen("sm_10"))
        return;
    if (instruction->op == PTX_OP_MAD && modifiers->rounding == PTX_ABSENT &&
        (single || (instruction->type == PTX_F64 && module->version_minor < 4)))
        ptx_modifiers_set(modifiers, PTX_FIELD_rounding, PTX_ROUND_RN);
    for (size_t i = 0; single && i < sizeof flushed / sizeof *flushed; i++)
        if (flushed[i] == instruction->op) ptx_modifiers_set(modifiers, PTX_FIELD_ftz, PTX_FTZ);
}

/* Reads types and modifiers. Returns false when the instruction is to be kept as text. */
static bool read_suffixes(struct ptx_parser *p, const struct mnemonic *mnemonic,
                          struct ptx_instruction *instruction)
{
    const struct ptx_opcode_row *row = ptx_opcode_row(mnemonic->op);
    if (!row->supported) return false;
    for (uint32_t i = mnemonic->used; i < mnemonic->count; i++) {
        const struct ptx_token *word = &mnemonic->words[i];
        enum ptx_type type = ptx_type_find(p->names, word->text, word->length);
        bool is_third =
            instruction->type2 != PTX_NO_TYPE &&
            (row->fields & (UINT64_C(1) << PTX_FIELD_third | UINT64_C(1) << PTX_FIELD_factor)) != 0;
        if (ptx_is_beyond(p, mnemonic->op, word)) return false;
        if (type == PTX_NO_TYPE || is_third)
            read_modifier(p, instruction, word, row);
        else if (instruction->type == PTX_NO_TYPE)
            instruction->type = (uint8_t)type;
        else if (instruction->type2 == PTX_NO_TYPE)
            instruction->type2 = (uint8_t)type;
        else
            ptx_complain(p, word->line, word->column, "%s has at most two types.", row->text);
    }
    complete_for_oldest(p, instruction);
    bool is_ignored = strchr(row->shape, '1') == NULL; /* the shape does not use type2: support 0 */
    return !(is_ignored && instruction->type2 && (row->types2 >> instruction->type2 & 1));
}

static void complain_of_opcode(struct ptx_parser *p, const struct mnemonic *mnemonic)
{
    char buffer[64];
    const struct ptx_token *at = &mnemonic->words[0];
    ptx_complain(p, at->line, at->column, "PTX has no instruction %s.", ptx_show(at, buffer));
}

/* Returns the characters of a token, with the dot or the quotes that `text` omits. */
static const char *raw_token(const struct ptx_token *token, size_t *length)
{
    bool is_suffix = token->kind == PTX_TOKEN_SUFFIX, is_string = token->kind == PTX_TOKEN_STRING;
    *length = token->length + is_suffix + 2 * is_string;
    return token->text - is_suffix - is_string;
}

/* Returns the instruction's tokens up to the `;`, which is consumed. One blank replaces white space
 * and comments between tokens. */
static const char *read_text(struct ptx_parser *p, const struct ptx_token *start)
{
    struct ptx_list text = {0}; /* char */
    const char *end = start->text;
    uint32_t depth = 0;
    for (; !ptx_at_sign(p, ';'); ptx_next(p)) {
        if (ptx_at_sign(p, '{')) depth++;
        if (p->token.kind == PTX_TOKEN_END || (ptx_at_sign(p, '}') && depth-- == 0))
            ptx_fail(p, start, "The instruction is never ended by `;`.");
        size_t length;
        const char *raw = raw_token(&p->token, &length);
        if (raw > end) *(char *)ptx_push(p, &text, 1) = ' ';
        for (size_t i = 0; i < length; i++) *(char *)ptx_push(p, &text, 1) = raw[i];
        end = raw + length;
    }
    ptx_next(p);
    return ptx_copy_text(p, text.items, text.count);
}

/* Returns the kind letter of operand `index`, as far as parsing depends on it. */
static char kind_at(const struct ptx_opcode_row *row, uint32_t index)
{
    const char *shape = row->shape;
    for (uint32_t i = 0; i < index && shape != NULL; i++) {
        shape = strchr(shape, ' ');
        if (shape != NULL) shape++;
    }
    return shape != NULL ? *shape : 0;
}

static void read_operands(struct ptx_parser *p, struct ptx_instruction *instruction,
                          const struct ptx_token *start)
{
    const struct ptx_opcode_row *row = ptx_opcode_row(instruction->op);
    struct ptx_operand operands[PTX_MAX_OPERANDS];
    struct ptx_token names[PTX_MAX_OPERANDS];
    uint32_t count = 0;
    char buffer[64];
    if (!ptx_at_sign(p, ';')) {
        do {
            if (count == PTX_MAX_OPERANDS)
                ptx_fail(p, &p->token, "An instruction has at most %d operands.", PTX_MAX_OPERANDS);
            p->operand_at[count] = p->token;
            operands[count] = ptx_operand_parse(p, kind_at(row, count), &names[count]);
            count++;
        } while (ptx_take_sign(p, ','));
    }
    if (!ptx_take_sign(p, ';'))
        ptx_fail(p, &p->token, "Expected `,` or `;` after an operand of %s, found %s.", row->text,
                 ptx_show(&p->token, buffer));

    struct ptx_operand *copy = NULL;
    if (count) {
        copy = ptx_new(p, count, sizeof *copy);
        memcpy(copy, operands, count * sizeof *copy);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (copy[i].kind == PTX_OPERAND_LABEL) ptx_reference_add(p, &names[i], &copy[i].target);
    }
    instruction->operands = copy;
    instruction->operand_count = (uint8_t)count;
    ptx_validate(p, instruction, copy, start);
}

/* @p or @!p */
static void read_guard(struct ptx_parser *p, struct ptx_instruction *instruction)
{
    char buffer[64];
    uint32_t count;
    instruction->guard = PTX_NO_REGISTER;
    if (!ptx_take_sign(p, '@')) return;
    instruction->guard_negated = ptx_take_sign(p, '!');
    struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "a predicate after `@`");
    if (!ptx_register_find(p, &name, &instruction->guard, &count) || count != 1 ||
        ((struct ptx_register *)p->body.registers.items)[instruction->guard].type != PTX_PRED)
        ptx_fail(p, &name, "%s is not a predicate register.", ptx_show(&name, buffer));
}

void ptx_instruction_place(struct ptx_parser *p, struct ptx_instruction *instruction)
{
    struct ptx_body *body = &p->body;
    if (body->location_is_new) {
        const struct ptx_location *last =
            (const struct ptx_location *)body->locations.items + body->locations.count - 1;
        if (memcmp(last, &body->location, sizeof *last) != 0)
            *(struct ptx_location *)ptx_push(p, &body->locations, sizeof *last) = body->location;
        body->location_is_new = false;
    }
    instruction->location = body->locations.count - 1;
    *(struct ptx_instruction *)ptx_push(p, &body->instructions, sizeof *instruction) = *instruction;
}

void ptx_instruction_parse(struct ptx_parser *p)
{
    struct ptx_instruction instruction = {.op = PTX_OP_UNKNOWN};
    struct mnemonic mnemonic;
    read_guard(p, &instruction);
    struct ptx_token start = p->token;
    struct ptx_lexer after_start = p->lexer;
    instruction.line = start.line;
    read_mnemonic(p, &mnemonic);
    find_opcode_with_sync(p, &mnemonic);
    instruction.op = mnemonic.op;
    if (instruction.op == PTX_OP_UNKNOWN) {
        read_text(p, &start);
        complain_of_opcode(p, &mnemonic);
        return;
    }
    if (!read_suffixes(p, &mnemonic, &instruction)) {
        uint32_t guard = instruction.guard;
        bool negated = instruction.guard_negated;
        /* A supported row promises operands, and this instruction has none. */
        enum ptx_opcode op = ptx_opcode_supported(mnemonic.op) ? PTX_OP_UNKNOWN : mnemonic.op;
        instruction = (struct ptx_instruction){
            .op = op, .guard = guard, .guard_negated = negated, .line = start.line};
        p->lexer = after_start; /* parse again from the start, token by token */
        p->token = start;
        instruction.text = read_text(p, &start);
    } else if (instruction.op == PTX_OP_CALL) {
        instruction.call = ptx_call_parse(p);
        ptx_expect_sign(p, ';', "at the end of the call");
    } else {
        read_operands(p, &instruction, &start);
    }
    ptx_instruction_place(p, &instruction);
}
