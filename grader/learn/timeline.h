/* timeline: when the device did what, as rows of text; of a run that is held against the reference
 * solution's, both, on one scale.
 */
#ifndef OVERLAP_GRADER_LEARN_TIMELINE_H
#define OVERLAP_GRADER_LEARN_TIMELINE_H

#include "grader/base/text.h"
#include "grader/evidence/judge.h"

/* Appends it; nothing for a run that is not timed or did not end well. */
void timeline_of(struct text *text, const struct evidence *evidence);

#endif
