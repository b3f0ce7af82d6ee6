/* Operands (PTX ISA 6) and calls. The validator checks which operands an instruction may have. */
#include "emulator/ptx/internal.h"

#include <string.h>

static struct ptx_operand plain(enum ptx_operand_kind kind)
{
    return (struct ptx_operand){.kind = kind, .reg = PTX_NO_REGISTER, .second = PTX_NO_REGISTER};
}

/* Returns the index of a component x, y, z, w or r, g, b, a of a vector; 4: none of them. */
static uint8_t component_of(const struct ptx_token *token)
{
    static const char letters[] = "xyzwrgba";
    if (token->kind != PTX_TOKEN_SUFFIX || token->length != 1) return 4;
    const char *found = strchr(letters, token->text[0]);
    return found ? (uint8_t)((found - letters) % 4) : 4;
}

/* Finds the register, or the element of a vector register, that a consumed word names. */
static bool find_register(struct ptx_parser *p, const struct ptx_token *name, uint32_t *index,
                          uint32_t *count)
{
    char buffer[64];
    if (!ptx_register_find(p, name, index, count)) return false;
    if (*count == 1) return true;
    uint8_t component = component_of(&p->token);
    if (component < 4) {
        if (component >= *count)
            ptx_fail(p, &p->token, "%s has only %u elements.", ptx_show(name, buffer), *count);
        ptx_next(p);
        *index += component;
        *count = 1;
    }
    return true;
}

/* Finds a register where only a single one is valid. */
static uint32_t need_register(struct ptx_parser *p, const struct ptx_token *name)
{
    char buffer[64];
    uint32_t index, count;
    if (!find_register(p, name, &index, &count) || count != 1)
        ptx_fail(p, name, "%s is not a register.", ptx_show(name, buffer));
    return index;
}

static struct ptx_operand constant_operand(struct ptx_parser *p)
{
    struct ptx_constant constant = ptx_constant_parse(p);
    struct ptx_operand operand = plain(PTX_OPERAND_IMMEDIATE);
    operand.bits = constant.bits;
    operand.is_float = constant.is_float;
    operand.component = constant.is_single; /* kept here until the validator has converted it */
    return operand;
}

static int64_t parse_offset(struct ptx_parser *p)
{
    if (!ptx_at_sign(p, '+') && !ptx_at_sign(p, '-')) return 0;
    return ptx_constant_integer(p, "An offset");
}

/* Finds a variable or a function. Returns false when there is neither. */
static bool find_symbol(struct ptx_parser *p, const struct ptx_token *name,
                        struct ptx_operand *operand)
{
    const struct ptx_symbol *symbol = ptx_symbol_find(p, name->text, name->length);
    if (symbol == NULL) return false;
    operand->variable = symbol->kind == PTX_SYMBOL_VARIABLE ? symbol->variable : NULL;
    operand->function = symbol->kind == PTX_SYMBOL_FUNCTION ? symbol->function : NULL;
    return operand->variable != NULL || operand->function != NULL;
}

/* Parses what follows `[`, without what ends it. */
static struct ptx_operand address(struct ptx_parser *p)
{
    struct ptx_operand operand = plain(PTX_OPERAND_ADDRESS);
    char buffer[64];
    if (ptx_at_constant(p)) {
        operand.offset = ptx_constant_integer(p, "An address");
    } else {
        struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "an address");
        uint32_t count;
        if (!find_symbol(p, &name, &operand)) {
            if (!find_register(p, &name, &operand.reg, &count) || count != 1)
                ptx_fail(p, &name, "%s is not declared.", ptx_show(&name, buffer));
        }
        operand.offset = parse_offset(p);
    }
    return operand;
}

static struct ptx_operand vector_of(struct ptx_parser *p, const struct ptx_operand *elements,
                                    uint32_t count)
{
    struct ptx_operand operand = plain(PTX_OPERAND_VECTOR);
    struct ptx_operand *copy = ptx_new(p, count, sizeof *copy);
    memcpy(copy, elements, count * sizeof *copy);
    operand.elements = copy;
    operand.count = count;
    return operand;
}

