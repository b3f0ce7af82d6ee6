/* interactive: the interactive screen: grades a lesson whenever its files are saved, and shows the
 * verdict.
 */
#ifndef OVERLAP_GRADER_LEARN_INTERACTIVE_H
#define OVERLAP_GRADER_LEARN_INTERACTIVE_H

#include "grader/learn/guide.h"

/* Returns the exit status. */
int interactive_run(struct guide *guide);

#endif
