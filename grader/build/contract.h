/* contract: whether a submission brings a lesson.h of its own. The lesson's is what is compiled,
 * whatever was handed in, so that a student who changed the copy of it has to hear of that. This
 * module compares; nothing fails for it.
 */
#ifndef OVERLAP_GRADER_BUILD_CONTRACT_H
#define OVERLAP_GRADER_BUILD_CONTRACT_H

#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

/* Of the project's files the only one in a student's folder. */
#define CONTRACT_FILE "lesson.h"

/* Appends, as a sentence, that the submission's lesson.h is another one than the lesson's and is
 * not used. Nothing where it has none, or one that differs in blanks and the ends of lines only. */
void contract_note(const struct toolchain *toolchain, const struct handed_in *handed_in,
                   struct text *note);

#endif
