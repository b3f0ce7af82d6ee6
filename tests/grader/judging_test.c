/* One check under Check: passes, failures, skips, and judges that crash or exit; and on which
 * devices and in which orders a check is judged. */
#include "grader/base/process.h"
#include "grader/run/cache.h"
#include "grader/session/check_run.h"
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int judged; /* in the forked child: number of calls */

static void pass(struct verdict *verdict, const struct evidence *evidence)
{
    (void)evidence;
    verdict_figure(verdict, "times", "judged %d times", ++judged);
}

static void fail_when_early(struct verdict *verdict, const struct evidence *evidence)
{
    if (evidence->order == NULL || strcmp(evidence->order, "earliest") != 0) return;
    verdict_fail(verdict, evidence, NULL, "It came %s.", "too early");
    verdict_why(verdict, "why");
    verdict_hint(verdict, "hint");
}

static void fail_at_length(struct verdict *verdict, const struct evidence *evidence)
{
    static char much[2900];
    memset(much, 'x', sizeof much - 1);
    for (int i = 0; i < 3; i++) verdict_fail(verdict, evidence, NULL, "%s %%s %%n", much);
}

static void skip(struct verdict *verdict, const struct evidence *evidence)
{
    (void)evidence;
    verdict_skip(verdict, "not %s", "here");
}

static void pass_over_on_a_gpu(struct verdict *verdict, const struct evidence *evidence)
{
    if (evidence->device == DRIVE_GPU) verdict_pass_over(verdict, "one GPU");
}

static void pass_over_always(struct verdict *verdict, const struct evidence *evidence)
{
    (void)evidence;
    verdict_pass_over(verdict, "one GPU");
}

static void pass_over_or_fail(struct verdict *verdict, const struct evidence *evidence)
{
    pass_over_on_a_gpu(verdict, evidence);
    fail_when_early(verdict, evidence);
}

static void crash(struct verdict *verdict, const struct evidence *evidence)
{
    (void)verdict;
    (void)evidence;
    raise(SIGSEGV);
}

static void leave(struct verdict *verdict, const struct evidence *evidence)
{
    (void)verdict;
    (void)evidence;
    _exit(77); /* the status of a skip, without a skip in the verdict */
}

static void interrupt(struct verdict *verdict, const struct evidence *evidence)
{
    (void)verdict;
    (void)evidence;
    kill(getppid(), SIGTERM);
}

static const char *const files[] = {"sum.c", NULL};
static const struct run_plan runs[] = {
    {.name = "both", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER},
    {.name = "gpu", .flags = RUN_ON_GPU},
    {.name = "emulator", .flags = RUN_ON_EMULATOR},
    {0},
};
static const struct lesson lesson = {
    .suite = "Sum", .folder = "01_sum", .function = "sum_array", .files = files, .runs = runs};

static enum check_outcome run(void (*judge)(struct verdict *, const struct evidence *),
                              struct verdict *verdict)
{
    struct check check = {.name = "Check", .run = "both", .judge = judge};
    struct evidence gpu = support_evidence(NULL, 0), late = support_evidence(NULL, 0);
    struct evidence early = support_evidence(NULL, 0);
    const struct evidence *evidences[] = {&gpu, &late, &early};
    struct check_job job = {.lesson = &lesson,
                            .check = &check,
                            .shown_folder = "lessons/01_sum",
                            .evidences = evidences,
                            .evidence_count = 3,
                            .with_gpu = true};
    gpu.device = DRIVE_GPU;
    gpu.order = NULL;
    early.order = "earliest";
    struct trouble trouble = {0};
    enum check_outcome outcome = check_run(&job, verdict, &trouble);
    evidence_release(&gpu);
    evidence_release(&late);
    evidence_release(&early);
    return outcome;
}

static void fail_always(struct verdict *verdict, const struct evidence *evidence)
{
    verdict_fail(verdict, evidence, NULL, "No kernel ran.");
}

