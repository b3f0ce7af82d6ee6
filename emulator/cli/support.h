/* support: what of CUDA the software device supports, by name: a table made from the very rows that
 * the libraries are made from, so that it cannot say anything else than they do.
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

/* The whole table: one line for every name, in groups. */
void support_write(FILE *out);

#endif
