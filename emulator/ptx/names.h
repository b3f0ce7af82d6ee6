/* ptx's names: rows by their text, and back (names.c). */
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
    struct ptx_map modifiers; /* to the first row of that text; others follow by search */
};
/* Those of all parsers: filled by the first that asks, and never freed. NULL: no memory. */
const struct ptx_names *ptx_names_all(void);
enum ptx_opcode ptx_opcode_find(const struct ptx_names *names, const char *text, size_t length);
enum ptx_type ptx_type_find(const struct ptx_names *names, const char *text, size_t length);
/* The modifier of that text whose field is in `fields`; PTX_ABSENT: none has it. */
enum ptx_modifier ptx_modifier_find(const struct ptx_names *names, const char *text, size_t length,
                                    uint64_t fields);
/* PTX_SPECIAL_COUNT when there is none. `component` gets the number of %envreg5 or %pm1. */
enum ptx_special ptx_special_find(const struct ptx_names *names, const char *text, size_t length,
                                  uint8_t *component);
uint32_t ptx_special_components(enum ptx_special special);
void ptx_modifiers_set(struct ptx_modifiers *modifiers, enum ptx_field field,
                       enum ptx_modifier value);

#endif