/* Judges a run on a device with these records. */
static enum check_outcome run_recorded(struct trace_record *records, size_t count,
                                       enum drive_device device, struct verdict *verdict)
{
    struct check check = {.name = "Check", .run = "gpu", .judge = fail_always};
    struct evidence evidence = support_evidence(records, count);
    const struct evidence *evidences[] = {&evidence};
    const struct check_job job = {.lesson = &lesson,
                                  .check = &check,
                                  .shown_folder = "lessons/01_sum",
                                  .evidences = evidences,
                                  .evidence_count = 1,
                                  .with_gpu = true};
    struct trouble trouble = {0};
    evidence.device = device;
    const enum check_outcome outcome = check_run(&job, verdict, &trouble);
    evidence_release(&evidence);
    return outcome;
}

static struct trace_record setting(const char *name, const char *text)
{
    struct trace_record record = {.kind = TRACE_SETTING, .bytes = 3, .process = 7};
    trace_copy_string(record.name, sizeof record.name, name);
    trace_copy_string(record.text, sizeof record.text, text);
    return record;
}

/* Judges a run on a device with this TRACE_SETTING. */
static enum check_outcome run_with(const char *name, const char *text, enum drive_device device,
                                   struct verdict *verdict)
{
    struct trace_record record = setting(name, text);
    return run_recorded(&record, 1, device, verdict);
}

START_TEST(what_the_record_lacks_is_nobodys_failure)
{
    struct verdict *v = malloc(sizeof *v);

    ck_assert_int_eq(run_with(RECORDER_SETTING, "on", DRIVE_GPU, v), CHECK_FAILED);
    ck_assert_int_eq(run_with(RECORDER_SETTING, "refused: no privilege", DRIVE_GPU, v),
                     CHECK_SKIPPED);
    ck_assert_ptr_nonnull(strstr(v->skip_reason, "refused: no privilege"));
    ck_assert_int_eq(run_with(RECORDER_DROPPED, "", DRIVE_GPU, v), CHECK_SKIPPED);
    ck_assert_ptr_nonnull(strstr(v->skip_reason, "lacks 3 operations"));
    ck_assert_int_eq(run_with(RECORDER_UNSTAMPED, "", DRIVE_GPU, v), CHECK_SKIPPED);
    ck_assert_int_eq(run_with(RECORDER_DROPPED, "", DRIVE_EMULATOR, v), CHECK_FAILED);
    free(v);
}
END_TEST

/* CUPTI has no times for what a faulting kernel ended. */
START_TEST(what_a_fault_leaves_out_of_the_record_excuses_nothing)
{
    static const int32_t faults[] = {700, 710, 714, 715, 716, 717, 718, 719},
                         others[] = {0, 1, 2, 214, 600, 702, 720};
    struct verdict *v = malloc(sizeof *v);
    struct trace_record records[] = {setting(RECORDER_SETTING, "on"),
                                     {.kind = TRACE_CALL, .process = 7, .name = "cudaFree"},
                                     setting(RECORDER_UNSTAMPED, ""),
                                     setting(RECORDER_UNSTAMPED, ""),
                                     setting(RECORDER_DROPPED, "")};

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        records[1].code = faults[i];
        ck_assert_int_eq(run_recorded(records, 4, DRIVE_GPU, v), CHECK_FAILED);
        ck_assert_str_eq(v->failures[0].what, "No kernel ran.");
        ck_assert_int_eq(run_recorded(records, 5, DRIVE_GPU, v), CHECK_SKIPPED);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        records[1].code = others[i];
        ck_assert_int_eq(run_recorded(records, 4, DRIVE_GPU, v), CHECK_SKIPPED);
    }
    records[1].code = faults[0];
    records[3].process = 8; /* another process lost some, and did not fault */
    ck_assert_int_eq(run_recorded(records, 4, DRIVE_GPU, v), CHECK_SKIPPED);
    free(v);
}
END_TEST

