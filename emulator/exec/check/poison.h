/* exec_poison: follows undefined values through registers and reports their use: values that a
 * shuffle took from a lane that takes no part, and values loaded from shared memory that nothing
 * has written (check/unwritten.h). Private to emulator/exec.
 *
 * PTX leaves such values undefined, but correct programs produce them too: in a tree of shuffles
 * over some lanes, the upper lanes get values that nobody uses. So the value is followed through
 * the registers of its function, lane by lane, and is an error where it leaves them: stored to
 * global memory, given to an atomic or used as its address, and, if a shuffle gave it, stored to
 * shared memory by a single active lane. Where an instruction's effect is not known, the lanes'
 * values are forgotten.
 *
 * A warp is followed from its first such value until its block ends; other warps pay nothing.
 *
 * Source: PTX ISA 9.0, 9.7.9.6 (shfl.sync).
 */
#ifndef OVERLAP_EXEC_CHECK_POISON_H
#define OVERLAP_EXEC_CHECK_POISON_H

#include "emulator/exec/check/check.h"

/* `inst`, a shuffle, is about to give each lane of warp->mask the value of lane from[l], and an
 * undefined one to the lanes of `absent`. Returns true if the warp begins to be followed with
 * this. */
bool exec_poison_shuffle(struct exec_warp *warp, const struct exec_inst *inst, const uint32_t *from,
                         uint32_t absent);
/* Updates the followed values of a warp that is about to run `inst`. */
void exec_poison_step(struct exec_warp *warp, const struct exec_inst *inst);
/* Lanes that hold an undefined value, and those of them for which it was computed from one: a value
 * that was only moved may be the padding of a struct. */
struct exec_poisoned {
    uint32_t lanes, computed;
};

/* The load at hand gives lanes[k] of its k-th register values that were never written, first loaded
 * at position `site`. Returns as exec_poison_shuffle does. */
bool exec_poison_loads(struct exec_warp *warp, const struct exec_inst *load,
                       const struct exec_poisoned lanes[4], uint32_t site);
/* Returns the lanes of a slot that hold an unwritten value; then sets *site as above. */
struct exec_poisoned exec_poison_unwritten(const struct exec_warp *warp, uint32_t slot,
                                           uint32_t *site);
/* Follows the warp from now on, although it holds no such value. */
void exec_poison_look(struct exec_warp *warp);
/* Reports that lane `lane` uses at `inst`, by an access of kind `access`, a value that an access of
 * kind `got` brought at position `site`. */
void exec_poison_tell(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      enum exec_wrong wrong, enum exec_access access, enum exec_access got,
                      uint32_t site);
/* The warp's block has ended: stops following the warp. */
void exec_poison_forget(struct exec_warp *warp);

#endif
