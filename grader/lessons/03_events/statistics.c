#include "grader/lessons/03_events/statistics.h"
#include "grader/evidence/answer.h"

#include <math.h>

#define DIGITS 1e-6  /* of mean and deviation */
#define DOUBLE 1e-12 /* above the error of sums in double, below that of sums in float */

void statistics_draw(struct random_source *random, struct events_input *in)
{
    static const struct {
        int64_t fewest, most;
        double low, high;
    } sets[EVENTS_SETS] = {
        {7, 40, 1.0, 30.0}, {1, 1, 1.0, 30.0}, {50, 150, 4095.99, 4096.01}, {200, 200, 0.001, 900}};

    for (int i = 0; i < EVENTS_SETS; i++) {
        in->sets[i].count = (uint32_t)random_between(random, sets[i].fewest, sets[i].most);
        for (uint32_t k = 0; k < in->sets[i].count; k++)
            in->sets[i].numbers[k] = (float)random_real(random, sets[i].low, sets[i].high);
    }
}

bool statistics_calls_nothing(struct verdict *verdict, const struct evidence *evidence,
                              const char *name)
{
    struct phase phase;
    if (!evidence_phase(evidence, name, 0, &phase)) return true;
    const struct query calls = {.phase = &phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = evidence_next(evidence, &calls, NULL);
    if (call == NULL) return true;
    verdict_fail(verdict, evidence, call, "events_statistics calls %.*s.", TRACE_NAME_SIZE,
                 call->name);
    verdict_why(verdict, "It computes with the numbers that it is given, and makes no CUDA call.");
    verdict_hint(verdict, "Leave the call out.");
    return false;
}

/* The right values. */
struct right {
    double mean, deviation, of_sample;
};

static struct right reckon(const struct events_input_set *set)
{
    struct right right = {0};
    double squares = 0.0;
    for (uint32_t k = 0; k < set->count; k++) right.mean += (double)set->numbers[k] / set->count;
    for (uint32_t k = 0; k < set->count; k++)
        squares += (set->numbers[k] - right.mean) * (set->numbers[k] - right.mean);
    right.deviation = sqrt(squares / set->count);
    right.of_sample = set->count > 1 ? sqrt(squares / (set->count - 1)) : right.deviation;
    return right;
}

/* Returns false, with a failure, when a set's mean is wrong or its call failed. */
static bool means_are_right(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase)
{
    const struct events_input *in = evidence->input;
    const struct events_output *all = evidence->output;
    for (int i = 0; i < EVENTS_SETS; i++) {
        const struct events_input_set *set = &in->sets[i];
        const struct events_output_statistics *out = &all->sets[i];
        const struct right right = reckon(set);
        const struct answer answer = {evidence, phase, STATISTICS, ANSWER_RUNTIME, out->code};
        if (!answer_succeeded(verdict, &answer, "some numbers")) return false;
        if (fabs(out->mean - right.mean) <= DIGITS * right.mean) continue;
        verdict_fail_in(verdict, evidence, STATISTICS,
                        "The mean of %u numbers around %.6g is %.9g, must be %.9g.", set->count,
                        (double)set->numbers[0], out->mean, right.mean);
        verdict_hint(verdict, "Add up in double, divide by count.");
        return false;
    }
    return true;
}

/* Explains a wrong deviation, as far as the two numbers show. */
static void explain(struct verdict *verdict, const struct events_input_set *set,
                    const struct events_output_statistics *out, const struct right *right)
{
    if (set->count > 1 && fabs(out->deviation - right->of_sample) <= DIGITS * right->deviation) {
        verdict_why(verdict, "That is the deviation of a sample, divided by count - 1.");
        verdict_hint(verdict, "Divide by count: these are all the kernels that there were.");
        return;
    }
    if (fabs(out->mean - right->mean) > DOUBLE * right->mean) {
        verdict_why(verdict, "The mean is off by as much as rounding to float makes it, and by as "
                             "much is every distance from it.");
        verdict_hint(verdict, "Keep every sum, the mean and the distances in double.");
        return;
    }
    if (right->deviation < 1e-3 * right->mean)
        verdict_why(verdict, "The numbers differ by little. The mean of the squares less the "
                             "square of the mean is the difference of two large numbers, in which "
                             "only rounding errors remain.");
    verdict_hint(verdict, "First the mean; then, in double, the mean of the squares of the "
                          "distances from it; then the root.");
}

void statistics_judge(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_input *in = evidence->input;
    const struct events_output *all = evidence->output;
    struct phase phase;
    const bool known = evidence_phase(evidence, EVENTS_PHASE_STATISTICS, 0, &phase);
    if (all->sets[0].code != ANSWER_NOT_WRITTEN &&
        !statistics_calls_nothing(verdict, evidence, EVENTS_PHASE_STATISTICS))
        return;
    if (!means_are_right(verdict, evidence, known ? &phase : NULL)) return;
    for (int i = 0; i < EVENTS_SETS; i++) {
        const struct events_input_set *set = &in->sets[i];
        const struct events_output_statistics *out = &all->sets[i];
        const struct right right = reckon(set);
        if (fabs(out->deviation - right.deviation) <= DIGITS * right.deviation + DIGITS * DIGITS)
            continue;
        verdict_fail_in(verdict, evidence, STATISTICS,
                        "The deviation of %u numbers around %.6g is %.9g, must be %.9g.",
                        set->count, (double)set->numbers[0], out->deviation, right.deviation);
        explain(verdict, set, out, &right);
        return;
    }
}
