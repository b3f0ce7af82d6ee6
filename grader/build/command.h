/* command: the compilers' command lines for one lesson, and the hash of the sources and parts that
 * they use.
 */
#ifndef OVERLAP_GRADER_BUILD_COMMAND_H
#define OVERLAP_GRADER_BUILD_COMMAND_H

#include "grader/base/sha256.h"
#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"

#define COMMAND_MOST_ARGUMENTS 160
#define COMMAND_MOST 24

struct command {
    char *arguments[COMMAND_MOST_ARGUMENTS + 1]; /* NULL-ended; owned */
    size_t count;
};

struct command_list {
    struct command commands[COMMAND_MOST];
    size_t count;
    size_t submitted; /* the first `submitted` commands compile the student's files; the last one
                         links */
    bool failed;      /* no memory, or a command was too long */
};

/* Makes the commands that turn WORK/src/<the student's files> into WORK/lesson.so (intake.h). Each
 * command must be run in WORK/src. The n-th compilation writes WORK/n.o and WORK/n.d. */
void command_list_make(struct command_list *list, const struct toolchain *toolchain,
                       const struct lesson *lesson);
void command_list_free(struct command_list *list);

/* Adds compilers, flags and parts to the hash. Returns 0, or -1: a part is missing; its name is in
 * `missing` (at most `size` bytes). */
int command_add_to_hash(struct sha256 *hash, const struct toolchain *toolchain,
                        const struct lesson *lesson, char *missing, size_t size);

/* Returns what follows the last dot of `name` ("c", "cu", "h"), or "". */
const char *command_extension(const char *name);
bool command_is_header(const char *name);

#endif
