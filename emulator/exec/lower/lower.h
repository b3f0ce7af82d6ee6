/* exec_lower: from a parsed function to decoded instructions: slots for registers and constants,
 * rows for instructions, targets for branches. Private to emulator/exec; used while a program is
 * created and never when it runs.
 */
#ifndef OVERLAP_EXEC_LOWER_LOWER_H
#define OVERLAP_EXEC_LOWER_LOWER_H

#include "emulator/base/array.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/ops.h"
#include "emulator/ptx/ptx.h"

enum { LOWER_SCRATCH = 16 };

/* Bytes per lane of a slot, or LOWER_MASK for predicates. */
#define LOWER_MASK 1u

/* How often a register is written: only one that is written once, by everybody, before it is read
 * anywhere can stand for a constant. */
enum { LOWER_UNSEEN, LOWER_ONCE, LOWER_MANY };

/* The function being compiled. */
struct lower {
    struct exec_program *program;
    const struct ptx_module *module;
    const struct ptx_function *source;
    struct exec_function *function;
    const struct ptx_instruction *at; /* being compiled */
    uint32_t position;
    bool guard_handled; /* a branch around the instruction has been compiled */

    struct exec_inst *code;
    size_t code_count;
    size_t code_room;
    uint32_t *starts;                   /* code index of each PTX instruction, and of the end */
    uint32_t *registers;                /* slot of each PTX register */
    uint8_t *written;                   /* of each: LOWER_ONCE, ... */
    bool *read;                         /* of each: by some instruction */
    const struct ptx_operand **symbols; /* of each: what it stands for; lower/racecheck.c */
    const uint32_t *offsets;            /* of each body variable, in local or shared memory */
    uint32_t scratch_begin;             /* LOWER_SCRATCH slots of 8 bytes per lane */
    uint32_t scratch_used;
    uint32_t carry; /* slot of the carry flag */
    uint32_t frame_end;
    struct exec_constant *constants;
    size_t constant_count;
    size_t constant_room;
    bool failed; /* out of memory */
    /* For lower_waits: registers that loads of this basic block fill, by the number of the batch
     * of loads that may be under way together. */
    uint32_t *batch_of;
    uint32_t batch;
    bool batch_over;
    bool *labelled; /* PTX instructions that branches lead to */
    /* A destination that is wider than what the row writes: copied after it. */
    uint32_t widen_from, widen_to;
    const char *widen_key;
};

/* ---- lower/registers.c
 * ---------------------------------------------------------------------------- */

/* Places the registers from byte *end of the frame on and moves *end behind them. */
bool lower_registers(struct lower *lower, uint32_t *end);

/* ---- lower/lower.c: the parts that every instruction needs ------------------------------------
 */

/* The code of lower->source into lower->function. */
void lower_function(struct lower *lower);

/* A new instruction that runs `row` (under the present guard, if `row` only computes). */
struct exec_inst *lower_emit(struct lower *lower, exec_handler *run);
struct exec_inst *lower_row(struct lower *lower, const char *key);
/* The same without the guard: for control, behind lower_guard. */
struct exec_inst *lower_emit_plain(struct lower *lower, exec_handler *run);
/* An instruction that is none of the program's: it heeds the guard itself. */
struct exec_inst *lower_emit_aside(struct lower *lower, exec_handler *run);
/* Compiles the guard as a branch around what follows, up to the next PTX instruction. */
void lower_guard(struct lower *lower);
/* The instruction cannot run; the sentence names it. */
void lower_unsupported(struct lower *lower, const char *why);

/* Whether `slot` holds a constant of the frame; then a register that is only ever a copy of it can
 * stand for it: answers whether it does from now on, and no instruction is needed. */
bool lower_stands_for(struct lower *lower, uint32_t reg, uint32_t slot, uint32_t width);
uint32_t lower_scratch(struct lower *lower);
uint32_t lower_constant(struct lower *lower, enum exec_constant_kind kind, int32_t index,
                        uint64_t value, uint32_t width);
uint32_t lower_value(struct lower *lower, uint64_t value, uint32_t width);
/* Bytes per lane of a type's slot: 4, 8 or LOWER_MASK; 0 for types without one. */
uint32_t lower_width(enum ptx_type type);
/* The slot that holds a source operand as `width` bytes per lane; UINT32_MAX: not possible, and
 * lower_unsupported has been called. */
uint32_t lower_source(struct lower *lower, const struct ptx_operand *operand, uint32_t width);
uint32_t lower_register(struct lower *lower, uint32_t reg, uint32_t width);
/* The slot that a result of `width` bytes per lane goes to; lower_finish copies it on if the
 * register is wider (by sign if is_signed). */
uint32_t lower_destination(struct lower *lower, uint32_t reg, uint32_t width, bool is_signed);
void lower_finish(struct lower *lower);
/* The slot with the address of a variable or function, + offset, in its own state space. */
uint32_t lower_symbol(struct lower *lower, const struct ptx_operand *operand, uint32_t width);
/* d = a + constant, 64 bits. */
uint32_t lower_add64(struct lower *lower, uint32_t slot, uint64_t value);

