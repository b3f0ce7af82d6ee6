/* The tables, by name and by number. */
#include "emulator/ptx/internal.h"

#include <pthread.h>
#include <string.h>

struct type_row {
    const char *text;
    uint8_t bits;
    uint8_t lanes;
    enum ptx_type_kind kind;
};
static const struct type_row types[PTX_TYPE_COUNT] = {
    {"", 0, 0, PTX_KIND_NONE},
#define PTX_TYPE(symbol, text, bits, lanes, kind) {text, bits, lanes, PTX_KIND_##kind},
#include "emulator/ptx/types.def"
#undef PTX_TYPE
};
_Static_assert(PTX_TYPE_COUNT <= 64, "sets of types are 64 bits");
_Static_assert(PTX_FIELD_COUNT <= 64, "sets of fields are 64 bits");
_Static_assert(PTX_MODIFIER_COUNT < UINT16_MAX, "a modifier is two bytes");
_Static_assert(sizeof(struct ptx_modifiers) == 2 * PTX_FIELD_COUNT,
               "two bytes per field, in order");

struct modifier_row {
    const char *text;
    enum ptx_field field;
};
static const struct modifier_row modifiers[PTX_MODIFIER_COUNT] = {
    {"", PTX_FIELD_COUNT},
#define PTX_FIELD(field, meaning)
#define PTX_MODIFIER(symbol, field, text) {text, PTX_FIELD_##field},
#include "emulator/ptx/modifiers.def"
#undef PTX_FIELD
#undef PTX_MODIFIER
};