START_TEST(outcomes)
{
    struct verdict *v = malloc(sizeof *v);

    ck_assert_int_eq(run(pass, v), CHECK_PASSED);
    ck_assert_str_eq(v->figures[0].text, "judged 3 times");
    ck_assert_int_eq(run(fail_when_early, v), CHECK_FAILED);
    ck_assert_uint_eq(v->failure_count, 1);
    ck_assert_str_eq(v->failures[0].what, "It came too early.");
    ck_assert_str_eq(v->failures[0].hint, "hint");
    ck_assert_str_eq(v->seen,
                     "on the emulator, with each operation run as early as CUDA allows (earliest). "
                     "The GPU let it pass this time.");
    ck_assert_int_eq(run(skip, v), CHECK_SKIPPED);
    ck_assert_str_eq(v->skip_reason, "not here");
    ck_assert_int_eq(run(pass_over_on_a_gpu, v), CHECK_PASSED);
    ck_assert_int_eq(run(pass_over_or_fail, v), CHECK_FAILED);
    ck_assert_int_eq(run(pass_over_always, v), CHECK_SKIPPED);
    ck_assert_str_eq(v->skip_reason, "one GPU");
    ck_assert_int_eq(run(fail_at_length, v), CHECK_FAILED);
    ck_assert_uint_eq(v->failure_count, 3);
    ck_assert_ptr_nonnull(strstr(v->failures[2].what, " %s %n"));
    free(v);
}
END_TEST

START_TEST(a_judge_that_breaks_fails_its_own_check)
{
    struct verdict *v = malloc(sizeof *v);

    ck_assert_int_eq(run(crash, v), CHECK_FAILED);
    ck_assert_uint_eq(v->failure_count, 1);
    ck_assert_ptr_nonnull(strstr(v->failures[0].what, "The grader could not judge Sum.Check"));
    ck_assert_ptr_nonnull(strstr(v->failures[0].why, "defect of the grader"));
    ck_assert_int_eq(run(leave, v), CHECK_FAILED);
    ck_assert_int_eq(run(pass, v), CHECK_PASSED);
    free(v);
}
END_TEST

/* A signal to one grading must not reach its caller: ./learn, or a script. */
START_TEST(an_interrupt_is_for_this_process_alone)
{
    struct verdict *v = malloc(sizeof *v);
    int status = 0;

    setpgid(0, 0);
    const pid_t beside = fork();
    if (beside == 0) {
        pause();
        _exit(1);
    }
    process_handle_interrupts();
    ck_assert_int_eq(run(interrupt, v), CHECK_PASSED);
    ck_assert_int_eq(process_interrupted(), SIGTERM);
    kill(beside, SIGKILL);
    ck_assert_int_eq(waitpid(beside, &status, 0), beside);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    free(v);
}
END_TEST

START_TEST(what_does_not_compile_fails)
{
    struct check check = {.name = "Check", .run = "both", .judge = pass};
    char said[] = "  | sum.c:3: error: no\n";
    struct compiled compiled = {.place = {.file = "x/sum.c", .line = 3, .submission = true},
                                .what = "It does not compile: no",
                                .said = said};
    struct check_job job = {
        .lesson = &lesson, .check = &check, .shown_folder = "x", .compiled = &compiled};
    struct verdict *v = malloc(sizeof *v);
    struct trouble trouble = {0};

    ck_assert_int_eq(check_run(&job, v, &trouble), CHECK_FAILED);
    ck_assert_ptr_nonnull(strstr(v->failures[0].what, "no\n  | sum.c:3: error: no"));
    ck_assert_uint_eq(v->failures[0].place.line, 3);
    job.told = "Suite.First";
    ck_assert_int_eq(check_run(&job, v, &trouble), CHECK_FAILED);
    ck_assert_str_eq(v->failures[0].what,
                     "Not judged: it does not compile (see Suite.First above).");
    job.skip_reason = "There is no GPU.";
    ck_assert_int_eq(check_run(&job, v, &trouble), CHECK_SKIPPED);
    free(v);
}
END_TEST

static const struct {
    enum evidence_ending ending;
    const char *says;
} endings[] = {
    {ENDED_NOT_STARTED, "The program could not be started: cannot load"},
    {ENDED_EARLY, "The program left with exit status 3 before the work was done."},
    {ENDED_DRIVE, "could not be driven to its end (the drive returned 3)"},
    {ENDED_SIGNAL, "was stopped by an arithmetic exception"},
    {ENDED_TIME, "was still running after 20 s and was stopped."},
    {ENDED_MEMORY, "used more than 2.0 GiB of memory and was stopped."},
    {ENDED_PROCESSES, "ran more than 3 processes at one time and was stopped."},
    {ENDED_OUTPUT, "printed more than 1 MiB and was stopped."},
    {ENDED_LEFT_RUNNING, "came to its end but left 2 processes running, which were stopped."},
    {ENDED_UNWATCHED, "killed the process that enforces its limits"},
    {ENDED_REACHED_UP, "called cannot load on a process that is not its own, which was refused."},
    {ENDED_TYPED, "called ioctl to put characters into a terminal's input, which was refused."},
};

