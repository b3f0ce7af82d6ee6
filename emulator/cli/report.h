/* report: what was found in a program, from the trace of its run, in sentences with lines of
 * source. A pure function of the trace and of the files that it names.
 */
#ifndef OVERLAP_CLI_REPORT_H
#define OVERLAP_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/trace.h"

struct report_run {
    const char *program; /* as it was named */
    bool names_cuda;     /* it was built for CUDA: that it made no call is worth saying */
    bool leaks; /* what it still held at its end are leaks: status 0, and no Python, which keeps
                   modules and packages to the end of the process */
};

/* Writes the report to `out`; nothing, when nothing was found. Returns how many findings there are,
 * the same one on the same line counted once. -1: no memory. */
int report_write(FILE *out, const struct trace *trace, const struct report_run *run);

#endif
