/* Initial values of variables (PTX ISA 5.4.4): numbers become bytes, addresses become relocations.
 * Contents are kept as runs, so that the cost of a large array with few values depends on the
 * values only. */
#include "emulator/ptx/internal.h"

#include <string.h>

struct initialiser {
    struct ptx_variable *variable;
    uint64_t element_bytes;
    struct ptx_run *first;
    struct ptx_run *last;
    struct ptx_list relocations; /* struct ptx_relocation */
    uint32_t depth;
    uint64_t highest; /* number of elements reached, for `name[]` */
};

static void put_bytes(struct ptx_parser *p, struct initialiser *state, uint64_t offset,
                      uint64_t value)
{
    struct ptx_run *run = state->last;
    uint64_t count = state->element_bytes;
    if (run == NULL || run->offset + run->length != offset) {
        run = ptx_new(p, 1, sizeof *run);
        run->offset = offset;
        if (state->last != NULL) state->last->next = run;
        if (state->first == NULL) state->first = run;
        state->last = run;
    }
    if (run->length + count > run->capacity) {
        uint64_t capacity = run->capacity ? run->capacity * 2 : 64;
        unsigned char *bytes = ptx_new(p, capacity, 1);
        if (run->length) memcpy(bytes, run->bytes, run->length);
        run->bytes = bytes;
        run->capacity = capacity;
    }
    for (uint64_t i = 0; i < count; i++)
        run->bytes[run->length++] = i < 8 ? (unsigned char)(value >> 8 * i) : 0;
}

/* Parses symbol, symbol+4, generic(symbol)+4, generic(symbol+4). */
static void parse_address(struct ptx_parser *p, struct ptx_relocation *relocation)
{
    char buffer[64];
    struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "the name of a variable or function");
    if (ptx_token_is(&name, "generic") && ptx_take_sign(p, '(')) {
        if (relocation->generic) ptx_fail(p, &name, "generic() inside of generic().");
        relocation->generic = true;
        parse_address(p, relocation);
        ptx_expect_sign(p, ')', "after generic(");
    } else {
        const struct ptx_symbol *symbol = ptx_symbol_find(p, name.text, name.length);
        if (symbol != NULL && symbol->kind == PTX_SYMBOL_VARIABLE) {
            relocation->variable = symbol->variable;
        } else if (symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION) {
            relocation->function = symbol->function;
        } else {
            ptx_fail(p, &name, "%s is not declared.", ptx_show(&name, buffer));
        }
    }
    if (ptx_at_sign(p, '+') || ptx_at_sign(p, '-'))
        relocation->addend = (int64_t)((uint64_t)relocation->addend +
                                       (uint64_t)ptx_constant_integer(p, "An offset"));
}

/* Parses 0xFF00(symbol): some bytes of an address. */
static void parse_mask(struct ptx_parser *p, const struct ptx_token *at, uint64_t mask,
                       struct ptx_relocation *relocation)
{
    uint32_t shift = 0;
    while (shift < 64 && (mask >> shift & 0xFF) == 0) shift += 8;
    uint64_t kept = shift < 64 ? mask >> shift : 0;
    uint32_t bytes = 0;
    while (bytes < 8 && (kept >> 8 * bytes & 0xFF) == 0xFF) bytes++;
    if (bytes == 0 || (bytes < 8 && kept >> 8 * bytes != 0))
        ptx_fail(p, at, "The mask of an address chooses whole bytes, one after another.");
    if (bytes > relocation->bytes)
        ptx_fail(p, at, "The mask chooses more bytes than an element has.");
    relocation->shift = shift;
    relocation->bytes = bytes;
    ptx_expect_sign(p, '(', "after the mask of an address");
    parse_address(p, relocation);
    ptx_expect_sign(p, ')', "after the masked address");
}

static uint64_t number_bits(struct ptx_parser *p, const struct ptx_token *at, enum ptx_type type,
                            const struct ptx_constant *constant)
{
    uint64_t bits = constant->bits;
    enum ptx_type_kind kind = ptx_type_kind(type);
    bool float_type = kind == PTX_KIND_FLOAT || kind == PTX_KIND_BFLOAT;
    if (constant->is_float && float_type) {
        if (!ptx_constant_to_float(constant, type, &bits))
            ptx_fail(p, at, "A .%s variable is initialised with integers.", ptx_type_name(type));
    } else if (constant->is_float && kind != PTX_KIND_BITS) {
        ptx_fail(p, at, "A .%s variable takes no floating-point number.", ptx_type_name(type));
    } else if (!constant->is_float && float_type && ptx_type_lanes(type) == 1 && bits != 0) {
        ptx_fail(p, at, "A .%s variable takes floating-point numbers, such as 0f3F800000.",
                 ptx_type_name(type));
    }
    return bits;
}

