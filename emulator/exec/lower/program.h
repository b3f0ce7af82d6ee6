/* lower_program: what is decided for a program as a whole: the layout of its memory, its variables,
 * what calls imply, and what no device could hold. Private to emulator/exec/lower/.
 */
#ifndef OVERLAP_EXEC_LOWER_PROGRAM_H
#define OVERLAP_EXEC_LOWER_PROGRAM_H

#include "emulator/exec/lower/lower.h"

/* ---- lower/program.c ------------------------------------------------------------------------- */

/* The program's copy of a .file's name, or NULL. */
const char *exec_program_file(const struct exec_program *program, uint32_t number);
/* The index of a source position, shared with the instruction before if it is the same. */
uint32_t exec_program_position(struct exec_program *program, struct exec_position position);

/* ---- lower/layout.c -------------------------------------------------------------------------- */

/* False: no memory, or the program is refused. */

/* .shared variables that several functions see, and which functions those are. */
bool lower_shared_layout(struct exec_program *program, const struct ptx_module *module);
/* Whether the function sees any of them; what it calls is known by then. */
bool lower_sees_module_shared(const struct exec_program *program,
                              const struct ptx_function *source);
/* Formal parameters and results, in a device function's local memory. */
bool lower_formals_layout(struct exec_program *program, struct exec_function *function,
                          const struct ptx_function *source);
/* A kernel's parameters, at most `most` bytes. */
bool lower_parameters_layout(struct exec_program *program, struct exec_function *function,
                             const struct ptx_function *source, uint64_t most);
/* A body's variables: `offsets` receives one offset for each. */
bool lower_body_layout(struct exec_program *program, struct exec_function *function,
                       const struct ptx_function *source, uint32_t *offsets);

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

/* ---- lower/calls.c, lower/variables.c -------------------------------------------------------- */

/* When all functions are there: stacks, and properties that callers have from what they call. */
void lower_settle_calls(struct exec_program *program);

bool exec_variables_create(struct exec_program *program, const struct ptx_module *module);

#endif
