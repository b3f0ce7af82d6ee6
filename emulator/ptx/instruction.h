/* ptx's instructions: an opcode with its modifiers and operands, as parsed. tree.h describes the
 * variables, functions and labels that operands name.
 *
 * Source: PTX ISA 9.0.
 */
#ifndef OVERLAP_PTX_INSTRUCTION_H
#define OVERLAP_PTX_INSTRUCTION_H

#include "emulator/ptx/tables.h"

struct ptx_function;
struct ptx_prototype;
struct ptx_variable;

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

/* An immediate's bits are those of the operand's type in this instruction: truncated to its width,
 * then sign-extended to 64 bits for signed types and zero-extended for all others. Floats are
 * converted to f32, f64, f16 or bf16 bits; for .b types a single (0f...) gives 32 bits and a double
 * 64. Predicates are 0 or 1. An operand without a type is a 64-bit integer. */
struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated;      /* !p on a predicate source; -a of vmad; elsewhere -x is folded */
    bool is_float;     /* an immediate that was written as a float */
    uint8_t component; /* of a special register: 0 x, 1 y, 2 z, 3 w */
    enum ptx_special special;
    uint32_t reg;    /* REGISTER, PAIR; ADDRESS: base or PTX_NO_REGISTER */
    uint32_t second; /* PAIR; VECTOR `{a, b}|p`: p, or PTX_NO_REGISTER */
    uint16_t parts;  /* REGISTER of a video instruction: see ptx_parts_count; 0: whole */
    uint32_t count;  /* VECTOR, IMAGE */
    uint32_t target; /* LABEL: instruction; TABLE: index into the function's tables */
    uint64_t bits;   /* IMMEDIATE */
    int64_t offset;  /* ADDRESS, SYMBOL: bytes */
    const struct ptx_variable *variable; /* ADDRESS, SYMBOL: or NULL */
    const struct ptx_function *function; /* ADDRESS, SYMBOL: or NULL */
    const struct ptx_operand *elements;  /* VECTOR, IMAGE */
};

/* What `call` has besides operands. Arguments are symbols of .param variables, registers,
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

/* The source position of an instruction. `line` is never 0 (a .loc with line 0 keeps the previous
 * position). outer_* is the position in the function that is not inlined; it equals file and line
 * when nothing is inlined. */
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
                         supported: its row is marked so, or PTX has this form and the row does not.
                         It then has no types, modifiers and operands. */
};

/* The suffix of a register of a video instruction: `.b3`, `.h10`, `.b7654`. ptx_parts_count returns
 * the number of its digits (1 to 4; 0: no suffix), ptx_parts_digit the digit for part `index` (0 is
 * the last digit), ptx_parts_halves whether the parts are halves, not bytes. */
uint32_t ptx_parts_count(uint16_t parts);
uint32_t ptx_parts_digit(uint16_t parts, uint32_t index);
bool ptx_parts_halves(uint16_t parts);

/* Returns the type of operand `index` by the row's shape: one of the instruction's types, twice the
 * width for .wide, .pred, .u32 for shift amounts and masks ...; PTX_NO_TYPE for addresses and
 * labels. */
enum ptx_type ptx_operand_type(const struct ptx_instruction *instruction, uint32_t index);

#endif
