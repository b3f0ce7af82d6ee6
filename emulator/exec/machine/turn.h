/* exec_turn: how the turn of a whole warp, whose lanes all stand in one place, ends and how the
 * next warp's begins, without the scheduler. Inlined into machine/warp.c and, by way of
 * ops/quick_meet.h, into machine code. It decides nothing about warps that have diverged.
 */
#ifndef OVERLAP_EXEC_MACHINE_TURN_H
#define OVERLAP_EXEC_MACHINE_TURN_H

#include "emulator/exec/block.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* ---- the meeting of a block's whole warps ---------------------------------------------------- */

/* Returns true if the warp is in a bitmap of struct exec_meeting. */
static inline bool exec_meeting_has(const struct exec_warp *warp, uint32_t warps)
{
    return warps >> warp->index & 1;
}

/* The running warp, which is whole, waits at barrier `inst`. */
static inline void exec_meeting_add(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_meeting *meeting = &warp->block->meeting;
    meeting->at = inst;
    meeting->last = warp->index;
    meeting->waiting |= 1u << warp->index;
    warp->rounds &= ~warp->mask;
    warp->barriers++;
    warp->mask = 0;
}

/* ---- a warp that begins ---------------------------------------------------------------------- */

/* The range of fields that are zero in a warp that begins. */
enum {
    EXEC_ZEROS = offsetof(struct exec_warp, yield),
    EXEC_ZEROS_END = offsetof(struct exec_warp, clock_step)
};

/* Clears what is left of the block that ran before. */
static inline void exec_warp_wipe(struct exec_warp *warp)
{
    memset((unsigned char *)warp + EXEC_ZEROS, 0, EXEC_ZEROS_END - EXEC_ZEROS);
    warp->fresh = false;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Begins the turn of a warp that is whole, as run_fragments of machine/warp.c does but with fewer
 * steps, writing only fields that change. `before`: its instructions so far. */
static inline void exec_turn_begin(struct exec_warp *warp, const struct exec_inst *pc,
                                   struct exec_frame *frame, uint64_t before)
{
    struct exec_going *going = &warp->block->going;
    assert(warp->mask == 0);
    if (warp->frame != frame) {
        warp->frame = frame;
        warp->slots = frame->slots;
    }
    warp->mask = warp->live;
    if (!warp->full) warp->full = 1;
    if (warp->backward != EXEC_BACKWARD_ALONE) warp->backward = EXEC_BACKWARD_ALONE;
    if (warp->limit != EXEC_NO_LIMIT) warp->limit = EXEC_NO_LIMIT;
    warp->fragment_count = 0;
    warp->pc = pc;
    going->warp = warp;
    if (going->before != before) going->before = before;
    if (going->lanes != warp->live) going->lanes = warp->live;
}

/* Ends such a turn. Returns the number of instructions. */
static inline uint64_t exec_turn_end(struct exec_warp *warp)
{
    const struct exec_going *going = &warp->block->going;
    const uint64_t executed = warp->instructions - going->before;
    warp->lane_instructions += executed * exec_lane_count(going->lanes);
    return executed;
}

/* Returns true if the warp's next turn begins at `code` and needs nothing but exec_turn_begin. */
static inline bool exec_turn_begins_at(const struct exec_warp *warp, const struct exec_inst *code)
{
    const struct exec_meeting *meeting = &warp->block->meeting;
    return warp->fresh ? code == warp->block->going.code
                       : exec_meeting_has(warp, meeting->leaving) && code == meeting->from;
}

/* Returns the warp whose turn is next: the block's warps take turns in a ring. */
static inline struct exec_warp *exec_warp_behind(const struct exec_warp *warp)
{
    const struct exec_block *block = warp->block;
    return warp->index + 1u == block->warp_count ? block->warps
                                                 : (struct exec_warp *)(uintptr_t)warp + 1;
}

/* Ends a turn with `met`, and begins the next, of `next`, which begins at `from`. */
static inline void exec_turn_pass(struct exec_warp *warp, struct exec_warp *next,
                                  const struct exec_inst *from, unsigned met)
{
    struct exec_block *block = warp->block;
    block->going.executed += exec_turn_end(warp);
    block->going.met |= met;
    const uint64_t before = next->fresh ? 0 : next->instructions;
    if (next->fresh)
        exec_warp_wipe(next);
    else
        block->meeting.leaving &= ~(1u << next->index);
    exec_turn_begin(next, from, next->root, before);
}

#endif
