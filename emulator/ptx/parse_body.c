/* Function bodies: blocks, labels, declarations inside, source locations. */
#include "emulator/ptx/internal.h"

#include <string.h>

/* ---- source locations ------------------------------------------------------------------------ */

static uint32_t parse_number(struct ptx_parser *p, const char *what)
{
    struct ptx_token token = ptx_expect(p, PTX_TOKEN_INTEGER, what);
    return token.value > UINT32_MAX ? UINT32_MAX : (uint32_t)token.value;
}

/* Finds where code inlined at `file line column` comes from in the end: the outer position of an
 * earlier .loc of that place, or the place itself. */
static void find_outer(const struct ptx_body *body, struct ptx_recent *recent, uint32_t file,
                       uint32_t line, uint32_t column)
{
    recent->outer_file = file;
    recent->outer_line = line;
    uint32_t count =
        body->recent_count < PTX_RECENT_LOCATIONS ? body->recent_count : PTX_RECENT_LOCATIONS;
    for (uint32_t i = 1; i <= count; i++) {
        const struct ptx_recent *old =
            &body->recent[(body->recent_count - i) % PTX_RECENT_LOCATIONS];
        if (old->file == file && old->line == line && old->column == column) {
            recent->outer_file = old->outer_file;
            recent->outer_line = old->outer_line;
            return;
        }
    }
}

/* .loc file line column [, function_name label[+offset], inlined_at file line column] */
void ptx_location_parse(struct ptx_parser *p)
{
    struct ptx_body *body = &p->body;
    struct ptx_recent recent = {0};
    recent.file = parse_number(p, "a file number after .loc");
    recent.line = parse_number(p, "a line number");
    recent.column = parse_number(p, "a column number");
    recent.outer_file = recent.file;
    recent.outer_line = recent.line;
    while (ptx_take_sign(p, ',')) {
        struct ptx_token word =
            ptx_expect(p, PTX_TOKEN_WORD, "function_name or inlined_at after the comma of .loc");
        if (ptx_token_is(&word, "inlined_at")) {
            uint32_t file = parse_number(p, "a file number after inlined_at");
            uint32_t line = parse_number(p, "a line number");
            uint32_t column = parse_number(p, "a column number");
            find_outer(body, &recent, file, line, column);
        } else if (ptx_token_is(&word, "function_name")) {
            ptx_expect(p, PTX_TOKEN_WORD, "a label after function_name");
            if (ptx_take_sign(p, '+')) parse_number(p, "an offset");
        } else {
            ptx_fail(p, &word, "Expected function_name or inlined_at after the comma of .loc.");
        }
    }
    body->recent[body->recent_count++ % PTX_RECENT_LOCATIONS] = recent;
    if (recent.line == 0 || recent.outer_line == 0) return; /* made by the compiler */
    struct ptx_location fresh = {recent.file, recent.line, recent.outer_file, recent.outer_line};
    if (memcmp(&fresh, &body->location, sizeof fresh) == 0) return;
    body->location = fresh;
    body->location_is_new = true;
}

/* ---- labels and what they name --------------------------------------------------------------- */

static void define_label(struct ptx_parser *p, const struct ptx_token *name)
{
    struct ptx_symbol *symbol = ptx_symbol_add(p, name, PTX_SYMBOL_LABEL);
    struct ptx_label *label = ptx_push(p, &p->body.labels, sizeof *label);
    *label = (struct ptx_label){symbol->name, p->body.instructions.count};
    symbol->index = p->body.labels.count - 1;
}

/* name: .branchtargets a, b, c; */
static void parse_branch_targets(struct ptx_parser *p, const struct ptx_token *name)
{
    struct ptx_list names = {0}; /* struct ptx_token */
    do {
        struct ptx_token label = ptx_expect(p, PTX_TOKEN_WORD, "a label");
        *(struct ptx_token *)ptx_push(p, &names, sizeof label) = label;
    } while (ptx_take_sign(p, ','));
    ptx_expect_sign(p, ';', "at the end of .branchtargets");

    struct ptx_symbol *symbol = ptx_symbol_add(p, name, PTX_SYMBOL_TABLE);
    struct ptx_label *labels = ptx_new(p, names.count, sizeof *labels);
    const struct ptx_token *tokens = names.items;
    for (uint32_t i = 0; i < names.count; i++) {
        labels[i].name = ptx_copy_text(p, tokens[i].text, tokens[i].length);
        ptx_reference_add(p, &tokens[i], &labels[i].target);
    }
    symbol->index = p->body.tables.count;
    struct ptx_table *table = ptx_push(p, &p->body.tables, sizeof *table);
    *table = (struct ptx_table){symbol->name, labels, names.count};
}

