/* key: a hash of a lesson as it was handed in, under which a caller can store a verdict. The key
 * changes with the student's sources and with every file of the project's that goes into lesson.so.
 * This module copies and compiles nothing.
 */
#ifndef OVERLAP_GRADER_BUILD_KEY_H
#define OVERLAP_GRADER_BUILD_KEY_H

#include "grader/base/sha256.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

/* Returns 0, or -1 with key "": a file cannot be read. */
int key_of(const struct toolchain *toolchain, const struct handed_in *handed_in,
           char key[SHA256_TEXT_SIZE]);

#endif
