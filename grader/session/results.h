/* results: which tests are run and their results, in GoogleTest's terms: a suite is a lesson, a
 * test is a check. The session fills them in; the printer and the reports only read them.
 */
#ifndef OVERLAP_GRADER_SESSION_RESULTS_H
#define OVERLAP_GRADER_SESSION_RESULTS_H

#include "grader/base/text.h"
#include "grader/build/submission.h"
#include "grader/evidence/verdict.h"

#include <time.h>

enum test_outcome {
    TEST_NOT_RUN,
    TEST_PASSED,
    TEST_FAILED,
    TEST_SKIPPED,
    TEST_TROUBLED, /* not judged because of the machine's trouble: grader/base/trouble.h */
};

struct test {
    const struct check *check;
    bool disabled;  /* its name, or its suite's, begins with DISABLED_ */
    bool matches;   /* the filter selects it */
    bool elsewhere; /* it runs in another shard */
    bool runs;
    enum test_outcome outcome;
    /* Skipped for a reason that the submission has no part in: no GPU here, too noisy to say. */
    bool cannot_be_judged;
    struct verdict *verdict; /* owned; NULL until the test was judged */
    struct text printed;     /* what the submission printed, quoted; shown with this test */
    struct text picture;     /* timelines, for a failure that they explain */
    double milliseconds;
    struct timespec started;
};

struct suite {
    const struct handed_in *handed_in;
    const char *name;
    struct text note; /* what was odd about the files, and no failure: build/contract.h */
    struct test *tests;
    size_t *order; /* indices of tests, in the order of running */
    size_t count;
    double milliseconds;
    struct timespec started;
};

struct results {
    struct suite *suites;
    size_t *order;
    size_t count;
    double milliseconds;
    struct timespec started;
};

/* Resets the test to its state before it ran, and frees its results. */
void test_forget(struct test *test);

/* Counts the tests for which the predicate returns true. */
typedef bool (*test_predicate)(const struct test *test);
size_t results_count(const struct results *results, test_predicate predicate);
size_t suite_count(const struct suite *suite, test_predicate predicate);

bool test_runs(const struct test *test);
bool test_failed(const struct test *test);
bool test_skipped(const struct test *test);
bool test_passed(const struct test *test);
bool test_troubled(const struct test *test);
bool test_not_judged(const struct test *test);          /* skipped or troubled */
bool test_reportable(const struct test *test);          /* matches, and in this shard */
bool test_reportable_disabled(const struct test *test); /* as above, and disabled */

/* Counts the suites with at least one test that runs. */
size_t results_suites_that_run(const struct results *results);

/* A failure's message, quoted and wrapped: what happened, why it matters, what to look at. Each
 * line ends with a line feed. */
void results_failure_text(const struct verdict *verdict, size_t index, struct text *text);

/* "lessons/02_streams/streams.c:41:" */
void results_place_text(const struct place *place, struct text *text);

#endif
