/* machine: finds the PTX in machine code. Where ptxas keeps lines (-lineinfo, -G), it keeps the PTX
 * as well, whole but for its .loc, in a section per translation unit.
 *
 * This module never looks at instructions. It checks every header against the bytes that are there.
 *
 * Source: elf(5); that the sections exist, and their names, is behaviour of ptxas and nvlink, which
 * tests/fatbin checks.
 */
#ifndef OVERLAP_FATBIN_MACHINE_H
#define OVERLAP_FATBIN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether an image that begins like an ELF file is machine code for a device. Of an image
 * of unknown size (FATBIN_UNKNOWN_SIZE) the identification is compared byte by byte, and reading
 * stops at the first wrong byte, because the image may be short. */
bool machine_is_code(const unsigned char *bytes, size_t size);

/* The compute capability that the code was made for, times ten. */
unsigned machine_arch(const unsigned char *bytes);

/* Finds the first text in section `*section` or a later one, and moves `*section` behind it.
 * Returns false if there is none. `*text` is zero-terminated and the caller's; NULL: no memory. */
bool machine_text(const unsigned char *bytes, size_t size, size_t *section, char **text,
                  size_t *length);

#endif
