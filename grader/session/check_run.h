/* check_run: carries out one check, under the Check framework: a Suite, a TCase and an SRunner of
 * its own, in a forked child with a time limit, so that a judge that crashes or hangs on what a
 * submission left fails its own check and no other. It starts no submission.
 */
#ifndef OVERLAP_GRADER_SESSION_CHECK_RUN_H
#define OVERLAP_GRADER_SESSION_CHECK_RUN_H

#include "grader/base/trouble.h"
#include "grader/build/compile.h"
#include "grader/evidence/verdict.h"

struct check_job {
    const struct lesson *lesson;
    const struct check *check;
    const char *shown_folder;
    /* In this order of precedence: */
    const char *skip_reason;         /* cannot be judged here; NULL: can */
    const struct compiled *compiled; /* does not compile; NULL: does */
    const struct evidence *const *evidences;
    size_t evidence_count;
    /* The check ("Suite.Check") that showed the compiler's messages, or how the run ended, before;
     * NULL: none did. */
    const char *told;
    bool with_gpu; /* a GPU is graded on too: then say which failures only the emulator saw */
};

enum check_outcome {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED,
    CHECK_TROUBLED, /* no judge could be started, or the system killed it */
};

/* Judges and fills in the verdict, or the trouble. A judge that did not come to its end of itself
 * fails the check. */
enum check_outcome check_run(const struct check_job *job, struct verdict *verdict,
                             struct trouble *trouble);

#endif
