#include "grader/evidence/timing.h"
#include "grader/base/messages.h"
#include "grader/evidence/cause.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the device's own time, in nanoseconds, from the first start to the last end of the
 * records asked for in the phase; 0 where no record has a time. `kind` 0: calls and operations. */
static uint64_t device_span(const struct evidence *evidence, const struct phase *phase,
                            uint32_t kind)
{
    struct query query = {.phase = phase, .kind = kind};
    uint64_t first = UINT64_MAX, last = 0;

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        if ((r->kind != TRACE_CALL && r->kind != TRACE_OPERATION) || r->end_ns == 0) continue;
        if (r->start_ns < first) first = r->start_ns;
        if (r->end_ns > last) last = r->end_ns;
    }
    return last > first ? last - first : 0;
}

double timing_of_phase_at(const struct evidence *evidence, const char *name, uint32_t index)
{
    struct phase phase;

    if (!evidence_phase(evidence, name, index, &phase)) return -1;
    if (evidence->device == DRIVE_EMULATOR) {
        uint64_t span = device_span(evidence, &phase, 0);
        return span > 0 ? (double)span * 1e-9 : -1;
    }
    return (double)(phase.end_ns - phase.begin_ns) * 1e-9;
}

double timing_of_phase(const struct evidence *evidence, const char *name)
{
    return timing_of_phase_at(evidence, name, 0);
}

/* Returns the bytes per second of the fastest copy to the device (or from it); 0: there is none. */
static double fastest_copy(const struct evidence *evidence, bool in)
{
    const struct query copies = {.kind = TRACE_OPERATION, .what = TRACE_COPY};
    double fastest = 0;

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &copies, r)) != NULL;) {
        const uint32_t device = in ? r->to : r->from, host = in ? r->from : r->to;
        if (device != TRACE_DEVICE || host == TRACE_DEVICE || r->end_ns <= r->start_ns) continue;
        const double rate = (double)r->bytes * 1e9 / (double)(r->end_ns - r->start_ns);
        if (rate > fastest) fastest = rate;
    }
    return fastest;
}

#define LINK_MARGIN 0.9 /* tolerance, because the clocks differ */

bool timing_beats_the_link(const struct evidence *evidence, double seconds, uint64_t bytes_in,
                           uint64_t bytes_out, double *least_s)
{
    const double in = fastest_copy(evidence, true), out = fastest_copy(evidence, false);
    const double in_s = in > 0 ? (double)bytes_in / in : 0;
    const double out_s = out > 0 ? (double)bytes_out / out : 0;

    *least_s = in_s > out_s ? in_s : out_s;
    return seconds < *least_s * LINK_MARGIN;
}

/* Returns the seconds from the first start to the last end of the operations of the timed phase. */
static double busy_in_phase(const struct evidence *evidence)
{
    struct phase phase;

    if (!evidence_phase(evidence, evidence->plan->phase, 0, &phase)) return 0;
    return (double)device_span(evidence, &phase, TRACE_OPERATION) * 1e-9;
}

/* On a GPU the marks come from the submission's process, which could forge them. A true phase is
 * not longer than the run was by the parent's clock, nor shorter than the device's work in it. */
static bool is_plausible(const struct evidence *evidence, double seconds, double busy_s)
{
    if (evidence->device == DRIVE_EMULATOR) return true;
    return seconds <= evidence->seconds && seconds >= busy_s * 0.95 - 50e-6;
}

/* The recorder lengthens a phase by less than this factor. */
#define RECORDER_MOST 3.0

/* The parent saw the phase take much longer than the process reports: one of them had to wait for a
 * processor. */
static bool is_disturbed(const struct evidence *evidence, double seconds)
{
    return evidence->clocked > seconds * 1.5 + 2e-3;
}

/* A kernel alone is faster than beside others, by less than this factor. */
#define KERNEL_PART 0.5

/* Returns true when the record shows that fewer bytes were copied or that the given kernel had less
 * to do. Not applied to context lessons (BOUND_CONTEXTS), where memory that needs no copy is a
 * right choice. */
