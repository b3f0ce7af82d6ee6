/* The judge of lesson 09: sums of every size; the two readings of the clock behind each time of the
 * report, with the host's calls and the device's work between them; the device's own time. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/queued.h"
#include "grader/evidence/timing.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/09_honest_timing/report.h"

#include <stdio.h>
#include <string.h>

#define ADD "timing_add"
#define MEASURE "timing_measure"
#define ADD_CHECK "HonestTiming.EverySumIsRight" /* the checks that report why a call failed */
#define MEASURE_CHECK "HonestTiming.TheSumsComeBack"
#define MEMORY_ALLOCATION 2
#define ROOM_FOR_NONE ((uint64_t)1 << 50) /* floats */

/* ---- the runs ------------------------------------------------------------------------------ */

static struct timing_input *make(struct run_input *input)
{
    struct timing_input *in = run_input_allocate(input, sizeof *in);
    if (in == NULL) return NULL;
    in->zero = (1ull << 52) + random_bits(input->random) % (1ull << 50);
    in->measure.seed = random_bits(input->random);
    input->output_size = sizeof(struct timing_output);
    return in;
}

static void add_call(struct run_input *input, struct timing_input *in, int64_t least, int64_t most)
{
    struct timing_call *call = &in->add[in->adds];
    call->n = (uint64_t)random_between(input->random, least, most);
    call->seed = random_bits(input->random);
    call->again = in->adds++ == 0 || most == 0; /* nothing to launch is a way of its own */
}

static int prepare_sums(struct run_input *input)
{
    struct timing_input *in = make(input);
    if (in == NULL) return -1;
    add_call(input, in, 3000, 3999);
    add_call(input, in, 1, 1);
    add_call(input, in, 0, 0);
    add_call(input, in, 1024, 1024);
    add_call(input, in, 257, 511);
    add_call(input, in, 66000, 67000); /* more than 256 blocks of 256 threads */
    return 0;
}

/* On a GPU the book's 10^7 floats, on the software device enough for a kernel of microseconds. */
static int prepare_times(struct run_input *input)
{
    struct timing_input *in = make(input);
    if (in == NULL) return -1;
    const int64_t n = input->device == DRIVE_GPU ? 10000000 : 1000000;
    in->measures = 1;
    in->measure.n = (uint64_t)(n + random_between(input->random, 1, 999));
    in->measure.again = 1;
    return 0;
}

/* The low 32 bits of the size are a small number. */
static int prepare_failures(struct run_input *input)
{
    struct timing_input *in = make(input);
    if (in == NULL) return -1;
    in->measures = 1;
    in->measure.n = ROOM_FOR_NONE + (uint64_t)random_between(input->random, 100, 999);
    return 0;
}

static int prepare_each_failure(struct run_input *input)
{
    struct timing_input *in = make(input);
    if (in == NULL) return -1;
    add_call(input, in, 300, 900);
    in->add[0].again = 0;
    in->measures = 1;
    in->measure.n = (uint64_t)random_between(input->random, 1000, 2000);
    return 0;
}

/* One-time work of the first call is not timed. */
static int prepare_timed(struct run_input *input)
{
    struct timing_input *in = make(input);
    const bool gpu = input->device == DRIVE_GPU;
    const int64_t n = gpu ? 10000000 : 800000;
    if (in == NULL) return -1;
    add_call(input, in, 300, 900);
    in->add[0].again = 0;
    add_call(input, in, n, n + 999);
    in->add[1].repeats = gpu ? 20 : 1;
    return 0;
}

