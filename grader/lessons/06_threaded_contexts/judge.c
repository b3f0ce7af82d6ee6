/* Lesson 06: its runs, the table of its checks, and the checks that concern the whole lesson. */
#include "grader/base/messages.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/06_threaded_contexts/parts.h"

/* ---- the runs ------------------------------------------------------------------------------ */

static int allocate(struct run_input *input, const struct threaded_call *calls, uint32_t count)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < count; i++) room += threaded_room(&calls[i]);

    struct threaded_input *in = run_input_allocate(input, sizeof *in + room * sizeof(float));
    if (in == NULL) return -1;
    in->call_count = count;
    room = 0;
    for (uint32_t i = 0; i < count; i++) {
        in->calls[i] = calls[i];
        in->calls[i].offset = room;
        room += threaded_room(&calls[i]);
    }
    host_reference_draw(input->random, in->values, (size_t)room);
    input->output_size = sizeof(struct threaded_output) + room * sizeof(float);
    return 0;
}

/* Draws arrays of about a million floats on a GPU, and of a few hundred on the emulator, each of
 * another length, so that no array can be mistaken for its neighbour. */
static struct threaded_call draw_call(struct run_input *input, uint32_t way, uint32_t count)
{
    struct threaded_call call = {.way = way, .count = count};
    for (uint32_t i = 0; i < count; i++)
        call.lengths[i] = input->device == DRIVE_GPU
                              ? (uint64_t)random_between(input->random, 1 << 19, 1 << 20)
                              : (uint64_t)random_between(input->random, 200, 900);
    return call;
}

/* Ten arrays; two, for what the first call leaves behind; and more than a fixed-size table is
 * likely to hold. On a GPU each context takes 0.2 s of all processes together, so there are three
 * arrays instead of ten, which show the same; larger numbers are run on the software device. */
static int prepare_calls(struct run_input *input, uint32_t way)
{
    const bool gpu = input->device == DRIVE_GPU;
    struct threaded_call calls[] = {draw_call(input, way, gpu ? 3 : 10), draw_call(input, way, 2),
                                    draw_call(input, way, 66)};
    for (uint32_t i = 0; i < calls[2].count; i++)
        calls[2].lengths[i] = (uint64_t)random_between(input->random, 1, 40);
    /* A child's results are larger than a pipe's 64 KiB. */
    for (uint32_t i = 0; i < calls[1].count && way == THREADED_BY_PROCESSES; i++)
        calls[1].lengths[i] = (uint64_t)random_between(input->random, 20000, 40000);
    return allocate(input, calls, gpu ? 2 : 3);
}

static int prepare_threads(struct run_input *input)
{
    return prepare_calls(input, THREADED_BY_THREADS);
}

static int prepare_processes(struct run_input *input)
{
    return prepare_calls(input, THREADED_BY_PROCESSES);
}

static int prepare_errors(struct run_input *input)
{
    struct threaded_call calls[] = {draw_call(input, THREADED_BY_THREADS, 2),
                                    draw_call(input, THREADED_BY_THREADS, 3),
                                    draw_call(input, THREADED_BY_THREADS, 4)};
    calls[0].slip = THREADED_BAD_IMAGE;
    calls[1].slip = calls[2].slip = THREADED_TOO_LONG;
    calls[1].slip_array = calls[1].second_slip = (uint32_t)random_between(input->random, 1, 2);
    /* Two arrays fail, most likely with two errors; the seed decides which comes first. */
    calls[2].slip_array = 1 + 2 * (uint32_t)random_between(input->random, 0, 1);
    calls[2].second_slip = 4 - calls[2].slip_array;
    if (input->device == DRIVE_GPU) { /* contexts take long; the last call covers the second */
        calls[1] = calls[2];
        return allocate(input, calls, 2);
    }
    return allocate(input, calls, 3);
}

static int prepare_process_errors(struct run_input *input)
{
    struct threaded_call calls[] = {draw_call(input, THREADED_BY_PROCESSES, 2)};
    calls[0].slip = THREADED_BAD_IMAGE;
    return allocate(input, calls, 1);
}

