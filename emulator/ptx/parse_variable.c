/* Declarations of variables, parameters and registers (PTX ISA 5). */
#include "emulator/ptx/internal.h"

#include <string.h>

enum ptx_modifier ptx_space_of(const struct ptx_token *token)
{
    static const enum ptx_modifier spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_CONST, PTX_SPACE_SHARED,
                                               PTX_SPACE_LOCAL,  PTX_SPACE_PARAM, PTX_SPACE_TEX};
    if (token->kind != PTX_TOKEN_SUFFIX) return PTX_ABSENT;
    if (ptx_token_is(token, "shared::cta")) return PTX_SPACE_SHARED;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (ptx_token_is(token, ptx_modifier_name(spaces[i]))) return spaces[i];
    }
    return PTX_ABSENT;
}

/* .attribute(.managed, .unified(1, 2)) */
void ptx_attributes_parse(struct ptx_parser *p, bool *managed)
{
    ptx_expect_sign(p, '(', "after .attribute");
    do {
        struct ptx_token name = ptx_expect(p, PTX_TOKEN_SUFFIX, "an attribute such as .managed");
        if (managed != NULL && ptx_token_is(&name, "managed")) *managed = true;
        if (ptx_take_sign(p, '(')) {
            do {
                ptx_constant_integer(p, "An attribute's argument");
            } while (ptx_take_sign(p, ','));
            ptx_expect_sign(p, ')', "at the end of the attribute");
        }
    } while (ptx_take_sign(p, ','));
    ptx_expect_sign(p, ')', "at the end of .attribute");
}

static uint64_t parse_alignment(struct ptx_parser *p)
{
    struct ptx_token at = p->token;
    int64_t alignment = ptx_constant_integer(p, "An alignment");
    if (alignment <= 0 || (uint64_t)alignment > PTX_MAX_ALIGNMENT ||
        (alignment & (alignment - 1)) != 0)
        ptx_fail(p, &at, "An alignment is a power of two, not %lld.", (long long)alignment);
    return (uint64_t)alignment;
}

static uint32_t vector_of(const struct ptx_token *token)
{
    if (ptx_token_is(token, "v2")) return 2;
    if (ptx_token_is(token, "v4")) return 4;
    if (ptx_token_is(token, "v8")) return 8;
    return 0;
}

/* Skips .ptr .global .align 16 of a kernel parameter, which describe what it points to. */
static void skip_pointee(struct ptx_parser *p)
{
    if (ptx_space_of(&p->token) != PTX_ABSENT) ptx_next(p);
    if (ptx_take_suffix(p, "align")) parse_alignment(p);
}

/* The part of a declaration between the state space and the first name. */
struct specification {
    enum ptx_type type;
    uint32_t vector;
    uint64_t alignment; /* 0: natural */
    bool managed;
};

static struct specification parse_specification(struct ptx_parser *p)
{
    struct specification spec = {.type = PTX_NO_TYPE, .vector = 1};
    char buffer[64];
    while (p->token.kind == PTX_TOKEN_SUFFIX) {
        struct ptx_token token = p->token;
        ptx_next(p);
        enum ptx_type type = ptx_type_find(p->names, token.text, token.length);
        if (type != PTX_NO_TYPE) {
            if (spec.type != PTX_NO_TYPE) ptx_fail(p, &token, "A declaration has one type.");
            spec.type = type;
        } else if (vector_of(&token)) {
            spec.vector = vector_of(&token);
        } else if (ptx_token_is(&token, "align")) {
            spec.alignment = parse_alignment(p);
        } else if (ptx_token_is(&token, "ptr")) {
            skip_pointee(p);
        } else if (ptx_token_is(&token, "attribute")) {
            ptx_attributes_parse(p, &spec.managed);
        } else {
            ptx_fail(p, &token, "%s does not belong in a declaration.", ptx_show(&token, buffer));
        }
    }
    if (spec.type == PTX_NO_TYPE)
        ptx_fail(p, &p->token, "Expected a type such as .b32, found %s.",
                 ptx_show(&p->token, buffer));
    return spec;
}

/* Parses [2][3] and []; the first dimension may be empty. */
static void parse_dimensions(struct ptx_parser *p, struct ptx_variable *variable)
{
    uint64_t dimension[PTX_MAX_DIMENSIONS];
    uint64_t elements = 1;
    uint32_t count = 0;
    while (ptx_take_sign(p, '[')) {
        struct ptx_token at = p->token;
        variable->is_array = true;
        if (count == PTX_MAX_DIMENSIONS)
            ptx_fail(p, &at, "An array has at most %d dimensions.", PTX_MAX_DIMENSIONS);
        if (ptx_at_sign(p, ']') && count == 0) {
            variable->is_unsized = true;
            dimension[count++] = 0;
        } else {
            int64_t size = ptx_constant_integer(p, "An array's size");
            if (size < 0 || (size > 0 && elements > PTX_MAX_BYTES / (uint64_t)size))
                ptx_fail(p, &at, "The array is too large.");
            elements *= (uint64_t)size;
            dimension[count++] = (uint64_t)size;
        }
        ptx_expect_sign(p, ']', "after an array's size");
    }
    uint64_t element_bytes = (uint64_t)ptx_type_bytes(variable->type) * variable->vector;
    if (elements > PTX_MAX_BYTES / element_bytes) ptx_fail(p, &p->token, "The array is too large.");
    variable->size = variable->is_unsized ? 0 : elements * element_bytes;
    variable->dimensions = count;
    if (count) {
        uint64_t *copy = ptx_new(p, count, sizeof *copy);
        memcpy(copy, dimension, count * sizeof *copy);
        variable->dimension = copy;
    }
}

