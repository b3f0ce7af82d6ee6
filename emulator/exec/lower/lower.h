/* exec_lower: translates a parsed function into decoded instructions: slots for registers and
 * constants, rows for instructions, targets for branches. Private to emulator/exec; used while a
 * program is created, never while it runs.
 *
 * A slot is a place in a warp's frame, given as a byte offset, that holds one value for each lane.
 * A row is an entry of the tables of ops/, found by its key (lower_key): an operation's handler and
 * the shape of its operands. A place is where a memory access goes. A program that is watched has
 * additional instructions for the checks of check/.
 */
#ifndef OVERLAP_EXEC_LOWER_LOWER_H
#define OVERLAP_EXEC_LOWER_LOWER_H

#include "emulator/base/array.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/ops.h"
#include "emulator/ptx/ptx.h"

enum { LOWER_SCRATCH = 16 };
#define LOWER_NO_CACHE UINT32_MAX /* none, or several */

/* The width of a slot is the bytes of one lane, or LOWER_MASK for predicates, of which a slot holds
 * one bit per lane. */
#define LOWER_MASK 1u

/* How often a register is written. Only a register that is written once, without a guard, before
 * any instruction reads it can be replaced by a constant. */
enum { LOWER_UNSEEN, LOWER_ONCE, LOWER_MANY };

/* The function being lowered. */
struct lower {
    struct exec_program *program;
    const struct ptx_module *module;
    const struct ptx_function *source;
    struct exec_function *function;
    const struct ptx_instruction *at;    /* the instruction being lowered */
    const struct ptx_instruction *place; /* the function's instruction; `at` may be made from it */
    uint32_t position;
    bool guard_handled; /* a branch around the instruction has been emitted */

    struct exec_inst *code;
    size_t code_count;
    size_t code_room;
    struct lower_form {
        size_t at;    /* index into the code */
        uint8_t form; /* enum exec_form bits */
    } * forms;        /* of loads and stores, in order */
    size_t form_count, form_room;
    uint32_t *starts;                   /* code index of each PTX instruction, and of the end */
    uint32_t *cache_of;                 /* of each PTX instruction: its only region cache */
    uint32_t *registers;                /* slot of each PTX register */
    uint8_t *written;                   /* of each register: LOWER_UNSEEN, ... */
    bool *read;                         /* of each register: some instruction reads it */
    bool volatile_is_plain;             /* to shared memory: lower_volatile_is_plain */
    bool *deciding;                     /* lower_deciding; NULL: not wanted, or not known */
    const struct ptx_operand **symbols; /* the variable's address it holds, or NULL; racecheck.c */
    int64_t *parameters;     /* of an entry, per register: see memory.c; NULL: not yet asked for */
    uint32_t *next_act;      /* of each instruction: the next act; made with `symbols` */
    const uint32_t *offsets; /* of each body variable, in local or shared memory */
    const uint32_t *shared;  /* of each module variable that it names, in shared memory */
    uint32_t scratch_begin;  /* LOWER_SCRATCH slots of 8 bytes per lane */
    uint32_t scratch_used;
    uint32_t carry; /* slot of the carry flag */
    uint32_t frame_end;
    struct exec_constant *constants;
    size_t constant_count;
    size_t constant_room;
    bool apart;  /* its frame has slots that machine/stall.c ignores */
    bool failed; /* the host has no memory */
    /* For lower_waits: registers that loads of this basic block fill, with the number of the batch
     * of loads that may be in flight together. */
    uint32_t *batch_of;
    uint32_t batch;
    bool batch_over;
    bool *labelled;      /* PTX instructions that are branch targets */
    bool *waited;        /* those behind a wait for the preceding kernel; NULL: none */
    bool *reached;       /* scratch memory of leads_to in racecheck.c; NULL: none yet */
    bool *grid_barriers; /* of each instruction: a barrier of the block with which grid.sync()
                            begins; racecheck.c; NULL: there is none */
    bool grid_barriers_sought;
    /* For a destination that is wider than what the row writes: lower_finish copies the value. */
    uint32_t widen_from, widen_to;
    const char *widen_key;
};

/* ---- lower/registers.c ----------------------------------------------------------------------- */

/* Returns the enum exec_round of an instruction, or -1: to nearest, or it has none. */
int lower_rounding(const struct ptx_instruction *inst);
/* Places the registers in the frame from byte *end on and advances *end behind them. Returns false
 * when the host has no memory. */
bool lower_registers(struct lower *lower, uint32_t *end);
/* Return whether the instruction writes its first operand; and whether its row (ptx/opcodes.def)
 * names an address, or an operand that may be one. */
bool lower_writes_first(const struct ptx_instruction *inst);
bool lower_names_address(const struct ptx_instruction *inst);
/* Returns whether the instruction, which may be a call, writes the register. */
bool lower_writes(const struct ptx_instruction *inst, uint32_t reg);
/* Returns whether lanes may continue from the instruction to the next one. */
bool lower_goes_on(const struct ptx_instruction *inst);
/* Marks the possible successors of instruction `k` in `reached`, which has one entry more than the
 * function has instructions. Returns whether one was not marked before. */