/* name: .calltargets f, g; all have the same prototype, so the first one's is kept. */
static void parse_call_targets(struct ptx_parser *p, const struct ptx_token *name)
{
    struct ptx_symbol *symbol = ptx_symbol_add(p, name, PTX_SYMBOL_PROTOTYPE);
    char buffer[64];
    do {
        struct ptx_token target = ptx_expect(p, PTX_TOKEN_WORD, "a function's name");
        const struct ptx_symbol *found = ptx_symbol_find(p, target.text, target.length);
        if (found == NULL || found->kind != PTX_SYMBOL_FUNCTION)
            ptx_fail(p, &target, "%s is not a function.", ptx_show(&target, buffer));
        if (symbol->prototype == NULL) symbol->prototype = &found->function->prototype;
    } while (ptx_take_sign(p, ','));
    ptx_expect_sign(p, ';', "at the end of .calltargets");
}

/* name: .callprototype (returns) _ (parameters) [.noreturn]; */
static void parse_call_prototype(struct ptx_parser *p, const struct ptx_token *name)
{
    struct ptx_symbol *symbol = ptx_symbol_add(p, name, PTX_SYMBOL_PROTOTYPE);
    struct ptx_prototype *prototype = ptx_new(p, 1, sizeof *prototype);
    struct ptx_token ignored;
    ptx_prototype_parse(p, prototype, &ignored, false);
    prototype->name = symbol->name;
    symbol->prototype = prototype;
    while (p->token.kind == PTX_TOKEN_SUFFIX) {
        if (ptx_at_suffix(p, "noreturn")) prototype->noreturn = true;
        ptx_next(p);
        if (p->token.kind == PTX_TOKEN_INTEGER) ptx_next(p); /* .abi_preserve 8 */
    }
    ptx_expect_sign(p, ';', "at the end of .callprototype");
}

