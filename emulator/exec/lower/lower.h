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
    const struct ptx_instruction *at;    /* being compiled */
    const struct ptx_instruction *place; /* the function's instruction that it is, or stands for */
    uint32_t position;
    bool guard_handled; /* a branch around the instruction has been compiled */

    struct exec_inst *code;
    size_t code_count;
    size_t code_room;
    struct lower_form {
        size_t at;    /* of the code */
        uint8_t form; /* enum exec_form bits */
    } * forms;        /* of loads and stores */
    size_t form_count, form_room;
    uint32_t *starts;                   /* code index of each PTX instruction, and of the end */
    uint32_t *registers;                /* slot of each PTX register */
    uint8_t *written;                   /* of each: LOWER_ONCE, ... */
    bool *read;                         /* of each: by some instruction */
    const struct ptx_operand **symbols; /* of each: what it stands for; lower/racecheck.c */
    uint32_t *next_act;                 /* of each instruction; made with the symbols */
    const uint32_t *offsets;            /* of each body variable, in local or shared memory */
    uint32_t scratch_begin;             /* LOWER_SCRATCH slots of 8 bytes per lane */
    uint32_t scratch_used;
    uint32_t carry; /* slot of the carry flag */
    uint32_t frame_end;
    struct exec_constant *constants;
    size_t constant_count;
    size_t constant_room;
    bool apart;  /* it has slots that machine/stall.c does not look at */
    bool failed; /* out of memory */
    /* For lower_waits: registers that loads of this basic block fill, by the number of the batch
     * of loads that may be under way together. */
    uint32_t *batch_of;
    uint32_t batch;
    bool batch_over;
    bool *labelled; /* PTX instructions that branches lead to */
    bool *waited;   /* those behind a wait for the kernel before; NULL: none is */
    bool *reached;  /* those that may come behind a load; NULL: not looked for yet */
    /* A destination that is wider than what the row writes: copied after it. */
    uint32_t widen_from, widen_to;
    const char *widen_key;
};

/* ---- lower/registers.c ----------------------------------------------------------------------- */

/* Places the registers from byte *end of the frame on and moves *end behind them. */
bool lower_registers(struct lower *lower, uint32_t *end);
/* Whether lanes may come from the instruction to the one behind it. */
bool lower_goes_on(const struct ptx_instruction *inst);
/* Marks those that may come next to instruction `k` in `reached`, which has room for one behind the
 * last. Returns whether any had not been. */
bool lower_spread(const struct ptx_function *source, uint32_t k, bool *reached);

/* ---- lower/dependent.c ----------------------------------------------------------------------- */

/* Finds `waited`; false: no memory. */
bool lower_dependent(struct lower *lower);

/* ---- lower/lower.c: the parts that every instruction needs ----------------------------------- */

/* The code of lower->source into lower->function. */
void lower_function(struct lower *lower);
/* lower/flow.c: fills in the function's flow, if it has shuffles and is watched. */
void lower_flow(struct lower *lower);
/* lower/forms.c: takes down what the latest instruction, of the row with that key, loads or stores;
 * and tells the complete function of all of them. */
void lower_note_form(struct lower *lower, const char *key);
void lower_forms(struct lower *lower);

/* A new instruction that runs `row` (under the present guard, if `row` only computes). */
struct exec_inst *lower_emit(struct lower *lower, exec_handler *run);
struct exec_inst *lower_row(struct lower *lower, const char *key);
/* The same without the guard: for control, behind lower_guard. */
struct exec_inst *lower_emit_plain(struct lower *lower, exec_handler *run);
/* An instruction that is none of the program's: it heeds the guard itself. */
struct exec_inst *lower_emit_aside(struct lower *lower, exec_handler *run);
/* Compiles the guard as a branch around what follows, up to the next PTX instruction. */
void lower_guard(struct lower *lower);
/* The instruction cannot run: whoever executes it stops. */
void lower_unsupported(struct lower *lower, enum trace_unsupported why);

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

/* Module variables' index in the program, or -1. */
int32_t lower_variable_index(const struct lower *lower, const struct ptx_variable *variable);
/* Offset of a .shared variable; dynamic: relative to the launch's dynamic part. */
uint32_t lower_shared_offset(const struct lower *lower, const struct ptx_variable *variable,
                             bool *dynamic);

/* Marks loads whose result is awaited before the next: answers whether the load that is being
 * compiled can start only after an earlier one has come back. */
bool lower_waits(struct lower *lower);

/* ---- the other files: false when the opcode is none of theirs -------------------------------- */

bool lower_memory(struct lower *lower);
bool lower_images(struct lower *lower);
bool lower_video(struct lower *lower);
bool lower_mbarrier(struct lower *lower);
bool lower_bulk(struct lower *lower);
bool lower_tensor(struct lower *lower);
bool lower_tensor_map(struct lower *lower);
bool lower_control(struct lower *lower);
bool lower_compute(struct lower *lower);

#endif
