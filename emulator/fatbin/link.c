#include "emulator/fatbin/link.h"

#include <ctype.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---------------------------------------------------------------------------------- */

struct token {
    const char *at;
    size_t length; /* 0: the text has ended */
    bool is_word;  /* an identifier, a directive or a number */
};

static bool continues_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static const char *skip_blanks(const char *at, const char *end)
{
    for (;;) {
        while (at < end && isspace((unsigned char)*at)) at++;
        if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*')) return at;
        const char *close = at[1] == '/' ? memchr(at, '\n', (size_t)(end - at))
                                         : memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
        if (close == NULL) return end;
        at = close + (at[1] == '/' ? 1 : 2);
    }
}

static struct token next_token(const char *at, const char *end)
{
    at = skip_blanks(at, end);
    if (at == end) return (struct token){at, 0, false};
    const char *last = at + 1;
    if (*at == '"') {
        while (last < end && *last != '"') last += *last == '\\' && end - last > 1 ? 2 : 1;
        return (struct token){at, (size_t)(last - at) + (last < end), false};
    }
    if (*at != '.' && !continues_word(*at)) return (struct token){at, 1, false};
    while (last < end && continues_word(*last)) last++;
    return (struct token){at, (size_t)(last - at), true};
}

static bool is(struct token token, const char *text)
{
    return token.length == strlen(text) && memcmp(token.at, text, token.length) == 0;
}

static bool is_identifier(struct token token)
{
    return token.is_word && *token.at != '.' && !isdigit((unsigned char)*token.at);
}

/* ---- statements ------------------------------------------------------------------------------ */

enum kind { NOTHING, HEADER, FILE_NAME, OTHER, FUNCTION, VARIABLE };
enum linkage { PRIVATE, VISIBLE, EXTERN, WEAK, COMMON };

/* One statement at module level, from its first token to its last. */
struct statement {
    const char *start, *end;
    enum kind kind;
    enum linkage linkage;
    struct token name;  /* of a function or a variable */
    bool is_definition; /* a function with a body, a variable that is not .extern */
};

static const char *end_of_line(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    return line != NULL ? line : end;
}

static void classify(struct statement *statement, struct token word)
{
    static const struct {
        const char *word;
        enum kind kind;
        enum linkage linkage;
    } words[] = {
        {".version", HEADER, PRIVATE},      {".target", HEADER, PRIVATE},
        {".address_size", HEADER, PRIVATE}, {".file", FILE_NAME, PRIVATE},
        {".entry", FUNCTION, PRIVATE},      {".func", FUNCTION, PRIVATE},
        {".global", VARIABLE, PRIVATE},     {".const", VARIABLE, PRIVATE},
        {".shared", VARIABLE, PRIVATE},     {".visible", NOTHING, VISIBLE},
        {".extern", NOTHING, EXTERN},       {".weak", NOTHING, WEAK},
        {".common", NOTHING, COMMON},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!is(word, words[i].word)) continue;
        if (words[i].kind != NOTHING && statement->kind == OTHER) statement->kind = words[i].kind;
        if (words[i].linkage != PRIVATE) statement->linkage = words[i].linkage;
    }
}

/* Returns whether `token` is the statement's name. A function's name is the identifier before its
 * parameters or its end, after the parenthesised return values; a variable's is the first
 * identifier outside parentheses. */
static bool takes_name(const struct statement *statement, struct token token, unsigned depth)
{
    bool wanted = statement->kind == FUNCTION || statement->kind == VARIABLE;
    return wanted && depth == 0 && statement->name.length == 0 && is_identifier(token);
}

/* Reads the statement that begins at `at`. At the end of the text its kind is NOTHING; where the
 * text ends inside the statement, its end is NULL. */
