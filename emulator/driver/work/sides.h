/* sides: what copies and fills have in common: where one side is, what a call allows there, how it
 * is told to the detectors and to the timeline.
 */
#ifndef OVERLAP_DRIVER_WORK_SIDES_H
#define OVERLAP_DRIVER_WORK_SIDES_H

#include "emulator/driver/core/core.h"
#include "emulator/driver/findings/rows.h"
#include "emulator/races/races.h"

/* One side of a copy: rows of `width` bytes, `pitch` bytes apart, in slices `slice` bytes apart. */
struct side {
    uint64_t address; /* of the first byte */
    size_t pitch, slice;
    enum trace_place place; /* found by side_find */
};

struct extent {
    size_t width, height, depth; /* bytes, rows, slices */
};

/* What the API function, or the copy's direction, requires of a side. All addresses are in one
 * space, so a copy uses the real location: device memory declared as host memory is copied, with a
 * finding; pageable host memory declared as device memory is refused. */
enum demand { HOST_SIDE, DEVICE_SIDE, ANY_SIDE, ARRAY_SIDE };

/* Bytes from the first to one past the last; 0 if that does not fit an address. */
uint64_t side_span(const struct side *side, const struct extent *extent);

/* The host pointer for `address`: into a region's bytes, or ordinary host memory. NULL if a device
 * range is not allocated entirely. */
unsigned char *side_bytes(uint64_t address, uint64_t size, enum trace_place *place);

/* Finds where the side is, and refuses what the call does not allow. */
CUresult side_find(struct side *side, const struct extent *extent, enum demand demand,
                   enum trace_role role);

/* Reports what is wrong with the side, of `size` bytes. Returns `code`. */
CUresult side_refuse(enum trace_finding_id id, CUresult code, const struct side *side,
                     uint64_t size, enum trace_role role);

/* Returns true if the program wants synchronous calls to wait for what they do to this memory
 * (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS). */
bool side_syncs(const struct side *side);

/* One side as rows for race checking. */
struct races_rows side_rows(const struct side *side, const struct extent *extent);

/* Tells the memory that all of a one-row destination is overwritten: a large allocation is mostly
 * filled at once. */
void side_overwrite(const struct side *to, const struct extent *extent);

/* The operation fails because the memory at `address` is not there any more. */
enum timeline_ran side_gone(struct operation *operation, uint64_t address, enum trace_role role);

/* operation.pending of a copy or a fill. */
void side_pending(struct operation *operation, struct timeline_op *op);

#endif
