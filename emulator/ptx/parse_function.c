/* Function headers: prototypes, declarations, performance directives (PTX ISA 5.5, 11.2, 11.4). */
#include "emulator/ptx/internal.h"

#include <string.h>

/* Parses (.param .b32 a, .reg .b32 b). Returns the number of parameters, 0 when there is no
 * list. */
static uint32_t parse_parameters(struct ptx_parser *p,
                                 const struct ptx_variable *const **parameters)
{
    struct ptx_list list = {0};
    if (!ptx_take_sign(p, '(')) return 0;
    while (!ptx_at_sign(p, ')')) {
        struct ptx_variable *parameter = ptx_parameter_parse(p);
        parameter->index = list.count;
        *(struct ptx_variable **)ptx_push(p, &list, sizeof parameter) = parameter;
        if (!ptx_take_sign(p, ',')) break;
    }
    ptx_expect_sign(p, ')', "at the end of the parameters");
    *parameters = list.items;
    return list.count;
}

void ptx_prototype_parse(struct ptx_parser *p, struct ptx_prototype *prototype,
                         struct ptx_token *name, bool is_entry)
{
    struct ptx_token at = p->token;
    prototype->return_count = parse_parameters(p, &prototype->returns);
    if (is_entry && ptx_token_is(&at, "(")) ptx_fail(p, &at, "An .entry returns nothing.");
    *name = ptx_expect(p, PTX_TOKEN_WORD, "a function's name");
    prototype->parameter_count = parse_parameters(p, &prototype->parameters);
}

/* Parses up to three dimensions of a block or cluster. */
static void parse_sizes(struct ptx_parser *p, uint32_t sizes[3])
{
    uint32_t count = 0;
    sizes[0] = sizes[1] = sizes[2] = 1;
    do {
        struct ptx_token at = p->token;
        int64_t size = ptx_constant_integer(p, "A size");
        if (size < 1 || size > INT32_MAX || count == 3)
            ptx_fail(p, &at, "Expected one to three sizes of at least 1.");
        sizes[count++] = (uint32_t)size;
    } while (ptx_take_sign(p, ','));
}

static uint32_t parse_count(struct ptx_parser *p)
{
    struct ptx_token at = p->token;
    int64_t count = ptx_constant_integer(p, "A count");
    if (count < 0 || count > INT32_MAX) ptx_fail(p, &at, "The count is out of range.");
    return (uint32_t)count;
}

/* Parses the directives between the parameters and the body. */
static void parse_performance(struct ptx_parser *p, struct ptx_function *function)
{
    while (p->token.kind == PTX_TOKEN_SUFFIX) {
        char buffer[64];
        struct ptx_token at = p->token;
        ptx_next(p);
        if (ptx_token_is(&at, "maxntid")) {
            parse_sizes(p, function->max_threads);
        } else if (ptx_token_is(&at, "reqntid")) {
            parse_sizes(p, function->required_threads);
        } else if (ptx_token_is(&at, "minnctapersm")) {
            function->min_blocks = parse_count(p);
        } else if (ptx_token_is(&at, "maxnreg")) {
            function->max_registers = parse_count(p);
        } else if (ptx_token_is(&at, "noreturn")) {
            function->prototype.noreturn = true;
        } else if (ptx_token_is(&at, "maxnctapersm") || ptx_token_is(&at, "maxclusterrank") ||
                   ptx_token_is(&at, "abi_preserve") || ptx_token_is(&at, "abi_preserve_control")) {
            parse_count(p);
        } else if (ptx_token_is(&at, "reqnctapercluster")) {
            parse_sizes(p, function->cluster);
        } else if (ptx_token_is(&at, "pragma")) {
            do {
                ptx_expect(p, PTX_TOKEN_STRING, "a string after .pragma");
            } while (ptx_take_sign(p, ','));
            ptx_take_sign(p, ';');
        } else if (ptx_token_is(&at, "explicitcluster")) {
            function->explicit_cluster = true;
        } else if (ptx_token_is(&at, "blocksareclusters")) {
            function->blocks_are_clusters = true;
        } else {
            ptx_fail(p, &at, "%s does not belong in a function's header.", ptx_show(&at, buffer));
        }
    }
}

/* Complains when a later declaration differs from an earlier one. */
static void compare_headers(struct ptx_parser *p, const struct ptx_token *name,
                            const struct ptx_function *old, const struct ptx_function *fresh)
{
    const struct ptx_prototype *a = &old->prototype, *b = &fresh->prototype;
    bool same = old->is_entry == fresh->is_entry && a->return_count == b->return_count &&
                a->parameter_count == b->parameter_count;
    for (uint32_t i = 0; same && i < a->return_count; i++)
        same = a->returns[i]->size == b->returns[i]->size;
    for (uint32_t i = 0; same && i < a->parameter_count; i++)
        same = a->parameters[i]->size == b->parameters[i]->size;
    if (!same)
        ptx_complain(p, name->line, name->column,
                     "`%s` was declared in line %u with other parameters.", old->name, old->line);
}

/* Returns the function of that name, from an earlier declaration or new. */
static struct ptx_function *declare(struct ptx_parser *p, const struct ptx_token *name,
                                    const struct ptx_function *header)
{
    char buffer[64];
    struct ptx_symbol *symbol = ptx_symbol_find(p, name->text, name->length);
    if (symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION) {
        compare_headers(p, name, symbol->function, header);
        return symbol->function;
    }
    if (symbol != NULL) ptx_fail(p, name, "%s is declared twice.", ptx_show(name, buffer));
    symbol = ptx_symbol_add(p, name, PTX_SYMBOL_FUNCTION);
    struct ptx_function *function = ptx_new(p, 1, sizeof *function);
    *function = *header;
    function->name = function->prototype.name = symbol->name;
    function->line = name->line;
    function->index = p->functions.count;
    symbol->function = function;
    *(struct ptx_function **)ptx_push(p, &p->functions, sizeof function) = function;
    return function;
}

void ptx_function_parse(struct ptx_parser *p, enum ptx_linkage linkage, bool is_entry)
{
    struct ptx_function header = {.linkage = linkage, .is_entry = is_entry};
    struct ptx_token name;
    char buffer[64];
    if (ptx_take_suffix(p, "attribute")) ptx_attributes_parse(p, NULL);
    ptx_prototype_parse(p, &header.prototype, &name, is_entry);
    parse_performance(p, &header);

    struct ptx_function *function = declare(p, &name, &header);
    if (ptx_take_sign(p, ';')) return;
    if (!ptx_at_sign(p, '{'))
        ptx_fail(p, &p->token, "Expected `{` or `;` after the function's header, found %s.",
                 ptx_show(&p->token, buffer));
    if (function->is_defined) ptx_fail(p, &name, "%s is defined twice.", ptx_show(&name, buffer));

    const char *kept_name = function->name;
    uint32_t index = function->index;
    bool noreturn = function->prototype.noreturn || header.prototype.noreturn;
    *function = header;
    function->name = function->prototype.name = kept_name;
    function->prototype.noreturn = noreturn;
    function->index = index;
    function->line = name.line;
    function->is_defined = true;
    if (p->heads && is_entry)
        ptx_body_skip(p, function);
    else
        ptx_body_parse(p, function);
}
