/* file: reads a whole file into memory. */
#ifndef OVERLAP_EMULATOR_BASE_FILE_H
#define OVERLAP_EMULATOR_BASE_FILE_H

#include <stddef.h>

/* Returns the bytes of a file, followed by a zero byte; the caller frees them. *size does not count
 * the zero. Returns NULL with errno set when the file cannot be read or the host has no memory
 * (ENOMEM). */
char *file_read(const char *path, size_t *size);

#endif