/* Two arrays each, so that there is one beside the array whose call is made to fail. */
static int prepare_thread_failures(struct run_input *input)
{
    const struct threaded_call calls[] = {draw_call(input, THREADED_BY_THREADS, 2)};
    return allocate(input, calls, 1);
}

static int prepare_child_failures(struct run_input *input)
{
    const struct threaded_call calls[] = {draw_call(input, THREADED_BY_PROCESSES, 2)};
    return allocate(input, calls, 1);
}

/* All arrays fail, and the one whose call is made to fail has another error. */
static int prepare_two_errors(struct run_input *input)
{
    struct threaded_call calls[] = {draw_call(input, THREADED_BY_PROCESSES, 3),
                                    draw_call(input, THREADED_BY_THREADS, 3)};
    calls[0].slip = calls[1].slip = THREADED_BAD_IMAGE;
    return allocate(input, calls, 2);
}

static int prepare_time(struct run_input *input)
{
    /* On a GPU each context takes 0.2 s to make and end, and there are many samples. */
    const uint32_t count = input->device == DRIVE_GPU ? 2 : 10;
    const struct threaded_call calls[] = {draw_call(input, THREADED_BY_THREADS, count)};
    return allocate(input, calls, 1);
}

#define MEMORY                                                                                     \
    ((uint64_t)8 << 30) /* on a GPU: three contexts, or as many processes with one each            \
                         */

static const struct run_plan runs[] = {
    {.name = "threads",
     .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER | RUN_LARGE,
     .prepare = prepare_threads,
     .seconds = 60,
     .memory = MEMORY,
     .crash_hint = N_("What a thread is given and what it returns has to live longer than the "
                      "function that has it: a local variable of the thread's is gone when "
                      "pthread_join hands its address over, and gcc makes such an address NULL. "
                      "Then look at every other pointer on that line.")},
    {.name = "processes",
     .flags = RUN_ON_BOTH | RUN_LARGE,
     .prepare = prepare_processes,
     .seconds = 30,
     .memory = MEMORY,
     .processes = 96,
     .time_hint =
         N_("A pipe holds 64 KiB: a child that writes more waits until somebody reads, so "
            "read before you wait for it. Where read or write moves less than it was asked "
            "to, go on with the rest; read answers 0 at the end only when every process, "
            "the parent too, has closed the writing end. Else look for a loop whose "
            "condition never changes.")},
    {.name = "errors",
     .flags = RUN_ON_BOTH,
     .prepare = prepare_errors,
     .seconds = 60,
     .memory = MEMORY},
    {.name = "process errors",
     .flags = RUN_ON_BOTH,
     .prepare = prepare_process_errors,
     .seconds = 60,
     .memory = MEMORY,
     .processes = 32},
    FAILURES_PLAN(prepare_thread_failures),
    {.name = "child faults",
     .flags = RUN_ON_EMULATOR | RUN_INJECTIONS,
     .prepare = prepare_child_failures,
     .seconds = FAILURES_SECONDS,
     .trace_records = FAILURES_RECORDS,
     .processes = 8},
    {.name = "two errors",
     .flags = RUN_ON_EMULATOR | RUN_INJECTIONS | RUN_ENDS,
     .prepare = prepare_two_errors,
     .seconds = FAILURES_SECONDS,
     .trace_records = FAILURES_RECORDS,
     .processes = 8},
    {.name = "time",
     .flags = RUN_ON_BOTH | RUN_TIMED | RUN_THREADS | RUN_RECORDED,
     .prepare = prepare_time,
     .phase = THREADED_PHASE,
     .threshold = &threshold_threaded_contexts,
     .seconds = 60,
     .memory = MEMORY},
    {.name = NULL},
};

/* ---- leaks, findings, time ----------------------------------------------------------------- */

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    for (uint32_t c = 0; c < in->call_count && threaded_view(verdict, evidence, c, &view); c++) {
        struct answer answer = threaded_answer(evidence, &view);
        if (!answer_written(verdict, &answer)) return;
        verdict_leaks(verdict, evidence, &view.phase);
        if (verdict_failed(verdict)) return;
    }
}

