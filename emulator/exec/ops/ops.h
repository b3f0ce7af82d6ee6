/* exec_ops: what each instruction computes. The tables have one row per form of an opcode, with the
 * handler that executes it. lower/ finds rows by their keys and writes the handlers into the
 * decoded program; whoever executes the program calls handlers through it and does not need this
 * header. Handlers never look at PTX.
 *
 * A row is also a contiguous stretch of memory that a warp accesses, lane l at element l. The
 * context tells the two apart: only the first has keys.
 */
#ifndef OVERLAP_EXEC_OPS_OPS_H
#define OVERLAP_EXEC_OPS_OPS_H

#include "emulator/exec/decoded.h"

/* One row of a table. */
struct exec_row {
    const char *keys;
    exec_handler *run;
    const char *shape; /* types of the operands, destination first; "p" a predicate */
};

/* Returns the next word of a shape. */
static inline const char *exec_shape_next(const char *shape)
{
    while (*shape != ' ' && *shape != '\0') shape++;
    while (*shape == ' ') shape++;
    return shape;
}

/* Returns the row that serves `key` on this host; NULL: there is none. */
const struct exec_row *exec_row_find(const char *key);
/* Calls `see` for every row that serves on this host, once each. */
void exec_row_each(void (*see)(void *user, const struct exec_row *row), void *user);

/* Returns true when several of these atomic operations leave the same value in memory in any
 * order. */
bool exec_atomic_commutes(const struct exec_row *row);
/* The state space of an atomic instruction's address (its slot e). */
enum exec_atomic_where {
    EXEC_ATOMIC_GLOBAL,
    EXEC_ATOMIC_GENERIC,
    EXEC_ATOMIC_SHARED,
    EXEC_ATOMIC_SHARED64,
};

/* Handlers that lowering wraps around others, or uses where no row fits. */
exec_handler exec_guarded, exec_branch_guarded, exec_unsupported, exec_fell_off;
exec_handler exec_branch_round, exec_branch_round_guarded;
/* Runs a floating-point row (inner) in another rounding mode (imm, enum exec_round). */
exec_handler exec_rounded;
enum exec_round { EXEC_ROUND_ZERO, EXEC_ROUND_DOWN, EXEC_ROUND_UP };
/* Barriers of the block. Slot a: the barrier; slot b: the thread count, if imm is set. Reduce: slot
 * c is the predicate, and `inner` the row that gives the result. */
exec_handler exec_barrier_sync, exec_barrier_arrive, exec_barrier_reduce;
/* Returns true for a wait of all threads at a barrier whose number is constant: inst->e - 1. */
bool exec_barrier_is_plain(const struct exec_inst *inst);

#endif