bool lower_spread(const struct ptx_function *source, uint32_t k, bool *reached);

/* ---- lower/dependent.c ----------------------------------------------------------------------- */

/* Fills in `waited`. Returns false when the host has no memory. */
bool lower_dependent(struct lower *lower);

/* ---- lower/groups.c -------------------------------------------------------------------------- */

/* Notes which accesses of the complete function form groups. */
void lower_groups(struct lower *lower);

/* ---- lower/proof.c --------------------------------------------------------------------------- */

/* Returns what the kernel shows of the addresses that it accesses; NULL: nothing that could be
 * proven at a launch, or the host has no memory. */
const struct exec_proof *lower_proof(struct lower *lower);

/* ---- lower/lower.c: what every instruction needs --------------------------------------------- */

/* Lowers lower->source into lower->function; sets `failed` when the host has no memory. */
void lower_function(struct lower *lower);
/* lower/flow.c: fills in the function's flow, if the function has shuffles or race-checked accesses
 * and the program is watched. */
void lower_flow(struct lower *lower);
/* lower/forms.c: lower_note_form records what the latest instruction, which has the row of that
 * key, loads or stores; lower_forms gives the completed function all records. */
void lower_note_form(struct lower *lower, const char *key);
void lower_forms(struct lower *lower);

/* Emits an instruction that runs `row`. It gets the guard of the PTX instruction, so `run` must
 * only compute. lower_row finds the handler by its key. */
struct exec_inst *lower_emit(struct lower *lower, exec_handler *run);
struct exec_inst *lower_row(struct lower *lower, const char *key);
/* As lower_emit, without the guard: for control flow, after lower_guard. */
struct exec_inst *lower_emit_plain(struct lower *lower, exec_handler *run);
/* Emits an instruction that the PTX does not have; its handler evaluates the guard itself. */
struct exec_inst *lower_emit_aside(struct lower *lower, exec_handler *run);
/* Emits the guard as a branch around what follows, up to the next PTX instruction. */
void lower_guard(struct lower *lower);
/* Emits an instruction that stops the launch when it is executed, because `at` is not supported. */
void lower_unsupported(struct lower *lower, enum trace_unsupported why);

/* Returns true when `slot` holds a constant of the frame and register `reg` is only ever a copy of
 * it. The register's slot is then `slot` from now on, and no instruction is needed. */
bool lower_stands_for(struct lower *lower, uint32_t reg, uint32_t slot, uint32_t width);
uint32_t lower_scratch(struct lower *lower);
uint32_t lower_constant(struct lower *lower, enum exec_constant_kind kind, int32_t index,
                        uint64_t value, uint32_t width);
uint32_t lower_value(struct lower *lower, uint64_t value, uint32_t width);
/* Returns the width of a type's slot: 4, 8 or LOWER_MASK; 0 for types without a slot. */
uint32_t lower_width(enum ptx_type type);
/* Returns a slot that holds a source operand with that width. Returns EXEC_NO_SLOT when that is not
 * possible; lower_unsupported has been called then. */
uint32_t lower_source(struct lower *lower, const struct ptx_operand *operand, uint32_t width);
uint32_t lower_register(struct lower *lower, uint32_t reg, uint32_t width);
/* Returns the slot for a result of `width` bytes per lane. If the register is wider, lower_finish
 * emits the copy into it (sign-extended if is_signed). */
uint32_t lower_destination(struct lower *lower, uint32_t reg, uint32_t width, bool is_signed);
void lower_finish(struct lower *lower);
/* Returns the slot with the address of a variable or function, + offset, in its own state space. */
uint32_t lower_symbol(struct lower *lower, const struct ptx_operand *operand, uint32_t width);
/* Emits a 64-bit addition of a constant and returns the sum's slot. */
uint32_t lower_add64(struct lower *lower, uint32_t slot, uint64_t value);

/* Writes the key of an instruction: opcode, modifiers except those that never change a result,
 * types. */
void lower_key(const struct ptx_instruction *inst, char *key, size_t size);

/* Returns the index of an entry's parameter, or -1. */
int32_t lower_parameter_index(const struct lower *lower, const struct ptx_variable *variable);
/* Returns the offset of a function's .local or .param variable in its part of the thread's local
 * memory. */
uint32_t lower_local_offset(const struct lower *lower, const struct ptx_variable *variable);
/* Handlers whose branch targets are filled in when the function is complete. */
exec_handler *lower_branch_handler(void);
exec_handler *lower_table_handler(void);

/* Returns the index of a module variable in the program, or -1. */
int32_t lower_variable_index(const struct lower *lower, const struct ptx_variable *variable);
/* Returns the offset of a .shared variable; if *dynamic, relative to the launch's dynamic shared
 * memory. */
uint32_t lower_shared_offset(const struct lower *lower, const struct ptx_variable *variable,
                             bool *dynamic);

/* For the clock's longest chain of accesses: returns whether the load being lowered can start only
 * after an earlier load has returned its value. */
bool lower_waits(struct lower *lower);

/* ---- the other files: each returns false when it does not lower the opcode ------------------- */

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
