/* Fast paths of a whole warp that comes to a barrier, if the next warp has yet to leave the barrier
 * before (struct exec_meeting), and of one that leaves the kernel, if the next has yet to begin:
 * then nothing has to be scheduled. They do what exec_warp_meet and exec_warp_exit of
 * machine/warp.c do, less what is known then; these decide everything else. The next warp is the
 * one behind quick->warp.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_MEET_H
#define OVERLAP_EXEC_OPS_QUICK_MEET_H

#include "emulator/exec/machine/turn.h"
#include "emulator/exec/ops/quick.h"

/* exec_turn_begin for a warp that waited as a whole, in the kernel's own frame, with one
 * instruction counted. */
static inline void meet_begin(struct exec_block *block, struct exec_warp *next,
                              const struct exec_inst *begins)
{
    struct exec_going *going = &block->going;
    const uint64_t before = next->instructions;
    const uint32_t live = next->live;
    block->meeting.leaving &= ~(1u << next->index);
    next->mask = live;
    next->full = 1;
    next->backward = EXEC_BACKWARD_ALONE;
    next->limit = EXEC_NO_LIMIT;
    next->pc = begins + 1;
    next->instructions = before + 1;
    going->warp = next;
    going->before = before;
    going->lanes = live;
}

/* Returns false without effect. */
static inline bool meet_whole(const struct exec_quick *quick)
{
    struct exec_warp *warp = quick->warp;
    struct exec_block *block = warp->block;
    struct exec_going *going = &block->going;
    const struct exec_meeting *meeting = &block->meeting;
    /* While warps leave a barrier so, the block uses no other and nothing observes its
     * instructions. `leaving` has no bit for a warp behind the last. */
    if (!(meeting->leaving >> warp->index >> 1 & 1) | (meeting->from != quick->begins) |
        ((meeting->waiting != 0) & (meeting->at != quick->here)) | !going->may |
        (warp->poll_latest != NULL) | warp->yield)
        return false;
    exec_meeting_add(warp, quick->here);
    going->executed += exec_turn_end(warp);
    going->met |= EXEC_MET_LIFE;
    meet_begin(block, warp + 1, quick->begins);
    return true;
}

/* Returns false without effect. */
static inline bool leave_whole(const struct exec_quick *quick)
{
    struct exec_warp *warp = quick->warp, *next = warp + 1;
    struct exec_block *block = warp->block;
    struct exec_going *going = &block->going;
    /* Nobody waits for the lanes that exit. */
    if ((warp->index + 1u == block->warp_count) | (next == going->first) | !going->may |
        (block->barriers_used != 0) | block->arrives | (block->cluster != NULL) |
        (warp->exchanging != 0))
        return false;
    if (!next->fresh || going->code != quick->begins) return false;
    going->executed += exec_turn_end(warp);
    going->met |= EXEC_MET_STEPS | EXEC_MET_WORK;
    warp->mask = warp->live = 0;
    exec_warp_wipe(next);
    exec_turn_begin(next, quick->begins + 1, next->root, 0);
    next->instructions = 1;
    return true;
}

#endif
