/* stub: whether a submission is still the stub that the lesson began with. The stubs as they came
 * are kept in grader/lessons/<folder>/stub/, because the copies in lessons/ are the student's to
 * edit. It compiles and runs nothing.
 */
#ifndef OVERLAP_GRADER_BUILD_STUB_H
#define OVERLAP_GRADER_BUILD_STUB_H

#include "grader/base/text.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

/* Appends the text of the stub of the lesson's file `name`. Returns 0, or -1 with errno: the lesson
 * keeps no stub. */
int stub_read(const struct toolchain *toolchain, const struct lesson *lesson, const char *name,
              struct text *text);

/* Each of the lesson's files is, byte for byte, its stub. False where the lesson keeps none. */
bool stub_untouched(const struct toolchain *toolchain, const struct handed_in *handed_in);

/* Where the student begins: the line of the stub that names the lesson's function. */
void stub_place(const struct handed_in *handed_in, struct place *place);

#endif
