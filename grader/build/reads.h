/* reads: what a compilation read, by the compiler's own list, and which addresses of lesson.so come
 * from which of the student's files, by the linker's map. The first shows that nothing was taken in
 * that was not handed in; the second says whose a line is, whatever name its source gives itself.
 */
#ifndef OVERLAP_GRADER_BUILD_READS_H
#define OVERLAP_GRADER_BUILD_READS_H

#include "grader/build/command.h"
#include "grader/build/compile.h"

/* Every file in the lists WORK/n.d is the student's, ours, the system's or the toolkit's. Returns
 * 0, or -1 with the result's place and sentence, or its trouble. */
int reads_check(const struct handed_in *handed_in, const struct toolchain *toolchain,
                const char *work, const struct command_list *commands, struct compiled *result);

/* Makes of WORK/map the file WORK/objects (sources.h). Returns 0, or -1 with errno. */
int reads_note_objects(const struct lesson *lesson, const char *work);

#endif
