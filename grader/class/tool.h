/* tool: runs a program of the system's to its end, as git and Slurm's are, and takes what it
 * prints. It contains nothing: what it runs is trusted.
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

/* `printed` (NULL: nobody asks) takes what it said; `why` the sentence where it was not done. */
enum tool_ended tool_run(const struct process_spec *spec, const char *refuses, struct text *printed,
                         struct text *why);

#endif
