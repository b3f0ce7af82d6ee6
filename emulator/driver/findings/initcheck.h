/* initcheck: reports reads of device memory that nothing has written.
 *
 * Only memory whose every write is visible to the device is checked: allocations of cudaMalloc and
 * its relatives. Page-locked, mapped and (in kernels) managed memory, arrays, module variables, the
 * heap of malloc in kernels, shared and local memory are never reported. Correct programs do read
 * unwritten memory: threads beyond the end of an array that discard the value, compilers that hoist
 * a load above its branch, copies of structs with padding, atomics on a counter that is never read.
 * Only data-flow tracking could tell whether such a read matters. Reported are therefore
 *
 * - a kernel's load or atomic of bytes that were not written before the kernel nor anywhere in it
 *    (but by threads that store there what they compute from it: y = a * x + b * y), if no byte of
 *    the whole access was written (padding between written bytes is excused), and unless all of
 *    them lie at the end of an otherwise written allocation, within what one surplus block would
 *    read and at most half of the allocation;
 * - a copy out of an allocation that was never written and never passed to a kernel. In Python
 *    neither a copy of a single element (Numba reads the first element of an array that it
 *    broadcasts before it fills the array, and discards the value) nor one inside the device
 *    (torch.compile saves a kernel's buffers before it times variants of the kernel on them);
 * - host code that read unwritten managed memory before it first passes that memory to the device,
 *    or without ever doing so: page protection shows what the host does between calls.
 *
 * If a pending writer is not ordered after the reader, this is a race and not an initcheck finding,
 * whichever runs first. A read is therefore held back until such writers have run.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_INITCHECK_H
#define OVERLAP_DRIVER_FINDINGS_INITCHECK_H

#include "emulator/driver/findings/races.h"

/* A new allocation whose every write will be reported here; and its end. */
void initcheck_begins(const struct memory_region *region);
void initcheck_ends(const struct memory_region *region);
/* The current call passes this address to work of the device; and: such work accesses the
 * region. */
void initcheck_given(uint64_t address);
void initcheck_touched(const struct memory_region *region);
/* The host may have written meanwhile what a kernel with this footprint, or NULL, reads. */
void initcheck_met(const struct exec_footprint *footprint);
/* `op` is pending and may write at this address. */
void initcheck_pending(const struct timeline_op *op, uint64_t address);
/* An operation other than a kernel writes these rows; `operation` NULL: the rows count as
 * written. */
void initcheck_written(const struct operation *operation, const struct races_rows *rows);
/* A copy reads these rows. */
void initcheck_copied(struct operation *operation, const struct races_rows *rows);
/* A kernel pauses: what it has stored so far counts, because others may read it before it ends.
 * `footprint` may be NULL. */
void initcheck_paused(const struct exec_footprint *footprint);
/* A kernel with blocks of `block_threads` threads ran with these parameters (`bytes` in size);
 * `footprint` has its accesses; NULL: unknown. */
void initcheck_launched(struct operation *operation, const struct exec_footprint *footprint,
                        const void *parameters, size_t bytes, uint64_t block_threads);
/* Nothing will run any more. */
void initcheck_last(void);

#endif