static void parse_element(struct ptx_parser *p, struct initialiser *state, uint64_t index)
{
    uint64_t offset = index * state->element_bytes;
    struct ptx_relocation relocation = {.offset = offset, .bytes = (uint32_t)state->element_bytes};
    struct ptx_token at = p->token;
    if (ptx_at_constant(p)) {
        struct ptx_constant constant = ptx_constant_parse(p);
        if (!ptx_at_sign(p, '(')) {
            uint64_t bits = number_bits(p, &at, state->variable->type, &constant);
            put_bytes(p, state, offset, bits);
            return;
        }
        if (constant.is_float) ptx_fail(p, &at, "The mask of an address is an integer.");
        parse_mask(p, &at, constant.bits, &relocation);
    } else {
        parse_address(p, &relocation);
        if (relocation.bytes < 4)
            ptx_fail(p, &at,
                     "An address does not fit in an element of %u bytes; masks such as "
                     "0xFF(symbol) give its parts.",
                     relocation.bytes);
    }
    *(struct ptx_relocation *)ptx_push(p, &state->relocations, sizeof relocation) = relocation;
}

/* Parses a braced list for the elements [first, first + extent); `level` counts dimensions. */
static void parse_list(struct ptx_parser *p, struct initialiser *state, uint32_t level,
                       uint64_t first, uint64_t extent)
{
    const struct ptx_variable *variable = state->variable;
    uint64_t child = variable->vector;
    for (uint32_t i = level + 1; i < variable->dimensions; i++) child *= variable->dimension[i];
    if (level >= variable->dimensions) child = 1;
    if (++state->depth > PTX_MAX_DIMENSIONS + 2)
        ptx_fail(p, &p->token, "The braces are nested deeper than the array.");
    uint64_t position = 0;
    while (!ptx_at_sign(p, '}')) {
        struct ptx_token at = p->token;
        bool nested = ptx_take_sign(p, '{');
        uint64_t step = nested ? child : 1;
        if (step == 0 || position > extent || extent - position < step)
            ptx_fail(p, &at, "There are more values than the variable has room for.");
        if (nested) {
            if (position % child != 0)
                ptx_fail(p, &at, "A braced row begins in the middle of another.");
            parse_list(p, state, level + 1, first + position, child);
        } else {
            parse_element(p, state, first + position);
        }
        position += step;
        if (!ptx_take_sign(p, ',')) break;
    }
    if (state->highest < first + position) state->highest = first + position;
    ptx_expect_sign(p, '}', "at the end of the values");
    state->depth--;
}

static void skip_braces(struct ptx_parser *p)
{
    struct ptx_token start = p->token;
    uint32_t depth = 0;
    do {
        if (p->token.kind == PTX_TOKEN_END) ptx_fail(p, &start, "The values have no end.");
        if (ptx_at_sign(p, '{')) depth++;
        if (ptx_at_sign(p, '}')) depth--;
        ptx_next(p);
    } while (depth > 0);
}

void ptx_initialiser_parse(struct ptx_parser *p, struct ptx_variable *variable)
{
    if (ptx_type_kind(variable->type) == PTX_KIND_OPAQUE) { /* settings of a sampler */
        skip_braces(p);
        return;
    }
    struct ptx_token at = p->token;
    struct initialiser state = {.variable = variable,
                                .element_bytes = ptx_type_bytes(variable->type)};
    uint64_t room = variable->is_unsized ? PTX_MAX_BYTES : variable->size / state.element_bytes;
    variable->initialised = true;
    if (ptx_take_sign(p, '{')) {
        parse_list(p, &state, 0, 0, room);
    } else if (variable->is_array || variable->vector != 1) {
        ptx_fail(p, &at, "An array's values stand in braces.");
    } else {
        parse_element(p, &state, 0);
    }
    if (variable->is_unsized) {
        uint64_t row = variable->vector;
        for (uint32_t i = 1; i < variable->dimensions; i++) row *= variable->dimension[i];
        uint64_t rows = row ? (state.highest + row - 1) / row : 0;
        uint64_t *dimension = ptx_new(p, variable->dimensions, sizeof *dimension);
        memcpy(dimension, variable->dimension, variable->dimensions * sizeof *dimension);
        dimension[0] = rows;
        variable->dimension = dimension;
        variable->size = rows * row * state.element_bytes;
        variable->is_unsized = false;
    }
    variable->contents = state.first;
    variable->relocations = state.relocations.items;
    variable->relocation_count = state.relocations.count;
}

void ptx_variable_contents(const struct ptx_variable *variable, unsigned char *bytes)
{
    memset(bytes, 0, variable->size);
    for (const struct ptx_run *run = variable->contents; run != NULL; run = run->next)
        memcpy(bytes + run->offset, run->bytes, run->length);
}
