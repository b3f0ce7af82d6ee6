/* format: what a file is that was handed in in place of a source, from its bytes alone: a program,
 * an archive, a document, a picture, a text in an encoding that compilers do not read. A compiler
 * would call each a source with hundreds of stray characters.
 */
#ifndef OVERLAP_GRADER_BUILD_FORMAT_H
#define OVERLAP_GRADER_BUILD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true, with a clause without a full stop in `why` ("it is a PDF document"), when the bytes
 * are not a source's text. `bytes` ends with a NUL behind `size`. */
bool format_is_no_source(const char *bytes, size_t size, char *why, size_t why_size);

#endif
