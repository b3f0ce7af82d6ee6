/* ptx's names: from the text of a name to its row, and back (names.c). */
#ifndef OVERLAP_PTX_NAMES_H
#define OVERLAP_PTX_NAMES_H

#include "emulator/ptx/store.h"
#include "emulator/ptx/tables.h"

struct ptx_opcode_row {
    const char *text;
    const char *shape;
    uint64_t types;
    uint64_t types2;
    uint64_t fields;
    bool supported;
    const char *meaning;
};
const struct ptx_opcode_row *ptx_opcode_row(enum ptx_opcode op);

/* Values are pointers to rows of ptx/names.c's tables. */
struct ptx_names {
    struct ptx_map opcodes;
    struct ptx_map types;
    struct ptx_map specials;
    struct ptx_map modifiers; /* first row of a text; others are found by search */
};
/* Returns the tables that all parsers share: the first call fills them, and they are never freed.
 * Returns NULL when the host has no memory. */
const struct ptx_names *ptx_names_all(void);
enum ptx_opcode ptx_opcode_find(const struct ptx_names *names, const char *text, size_t length);
enum ptx_type ptx_type_find(const struct ptx_names *names, const char *text, size_t length);
/* Returns the modifier of that text whose field is in `fields`; PTX_ABSENT: there is none. */
enum ptx_modifier ptx_modifier_find(const struct ptx_names *names, const char *text, size_t length,
                                    uint64_t fields);
/* Returns PTX_SPECIAL_COUNT when there is none. `component` receives the number of %envreg5 or
 * %pm1. */
enum ptx_special ptx_special_find(const struct ptx_names *names, const char *text, size_t length,
                                  uint8_t *component);
uint32_t ptx_special_components(enum ptx_special special);
void ptx_modifiers_set(struct ptx_modifiers *modifiers, enum ptx_field field,
                       enum ptx_modifier value);

#endif
