/* races: tells races what operations, kernels and the host touch, and tells what
 * races finds.
 *
 * Accesses are told when they happen: an operation's as it runs, the host's in the call that makes
 * them. Whether two are ordered is not decided here. OVERLAP_RACES=off turns all of it off.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_RACES_H
#define OVERLAP_DRIVER_FINDINGS_RACES_H

#include "emulator/driver/core/core.h"
#include "emulator/driver/findings/rows.h"
#include "emulator/exec/check/footprint.h"
#include "emulator/exec/exec.h"
#include "emulator/races/races.h"

/* Called by cuInit, with the timeline made. false: no memory. */
bool races_begin(void);

/* The operation, which is running, touches them. */
void races_operation(struct operation *operation, enum races_mode mode,
                     const struct races_rows *rows);
/* The operation, which is running, frees the region in its stream's order. */
void races_freed(struct operation *operation, const struct memory_region *region);
/* The operation fails for this access. Where it is to memory that another operation freed before,
 * and nothing orders the two, that is told: as it would have been, had they run the other way
 * round. */
void races_fault(struct operation *operation, const struct findings_access *access);
/* The host touches them inside the call that it is in. */
void races_host(enum races_mode mode, const struct races_rows *rows);

/* Host code touches these bytes outside of any call; `pc` is the instruction. */
void races_host_touch(enum races_mode mode, uint64_t address, uint64_t size, uint64_t pc);
/* Is anything recorded at all? */
bool races_watching(void);

/* For what a launch touches while the kernel before it may still run, and tells of it: lines are in
 * `footprint`, and it is `primary` that it may race with. NULL: no memory. */
struct exec_footprint *races_footprint_early(void);
void races_early(struct operation *operation, const struct exec_footprint *footprint,
                 const struct exec_footprint *early, const struct timeline_op *primary);

/* For the operation's launch, of a kernel that converses (exec_function_info) or not. NULL when
 * nothing is to be recorded. */
struct exec_footprint *races_footprint(struct operation *operation, bool converses);
/* A kernel pauses that will go on touching what its footprint says, or it goes on (`goes_on`);
 * nothing else touches memory in between but the host. NULL is fine. */
void races_pause(const struct exec_footprint *footprint, bool goes_on);
/* What a launch has touched, of a kernel that converses (exec_function_info) or not. Takes the
 * footprint over; NULL is fine. */
void races_launch(struct operation *operation, struct exec_footprint *footprint, bool converses);

/* What it has touched so far, of one that goes on. */
void races_part(struct operation *operation, const struct exec_footprint *footprint,
                bool converses);

/* The region ends, by the call that the host is in. */
void races_release(const struct memory_region *region);
/* It has ended, and who ended it has been told. */
void races_forget_region(const struct memory_region *region);

/* The operation is released: whoever it raced with may still name it. */
void races_operation_end(struct operation *operation);

#endif
