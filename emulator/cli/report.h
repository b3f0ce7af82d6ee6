/* report: prints the findings of a program's run from its trace, as sentences with source lines.
 * The result depends only on the trace and the files that it names.
 */
#ifndef OVERLAP_CLI_REPORT_H
#define OVERLAP_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/trace.h"

struct report_run {
    const char *program; /* as the user named it */
    bool may_be_idle;    /* a run without any CUDA call is not reported */
    bool leaks; /* objects alive at its end are leaks: true if it exited with status 0 and is not
                   Python, which keeps modules and packages until the process ends */
};

/* Writes the report to `out`; writes nothing without findings. Returns the number of findings, the
 * same one on the same line counted once; -1: no memory. */
int report_write(FILE *out, const struct trace *trace, const struct report_run *run);

#endif
