/* The judge of lesson 13: devices as OpenCL describes them, sums, and honest times. The device is
 * PoCL or NVIDIA's; the OpenCL layer (opencl/layer.h) records the calls.
 */
#include "grader/evidence/judge.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/phases.h"
#include "grader/lessons/13_opencl/clock.h"
#include "grader/lessons/13_opencl/content.h"
#include "grader/lessons/13_opencl/exchange.h"
#include "grader/lessons/13_opencl/listed.h"
#include "grader/lessons/13_opencl/refused.h"
#include "grader/lessons/13_opencl/words.h"
#include "grader/lessons/values.h"
#include "opencl/layer.h"

#include <stdlib.h>
#include <string.h>

#define VALUES_CHECK "OpenCL.EveryElementIsRight"
#define COMPARE_CHECK "OpenCL.HostAndDeviceAgree"
/* More than the work-items of a work-group on any device: rounding up to whole groups adds
 * fewer. */
#define MOST_ITEMS_MORE 8192

/* ---- inputs -----------------------------------------------------------------------------------
 */

static struct opencl_input *make(struct run_input *input, const struct opencl_input *wanted)
{
    size_t sums = 0;

    for (int i = 0; i < OPENCL_SUMS; i++) sums += wanted->counts[i];
    const size_t values = 2 * (sums + wanted->count + 1);
    struct opencl_input *in = run_input_allocate(input, sizeof *in + values * sizeof(float));
    if (in == NULL) return NULL;
    *in = *wanted;
    in->zero = random_between(input->random, 1000000, 1000000000);
    const uint64_t seed = random_between(input->random, 1, UINT32_MAX);
    /* Small values, so that a sum of thousands keeps digits of each. */
    for (size_t i = 0; i < values; i++) in->values[i] = values_at(seed, i) / 64;
    input->output_size =
        sizeof(struct opencl_output) + (sums + 2 * (wanted->count + 1)) * sizeof(float);
    return in;
}

/* With PoCL three devices, on two of seven platforms. */
static int prepare_devices(struct run_input *input)
{
    const struct opencl_input in = {.rooms = {OPENCL_MOST, 1, 0}};
    if (input->device == DRIVE_EMULATOR)
        snprintf(input->devices, sizeof input->devices, "|pthread||||basic basic|");
    return make(input, &in) != NULL ? 0 : -1;
}

static int prepare_none(struct run_input *input)
{
    const struct opencl_input in = {.rooms = {OPENCL_MOST, 1, 0}};
    snprintf(input->devices, sizeof input->devices, "%s", OPENCL_NO_PLATFORM);
    return make(input, &in) != NULL ? 0 : -1;
}

static uint32_t between(struct random_source *random, uint64_t from, uint64_t to)
{
    return (uint32_t)random_between(random, from, to);
}

/* Counts: not a multiple of any group's size, none, fewer than a group's items, and a multiple. */
static int prepare_values(struct run_input *input)
{
    struct random_source *random = input->random;
    const struct opencl_input in = {.counts = {2 * between(random, 500, 2000) + 1, 0,
                                               2 * between(random, 2, 15) + 1,
                                               1024 * between(random, 2, 6)},
                                    .count = 2 * between(random, 1000, 2000) + 1,
                                    .rounds = between(random, 1500, 2500)};
    if (input->device == DRIVE_EMULATOR)
        snprintf(input->devices, sizeof input->devices, "basic pthread");
    return make(input, &in) != NULL ? 0 : -1;
}

static int prepare_failures(struct run_input *input)
{
    const struct opencl_input in = {.count = 2 * between(input->random, 100, 200) + 1,
                                    .rounds = between(input->random, 10, 20)};
    return make(input, &in) != NULL ? 0 : -1;
}

#define OF_OPENCL RUN_ON_BOTH | RUN_OPENCL
/* Time limit, ten times the solution's; it includes PoCL's compilation. A kernel on PoCL has no
 * instruction limit. */
#define SECONDS 10
/* A call that is made to fail has a process of its own, and a GPU's OpenCL takes 0.2 s to begin:
 * 61 of them took 11 s on an H200. */
