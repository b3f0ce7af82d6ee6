/* lower_program: what is decided for a program as a whole: the layout of its memory, its variables,
 * properties that follow from calls, and what no device could hold. Private to
 * emulator/exec/lower/.
 */
#ifndef OVERLAP_EXEC_LOWER_PROGRAM_H
#define OVERLAP_EXEC_LOWER_PROGRAM_H

#include "emulator/exec/lower/lower.h"

/* ---- lower/program.c ------------------------------------------------------------------------- */

/* Returns the program's copy of a .file's name, or NULL. */
const char *exec_program_file(const struct exec_program *program, uint32_t number);
/* Returns the index of a source position. Consecutive instructions with the same position share
 * it. */
uint32_t exec_program_position(struct exec_program *program, struct exec_position position);

/* ---- lower/layout.c -------------------------------------------------------------------------- */

/* These return false when the host has no memory or the program is refused. */

/* Places the .shared variables of module scope that device functions name. */
bool lower_shared_layout(struct exec_program *program, const struct ptx_module *module);
/* Called when the device functions are lowered: computes common_shared of each. */
void lower_shared_settle(struct exec_program *program, const struct ptx_module *module);
/* Places formal parameters and results in a device function's local memory. */
bool lower_formals_layout(struct exec_program *program, struct exec_function *function,
                          const struct ptx_function *source);
/* Places a kernel's parameters, at most `most` bytes. */
bool lower_parameters_layout(struct exec_program *program, struct exec_function *function,
                             const struct ptx_function *source, uint64_t most);
/* Places a body's variables: `offsets` receives one offset for each. `shared_at`: a copy of
 * program->module_shared, to which a kernel adds the variables that only kernels name. */
bool lower_body_layout(struct exec_program *program, struct exec_function *function,
                       const struct ptx_function *source, uint32_t *offsets, uint32_t *shared_at);

/* Bounds beyond which a module does not load, as with an H100's driver; parameters before PTX 8.1
 * as ptxas counts them. The launch checks shared and local memory: these bounds are far above what
 * any launch can have, and keep offsets small. */
enum {
    EXEC_MOST_SHARED = 1 << 20, /* static, per block */
    EXEC_MOST_LOCAL = 16 << 20, /* per thread */
    EXEC_MOST_CONSTANT = 64 << 10,
    EXEC_MOST_PARAMETERS = 32764,
    EXEC_MOST_PARAMETERS_BEFORE_8_1 = 4352,
};
/* Returns true when `bytes` is at most `most`; otherwise refuses the program because of `what` of
 * `name`. */
bool exec_program_fits(struct exec_program *program, uint64_t bytes, uint64_t most,
                       const char *what, const char *name);

bool exec_variables_create(struct exec_program *program, const struct ptx_module *module);

/* ---- lower/arguments.c ----------------------------------------------------------------------- */

/* Returns the function, or a copy in the program's arena in which arguments and results are .param
 * variables where they were registers or immediates; NULL: the host has no memory. */
const struct ptx_function *lower_arguments(struct exec_program *program,
                                           const struct ptx_function *source);

/* ---- lower/calls.c, lower/variables.c -------------------------------------------------------- */

/* Called when all functions are lowered: computes stack sizes, and the properties that callers
 * inherit from their callees. */
void lower_settle_calls(struct exec_program *program);

bool exec_variables_create(struct exec_program *program, const struct ptx_module *module);

#endif
