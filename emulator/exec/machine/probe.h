/* exec_probe: estimates what a launch finds in a multiprocessor's first-level cache, and how many
 * passes its accesses take there. It samples the first instructions of each warp of the first
 * block, in the first of several launches of a function with the same grid; all the rest is assumed
 * to be alike. Warps run here one after another, unlike on a GPU, so they are modelled as running
 * in step: the age of a cache line is the difference between how many lines the accessing warp has
 * touched so far and how many the line's last user had touched by then.
 *
 * It knows no time (timeline/model.h) and never changes what an instruction does.
 */
#ifndef OVERLAP_EXEC_MACHINE_PROBE_H
#define OVERLAP_EXEC_MACHINE_PROBE_H

#include "emulator/exec/warp.h"

enum { EXEC_PROBED = 2048 }; /* sampled instructions per warp */

struct exec_probe;

/* Returns NULL if this launch is not sampled or there is no memory. */
struct exec_probe *exec_probe_create(const struct exec_launch *launch);
void exec_probe_destroy(struct exec_probe *probe);
/* To be called around each sampled instruction of a warp. */
void exec_probe_before(struct exec_probe *probe, const struct exec_warp *warp,
                       const struct exec_inst *inst);
void exec_probe_after(struct exec_probe *probe, const struct exec_warp *warp);
/* At the end of the launch: fills in the counts that are estimated, from `probe` or, if that is
 * NULL, from an earlier launch's. */
void exec_probe_count(const struct exec_probe *probe, const struct exec_launch *launch,
                      struct exec_counts *counts);

#endif
