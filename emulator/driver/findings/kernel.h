/* kernel: tells what goes wrong inside device code without stopping it: races of threads and of
 * blocks, asynchronous copies that nobody waits for (check/racecheck.h). OVERLAP_RACES=off turns it
 * off with the rest.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_KERNEL_H
#define OVERLAP_DRIVER_FINDINGS_KERNEL_H

#include "emulator/driver/findings/races.h"
#include "emulator/exec/check/footprint.h"
#include "emulator/exec/check/racecheck.h"

/* For a launch; NULL when nobody wants to know. */
struct exec_racecheck *racecheck_begin(void);
/* What the launch did. Takes `watch` over; NULL is fine. */
void racecheck_end(struct operation *operation, struct exec_racecheck *watch);

/* What the trace calls the three kinds of access. */
extern const enum trace_access kernel_accesses[EXEC_ACCESS_COUNT];

#endif