#define FAILURES_SECONDS_OPENCL 30
static const struct run_plan runs[] = {
    {.name = OPENCL_RUN_DEVICES,
     .flags = OF_OPENCL,
     .seconds = SECONDS,
     .prepare = prepare_devices},
    {.name = OPENCL_RUN_NONE, .flags = OF_OPENCL, .seconds = SECONDS, .prepare = prepare_none},
    {.name = OPENCL_RUN_VALUES, .flags = OF_OPENCL, .seconds = SECONDS, .prepare = prepare_values},
    {.name = FAILURES_RUN,
     .flags = OF_OPENCL,
     .seconds = FAILURES_SECONDS_OPENCL,
     .prepare = prepare_failures,
     .crash_hint =
         "In this run calls are made to fail, one after another. What a call that failed was to "
         "make is not there: go from its error straight to the clean-up, and touch only what had "
         "been made."},
    {0},
};

/* ---- the sum ----------------------------------------------------------------------------------
 */

static const struct opencl_output *output_of(const struct evidence *evidence)
{
    return evidence->output;
}

static const float *values_of(const struct evidence *evidence, uint32_t sum)
{
    const struct opencl_input *in = evidence->input;
    const float *values = output_of(evidence)->values;
    for (uint32_t i = 0; i < sum; i++) values += in->counts[i];
    return values;
}

static struct answer sum_answer(const struct evidence *evidence, uint32_t i, struct phase *phase)
{
    return answer_in(evidence, OPENCL_PHASE_SUM, i, OPENCL_FUNCTION_SUM, ANSWER_RUNTIME,
                     output_of(evidence)->sum_codes[i], phase);
}

static struct answer compare_answer(const struct evidence *evidence, struct phase *phase)
{
    return answer_in(evidence, OPENCL_PHASE_COMPARE, 0, OPENCL_FUNCTION_COMPARE, ANSWER_RUNTIME,
                     output_of(evidence)->compared.code, phase);
}

/* Returns the arrays of a sum: a, followed by b. `sum` OPENCL_SUMS: those of opencl_compare. */
static const float *arrays_of(const struct opencl_input *in, uint32_t sum)
{
    const float *values = in->values;
    for (uint32_t i = 0; i < sum; i++) values += 2 * in->counts[i];
    return values;
}

/* Reports findings that explain wrong values: work that was not waited for, objects that were
 * released too early. Returns true when there were any. */
static bool has_cause(struct verdict *verdict, const struct evidence *evidence,
                      const struct phase *phase)
{
    const struct query findings = {.phase = phase, .kind = TRACE_FINDING};
    if (phase == NULL || evidence_next(evidence, &findings, NULL) == NULL) return false;
    verdict_findings(verdict, evidence, NULL);
    return verdict_failed(verdict);
}

/* Returns the index of the first wrong element of the sum; the number of elements: none. */
static uint32_t first_wrong(const struct evidence *evidence, uint32_t sum)
{
    const struct opencl_input *in = evidence->input;
    const uint32_t count = in->counts[sum];
    const float *found = values_of(evidence, sum), *a = arrays_of(in, sum);
    for (uint32_t k = 0; k < count; k++) {
        const float wanted = a[k] + a[count + k];
        if (memcmp(&found[k], &wanted, sizeof wanted) != 0) return k;
    }
    return count;
}

/* ---- origin of the results --------------------------------------------------------------------
 */

static uint64_t items_of(const struct evidence *evidence, const struct phase *phase)
{
    const struct query kernels = {
        .phase = phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL, .student = true};
    uint64_t items = 0;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &kernels, r)) != NULL;)
        items += r->count;
    return items;
}

/* Fails when the kernel ran on another device than the given one. Returns true when the verdict
 * failed. */
static bool is_elsewhere(struct verdict *verdict, const struct answer *answer,
                         const struct trace_record *kernel)
{
    const unsigned given = output_of(answer->evidence)->device;
    if (kernel == NULL || strtoul(kernel->text, NULL, 10) == given) return false;
    verdict_fail(verdict, answer->evidence, kernel,
                 "The kernel ran on another device than the one that %s was given.",
                 answer->function);
    verdict_why(verdict, "Which device is to work is the caller's choice: there may be several.");
    verdict_hint(verdict, "Make the context and the queue for `device`, and ask for no other.");
    return true;
}

