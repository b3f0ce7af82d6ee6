/* compile: compiles a student's files into lesson.so, or collects the compiler's messages where
 * they do not compile.
 *
 * The student's files are copied to a folder of their own (without a lesson.h or a Makefile of
 * theirs, because the contract is the project's), compiled and linked by the grader's commands
 * under limits, and kept in the cache under the hash of all inputs, so that the same text is
 * compiled once. This module never runs anything that the student handed in, and keeps no trouble
 * of the machine's in the cache.
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
    bool locked; /* `lock` is a descriptor whose lock keeps the library from being removed */
    int lock;
    struct trouble trouble; /* the machine's; the following fields mean nothing then */
    /* Where compilation failed: */
    struct place place; /* line of the first error; line 0: not in one of the student's files */
    char what[300];     /* one sentence */
    char *said;         /* the compiler's messages, quoted; owned; may be NULL */
    bool missing;       /* one of the lesson's files is not there: nothing was compiled */
};

struct compile_request {
    const struct handed_in *handed_in;
    struct compiled *result; /* filled in; release with compiled_free */
};

/* Compiles all requests, a few at a time. Returns 0, or -1: none could be begun, or the grader was
 * interrupted. A submission that does not compile, or that could not be compiled because of the
 * machine's trouble (result->trouble), is not an error here. */
int compile_all(const struct toolchain *toolchain, const struct compile_request *requests,
                size_t count, struct trouble *trouble);
void compiled_free(struct compiled *compiled);

/* The processor time that one compiler process may use, however busy the machine is. Of a right
 * submission that reduces by CUB's templates cicc needs 52 s, on a slow machine more. */
#define COMPILE_SECONDS_VARIABLE "OVERLAP_COMPILER_SECONDS"
#define COMPILE_MOST_SECONDS 300
/* Returns the variable's value in seconds, or the default COMPILE_MOST_SECONDS; 0: the value is not
 * a valid number of seconds. */
unsigned compile_seconds(void);

#endif
