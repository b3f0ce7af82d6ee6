/* exec_poison: what a shuffle gave a lane out of one that takes no part: which registers hold it,
 * and who uses it. Private to emulator/exec.
 *
 * PTX leaves such a value open. Right programs meet it all the same: in a tree of shuffles over
 * some lanes the upper ones get values that nobody looks at. So the value is followed through the
 * registers of its function, lane by lane, and is an error where it leaves them for good: stored to
 * global memory, stored to shared memory by one lane alone, given to an atomic or taken as its
 * address. Where it is not sure what an instruction does, all is forgotten.
 *
 * A warp is followed from its first such value until its block ends; others pay nothing.
 *
 * Source: PTX ISA 9.0, 9.7.9.6 (shfl.sync).
 */
#ifndef OVERLAP_EXEC_CHECK_POISON_H
#define OVERLAP_EXEC_CHECK_POISON_H

#include "emulator/exec/check/check.h"

/* `inst`, a shuffle, is about to give each lane of warp->mask what lane from[l] has, and poison to
 * those of `absent`. Returns whether the warp has poison from now on, and had none. */
bool exec_poison_shuffle(struct exec_warp *warp, const struct exec_inst *inst, const uint32_t *from,
                         uint32_t absent);
/* A warp that has poison is about to run `inst`. */
void exec_poison_step(struct exec_warp *warp, const struct exec_inst *inst);
/* The warp's block has ended. */
void exec_poison_forget(struct exec_warp *warp);

#endif
