/* exec_poison: what a shuffle gave a lane out of one that takes no part, and what was loaded from
 * shared memory that nothing has written (check/unwritten.h): which registers hold it, and who uses
 * it. Private to emulator/exec.
 *
 * PTX leaves such values open. Right programs meet it all the same: in a tree of shuffles over
 * some lanes the upper ones get values that nobody looks at. So the value is followed through the
 * registers of its function, lane by lane, and is an error where it leaves them for good: stored to
 * global memory, given to an atomic or taken as its address, and, if a shuffle gave it, stored to
 * shared memory by one lane alone. Where it is not sure what an instruction does, all is forgotten.
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
/* Lanes that have such a value; of them those for which something was computed from it: what was
 * only moved may be a struct's padding. */
struct exec_poisoned {
    uint32_t lanes, computed;
};

/* The load at hand gives `lanes` of each of its registers what was never written, of which `site`
 * is where it was loaded first. Returns as exec_poison_shuffle does. */
bool exec_poison_loads(struct exec_warp *warp, const struct exec_inst *load,
                       const struct exec_poisoned lanes[4], uint32_t site);
/* Lanes of a slot that hold such a value; *site as above, if there are any. */
struct exec_poisoned exec_poison_unwritten(const struct exec_warp *warp, uint32_t slot,
                                           uint32_t *site);
/* The warp is followed from now on, though it has none. */
void exec_poison_look(struct exec_warp *warp);
/* Lane `lane` uses at `inst`, by such an access, what another access has got at `site`. */
void exec_poison_tell(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      enum exec_wrong wrong, enum exec_access access, enum exec_access got,
                      uint32_t site);
/* The warp's block has ended. */
void exec_poison_forget(struct exec_warp *warp);

#endif
