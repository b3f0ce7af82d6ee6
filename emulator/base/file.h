/* file: a whole file in memory. */
#ifndef OVERLAP_EMULATOR_BASE_FILE_H
#define OVERLAP_EMULATOR_BASE_FILE_H

#include <stddef.h>

/* The bytes of a file and a zero behind them, to be freed; *size is without the zero. NULL with
 * errno: it cannot be read, or ENOMEM. */
char *file_read(const char *path, size_t *size);

#endif