/* Checks for a work-item per element, and at most one group more. */
static bool worked(struct verdict *verdict, const struct answer *answer, uint32_t count)
{
    const struct query kernels = {
        .phase = answer->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL, .student = true};
    const uint64_t items = items_of(answer->evidence, answer->phase);
    const struct trace_record *first = evidence_next(answer->evidence, &kernels, NULL);

    if (count == 0 && first == NULL) return true;
    if (is_elsewhere(verdict, answer, first)) return false;
    if (count == 0)
        verdict_fail(verdict, answer->evidence, first,
                     "A kernel is queued for 0 elements: there is nothing to compute.");
    else if (first == NULL)
        verdict_fail_in(verdict, answer->evidence, answer->function,
                        "No kernel ran on the device for %u elements.", count);
    else if (items < count || items > (uint64_t)count + MOST_ITEMS_MORE)
        verdict_fail(verdict, answer->evidence, first,
                     "%llu work-items ran for %u elements: one is to compute each.",
                     (unsigned long long)items, count);
    else
        return true;
    verdict_why(verdict, "A work-item is what a device has thousands of: one that goes through an "
                         "array leaves the others without work.");
    verdict_hint(verdict, "The global size of clEnqueueNDRangeKernel counts work-items, not "
                          "groups: the number of elements, rounded up to whole groups.");
    return false;
}

/* Fails when the sums are not in c although the device sent the right ones. Returns true when the
 * verdict failed. */
static bool came_back(struct verdict *verdict, const struct evidence *evidence,
                      const struct phase *phase, uint32_t sum)
{
    const struct opencl_input *in = evidence->input;
    const float *a = arrays_of(in, sum);
    const uint32_t count = in->counts[sum];
    float *wanted = calloc((size_t)count + 1, sizeof *wanted);
    if (wanted == NULL) return false;
    for (uint32_t i = 0; i < count; i++) wanted[i] = a[i] + a[count + i];
    const bool came = content_came(evidence, phase, wanted, count);
    free(wanted);
    if (!came) return false;
    const uint32_t k = first_wrong(evidence, sum);
    verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_SUM,
                    "The right sums came back from the device, and c has something else: element "
                    "%u of %u is %.9g.",
                    k, count, (double)values_of(evidence, sum)[k]);
    verdict_why(verdict,
                "What a read with CL_FALSE brings is there when it has been waited for, and "
                "not before; what is mapped, until clEnqueueUnmapMemObject.");
    verdict_hint(verdict, "Wait, and only then use what was read, or copy it to c; copy out of a "
                          "mapping before you release it.");
    return true;
}

static void judge_sums(struct verdict *verdict, const struct evidence *evidence)
{
    const struct opencl_input *in = evidence->input;
    struct phase phase;
    char text[80];

    for (uint32_t i = 0; i < OPENCL_SUMS; i++) {
        const struct answer answer = sum_answer(evidence, i, &phase);
        const float *found = values_of(evidence, i), *a = arrays_of(in, i);
        snprintf(text, sizeof text, _("%u sums"), in->counts[i]);
        if (answer.code != 0 && has_cause(verdict, evidence, answer.phase)) return;
        if (!answer_succeeded(verdict, &answer, text)) return;
        if (output_of(evidence)->sum_beyond[i] > 0) {
            verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_SUM,
                            "%u bytes behind the %u elements of c were written.",
                            output_of(evidence)->sum_beyond[i], in->counts[i]);
            verdict_why(verdict, "The memory behind the array is somebody else's.");
            verdict_hint(verdict, "A read brings as many bytes as it is told: count * "
                                  "sizeof(float).");
            return;
        }
        const uint32_t k = first_wrong(evidence, i);
        if (k == in->counts[i]) continue;
        if (has_cause(verdict, evidence, answer.phase)) return;
        if (answer.phase != NULL && !worked(verdict, &answer, in->counts[i])) return;
        if (answer.phase != NULL && came_back(verdict, evidence, answer.phase, i)) return;
        verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_SUM,
                        "Element %u of %u is %.9g, and not %.9g.", k, in->counts[i],
                        (double)found[k], (double)(a[k] + a[in->counts[i] + k]));
        verdict_why(verdict, "Each is one addition of two floats, the same on every device.");
        verdict_hint(verdict, "Look at the global size, at the kernel's index and its limit, at "
                              "sizes in bytes, and at which argument is which.");
        return;
    }
}

static void judge_work(struct verdict *verdict, const struct evidence *evidence)
{
    const struct opencl_input *in = evidence->input;
    struct phase phase;

    for (uint32_t i = 0; i < OPENCL_SUMS; i++) {
        const struct answer answer = sum_answer(evidence, i, &phase);
        if (!answer_judgeable(verdict, &answer, VALUES_CHECK) || answer.phase == NULL) return;
        if (!worked(verdict, &answer, in->counts[i])) return;
        /* Wrong values are reported by the check of values. */
        const float *found = values_of(evidence, i);
        if (in->counts[i] > 0 && first_wrong(evidence, i) == in->counts[i] &&
            !content_is_the_devices(verdict, evidence, &phase, found, in->counts[i]))
            return;
    }
}

