/* ptx: turns PTX text, as nvcc writes it (ISA up to 9.0), into a tree that another module can
 * execute, and back into text.
 *
 * It never executes anything, knows nothing of CUDA's API and trusts nothing that it reads: any
 * bytes give a module or sentences with the PTX line and column. An opcode that has no row, or
 * whose row is flagged unsupported, is not an error: its instruction carries its text, so that
 * whoever executes it can name it.
 *
 * Every row of the tables (ptx/types.def, ptx/modifiers.def, ptx/special.def, ptx/opcodes.def)
 * is the one place where a name, its meaning and its rules are written.
 *
 * Ownership: everything is owned by the module and lives until ptx_module_destroy; strings end
 * with NUL. A module is read-only after ptx_parse and may be read by several threads.
 *
 * Source: PTX ISA 9.0.
 */
#ifndef OVERLAP_PTX_PTX_H
#define OVERLAP_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the tables' names ----------------------------------------------------------------------- */

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

/* A modifier's value: the row that was written. Zero: not written. */
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

/* One byte per field of ptx/modifiers.def: an enum ptx_modifier of that field, or PTX_ABSENT.
 * For a field with one row (ftz, sat, ...) that reads as a truth value. */
struct ptx_modifiers {
#define PTX_FIELD(field, meaning) uint8_t field;
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
    PTX_OP_UNKNOWN = 0, /* carried as text: a form of an opcode that its row has not */
#define PTX_OPCODE(symbol, text, shape, types, types2, fields, support, meaning) PTX_OP_##symbol,
#include "emulator/ptx/opcodes.def"
#undef PTX_OPCODE
    PTX_OPCODE_COUNT
};

/* State spaces of variables. Instructions name theirs in modifiers.space (PTX_SPACE_... below and
 * the rows of field `space` are the same enumerators). */
#define PTX_SPACE_REG PTX_MODIFIER_COUNT /* a formal parameter that is a register */

/* ---- the tree -------------------------------------------------------------------------------- */

struct ptx_function;
struct ptx_variable;

enum ptx_linkage { PTX_PRIVATE, PTX_VISIBLE, PTX_EXTERN, PTX_WEAK, PTX_COMMON };

/* An address, or a part of one, inside an initialiser. `bytes` at `offset` receive bits
 * [shift, shift + 8 * bytes) of (address of the symbol + addend). */
struct ptx_relocation {
    uint64_t offset; /* bytes from the variable's start */
    uint32_t bytes;
    uint32_t shift; /* bits; from mask forms such as 0xFF00(symbol) */
    int64_t addend;
    bool generic; /* generic(symbol): the generic address, not the one inside its state space */
    const struct ptx_variable *variable; /* exactly one of these two */
    const struct ptx_function *function;
};

struct ptx_variable {
    const char *name;
    unsigned space;      /* PTX_SPACE_GLOBAL, _CONST, _SHARED, _LOCAL, _PARAM or PTX_SPACE_REG */
    enum ptx_type type;  /* of one element */
    uint32_t vector;     /* 1, 2, 4 or 8 */
    uint64_t alignment;  /* bytes, a power of two */
    uint64_t size;       /* bytes; 0 for `name[]` */
    bool is_array;       /* has dimensions, or is `name[]` */
    bool is_unsized;     /* `name[]`: dynamic shared memory */
    uint32_t dimensions; /* at most 16 */
    const uint64_t *dimension;
    enum ptx_linkage linkage;
    bool managed;
    bool initialised;
    const struct ptx_relocation *relocations;
    uint32_t relocation_count;
    const void *contents;                /* see ptx_variable_contents */
    const struct ptx_function *function; /* NULL: module scope */
    uint32_t index;                      /* in the module's or the function's variables */
    uint32_t reg;                        /* PTX_SPACE_REG: its register */
    uint32_t first; /* scope: instructions [first, end) of its function; a call sequence's */
    uint32_t end;   /* .param variables with disjoint scopes may share storage */
    uint32_t line;  /* of the PTX */
};

struct ptx_register {
    const char *name; /* as written; not unique where nested scopes reuse it */
    enum ptx_type type;
};

enum ptx_operand_kind {
    PTX_OPERAND_REGISTER,
    PTX_OPERAND_PAIR,      /* `d|p`: reg and second; either may be PTX_SINK */
    PTX_OPERAND_SPECIAL,   /* a special register */
    PTX_OPERAND_IMMEDIATE, /* `bits`, already in the operand's type (see below) */
    PTX_OPERAND_ADDRESS,   /* [register|symbol|nothing + offset] */
    PTX_OPERAND_VECTOR,    /* {a, b}: elements are registers, immediates, or sinks */
    PTX_OPERAND_IMAGE,     /* [a, {b, c}]: elements are ADDRESS a, perhaps ADDRESS of a sampler, and
                              the coordinates; `component` says how many are addresses */
    PTX_OPERAND_SYMBOL,    /* the address of a variable or function, + offset */
    PTX_OPERAND_LABEL,     /* target: an instruction index, at most the function's count */
    PTX_OPERAND_TABLE,     /* .branchtargets */
    PTX_OPERAND_SINK,      /* `_` */
};