static const struct run_plan runs[] = {
    {.name = "sums", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_sums},
    {.name = "times",
     .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER | RUN_ALONE,
     .prepare = prepare_times},
    {.name = "failures", .flags = RUN_ON_BOTH, .prepare = prepare_failures},
    {.name = "time",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_timed,
     .phase = TIMING_PHASE_TIME,
     .threshold = &threshold_honest_timing},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- sums ---------------------------------------------------------------------------------- */

/* Returns the index of the first wrong sum of n; n: none is wrong. */
static size_t first_wrong(const float *samples, uint64_t seed, size_t n, float *found)
{
    for (size_t k = 0; k < timing_samples(n); k++) {
        const size_t i = timing_sample(n, k);
        const float must = timing_sum(seed, i);
        if (memcmp(&samples[k], &must, sizeof must) == 0) continue;
        *found = samples[k];
        return i;
    }
    return n;
}

/* Returns true for a value that the memory of the sums held before: the fill of the software device
 * or of the drive. */
static bool is_left_over(float value)
{
    static const unsigned char fills[] = {0x7f, DRIVE_POISON};
    for (size_t f = 0; f < sizeof fills; f++) {
        float filled;
        memset(&filled, fills[f], sizeof filled);
        if (memcmp(&filled, &value, sizeof value) == 0) return true;
    }
    return false;
}

/* Explains sums of which the first `i` are right and the i-th was never written, for example `i`
 * the number of threads of a block. */
static void explain_sums(struct verdict *verdict, const struct trace_record *kernel, size_t i,
                         size_t n, float found)
{
    if (is_left_over(found) && i > 0 && i <= 1024 && i < n && kernel != NULL &&
        kernel->count >= n) {
        verdict_why(verdict,
                    "The %zu sums before it are there, this one was never written, and there were "
                    "threads for all: threadIdx.x counts the threads of a block, and begins at 0 "
                    "in each. All blocks make the same sums.",
                    i);
        verdict_hint(verdict, "The index of a thread among all is "
                              "blockIdx.x * blockDim.x + threadIdx.x.");
        return;
    }
    if (is_left_over(found))
        verdict_why(verdict, "It is what the memory held before: no thread has written it.");
    verdict_hint(verdict, "Thread i, counted over the whole grid, makes sum i; there are at least "
                          "n threads, and those from n on do nothing.");
}

static bool sums_right(struct verdict *verdict, const struct evidence *evidence,
                       const struct phase *phase, const struct timing_call *call,
                       const float *samples)
{
    float found = 0.0f;
    const size_t n = (size_t)call->n, i = first_wrong(samples, call->seed, n, &found);
    const struct trace_record *kernel = queued_last_kernel(evidence, phase);
    if (i == n) return true;
    if (verdict_causes(verdict, evidence)) return false;
    verdict_fail(verdict, evidence, kernel, "Of %zu sums, number %zu is %.9g and must be %.9g.", n,
                 i, (double)found, (double)timing_sum(call->seed, i));
    explain_sums(verdict, kernel, i, n, found);
    return false;
}

/* ---- timing_add ---------------------------------------------------------------------------- */

static struct answer added_answer(const struct evidence *evidence, uint32_t index,
                                  struct phase *phase)
{
    const struct timing_input *in = evidence->input;
    const struct timing_output *out = evidence->output;
    const bool timed = in->add[index].repeats > 0;
    return answer_in(evidence, timed ? TIMING_PHASE_TIME : TIMING_PHASE_ADD, timed ? 0 : index, ADD,
                     ANSWER_RUNTIME, out->added[index].status, phase);
}

/* Checks that the call succeeded and that its kernel ran to its end. */
static bool add_went_well(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                          struct phase *phase)
{
    const struct timing_input *in = evidence->input;
    const struct timing_output *out = evidence->output;
    const struct timing_call *call = &in->add[index];
    const struct timing_added *added = &out->added[index];
    const struct answer answer = added_answer(evidence, index, phase);
    char text[80];

    if (added->lost == 1) {
        queued_say_lost(verdict, evidence, ADD);
        return false;
    }
    snprintf(text, sizeof text, _("%zu sums"), (size_t)call->n);
    return queued_went_well(verdict, &answer, added->later, added->remembered, index, text,
                            N_("Does every thread know whether it has a sum to make?")) &&
           (answer.phase != NULL || phases_get(verdict, evidence, TIMING_PHASE_ADD, index, phase));
}

static bool adds_right(struct verdict *verdict, const struct evidence *evidence)
{
    const struct timing_input *in = evidence->input;
    const struct timing_output *out = evidence->output;
    for (uint32_t i = 0; i < in->adds; i++) {
        struct phase phase;
        if (!add_went_well(verdict, evidence, i, &phase) ||
            !sums_right(verdict, evidence, &phase, &in->add[i], out->added[i].samples))
            return false;
    }
    return true;
}

static void judge_sums(struct verdict *verdict, const struct evidence *evidence)
{
    (void)adds_right(verdict, evidence);
}

static bool adds_judgeable(struct verdict *verdict, const struct evidence *evidence)
{
    const struct timing_input *in = evidence->input;
    for (uint32_t i = 0; i < in->adds; i++) {
        struct phase phase;
        const struct answer answer = added_answer(evidence, i, &phase);
        if (!answer_judgeable(verdict, &answer, ADD_CHECK)) return false;
    }
    return true;
}

static void judge_accesses(struct verdict *verdict, const struct evidence *evidence)
{
    if (!adds_judgeable(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
}

/* Checks for one launch in the given stream (none for n = 0), no other work and no wait. */
static bool queued(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase, uint64_t n)
{
    const struct query work = {.phase = phase, .kind = TRACE_OPERATION},
                       kernels = {.phase = phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const size_t launches = evidence_count(evidence, &kernels),
                 others = evidence_count(evidence, &work) - launches, wanted = n > 0;
    if (!queued_in_given_stream(
            verdict, evidence, phase, ADD,
            N_("The arrays may still be on their way, in the given stream, and what comes behind "
               "in it does not wait for other streams."),
            N_("Who waits is the caller. Here timing_measure, for some of its times; a wait in "
               "timing_add would be in all of them.")))
        return false;
    if (launches == wanted && others == 0) return true;
    verdict_fail(verdict, evidence, queued_last_kernel(evidence, phase),
                 "For %zu sums, %zu kernels were launched, and %zu copies or fills were asked for.",
                 (size_t)n, launches, others);
    verdict_why(verdict, "One launch is to make all sums, and none where there are none.");
    verdict_hint(verdict, "if (n == 0) return cudaSuccess; and then one launch, with a thread for "
                          "each sum.");
    return false;
}

static void judge_queue(struct verdict *verdict, const struct evidence *evidence)
{
    const struct timing_input *in = evidence->input;
    if (!adds_judgeable(verdict, evidence)) return;
    for (uint32_t i = 0; i < in->adds; i++) {
        struct phase phase;
        if (!phases_get(verdict, evidence, TIMING_PHASE_ADD, i, &phase) ||
            !queued(verdict, evidence, &phase, in->add[i].n))
            return;
    }
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    const struct evidence *repeats = evidence->repeats != NULL ? evidence->repeats : evidence;
    for (size_t r = 0; r < evidence->repeat_count; r++)
        if (!adds_right(verdict, &repeats[r])) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Do the 32 threads of a warp read neighbours in one instruction? "
                              "Sum i belongs to thread i.");
}

/* ---- timing_measure ------------------------------------------------------------------------ */

static struct answer measured_answer(const struct evidence *evidence, struct phase *phase)
{
    const struct timing_output *out = evidence->output;
    return answer_in(evidence, TIMING_PHASE_MEASURE, 0, MEASURE, ANSWER_RUNTIME,
                     out->measured.status, phase);
}

static void judge_measured_sums(struct verdict *verdict, const struct evidence *evidence)
{
    const struct timing_input *in = evidence->input;
    const struct timing_output *out = evidence->output;
    struct phase phase;
    char text[80];
    const struct answer answer = measured_answer(evidence, &phase);
    snprintf(text, sizeof text, _("%zu sums"), (size_t)in->measure.n);
    if (!queued_went_well(verdict, &answer, 0, out->measured.remembered, in->adds, text, ""))
        return;
    if (waits_say_left(verdict, evidence, &phase, MEASURE, "")) return;
    (void)sums_right(verdict, evidence, &phase, &in->measure, out->measured.samples);
}

/* Finds the data of timing_measure, for the checks of the times. */
static bool measured(struct verdict *verdict, const struct evidence *evidence,
                     struct stretches *stretches)
{
    struct phase phase;
    const struct answer answer = measured_answer(evidence, &phase);
    if (!answer_judgeable(verdict, &answer, MEASURE_CHECK)) return false;
    return phases_get(verdict, evidence, TIMING_PHASE_MEASURE, 0, &phase) &&
           stretches_look(evidence, stretches);
}

#define JUDGE(name)                                                                                \
    static void judge_##name(struct verdict *verdict, const struct evidence *evidence)             \
    {                                                                                              \
        struct stretches stretches;                                                                \
        if (measured(verdict, evidence, &stretches)) report_##name(verdict, &stretches);           \
    }
JUDGE(readings)
JUDGE(calls)
JUDGE(first)
JUDGE(launch)
JUDGE(waited)
JUDGE(transfers)
JUDGE(events)
JUDGE(parts)
#undef JUDGE

static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    const struct answer answer = measured_answer(evidence, &phase);
    if (!answer_written(verdict, &answer)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    waits_say_unpromised_in(verdict, evidence, TIMING_PHASE_MEASURE, MEASURE);
}

/* ---- leaks and failures -------------------------------------------------------------------- */

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    const struct answer answer = measured_answer(evidence, &phase);
    if (!answer_judgeable(verdict, &answer, MEASURE_CHECK)) return;
    if (answer.phase != NULL) verdict_leaks(verdict, evidence, &phase);
}

static void judge_failures(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    const struct answer answer = measured_answer(evidence, &phase);
    if (!answer_failed_with(verdict, &answer, MEMORY_ALLOCATION,
                            "so many floats do not fit into the device's memory"))
        return;
    if (answer.phase == NULL) return;
    verdict_leaks(verdict, evidence, &phase);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "An allocation was refused, and there may have been others before "
                              "it. Send every failure through the clean-up at the end.");
}

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    uint32_t index;
    if (failures_find(evidence, TIMING_PHASE_ADD, failed, phase, &index) && index == 0)
        return added_answer(evidence, 0, phase);
    return measured_answer(evidence, phase);
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct timing_input *in = evidence->input;
    const struct timing_output *out = evidence->output;
    const struct timing_added *added = &out->added[0];
    float found;
    const size_t n = (size_t)in->add[0].n, m = (size_t)in->measure.n;
    return added->lost == 0 && added->status == 0 && added->later == 0 &&
           first_wrong(added->samples, in->add[0].seed, n, &found) == n &&
           out->measured.status == 0 &&
           first_wrong(out->measured.samples, in->measure.seed, m, &found) == m &&
           report_is_filled(&out->measured);
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.advice = true,
                                                      .api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .waits = true};
    struct phase phase;
    const struct answer answer = measured_answer(evidence, &phase);
    if (adds_judgeable(verdict, evidence) && answer_judgeable(verdict, &answer, MEASURE_CHECK))
        failures_judge(verdict, evidence, &contract);
}

