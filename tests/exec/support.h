/* exec_support: which PTX the device executes, according to its tables: which opcodes, in which
 * forms, and which instructions of a program would stop a launch. It runs nothing.
 *
 * An opcode whose row in ptx/opcodes.def is supported executes in the forms that nvcc emits; an
 * unsupported form is reported when it is reached. Source: PTX ISA 9.0.
 */
#ifndef OVERLAP_TESTS_EXEC_SUPPORT_H
#define OVERLAP_TESTS_EXEC_SUPPORT_H

#include "emulator/exec/exec.h"

struct exec_support {
    const char *name;    /* "cvt", "bar.sync" */
    const char *meaning; /* one line */
    bool supported;
};

/* The opcodes of PTX, in the order of their rows. */
size_t exec_support_count(void);
struct exec_support exec_support_at(size_t index);

/* Calls `visit` with each form of opcode `index` that has a row of its own, written as the executor
 * knows it ("add.rn.ftz.f32"): opcode, the modifiers that change the result, types. Opcodes that
 * are not computed in rows (branches, mov of vectors) have none. */
void exec_support_forms(size_t index, void (*visit)(void *user, const char *form), void *user);

/* Calls `visit` (may be NULL) for each instruction of `program` that would stop a launch which
 * reaches it, with its text and, if the device lacks the opcode, the opcode's meaning. Returns how
 * many there are. */
size_t exec_support_missing(const struct exec_program *program,
                            void (*visit)(void *user, const char *function, const char *what),
                            void *user);

#endif
