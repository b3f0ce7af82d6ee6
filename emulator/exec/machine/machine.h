/* exec_machine: runs the warps, blocks and grids of decoded programs; this header has what the
 * handlers in ops/ call. It never parses PTX, never allocates device memory, and computes no
 * instruction's result. Launches begin and end in exec.h; private.h is for the files of this room.
 */
#ifndef OVERLAP_EXEC_MACHINE_MACHINE_H
#define OVERLAP_EXEC_MACHINE_MACHINE_H

#include "emulator/exec/block.h"

/* ---- launches: machine/grid.c ---------------------------------------------------------------- */

/* The program ends: frees what was kept for the next launch of its functions. */
void exec_grids_forget(const struct exec_program *program);

/* ---- faults: machine/fault.c ----------------------------------------------------------------- */

/* Why a launch stops: a row of trace/findings.def, and what its sentence needs besides the
 * place. */
struct exec_reason {
    enum trace_finding_id finding;
    uint64_t numbers[TRACE_NUMBERS];
    const char *name; /* of a function or an instruction; NULL: not in the sentence */
    const char *said; /* further text; NULL: not in the sentence */
};

/* Records the fault for lane `lane` of `warp` at `inst`. Returns EXEC_STOP. */
int exec_stop(struct exec_warp *warp, const struct exec_inst *inst, enum exec_end end,
              unsigned lane, const struct exec_reason *reason);
/* The same for an access that memory does not allow; the reason is derived from the address. */
int exec_stop_access(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t address, uint32_t size, enum exec_access access, bool generic);

/* ---- memory: machine/access.c ---------------------------------------------------------------- */

/* Returns the host address of `size` bytes at a generic `address` as lane `lane` sees it, or NULL
 * with the fault recorded. `generic`: windows are allowed. Records the access and race-checks it; a
 * store only between blocks, because its value is not known here. */
unsigned char *exec_resolve(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t size, enum exec_access access, bool generic);
/* The same for a load of global memory that reads only the first `bytes` bytes of `size`: the
 * address has to be a multiple of `size` all the same. */
unsigned char *exec_resolve_part(struct exec_warp *warp, const struct exec_inst *inst,
                                 unsigned lane, uint64_t address, uint32_t size, uint32_t bytes);
/* Adds everything that the worker has accessed to the launch's footprint, and empties its caches.
 * If the caller then empties the footprint (exec_footprint_empty), it receives only later accesses.
 */
void exec_touches_settle(struct exec_worker *worker);
/* Returns the bytes readable from `address` on and sets *size to their number, 0 if there are none.
 * Never faults. For strings. */
const unsigned char *exec_peek(struct exec_warp *warp, unsigned lane, uint64_t address,
                               size_t *size);

/* ---- fragments: machine/warp.c --------------------------------------------------------------- */

/* Splits the running fragment: the lanes of `mask` leave it and continue at `pc` in `frame`. */
void exec_split(struct exec_warp *warp, uint32_t mask, const struct exec_inst *pc,
                struct exec_frame *frame);
/* Returns the frame of `function` called from `parent` (NULL: the kernel itself), made or reused.
 * NULL when the stack is used up or the host has no memory (`*end` says which). */
struct exec_frame *exec_frame_enter(struct exec_warp *warp, struct exec_frame *parent,
                                    const struct exec_function *function, enum exec_end *end);

/* The active lanes exit. A handler returns what this returns. */
int exec_lanes_exit(struct exec_warp *warp);

/* For machine code that begins at `code`, where the turns of a block's warps begin (the kernel's
 * first instruction, or one behind a barrier), after a handler returned EXEC_RESCHEDULE: returns
 * the next warp, whose turn has begun and whose first instruction is counted as the interpreter's
 * loop would. NULL if this warp's turn is not over or the next warp does not begin there. */
struct exec_warp *exec_warp_next(struct exec_warp *warp, const struct exec_inst *code);
/* The same where the code has come to `inst`, a barrier with a constant number and no count, which
 * this executes; the last warp of a round begins the next round. NULL: block->going.step is what
 * the code must return for the warp. */
struct exec_warp *exec_warp_meet(struct exec_warp *warp, const struct exec_inst *inst,
                                 const struct exec_inst *code);
/* The same, after all active lanes of the warp exit. */
struct exec_warp *exec_warp_exit(struct exec_warp *warp, const struct exec_inst *code);
/* Returns what that machine code must return if `step` is for another warp than the one it was
 * called for. */
int exec_warp_gone(struct exec_warp *warp, int step);

/* ---- waits for other threads: machine/sync.c, machine/barrier.c ------------------------------ */

/* Executes a .sync instruction whose lanes have given their values and member masks: runs the row's
 * handler (inner) if all named lanes have arrived, else waits. */
exec_handler exec_sync_meet;
/* Tells .sync instructions that lanes of the warp have exited: they no longer wait for them. */
int exec_sync_check(struct exec_warp *warp);

/* The active lanes arrive at barrier `id` of the block, which expects `expected` threads (0: every
 * thread that has not exited), and wait there if `wait`. `predicate`: the lanes' values for a
 * reduction, or NULL. A handler returns what this returns. */
int exec_barrier_meet(struct exec_warp *warp, const struct exec_inst *inst, uint32_t id,
                      uint32_t expected, const uint32_t *predicate, bool wait);
/* The same for a constant barrier and no count, if the warp is whole and joins those that meet
 * (struct exec_meeting): the handler returns EXEC_RESCHEDULE. False, without effect: it does not.
 */
bool exec_meeting_join(struct exec_warp *warp, const struct exec_inst *inst);
/* Tells the barriers that threads of the block have exited: they no longer wait for them. */
void exec_threads_left(struct exec_block *block);

/* ---- special registers and parameters: machine/special.c ------------------------------------- */

/* Returns true if special register `special` (enum ptx_special) may differ between blocks. */
bool exec_special_changes(unsigned special);
/* Returns true if a program that reads it may access the reserved shared memory. */
bool exec_special_reserved(unsigned special);

#endif
