/* info: prints the software device's properties as a program reads them, and how much of CUDA the
 * device supports.
 */
#ifndef OVERLAP_CLI_INFO_H
#define OVERLAP_CLI_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Queries the libcuda.so.1 in the folder `libraries`. On failure returns false with a sentence in
 * `why`. */
bool info_write(FILE *out, const char *libraries, char *why, size_t why_size);

#endif
