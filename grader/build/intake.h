/* intake: a submission's files, copied once into a folder of the grader's own and hashed as they
 * are copied, so that what is judged is what was compiled whatever happens to the originals; and
 * beside them our own files that a lesson needs. Nothing here is compiled or run.
 *
 *   WORK/src/    the student's files
 *   WORK/ours/   lessons/NN_name/lesson.h; the headers of kernels/, grader/child/ and
 *                grader/lessons/NN_name/, and the drive's sources; with src/ the whole include path
 *                of a compilation, but for the toolkit
 *
 * Refused with a sentence: links, what is no file, files that are too large or too many, names that
 * cannot be shown, and directives that would misname a line or read what was not handed in.
 */
#ifndef OVERLAP_GRADER_BUILD_INTAKE_H
#define OVERLAP_GRADER_BUILD_INTAKE_H

#include "grader/base/sha256.h"
#include "grader/build/compile.h"

/* Fills WORK/src and adds to the hash. Returns 0, or -1 with the result's place and sentence, or
 * its trouble. */
int intake_submission(const struct handed_in *handed_in, const char *work, struct sha256 *hash,
                      struct compiled *result);

/* Fills WORK/ours. Returns 0, or -1 with errno. */
int intake_ours(const struct toolchain *toolchain, const struct lesson *lesson, const char *work);

/* Adds to the hash everything of ours that goes into lesson.so: compilers, flags, parts, and what
 * intake_ours copies. Returns 0, or -1 with errno: something is not there (`missing`, at most size
 * bytes). */
int intake_hash_ours(const struct toolchain *toolchain, const struct lesson *lesson,
                     struct sha256 *hash, char *missing, size_t size);

/* A directive that is refused: its line (from 1), and why as a sentence; 0: there is none. */
unsigned intake_refused_line(const char *text, size_t size, char *why, size_t why_size);

#endif
