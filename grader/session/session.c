#include "grader/session/session.h"
#include "grader/base/contain.h"
#include "grader/base/filter.h"
#include "grader/base/messages.h"
#include "grader/base/parallel.h"
#include "grader/base/process.h"
#include "grader/build/contract.h"
#include "grader/build/stub.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/picture.h"
#include "grader/report/report.h"
#include "grader/run/cache.h"
#include "grader/session/ahead.h"
#include "grader/session/check_run.h"
#include "grader/session/gtest_report.h"
#include "grader/session/options.h"
#include "grader/session/printer.h"
#include "grader/session/record.h"
#include "grader/session/results.h"
#include "grader/session/same_cause.h"

#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRINTED_LINES 20 /* of what a submission printed */
#define LARGEST_RANDOM_SEED 99999

struct session {
    const struct toolchain *toolchain;
    struct toolchain wide; /* for the GPUs that there are */
    struct options options;
    struct submission submission;
    struct submission solutions; /* the same lessons' solutions, for timing */
    struct devices devices;
    struct results results;
    struct printer printer;
    struct compiled *compiled;               /* one per suite */
    struct compiled *reference;              /* one per suite; unused where nothing is timed */
    bool *is_timed;                          /* one per suite: its reference was compiled */
    const struct session_observer *observer; /* NULL: results are printed */
    enum gtest_report_format report;
    char report_path[PATH_MAX];
    struct reports *reports; /* what --report asked for */
    uint64_t seed;
    int random_seed;
    bool failed;            /* a check of this iteration failed: for fail_fast */
    struct trouble trouble; /* the first trouble of the machine: the exit status is 2 */
    bool blocked;           /* the trouble keeps anything from being run */
    struct text why;        /* why the session cannot go on */
};

/* ---- choice of tests ----------------------------------------------------------------------------
 */

static bool is_disabled(const char *name)
{
    return strncmp(name, "DISABLED_", strlen("DISABLED_")) == 0;
}

static int make_results(struct session *session)
{
    struct results *results = &session->results;
    const struct options *options = &session->options;
    unsigned runnable = 0;

    results->count = session->submission.count;
    results->suites = calloc(results->count + 1, sizeof *results->suites);
    results->order = calloc(results->count + 1, sizeof *results->order);
    if (results->suites == NULL || results->order == NULL) return -1;
    for (size_t i = 0; i < results->count; i++) {
        struct suite *suite = &results->suites[i];
        const struct lesson *lesson = session->submission.lessons[i].lesson;
        results->order[i] = i;
        suite->handed_in = &session->submission.lessons[i];
        suite->name = lesson->suite;
        contract_note(session->toolchain, suite->handed_in, &suite->note);
        while (lesson->checks[suite->count].name != NULL) suite->count++;
        suite->tests = calloc(suite->count + 1, sizeof *suite->tests);
        suite->order = calloc(suite->count + 1, sizeof *suite->order);
        if (suite->tests == NULL || suite->order == NULL) return -1;
        for (size_t j = 0; j < suite->count; j++) {
            struct test *test = &suite->tests[j];
            char name[256];
            suite->order[j] = j;
            test->check = &lesson->checks[j];
            snprintf(name, sizeof name, "%s.%s", lesson->suite, test->check->name);
            test->matches = filter_matches(options->filter, name);
            test->disabled = is_disabled(lesson->suite) || is_disabled(test->check->name);
            bool can_run = test->matches && (!test->disabled || options->also_run_disabled_tests);
            test->elsewhere = !filter_in_shard(runnable, options->shard, options->shards);
            runnable += can_run;
            test->runs = can_run && !test->elsewhere;
        }
    }
    return 0;
}

static void forget_results(struct session *session)
{
    for (size_t i = 0; i < session->results.count; i++) {
        struct suite *suite = &session->results.suites[i];
        for (size_t j = 0; j < suite->count; j++) test_forget(&suite->tests[j]);
        suite->milliseconds = 0;
    }
    session->failed = false;
}

