/* picture: draws the timelines of a timed run and of the reference solution's run beside it, by
 * means of trace/timeline. This module selects the records of the timed phase and names the rows.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_PICTURE_H
#define OVERLAP_GRADER_EVIDENCE_PICTURE_H

#include "grader/base/text.h"
#include "grader/evidence/judge.h"
#include "trace/timeline/timeline.h"

#define PICTURE_PIXELS 1200 /* width of an SVG */

/* Returns true when there is something to draw: a timed run that ended well, with work of the
 * device in its timed phase.
 */
bool picture_possible(const struct evidence *evidence);

/* Appends the picture for a terminal of `width` columns, with at most `streams` streams of each run
 * (0: the engines alone), and a legend. Appends nothing when picture_possible is false. */
void picture_add(struct text *text, const struct evidence *evidence, unsigned width,
                 unsigned streams);

/* Writes the picture to a file whose name ends in .json or .svg. Returns 0, or -1 with errno.
 */
int picture_write(const struct evidence *evidence, const char *path);
bool picture_takes(const char *path);

#endif
