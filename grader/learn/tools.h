/* tools: runs other programs of the system for ./learn: diff, the pager.
 */
#ifndef OVERLAP_GRADER_LEARN_TOOLS_H
#define OVERLAP_GRADER_LEARN_TOOLS_H

#include "grader/base/text.h"

/* Runs the command (NULL-ended, [0] looked up on PATH) and appends its output. Returns its exit
 * status, or -1: it cannot be run. */
int tools_capture(const char *const *arguments, struct text *printed);

/* Shows the file in $PAGER, else less, else more; prints it if there is no terminal. */
void tools_page(const char *path);

/* Runs the command on the terminal, in `folder`, and waits. Returns its exit status, or -1. */
int tools_run(const char *const *arguments, const char *folder);

#endif
