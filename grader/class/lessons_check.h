/* lessons_check: for authors, `./grade --check-lessons`: checks whether a lesson is fit to be
 * handed out. It reads the source tree and starts graders; it changes nothing.
 */
#ifndef OVERLAP_GRADER_CLASS_LESSONS_CHECK_H
#define OVERLAP_GRADER_CLASS_LESSONS_CHECK_H

#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"
#include "grader/session/options.h"

/* Prints a line for each requirement, met or not. Returns 0, 1 when a lesson is not fit, 2 when
 * that could not be determined. */
int lessons_check(const struct toolchain *toolchain, const struct lesson *const *table,
                  const struct options *options);

#endif
