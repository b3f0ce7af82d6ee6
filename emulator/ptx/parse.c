/* The module: failure, memory and tokens for the other parser files; directives of module scope. */
#include "emulator/ptx/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- failure --------------------------------------------------------------------------------- */

static void record(struct ptx_parser *p, uint32_t line, uint32_t column, const char *format,
                   va_list arguments)
{
    struct ptx_diagnostics *all = p->diagnostics;
    all->total++;
    if (all->count == PTX_DIAGNOSTIC_MAX) return;
    struct ptx_diagnostic *entry = &all->entries[all->count++];
    entry->line = line;
    entry->column = column;
    vsnprintf(entry->text, sizeof entry->text, format, arguments);
}

void ptx_fail(struct ptx_parser *p, const struct ptx_token *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(p, at->line, at->column, format, arguments);
    va_end(arguments);
    longjmp(p->failure, 1);
}

void ptx_complain(struct ptx_parser *p, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(p, line, column, format, arguments);
    va_end(arguments);
}

size_t ptx_diagnostics_print(const struct ptx_diagnostics *diagnostics, char *text, size_t size)
{
    size_t used = 0;
    if (size == 0) return 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < diagnostics->count && used + 1 < size; i++) {
        const struct ptx_diagnostic *entry = &diagnostics->entries[i];
        int wrote = snprintf(text + used, size - used, "line %u, column %u: %s\n", entry->line,
                             entry->column, entry->text);
        if (wrote < 0) break;
        used = (size_t)wrote < size - used ? used + (size_t)wrote : size - 1;
    }
    return used;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *ptx_new(struct ptx_parser *p, size_t count, size_t size)
{
    void *place = arena_take(&p->owner->arena, count, size);
    if (place == NULL) ptx_fail(p, &p->token, "There is not enough memory for this module.");
    return place;
}