#define PTX_NO_REGISTER UINT32_MAX
#define PTX_SINK (UINT32_MAX - 1)

/* An immediate's bits are those of the operand's type in this instruction: cut to its width, then
 * sign-extended to 64 bits for signed types and zero-extended for all others; floats converted to
 * f32, f64, f16 or bf16 bits; for .b types a single (0f...) gives 32 bits and a double 64.
 * Predicates are 0 or 1. Where the operand has no type it is a 64-bit integer. */
struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated;      /* !p on a predicate source; -a of vmad, elsewhere -x is folded */
    bool is_float;     /* of an immediate: was written as one */
    uint8_t component; /* of a special register: 0 x, 1 y, 2 z, 3 w */
    enum ptx_special special;
    uint32_t reg;    /* REGISTER, PAIR; ADDRESS: base or PTX_NO_REGISTER */
    uint32_t second; /* PAIR; VECTOR `{a, b}|p`: p, or PTX_NO_REGISTER */
    uint16_t parts;  /* REGISTER of a video instruction: see ptx_parts_count; 0: all of it */
    uint32_t count;  /* VECTOR, IMAGE */
    uint32_t target; /* LABEL: instruction; TABLE: index into the function's tables */
    uint64_t bits;   /* IMMEDIATE */
    int64_t offset;  /* ADDRESS, SYMBOL: bytes */
    const struct ptx_variable *variable; /* ADDRESS, SYMBOL: or NULL */
    const struct ptx_function *function; /* ADDRESS, SYMBOL: or NULL */
    const struct ptx_operand *elements;  /* VECTOR, IMAGE */
};

/* A function's signature: .callprototype, and every function has one. */
struct ptx_prototype {
    const char *name;
    const struct ptx_variable *const *returns; /* space .param or PTX_SPACE_REG */
    uint32_t return_count;
    const struct ptx_variable *const *parameters;
    uint32_t parameter_count;
    bool noreturn;
};

/* What `call` has beyond operands. Arguments are symbols of .param variables, registers,
 * immediates or sinks; results are symbols of .param variables, registers or sinks. */
struct ptx_call {
    const struct ptx_function *function; /* direct, or NULL */
    uint32_t reg;                        /* indirect: holds the function's address */
    const struct ptx_operand *results;
    uint32_t result_count;
    const struct ptx_operand *arguments;
    uint32_t argument_count;
    const struct ptx_prototype *prototype; /* of the callee; NULL only if given by .calltargets
                                              whose list is empty */
};

/* Where an instruction comes from. `line` is never 0 (a .loc with line 0 keeps the one before).
 * outer_*: the place in the not inlined function, the same as file/line when nothing is inlined. */
struct ptx_location {
    uint32_t file; /* number as in .file: see ptx_module.files */
    uint32_t line;
    uint32_t outer_file;
    uint32_t outer_line;
};

struct ptx_instruction {
    enum ptx_opcode op;
    uint8_t type;  /* enum ptx_type: first type suffix, or PTX_NO_TYPE */
    uint8_t type2; /* second type suffix */
    uint8_t operand_count;
    bool guard_negated;
    struct ptx_modifiers modifiers;
    uint32_t guard;    /* predicate register, or PTX_NO_REGISTER */
    uint32_t line;     /* of the PTX */
    uint32_t location; /* index into the function's locations, 0: none */
    const struct ptx_operand *operands;
    const struct ptx_call *call; /* PTX_OP_CALL only */
    const char *text; /* NULL, or the instruction as written, without guard and `;`, when it is not
                         supported: its row is flagged so, or it is one of the forms that PTX has
                         and the row has not. Then it has no types, modifiers and operands. */
};

struct ptx_label {
    const char *name;
    uint32_t target; /* instruction index, at most the count */
};

/* .branchtargets: the labels that brx.idx chooses from. */
struct ptx_table {
    const char *name;
    const struct ptx_label *labels;
    uint32_t count;
};

struct ptx_function {
    const char *name;
    enum ptx_linkage linkage;
    bool is_entry;
    bool is_defined;                     /* has a body */
    const struct ptx_function *alias_of; /* .alias, or NULL */
    struct ptx_prototype prototype;

    const struct ptx_instruction *instructions;
    uint32_t instruction_count;
    const struct ptx_register *registers; /* those that the body uses: dense */
    uint32_t register_count;
    const struct ptx_variable *const *variables; /* the body's, all scopes; not the parameters */
    uint32_t variable_count;
    const struct ptx_label *labels;
    uint32_t label_count;
    const struct ptx_table *tables;
    uint32_t table_count;
    const struct ptx_location *locations; /* [0] is empty */
    uint32_t location_count;