static bool left_out(const struct evidence *own, const struct evidence *other,
                     struct timing *timing)
{
    const enum threshold_bound bound = own->plan->threshold->bound;
    const struct work work = work_of(own, own->plan->phase),
                      whole = work_of(other, other->plan->phase);
    const bool copies = bound == BOUND_STEPS || bound == BOUND_COPIES;
    const bool less =
        copies && (work.bytes_in < whole.bytes_in || work.bytes_out < whole.bytes_out);

    if (!less && (bound == BOUND_READING || bound == BOUND_NONE ||
                  work.kernel_s >= KERNEL_PART * whole.kernel_s))
        return false;
    timing->work = work;
    timing->whole = whole;
    return true;
}

/* A process that forges its time makes every one of its pairs look disturbed, and none of the
 * reference's. */
#define FEWEST_TO_ACCUSE 4

/* What all pairs add up to. */
struct tally {
    struct ratio_pair pairs[RATIO_MOST_PAIRS]; /* those whose times count */
    size_t count;
    size_t odd, odd_references; /* disturbed pairs; disturbed on the reference's side */
    size_t recorded, less;      /* recorded pairs; those of them in which less was done */
    double busy_s;              /* least of the submission's recorded rounds */
};

/* Evaluates the record of a pair. */
static void look_at_record(const struct evidence *own, const struct evidence *other, double busy_s,
                           struct tally *tally, struct timing *timing)
{
    const double bound = bound_of(other, other->plan->phase);

    if (bound > 0 && (timing->bound_s <= 0 || bound < timing->bound_s)) timing->bound_s = bound;
    if (tally->recorded == 0 || busy_s < tally->busy_s) tally->busy_s = busy_s;
    tally->less += left_out(own, other, timing);
    tally->recorded++;
}

/* Adds one pair. `rested`: there are rounds without records, and only their times count. Returns
 * false when the outcome is already known. */
static bool add_pair(const struct evidence *own, const struct evidence *other, bool rested,
                     struct tally *tally, struct timing *timing)
{
    const double a = timing_of_phase(own, own->plan->phase),
                 b = timing_of_phase(other, other->plan->phase), busy_s = busy_in_phase(own);

    timing->outcome = TIMING_NO_TIME;
    timing->missing = a <= 0 ? own : other;
    if (a <= 0 || b <= 0) return false;
    timing->missing = own;
    timing->outcome = own->between ? TIMING_BETWEEN : TIMING_FORGED;
    if (own->between || !is_plausible(own, a, busy_s)) return false;
    if (!own->unrecorded) look_at_record(own, other, busy_s, tally, timing);
    tally->odd += is_disturbed(own, a);
    tally->odd_references += is_disturbed(other, b);
    if (is_disturbed(own, a) || is_disturbed(other, b))
        timing->set_aside++;
    else if (own->unrecorded == rested)
        tally->pairs[tally->count++] = (struct ratio_pair){a, b};
    return true;
}

/* Derives the outcome from the times that count. */
static void conclude(const struct evidence *evidence, const struct tally *tally,
                     struct timing *timing)
{
    const struct run_plan *plan = evidence->plan;
    const struct threshold threshold = threshold_on(plan->threshold, evidence->device);

    timing->ratio = ratio_of(tally->pairs, tally->count, &threshold);
    timing->tenth = plan->threshold->bound != BOUND_NONE &&
                    timing->bound_s < TIMING_LEAST * timing->ratio.reference_s;
    if (timing->tenth) timing->bound_s = TIMING_LEAST * timing->ratio.reference_s;
    timing->outcome = timing->ratio.submission_s < timing->bound_s ? TIMING_TOO_SHORT
                      : evidence->device == DRIVE_GPU &&
                              timing->ratio.submission_s * RECORDER_MOST < tally->busy_s
                          ? TIMING_FORGED
                      : timing->ratio.answer == RATIO_MET     ? TIMING_MET
                      : timing->ratio.answer == RATIO_NOT_MET ? TIMING_NOT_MET
                                                              : TIMING_TOO_NOISY;
}

struct timing timing_compare(const struct evidence *evidence)
{
    struct timing timing = {.outcome = TIMING_NO_TIME};
    struct tally tally = {.count = 0};
    bool rested = false;

