/* check_run: carries out one check under the Check framework: a Suite, a TCase and an SRunner of
 * its own, in a forked child with a time limit. So a judge that crashes or hangs on the evidence of
 * a submission fails its own check and no other. This module starts no submission.
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
    /* In this order of precedence, the check is skipped, or judged by the compilation or by the
     * evidence: */
    const char *skip_reason;         /* why it cannot be judged here; NULL: it can */
    const struct compiled *compiled; /* the compilation that failed; NULL: it compiled */
    const struct evidence *const *evidences;
    size_t evidence_count;
    /* The check ("Suite.Check") that has already shown the compiler's messages, or how the run
     * ended; NULL: none has. */
    const char *told;
    bool with_gpu; /* a GPU is graded on too: a failure says when only the emulator saw it */
};

enum check_outcome {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED,
    CHECK_TROUBLED, /* no judge could be started, or the system killed it */
};

/* Judges and fills in the verdict, or the trouble. A judge that crashed or did not finish fails the
 * check. */
enum check_outcome check_run(const struct check_job *job, struct verdict *verdict,
                             struct trouble *trouble);

#endif
