/* info: the software device's properties, as a program would be told them, and how much of CUDA it
 * supports.
 */
#ifndef OVERLAP_CLI_INFO_H
#define OVERLAP_CLI_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Asks the libcuda.so.1 in the folder `libraries`. False with a sentence in `why`. */
bool info_write(FILE *out, const char *libraries, char *why, size_t why_size);

#endif