    if (evidence->repeat_count == 0 || evidence->references == NULL) return timing;
    for (size_t i = 0; i < evidence->repeat_count; i++) rested |= evidence->repeats[i].unrecorded;
    for (size_t i = 0; i < evidence->repeat_count && tally.count < RATIO_MOST_PAIRS; i++)
        if (!add_pair(&evidence->repeats[i], &evidence->references[i], rested, &tally, &timing))
            return timing;
    timing.missing = NULL;
    /* On a GPU CUPTI may lose a buffer of records now and then, so a majority of the pairs must
     * show it. */
    if (2 * tally.less > tally.recorded) {
        timing.outcome = TIMING_LEFT_OUT;
    } else if (tally.count == 0) {
        const bool forged = tally.odd >= FEWEST_TO_ACCUSE && tally.odd_references == 0;
        timing.outcome = forged ? TIMING_FORGED : TIMING_TOO_NOISY;
        timing.missing = evidence;
    } else {
        conclude(evidence, &tally, &timing);
    }
    return timing;
}

double timing_most_between_events(const struct trace_record *before,
                                  const struct trace_record *kernel,
                                  const struct trace_record *after)
{
    const uint64_t last = kernel->end_ns > after->end_ns ? kernel->end_ns : after->end_ns;
    return last > before->start_ns ? (double)(last - before->start_ns) : 0;
}

/* ---- wording -----------------------------------------------------------------------------------
 */