/* Parses what follows `{`. */
static struct ptx_operand vector(struct ptx_parser *p)
{
    enum { MOST = 128 }; /* the sum of wgmma */
    struct ptx_operand elements[MOST];
    uint32_t count = 0;
    char buffer[64];
    do {
        struct ptx_token at = p->token, ignored;
        if (count == MOST) ptx_fail(p, &at, "A vector has at most %d elements here.", MOST);
        if (ptx_at_sign(p, '{') || ptx_at_sign(p, '['))
            ptx_fail(p, &at, "An element of a vector is a register or a constant, not %s.",
                     ptx_show(&at, buffer));
        elements[count++] = ptx_operand_parse(p, 'S', &ignored);
    } while (ptx_take_sign(p, ','));
    ptx_expect_sign(p, '}', "at the end of the vector");
    return vector_of(p, elements, count);
}

/* Parses what follows `[a,`: coordinates, perhaps after a sampler. */
static struct ptx_operand image(struct ptx_parser *p, struct ptx_operand texture)
{
    enum { COORDINATES = 16, MOST = 2 + COORDINATES };
    struct ptx_operand elements[MOST] = {texture};
    uint32_t count = 1;
    struct ptx_token ignored;
    struct ptx_operand coordinates = ptx_operand_parse(p, 'S', &ignored);
    if (ptx_take_sign(p, ',')) { /* the operand just read is the sampler */
        bool is_register = coordinates.kind == PTX_OPERAND_REGISTER;
        if (!is_register && coordinates.kind != PTX_OPERAND_SYMBOL)
            ptx_fail(p, &p->token, "Coordinates are one operand, a vector in braces.");
        coordinates.kind = PTX_OPERAND_ADDRESS;
        elements[count++] = coordinates;
        coordinates = ptx_operand_parse(p, 'S', &ignored);
    }
    struct ptx_operand operand = plain(PTX_OPERAND_IMAGE);
    operand.component = (uint8_t)count;
    bool is_vector = coordinates.kind == PTX_OPERAND_VECTOR;
    uint32_t more = is_vector ? coordinates.count : 1;
    if (more > COORDINATES)
        ptx_fail(p, &p->token, "There are at most %d coordinates.", COORDINATES);
    memcpy(&elements[count], is_vector ? coordinates.elements : &coordinates,
           more * sizeof *elements);
    count += more;
    struct ptx_operand *copy = ptx_new(p, count, sizeof *copy);
    memcpy(copy, elements, count * sizeof *copy);
    operand.elements = copy;
    operand.count = count;
    return operand;
}

/* Parses what follows `[`. Only an opcode that takes images may have one. */
static struct ptx_operand bracketed(struct ptx_parser *p, char kind)
{
    struct ptx_operand operand = address(p);
    if ((kind == 'I' || kind == 'C') && ptx_take_sign(p, ',')) operand = image(p, operand);
    ptx_expect_sign(p, ']', "at the end of the address");
    return operand;
}

/* Parses the q of `p|q`. */
static uint32_t second_of_pair(struct ptx_parser *p)
{
    struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "a predicate after `|`");
    return ptx_token_is(&name, "_") ? PTX_SINK : need_register(p, &name);
}

static struct ptx_operand register_operand(struct ptx_parser *p, uint32_t index, uint32_t count)
{
    struct ptx_operand operand = plain(PTX_OPERAND_REGISTER);
    operand.reg = index;
    if (count > 1) { /* a whole vector register: its elements */
        struct ptx_operand elements[8];
        for (uint32_t i = 0; i < count; i++) {
            elements[i] = plain(PTX_OPERAND_REGISTER);
            elements[i].reg = index + i;
        }
        return vector_of(p, elements, count);
    }
    if (ptx_take_sign(p, '|')) {
        operand.kind = PTX_OPERAND_PAIR;
        operand.second = second_of_pair(p);
    }
    return operand;
}

static struct ptx_operand special_operand(struct ptx_parser *p, const struct ptx_token *name,
                                          enum ptx_special special, uint8_t number)
{
    struct ptx_operand operand = plain(PTX_OPERAND_SPECIAL);
    char buffer[64];
    operand.special = special;
    operand.component = number;
    if (ptx_special_components(special) == 4) {
        uint8_t component = component_of(&p->token);
        if (component == 4) {
            if (p->token.kind == PTX_TOKEN_SUFFIX)
                ptx_fail(p, &p->token, "%s has .x, .y, .z and .w only.", ptx_show(name, buffer));
            struct ptx_operand elements[4] = {operand, operand, operand, operand};
            for (uint8_t i = 0; i < 4; i++) elements[i].component = i;
            return vector_of(p, elements, 4);
        }
        operand.component = component;
        ptx_next(p);
    }
    return operand;
}

