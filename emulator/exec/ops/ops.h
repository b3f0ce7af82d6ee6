/* exec_ops: what each instruction computes: one row per form of an opcode, with the handler that
 * runs it. lower/ finds rows by their keys and writes their handlers into the program; who runs
 * them calls them through it and needs nothing of this header. The rows never look at PTX.
 */
#ifndef OVERLAP_EXEC_OPS_OPS_H
#define OVERLAP_EXEC_OPS_OPS_H

#include "emulator/exec/decoded.h"

/* One table row: what lowering looks up. */
struct exec_row {
    const char *keys;
    exec_handler *run;
    const char *shape; /* types of the operands, destination first; "p" a predicate */
};

/* The next word of a shape. */
static inline const char *exec_shape_next(const char *shape)
{
    while (*shape != ' ' && *shape != '\0') shape++;
    while (*shape == ' ') shape++;
    return shape;
}

/* The row that serves `key` on this host, or NULL. */
const struct exec_row *exec_row_find(const char *key);
/* Calls `see` with every row that serves on this host. */
void exec_row_each(void (*see)(void *user, const struct exec_row *row), void *user);

/* Whether several of this atomic operation leave the same in memory in any order. */
bool exec_atomic_commutes(const struct exec_row *row);
/* Where an atomic instruction's address lies (its slot e). */
enum exec_atomic_where {
    EXEC_ATOMIC_GLOBAL,
    EXEC_ATOMIC_GENERIC,
    EXEC_ATOMIC_SHARED,
    EXEC_ATOMIC_SHARED64,
};

/* Handlers that lowering puts around others, or uses where no row fits. */
exec_handler exec_guarded, exec_branch_guarded, exec_unsupported, exec_fell_off;
exec_handler exec_branch_round, exec_branch_round_guarded;
/* Runs a floating-point row (inner) in another rounding mode (imm, enum exec_round). */
exec_handler exec_rounded;
enum exec_round { EXEC_ROUND_ZERO, EXEC_ROUND_DOWN, EXEC_ROUND_UP };
/* Barriers of the block: slot a: the barrier; slot b: the count, if imm; reduce: slot c, a
 * predicate, and the row that gives the result (inner). */
exec_handler exec_barrier_sync, exec_barrier_arrive, exec_barrier_reduce;

#endif
