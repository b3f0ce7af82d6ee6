/* intake: copies a submission's files once into a folder of the grader's own and hashes them while
 * copying, so that what is judged is what was compiled, whatever happens to the originals; and
 * copies the project's files that a lesson needs beside them. Nothing here is compiled or run.
 *
 *   WORK/src/    the student's files
 *   WORK/ours/   lessons/NN_name/lesson.h; the headers of kernels/, grader/child/ and
 *                grader/lessons/NN_name/, and the drive's sources; with src/ the whole include path
 *                of a compilation, except the toolkit
 *
 * Refused with a sentence: links, anything that is not a regular file, files that are too large or
 * too many, names that cannot be shown, and directives that would misstate a line number or include
 * files that were not handed in.
 */
#ifndef OVERLAP_GRADER_BUILD_INTAKE_H
#define OVERLAP_GRADER_BUILD_INTAKE_H

#include "grader/base/sha256.h"
#include "grader/build/compile.h"

/* Fills WORK/src and adds its files to the hash. Returns 0, or -1 with the result's place and
 * sentence, or its trouble. */
int intake_submission(const struct handed_in *handed_in, const char *work, struct sha256 *hash,
                      struct compiled *result);

/* Fills WORK/ours. Returns 0, or -1 with errno. */
int intake_ours(const struct toolchain *toolchain, const struct lesson *lesson, const char *work);

/* Adds to the hash everything of the project's that goes into lesson.so: compilers, flags, parts,
 * and the files that intake_ours copies. Returns 0, or -1 with errno: a file is missing; its name
 * is in `missing` (at most `size` bytes). */
int intake_hash_ours(const struct toolchain *toolchain, const struct lesson *lesson,
                     struct sha256 *hash, char *missing, size_t size);

/* Finds a refused directive. Returns its line (from 1), with the reason as a sentence in `why`; 0:
 * there is none. */
unsigned intake_refused_line(const char *text, size_t size, char *why, size_t why_size);

#endif
