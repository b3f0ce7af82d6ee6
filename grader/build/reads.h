/* reads: checks which files a compilation read, by the compiler's own dependency list, and finds
 * which addresses of lesson.so come from which of the student's files, by the linker's map. The
 * first shows that no file was included that was not handed in; the second shows whose a line is,
 * whatever file name its source claims.
 */
#ifndef OVERLAP_GRADER_BUILD_READS_H
#define OVERLAP_GRADER_BUILD_READS_H

#include "grader/build/command.h"
#include "grader/build/compile.h"

/* Checks that every file in the lists WORK/n.d is the student's, the project's, the system's or the
 * toolkit's. Returns 0, or -1 with the result's place and sentence, or its trouble. */
int reads_check(const struct handed_in *handed_in, const struct toolchain *toolchain,
                const char *work, const struct command_list *commands, struct compiled *result);

/* Writes the file WORK/objects (sources.h) from WORK/map. Returns 0, or -1 with errno. */
int reads_note_objects(const struct lesson *lesson, const char *work);

#endif
