/* What the files of emulator/exec/machine/ share: the turns of warps and blocks, frames, and
 * launches that do not end.
 */
#ifndef OVERLAP_EXEC_MACHINE_PRIVATE_H
#define OVERLAP_EXEC_MACHINE_PRIVATE_H

#include "emulator/exec/machine/machine.h"
#include "emulator/exec/machine/turn.h"

enum exec_turn {
    EXEC_TURN_SPENT,   /* the slice is used up */
    EXEC_TURN_BLOCKED, /* every live lane waits */
    EXEC_TURN_DONE,    /* no lane is left */
    EXEC_TURN_STOPPED, /* a fault */
};

/* Gives one turn to each warp of the block that has lanes left, until one meets a fault. Adds the
 * instructions to *executed. Returns enum exec_met bits. */
unsigned exec_warps_run(struct exec_block *block, uint64_t *executed);

/* Makes the running fragment wait; the caller returns EXEC_RESCHEDULE. */
void exec_wait(struct exec_warp *warp, const struct exec_inst *inst, enum exec_wait wait,
               uint32_t barrier);

/* Prepares the warps for the block that begins. Returns false without host memory. */
bool exec_warps_start(struct exec_block *block);
void exec_frame_free(struct exec_frame *frame);

/* Writes the value of special register `special` for every lane of `warp` to a slot of `width`
 * bytes per lane. */
void exec_special_fill(const struct exec_warp *warp, unsigned special, unsigned component,
                       unsigned char *slot, uint32_t width);
/* Returns the value of a field of the launch parameters. */
uint64_t exec_parameter_value(const struct exec_launch *launch,
                              const struct exec_constant *constant);

/* Makes the memory of a block, which runs one block of the grid after another. NULL without host
 * memory. */
struct exec_block *exec_block_create(struct exec_worker *worker);
void exec_block_destroy(struct exec_block *block);
/* Between launches: _forget frees the block's shadows, _watch makes them if the next launch is
 * race-checked. Returns false without host memory. */
void exec_block_forget(struct exec_block *block);
bool exec_block_watch(struct exec_block *block);
/* Prepares `block` to run block `index` of the grid. Returns false without host memory. */
bool exec_block_start(struct exec_block *block, uint64_t index);
/* Runs the block for about `slice` instructions. Returns EXEC_TURN_SPENT when there is more to
 * do. */
enum exec_turn exec_block_run(struct exec_block *block, uint64_t slice, uint64_t *executed);

/* exec_meeting_join (machine.h), inlined. */
static inline bool exec_meeting_joined(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_block *block = warp->block;
    const struct exec_meeting *meeting = &block->meeting;
    if (!meeting->may || warp->mask != warp->live || warp->fragment_count || block->barriers_used ||
        (meeting->waiting && meeting->at != inst) || warp->frame != warp->root ||
        warp->poison != NULL || warp->poll_latest != NULL || warp->yield || warp->exchanging)
        return false;
    exec_meeting_add(warp, inst);
    if (warp->rotate) warp->rotate = false;
    return true;
}

/* Lets all warps go if every one that has not exited waits in the block's meeting, after ordering
 * what they did. Returns false, without effect, if not. */
bool exec_meeting_ends(struct exec_block *block);
/* Makes fragments of the warps of the meeting, for whoever looks at these, and ends it. */
void exec_meeting_open(struct exec_block *block);
/* Resets the barriers that the previous block has used. */
void exec_barriers_reset(struct exec_block *block);

/* ---- memory: machine/access.c ---------------------------------------------------------------- */

/* May the launch's device access the region, whatever else is in the way? */
bool exec_reaches(const struct exec_launch *launch, const struct memory_region *region, bool store);

/* ---- source places: machine/fault.c ---------------------------------------------------------- */

/* Returns the source position of `inst`, which the lane executes in `frame`. If that is in no file
 * or in a header of a CUDA library, returns the position of the call that leads to it. */
uint32_t exec_place_of(const struct exec_warp *warp, const struct exec_frame *frame,
                       const struct exec_inst *inst, unsigned lane);

/* ---- waits that never end: machine/stall.c --------------------------------------------------- */

/* To be called after a round in which every warp of the block only waited and polled. Returns true
 * if the block and its cluster can never go on; the launch has stopped then. */
bool exec_stall_round(struct exec_block *block);
/* A warp has done more than that, or the block has ended. */
void exec_stall_over(struct exec_block *block);
/* Observes an instruction that a warp of a watched block is about to execute. */
void exec_stall_step(struct exec_warp *warp, const struct exec_inst *inst);
/* Resets the state for another block. */
void exec_stall_forget(struct exec_block *block);

/* ---- launches that do not end: machine/deadlock.c -------------------------------------------- */

/* Stops the launch because every thread of the block waits, and records who waits where. */
void exec_block_deadlock(struct exec_block *block);
/* The same for all blocks of a cluster, each of which waits for another. */
void exec_cluster_deadlock(const struct exec_cluster *cluster);
/* The same because every thread that could run polls a barrier object, among them `lane` of
 * `warp`. */
void exec_object_deadlock(struct exec_warp *warp, unsigned lane);
/* The same because all blocks that have not ended wait for the whole grid, of which `ended` of its
 * `blocks` blocks have ended. Returns false when no thread of this block could still run. */
bool exec_grid_deadlock(struct exec_block *block, uint64_t ended, uint64_t blocks);
/* The same because the launch has executed `limit` warp instructions. Returns false when no thread
 * of this block could still run. */
bool exec_block_endless(struct exec_block *block, uint64_t limit);
/* Describes what the first thread that could run does. Returns false if there is none. */
bool exec_block_looks(struct exec_block *block, struct exec_looks *looks);

#endif