struct special_row {
    const char *text;
    enum ptx_type type;
    uint8_t components;
    bool supported;
};
static const struct special_row specials[PTX_SPECIAL_COUNT] = {
#define PTX_SPECIAL(symbol, text, type, components, support, meaning)                              \
    {text, PTX_##type, components, support},
#include "emulator/ptx/special.def"
#undef PTX_SPECIAL
};

static const struct ptx_opcode_row opcodes[PTX_OPCODE_COUNT] = {
    {"", "-", 0, 0, 0, false, "an opcode that no row has"},
#define PTX_OPCODE(symbol, text, shape, types, types2, fields, support, meaning)                   \
    {text, shape, types, types2, fields, support, meaning},
#include "emulator/ptx/opcodes.def"
#undef PTX_OPCODE
};

/* Alternative spellings of a row's name. */
struct spelling {
    const char *text;
    enum ptx_opcode op;
};
static const struct spelling spellings[] = {
#define PTX_OPCODE(symbol, text, shape, types, types2, fields, support, meaning)
#define PTX_SPELLING(symbol, text) {text, PTX_OP_##symbol},
#include "emulator/ptx/opcodes.def"
#undef PTX_OPCODE
#undef PTX_SPELLING
};

const struct ptx_opcode_row *ptx_opcode_row(enum ptx_opcode op)
{
    return &opcodes[(unsigned)op < PTX_OPCODE_COUNT ? op : PTX_OP_UNKNOWN];
}

static bool put(struct ptx_map *map, struct arena *arena, const char *text, const void *row)
{
    return ptx_map_put(map, arena, text, strlen(text), row);
}

static bool fill(struct ptx_names *names, struct arena *arena)
{
    bool done = true;
    for (unsigned i = 1; i < PTX_TYPE_COUNT; i++)
        done = done && put(&names->types, arena, types[i].text, &types[i]);
    for (unsigned i = 1; i < PTX_OPCODE_COUNT; i++)
        done = done && put(&names->opcodes, arena, opcodes[i].text, &opcodes[i]);
    for (unsigned i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        done = done && put(&names->opcodes, arena, spellings[i].text, &opcodes[spellings[i].op]);
    for (unsigned i = 0; i < PTX_SPECIAL_COUNT; i++)
        done = done && put(&names->specials, arena, specials[i].text, &specials[i]);
    for (unsigned i = PTX_MODIFIER_COUNT - 1; i > 0; i--) /* the first row of a text stays */
        done = done && put(&names->modifiers, arena, modifiers[i].text, &modifiers[i]);
    return done;
}

const struct ptx_names *ptx_names_all(void)
{
    static struct {
        pthread_mutex_t lock;
        struct ptx_names names;
        struct arena arena;
        bool filled;
    } all = {.lock = PTHREAD_MUTEX_INITIALIZER};

    pthread_mutex_lock(&all.lock);
    if (!all.filled && !(all.filled = fill(&all.names, &all.arena))) {
        arena_free(&all.arena);
        all.names = (struct ptx_names){.types = {.count = 0}};
    }
    pthread_mutex_unlock(&all.lock);
    return all.filled ? &all.names : NULL;
}

enum ptx_opcode ptx_opcode_find(const struct ptx_names *names, const char *text, size_t length)
{
    const struct ptx_opcode_row *row = ptx_map_get(&names->opcodes, text, length);
    return row != NULL ? (enum ptx_opcode)(row - opcodes) : PTX_OP_UNKNOWN;
}

enum ptx_type ptx_type_find(const struct ptx_names *names, const char *text, size_t length)
{
    const struct type_row *row = ptx_map_get(&names->types, text, length);
    return row != NULL ? (enum ptx_type)(row - types) : PTX_NO_TYPE;
}

enum ptx_modifier ptx_modifier_find(const struct ptx_names *names, const char *text, size_t length,
                                    uint64_t fields)
{
    const struct modifier_row *row = ptx_map_get(&names->modifiers, text, length);
    for (; row != NULL && row < modifiers + PTX_MODIFIER_COUNT; row++) {
        if ((fields >> row->field & 1) && strlen(row->text) == length &&
            memcmp(row->text, text, length) == 0)
            return (enum ptx_modifier)(row - modifiers);
    }
    return PTX_ABSENT;
}

enum ptx_special ptx_special_find(const struct ptx_names *names, const char *text, size_t length,
                                  uint8_t *component)
{
    *component = 0;
    const struct special_row *row = ptx_map_get(&names->specials, text, length);
    if (row != NULL) return (enum ptx_special)(row - specials);

    /* the row's text without the number of %envreg7, %pm3, %pm3_64 */
    char name[16];
    size_t kept = 0;
    unsigned number = 0, digits = 0;
    if (length >= sizeof name) return PTX_SPECIAL_COUNT;
    for (size_t i = 0; i < length; i++) {
        bool in_number = text[i] >= '0' && text[i] <= '9' && memchr(text, '_', i) == NULL;
        if (in_number) {
            number = number * 10 + (unsigned)(text[i] - '0');
            if (++digits > 2) return PTX_SPECIAL_COUNT;
        } else {
            name[kept++] = text[i];
        }
    }
    row = digits ? ptx_map_get(&names->specials, name, kept) : NULL;
    if (row == NULL || row->components <= 4 || number >= row->components) return PTX_SPECIAL_COUNT;
    *component = (uint8_t)number;
    return (enum ptx_special)(row - specials);
}

uint32_t ptx_special_components(enum ptx_special special)
{
    return specials[special].components;
}

const char *ptx_special_name(enum ptx_special special)
{
    return (unsigned)special < PTX_SPECIAL_COUNT ? specials[special].text : "";
}

enum ptx_type ptx_special_type(enum ptx_special special)
{
    return (unsigned)special < PTX_SPECIAL_COUNT ? specials[special].type : PTX_NO_TYPE;
}

bool ptx_special_supported(enum ptx_special special)
{
    return (unsigned)special < PTX_SPECIAL_COUNT && specials[special].supported;
}

uint16_t ptx_modifiers_get(const struct ptx_modifiers *set, enum ptx_field field)
{
    return ((const uint16_t *)set)[field];
}

void ptx_modifiers_set(struct ptx_modifiers *set, enum ptx_field field, enum ptx_modifier value)
{
    ((uint16_t *)set)[field] = (uint16_t)value;
}

static const struct type_row *type_row(enum ptx_type type)
{
    return &types[(unsigned)type < PTX_TYPE_COUNT ? type : PTX_NO_TYPE];
}

const char *ptx_type_name(enum ptx_type type)
{
    return type_row(type)->text;
}

uint32_t ptx_type_bits(enum ptx_type type)
{
    return type_row(type)->bits;
}

uint32_t ptx_type_lanes(enum ptx_type type)
{
    return type_row(type)->lanes;
}

enum ptx_type_kind ptx_type_kind(enum ptx_type type)
{
    return type_row(type)->kind;
}

uint32_t ptx_type_bytes(enum ptx_type type)
{
    return (type_row(type)->bits + 7u) / 8u;
}

const char *ptx_opcode_name(enum ptx_opcode op)
{
    return ptx_opcode_row(op)->text;
}

const char *ptx_opcode_meaning(enum ptx_opcode op)
{
    return ptx_opcode_row(op)->meaning;
}

bool ptx_opcode_supported(enum ptx_opcode op)
{
    return ptx_opcode_row(op)->supported;
}

const char *ptx_modifier_name(enum ptx_modifier modifier)
{
    return (unsigned)modifier < PTX_MODIFIER_COUNT ? modifiers[modifier].text : "";
}

enum ptx_field ptx_modifier_field(enum ptx_modifier modifier)
{
    return (unsigned)modifier < PTX_MODIFIER_COUNT ? modifiers[modifier].field : PTX_FIELD_COUNT;
}