    uint32_t max_threads[3];      /* .maxntid, or zeros */
    uint32_t required_threads[3]; /* .reqntid, or zeros */
    uint32_t min_blocks;          /* .minnctapersm, or 0 */
    uint32_t max_registers;       /* .maxnreg, or 0 */
    uint32_t cluster[3];          /* .reqnctapercluster, or zeros */
    bool explicit_cluster;        /* .explicitcluster */
    uint32_t index;               /* in the module's functions */
    uint32_t line;                /* of the PTX, of the body or else the declaration */
};

struct ptx_module {
    uint32_t version_major; /* .version 9.0 */
    uint32_t version_minor;
    const char *target;    /* "sm_75" */
    uint32_t address_size; /* 32 or 64 */
    const struct ptx_variable *const *variables;
    uint32_t variable_count;
    const struct ptx_function *const *functions; /* entries, device functions, declarations */
    uint32_t function_count;
    const char *const *files; /* by .file number; NULL where none was given */
    uint32_t file_count;      /* highest number + 1 */
};

/* ---- diagnostics ----------------------------------------------------------------------------- */

#define PTX_DIAGNOSTIC_MAX 16
#define PTX_DIAGNOSTIC_SIZE 240

struct ptx_diagnostic {
    uint32_t line; /* from 1 */
    uint32_t column;
    char text[PTX_DIAGNOSTIC_SIZE]; /* a sentence, without the position */
};

struct ptx_diagnostics {
    uint32_t count; /* of entries kept, at most PTX_DIAGNOSTIC_MAX */
    uint32_t total; /* of all found */
    struct ptx_diagnostic entries[PTX_DIAGNOSTIC_MAX];
};

/* Writes "line 12, column 5: sentence\n" for each entry; always ends with NUL. Returns the length
 * written. */
size_t ptx_diagnostics_print(const struct ptx_diagnostics *diagnostics, char *text, size_t size);

/* ---- the interface --------------------------------------------------------------------------- */

/* Parses and validates. `text` need not end with NUL; a NUL inside ends it. Returns NULL on an
 * error, with `diagnostics` (never NULL) filled; or when memory runs out, which is said there too.
 */
struct ptx_module *ptx_parse(const char *text, size_t length, struct ptx_diagnostics *diagnostics);
/* As if each entry had .maxnreg `most`, unless it has a smaller one. Before anybody else reads. */
void ptx_module_limit_registers(struct ptx_module *module, uint32_t most);
void ptx_module_destroy(struct ptx_module *module); /* NULL is fine */

/* NULL when there is none of that name. */
const struct ptx_function *ptx_function_find(const struct ptx_module *module, const char *name);

/* Writes the initial contents, `variable->size` bytes: numbers in place, zeros elsewhere, zeros
 * where relocations go. */
void ptx_variable_contents(const struct ptx_variable *variable, unsigned char *bytes);

/* The whole module as PTX text, allocated with malloc; NULL when memory runs out. Parsing it gives
 * a tree of the same text and the same machine code. Nested scopes are flattened: names that they
 * share get a number, and variables live as long as their function. */
char *ptx_print(const struct ptx_module *module);

/* One instruction as PTX text, without guard labels and newline; cut at `size`, ends with NUL. */
size_t ptx_print_instruction(const struct ptx_function *function,
                             const struct ptx_instruction *instruction, char *text, size_t size);

/* ---- what the rows say ----------------------------------------------------------------------- */

const char *ptx_type_name(enum ptx_type type); /* "s32"; "" for PTX_NO_TYPE */
uint32_t ptx_type_bits(enum ptx_type type);    /* all lanes together; a predicate has 1 */
uint32_t ptx_type_lanes(enum ptx_type type);   /* 2 for f16x2 */
enum ptx_type_kind ptx_type_kind(enum ptx_type type);
uint32_t ptx_type_bytes(enum ptx_type type); /* in memory */

const char *ptx_opcode_name(enum ptx_opcode op); /* "add", "bar.sync" */
const char *ptx_opcode_meaning(enum ptx_opcode op);
bool ptx_opcode_supported(enum ptx_opcode op); /* by the parser: false means text, no operands */

const char *ptx_modifier_name(enum ptx_modifier modifier);     /* "rn" */
enum ptx_field ptx_modifier_field(enum ptx_modifier modifier); /* not for PTX_ABSENT */

const char *ptx_special_name(enum ptx_special special); /* "%tid" */
enum ptx_type ptx_special_type(enum ptx_special special);
bool ptx_special_supported(enum ptx_special special); /* by the device */

/* What follows a register of a video instruction, `.b3`, `.h10`, `.b7654`: how many digits it has
 * (1 to 4; 0: it was not written), the digit for part `index` (0 is the last one), and whether the
 * parts are halves, not bytes. */
uint32_t ptx_parts_count(uint16_t parts);
uint32_t ptx_parts_digit(uint16_t parts, uint32_t index);
bool ptx_parts_halves(uint16_t parts);

/* The type of operand `index` by the row's shape: the instruction's types, twice the width for
 * .wide, .pred, .u32 for shift amounts and masks ...; PTX_NO_TYPE for addresses and labels. */
enum ptx_type ptx_operand_type(const struct ptx_instruction *instruction, uint32_t index);

#endif
