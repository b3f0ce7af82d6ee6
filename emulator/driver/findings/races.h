/* races: passes accesses of operations, kernels and the host to the race detector (emulator/races),
 * and reports the races that it finds.
 *
 * Accesses are passed on as they happen: an operation's while it runs, the host's in the call that
 * makes them. This module does not decide whether two accesses are ordered. OVERLAP_RACES=off turns
 * all of it off.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_RACES_H
#define OVERLAP_DRIVER_FINDINGS_RACES_H

#include "emulator/driver/core/core.h"
#include "emulator/driver/findings/rows.h"
#include "emulator/exec/check/footprint.h"
#include "emulator/exec/exec.h"
#include "emulator/races/races.h"

/* Called by cuInit after it has created the timeline. Returns false if memory runs out. */
bool races_begin(void);

/* The running operation accesses these rows. */
void races_operation(struct operation *operation, enum races_mode mode,
                     const struct races_rows *rows);
/* The running operation frees the region in stream order. */
void races_freed(struct operation *operation, const struct memory_region *region);
/* The operation fails because of this access. If another operation freed the memory before and
 * nothing orders the two, the race is reported, as it would be had they run in the other order. */
void races_fault(struct operation *operation, const struct findings_access *access);
/* The host accesses these rows inside its current call. */
void races_host(enum races_mode mode, const struct races_rows *rows);

/* Host code accesses these bytes outside of any call; `pc` is the address of the instruction. */
void races_host_touch(enum races_mode mode, uint64_t address, uint64_t size, uint64_t pc);
/* Returns true if accesses are recorded at all. */
bool races_watching(void);

/* races_footprint_early makes the footprint for what a dependent launch accesses while the kernel
 * before it may still run; NULL: no memory. races_early checks `early` against `primary`, that
 * preceding kernel. The source lines are in `footprint`. */
struct exec_footprint *races_footprint_early(void);
void races_early(struct operation *operation, const struct exec_footprint *footprint,
                 const struct exec_footprint *early, const struct timeline_op *primary);

/* Makes the footprint for the operation's launch of a kernel. NULL when nothing is to be recorded.
 */
struct exec_footprint *races_footprint(struct operation *operation,
                                       const struct exec_function_info *info);
/* The kernel pauses, or resumes (`goes_on`); in between only the host accesses memory. NULL is
 * fine. */
void races_pause(const struct exec_footprint *footprint, bool goes_on);
/* How a kernel ran that may communicate through memory. */
struct races_talk {
    const struct exec_function_info *info; /* of the kernel; if it does not converse, all else is
                                              false */
    bool paused;        /* it has paused: the host and other operations went on between its parts */
    bool beside_paused; /* another kernel has paused and not ended: this one may have heard of it */
    bool uncertain;     /* a part of what it did is not known, or counts as another operation */
};
/* Reports what a finished launch accessed. Of a kernel that may have told the host, or what ran
 * beside it, that something is done before it ended, no more than what it stored without a fence
 * for the host: what came after may have waited for that. Destroys the footprint; NULL is fine. */
void races_launch(struct operation *operation, struct exec_footprint *footprint,
                  const struct races_talk *talk);

/* The running operation stores a value that others may be waiting for. */
void races_value(struct operation *operation, uint64_t address, uint64_t size);

/* Reports what a kernel that goes on has accessed so far. */
void races_part(struct operation *operation, const struct exec_footprint *footprint,
                bool converses);

/* The region ends, by the host's current call. */
void races_release(const struct memory_region *region);
/* The region has ended, and the access that ended it was passed on already. */
void races_forget_region(const struct memory_region *region);

/* The operation is released; races that involve it can still be reported. */
void races_operation_end(struct operation *operation);

#endif
