#include "grader/session/check_run.h"
#include "grader/base/messages.h"
#include "grader/base/process.h"
#include "grader/session/results.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define JUDGE_SECONDS 60
#define MESSAGE_LIMIT ((size_t)1 << 16) /* longer than any verdict; Check's default is 4096 */
#define SKIP_STATUS 77                  /* Check has no skip; this exit status stands for it */

/* The arguments of Check's test function, which takes none. */
static struct {
    const struct check_job *job;
    struct verdict *verdict; /* shared with the forked child */
} current;

static void judge_compilation(const struct check_job *job, struct verdict *verdict)
{
    const struct compiled *compiled = job->compiled;
    struct place place = compiled->place;

    if (place.file[0] == '\0')
        snprintf(place.file, sizeof place.file, "%.150s/%.100s", job->shown_folder,
                 job->lesson->files[0]);
    verdict->missing = compiled->missing;
    if (job->told != NULL) {
        if (compiled->missing)
            verdict_fail_at(verdict, &place, "Not judged: nothing was handed in (see %s above).",
                            job->told);
        else
            verdict_fail_at(verdict, &place, "Not judged: it does not compile (see %s above).",
                            job->told);
        verdict_not_judged(verdict, job->told);
        return;
    }
    verdict->not_compiled = true;
    verdict_fail_at(verdict, &place, "%s%s%s", compiled->what, compiled->said != NULL ? "\n" : "",
                    compiled->said != NULL ? compiled->said : "");
    if (compiled->place.submission)
        verdict_hint(verdict, "Start with the first error: the ones after it often follow from "
                              "it.");
}

/* Adds the device or order in which a failure was seen, unless it is the usual one. */
static void note_where(const struct check_job *job, const struct evidence *evidence,
                       struct verdict *verdict)
{
    const char *order = evidence->order, *words = NULL;

    if (evidence->device != DRIVE_EMULATOR || order == NULL) return;
    if (job->check->flags & CHECK_EARLIEST) return; /* the order does not matter */
    if (strcmp(order, "earliest") == 0)
        words = _("with each operation run as early as CUDA allows");
    else if (strcmp(order, "latest") != 0)
        words = _("with operations run in a random order that CUDA allows");
    else if (job->with_gpu)
        words = _("with each operation run as late as CUDA allows");
    if (words == NULL) return;
    snprintf(verdict->seen, sizeof verdict->seen, _("on the emulator, %s (%s).%s"), words, order,
             job->evidences[0]->device == DRIVE_GPU ? _(" The GPU let it pass this time.") : "");
}

/* Returns true, with a failure, when a run that the check reads did not end well; repetitions and
 * the reference's runs included. */
static bool ended_badly(const struct check_job *job, const struct evidence *evidence,
                        struct verdict *verdict)
{
    if (verdict_ending(verdict, evidence, job->told)) return true;
    for (size_t i = 0; i < evidence->repeat_count; i++) {
        if (evidence->repeats != NULL && verdict_ending(verdict, &evidence->repeats[i], job->told))
            return true;
        if (evidence->references != NULL && verdict_ending(verdict, &evidence->references[i], NULL))
            return true;
    }
    return false;
}

/* A check must not fail for records that the recorder lost: such a failure becomes a skip, unless a
 * fault of the program's lost them. A check that passes may pass. */
static void judge_recorded(const struct check_job *job, const struct evidence *evidence,
                           struct verdict *verdict)
{
    char gap[400];

    job->check->judge(verdict, evidence);
    if (!verdict_failed(verdict) || !evidence_gap(evidence, gap, sizeof gap)) return;
    memset(verdict, 0, sizeof *verdict);
    verdict_skip(verdict, "%s", gap);
}

static void judge(const struct check_job *job, struct verdict *verdict)
{
    if (job->skip_reason != NULL) {
        verdict_skip(verdict, "%s", job->skip_reason);
        return;
    }
    if (job->compiled != NULL) {
        judge_compilation(job, verdict);
        return;
    }
    size_t judged = 0;
    for (size_t i = 0; i < job->evidence_count && !verdict_failed(verdict); i++) {
        verdict->passed_over = false;
        if (!ended_badly(job, job->evidences[i], verdict))
            judge_recorded(job, job->evidences[i], verdict);
        if (verdict_failed(verdict)) note_where(job, job->evidences[i], verdict);
        judged += !verdict->passed_over;
    }
    if (judged == 0 && verdict->passed_over) verdict->skipped = true;
}

