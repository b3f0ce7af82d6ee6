/* rows: bytes of memory as an API function describes them, and one access that failed. */
#ifndef OVERLAP_DRIVER_FINDINGS_ROWS_H
#define OVERLAP_DRIVER_FINDINGS_ROWS_H

#include "emulator/races/races.h"

#include <stdint.h>

/* `height` rows of `width` bytes, `pitch` bytes apart, in `depth` slices that are `slice` bytes
 * apart. */
struct races_rows {
    uint64_t address;
    uint64_t width, pitch, height; /* bytes, bytes, rows */
    uint64_t slice, depth;         /* bytes, slices */
};

/* A failed access. */
struct findings_access {
    uint64_t address, bytes;
    enum races_mode mode;
    const char *file; /* of device code; NULL: not in device code, or unknown */
    uint32_t line;
};

#endif
