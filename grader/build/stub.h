/* stub: finds out whether a submission is still the stub that the lesson began with. The original
 * stubs are kept in grader/lessons/<folder>/stub/, because the copies in lessons/ are for the
 * student to edit. This module compiles and runs nothing.
 */
#ifndef OVERLAP_GRADER_BUILD_STUB_H
#define OVERLAP_GRADER_BUILD_STUB_H

#include "grader/base/text.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

/* Appends the stub's text of the lesson's file `name`. Returns 0, or -1 with errno: the lesson has
 * no stub. */
int stub_read(const struct toolchain *toolchain, const struct lesson *lesson, const char *name,
              struct text *text);

/* Returns true when each of the lesson's files equals its stub byte for byte; false where the
 * lesson has no stub. */
bool stub_untouched(const struct toolchain *toolchain, const struct handed_in *handed_in);

/* Finds where the student begins to write: the line of the stub that names the lesson's
 * function. */
void stub_place(const struct handed_in *handed_in, struct place *place);

#endif