START_TEST(run_judge)
{
    judge(current.job, current.verdict);
    if (verdict_failed(current.verdict)) {
        const struct verdict_failure *first = &current.verdict->failures[0];
        _ck_assert_failed(first->place.file, (int)first->place.line, "judged", "%s", first->what);
    }
    if (current.verdict->skipped) _exit(SKIP_STATUS);
}
END_TEST

/* Reports that the judge itself crashed, hung, or exited unexpectedly. */
static void blame_judge(const struct check_job *job, struct verdict *verdict, TestResult *result)
{
    struct place place = {.line = (unsigned)tr_lno(result)};

    snprintf(place.file, sizeof place.file, "%s", tr_lfile(result));
    memset(verdict, 0, sizeof *verdict);
    verdict_fail_at(verdict, &place, "The grader could not judge %s.%s: %s", job->lesson->suite,
                    job->check->name, tr_msg(result));
    verdict_why(verdict, "This is a defect of the grader, not of the submission: a judge must cope "
                         "with whatever a submission leaves.");
}

/* Removes the environment variables of Check, which the user may have set for other programs and
 * which would select among our judges. */
static void forget_variables(void)
{
    static const char *const names[] = {
        "CK_RUN_SUITE",     "CK_RUN_CASE", "CK_INCLUDE_TAGS",      "CK_EXCLUDE_TAGS",
        "CK_LOG_FILE_NAME", "CK_FORK",     "CK_XML_LOG_FILE_NAME", "CK_TAP_LOG_FILE_NAME"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
}

/* Check ends the whole program when it cannot fork, so this tries a fork just before. */
static bool can_fork(struct trouble *trouble)
{
    const pid_t child = fork();

    if (child == 0) _exit(0);
    if (child < 0) return trouble_set_error(trouble, errno, TROUBLE_PROCESS, "a judge") == 0;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return true;
}

enum check_outcome check_run(const struct check_job *job, struct verdict *verdict,
                             struct trouble *trouble)
{
    enum check_outcome outcome = CHECK_FAILED;
    struct verdict *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char status[64], killed[64];

    memset(verdict, 0, sizeof *verdict);
    if (shared == MAP_FAILED) {
        trouble_set(trouble, TROUBLE_MEMORY, "a judge");
        return CHECK_TROUBLED;
    }
    fflush(NULL);
    if (!can_fork(trouble)) {
        munmap(shared, sizeof *shared);
        return CHECK_TROUBLED;
    }
    forget_variables();
    current.job = job;
    current.verdict = shared;
    check_set_max_msg_size(MESSAGE_LIMIT);
    Suite *suite = suite_create(job->lesson->suite);
    TCase *tcase = tcase_create(job->check->name);
    tcase_set_timeout(tcase, JUDGE_SECONDS);
    tcase_add_test(tcase, run_judge);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK);
    fflush(NULL);
    /* Check's own handlers forward a signal to the whole process group, which would reach the
     * script that runs the grader, or ./learn. */
    sigset_t before;
    process_hold_interrupts(&before);
    srunner_run(runner, NULL, NULL, CK_SILENT);
    sigprocmask(SIG_SETMASK, &before, NULL);

    TestResult **results = srunner_results(runner);
    *verdict = *shared;
    snprintf(status, sizeof status, "Early exit with return value %d", SKIP_STATUS);
    snprintf(killed, sizeof killed, "Received signal %d", SIGKILL);
    if (srunner_ntests_run(runner) != 1) {
        trouble_set(trouble, TROUBLE_PROCESS, "a judge");
        outcome = CHECK_TROUBLED;
    } else if (strncmp(tr_msg(results[0]), killed, strlen(killed)) == 0) {
        trouble_set(trouble, TROUBLE_KILLED, "a judge");
        outcome = CHECK_TROUBLED;
    } else if (tr_rtype(results[0]) == CK_PASS && !verdict_failed(verdict)) {
        outcome = CHECK_PASSED;
    } else if (tr_rtype(results[0]) == CK_ERROR && verdict->skipped && !verdict_failed(verdict) &&
               strcmp(tr_msg(results[0]), status) == 0) {
        outcome = CHECK_SKIPPED;
    } else if (tr_rtype(results[0]) != CK_FAILURE || !verdict_failed(verdict)) {
        blame_judge(job, verdict, results[0]);
    }
    free(results);
    srunner_free(runner);
    munmap(shared, sizeof *shared);
    return outcome;
}