static struct statement next_statement(const char *at, const char *end)
{
    struct token token = next_token(at, end);
    struct statement statement = {.start = token.at, .kind = token.length > 0 ? OTHER : NOTHING};
    bool has_body = false;
    for (unsigned depth = 0; token.length > 0; token = next_token(token.at + token.length, end)) {
        if (depth == 0) classify(&statement, token);
        if (statement.kind == HEADER || statement.kind == FILE_NAME) {
            statement.end = end_of_line(token.at, end);
            return statement;
        }
        if (takes_name(&statement, token, depth)) statement.name = token;
        if (is(token, "{") && depth == 0 && statement.kind != VARIABLE) has_body = true;
        if (is(token, "{") || is(token, "(")) depth++;
        if ((is(token, "}") || is(token, ")")) && depth > 0) depth--;
        if (depth == 0 && (is(token, ";") || (is(token, "}") && has_body))) {
            statement.end = token.at + token.length;
            break;
        }
    }
    statement.is_definition = statement.kind == FUNCTION ? has_body : statement.linkage != EXTERN;
    return statement;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A module-level name: a name of any unit read so far, or a private name of the current unit. */
struct name {
    struct token token;   /* must be first: the tree compares it */
    enum linkage linkage; /* of its definition; EXTERN: no unit defines it */
    bool is_declared, is_written;
    size_t unit;     /* index of the unit that defines it */
    bool is_renamed; /* a private name that an earlier unit has as well */
};

static int by_text(const void *a, const void *b)
{
    const struct token *first = a, *second = b;
    size_t shorter = first->length < second->length ? first->length : second->length;
    int order = memcmp(first->at, second->at, shorter);
    return order != 0 ? order : (first->length > second->length) - (first->length < second->length);
}

struct joiner {
    void *names;    /* of all units: a tree of struct name, see tsearch(3) */
    void *privates; /* of the current unit, in the same form */
    FILE *out;
    size_t unit;
    unsigned file_base, file_count; /* .file numbers given to earlier units; to all units */
    char *why;
    size_t why_size;
};

static struct name *find_name(void *const *tree, struct token token)
{
    void *node = tfind(&token, tree, by_text);
    return node != NULL ? *(struct name **)node : NULL;
}

/* Returns the name from the tree, inserting it if it is new; NULL: the host has no memory. */
static struct name *make_name(void **tree, struct token token)
{
    struct name *name = calloc(1, sizeof *name);
    if (name == NULL) return NULL;
    name->token = token;
    name->linkage = EXTERN;
    void *node = tsearch(name, tree, by_text);
    if (node != NULL && *(struct name **)node == name) return name;
    free(name);
    return node != NULL ? *(struct name **)node : NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Returns whether the identifier is a private name that has to be renamed. All private names of a
 * unit are known before its first statement is written. */
static bool must_rename(const struct joiner *joiner, struct token token)
{
    const struct name *name = is_identifier(token) ? find_name(&joiner->privates, token) : NULL;
    return name != NULL && name->is_renamed;
}

static bool is_linkage(struct token token)
{
    return is(token, ".visible") || is(token, ".extern") || is(token, ".weak") ||
           is(token, ".common");
}

/* Returns whether `token` ends the head of a definition, which alone makes a declaration. */
static bool ends_head(const struct statement *statement, struct token token)
{
    return is(token, statement->kind == FUNCTION ? "{" : "=") || is(token, ";");
}

/* How much of a statement is written; take_public decides. */
enum extent { NONE, DECLARATION, WHOLE };

/* Writes a statement. A function that another unit defines is declared with the linkage of its
 * definition, a variable as .extern. `name` is NULL unless the statement's name is public. */
static void write_statement(struct joiner *joiner, const struct statement *statement,
                            const struct name *name, enum extent extent)
{
    static const char *const linkages[] = {
        [VISIBLE] = ".visible", [EXTERN] = ".extern", [WEAK] = ".weak", [COMMON] = ".common"};
    const char *at = statement->start;
    bool is_file = false; /* the next number is a .file number */
    const bool declares = name != NULL && (extent == DECLARATION || !statement->is_definition);
    while (at < statement->end) {
        struct token token = next_token(at, statement->end);
        fwrite(at, 1, (size_t)(token.at - at), joiner->out);
        if (extent == DECLARATION && ends_head(statement, token)) {
            fputc(';', joiner->out);
            break;
        }
        if (is_file && token.length > 0 && isdigit((unsigned char)*token.at)) {
            unsigned number = (unsigned)strtoul(token.at, NULL, 10) + joiner->file_base;
            if (number > joiner->file_count) joiner->file_count = number;
            fprintf(joiner->out, "%u", number);
        } else if (declares && is_linkage(token)) {
            fputs(statement->kind == FUNCTION ? linkages[name->linkage] : ".extern", joiner->out);
        } else {
            fwrite(token.at, 1, token.length, joiner->out);
            if (must_rename(joiner, token)) fprintf(joiner->out, "$unit%zu", joiner->unit);
        }
        is_file = is(token, ".file") || is(token, ".loc") || is(token, "inlined_at");
        at = token.at + token.length;
    }
    fputc('\n', joiner->out);
}

static enum fatbin_result refuse(const struct joiner *joiner, enum fatbin_result result,
                                 const char *format, int length, const char *text)
{
    if (joiner->why_size > 0) snprintf(joiner->why, joiner->why_size, format, length, text);
    return result;
}

/* Collects a unit's public names with the linkage of their definitions. A strong definition
 * replaces weak ones; of several weak definitions the first is used. */
static enum fatbin_result read_public_names(struct joiner *joiner, const char *text,
                                            const char *end)
{
    struct statement statement;
    for (; (statement = next_statement(text, end)).kind != NOTHING; text = statement.end) {
        if (statement.end == NULL)
            return refuse(joiner, FATBIN_DAMAGED, "PTX ends in the middle of a statement%.*s", 0,
                          "");
        if (statement.linkage == PRIVATE || statement.name.length == 0) continue;
        struct name *name = make_name(&joiner->names, statement.name);
        if (name == NULL) return FATBIN_NO_MEMORY;
        if (!statement.is_definition) continue;
        if (statement.linkage == VISIBLE && name->linkage == VISIBLE)
            return refuse(joiner, FATBIN_DAMAGED, "%.*s is defined in two translation units",
                          (int)statement.name.length, statement.name.at);
        if (statement.linkage != VISIBLE && name->linkage != EXTERN) continue;
        name->linkage = statement.linkage;
        name->unit = joiner->unit;
    }
    return FATBIN_OK;
}

/* Returns how much of a statement with a public name is written: its definition, and before that
 * one declaration. A definition that another unit's replaces is written as a declaration. */
static enum extent take_public(struct name *name, const struct statement *statement)
{
    if (name->is_written) return NONE;
    bool defines = statement->is_definition && statement->linkage == name->linkage;
    bool wanted = defines || !name->is_declared;
    name->is_written = defines;
    name->is_declared = true;
    return !wanted ? NONE : statement->is_definition && !defines ? DECLARATION : WHOLE;
}

static enum fatbin_result read_private_names(struct joiner *joiner, const char *start,
                                             const char *end)
{
    const char *text = start;
    struct statement statement;
    for (; (statement = next_statement(text, end)).kind != NOTHING; text = statement.end) {
        if (statement.linkage != PRIVATE || statement.name.length == 0) continue;
        struct name *name = make_name(&joiner->privates, statement.name);
        if (name == NULL) return FATBIN_NO_MEMORY;
        const struct name *other = find_name(&joiner->names, statement.name);
        /* What other units declare and none defines must not find it either. */
        name->is_renamed =
            other != NULL && (other->linkage == EXTERN || other->unit != joiner->unit);
    }
    for (text = start; (statement = next_statement(text, end)).kind != NOTHING;
         text = statement.end) {
        if (statement.linkage != PRIVATE || statement.name.length == 0 ||
            must_rename(joiner, statement.name))
            continue;
        struct name *name = make_name(&joiner->names, statement.name);
        if (name == NULL) return FATBIN_NO_MEMORY;
        if (name->linkage == EXTERN) name->linkage = PRIVATE;
        name->unit = joiner->unit;
    }
    return FATBIN_OK;
}

static enum fatbin_result join_unit(struct joiner *joiner, const struct fatbin_unit *unit)
{
    const char *text = unit->text, *end = unit->text + unit->length;
    struct statement statement;
    enum fatbin_result result = read_private_names(joiner, text, end);
    joiner->file_base = joiner->file_count;
    for (; result == FATBIN_OK && (statement = next_statement(text, end)).kind != NOTHING;
         text = statement.end) {
        enum extent extent = statement.kind != HEADER || joiner->unit == 0 ? WHOLE : NONE;
        struct name *name = NULL;
        if (statement.linkage != PRIVATE && statement.name.length > 0) {
            name = find_name(&joiner->names, statement.name);
            extent = take_public(name, &statement);
        }
        if (extent != NONE) write_statement(joiner, &statement, name, extent);
    }
    tdestroy(joiner->privates, free);
    joiner->privates = NULL;
    return result;
}

enum fatbin_result fatbin_link(const struct fatbin *fatbin, struct fatbin_unit *joined, char *why,
                               size_t why_size)
{
    struct joiner joiner = {.why = why, .why_size = why_size};
    enum fatbin_result result = FATBIN_OK;

    *joined = (struct fatbin_unit){0};
    if (why_size > 0) *why = '\0';
    joiner.out = open_memstream(&joined->text, &joined->length);
    if (joiner.out == NULL) return FATBIN_NO_MEMORY;
    for (; result == FATBIN_OK && joiner.unit < fatbin->count; joiner.unit++) {
        const struct fatbin_unit *unit = &fatbin->units[joiner.unit];
        result = read_public_names(&joiner, unit->text, unit->text + unit->length);
    }
    for (joiner.unit = 0; result == FATBIN_OK && joiner.unit < fatbin->count; joiner.unit++) {
        const struct fatbin_unit *unit = &fatbin->units[joiner.unit];
        if (unit->arch > joined->arch) joined->arch = unit->arch;
        result = join_unit(&joiner, unit);
    }
    if (fclose(joiner.out) != 0 && result == FATBIN_OK) result = FATBIN_NO_MEMORY;
    tdestroy(joiner.names, free);
    if (result == FATBIN_NO_MEMORY && why_size > 0)
        snprintf(why, why_size, "no memory to link the PTX of %zu units", fatbin->count);
    if (result != FATBIN_OK) {
        free(joined->text);
        *joined = (struct fatbin_unit){0};
    }
    return result;
}

bool fatbin_mark_linked(struct fatbin_unit *joined)
{
    char *text = realloc(joined->text, joined->length + sizeof FATBIN_LINKED);
    if (text == NULL) return false;
    memcpy(text + joined->length, FATBIN_LINKED, sizeof FATBIN_LINKED);
    joined->text = text;
    joined->length += sizeof FATBIN_LINKED - 1;
    return true;
}

bool fatbin_is_linked(const struct fatbin_unit *unit)
{
    const size_t length = sizeof FATBIN_LINKED - 1;
    return unit->length >= length &&
           memcmp(unit->text + unit->length - length, FATBIN_LINKED, length) == 0;
}
