/* exec_machine: warps, blocks and grids that run decoded programs: what the handlers in ops/ ask of
 * them. It never parses PTX, never allocates device memory, and computes no instruction's result.
 * Launches begin and end in exec.h; what this room's files tell each other is in private.h.
 */
#ifndef OVERLAP_EXEC_MACHINE_MACHINE_H
#define OVERLAP_EXEC_MACHINE_MACHINE_H

#include "emulator/exec/block.h"

/* ---- launches: machine/grid.c ---------------------------------------------------------------- */

/* The program ends: nothing is kept any more for the next launch of one of its functions. */
void exec_grids_forget(const struct exec_program *program);

/* ---- faults: machine/fault.c ----------------------------------------------------------------- */

/* Why a launch stops: a row of trace/findings.def, and what its sentence needs beside the place. */
struct exec_reason {
    enum trace_finding_id finding;
    uint64_t numbers[TRACE_NUMBERS];
    const char *name; /* of a function or an instruction; NULL: the sentence has none */
    const char *said; /* what else is said of it; the same */
};

/* Records it, for lane `lane` of `warp` at `inst`; answers EXEC_STOP. */
int exec_stop(struct exec_warp *warp, const struct exec_inst *inst, enum exec_end end,
              unsigned lane, const struct exec_reason *reason);
/* The same for an access that memory does not allow: explains the address. */
int exec_stop_access(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t address, uint32_t size, bool store, bool generic);

/* ---- memory: machine/access.c ---------------------------------------------------------------- */

/* The host address of `size` bytes at a generic `address` as lane `lane` sees it, or NULL with the
 * fault recorded. `generic`: the windows are allowed. */
unsigned char *exec_resolve(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t size, enum exec_access access, bool generic);
/* The launch's footprint gets all that the worker has touched; what it touches from now on is
 * another's, if the footprint is emptied (exec_footprint_empty). */
void exec_touches_settle(struct exec_worker *worker);
/* Bytes readable from `address` on, without a fault: 0 when there are none. For strings. */
const unsigned char *exec_peek(struct exec_warp *warp, unsigned lane, uint64_t address,
                               size_t *size);

/* ---- fragments: machine/warp.c --------------------------------------------------------------- */

/* Splits the running fragment: the lanes of `mask` leave it and continue at `pc` in `frame`. */
void exec_split(struct exec_warp *warp, uint32_t mask, const struct exec_inst *pc,
                struct exec_frame *frame);
/* The frame of `function` called from `parent` (NULL: the kernel itself), made or found again.
 * NULL when the stack is used up or the host has no memory (`*end` says which). */
struct exec_frame *exec_frame_enter(struct exec_warp *warp, struct exec_frame *parent,
                                    const struct exec_function *function, enum exec_end *end);

/* The active lanes exit. The handler answers what this answers. */
int exec_lanes_exit(struct exec_warp *warp);

/* After a handler that answered EXEC_RESCHEDULE, for machine code of the beginning of a kernel,
 * `code`: the warp behind this one, whose turn has begun, with the first instruction counted as if
 * by the loop that runs handlers. NULL: this one's turn is not over, or the next does not begin
 * there. */
struct exec_warp *exec_warp_next(struct exec_warp *warp, const struct exec_inst *code);
/* The same where all of the warp's lanes exit, which they do. */
struct exec_warp *exec_warp_exit(struct exec_warp *warp, const struct exec_inst *code);
/* The same machine code answers `step` for a warp that is not the one it was called for: what it is
 * to answer. */
int exec_warp_gone(struct exec_warp *warp, int step);

/* ---- who waits for whom: machine/sync.c, machine/barrier.c ----------------------------------- */

/* A .sync instruction whose lanes have given their values and member masks: runs the row's handler
 * (inner) when all that are named are there, else waits. */
exec_handler exec_sync_meet;
/* Lanes of the warp have exited: .sync instructions no longer wait for them. */
int exec_sync_check(struct exec_warp *warp);

/* The active lanes arrive at barrier `id` of the block, which expects `expected` threads (0: every
 * thread that has not exited), and wait there if `wait`; `predicate`: what each brings to a
 * reduction, NULL: none. The handler answers what this answers. */
int exec_barrier_meet(struct exec_warp *warp, const struct exec_inst *inst, uint32_t id,
                      uint32_t expected, const uint32_t *predicate, bool wait);
/* Threads of the block have exited: barriers no longer wait for them. */
void exec_threads_left(struct exec_block *block);

/* ---- special registers and parameters: machine/special.c ------------------------------------- */

/* Whether special register `special` (enum ptx_special) may differ from block to block. */
bool exec_special_changes(unsigned special);
/* Whether whoever reads it may touch the reserved shared memory. */
bool exec_special_reserved(unsigned special);

#endif
