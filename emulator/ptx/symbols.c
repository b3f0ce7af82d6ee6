/* Names in nested scopes: the module's, a function's, and its blocks'. An inner name hides an outer
 * one. Labels may be used before they are defined; a register of a range gets its index at its
 * first use. */
#include "emulator/ptx/internal.h"

#include <string.h>

#define BUCKETS_START 256u
#define GIVEN_START 64u

static void insert(struct ptx_symbols *symbols, struct ptx_symbol *symbol)
{
    struct ptx_symbol **bucket = &symbols->buckets[symbol->hash & (symbols->bucket_count - 1)];
    symbol->next = *bucket;
    *bucket = symbol;
}

/* Inserts the oldest first, so that inner names stay in front of outer ones. */
static void grow(struct ptx_parser *p)
{
    struct ptx_symbols *symbols = &p->symbols;
    uint32_t count = symbols->bucket_count ? symbols->bucket_count * 2 : BUCKETS_START;
    symbols->buckets = ptx_new(p, count, sizeof *symbols->buckets);
    symbols->bucket_count = count;
    struct ptx_symbol **stack = symbols->stack.items;
    for (uint32_t i = 0; i < symbols->stack.count; i++) insert(symbols, stack[i]);
}

struct ptx_symbol *ptx_symbol_find(const struct ptx_parser *p, const char *name, size_t length)
{
    const struct ptx_symbols *symbols = &p->symbols;
    if (symbols->bucket_count == 0) return NULL;
    uint32_t hash = (uint32_t)hash_bytes(name, length);
    struct ptx_symbol *symbol = symbols->buckets[hash & (symbols->bucket_count - 1)];
    while (symbol != NULL && !(symbol->hash == hash && symbol->length == length &&
                               memcmp(symbol->name, name, length) == 0))
        symbol = symbol->next;
    return symbol;
}

struct ptx_symbol *ptx_symbol_add(struct ptx_parser *p, const struct ptx_token *name,
                                  enum ptx_symbol_kind kind)
{
    char buffer[64];
    struct ptx_symbols *symbols = &p->symbols;
    const struct ptx_symbol *old = ptx_symbol_find(p, name->text, name->length);
    if (old != NULL && old->scope == symbols->scope)
        ptx_complain(p, name->line, name->column, "%s is declared twice.", ptx_show(name, buffer));
    if (symbols->stack.count >= symbols->bucket_count) grow(p);

    struct ptx_symbol *symbol = ptx_new(p, 1, sizeof *symbol);
    symbol->name = ptx_copy_text(p, name->text, name->length);
    symbol->length = name->length;
    symbol->hash = (uint32_t)hash_bytes(name->text, name->length);
    symbol->kind = kind;
    symbol->scope = symbols->scope;
    insert(symbols, symbol);
    *(struct ptx_symbol **)ptx_push(p, &symbols->stack, sizeof symbol) = symbol;
    return symbol;
}

void ptx_scope_open(struct ptx_parser *p, const struct ptx_token *at)
{
    struct ptx_symbols *symbols = &p->symbols;
    if (symbols->scope == PTX_MAX_SCOPES)
        ptx_fail(p, at, "Blocks are nested deeper than %d.", PTX_MAX_SCOPES);
    symbols->scope++;
    symbols->scope_start[symbols->scope] = symbols->stack.count;
    p->body.reference_start[symbols->scope] = p->body.references.count;
}

/* Resolves references to labels that this scope defines. The others move to the enclosing scope; in
 * the outermost one they are an error. */
static void resolve(struct ptx_parser *p)
{
    struct ptx_list *list = &p->body.references;
    struct ptx_reference *references = list->items;
    uint32_t kept = p->body.reference_start[p->symbols.scope];
    for (uint32_t i = kept; i < list->count; i++) {
        struct ptx_reference *reference = &references[i];
        const struct ptx_symbol *symbol = ptx_symbol_find(p, reference->name, reference->length);
        if (symbol != NULL && symbol->kind == PTX_SYMBOL_LABEL &&
            symbol->scope == p->symbols.scope) {
            *reference->target = ((struct ptx_label *)p->body.labels.items)[symbol->index].target;
        } else if (p->symbols.scope > 1) {
            references[kept++] = *reference;
        } else {
            ptx_complain(p, reference->line, reference->column, "There is no label `%.*s` here.",
                         reference->length < 48 ? (int)reference->length : 48, reference->name);
        }
    }
    list->count = kept;
}

static void drop_scope(struct ptx_symbols *symbols)
{
    struct ptx_symbol **stack = symbols->stack.items;
    uint32_t start = symbols->scope_start[symbols->scope];
    while (symbols->stack.count > start) {
        struct ptx_symbol *symbol = stack[--symbols->stack.count];
        symbols->buckets[symbol->hash & (symbols->bucket_count - 1)] = symbol->next;
    }
    symbols->scope--;
}