START_TEST(bad_endings_are_told)
{
    struct evidence e = support_evidence(NULL, 0);
    struct verdict *v = calloc(1, sizeof *v);

    ck_assert(!verdict_ending(v, &e, NULL));
    e.ending = endings[_i].ending;
    e.code = 3;
    e.signal = SIGFPE;
    e.left_running = 2;
    e.own_seconds = 20.1;
    e.allowed_memory = (uint64_t)2 << 30;
    e.allowed_processes = 3;
    strcpy(e.why, "cannot load");
    ck_assert(verdict_ending(v, &e, NULL));
    ck_assert_msg(strstr(v->failures[0].what, endings[_i].says) != NULL, "%s", v->failures[0].what);
    ck_assert_uint_gt(strlen(v->failures[0].why), 0);
    ck_assert_uint_gt(strlen(v->failures[0].hint), 0);
    memset(v, 0, sizeof *v);
    ck_assert(verdict_ending(v, &e, "Suite.First"));
    ck_assert_ptr_nonnull(strstr(v->failures[0].what, "(see Suite.First above)"));
    free(v);
    evidence_release(&e);
}
END_TEST

START_TEST(a_lost_record_is_told)
{
    struct evidence e = support_evidence(NULL, 0);
    struct verdict *v = calloc(1, sizeof *v);

    e.trace.dropped = 12;
    ck_assert(verdict_ending(v, &e, NULL));
    ck_assert_ptr_nonnull(strstr(v->failures[0].why, "12 entries did not fit"));
    memset(v, 0, sizeof *v);
    e.trace_sound = false;
    ck_assert(verdict_ending(v, &e, NULL));
    ck_assert_ptr_nonnull(strstr(v->failures[0].what, "written over"));
    free(v);
    evidence_release(&e);
}
END_TEST

START_TEST(a_crash_tells_what_the_device_saw)
{
    struct trace_record finding = {.kind = TRACE_FINDING,
                                   .finding.id = FINDING_MODULE_DOES_NOT_LINK};
    trace_finding_word_set(&finding.finding, WORD_DETAIL, "The host touched device memory.");
    struct evidence e = support_evidence(&finding, 1);
    struct verdict *v = calloc(1, sizeof *v);

    e.ending = ENDED_SIGNAL;
    e.signal = SIGSEGV;
    e.frame_count = 1;
    e.fault = 0x1234;
    ck_assert(verdict_ending(v, &e, NULL));
    ck_assert_str_eq(v->failures[0].what,
                     "The program was stopped by a segmentation fault. It touched the address "
                     "0x1234. Before that, the device said: The host touched device memory.");
    free(v);
    evidence_release(&e);
}
END_TEST

START_TEST(a_file_too_large_is_no_matter_of_pointers)
{
    struct evidence e = support_evidence(NULL, 0);
    struct verdict *v = calloc(1, sizeof *v);

    e.ending = ENDED_SIGNAL;
    e.signal = SIGXFSZ;
    ck_assert(verdict_ending(v, &e, NULL));
    ck_assert_str_eq(v->failures[0].what, "The program was stopped by writing too large a file.");
    ck_assert_str_eq(v->failures[0].hint, "Look for a file written inside a loop.");
    free(v);
    evidence_release(&e);
}
END_TEST

