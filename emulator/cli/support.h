/* support: lists by name what the software device supports of CUDA. The table is made from the same
 * rows as the libraries, so it cannot disagree with them.
 */
#ifndef OVERLAP_CLI_SUPPORT_H
#define OVERLAP_CLI_SUPPORT_H

#include <stddef.h>
#include <stdio.h>

enum support_group { SUPPORT_RUNTIME, SUPPORT_DRIVER, SUPPORT_PTX, SUPPORT_GROUP_COUNT };

struct support_total {
    const char *group; /* "functions of the runtime API" */
    size_t supported, all;
};

struct support_total support_total(enum support_group group);

/* Writes the whole table, one line per name, in groups. */
void support_write(FILE *out);

#endif
