/* compiler_messages: turns the output of a compiler or linker into a place and a sentence.
 */
#ifndef OVERLAP_GRADER_BUILD_COMPILER_MESSAGES_H
#define OVERLAP_GRADER_BUILD_COMPILER_MESSAGES_H

#include "grader/build/compile.h"

/* Fills in result->place, what and said (ok stays false). File names at the beginning of a line are
 * replaced by the names that the student knows. Understands gcc, clang, nvcc, ld. */
void compiler_messages_explain(const struct handed_in *handed_in, const char *said, size_t size,
                               struct compiled *result);

#endif
