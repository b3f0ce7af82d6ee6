/* exec_probe: what a launch would find in a multiprocessor's first-level cache, and how long its
 * accesses would keep the way there: judged for the first instructions of each warp of the first
 * block, in the first of several launches of a function with the same grid; the rest is taken to be
 * like them. Warps are run here in an order that is no GPU's, and are taken to go side by side: how
 * long ago something was touched is how many lines the one warp has touched between its own place
 * and the other's.
 *
 * It knows no time (timeline/model.h) and never changes what an instruction does.
 */
#ifndef OVERLAP_EXEC_MACHINE_PROBE_H
#define OVERLAP_EXEC_MACHINE_PROBE_H

#include "emulator/exec/warp.h"

enum { EXEC_PROBED = 2048 }; /* instructions of a warp */

struct exec_probe;

/* NULL: this launch is not looked at, or there is no memory. */
struct exec_probe *exec_probe_create(const struct exec_launch *launch);
void exec_probe_destroy(struct exec_probe *probe);
/* Around an instruction of a warp that is looked at. */
void exec_probe_before(struct exec_probe *probe, const struct exec_warp *warp,
                       const struct exec_inst *inst);
void exec_probe_after(struct exec_probe *probe, const struct exec_warp *warp);
/* The launch has ended: fills in what its counts have by the probe (NULL: by an earlier one's). */
void exec_probe_count(const struct exec_probe *probe, const struct exec_launch *launch,
                      struct exec_counts *counts);

#endif
