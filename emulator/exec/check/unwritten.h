/* exec_unwritten: shared memory that nothing in its block has written, and what becomes of what is
 * read there. Private to emulator/exec.
 *
 * A block's shared memory begins as one word over and over, another one in each block. Who loads
 * such a word, or changes it atomically, has found memory that nothing has written; a program's own
 * value is the same by chance once in 2^32. Loading alone is no mistake: of a tile that is not full
 * the rest may be read by lanes whose results nobody asks for. So the value is followed, lane by
 * lane, through registers (check/poison.h) and through shared memory, and is an error where it is
 * given to an atomic, or where something was computed from it and is stored to global memory: what
 * is only moved there may be the padding of a struct. So is an atomic on such a word, but for an
 * exchange, whose result may not be used.
 *
 * What is not followed: loads of less than a word, volatile and ordered
 * accesses, matrices, another block's memory in a cluster, and what only a branch depends on.
 *
 * From a block's first such value on its warps are looked at instruction by instruction; all others
 * pay for a comparison at each load, and for none when a barrier has found all words written.
 */
#ifndef OVERLAP_EXEC_CHECK_UNWRITTEN_H
#define OVERLAP_EXEC_CHECK_UNWRITTEN_H

#include "emulator/exec/check/check.h"

/* A block begins, watched or not: fills its shared memory. And it has ended. */
void exec_unwritten_begin(struct exec_block *block);
void exec_unwritten_end(struct exec_block *block);
/* The threads of a block of which some are unwritten have met: none may be by now. */
void exec_unwritten_met(struct exec_block *block);

/* The access that row "watch" stands before, by lanes `mask`. Returns whether the warp is followed
 * from now on, and was not. To be called where exec_unwritten_wanted. */
bool exec_unwritten_watch(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask);
static inline bool exec_unwritten_wanted(const struct exec_warp *warp)
{
    return warp->block->unwritten || warp->poison != NULL;
}

#endif