/* Fails for everything that the device itself reports. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    waits_say_unpromised_in(verdict, evidence, THREADED_PHASE, BY_THREADS);
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    struct threaded_view view;
    for (size_t r = 0; r < evidence->repeat_count && !verdict_failed(verdict); r++)
        threaded_judge_results(verdict, &evidence->repeats[r]);
    if (verdict_failed(verdict) || !threaded_view(verdict, evidence, 0, &view)) return;
    struct query kernels = {.phase = &view.phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    struct overlap overlap = evidence_overlap(evidence, &kernels, NULL);
    if (overlap.a_ns)
        verdict_figure(verdict, "kernels_at_once",
                       "%.2f kernels at once, on average: contexts take turns on the device",
                       (double)overlap.a_sum_ns / (double)overlap.a_ns);
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict,
                     "Making the contexts is nearly all of the time. Are there more than one "
                     "per array, or does something wait in between?");
}

/* Ordered by cause: wrong results come from where CUDA is initialised and which threads and
 * processes are waited for. */
static const struct check checks[] = {
    {"ThreadsFinishTheirWork", "threads", 0, "the function returns success, and no call failed",
     threaded_judge_finishes},
    {"EveryArrayOfAThreadIsRight", "threads", CHECK_ORDER,
     "each array went through the kernel once", threaded_judge_arrays},
    {"ValuesComeBackThroughJoin", "threads", CHECK_ORDER, "each thread's error and sum arrive",
     threaded_judge_results},
    {"EachThreadHasItsOwnContext", "threads", 0, "context i is only used by thread i",
     threaded_judge_contexts},
    {"EachContextHasItsOwnModule", "threads", 0, "the image is loaded once in each context",
     threaded_judge_modules},
    {"ThreadsLiveTogether", "threads", 0, "all are started before the first is joined",
     threaded_judge_together},
    {"ThreadsLeaveNothingBehind", "threads", 0, "every context is destroyed", judge_leaks},
    {"OneArraysErrorIsItsOwn", "errors", 0, "errors come back, and the other arrays are done",
     threaded_judge_errors},
    {"ErrorsLeaveNothingBehind", "errors", 0, "contexts are destroyed also when something fails",
     judge_leaks},
    {"EveryChildIsWaitedFor", "processes", 0, "no child is left when the function returns",
     threaded_judge_children},
    {"CudaStartsAfterTheFork", "processes", 0, "the parent makes no CUDA call; a context a child",
     threaded_judge_fork},
    {"ProcessesFinishTheirWork", "processes", 0, "the function returns success, and no call failed",
     threaded_judge_finishes},
    {"EveryArrayOfAProcessIsRight", "processes", CHECK_ORDER,
     "the children's values reach the parent's arrays", threaded_judge_arrays},
    {"ResultsComeBackFromChildren", "processes", CHECK_ORDER,
     "each child's error and sum reach the parent", threaded_judge_results},
    {"ProcessesLeaveNothingBehind", "processes", 0, "every child destroys its context",
     judge_leaks},
    {"ProcessesReportErrors", "process errors", 0, "a child's error reaches the caller",
     threaded_judge_errors},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call in a thread that can fail does so once, and is returned",
     threaded_judge_each_failure},
    {"EveryErrorOfAChildIsReturnedAndNothingLeaks", "child faults", CHECK_EMULATOR_ONLY,
     "the same in a process", threaded_judge_each_failure},
    {"TheFirstArraysErrorIsReturned", "two errors", CHECK_EMULATOR_ONLY,
     "of several errors the one of the first array, by its index", threaded_judge_first_error},
    {"TheDeviceFindsNothingWrong", "threads", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"AsFastAsTheReference", "time", 0, "as fast as the reference, with threads", judge_time},
    {.name = NULL},
};

static const struct hint hints[] = {
#include "grader/lessons/06_threaded_contexts/hints.def"
    {0}};

const struct lesson lesson_06_threaded_contexts = {
    .number = 6,
    .folder = "06_threaded_contexts",
    .suite = "ThreadedContexts",
    .function = BY_THREADS,
    .files = (const char *const[]){"threaded_contexts.c", NULL},
    .parts = (const char *const[]){"06_threaded_contexts_drive", "multiply_divide_image", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
