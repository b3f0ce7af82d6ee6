/* key: a name for the content of a lesson as it is handed in, for whoever remembers a verdict: it
 * changes with the student's sources and with anything of ours that goes into lesson.so. It copies
 * and compiles nothing.
 */
#ifndef OVERLAP_GRADER_BUILD_KEY_H
#define OVERLAP_GRADER_BUILD_KEY_H

#include "grader/base/sha256.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

/* Returns 0, or -1 and "": a file cannot be read. */
int key_of(const struct toolchain *toolchain, const struct handed_in *handed_in,
           char key[SHA256_TEXT_SIZE]);

#endif
