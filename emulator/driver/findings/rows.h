/* rows: bytes of memory as an API function describes them. */
#ifndef OVERLAP_DRIVER_FINDINGS_ROWS_H
#define OVERLAP_DRIVER_FINDINGS_ROWS_H

#include <stdint.h>

/* Rows of `width` bytes from `address` on, in slices. */
struct races_rows {
    uint64_t address;
    uint64_t width, pitch, height; /* bytes, bytes, rows */
    uint64_t slice, depth;         /* bytes, slices */
};

#endif
