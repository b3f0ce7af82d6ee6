/* initcheck: tells reads of device memory that nothing has written.
 *
 * Memory counts as never written only where every write can be seen: what cudaMalloc and its
 * relatives gave. Page-locked, mapped and (in kernels) managed memory, arrays, module variables and
 * the heap of malloc in kernels are never accused, nor are shared and local memory. Right programs
 * read those before they are written: threads beyond the end of an array, which throw away what
 * they read; compilers, ahead of the branch that asks for it; structs copied with their padding;
 * atomics that count into a place that is never read. Whether it matters would
 * be known only by following every value to where it is used. Accused are
 *  - a kernel's load or atomic of bytes that nothing has written before the kernel, and the kernel
 *    nowhere, if no byte of what is loaded at once was (padding between written bytes is not), and
 *    unless all of it lies in the last bytes of an allocation that is written elsewhere: as many as
 *    one block more than needed reads, and at most half;
 *  - a copy out of an allocation of which nothing was ever written and that no kernel was given;
 *    in Python not of one element: Numba reads the first of an array that it broadcasts, before it
 *    fills that, and throws it away.
 *
 *  - the host that has read managed memory of which nothing was written, when it gives that memory
 *    to the device for the first time, or to nobody: what it does between calls, its pages tell.
 *
 * Where a writer is pending that nothing orders behind the reader, it is a race and nothing else,
 * whichever of the two ran first: so what a reader finds is kept until such writers have run.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_INITCHECK_H
#define OVERLAP_DRIVER_FINDINGS_INITCHECK_H

#include "emulator/driver/findings/races.h"

/* A new allocation whose every write will be told; and its end. */
void initcheck_begins(const struct memory_region *region);
void initcheck_ends(const struct memory_region *region);
/* The current call gives this address to work of the device; and such work touches the region. */
void initcheck_given(uint64_t address);
void initcheck_touched(const struct memory_region *region);
/* `op` is pending, and may write at this address. */
void initcheck_pending(const struct timeline_op *op, uint64_t address);
/* An operation that is none of a kernel's writes these rows; NULL: they count as written. */
void initcheck_written(const struct operation *operation, const struct races_rows *rows);
/* A copy reads these rows. */
void initcheck_copied(struct operation *operation, const struct races_rows *rows);
/* A kernel of blocks of `block_threads` threads was launched with these parameters, and touched
 * what `footprint` says; NULL: nothing is known. */
void initcheck_launched(struct operation *operation, const struct exec_footprint *footprint,
                        const void *parameters, size_t bytes, uint64_t block_threads);
/* Nothing will run any more. */
void initcheck_last(void);

#endif
