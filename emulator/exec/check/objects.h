/* exec_objects: reports threads that use a barrier object (mbarrier) which nothing has ordered
 * behind its initialisation by another thread. Private to emulator/exec.
 *
 * What orders the two: a barrier of the block or cluster that completes between them, whichever
 * threads take part; a phase of any object that the user's warp has seen complete since; anything
 * that lets threads know more of each other than barriers tell (check/order.h). Lanes of one warp
 * are not checked against each other, nor are blocks of a cluster. */
#ifndef OVERLAP_EXEC_CHECK_OBJECTS_H
#define OVERLAP_EXEC_CHECK_OBJECTS_H

#include "emulator/exec/check/shadow.h"

struct exec_objects;

void exec_objects_destroy(struct exec_objects *objects); /* NULL is fine */
/* A barrier of the block is complete, or another block begins. NULL is fine. */
void exec_objects_met(struct exec_objects *objects);

/* _made: the lane initialises the object at an offset of its block's shared memory. _used: it
 * arrives there, or looks at its phase. _heard: its warp has seen a phase complete. */
void exec_objects_made(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset);
void exec_objects_used(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset);
void exec_objects_heard(const struct exec_warp *warp);

#endif
