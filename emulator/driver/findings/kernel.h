/* kernel: reports mistakes inside device code that do not stop it: races between threads and
 * between blocks, asynchronous copies that are not awaited (check/racecheck.h). OVERLAP_RACES=off
 * turns this off with the rest.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_KERNEL_H
#define OVERLAP_DRIVER_FINDINGS_KERNEL_H

#include "emulator/driver/findings/races.h"
#include "emulator/exec/check/footprint.h"
#include "emulator/exec/check/racecheck.h"

/* Creates the recorder of a launch; NULL when race checking is off. */
struct exec_racecheck *racecheck_begin(void);
/* Reports what the launch did wrong, and destroys `watch`; NULL is fine. */
void racecheck_end(struct operation *operation, struct exec_racecheck *watch);

/* The trace's names of the three kinds of access. */
extern const enum trace_access kernel_accesses[EXEC_ACCESS_COUNT];

#endif