/* The key of an instruction: opcode, modifiers except those that never change a result, types. */
void lower_key(const struct ptx_instruction *inst, char *key, size_t size);

/* The index of an entry's parameter, or -1. */
int32_t lower_parameter_index(const struct lower *lower, const struct ptx_variable *variable);
/* Offset of a function's .local or .param variable in its part of the thread's local memory. */
uint32_t lower_local_offset(const struct lower *lower, const struct ptx_variable *variable);
/* The handlers whose targets are filled in when the function is complete. */
exec_handler *lower_branch_handler(void);
exec_handler *lower_table_handler(void);

/* ---- lower/memory.c
 * -------------------------------------------------------------------------- */

/* Where an access goes, as the rows of ops/memory.def call it. */
struct lower_place {
    const char *where; /* NULL: entry parameters, which are constants */
    uint32_t slot;     /* the address's register */
    uint64_t offset;
    bool global; /* other blocks may see it */
};
/* false: lower_unsupported has been called. */
bool lower_place(struct lower *lower, const struct ptx_operand *address, uint8_t space,
                 struct lower_place *place);
/* The slot with the generic address, 64 bits, of global or shared memory; UINT32_MAX: not possible,
 * and lower_unsupported has been called. */
uint32_t lower_generic(struct lower *lower, const struct ptx_operand *address, uint8_t space);

/* ---- lower/racecheck.c: before the access that they are about; nothing in a program that is not
 * watched ------------------------------------------------------------------------------------ */

/* `count` elements of `element` bytes at `place`, if that may be shared memory. `slots`: those of a
 * store's values, or NULL. */
void lower_racecheck(struct lower *lower, const struct lower_place *place, uint32_t element,
                     uint32_t count, enum exec_access access, const uint32_t slots[4]);
/* An asynchronous copy of `bytes` bytes to `place`; and what closes or waits for groups of them. */
void lower_racecheck_copy(struct lower *lower, const struct lower_place *place, uint32_t bytes);
void lower_racecheck_groups(struct lower *lower);
/* The instruction may be part of an order that threads make themselves. */
void lower_racecheck_order(struct lower *lower);
/* Which acts further on in the function make a load a look, besides atomics on the same address. */
enum lower_acts {
    LOWER_ACTS_STORES = 1,  /* stores too */
    LOWER_ACTS_AT_ONCE = 2, /* with no barrier of the block between */
    LOWER_ACTS_OF_SHARED = LOWER_ACTS_AT_ONCE,
    LOWER_ACTS_OF_BLOCKS = LOWER_ACTS_STORES,
    LOWER_ACTS_OF_THREADS = LOWER_ACTS_STORES | LOWER_ACTS_AT_ONCE,
};
bool lower_looks(struct lower *lower, const struct ptx_operand *address, enum lower_acts acts);
/* The access with that cache is such a look, or volatile or ordered: enum exec_look bits. */
void lower_note_look(struct lower *lower, uint32_t cache, unsigned looks);

/* ---- lower/program.c
 * ------------------------------------------------------------------------------ */

/* The program's copy of a .file's name, or NULL. */
const char *exec_program_file(const struct exec_program *program, uint32_t number);
/* The index of a source position, shared with the instruction before if it is the same. */
uint32_t exec_program_position(struct exec_program *program, struct exec_position position);
/* Module variables' index in the program, or -1. */
int32_t lower_variable_index(const struct lower *lower, const struct ptx_variable *variable);
/* Offset of a .shared variable; dynamic: relative to the launch's dynamic part. */
uint32_t lower_shared_offset(const struct lower *lower, const struct ptx_variable *variable,
                             bool *dynamic);

/* What does not load, as an H100's driver has it; parameters before PTX 8.1 as ptxas counts them.
 * Shared and local memory are the launch's business: these bounds are far above what any launch can
 * have, and keep offsets small. */
enum {
    EXEC_MOST_SHARED = 1 << 20, /* static, of a block */
    EXEC_MOST_LOCAL = 16 << 20, /* of a thread */
    EXEC_MOST_CONSTANT = 64 << 10,
    EXEC_MOST_PARAMETERS = 32764,
    EXEC_MOST_PARAMETERS_BEFORE_8_1 = 4352,
};
/* True if `bytes` is at most `most`; otherwise the program is refused for `what` of `name`. */
bool exec_program_fits(struct exec_program *program, uint64_t bytes, uint64_t most,
                       const char *what, const char *name);

bool exec_variables_create(struct exec_program *program, const struct ptx_module *module);

/* Marks loads whose result is awaited before the next: answers whether the load that is being
 * compiled can start only after an earlier one has come back. */
bool lower_waits(struct lower *lower);

/* ---- the other files: false when the opcode is none of theirs ----------------------------------
 */

bool lower_memory(struct lower *lower);
bool lower_images(struct lower *lower);
bool lower_video(struct lower *lower);
bool lower_mbarrier(struct lower *lower);
bool lower_bulk(struct lower *lower);
bool lower_control(struct lower *lower);
bool lower_compute(struct lower *lower);

#endif
