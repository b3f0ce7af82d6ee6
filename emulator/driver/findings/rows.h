/* rows: bytes of memory as an API function describes them, and as an access touches them. */
#ifndef OVERLAP_DRIVER_FINDINGS_ROWS_H
#define OVERLAP_DRIVER_FINDINGS_ROWS_H

#include "emulator/races/races.h"

#include <stdint.h>

/* Rows of `width` bytes from `address` on, in slices. */
struct races_rows {
    uint64_t address;
    uint64_t width, pitch, height; /* bytes, bytes, rows */
    uint64_t slice, depth;         /* bytes, slices */
};

/* One access, which failed. */
struct findings_access {
    uint64_t address, bytes;
    enum races_mode mode;
    const char *file; /* of device code; NULL: not in device code, or unknown */
    uint32_t line;
};

#endif
