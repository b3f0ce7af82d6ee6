/* What the files of emulator/exec/machine/ tell each other: the turns of warps and blocks, frames,
 * and launches that do not end.
 */
#ifndef OVERLAP_EXEC_MACHINE_PRIVATE_H
#define OVERLAP_EXEC_MACHINE_PRIVATE_H

#include "emulator/exec/machine/machine.h"

enum exec_turn {
    EXEC_TURN_SPENT,   /* the slice is used up */
    EXEC_TURN_BLOCKED, /* every live lane waits */
    EXEC_TURN_DONE,    /* no lane is left */
    EXEC_TURN_STOPPED, /* a fault */
};

/* One turn for each warp of the block that has lanes left, up to one that meets a fault. Adds the
 * instructions to *executed; returns what was met, in bits. */
enum exec_met {
    EXEC_MET_LIFE = 1,  /* a warp has lanes left */
    EXEC_MET_STEPS = 2, /* one ran */
    EXEC_MET_WORK = 4,  /* one did more than wait and look */
    EXEC_MET_FAULT = 8,
};
unsigned exec_warps_run(struct exec_block *block, uint64_t *executed);

/* Puts the running fragment aside, waiting; the caller answers EXEC_RESCHEDULE. */
void exec_wait(struct exec_warp *warp, const struct exec_inst *inst, enum exec_wait wait,
               uint32_t barrier);

/* Prepares the warps for the block that begins; false without host memory. */
bool exec_warps_start(struct exec_block *block);
void exec_frame_free(struct exec_frame *frame);

/* Writes the value of special register `special` for every lane of `warp` to a slot of `width`
 * bytes per lane. */
void exec_special_fill(const struct exec_warp *warp, unsigned special, unsigned component,
                       unsigned char *slot, uint32_t width);
/* The value of a launch parameter's field. */
uint64_t exec_parameter_value(const struct exec_launch *launch,
                              const struct exec_constant *constant);

/* A block's memory, which runs one block of the grid after another. NULL without host memory. */
struct exec_block *exec_block_create(struct exec_worker *worker);
void exec_block_destroy(struct exec_block *block);
/* Between launches: what was seen of its memory goes, and what is to be seen gets its place; false
 * without host memory. */
void exec_block_forget(struct exec_block *block);
bool exec_block_watch(struct exec_block *block);
/* Prepares it to run block `index` of the grid; false without host memory. */
bool exec_block_start(struct exec_block *block, uint64_t index);
/* Runs it for about `slice` instructions: EXEC_TURN_SPENT when there is more to do. */
enum exec_turn exec_block_run(struct exec_block *block, uint64_t slice, uint64_t *executed);

/* Forgets the barriers of the block that ran before. */
void exec_barriers_reset(struct exec_block *block);
/* Adds what a worker's cache entry has seen to the launch's footprint. */
void exec_cache_flush(const struct exec_worker *worker, struct exec_region_cache *cache);

/* ---- where something is in the source: machine/fault.c ----------------------------------------
 */

/* The position of `inst`, which the lane executes in `frame`; where that says nothing to who wrote
 * the program, of the call that leads to it. */
uint32_t exec_place_of(const struct exec_warp *warp, const struct exec_frame *frame,
                       const struct exec_inst *inst, unsigned lane);

/* ---- waits that never end: machine/stall.c --------------------------------------------------- */

/* A round in which no warp of the block did more than wait and look is over. True: none of its
 * cluster ever will, and the launch has stopped. */
bool exec_stall_round(struct exec_block *block);
/* One did, or the block has ended. */
void exec_stall_over(struct exec_block *block);
/* The warp is about to execute the instruction, of a block that is watched. */
void exec_stall_step(struct exec_warp *warp, const struct exec_inst *inst);
/* Another block begins. */
void exec_stall_forget(struct exec_block *block);

/* ---- launches that do not end: machine/deadlock.c -------------------------------------------- */

/* Stops the launch because every thread of the block waits, and says who waits where. */
void exec_block_deadlock(struct exec_block *block);
/* The same of all blocks of a cluster, of which each waits for another. */
void exec_cluster_deadlock(const struct exec_cluster *cluster);
/* The same because every thread that could run waits for a barrier object, `lane` of `warp` too. */
void exec_object_deadlock(struct exec_warp *warp, unsigned lane);
/* The same because the launch has executed `limit` warp instructions; false when no thread of this
 * block could still run. */
bool exec_block_endless(struct exec_block *block, uint64_t limit);
/* What the first thread does that could run; false: none. */
bool exec_block_looks(struct exec_block *block, struct exec_looks *looks);

#endif
