/* ptx's tables: the names of types, modifiers, special registers and opcodes, and the properties in
 * their rows. The rows of types.def, modifiers.def, special.def and opcodes.def are the only place
 * where a name, its meaning and its rules are written.
 *
 * Source: PTX ISA 9.0.
 */
#ifndef OVERLAP_PTX_TABLES_H
#define OVERLAP_PTX_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the names ------------------------------------------------------------------------------- */

enum ptx_type {
    PTX_NO_TYPE = 0,
#define PTX_TYPE(symbol, text, bits, lanes, kind) PTX_##symbol,
#include "emulator/ptx/types.def"
#undef PTX_TYPE
    PTX_TYPE_COUNT
};

enum ptx_type_kind {
    PTX_KIND_NONE,
    PTX_KIND_BITS,
    PTX_KIND_UNSIGNED,
    PTX_KIND_SIGNED,
    PTX_KIND_FLOAT, /* IEEE half, single, double */
    PTX_KIND_BFLOAT,
    PTX_KIND_SMALL_FLOAT, /* tf32, fp8 and smaller */
    PTX_KIND_PREDICATE,
    PTX_KIND_OPAQUE, /* texture, sampler and surface references */
};

/* A modifier's value: the row of its text. Zero: the modifier is absent. */
enum ptx_modifier {
    PTX_ABSENT = 0,
#define PTX_FIELD(field, meaning)
#define PTX_MODIFIER(symbol, field, text) PTX_##symbol,
#include "emulator/ptx/modifiers.def"
#undef PTX_FIELD
#undef PTX_MODIFIER
    PTX_MODIFIER_COUNT
};

enum ptx_field {
#define PTX_FIELD(field, meaning) PTX_FIELD_##field,
#define PTX_MODIFIER(symbol, field, text)
#include "emulator/ptx/modifiers.def"
#undef PTX_FIELD
#undef PTX_MODIFIER
    PTX_FIELD_COUNT
};

/* One member per field of ptx/modifiers.def: an enum ptx_modifier of that field, or PTX_ABSENT. For
 * a field with one row (ftz, sat, ...) it works as a truth value. */
struct ptx_modifiers {
#define PTX_FIELD(field, meaning) uint16_t field;
#define PTX_MODIFIER(symbol, field, text)
#include "emulator/ptx/modifiers.def"
#undef PTX_FIELD
#undef PTX_MODIFIER
};

enum ptx_special {
#define PTX_SPECIAL(symbol, text, type, components, support, meaning) PTX_SPECIAL_##symbol,
#include "emulator/ptx/special.def"
#undef PTX_SPECIAL
    PTX_SPECIAL_COUNT
};

enum ptx_opcode {
    PTX_OP_UNKNOWN = 0, /* kept as text: a form of an opcode that its row does not have */
#define PTX_OPCODE(symbol, text, shape, types, types2, fields, support, meaning) PTX_OP_##symbol,
#include "emulator/ptx/opcodes.def"
#undef PTX_OPCODE
    PTX_OPCODE_COUNT
};

/* State spaces of variables. Instructions name theirs in modifiers.space (PTX_SPACE_... below and
 * the rows of field `space` are the same enumerators). */
#define PTX_SPACE_REG PTX_MODIFIER_COUNT /* a formal parameter that is a register */

/* ---- properties of the rows ------------------------------------------------------------------ */

const char *ptx_type_name(enum ptx_type type); /* "s32"; "" for PTX_NO_TYPE */
uint32_t ptx_type_bits(enum ptx_type type);    /* all lanes together; a predicate has 1 */
uint32_t ptx_type_lanes(enum ptx_type type);   /* 2 for f16x2 */
enum ptx_type_kind ptx_type_kind(enum ptx_type type);
uint32_t ptx_type_bytes(enum ptx_type type); /* in memory */

const char *ptx_opcode_name(enum ptx_opcode op); /* "add", "bar.sync" */
const char *ptx_opcode_meaning(enum ptx_opcode op);
bool ptx_opcode_supported(enum ptx_opcode op); /* by the parser; false: text, no operands */

const char *ptx_modifier_name(enum ptx_modifier modifier);     /* "rn" */
enum ptx_field ptx_modifier_field(enum ptx_modifier modifier); /* not for PTX_ABSENT */
/* Returns a field's value, an enum ptx_modifier. */
uint16_t ptx_modifiers_get(const struct ptx_modifiers *modifiers, enum ptx_field field);

const char *ptx_special_name(enum ptx_special special); /* "%tid" */
enum ptx_type ptx_special_type(enum ptx_special special);
bool ptx_special_supported(enum ptx_special special); /* by the device */

#endif