/* Parses what follows `name:`. */
static void parse_label(struct ptx_parser *p, const struct ptx_token *name)
{
    if (ptx_take_suffix(p, "branchtargets")) {
        parse_branch_targets(p, name);
    } else if (ptx_take_suffix(p, "calltargets")) {
        parse_call_targets(p, name);
    } else if (ptx_take_suffix(p, "callprototype")) {
        parse_call_prototype(p, name);
    } else {
        define_label(p, name);
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

static void parse_body_directive(struct ptx_parser *p)
{
    char buffer[64];
    if (ptx_take_suffix(p, "reg")) {
        ptx_registers_parse(p);
    } else if (ptx_take_suffix(p, "loc")) {
        ptx_location_parse(p);
    } else if (ptx_take_suffix(p, "pragma")) {
        do {
            ptx_expect(p, PTX_TOKEN_STRING, "a string after .pragma");
        } while (ptx_take_sign(p, ','));
        ptx_expect_sign(p, ';', "at the end of .pragma");
    } else {
        bool external = ptx_take_suffix(p, "extern"); /* .extern .shared inside a function */
        enum ptx_modifier space = ptx_space_of(&p->token);
        if (space != PTX_SPACE_SHARED && space != PTX_SPACE_LOCAL && space != PTX_SPACE_PARAM)
            ptx_fail(p, &p->token, "%s does not belong in a function's body.",
                     ptx_show(&p->token, buffer));
        ptx_next(p);
        ptx_variables_parse(p, external ? PTX_EXTERN : PTX_PRIVATE, space);
    }
}

/* Parses an instruction or, if a colon follows the word, a label. */
static void parse_word(struct ptx_parser *p)
{
    const char *after = p->lexer.next;
    while (after < p->lexer.end && (*after == ' ' || *after == '\t')) after++;
    bool is_label = after < p->lexer.end && *after == ':';
    if (!is_label) {
        ptx_instruction_parse(p);
        return;
    }
    struct ptx_token name = p->token;
    ptx_next(p);
    ptx_expect_sign(p, ':', "after a label");
    parse_label(p, &name);
}

/* Closes a block: the scopes of the variables declared in it, the last of the list, end here. */
static void end_variables(struct ptx_parser *p, uint32_t first)
{
    struct ptx_variable **variables = p->body.variables.items;
    for (uint32_t i = first; i < p->body.variables.count; i++) {
        if (variables[i]->end == 0) variables[i]->end = p->body.instructions.count;
    }
}

static void parse_statements(struct ptx_parser *p)
{
    uint32_t first_variable[PTX_MAX_SCOPES + 2];
    uint32_t outermost = p->symbols.scope;
    struct ptx_token start = p->token;
    char buffer[64];
    for (;;) {
        struct ptx_token at = p->token;
        if (at.kind == PTX_TOKEN_END) {
            ptx_fail(p, &start, "The function's body is never closed by `}`.");
        } else if (at.kind == PTX_TOKEN_SUFFIX) {
            parse_body_directive(p);
        } else if (at.kind == PTX_TOKEN_WORD) {
            parse_word(p);
        } else if (ptx_at_sign(p, '@')) {
            ptx_instruction_parse(p);
        } else if (ptx_take_sign(p, '{')) {
            ptx_scope_open(p, &at);
            first_variable[p->symbols.scope] = p->body.variables.count;
        } else if (ptx_take_sign(p, '}')) {
            if (p->symbols.scope == outermost) return;
            end_variables(p, first_variable[p->symbols.scope]);
            ptx_scope_close(p);
        } else if (!ptx_take_sign(p, ';')) {
            ptx_fail(p, &at, "Expected an instruction, found %s.", ptx_show(&at, buffer));
        }
    }
}

/* ---- the body -------------------------------------------------------------------------------- */

/* Parameters are visible in the whole body. */
static void declare_parameters(struct ptx_parser *p, struct ptx_function *function,
                               const struct ptx_variable *const *parameters, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        /* made by this parse for this function, so not read-only yet */
        struct ptx_variable *parameter = (struct ptx_variable *)(uintptr_t)parameters[i];
        struct ptx_token name = {.kind = PTX_TOKEN_WORD,
                                 .text = parameter->name,
                                 .length = (uint32_t)strlen(parameter->name),
                                 .line = parameter->line,
                                 .column = 1};
        parameter->function = function;
        bool is_register = parameter->space == PTX_SPACE_REG;
        struct ptx_symbol *symbol =
            ptx_symbol_add(p, &name, is_register ? PTX_SYMBOL_REGISTER : PTX_SYMBOL_VARIABLE);
        symbol->variable = parameter;
        if (is_register) {
            symbol->count = parameter->vector;
            symbol->type = parameter->type;
            symbol->index = parameter->reg = p->body.registers.count;
            for (uint32_t j = 0; j < parameter->vector; j++)
                ptx_register_add(p, parameter->name, parameter->type);
        }
    }
}

static void finish_body(struct ptx_parser *p, struct ptx_function *function)
{
    struct ptx_body *body = &p->body;
    function->instructions = body->instructions.items;
    function->instruction_count = body->instructions.count;
    function->registers = body->registers.items;
    function->register_count = body->registers.count;
    function->variables = body->variables.items;
    function->variable_count = body->variables.count;
    function->labels = body->labels.items;
    function->label_count = body->labels.count;
    function->tables = body->tables.items;
    function->table_count = body->tables.count;
    function->locations = body->locations.items;
    function->location_count = body->locations.count;
}

void ptx_body_parse(struct ptx_parser *p, struct ptx_function *function)
{
    struct ptx_token start = p->token;
    struct ptx_body *body = &p->body;
    struct ptx_location location = body->location; /* a .loc may stand before the body */
    memset(body, 0, sizeof *body);
    body->function = function;
    body->location = location;
    body->location_is_new = location.line != 0;
    ptx_push(p, &body->locations, sizeof(struct ptx_location));

    ptx_expect_sign(p, '{', "at the start of the function's body");
    ptx_scope_open(p, &start);
    declare_parameters(p, function, function->prototype.returns, function->prototype.return_count);
    declare_parameters(p, function, function->prototype.parameters,
                       function->prototype.parameter_count);
    parse_statements(p);
    end_variables(p, 0);
    for (uint32_t i = 0; i < body->variables.count; i++) {
        struct ptx_variable *variable = ((struct ptx_variable **)body->variables.items)[i];
        if (variable->end < variable->first) variable->end = variable->first;
    }
    ptx_scope_close(p);
    finish_body(p, function);
    memset(body, 0, sizeof *body);
}

/* ---- skipped bodies -------------------------------------------------------------------------- */

void ptx_body_skip(struct ptx_parser *p, struct ptx_function *function)
{
    const struct ptx_token start = p->token;
    struct ptx_unread *unread = ptx_new(p, 1, sizeof *unread);
    *unread = (struct ptx_unread){p->lexer, start, p->body.location};
    if (!ptx_lex_past_block(p)) ptx_fail(p, &start, "The function's body is never closed by `}`.");
    ptx_next(p);
    memset(&p->body, 0, sizeof p->body);
    function->unread = unread;
}

void ptx_body_read(struct ptx_parser *p, struct ptx_function *function)
{
    const struct ptx_unread *unread = function->unread;
    p->lexer = unread->lexer;
    p->token = unread->token;
    memset(&p->body, 0, sizeof p->body);
    p->body.location = unread->location;
    p->expression_depth = 0; /* an earlier failure may have left another value */
    ptx_body_parse(p, function);
}
