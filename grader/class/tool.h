/* tool: runs a system program such as git or one of Slurm's to its end and collects its output. The
 * program is trusted and not contained.
 */
#ifndef OVERLAP_GRADER_CLASS_TOOL_H
#define OVERLAP_GRADER_CLASS_TOOL_H

#include "grader/base/process.h"
#include "grader/base/text.h"

enum tool_ended {
    TOOL_DONE,        /* with exit status 0 */
    TOOL_REFUSED,     /* otherwise: "<arguments[0]> <refuses>: ...", with what it printed */
    TOOL_NOT_STARTED, /* "<arguments[0]> cannot be started: ..." */
};

/* Appends the program's output to `printed` (may be NULL), and the sentence of a failure to
 * `why`. */
enum tool_ended tool_run(const struct process_spec *spec, const char *refuses, struct text *printed,
                         struct text *why);

#endif
