/* sources: finds the source line of an address in a lesson.so by its debug information (elfutils'
 * libdw). It knows two kinds of files: the student's, which were compiled under the name
 * SOURCES_SUBMISSION/..., and the project's, below the root of the source tree.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_SOURCES_H
#define OVERLAP_GRADER_EVIDENCE_SOURCES_H

#include "grader/evidence/judge.h"

/* The folder that a submission's files are compiled under, wherever they really are, so that the
 * same text gives the same lesson.so (-ffile-prefix-map). */
#define SOURCES_SUBMISSION "/submission"
/* The name of the source tree's root in debug information. */
#define SOURCES_OURS "/overlap"
/* The same in device code, whose compiler knows of no -ffile-prefix-map. */
#define SOURCES_OURS_ON_THE_DEVICE "/proc/self/cwd/../ours"

struct sources;

/* Opens the debug information of `library`. The student's files are shown as `shown_folder`/name;
 * files below `root` are shown relative to it. Returns NULL when there is no memory or the file
 * cannot be read; every lookup on NULL returns false. */
struct sources *sources_open(const char *library, const char *shown_folder, const char *root);
void sources_close(struct sources *sources);

/* Finds the line of the instruction at `offset` from the load address. Where a function of another
 * file is inlined into the student's code there, the student's line that calls it. */
bool sources_place(const struct sources *sources, uint64_t offset, struct place *place);
/* As sources_place, but finds only whether the place is in the submission. */
bool sources_know(const struct sources *sources, uint64_t offset, bool *submission);
/* Fills in place->file, and whether it is the student's, from a file name in debug information.
 */
void sources_file(const struct sources *sources, const char *file, struct place *place);
/* Finds the line where the function of that name begins in a file of the student's. */
bool sources_function(const struct sources *sources, const char *function, struct place *place);

#endif