/* ---- host against device ----------------------------------------------------------------------
 */

static bool agrees(struct verdict *verdict, const struct answer *answer, const float *found,
                   bool host, const float *wanted)
{
    const struct opencl_input *in = answer->evidence->input;

    for (uint32_t i = 0; i < in->count; i++) {
        if (memcmp(&found[i], &wanted[i], sizeof wanted[i]) == 0) continue;
        if (!host && has_cause(verdict, answer->evidence, answer->phase)) return false;
        if (host)
            verdict_fail_in(verdict, answer->evidence, OPENCL_FUNCTION_COMPARE,
                            "host[%u] of %u is %.9g, and not %.9g.", i, in->count, (double)found[i],
                            (double)wanted[i]);
        else
            verdict_fail_in(verdict, answer->evidence, OPENCL_FUNCTION_COMPARE,
                            "sums[%u] of %u is %.9g, and not %.9g.", i, in->count, (double)found[i],
                            (double)wanted[i]);
        verdict_why(verdict,
                    "%u additions of floats, one behind the other, give the same result "
                    "on host and device: each is rounded in the same way.",
                    in->rounds);
        if (!host && found[i] != found[i]) {
            verdict_hint(verdict, "It is no number, as what a new buffer holds is none: what the "
                                  "kernel reads is to be written first, and each element stored.");
            return false;
        }
        verdict_hint(verdict, "A product instead of the additions is rounded once, and has another "
                              "result; so may what -cl-fast-relaxed-math makes of them. Is the "
                              "number of rounds right, and is every element there?");
        return false;
    }
    return true;
}

/* Step 3 does not prescribe the number of work-items. */
static void judge_the_device(struct verdict *verdict, const struct answer *answer,
                             const float *wanted)
{
    const struct opencl_input *in = answer->evidence->input;
    const struct query kernels = {
        .phase = answer->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL, .student = true};
    if (answer->phase == NULL) return;
    const struct trace_record *first = evidence_next(answer->evidence, &kernels, NULL);
    if (first == NULL)
        worked(verdict, answer, in->count);
    else if (!is_elsewhere(verdict, answer, first))
        content_is_the_devices(verdict, answer->evidence, answer->phase, wanted, in->count);
}

/* With one element and no round the value stays as it is. */
static void judge_least(struct verdict *verdict, const struct evidence *evidence)
{
    const struct opencl_input *in = evidence->input;
    const float *found = values_of(evidence, OPENCL_SUMS) + 2 * (size_t)in->count;
    const float *a = arrays_of(in, OPENCL_SUMS) + 2 * (size_t)in->count;
    struct phase phase;
    const struct answer answer = answer_in(evidence, OPENCL_PHASE_LEAST, 0, OPENCL_FUNCTION_COMPARE,
                                           ANSWER_RUNTIME, output_of(evidence)->least_code, &phase);

    if (!answer_succeeded(verdict, &answer, _("1 element and no round"))) return;
    for (int i = 0; i < 2; i++) {
        if (memcmp(&found[i], a, sizeof *a) == 0) continue;
        verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_COMPARE,
                        "With 1 element and no round %s[0] is %.9g, and not a[0], %.9g.",
                        i == 0 ? "host" : "sums", (double)found[i], (double)*a);
        verdict_why(verdict, "Nothing is added in no round, and a[0] stays what it is.");
        verdict_hint(verdict, "count is at least 1, and rounds may be 0: leave out neither the "
                              "loops nor the copies.");
        return;
    }
}

static void judge_compared(struct verdict *verdict, const struct evidence *evidence)
{
    const struct opencl_input *in = evidence->input;
    const float *host = values_of(evidence, OPENCL_SUMS), *a = arrays_of(in, OPENCL_SUMS);
    struct phase phase;
    char text[80];
    const struct answer answer = compare_answer(evidence, &phase);

    snprintf(text, sizeof text, _("%u elements"), in->count);
    if (answer.code != 0 && has_cause(verdict, evidence, answer.phase)) return;
    if (!answer_succeeded(verdict, &answer, text)) return;
    float *wanted = calloc(in->count, sizeof *wanted);
    if (wanted == NULL) {
        verdict_skip(verdict, "there is no memory for the expected values");
        return;
    }
    for (uint32_t i = 0; i < in->count; i++) {
        float x = a[i];
        for (uint32_t k = 0; k < in->rounds; k++) x += a[in->count + i];
        wanted[i] = x;
    }
    if (agrees(verdict, &answer, host, true, wanted) &&
        agrees(verdict, &answer, host + in->count, false, wanted))
        judge_the_device(verdict, &answer, wanted);
    free(wanted);
    if (!verdict_failed(verdict)) judge_least(verdict, evidence);
}