void ptx_scope_close(struct ptx_parser *p)
{
    resolve(p);
    drop_scope(&p->symbols);
}

void ptx_scopes_abandon(struct ptx_parser *p)
{
    while (p->symbols.scope > 0) drop_scope(&p->symbols);
}

void ptx_reference_add(struct ptx_parser *p, const struct ptx_token *name, uint32_t *target)
{
    struct ptx_reference *reference = ptx_push(p, &p->body.references, sizeof *reference);
    *reference = (struct ptx_reference){target, name->text, name->length, name->line, name->column};
}

/* ---- registers ------------------------------------------------------------------------------- */

uint32_t ptx_register_add(struct ptx_parser *p, const char *name, enum ptx_type type)
{
    if (p->body.registers.count >= PTX_MAX_REGISTERS)
        ptx_fail(p, &p->token, "A function uses more than %d registers.", PTX_MAX_REGISTERS);
    struct ptx_register *fresh = ptx_push(p, &p->body.registers, sizeof *fresh);
    *fresh = (struct ptx_register){name, type};
    return p->body.registers.count - 1;
}

static struct ptx_given *given_slot(struct ptx_given *given, uint32_t capacity, uint64_t key)
{
    uint32_t i = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (capacity - 1);
    while (given[i].key != 0 && given[i].key != key) i = (i + 1) & (capacity - 1);
    return &given[i];
}

static void grow_given(struct ptx_parser *p)
{
    struct ptx_body *body = &p->body;
    uint32_t capacity = body->given_capacity ? body->given_capacity * 2 : GIVEN_START;
    struct ptx_given *given = ptx_new(p, capacity, sizeof *given);
    for (uint32_t i = 0; i < body->given_capacity; i++) {
        if (body->given[i].key) *given_slot(given, capacity, body->given[i].key) = body->given[i];
    }
    body->given = given;
    body->given_capacity = capacity;
}

/* Returns the index of register `number` of a range, which is created at its first use. */
static uint32_t range_register(struct ptx_parser *p, const struct ptx_symbol *range,
                               uint32_t number, const struct ptx_token *name)
{
    struct ptx_body *body = &p->body;
    uint64_t key = (uint64_t)(range->index + 1) << 32 | number;
    if (body->given_count >= body->given_capacity / 2) grow_given(p);
    struct ptx_given *slot = given_slot(body->given, body->given_capacity, key);
    if (slot->key == 0) {
        slot->key = key;
        slot->index = ptx_register_add(p, ptx_copy_text(p, name->text, name->length), range->type);
        body->given_count++;
    }
    return slot->index;
}

/* Returns the innermost range of that name that has a register `number`; NULL: there is none. A
 * block's own %r<3> hides the first three of the function's %r<99>. */
static const struct ptx_symbol *range_with(const struct ptx_parser *p, const char *name,
                                           size_t length, uint64_t number)
{
    const struct ptx_symbol *symbol = ptx_symbol_find(p, name, length);
    for (const struct ptx_symbol *at = symbol; at != NULL; at = at->next)
        if (at->hash == symbol->hash && at->length == length &&
            memcmp(at->name, name, length) == 0 && at->kind == PTX_SYMBOL_RANGE &&
            number < at->count)
            return at;
    return NULL;
}

bool ptx_register_find(struct ptx_parser *p, const struct ptx_token *name, uint32_t *index,
                       uint32_t *count)
{
    *count = 1;
    struct ptx_symbol *symbol = ptx_symbol_find(p, name->text, name->length);
    if (symbol != NULL) {
        if (symbol->kind == PTX_SYMBOL_REGISTER && symbol->index == PTX_NO_REGISTER) {
            symbol->index = p->body.registers.count;
            for (uint32_t i = 0; i < symbol->count; i++)
                ptx_register_add(p, symbol->name, symbol->type);
        }
        *index = symbol->index;
        *count = symbol->count;
        return symbol->kind == PTX_SYMBOL_REGISTER;
    }

    uint32_t digits = 0; /* digits at the end of the name */
    while (digits < name->length - 1 && digits < 9 &&
           name->text[name->length - 1 - digits] >= '0' &&
           name->text[name->length - 1 - digits] <= '9')
        digits++;
    /* %r10 may be number 10 of %r<..> or number 0 of %r1<..>: tries the longest number first */
    for (; digits > 0; digits--) {
        const char *first = &name->text[name->length - digits];
        uint64_t value = 0;
        for (uint32_t i = 0; i < digits; i++) value = value * 10 + (uint64_t)(first[i] - '0');
        if (*first == '0' && digits > 1) continue;
        const struct ptx_symbol *range = range_with(p, name->text, name->length - digits, value);
        if (range != NULL) {
            *index = range_register(p, range, (uint32_t)value, name);
            return true;
        }
    }
    return false;
}
