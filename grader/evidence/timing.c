#include "grader/evidence/timing.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_PAIRS 64

/* The device's own time between the first start and the last end of what was asked for in the
 * phase; 0 where no record has a time. `kind` 0: calls and operations. */
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

double timing_of_phase(const struct evidence *evidence, const char *name)
{
    struct phase phase;

    if (!evidence_phase(evidence, name, 0, &phase)) return -1;
    if (evidence->device == DRIVE_EMULATOR) {
        uint64_t span = device_span(evidence, &phase, 0);
        return span > 0 ? (double)span * 1e-9 : -1;
    }
    return (double)(phase.end_ns - phase.begin_ns) * 1e-9;
}

/* On a GPU the marks come from the submission's process, which could write them itself. A phase is
 * not longer than the parent's clock saw the run, nor shorter than the device was busy in it. */
static bool is_plausible(const struct evidence *evidence, const char *name, double seconds)
{
    struct phase phase;

    if (evidence->device == DRIVE_EMULATOR) return true;
    if (!evidence_phase(evidence, name, 0, &phase)) return false;
    double busy = (double)device_span(evidence, &phase, TRACE_OPERATION) * 1e-9;
    return seconds <= evidence->seconds && seconds >= busy * 0.95 - 50e-6;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *numbers, size_t count)
{
    double sorted[MOST_PAIRS];

    for (size_t i = 0; i < count; i++) sorted[i] = numbers[i];
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

struct timing timing_compare(const struct evidence *evidence, const char *phase, double limit)
{
    struct timing timing = {.pairs = evidence->repeat_count};
    double submission[MOST_PAIRS], reference[MOST_PAIRS], ratios[MOST_PAIRS];

    if (timing.pairs > MOST_PAIRS) timing.pairs = MOST_PAIRS;
    timing.outcome = TIMING_NO_TIME;
    if (timing.pairs == 0 || evidence->references == NULL) return timing;
    for (size_t i = 0; i < timing.pairs; i++) {
        submission[i] = timing_of_phase(&evidence->repeats[i], phase);
        reference[i] = timing_of_phase(&evidence->references[i], phase);
        timing.missing = submission[i] < 0 ? &evidence->repeats[i] : &evidence->references[i];
        if (submission[i] < 0 || reference[i] <= 0) return timing;
        if (!is_plausible(&evidence->repeats[i], phase, submission[i])) {
            timing.outcome = TIMING_FORGED;
            timing.missing = &evidence->repeats[i];
            return timing;
        }
        ratios[i] = submission[i] / reference[i];
    }
    timing.missing = NULL;
    timing.submission_s = median(submission, timing.pairs);
    timing.reference_s = median(reference, timing.pairs);
    timing.ratio = timing.submission_s / timing.reference_s;
    timing.lowest = timing.highest = ratios[0];
    for (size_t i = 1; i < timing.pairs; i++) {
        if (ratios[i] < timing.lowest) timing.lowest = ratios[i];
        if (ratios[i] > timing.highest) timing.highest = ratios[i];
    }
    /* Not met only if no pair met it: a slow neighbour makes some pairs slow, never all fast. */
    timing.outcome = timing.ratio < TIMING_LEAST ? TIMING_TOO_SHORT
                     : timing.ratio <= limit     ? TIMING_MET
                     : timing.lowest > limit     ? TIMING_NOT_MET
                                                 : TIMING_TOO_NOISY;
    return timing;
}

/* "3.21 ms" */
static const char *in_words(double seconds, char *text, size_t size)
{
    if (seconds < 1e-3)
        snprintf(text, size, "%.1f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, size, "%.3g ms", seconds * 1e3);
    else
        snprintf(text, size, "%.3g s", seconds);
    return text;
}

void verdict_time_ratio(struct verdict *verdict, const struct evidence *evidence, const char *phase,
                        double limit)
{
    struct timing timing = timing_compare(evidence, phase, limit);
    char a[32], b[32];
    const char *clock =
        evidence->device == DRIVE_EMULATOR ? "the emulator's virtual clock" : "the host's clock";

    if (timing.outcome == TIMING_NO_TIME) {
        if (timing.missing != NULL && !timing.missing->reference)
            verdict_fail(verdict, evidence, NULL,
                         "The run has no time to compare: nothing was asked of the device.");
        else
            verdict_skip(verdict, "the reference solution's time is not known");
        return;
    }
    if (timing.outcome == TIMING_FORGED) {
        verdict_fail(verdict, evidence, NULL,
                     "The time that was measured cannot be: the device was busy for longer than "
                     "the function took.");
        verdict_why(verdict, "Work that goes on after the function has returned was not timed.");
        return;
    }
    if (timing.outcome == TIMING_TOO_SHORT) {
        verdict_fail(verdict, evidence, NULL,
                     "The time that was measured cannot be: %.3f times the reference solution's.",
                     timing.ratio);
        verdict_why(verdict, "Nothing that does the whole work takes less than a tenth of it.");
        return;
    }
    in_words(timing.submission_s, a, sizeof a);
    in_words(timing.reference_s, b, sizeof b);
    verdict_figure(verdict, "time_ratio", "%.2f times the reference's time, at most %.2f asked for",
                   timing.ratio, limit);
    verdict_figure(verdict, "time", "%s against the reference's %s (%s, median of %zu)", a, b,
                   clock, timing.pairs);
    if (timing.outcome == TIMING_TOO_NOISY) {
        verdict_skip(verdict,
                     "too noisy to say: %.2f times the reference's time, with single pairs from "
                     "%.2f to %.2f; at most %.2f is asked for",
                     timing.ratio, timing.lowest, timing.highest, limit);
    } else if (timing.outcome == TIMING_NOT_MET) {
        verdict_fail(verdict, evidence, NULL,
                     "It took %.2f times as long as the reference solution (%s against %s); at "
                     "most %.2f times is asked for.",
                     timing.ratio, a, b, limit);
        verdict_why(verdict, "Both were run in turn on the same device, so a slow machine does not "
                             "explain it.");
    }
}
