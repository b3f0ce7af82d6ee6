/* compile: from a student's files to lesson.so, and what the compiler said where it did not work.
 *
 * The student's files are copied to a folder of their own (without a lesson.h or a Makefile of
 * theirs: the contract is the project's), compiled and linked by commands of ours under limits, and
 * kept in the cache under the hash of everything that went in, so that the same text is compiled
 * once. It never runs anything that the student handed in, and remembers no trouble of the
 * machine's.
 */
#ifndef OVERLAP_GRADER_BUILD_COMPILE_H
#define OVERLAP_GRADER_BUILD_COMPILE_H

#include "grader/base/trouble.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

struct compiled {
    bool ok;
    bool from_cache;
    char library[PATH_MAX]; /* lesson.so */
    bool locked;            /* `lock` is a descriptor that keeps the library from being removed */
    int lock;
    struct trouble trouble; /* the machine's; what follows says nothing then */
    /* Where it did not work: */
    struct place place; /* the first error's line; line 0: not in one of the student's files */
    char what[300];     /* one sentence */
    char *said;         /* the compiler's messages, quoted; owned; may be NULL */
};

struct compile_request {
    const struct handed_in *handed_in;
    struct compiled *result; /* filled in; release with compiled_free */
};

/* Compiles all of them, a few at a time. Returns 0, or -1: none of them could be begun, or it was
 * interrupted. A submission that does not compile, or one that could not be compiled for the
 * machine's trouble (result->trouble), is not an error here. */
int compile_all(const struct toolchain *toolchain, const struct compile_request *requests,
                size_t count, struct trouble *trouble);
void compiled_free(struct compiled *compiled);

/* What a process of a compiler may take of a processor, however busy the machine is. */
#define COMPILE_SECONDS_VARIABLE "OVERLAP_COMPILER_SECONDS"
#define COMPILE_MOST_SECONDS 30
/* In seconds: what the variable says, else the most; 0: what it says is no such number. */
unsigned compile_seconds(void);

#endif