/* Slots as a string: G = GPU, L = latest, E = earliest, 1 and 2 = random. */
static const struct {
    bool gpu, emulator;
    const char *run;
    unsigned flags;
    const char *slots;
} slot_rows[] = {
    {false, true, "both", 0, "LE12"},
    {false, true, "both", CHECK_EARLIEST, "E"},
    {false, true, "emulator", CHECK_EARLIEST, "L"}, /* the run has no other order */
    {true, true, "both", CHECK_EARLIEST, "G"},
    {true, true, "both", 0, "G"},
    {true, true, "both", CHECK_ORDER, "GLE12"},
    {true, true, "both", CHECK_EMULATOR_ONLY, "LE12"},
    {true, false, "both", CHECK_EMULATOR_ONLY, ""},
    {true, false, "both", CHECK_ORDER, "G"},
    {false, true, "both", CHECK_GPU_ONLY, ""},
    {true, true, "both", CHECK_GPU_ONLY, "G"},
    {false, true, "gpu", 0, ""},
    {true, true, "gpu", 0, "G"},
    {true, true, "emulator", 0, "L"},
    {false, true, "emulator", 0, "L"},
};

START_TEST(where_checks_are_judged)
{
    struct devices devices = {.gpu = slot_rows[_i].gpu, .emulator = slot_rows[_i].emulator};
    struct check check = {.run = slot_rows[_i].run, .flags = slot_rows[_i].flags};
    enum cache_slot slots[SLOT_COUNT];
    struct text reason = {0};
    char found[SLOT_COUNT + 1] = "";

    strcpy(devices.no_gpu, "no driver");
    strcpy(devices.no_emulator, "--device=gpu was asked for");
    size_t count = cache_slots(&devices, &lesson, &check, 2, slots, &reason);
    for (size_t i = 0; i < count; i++) found[i] = "GLE12"[slots[i]];
    ck_assert_str_eq(found, slot_rows[_i].slots);
    ck_assert_int_eq(count == 0, reason.size > 0);
    text_free(&reason);
    /* More random orders apply only to checks that have any. */
    size_t more = cache_slots(&devices, &lesson, &check, CACHE_MOST_ORDERS, slots, NULL);
    bool random = count > 0 && found[count - 1] == '2';
    ck_assert_uint_eq(more, random ? count - 2 + CACHE_MOST_ORDERS : count);
    ck_assert_int_eq(random && slots[more - 1] != SLOT_COUNT - 1, 0);
}
END_TEST

/* A run that a GPU cannot do gives that reason. */
START_TEST(calls_fail_on_the_emulator_only)
{
    static const struct run_plan plans[] = {
        {.name = "injections", .flags = RUN_ON_EMULATOR | RUN_INJECTIONS}, {0}};
    const struct lesson with_faults = {.runs = plans};
    const struct check check = {.name = "Check", .run = "injections", .flags = CHECK_EMULATOR_ONLY};
    struct devices devices = {.gpu = true, .emulator = true};
    enum cache_slot slots[SLOT_COUNT];
    struct text reason = {0};

    ck_assert_uint_eq(cache_slots(&devices, &with_faults, &check, 2, slots, &reason), 1);
    ck_assert_int_eq(slots[0], SLOT_LATEST);
    devices.emulator = false;
    strcpy(devices.no_emulator, "--device=gpu was asked for");
    ck_assert_uint_eq(cache_slots(&devices, &with_faults, &check, 2, slots, &reason), 0);
    ck_assert_str_eq(text_string(&reason), "Only the emulator can make calls fail, and it is not "
                                           "used: --device=gpu was asked for.");
    text_free(&reason);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader judging");
    TCase *tcase = tcase_create("judging");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, outcomes);
    tcase_add_test(tcase, what_the_record_lacks_is_nobodys_failure);
    tcase_add_test(tcase, what_a_fault_leaves_out_of_the_record_excuses_nothing);
    tcase_add_test(tcase, a_judge_that_breaks_fails_its_own_check);
    tcase_add_test(tcase, an_interrupt_is_for_this_process_alone);
    tcase_add_test(tcase, what_does_not_compile_fails);
    tcase_add_loop_test(tcase, bad_endings_are_told, 0, sizeof endings / sizeof endings[0]);
    tcase_add_test(tcase, a_lost_record_is_told);
    tcase_add_test(tcase, a_crash_tells_what_the_device_saw);
    tcase_add_test(tcase, a_file_too_large_is_no_matter_of_pointers);
    tcase_add_loop_test(tcase, where_checks_are_judged, 0, sizeof slot_rows / sizeof slot_rows[0]);
    tcase_add_test(tcase, calls_fail_on_the_emulator_only);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