static struct ptx_variable *new_variable(struct ptx_parser *p, const struct specification *spec,
                                         unsigned space, const struct ptx_token *name)
{
    struct ptx_variable *variable = ptx_new(p, 1, sizeof *variable);
    variable->name = ptx_copy_text(p, name->text, name->length);
    variable->space = space;
    variable->type = spec->type;
    variable->vector = spec->vector;
    variable->managed = spec->managed;
    variable->line = name->line;
    variable->function = p->body.function;
    uint64_t natural = (uint64_t)ptx_type_bytes(spec->type) * spec->vector;
    variable->alignment = spec->alignment ? spec->alignment : natural;
    parse_dimensions(p, variable);
    return variable;
}

void ptx_variables_parse(struct ptx_parser *p, enum ptx_linkage linkage, unsigned space)
{
    struct specification spec = parse_specification(p);
    struct ptx_list *list = p->body.function != NULL ? &p->body.variables : &p->variables;
    do {
        struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "a variable's name");
        if (spec.type == PTX_PRED)
            ptx_fail(p, &name, "A predicate is a register; it cannot be a variable.");
        struct ptx_variable *variable = new_variable(p, &spec, space, &name);
        variable->linkage = linkage;

        /* .extern may come before the definition, and .common more than once */
        struct ptx_symbol *old = ptx_symbol_find(p, name.text, name.length);
        bool again = old != NULL && old->scope == p->symbols.scope &&
                     old->kind == PTX_SYMBOL_VARIABLE &&
                     (old->variable->linkage == PTX_EXTERN || linkage == PTX_EXTERN);
        if (again) {
            uint32_t index = old->variable->index;
            const struct ptx_variable *declared = old->variable;
            /* nvcc declares a pointer as .b64 where the other file defines it as .u64 */
            bool same_size =
                declared->is_unsized || variable->is_unsized || declared->size == variable->size;
            if (declared->space != space || !same_size)
                ptx_complain(p, name.line, name.column,
                             "`%s` was declared in line %u as something else.", variable->name,
                             declared->line);
            bool replaces = declared->linkage == PTX_EXTERN && linkage != PTX_EXTERN;
            variable->index = index;
            if (replaces) *old->variable = *variable;
            variable = old->variable;
        } else {
            struct ptx_symbol *symbol = ptx_symbol_add(p, &name, PTX_SYMBOL_VARIABLE);
            symbol->variable = variable;
            variable->index = list->count;
            variable->first = p->body.instructions.count;
            *(struct ptx_variable **)ptx_push(p, list, sizeof variable) = variable;
        }
        if (ptx_take_sign(p, '=')) {
            if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
                ptx_fail(p, &name, "Only .global and .const variables can be initialised.");
            ptx_initialiser_parse(p, variable);
        }
        if (variable->is_unsized && variable->linkage != PTX_EXTERN)
            ptx_complain(p, name.line, name.column,
                         "`%s` has no size: only an .extern array may leave it out.",
                         variable->name);
    } while (ptx_take_sign(p, ','));
    ptx_expect_sign(p, ';', "at the end of the declaration");
}

struct ptx_variable *ptx_parameter_parse(struct ptx_parser *p)
{
    char buffer[64];
    struct ptx_token at = p->token;
    unsigned space = ptx_take_suffix(p, "reg") ? (unsigned)PTX_SPACE_REG : PTX_SPACE_PARAM;
    if (space == PTX_SPACE_PARAM && !ptx_take_suffix(p, "param"))
        ptx_fail(p, &at, "A parameter begins with .param or .reg, not %s.", ptx_show(&at, buffer));
    struct specification spec = parse_specification(p);
    struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "a parameter's name or _");
    if (space == PTX_SPACE_PARAM && spec.type == PTX_PRED)
        ptx_fail(p, &name, "A predicate cannot be a .param.");
    return new_variable(p, &spec, space, &name);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* name<count> */
static void parse_range(struct ptx_parser *p, const struct ptx_token *name, enum ptx_type type)
{
    struct ptx_token at = p->token;
    struct ptx_token count = ptx_expect(p, PTX_TOKEN_INTEGER, "the number of registers");
    if (count.value > UINT32_MAX / 2) ptx_fail(p, &at, "That is too many registers.");
    ptx_expect_sign(p, '>', "after the number of registers");
    struct ptx_symbol *symbol = ptx_symbol_add(p, name, PTX_SYMBOL_RANGE);
    symbol->count = (uint32_t)count.value;
    symbol->type = type;
    symbol->index = p->body.range_count++;
}

void ptx_registers_parse(struct ptx_parser *p)
{
    struct specification spec = parse_specification(p);
    do {
        struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "a register's name");
        if (ptx_take_sign(p, '<')) {
            if (spec.vector != 1) ptx_fail(p, &name, "A range of vector registers is not PTX.");
            parse_range(p, &name, spec.type);
            continue;
        }
        struct ptx_symbol *symbol = ptx_symbol_add(p, &name, PTX_SYMBOL_REGISTER);
        symbol->type = spec.type;
        symbol->count = spec.vector;
        symbol->index = PTX_NO_REGISTER; /* a register gets its index at its first use */
    } while (ptx_take_sign(p, ','));
    ptx_expect_sign(p, ';', "at the end of the declaration");
}