/* Finds the phase of step 3; false when it did not succeed. */
static bool compared(struct verdict *verdict, const struct evidence *evidence, struct phase *phase)
{
    const struct answer answer = compare_answer(evidence, phase);
    if (!answer_judgeable(verdict, &answer, COMPARE_CHECK)) return false;
    return phases_get(verdict, evidence, OPENCL_PHASE_COMPARE, 0, phase);
}

static void judge_copies(struct verdict *verdict, const struct evidence *evidence)
{
    const struct opencl_input *in = evidence->input;
    struct phase phase;
    if (!compared(verdict, evidence, &phase)) return;
    clock_copies(verdict, evidence, &phase, in->count);
    if (!verdict_failed(verdict))
        content_is_given(verdict, evidence, &phase, arrays_of(in, OPENCL_SUMS), in->count);
}

static void judge_events(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    if (compared(verdict, evidence, &phase)) clock_events(verdict, evidence, &phase);
}

static void judge_host_time(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    if (compared(verdict, evidence, &phase)) clock_host(verdict, evidence, &phase);
}

static void judge_total(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    if (compared(verdict, evidence, &phase)) clock_total(verdict, evidence, &phase);
}

/* ---- requirements on all functions ------------------------------------------------------------
 */

static bool all_written(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    for (uint32_t i = 0; i < OPENCL_SUMS; i++) {
        const struct answer answer = sum_answer(evidence, i, &phase);
        if (!answer_written(verdict, &answer)) return false;
    }
    const struct answer answer = compare_answer(evidence, &phase);
    return answer_written(verdict, &answer);
}

static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    if (all_written(verdict, evidence)) verdict_findings(verdict, evidence, NULL);
}

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    if (!all_written(verdict, evidence)) return;
    for (uint32_t i = 0; i < OPENCL_SUMS && !verdict_failed(verdict); i++)
        if (evidence_phase(evidence, OPENCL_PHASE_SUM, i, &phase))
            verdict_leaks(verdict, evidence, &phase);
    if (!verdict_failed(verdict) && evidence_phase(evidence, OPENCL_PHASE_COMPARE, 0, &phase))
        verdict_leaks(verdict, evidence, &phase);
}

static const struct check checks[] = {
    {"EveryDeviceIsListed", "devices", 0,
     "opencl_devices: all of them, as OpenCL describes them, and room for fewer",
     listed_judge_devices},
    {"NoDeviceIsNoError", "none", 0, "opencl_devices: where there is no platform at all",
     listed_judge_none},
    {"EveryElementIsRight", "values", 0, "opencl_sum: any number of elements, none as well",
     judge_sums},
    {"AWorkItemComputesEach", "values", 0, "opencl_sum: on the device, side by side", judge_work},
    {"HostAndDeviceAgree", "values", 0,
     "opencl_compare: the same additions on both, to the last bit", judge_compared},
    {"EachByteIsCopiedOnce", "values", 0,
     "opencl_compare: there and back, in commands of one queue", judge_copies},
    {"TheEventsTimesAreReported", "values", 0,
     "opencl_compare: the device's own times of copies and kernel", judge_events},
    {"TheHostsLoopIsTimedAlone", "values", 0,
     "opencl_compare: two readings, and nothing of OpenCL between them", judge_host_time},
    {"TheTotalIsOfTheCommands", "values", 0,
     "opencl_compare: from before the first command until the last has ended", judge_total},
    {"NothingIsUsedTooEarlyOrTooLate", "values", 0,
     "what does not block is waited for, what is released is not used, buffers end where they end",
     judge_findings},
    {"EveryObjectIsReleased", "values", 0, "contexts, queues, programs, events and all",
     judge_leaks},
    {FAILURES_CHECK, FAILURES_RUN, 0, "each call that can fail does so once, and is returned",
     refused_judge},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/13_opencl/hints.def"
    {0},
};

const struct lesson lesson_13_opencl = {
    .number = 13,
    .folder = "13_opencl",
    .suite = "OpenCL",
    .function = OPENCL_FUNCTION_SUM,
    .files = (const char *const[]){"opencl.c", NULL},
    .drive_sources = (const char *const[]){"drive.c", NULL},
    .libraries = (const char *const[]){"overlap_opencl", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