const char *ptx_copy_text(struct ptx_parser *p, const char *text, size_t length)
{
    char *copy = ptx_new(p, length + 1, 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

void *ptx_push(struct ptx_parser *p, struct ptx_list *list, size_t item_size)
{
    if (list->count == list->capacity) {
        if (list->capacity > UINT32_MAX / 2)
            ptx_fail(p, &p->token, "There is not enough memory for this module.");
        uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
        void *items = ptx_new(p, capacity, item_size);
        if (list->count) memcpy(items, list->items, list->count * item_size);
        list->items = items;
        list->capacity = capacity;
    }
    return (char *)list->items + list->count++ * item_size;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

void ptx_next(struct ptx_parser *p)
{
    ptx_lex(p, &p->token);
}

bool ptx_token_is(const struct ptx_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

const char *ptx_show(const struct ptx_token *token, char buffer[64])
{
    if (token->kind == PTX_TOKEN_END) return "the end of the text";
    int length = token->length < 48 ? (int)token->length : 48;
    snprintf(buffer, 64, "`%s%.*s%s`", token->kind == PTX_TOKEN_SUFFIX ? "." : "", length,
             token->text, token->length > 48 ? "..." : "");
    return buffer;
}

bool ptx_at_sign(const struct ptx_parser *p, uint32_t sign)
{
    return p->token.kind == PTX_TOKEN_SIGN && p->token.value == sign;
}

bool ptx_take_sign(struct ptx_parser *p, uint32_t sign)
{
    if (!ptx_at_sign(p, sign)) return false;
    ptx_next(p);
    return true;
}

void ptx_expect_sign(struct ptx_parser *p, uint32_t sign, const char *where)
{
    char buffer[64];
    if (!ptx_take_sign(p, sign))
        ptx_fail(p, &p->token, "Expected `%c` %s, found %s.", (char)sign, where,
                 ptx_show(&p->token, buffer));
}

bool ptx_at_suffix(const struct ptx_parser *p, const char *text)
{
    return p->token.kind == PTX_TOKEN_SUFFIX && ptx_token_is(&p->token, text);
}

bool ptx_take_suffix(struct ptx_parser *p, const char *text)
{
    if (!ptx_at_suffix(p, text)) return false;
    ptx_next(p);
    return true;
}

struct ptx_token ptx_expect(struct ptx_parser *p, enum ptx_token_kind kind, const char *what)
{
    char buffer[64];
    struct ptx_token token = p->token;
    if (token.kind != kind)
        ptx_fail(p, &token, "Expected %s, found %s.", what, ptx_show(&token, buffer));
    ptx_next(p);
    return token;
}

/* ---- directives ------------------------------------------------------------------------------ */

static void parse_version(struct ptx_parser *p)
{
    struct ptx_token token = p->token;
    if (token.kind != PTX_TOKEN_DOUBLE && token.kind != PTX_TOKEN_INTEGER)
        ptx_fail(p, &token, "Expected a version such as 9.0 after .version.");
    ptx_next(p);
    uint32_t *part = &p->owner->module.version_major;
    for (uint32_t i = 0; i < token.length; i++) {
        char c = token.text[i];
        if (c == '.') {
            part = &p->owner->module.version_minor;
        } else if (c < '0' || c > '9' || *part > 9999) {
            ptx_fail(p, &token, "Expected a version such as 9.0 after .version.");
        } else {
            *part = *part * 10 + (uint32_t)(c - '0');
        }
    }
}

/* The version of PTX that introduced an architecture, as tens and ones. PTX ISA 9.0, 11.1.2. */
static const struct architecture {
    const char *name;
    uint32_t since;
} architectures[] = {
    {"sm_50", 40},  {"sm_52", 41},  {"sm_53", 42},   {"sm_60", 50},   {"sm_61", 50},
    {"sm_62", 50},  {"sm_70", 60},  {"sm_72", 61},   {"sm_75", 63},   {"sm_80", 70},
    {"sm_86", 71},  {"sm_87", 74},  {"sm_88", 90},   {"sm_89", 78},   {"sm_90", 78},
    {"sm_90a", 80}, {"sm_100", 86}, {"sm_100a", 86}, {"sm_101", 86},  {"sm_101a", 86},
    {"sm_103", 88}, {"sm_110", 90}, {"sm_120", 87},  {"sm_120a", 87}, {"sm_121", 88},
};

/* NVIDIA's compiler refuses an architecture that is newer than the module's version of PTX. */
static void check_architecture(struct ptx_parser *p, const struct ptx_token *token)
{
    const struct ptx_module *module = &p->owner->module;
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        const uint32_t since = architectures[i].since;
        if (strcmp(module->target, architectures[i].name) == 0 &&
            module->version_major * 10 + module->version_minor < since)
            ptx_fail(p, token, "%s needs PTX %u.%u or newer, and this is PTX %u.%u.",
                     module->target, since / 10, since % 10, module->version_major,
                     module->version_minor);
    }
}

/* .target sm_75, debug: the first word is the architecture; the others have no effect here. */
static void parse_target(struct ptx_parser *p)
{
    struct ptx_token token = ptx_expect(p, PTX_TOKEN_WORD, "an architecture such as sm_75");
    p->owner->module.target = ptx_copy_text(p, token.text, token.length);
    check_architecture(p, &token);
    while (ptx_take_sign(p, ',')) ptx_expect(p, PTX_TOKEN_WORD, "a target option");
}

/* Without the directive addresses have 32 bits (PTX ISA, ".address_size"). PTX before 2.3 has no
 * such directive, and a 64-bit driver gives it its own address size. */
static void set_address_size(struct ptx_module *module)
{
    const bool could_not_say =
        module->version_major < 2 || (module->version_major == 2 && module->version_minor < 3);
    if (module->address_size == 0) module->address_size = could_not_say ? 64 : 32;
}

static void parse_address_size(struct ptx_parser *p)
{
    struct ptx_token token = ptx_expect(p, PTX_TOKEN_INTEGER, "32 or 64 after .address_size");
    if (token.value != 32 && token.value != 64)
        ptx_fail(p, &token, "An address has 32 or 64 bits, not %llu.",
                 (unsigned long long)token.value);
    p->owner->module.address_size = (uint32_t)token.value;
}

/* .file number "path" [, time, size] */
static void parse_file(struct ptx_parser *p)
{
    struct ptx_token number = ptx_expect(p, PTX_TOKEN_INTEGER, "a file number after .file");
    struct ptx_token path = ptx_expect(p, PTX_TOKEN_STRING, "a path in quotes");
    while (ptx_take_sign(p, ',')) ptx_expect(p, PTX_TOKEN_INTEGER, "the file's time or size");
    if (number.value > PTX_MAX_FILES)
        ptx_fail(p, &number, "A file number is at most %d.", PTX_MAX_FILES);
    while (p->files.count <= number.value) ptx_push(p, &p->files, sizeof(const char *));
    ((const char **)p->files.items)[number.value] = ptx_copy_text(p, path.text, path.length);
}

/* Skips .section .debug_info { ... }, which only debuggers need. */
static void skip_section(struct ptx_parser *p)
{
    struct ptx_token start = p->token;
    while (!ptx_at_sign(p, '{') && p->token.kind != PTX_TOKEN_END) ptx_next(p);
    uint32_t depth = 0;
    do {
        if (p->token.kind == PTX_TOKEN_END)
            ptx_fail(p, &start, "The section is never closed by `}`.");
        if (ptx_at_sign(p, '{')) depth++;
        if (ptx_at_sign(p, '}')) depth--;
        ptx_next(p);
    } while (depth > 0);
}

/* .alias name, function; */
static void parse_alias(struct ptx_parser *p)
{
    struct ptx_token names[2];
    names[0] = ptx_expect(p, PTX_TOKEN_WORD, "a function's name after .alias");
    ptx_expect_sign(p, ',', "between the two names of .alias");
    names[1] = ptx_expect(p, PTX_TOKEN_WORD, "the function that .alias stands for");
    ptx_expect_sign(p, ';', "at the end of .alias");

    struct ptx_function *functions[2];
    for (int i = 0; i < 2; i++) {
        char buffer[64];
        struct ptx_symbol *symbol = ptx_symbol_find(p, names[i].text, names[i].length);
        if (symbol == NULL || symbol->kind != PTX_SYMBOL_FUNCTION)
            ptx_fail(p, &names[i], "%s is not a function.", ptx_show(&names[i], buffer));
        functions[i] = symbol->function;
    }
    if (functions[0]->is_defined || !functions[1]->is_defined)
        ptx_fail(p, &names[0], "An alias is a declared function that stands for a defined one.");
    functions[0]->alias_of = functions[1];
}

static void skip_pragma(struct ptx_parser *p)
{
    do {
        ptx_expect(p, PTX_TOKEN_STRING, "a string after .pragma");
    } while (ptx_take_sign(p, ','));
    ptx_expect_sign(p, ';', "at the end of .pragma");
}

static bool parse_linkage(struct ptx_parser *p, enum ptx_linkage *linkage)
{
    static const struct {
        const char *text;
        enum ptx_linkage linkage;
    } rows[] = {{"visible", PTX_VISIBLE},
                {"extern", PTX_EXTERN},
                {"weak", PTX_WEAK},
                {"common", PTX_COMMON}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (ptx_take_suffix(p, rows[i].text)) {
            *linkage = rows[i].linkage;
            return true;
        }
    }
    return false;
}

static void parse_directive(struct ptx_parser *p)
{
    static const struct {
        const char *text;
        void (*parse)(struct ptx_parser *p);
    } rows[] = {
        {"file", parse_file},      {"loc", ptx_location_parse},
        {"section", skip_section}, {"version", parse_version},
        {"target", parse_target},  {"address_size", parse_address_size},
        {"alias", parse_alias},    {"pragma", skip_pragma},
    };
    char buffer[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (ptx_take_suffix(p, rows[i].text)) {
            rows[i].parse(p);
            return;
        }
    }

    enum ptx_linkage linkage = PTX_PRIVATE;
    while (parse_linkage(p, &linkage)) continue;
    enum ptx_modifier space = ptx_space_of(&p->token);
    if (ptx_take_suffix(p, "entry")) {
        ptx_function_parse(p, linkage, true);
    } else if (ptx_take_suffix(p, "func")) {
        ptx_function_parse(p, linkage, false);
    } else if (space != PTX_ABSENT && space != PTX_SPACE_PARAM && space != PTX_SPACE_LOCAL) {
        ptx_next(p);
        ptx_variables_parse(p, linkage, space);
    } else if (space == PTX_SPACE_LOCAL) {
        ptx_fail(p, &p->token, "A .local variable belongs inside a function.");
    } else {
        ptx_fail(p, &p->token, "Expected a directive such as .func or .global, found %s.",
                 ptx_show(&p->token, buffer));
    }
}

static void finish(struct ptx_parser *p)
{
    struct ptx_module *module = &p->owner->module;
    module->variables = p->variables.items;
    module->variable_count = p->variables.count;
    module->functions = p->functions.items;
    module->function_count = p->functions.count;
    module->files = p->files.items;
    module->file_count = p->files.count;
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = module->functions[i];
        if (!ptx_map_put(&p->owner->functions, &p->owner->arena, function->name,
                         strlen(function->name), function))
            ptx_fail(p, &p->token, "There is not enough memory for this module.");
    }
}

static void parse_module(struct ptx_parser *p)
{
    p->names = ptx_names_all();
    if (p->names == NULL) ptx_fail(p, &p->token, "There is not enough memory for this module.");
    ptx_next(p);
    struct ptx_token first = p->token;
    if (!ptx_at_suffix(p, "version")) ptx_fail(p, &first, "PTX begins with .version.");
    while (p->token.kind != PTX_TOKEN_END) parse_directive(p);
    if (p->owner->module.target == NULL) ptx_fail(p, &first, "The module has no .target.");
    set_address_size(&p->owner->module);
    finish(p);
}

static struct ptx_module *parse(const char *text, size_t length, bool heads,
                                struct ptx_diagnostics *diagnostics)
{
    static const struct ptx_token start = {.line = 1, .column = 1};
    *diagnostics = (struct ptx_diagnostics){.count = 0};
    struct ptx_parser *p = calloc(1, sizeof *p);
    struct ptx_owner *owner = calloc(1, sizeof *owner);
    if (p == NULL || owner == NULL) {
        diagnostics->count = diagnostics->total = 1;
        diagnostics->entries[0] =
            (struct ptx_diagnostic){1, 1, "There is not enough memory for this module."};
        goto failed;
    }
    p->owner = owner;
    p->diagnostics = diagnostics;
    p->token = start;
    p->heads = heads;
    if (setjmp(p->failure)) goto failed;
    if (length > UINT32_MAX / 2) ptx_fail(p, &start, "The text is longer than 2 GiB.");

    const char *end = length ? memchr(text, '\0', length) : NULL;
    p->lexer = (struct ptx_lexer){text, end != NULL ? end : text + length, text, 1};
    parse_module(p);
    if (diagnostics->total > 0) goto failed;
    if (heads)
        owner->parser = p;
    else
        free(p);
    return &owner->module;

failed:
    free(p);
    if (owner != NULL) arena_free(&owner->arena);
    free(owner);
    return NULL;
}

void ptx_begin(void)
{
    (void)ptx_names_all(); /* without memory now, a later parse tries again */
}

struct ptx_module *ptx_parse(const char *text, size_t length, struct ptx_diagnostics *diagnostics)
{
    return parse(text, length, false, diagnostics);
}

struct ptx_module *ptx_parse_heads(const char *text, size_t length,
                                   struct ptx_diagnostics *diagnostics)
{
    return parse(text, length, true, diagnostics);
}

/* The module is the first member of its owner. */
static struct ptx_owner *own(struct ptx_module *module)
{
    return (struct ptx_owner *)(void *)module;
}

bool ptx_function_read(struct ptx_module *module, const struct ptx_function *function,
                       struct ptx_diagnostics *diagnostics)
{
    struct ptx_parser *p = own(module)->parser;
    struct ptx_function *mine = (struct ptx_function *)(uintptr_t)function;
    *diagnostics = (struct ptx_diagnostics){.count = 0};
    if (function->unread == NULL) return true;
    p->diagnostics = diagnostics;
    if (setjmp(p->failure))
        ptx_scopes_abandon(p);
    else
        ptx_body_read(p, mine);
    if (diagnostics->total > 0) return false;
    mine->unread = NULL;
    return true;
}

/* ---- queries --------------------------------------------------------------------------------- */

/* The module is the first member of its owner. */
static const struct ptx_owner *owner_of(const struct ptx_module *module)
{
    return (const struct ptx_owner *)(const void *)module;
}

void ptx_module_limit_registers(struct ptx_module *module, uint32_t most)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        struct ptx_function *function = (struct ptx_function *)(uintptr_t)module->functions[i];
        if (function->is_entry && (function->max_registers == 0 || function->max_registers > most))
            function->max_registers = most;
    }
}

void ptx_module_destroy(struct ptx_module *module)
{
    if (module == NULL) return;
    struct ptx_owner *owner = own(module);
    free(owner->parser);
    arena_free(&owner->arena);
    free(owner);
}

const struct ptx_function *ptx_function_find(const struct ptx_module *module, const char *name)
{
    return ptx_map_get(&owner_of(module)->functions, name, strlen(name));
}
