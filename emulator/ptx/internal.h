/* ptx, inside: which file parses, checks or prints what. Private to emulator/ptx.
 *
 * A function that complains records a diagnostic and lets the parse continue (ptx_complain in
 * parser.h).
 */
#ifndef OVERLAP_PTX_INTERNAL_H
#define OVERLAP_PTX_INTERNAL_H

#include "emulator/ptx/parser.h"

/* ptx/symbols.c */
void ptx_scope_open(struct ptx_parser *p, const struct ptx_token *at);
void ptx_scope_close(struct ptx_parser *p);
void ptx_scopes_abandon(struct ptx_parser *p); /* back to the module's scope, after a failure */
struct ptx_symbol *ptx_symbol_find(const struct ptx_parser *p, const char *name, size_t length);
/* Adds a symbol that hides an earlier one. Complains when the name exists in the same scope. */
struct ptx_symbol *ptx_symbol_add(struct ptx_parser *p, const struct ptx_token *name,
                                  enum ptx_symbol_kind kind);
/* Finds a register by its name, single or of a range. Returns false when there is none. */
bool ptx_register_find(struct ptx_parser *p, const struct ptx_token *name, uint32_t *index,
                       uint32_t *count);
uint32_t ptx_register_add(struct ptx_parser *p, const char *name, enum ptx_type type); /* index */
void ptx_reference_add(struct ptx_parser *p, const struct ptx_token *name, uint32_t *target);

/* ptx/constant.c: constant expressions (PTX ISA 4.5) */
struct ptx_constant {
    bool is_float;
    bool is_single; /* is_float: written as 0f, `bits` has 32 bits; otherwise those of a double */
    bool is_unsigned;
    uint64_t bits;
};
bool ptx_at_constant(const struct ptx_parser *p);
struct ptx_constant ptx_constant_parse(struct ptx_parser *p);
int64_t ptx_constant_integer(struct ptx_parser *p, const char *what); /* must be an integer */
/* Converts a float constant to the bits of a type. Returns false when the type is not a float
 * type. */
bool ptx_constant_to_float(const struct ptx_constant *constant, enum ptx_type type, uint64_t *bits);

/* ptx/parse_variable.c */
enum ptx_modifier ptx_space_of(const struct ptx_token *token);  /* of a declaration, or ABSENT */
void ptx_attributes_parse(struct ptx_parser *p, bool *managed); /* from behind .attribute */
/* From behind the space to behind the `;`. Adds to the module's or the body's variables. */
void ptx_variables_parse(struct ptx_parser *p, enum ptx_linkage linkage, unsigned space);
/* Parses one formal parameter, from its space on. */
struct ptx_variable *ptx_parameter_parse(struct ptx_parser *p);
void ptx_registers_parse(struct ptx_parser *p); /* from behind .reg to behind the `;` */

/* ptx/initialiser.c: values are kept as runs of bytes written one after another, in order of their
 * offsets; `contents` of a variable points to the first run. */
struct ptx_run {
    uint64_t offset;
    uint64_t length;
    uint64_t capacity;
    unsigned char *bytes;
    struct ptx_run *next;
};
/* From behind the `=`. Completes the size of `name[]`. */
void ptx_initialiser_parse(struct ptx_parser *p, struct ptx_variable *variable);

/* ptx/parse_function.c */
void ptx_function_parse(struct ptx_parser *p, enum ptx_linkage linkage, bool is_entry);
/* (returns) name (parameters), where either list may be missing; the name is not copied. */
void ptx_prototype_parse(struct ptx_parser *p, struct ptx_prototype *prototype,
                         struct ptx_token *name, bool is_entry);

/* ptx/parse_body.c */
void ptx_body_parse(struct ptx_parser *p, struct ptx_function *function);
void ptx_body_skip(struct ptx_parser *p, struct ptx_function *function); /* for ptx_body_read */
void ptx_body_read(struct ptx_parser *p, struct ptx_function *function);
void ptx_location_parse(struct ptx_parser *p); /* from behind .loc */

/* ptx/parse_instruction.c */
void ptx_instruction_parse(struct ptx_parser *p);
/* Appends to the body, at the location of the latest .loc. */
void ptx_instruction_place(struct ptx_parser *p, struct ptx_instruction *instruction);

/* ptx/parse_operand.c */
/* Parses one operand. `kind` is its letter in the shape, or 0. The name of a label or table is
 * returned in `name`, to be resolved by the caller, who knows where the operand is stored. */
struct ptx_operand ptx_operand_parse(struct ptx_parser *p, char kind, struct ptx_token *name);
/* Parses what follows `call` and its modifiers. */
const struct ptx_call *ptx_call_parse(struct ptx_parser *p);

/* ptx/element.c */
/* Parses `[index]` behind an array's name. Returns the element as an address, or as a symbol. */
struct ptx_operand ptx_element_parse(struct ptx_parser *p, struct ptx_operand array, bool address);

/* ptx/parts.c: parts of registers, `.b0`, `.h10`, of video instructions */
uint16_t ptx_parts_parse(struct ptx_parser *p); /* at the token behind a register; 0: no parts */
/* Complains unless the opcode accepts the operand's parts there. */
void ptx_parts_check(struct ptx_parser *p, const struct ptx_instruction *instruction,
                     const struct ptx_token *at, const struct ptx_operand *operand,
                     bool destination);
/* Complains about missing modifiers of a video instruction, and those that exclude each other. */
void ptx_video_check(struct ptx_parser *p, const struct ptx_instruction *instruction,
                     const struct ptx_token *at);
/* Writes `.h10`, or nothing. */
void ptx_parts_print(uint16_t parts, char text[8]);

/* ptx/rules.c */
/* Returns whether PTX has this modifier or type for the opcode but the parser does not: the
 * instruction is then kept as text. */
bool ptx_is_beyond(const struct ptx_parser *p, enum ptx_opcode op, const struct ptx_token *word);
/* Complains about modifiers that are missing or that the instruction's types do not have. */
void ptx_rules_check(struct ptx_parser *p, const struct ptx_instruction *instruction,
                     const struct ptx_token *at);

/* ptx/validate.c */
/* Converts an immediate to the bits of `type`; `what` names the instruction or call in messages. */
void ptx_immediate_convert(struct ptx_parser *p, const struct ptx_token *at, const char *what,
                           struct ptx_operand *operand, enum ptx_type type);
/* Complains about what does not fit the row, and converts immediates to their operand's type. */
void ptx_validate(struct ptx_parser *p, struct ptx_instruction *instruction,
                  struct ptx_operand *operands, const struct ptx_token *at);

#endif