static void shuffle(size_t *order, size_t count, struct random_source *random)
{
    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t i = count; random != NULL && i > 1; i--) {
        size_t j = (size_t)random_below(random, i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* Orders the suites, and the tests within each suite. */
static void order_tests(struct session *session)
{
    struct random_source source, *random = session->options.shuffle ? &source : NULL;

    random_seed(&source, (uint64_t)session->random_seed);
    shuffle(session->results.order, session->results.count, random);
    for (size_t i = 0; i < session->results.count; i++)
        shuffle(session->results.suites[i].order, session->results.suites[i].count, random);
}

/* ---- time -------------------------------------------------------------------------------------
 */

static double milliseconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- compiling --------------------------------------------------------------------------------
 */

/* Returns true when a test of the suite that runs needs a run with that flag (enum run_flag). */
static bool suite_needs(const struct suite *suite, unsigned flag)
{
    const struct lesson *lesson = suite->handed_in->lesson;
    for (size_t i = 0; i < suite->count; i++) {
        if (!suite->tests[i].runs) continue;
        size_t plan = cache_plan(lesson, suite->tests[i].check);
        if (plan != SIZE_MAX && (lesson->runs[plan].flags & flag)) return true;
    }
    return false;
}

static void tell_step(const struct session *session, const struct lesson *lesson, const char *step)
{
    if (session->observer != NULL && session->observer->step != NULL)
        session->observer->step(session->observer->data, lesson, step);
}

/* Compiles what the tests of these suites need; an untouched stub is not compiled. Returns 0, or
 * -1: interrupted, or no memory. */
static int compile(struct session *session, size_t from, size_t to)
{
    struct compile_request *requests = calloc(2 * (to - from) + 1, sizeof *requests);
    size_t wanted = 0;

    if (requests == NULL) return -1;
    for (size_t i = from; i < to; i++) {
        const struct suite *suite = &session->results.suites[i];
        compiled_free(&session->compiled[i]);
        compiled_free(&session->reference[i]);
        if (suite_count(suite, test_runs) == 0 ||
            stub_untouched(session->toolchain, suite->handed_in))
            continue;
        tell_step(session, suite->handed_in->lesson, "compile");
        requests[wanted].handed_in = suite->handed_in;
        requests[wanted++].result = &session->compiled[i];
        session->is_timed[i] = suite_needs(suite, RUN_TIMED);
        if (!session->is_timed[i] || session->options.solutions) continue;
        requests[wanted].handed_in = &session->solutions.lessons[i];
        requests[wanted++].result = &session->reference[i];
    }
    session->blocked = compile_all(session->toolchain, requests, wanted, &session->trouble) != 0;
    free(requests);
    return session->trouble.kind == TROUBLE_INTERRUPTED ? -1 : 0;
}

/* ---- one test ---------------------------------------------------------------------------------
 */

/* State of the session while it goes through a suite. */
struct suite_run {
    struct suite *suite;
    const struct compiled *compiled;
    struct cache store;
    bool untouched; /* it is the unchanged stub: nothing is run */
    /* The test that reported the compiler's messages; NULL: none yet. */
    const struct test *compilation_told;
    const struct test **ending_told; /* per plan: the test that reported how the run ended */
    bool printed_told;
    const struct test *endless_told; /* the test that reported a run that did not end */
    struct trouble trouble;          /* the machine's: no further runs are made */
    const struct test *trouble_told; /* the test that reported the trouble */
};

/* Shows the output of the lesson's first run that printed something, once per lesson. */
static void show_printed(struct suite_run *run, const struct evidence *evidence, struct test *test)
{
    if (run->printed_told) return;
    run->printed_told = evidence->printed_size > 0;
    text_add_lines(&test->printed, evidence->printed, evidence->printed_size, "  | ", PRINTED_LINES,
                   evidence->ending != ENDED_WELL);
}

#define TIMELINE_STREAMS 24 /* per run, in the terminal */

/* Draws what --timeline asks for. Returns 0, or -1 when a file cannot be written (session->why). */
static int show_timeline(struct session *session, const struct evidence *evidence)
{
    const char *path = session->options.timeline;
    struct text text = {0};

    if (path == NULL || !(evidence->plan->flags & RUN_TIMED)) return 0;
    if (!picture_possible(evidence)) {
        fputs(_("grade: there is no timeline: the timed run did not end well, or asked nothing of "
                "the device\n"),
              stderr);
        return 0;
    }
    if (path[0] == '\0') {
        picture_add(&text, evidence, session->printer.width, TIMELINE_STREAMS);
        fputs(text_string(&text), session->printer.out);
        text_free(&text);
        return 0;
    }
    if (picture_write(evidence, path) == 0) return 0;
    text_format(&session->why, _("%s cannot be written: %s"), path, strerror(errno));
    return -1;
}

/* Returns the evidence of a slot; makes the run if it was not made yet. NULL: run->trouble, or
 * session->why. */
static const struct evidence *make_evidence(struct session *session, struct suite_run *run,
                                            size_t plan, enum cache_slot slot)
{
    const struct session_observer *observer = session->observer;
    const bool made = run->store.sets[plan][slot].made;
    const struct lesson *lesson = run->suite->handed_in->lesson;

    if (!made && run->trouble.kind != TROUBLE_NONE) return NULL;
    if (!made) tell_step(session, lesson, lesson->runs[plan].name);
    const struct evidence *evidence = cache_evidence(&run->store, plan, slot, &run->trouble);
    if (made || evidence == NULL) return evidence;
    if (observer != NULL && observer->ran != NULL) observer->ran(observer->data, evidence);
    return show_timeline(session, evidence) == 0 ? evidence : NULL;
}

/* "Suite.Check", or NULL when there is no test. */
static const char *name_of(const struct suite_run *run, const struct test *test, char name[256])
{
    if (test == NULL) return NULL;
    snprintf(name, 256, "%s.%s", run->suite->name, test->check->name);
    return name;
}

static size_t position_of(const struct suite *suite, const struct test *test)
{
    size_t i = 0;
    while (i < suite->count && &suite->tests[suite->order[i]] != test) i++;
    return i;
}

/* Collects the evidences that the check reads, as many as are needed. Returns their number, or -1:
 * run->trouble.
 */
static int gather(struct session *session, struct suite_run *run, struct test *test, size_t plan,
                  const enum cache_slot *slots, size_t slot_count,
                  const struct evidence **evidences)
{
    int count = 0;
    for (size_t i = 0; i < slot_count; i++) {
        const struct evidence *evidence = make_evidence(session, run, plan, slots[i]);
        if (evidence == NULL) return -1;
        evidences[count++] = evidence;
        show_printed(run, evidence, test);
        /* A run that did not end well fails the check; the other orders would add nothing. */
        if (evidence_usable(evidence)) continue;
        if (run->ending_told[plan] == NULL) run->ending_told[plan] = test;
        break;
    }
    return count;
}

/* Marks the test as not judged because of the trouble of its run or of the whole session. Returns
 * 0, or -1 when the grader cannot go on. */
static int trouble_test(struct session *session, struct suite_run *run, struct test *test,
                        const struct trouble *trouble)
{
    struct text sentence = {0};
    char told[256];

    if (trouble->kind == TROUBLE_INTERRUPTED) {
        session->trouble = *trouble;
        return -1;
    }
    if (session->trouble.kind == TROUBLE_NONE) session->trouble = *trouble;
    test->outcome = TEST_TROUBLED;
    test->cannot_be_judged = true;
    if (test->verdict == NULL) test->verdict = malloc(sizeof *test->verdict);
    if (test->verdict == NULL) return -1;
    memset(test->verdict, 0, sizeof *test->verdict);
    if (run->trouble_told != NULL)
        text_format(&sentence, _("It could not be judged for the same reason as %s."),
                    name_of(run, run->trouble_told, told));
    else
        trouble_sentence(trouble, &sentence);
    if (run->trouble_told == NULL) run->trouble_told = test;
    verdict_skip(test->verdict, "%s", text_string(&sentence));
    text_free(&sentence);
    return 0;
}

/* Has the check judged. Returns 0, or -1 when the grader cannot go on. */
static int judge_job(struct session *session, struct suite_run *run, struct test *test,
                     const struct check_job *job)
{
    struct trouble trouble = {0};

    test->verdict = malloc(sizeof *test->verdict);
    if (test->verdict == NULL) return -1;
    switch (check_run(job, test->verdict, &trouble)) {
    case CHECK_PASSED:
        test->outcome = TEST_PASSED;
        break;
    case CHECK_SKIPPED:
        test->outcome = TEST_SKIPPED;
        test->cannot_be_judged = true;
        break;
    case CHECK_FAILED:
        test->outcome = TEST_FAILED;
        if (job->told == NULL) same_cause_shorten(run->suite, position_of(run->suite, test), test);
        break;
    case CHECK_TROUBLED:
        return trouble_test(session, run, test, &trouble);
    }
    /* The picture accompanies the explanation, unless --timeline has just drawn all of it. */
    if (test->verdict->slow && session->options.timeline == NULL)
        picture_add(&test->picture, job->evidences[0], session->printer.width, 0);
    return 0;
}

/* Returns the machine's trouble that kept the code for this run from being compiled, or NULL. */
static const struct trouble *trouble_of_compilation(const struct suite_run *run, size_t plan)
{
    const struct compiled *reference = run->store.reference;
    const bool timed = run->suite->handed_in->lesson->runs[plan].flags & RUN_TIMED;

    if (run->compiled->trouble.kind != TROUBLE_NONE) return &run->compiled->trouble;
    if (timed && reference != NULL && reference->trouble.kind != TROUBLE_NONE)
        return &reference->trouble;
    return NULL;
}

/* Makes the runs that the check needs and has it judged. Returns 0, or -1 when the grader cannot go
 * on. */
static int judge_test(struct session *session, struct suite_run *run, struct test *test)
{
    const struct lesson *lesson = run->suite->handed_in->lesson;
    const struct evidence *evidences[SLOT_COUNT];
    enum cache_slot slots[SLOT_COUNT];
    struct text reason = {0};
    char told[256];
    struct check_job job = {.lesson = lesson,
                            .check = test->check,
                            .shown_folder = run->suite->handed_in->shown,
                            .evidences = evidences,
                            .with_gpu = session->devices.gpu};
    const size_t plan = cache_plan(lesson, test->check);
    const struct trouble *trouble;

    if (plan == SIZE_MAX) {
        text_format(&session->why, _("%s.%s reads the run \"%s\", which the lesson does not have"),
                    lesson->suite, test->check->name, test->check->run);
        return -1;
    }
    const size_t count = cache_slots(&session->devices, lesson, test->check,
                                     session->options.random_orders, slots, &reason);
    int result = 0;
    if (count == 0) {
        job.skip_reason = text_string(&reason);
    } else if ((trouble = trouble_of_compilation(run, plan)) != NULL) {
        result = trouble_test(session, run, test, trouble);
        goto done;
    } else if (!run->compiled->ok) {
        job.compiled = run->compiled;
        job.told = name_of(run, run->compilation_told, told);
        if (run->compilation_told == NULL) run->compilation_told = test;
    } else {
        job.told = name_of(run, run->ending_told[plan], told);
        const int made = gather(session, run, test, plan, slots, count, evidences);
        if (made < 0) {
            result = run->trouble.kind == TROUBLE_NONE
                         ? -1
                         : trouble_test(session, run, test, &run->trouble);
            goto done;
        }
        job.evidence_count = (size_t)made;
        if (run->store.endless != NULL && run->endless_told == NULL) run->endless_told = test;
        if (evidences[made - 1]->after != NULL && run->endless_told != test)
            job.told = name_of(run, run->endless_told, told);
    }
    result = judge_job(session, run, test, &job);
done:
    text_free(&reason);
    return result;
}

/* After a failure under --gtest_fail_fast, the remaining tests are skipped, without a reason. */
static int skip_test(struct test *test)
{
    test->verdict = calloc(1, sizeof *test->verdict);
    test->outcome = TEST_SKIPPED;
    return test->verdict != NULL ? 0 : -1;
}

/* The first check of an untouched stub fails, the others are skipped. */
static int tell_untouched(const struct suite_run *run, struct test *test)
{
    struct place place;

    test->verdict = calloc(1, sizeof *test->verdict);
    if (test->verdict == NULL) return -1;
    if (suite_count(run->suite, test_failed) > 0) {
        test->outcome = TEST_SKIPPED;
        verdict_skip(test->verdict, "It is not written yet.");
        return 0;
    }
    test->outcome = TEST_FAILED;
    stub_place(run->suite->handed_in, &place);
    verdict_fail_at(test->verdict, &place,
                    "It is not written yet: this is the stub, and README.md beside it says what "
                    "to do.");
    return 0;
}

static int take_test(struct session *session, struct suite_run *run, struct test *test)
{
    if (session->options.fail_fast && session->failed) return skip_test(test);
    if (session->blocked) return trouble_test(session, run, test, &session->trouble);
    return run->untouched ? tell_untouched(run, test) : judge_test(session, run, test);
}

/* Returns false for a test that does not run. */
static bool begin_test(struct session *session, const struct suite *suite, const struct test *test)
{
    if (test->runs)
        printer_test_start(&session->printer, suite, test);
    else if (test_reportable_disabled(test))
        printer_test_disabled(&session->printer, suite, test);
    return test->runs;
}

static void end_test(struct session *session, const struct suite *suite, const struct test *test)
{
    printer_test_end(&session->printer, suite, test);
    if (session->observer != NULL && session->observer->judged != NULL)
        session->observer->judged(session->observer->data, suite, (size_t)(test - suite->tests));
    session->failed = session->failed || test->outcome == TEST_FAILED;
}

static int run_test(struct session *session, struct suite_run *run, struct test *test)
{
    if (!begin_test(session, run->suite, test)) return 0;
    clock_gettime(CLOCK_REALTIME, &test->started);
    double started = milliseconds_now();
    if (take_test(session, run, test) != 0) return -1;
    test->milliseconds = milliseconds_now() - started;
    end_test(session, run->suite, test);
    return 0;
}

/* ---- one suite, one iteration -----------------------------------------------------------------
 */

/* Announces to the cache which runs the suite's checks will read. */
static void want_tests(struct session *session, struct suite_run *run)
{
    const struct lesson *lesson = run->suite->handed_in->lesson;
    enum cache_slot slots[SLOT_COUNT];

    for (size_t i = 0; i < run->suite->count; i++) {
        const struct test *test = &run->suite->tests[i];
        if (!test->runs || cache_plan(lesson, test->check) == SIZE_MAX) continue;
        cache_want(&run->store, test->check, slots,
                   cache_slots(&session->devices, lesson, test->check,
                               session->options.random_orders, slots, NULL));
    }
}

static int run_suite(struct session *session, size_t index)
{
    struct suite *suite = &session->results.suites[index];
    const struct compiled *reference =
        session->options.solutions ? &session->compiled[index] : &session->reference[index];
    struct suite_run run = {
        .suite = suite,
        .compiled = &session->compiled[index],
        .untouched = stub_untouched(session->toolchain, suite->handed_in),
        .store = {.toolchain = session->toolchain,
                  .devices = &session->devices,
                  .handed_in = suite->handed_in,
                  .compiled = &session->compiled[index],
                  .reference = session->is_timed[index] ? reference : NULL,
                  .seed = session->seed},
    };
    int result = -1;

    if (suite_count(suite, test_runs) == 0) return 0;
    if (run.compiled->ok && !run.untouched) {
        if (cache_open(&run.store) != 0) goto done;
        run.ending_told = calloc(run.store.plan_count + 1, sizeof *run.ending_told);
        if (run.ending_told == NULL) goto done;
        want_tests(session, &run);
    }
    printer_suite_start(&session->printer, suite);
    clock_gettime(CLOCK_REALTIME, &suite->started);
    double started = milliseconds_now();
    for (size_t i = 0; i < suite->count; i++)
        if (run_test(session, &run, &suite->tests[suite->order[i]]) != 0) goto done;
    suite->milliseconds = milliseconds_now() - started;
    printer_suite_end(&session->printer, suite);
    result = 0;
done:
    cache_close(&run.store);
    free(run.ending_told);
    return result;
}

/* Compiles and grades one suite; used in the process of each lesson that is graded side by side.
 * Returns 0 or -1. */
static int compile_and_run(struct session *session, size_t index)
{
    const bool runs = suite_count(&session->results.suites[index], test_runs) > 0;
    if (runs && compile(session, index, index + 1) != 0) return -1;
    return run_suite(session, index);
}

/* Grades a suite; called in a process of its own. */
static void grade_ahead(void *user, size_t index, struct ahead_end *end)
{
    struct session *session = user;
    FILE *nowhere = fopen("/dev/null", "we");

    end->result = -1;
    if (nowhere == NULL) return;
    session->printer.out = nowhere;
    end->result = compile_and_run(session, index);
    end->trouble = session->trouble;
    end->why = session->why;
}

/* Reports another process's results as if they had been found here. Returns 0, or -1: the grader
 * cannot go on.
 */
static int tell_suite(struct session *session, size_t index, struct ahead_end *end)
{
    struct suite *suite = &session->results.suites[index];

    if (session->trouble.kind == TROUBLE_NONE) session->trouble = end->trouble;
    text_add(&session->why, text_string(&end->why));
    text_free(&end->why);
    if (end->result != 0) return -1;
    printer_suite_start(&session->printer, suite);
    for (size_t i = 0; i < suite->count; i++) {
        const struct test *test = &suite->tests[suite->order[i]];
        if (begin_test(session, suite, test)) end_test(session, suite, test);
    }
    printer_suite_end(&session->printer, suite);
    return 0;
}

/* GPU memory reserved per lesson, enough for all processes that one lesson runs at one time. */
#define GPU_BYTES_OF_A_LESSON ((uint64_t)4 << 30)

/* Returns how many lessons are graded side by side. Each gets two processors, so that timed work
 * need not wait for one. */
static size_t lessons_at_one_time(const struct session *session)
{
    const struct options *options = &session->options;
    const size_t processors = parallel_processors() / 2;
    const size_t room = (size_t)(session->devices.gpu_bytes / GPU_BYTES_OF_A_LESSON);

    if (session->observer != NULL || options->timeline != NULL || options->fail_fast ||
        session->blocked || results_suites_that_run(&session->results) < 2)
        return 1;
    if (options->jobs > 0) return (size_t)options->jobs;
    return session->devices.gpu && room < processors ? room : processors;
}

/* Returns 0, or -1 when the grader cannot go on. */
static int run_side_by_side(struct session *session, size_t most)
{
    const struct results *results = &session->results;
    struct ahead *ahead = ahead_begin(&session->results, most, grade_ahead, session);
    struct ahead_end end;
    int result = ahead != NULL ? 0 : -1;

    for (size_t i = 0; i < results->count && result == 0; i++) {
        const size_t suite = results->order[i];
        if (ahead_take(ahead, suite, &end))
            result = tell_suite(session, suite, &end);
        else
            result = process_interrupted() != 0 ? -1 : compile_and_run(session, suite);
    }
    ahead_end(ahead);
    return result;
}

/* As run_side_by_side, one suite after the other. Compiled lessons are kept for the next
 * iteration. */
static int run_in_turn(struct session *session, int iteration)
{
    const struct results *results = &session->results;

    if (iteration == 0 && !session->blocked && compile(session, 0, results->count) != 0) return -1;
    for (size_t i = 0; i < results->count; i++)
        if (run_suite(session, results->order[i]) != 0) return -1;
    return 0;
}

/* Returns 0, or -1 when the grader cannot go on. */
static int run_iteration(struct session *session, int iteration)
{
    const struct options *options = &session->options;
    struct results *results = &session->results;
    bool anything = results_count(results, test_runs) > 0;

    forget_results(session);
    order_tests(session);
    clock_gettime(CLOCK_REALTIME, &results->started);
    double started = milliseconds_now();
    printer_iteration_start(&session->printer, results, options, iteration, session->random_seed);
    const size_t most = lessons_at_one_time(session);
    if (anything && iteration == 0) printer_set_up(&session->printer);
    if (anything &&
        (most > 1 ? run_side_by_side(session, most) : run_in_turn(session, iteration)) != 0)
        return -1;
    if (anything && iteration == options->repeat - 1) printer_tear_down(&session->printer);
    results->milliseconds = milliseconds_now() - started;
    printer_iteration_end(&session->printer, results, options);
    if (session->report == REPORT_NONE) return 0;
    return gtest_report_write(session->report, session->report_path, results,
                              options->shuffle ? session->random_seed : 0, false, &session->why);
}

/* ---- whole session ------------------------------------------------------------------------------
 */

static int choose_random_seed(const struct options *options)
{
    if (options->random_seed != 0) return options->random_seed;
    return (int)((unsigned long)time(NULL) % LARGEST_RANDOM_SEED) + 1;
}

/* Prepares seeds, devices and the arrays for compiled lessons. Returns 0 or the exit status. */
static int set_up(struct session *session)
{
    const struct options *options = &session->options;
    size_t count = session->results.count;
    bool opencl = false;

    session->seed = options->seed;
    if (!options->seed_given && random_secret(&session->seed) != 0) {
        text_add(&session->why, _("the system gives no random numbers"));
        return 2;
    }
    session->random_seed = choose_random_seed(options);
    session->compiled = calloc(count + 1, sizeof *session->compiled);
    session->reference = calloc(count + 1, sizeof *session->reference);
    session->is_timed = calloc(count + 1, sizeof *session->is_timed);
    if (session->compiled == NULL || session->reference == NULL || session->is_timed == NULL) {
        text_add(&session->why, _("no memory"));
        return 2;
    }
    for (size_t i = 0; i < count; i++)
        opencl = opencl || suite_needs(&session->results.suites[i], RUN_OPENCL);
    const int status = devices_find(&session->devices, session->toolchain, options->device, opencl,
                                    &session->why, &session->trouble);
    session->blocked = session->blocked || session->trouble.kind != TROUBLE_NONE;
    if (toolchain_widen(&session->wide, session->toolchain, session->devices.gpu_capability) != 0) {
        text_add(&session->why, _("no memory"));
        return 2;
    }
    session->toolchain = &session->wide;
    return session->trouble.kind != TROUBLE_NONE ? 0 : status;
}

/* Writes what --report asked for. `complete` false: writes only that grading is still going on, or
 * why it could not. Returns 0, or -1 (session->why). */
static int write_reports(struct session *session, bool complete, const char *trouble)
{
    const struct record_facts facts = {.options = &session->options,
                                       .devices = &session->devices,
                                       .results = &session->results,
                                       .seed = session->seed,
                                       .complete = complete,
                                       .trouble = trouble};

    if (reports_count(session->reports) == 0) return 0;
    json_t *class = record_make(&facts);
    marks_apply(reports_marks(session->reports),
                json_array_get(json_list(class, "submissions"), 0));
    int result = complete ? reports_write(session->reports, class, &session->why)
                          : reports_write_unfinished(session->reports, class, &session->why);
    json_decref(class);
    return result;
}

/* Ends a session that cannot go on. The reports are written all the same, because their readers
 * wait for them. Returns the exit status. */
static int give_up(struct session *session)
{
    struct text trouble = {0};

    if (session->why.size == 0)
        text_add(&session->why, process_interrupted() != 0 ? _("interrupted") : _("no memory"));
    text_add(&trouble, text_string(&session->why));
    write_reports(session, false, text_string(&trouble));
    text_free(&trouble);
    return process_interrupted() != 0 ? 128 + process_interrupted() : 2;
}

/* Ends a session with the machine's trouble: what was judged is reported, and the whole neither
 * passes nor fails. Returns 2. */
static int tell_machine(struct session *session)
{
    struct text sentence = {0};

    trouble_sentence(&session->trouble, &sentence);
    write_reports(session, true, text_string(&sentence));
    if (session->why.size > 0) text_add(&session->why, "; ");
    text_add(&session->why, text_string(&sentence));
    text_free(&sentence);
    return 2;
}

static void tell_notes(const struct session *session)
{
    for (size_t i = 0; session->observer == NULL && i < session->results.count; i++) {
        const struct suite *suite = &session->results.suites[i];
        if (suite->note.size > 0 && suite_count(suite, test_runs) > 0)
            fprintf(stderr, "grade: %s\n", text_string(&suite->note));
    }
}

static int run_all(struct session *session)
{
    const struct options *options = &session->options;
    bool failed = false, nothing = false;

    if (results_count(&session->results, test_runs) > 0) {
        int status = set_up(session);
        if (status != 0) return give_up(session);
        if (write_reports(session, false, "") != 0) return 2;
        tell_notes(session);
    } else if (strcmp(options->filter, "*") != 0 && options->shards <= 1) {
        fprintf(stderr, "WARNING: filter \"%s\" did not match any test; no tests were run\n",
                options->filter);
        nothing = options->fail_if_no_test_selected;
    }
    for (int i = 0; options->repeat < 0 || i < options->repeat; i++) {
        if (run_iteration(session, i) != 0) return give_up(session);
        if (session->trouble.kind != TROUBLE_NONE) return tell_machine(session);
        if (write_reports(session, true, "") != 0) return 2;
        failed = failed || session->failed;
        if (session->failed && !options->seed_given && session->observer == NULL)
            fprintf(stderr, _("grade: --seed=%llu draws the same inputs again\n"),
                    (unsigned long long)session->seed);
        /* Each iteration has fresh inputs; a given seed gives the same series. */
        session->seed = session->seed * 6364136223846793005u + 1442695040888963407u;
        if (options->shuffle) session->random_seed = session->random_seed % LARGEST_RANDOM_SEED + 1;
    }
    return failed ? 1 : nothing ? 2 : 0;
}

static int list_tests(struct session *session)
{
    printer_list(&session->printer, &session->results);
    if (session->report == REPORT_NONE) return 0;
    return gtest_report_write(session->report, session->report_path, &session->results, 0, true,
                              &session->why) == 0
               ? 0
               : 2;
}

/* Decides about containment before anything is started. Returns 0 or the exit status. */
static int choose_sandbox(struct session *session)
{
    const enum options_sandbox wanted = session->options.sandbox;

    if (session->options.list_tests) return 0;
    if (trouble_find_limits(&session->trouble) != 0) {
        session->blocked = true;
        return 0;
    }
    if (wanted == SANDBOX_OFF) contain_nothing();
    const char *missing = contain_missing();
    if (contain_error() != 0) {
        session->blocked = true;
        trouble_set_error(&session->trouble, contain_error(), TROUBLE_PROCESS, "containment");
        return 0;
    }
    if (missing[0] == '\0') return 0;
    if (wanted == SANDBOX_REQUIRE) {
        text_format(
            &session->why,
            _("--sandbox=require: this machine does not let submissions be contained by: %s"),
            missing);
        return 2;
    }
    if (session->observer == NULL) fprintf(stderr, _("grade: contained without: %s\n"), missing);
    return 0;
}

static void touch(const char *path)
{
    FILE *file = path != NULL && path[0] != '\0' ? fopen(path, "we") : NULL;
    if (file != NULL) fclose(file);
}

static void show_help(const struct lesson *const *table)
{
    const char *names[200];
    struct text text = {0};
    size_t count = 0;

    for (; table[count] != NULL && count < 199; count++) names[count] = table[count]->folder;
    names[count] = NULL;
    options_help(&text, names);
    fputs(text_string(&text), stdout);
    text_free(&text);
}

static void release(struct session *session)
{
    forget_results(session);
    for (size_t i = 0; i < session->results.count; i++) {
        free(session->results.suites[i].tests);
        free(session->results.suites[i].order);
        text_free(&session->results.suites[i].note);
        if (session->compiled != NULL) compiled_free(&session->compiled[i]);
        if (session->reference != NULL) compiled_free(&session->reference[i]);
    }
    free(session->results.suites);
    free(session->results.order);
    free(session->compiled);
    free(session->reference);
    free(session->is_timed);
    submission_free(&session->submission);
    submission_free(&session->solutions);
    reports_close(session->reports);
    options_free(&session->options);
    text_free(&session->why);
}

/* Chooses lessons and tests. Returns 0 or the exit status. */
static int choose(struct session *session, const struct lesson *const *table)
{
    const struct options *options = &session->options;
    const char *root = session->toolchain->source;
    const char *words[200];
    size_t count = 0;

    if (submission_choose(&session->submission, table, options->words, options->word_count, root,
                          options->submission, options->solutions, &session->why) != 0)
        return 2;
    /* The solutions of the same lessons, in the same order. */
    for (size_t i = 0; i < session->submission.count && count < 200; i++)
        words[count++] = session->submission.lessons[i].lesson->folder;
    if (submission_choose(&session->solutions, table, words, count, root, NULL, true,
                          &session->why) != 0)
        return 2;
    if (make_results(session) != 0) {
        text_add(&session->why, _("no memory"));
        return 2;
    }
    if (options->timeline != NULL && options->timeline[0] != '\0' && count != 1) {
        text_format(&session->why,
                    _("--timeline=FILE draws one lesson: say which, as in ./grade streams "
                      "--timeline=%s"),
                    options->timeline);
        return 2;
    }
    session->reports =
        reports_open(options->reports, options->report_count, options->marks, &session->why);
    if (session->reports == NULL) return 2;
    return gtest_report_target(options->output, &session->report, session->report_path,
                               sizeof session->report_path, &session->why) == 0
               ? 0
               : 2;
}

/* Prints a last line that points to ./learn, for a student at a terminal with failures to fix. */
static void name_the_guide(const struct session *session)
{
    if (session->observer == NULL && session->options.submission == NULL &&
        !session->options.solutions && isatty(STDOUT_FILENO))
        puts(_("./learn leads from the first lesson to the last: what comes next, and hints."));
}

static void tell_trouble(const struct session *session)
{
    const char *why = text_string(&session->why);

    if (session->why.size == 0) return;
    if (session->observer == NULL)
        fprintf(stderr, "grade: %s\n", why);
    else if (session->observer->trouble != NULL)
        session->observer->trouble(session->observer->data, why);
}

int session_main(const struct toolchain *toolchain, const struct lesson *const *table, int count,
                 char *const *arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const int status = session_observed(toolchain, table, count, arguments, NULL);
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    /* The disk behind standard output may be full, for example: nobody has read the results. */
    fputs(_("grade: standard output cannot be written to, and what it was to say is lost\n"),
          stderr);
    return 2;
}

int session_observed(const struct toolchain *toolchain, const struct lesson *const *table,
                     int count, char *const *arguments, const struct session_observer *observer)
{
    struct session session = {.toolchain = toolchain, .observer = observer};
    FILE *out = observer == NULL ? stdout : fopen("/dev/null", "we");

    if (out == NULL) return 2;
    process_handle_interrupts();
    int status = options_parse(&session.options, count, arguments, &session.why);
    if (session.options.help || (status == 0 && session.options.version)) {
        if (session.options.help)
            show_help(table);
        else
            puts("grader (Overlap) " OVERLAP_VERSION);
        if (session.why.size > 0) fprintf(stderr, "grade: %s\n", text_string(&session.why));
        release(&session);
        if (out != stdout) fclose(out);
        return status;
    }
    touch(session.options.premature_exit_file);
    touch(session.options.shard_status_file);
    if (status == 0) status = choose(&session, table);
    if (status == 0) status = choose_sandbox(&session);
    if (status == 0) {
        printer_begin(&session.printer, out, &session.options);
        status = session.options.list_tests ? list_tests(&session) : run_all(&session);
    }
    tell_trouble(&session);
    if (status == 1) name_the_guide(&session);
    if (session.options.premature_exit_file != NULL) unlink(session.options.premature_exit_file);
    release(&session);
    if (out != stdout) fclose(out);
    return status;
}