static const struct check checks[] = {
    {"EverySumIsRight", "sums", CHECK_ORDER, "timing_add: any number of sums, none as well",
     judge_sums},
    {"AccessesStayInside", "sums", CHECK_EMULATOR_ONLY,
     "timing_add: nothing beyond the arrays is touched", judge_accesses},
    {"OneLaunchInTheGivenStream", "sums", 0, "timing_add: nothing else, and no wait", judge_queue},
    {"TheDeviceFindsNothingWrong", "times", CHECK_EMULATOR_ONLY,
     "timing_measure: no access out of order, out of bounds, or of what nobody wrote",
     judge_findings},
    {"TheSumsComeBack", "times", CHECK_ORDER, "timing_measure: they have arrived on return",
     judge_measured_sums},
    {"EveryTimeIsTwoReadings", "times", 0, "four differences of two readings of the clock",
     judge_readings},
    {"TheDevicesOwnTimeAgrees", "times", CHECK_ORDER,
     "the events' time against the device's own record", judge_events},
    {"EveryTimeStandsAlone", "times", CHECK_ORDER,
     "nothing is under way when a time begins, and nothing else is called in it", judge_calls},
    {"TheFirstLaunchStandsApart", "times", CHECK_ORDER, "what is done once is in one time alone",
     judge_first},
    {"ALaunchIsNotAKernel", "times", CHECK_ORDER, "the time of a launch has no wait in it",
     judge_launch},
    {"TheWaitCoversTheKernel", "times", CHECK_ORDER, "the clock is read when the kernel has ended",
     judge_waited},
    {"TransfersAreTimedToo", "times", CHECK_ORDER,
     "the copies in, the kernel and the copy out in one time", judge_transfers},
    {"EveryTimeSaysWhatItIncludes", "times", 0, "the parts of each time", judge_parts},
    {"NothingLeaks", "times", 0, "what is made is given back", judge_leaks},
    {"FailedCallsAreReturned", "failures", 0, "more floats than the device has room for",
     judge_failures},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"AsFastAsTheReference", "time", 0, "timing_add, against the reference", judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/09_honest_timing/hints.def"
    {0},
};

const struct lesson lesson_09_honest_timing = {
    .number = 9,
    .folder = "09_honest_timing",
    .suite = "HonestTiming",
    .function = MEASURE,
    .files = (const char *const[]){"timing.cu", NULL},
    .parts = (const char *const[]){"09_honest_timing_drive", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
