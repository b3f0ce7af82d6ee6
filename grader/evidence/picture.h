/* picture: the timelines of a timed run and of the reference solution's beside it, drawn by
 * trace/timeline. It knows which records are the timed phase's, and what the rows mean in words.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_PICTURE_H
#define OVERLAP_GRADER_EVIDENCE_PICTURE_H

#include "grader/base/text.h"
#include "grader/evidence/judge.h"
#include "trace/timeline/timeline.h"

#define PICTURE_PIXELS 1200 /* of an SVG */

/* There is something to draw: a timed run that ended well, and in its phase the device did
 * something.
 */
bool picture_possible(const struct evidence *evidence);

/* Appends it for a terminal of `width` columns, with at most so many streams of each run (0: the
 * engines alone), and what its signs mean. Nothing when it is not possible. */
void picture_add(struct text *text, const struct evidence *evidence, unsigned width,
                 unsigned streams);

/* Writes it to a file, whose name ends in .json or .svg (picture_takes). Returns 0, or -1 with
 * errno.
 */
int picture_write(const struct evidence *evidence, const char *path);
bool picture_takes(const char *path);

#endif