static struct ptx_operand word_operand(struct ptx_parser *p, char kind, struct ptx_token *name)
{
    char buffer[64];
    *name = p->token;
    ptx_next(p);
    uint32_t index, count;
    uint8_t number;
    if (kind == 'L') return plain(PTX_OPERAND_LABEL);
    if (kind == 'T') {
        const struct ptx_symbol *symbol = ptx_symbol_find(p, name->text, name->length);
        if (symbol == NULL || symbol->kind != PTX_SYMBOL_TABLE)
            ptx_fail(p, name, "%s is not a list made by .branchtargets.", ptx_show(name, buffer));
        struct ptx_operand operand = plain(PTX_OPERAND_TABLE);
        operand.target = symbol->index;
        return operand;
    }
    if (ptx_token_is(name, "_")) {
        struct ptx_operand operand = plain(PTX_OPERAND_SINK);
        if (ptx_take_sign(p, '|')) {
            operand.kind = PTX_OPERAND_PAIR;
            operand.reg = PTX_SINK;
            operand.second = second_of_pair(p);
        }
        return operand;
    }
    if (find_register(p, name, &index, &count)) {
        struct ptx_operand operand = register_operand(p, index, count);
        if (kind == 'V' || kind == 'W') operand.parts = ptx_parts_parse(p);
        return operand;
    }

    struct ptx_operand symbol = plain(PTX_OPERAND_SYMBOL);
    if (find_symbol(p, name, &symbol)) {
        if (ptx_at_sign(p, '[')) return ptx_element_parse(p, symbol, kind == 'A');
        symbol.offset = parse_offset(p);
        return symbol;
    }
    enum ptx_special special = ptx_special_find(p->names, name->text, name->length, &number);
    if (special != PTX_SPECIAL_COUNT) return special_operand(p, name, special, number);
    if (name->text[0] == '%')
        ptx_fail(p, name, "%s is neither a declared register nor a special one.",
                 ptx_show(name, buffer));
    ptx_fail(p, name, "%s is not declared.", ptx_show(name, buffer));
}

