/* exec_unwritten: shared memory that nothing in its block has written, and the use of values loaded
 * from it. Private to emulator/exec.
 *
 * A block's shared memory begins filled with one word, a different one in each block. A load or an
 * atomic that finds that word has found unwritten memory; a value of the program equals it by
 * chance once in 2^32. Loading alone is no error: lanes whose results nobody uses may read the rest
 * of a tile that is not full. So the value is followed, lane by lane, through registers
 * (check/poison.h) and through shared memory. An error is to give it to an atomic, or to store a
 * value computed from it to global memory; a value that is only moved there may be the padding of a
 * struct. An atomic on such a word is an error too, except an exchange, whose result may not be
 * used.
 *
 * Not followed: loads of less than a word, volatile and ordered accesses, matrices, another block's
 * memory in a cluster, and values on which only a branch depends.
 *
 * From a block's first such value on, its warps are observed instruction by instruction. All others
 * pay for a comparison at each load, and for none once a barrier has found every word written.
 */
#ifndef OVERLAP_EXEC_CHECK_UNWRITTEN_H
#define OVERLAP_EXEC_CHECK_UNWRITTEN_H

#include "emulator/exec/check/check.h"

/* A block begins, race-checked or not: fills its shared memory. And: a block has ended. */
void exec_unwritten_begin(struct exec_block *block);
void exec_unwritten_end(struct exec_block *block);
/* A barrier of the block has completed: checks whether any word is still unwritten. */
void exec_unwritten_met(struct exec_block *block);

/* Checks the access after row "watch", by the lanes of `mask`. Returns true if the warp begins to
 * be followed with this. To be called where exec_unwritten_wanted. */
bool exec_unwritten_watch(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask);
static inline bool exec_unwritten_wanted(const struct exec_warp *warp)
{
    return warp->block->unwritten || warp->poison != NULL;
}

#endif