const char *timing_in_words(double seconds, char *text, size_t size)
{
    if (seconds < 1e-3)
        snprintf(text, size, "%.1f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, size, "%.3g ms", seconds * 1e3);
    else
        snprintf(text, size, "%.3g s", seconds);
    return text;
}

/* Returns as many digits as are needed to show on which side of its limit, printed with two digits,
 * the ratio is. */
static int digits_of(const struct ratio *ratio)
{
    const double limit = round(ratio->limit * 100) / 100;
    double scale = 100;
    int digits = 2;
    for (; digits < 5; digits++, scale *= 10)
        if ((round(ratio->middle * scale) / scale > limit) == (ratio->middle > ratio->limit)) break;
    return digits;
}

void timing_say_ratio(const struct ratio *ratio, const char *whose, char *text, size_t size)
{
    const int used =
        snprintf(text, size, _("%.*f times %s"), digits_of(ratio), ratio->middle, whose);
    if (ratio->pairs > 1 && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used,
                 _(", 95 %% between %.2f and %.2f, from %zu pairs"), ratio->low, ratio->high,
                 ratio->pairs);
}

static const char *clock_of(const struct evidence *evidence)
{
    return evidence->device == DRIVE_EMULATOR ? _("the emulator's virtual clock")
                                              : _("the host's clock");
}

static void say_no_time(struct verdict *verdict, const struct evidence *evidence,
                        const struct timing *timing)
{
    if (timing->missing != NULL && !timing->missing->reference)
        verdict_fail(verdict, evidence, NULL,
                     "The run has no time to compare: nothing was asked of the device.");
    else
        verdict_skip(verdict, "the reference solution's time is not known");
}

static void say_left_out(struct verdict *verdict, const struct evidence *evidence,
                         const struct timing *timing)
{
    const struct work *work = &timing->work, *whole = &timing->whole;
    char a[32], b[32];

    if (work->bytes_in < whole->bytes_in)
        verdict_fail(verdict, evidence, NULL,
                     "In the run that was timed %" PRIu64 " bytes were copied to the device; there "
                     "are %" PRIu64 ".",
                     work->bytes_in, whole->bytes_in);
    else if (work->bytes_out < whole->bytes_out)
        verdict_fail(verdict, evidence, NULL,
                     "In the run that was timed %" PRIu64 " bytes were copied from the device; "
                     "there are %" PRIu64 ".",
                     work->bytes_out, whole->bytes_out);
    else
        verdict_fail(
            verdict, evidence, NULL,
            "In the run that was timed the longest kernel took %s; with all of its work it "
            "takes %s.",
            timing_in_words(work->kernel_s, a, sizeof a),
            timing_in_words(whole->kernel_s, b, sizeof b));
    verdict_why(verdict, "A time is that of the whole work, done on the device.");
}

static void say_forged(struct verdict *verdict, const struct evidence *evidence,
                       const struct timing *timing)
{
    if (timing->outcome == TIMING_LEFT_OUT) {
        say_left_out(verdict, evidence, timing);
        return;
    }
    if (timing->outcome == TIMING_BETWEEN) {
        verdict_fail(verdict, evidence, NULL,
                     "The submission made calls after its function had returned, while the "
                     "reference solution was timed.");
        verdict_why(verdict, "Both are timed in turn on the same device; work that one leaves "
                             "behind makes the other slower.");
        return;
    }
    if (timing->outcome == TIMING_TOO_SHORT) {
        const struct threshold *threshold = evidence->plan->threshold;
        char a[32], b[32];
        if (timing->tenth) {
            verdict_fail(verdict, evidence, NULL,
                         "The time that was measured cannot be: %.3f times the reference "
                         "solution's.",
                         timing->ratio.middle);
            verdict_why(verdict, "No code that does the whole work takes less than a tenth of the "
                                 "reference's time.");
            return;
        }
        verdict_fail(verdict, evidence, NULL,
                     "The time that was measured cannot be: %s, and in the reference solution %s "
                     "takes %s.",
                     timing_in_words(timing->ratio.submission_s, a, sizeof a),
                     bound_in_words(threshold->bound),
                     timing_in_words(timing->bound_s / threshold->part, b, sizeof b));
        verdict_why(verdict,
                    "Code that does the whole work needs as long: a part of it was left out, "
                    "or done before it was timed.");
        return;
    }
    verdict_fail(verdict, evidence, NULL,
                 "The time that was measured cannot be: it is faster than the physical bound, the "
                 "device was busy for longer than the function took.");
    verdict_why(verdict, "Work that goes on after the function has returned was not timed.");
}

static void say_not_met(struct verdict *verdict, const struct evidence *evidence,
                        const struct ratio *ratio)
{
    char a[32], b[32], times[160], cause[CAUSE_SIZE];

    timing_say_ratio(ratio, _("as long as the reference solution"), times, sizeof times);
    verdict_slow(verdict);
    verdict_fail(verdict, evidence, NULL, "It took %s (%s against %s); at most %.2f is asked for.",
                 times, timing_in_words(ratio->submission_s, a, sizeof a),
                 timing_in_words(ratio->reference_s, b, sizeof b), ratio->limit);
    if (cause_of(evidence, evidence->references, evidence->plan->phase, cause))
        verdict_why(verdict, "The timeline says: %s.", cause);
    else
        verdict_why(verdict, "Both were run in turn on the same device, so a slow machine does not "
                             "explain it.");
}

void verdict_time_ratio(struct verdict *verdict, const struct evidence *evidence)
{
    const struct timing timing = timing_compare(evidence);
    const struct ratio *ratio = &timing.ratio;
    char a[32], b[32], times[160];

    if (timing.outcome == TIMING_NO_TIME) {
        say_no_time(verdict, evidence, &timing);
        return;
    }
    if (timing.outcome == TIMING_FORGED || timing.outcome == TIMING_BETWEEN ||
        timing.outcome == TIMING_TOO_SHORT || timing.outcome == TIMING_LEFT_OUT) {
        say_forged(verdict, evidence, &timing);
        return;
    }
    if (ratio->pairs == 0) {
        verdict_skip(verdict, "too noisy to say: all %zu pairs of runs were disturbed",
                     timing.set_aside);
        return;
    }
    timing_say_ratio(ratio, _("the reference's time"), times, sizeof times);
    verdict_figure(verdict, "time_ratio", "%s; at most %.2f asked for", times, ratio->limit);
    verdict_figure(verdict, "time", "%s against the reference's %s (%s)",
                   timing_in_words(ratio->submission_s, a, sizeof a),
                   timing_in_words(ratio->reference_s, b, sizeof b), clock_of(evidence));
    if (timing.set_aside > 0)
        verdict_figure(verdict, "set_aside", "%zu pairs were disturbed and are not counted",
                       timing.set_aside);
    if (timing.outcome == TIMING_TOO_NOISY)
        verdict_skip(verdict, "too noisy to say: %s; at most %.2f is asked for", times,
                     ratio->limit);
    else if (timing.outcome == TIMING_NOT_MET)
        say_not_met(verdict, evidence, ratio);
}