struct ptx_operand ptx_operand_parse(struct ptx_parser *p, char kind, struct ptx_token *name)
{
    char buffer[64];
    if (ptx_at_sign(p, '!')) { /* !p, or the logical not of a constant */
        ptx_next(p);
        if (p->token.kind != PTX_TOKEN_WORD) {
            struct ptx_operand operand = constant_operand(p);
            operand.bits = operand.bits == 0;
            return operand;
        }
        struct ptx_token word = ptx_expect(p, PTX_TOKEN_WORD, "a predicate after `!`");
        struct ptx_operand operand = plain(PTX_OPERAND_REGISTER);
        operand.reg = need_register(p, &word);
        operand.negated = true;
        return operand;
    }
    if (kind == 'V' && ptx_at_sign(p, '-')) { /* -a of vmad, if a register follows */
        struct ptx_lexer after_sign = p->lexer;
        struct ptx_token sign = p->token;
        ptx_next(p);
        if (p->token.kind == PTX_TOKEN_WORD) {
            struct ptx_operand operand = word_operand(p, kind, name);
            operand.negated = true;
            return operand;
        }
        p->lexer = after_sign;
        p->token = sign;
    }
    if (ptx_at_constant(p)) return constant_operand(p);
    if (ptx_take_sign(p, '[')) return bracketed(p, kind);
    if (ptx_take_sign(p, '{')) {
        struct ptx_operand operand = vector(p);
        if (kind == 'D' && ptx_take_sign(p, '|')) operand.second = second_of_pair(p);
        return operand;
    }
    if (p->token.kind == PTX_TOKEN_WORD) return word_operand(p, kind, name);
    ptx_fail(p, &p->token, "Expected an operand, found %s.", ptx_show(&p->token, buffer));
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Parses (a, b) at its opening parenthesis. Returns the values. */
static struct ptx_operand *call_list(struct ptx_parser *p, uint32_t *count)
{
    struct ptx_list list = {0};
    char buffer[64];
    ptx_expect_sign(p, '(', "before a call's values");
    while (!ptx_at_sign(p, ')')) {
        struct ptx_token at = p->token, ignored;
        struct ptx_operand operand = ptx_operand_parse(p, 'S', &ignored);
        if (operand.kind != PTX_OPERAND_REGISTER && operand.kind != PTX_OPERAND_IMMEDIATE &&
            operand.kind != PTX_OPERAND_SYMBOL && operand.kind != PTX_OPERAND_SINK)
            ptx_fail(p, &at, "%s cannot be passed to or returned from a function.",
                     ptx_show(&at, buffer));
        *(struct ptx_operand *)ptx_push(p, &list, sizeof operand) = operand;
        if (!ptx_take_sign(p, ',')) break;
    }
    ptx_expect_sign(p, ')', "after a call's values");
    *count = list.count;
    return list.items;
}

/* Checks that the values match the callee's in number and size; converts immediates to the
 * parameters' types. */
static void check_values(struct ptx_parser *p, const struct ptx_token *at, const char *what,
                         struct ptx_operand *values, uint32_t count,
                         const struct ptx_variable *const *formal, uint32_t formal_count)
{
    char buffer[64];
    ptx_show(at, buffer);
    if (count != formal_count) {
        ptx_complain(p, at->line, at->column, "%s has %u %s%s, and the call names %u.", buffer,
                     formal_count, what, formal_count == 1 ? "" : "s", count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_operand *value = &values[i];
        uint64_t bytes = formal[i]->size;
        if (value->kind == PTX_OPERAND_SYMBOL && value->variable != NULL)
            bytes = value->variable->size;
        if (value->kind == PTX_OPERAND_SYMBOL &&
            (value->variable == NULL || value->variable->space != PTX_SPACE_PARAM))
            ptx_complain(p, at->line, at->column,
                         "Value %u of the call to %s is no .param variable.", i + 1,
                         ptx_show(at, buffer));
        if (value->kind == PTX_OPERAND_REGISTER) {
            const struct ptx_register *registers = p->body.registers.items;
            bytes = ptx_type_bytes((enum ptx_type)registers[value->reg].type);
        }
        if (value->kind == PTX_OPERAND_IMMEDIATE)
            ptx_immediate_convert(p, at, buffer, value, formal[i]->type);
        if (bytes != formal[i]->size && value->kind != PTX_OPERAND_SINK)
            ptx_complain(
                p, at->line, at->column, "%s %u of %s has %llu bytes, and the call's value %llu.",
                strcmp(what, "result") == 0 ? "Result" : "Parameter", i + 1, ptx_show(at, buffer),
                (unsigned long long)formal[i]->size, (unsigned long long)bytes);
    }
}

/* (results), function, (arguments), prototype */
const struct ptx_call *ptx_call_parse(struct ptx_parser *p)
{
    struct ptx_call *call = ptx_new(p, 1, sizeof *call);
    struct ptx_operand *results = NULL, *arguments = NULL;
    char buffer[64];
    uint32_t count;
    call->reg = PTX_NO_REGISTER;
    if (ptx_at_sign(p, '(')) {
        results = call_list(p, &call->result_count);
        ptx_expect_sign(p, ',', "after a call's results");
    }
    struct ptx_token target = ptx_expect(p, PTX_TOKEN_WORD, "the function to call");
    const struct ptx_symbol *symbol = ptx_symbol_find(p, target.text, target.length);
    if (symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION) {
        call->function = symbol->function;
        call->prototype = &symbol->function->prototype;
    } else if (!ptx_register_find(p, &target, &call->reg, &count) || count != 1) {
        ptx_fail(p, &target, "%s is neither a function nor a register.", ptx_show(&target, buffer));
    }
    if (ptx_take_sign(p, ',')) {
        if (ptx_at_sign(p, '(')) {
            arguments = call_list(p, &call->argument_count);
            if (!ptx_take_sign(p, ',')) goto done;
        }
        struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "a prototype's name");
        symbol = ptx_symbol_find(p, name.text, name.length);
        if (symbol == NULL || symbol->kind != PTX_SYMBOL_PROTOTYPE)
            ptx_fail(p, &name, "%s is no .callprototype or .calltargets.", ptx_show(&name, buffer));
        if (call->function == NULL) call->prototype = symbol->prototype;
    }
done:
    if (call->prototype == NULL)
        ptx_fail(p, &target, "A call through %s needs a .callprototype or .calltargets.",
                 ptx_show(&target, buffer));
    check_values(p, &target, "result", results, call->result_count, call->prototype->returns,
                 call->prototype->return_count);
    check_values(p, &target, "parameter", arguments, call->argument_count,
                 call->prototype->parameters, call->prototype->parameter_count);
    call->results = results;
    call->arguments = arguments;
    return call;
}
