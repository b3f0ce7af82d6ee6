/* ratio: what a number of paired samples says about the ratio of two times, and how sure that is.
 * Arithmetic only: no clock, no evidence.
 *
 * The ratio is the median of the pairs' ratios. Its interval is that of the sign test, between two
 * of the sorted ratios: it assumes nothing about how times are spread, and a few disturbed pairs do
 * not move it. Fewer than six pairs (eight for 99 %) have no such interval, so there it is
 * Student's, of the logarithms, which three pairs can give and disturbed ones only widen.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_RATIO_H
#define OVERLAP_GRADER_EVIDENCE_RATIO_H

#include "grader/evidence/thresholds.h"

#include <stdbool.h>
#include <stddef.h>

#define RATIO_MOST_PAIRS 96

/* Seconds; what is judged, and what it is compared with. */
struct ratio_pair {
    double submission, reference;
};

enum ratio_answer {
    RATIO_MET,
    RATIO_NOT_MET,
    RATIO_UNCLEAR, /* the limit lies within what the samples leave open */
};

struct ratio {
    double submission_s, reference_s; /* medians */
    double middle;
    double low, high; /* 95 %; of one pair, itself */
    double limit;     /* what the ratio had to be, the threshold's floor counted in */
    size_t pairs;
    enum ratio_answer answer;
};

/* Of at least one pair, at most RATIO_MOST_PAIRS; all times above 0. To be met, the 95 % interval
 * must lie below the limit; to be not met, the 99 % interval above it: an accusation takes more.
 * One pair is taken as exact (the software device's clock is). */
struct ratio ratio_of(const struct ratio_pair *pairs, size_t count,
                      const struct threshold *threshold);

/* The same for samples of a host's clock of which there may be one: that one is believed only where
 * it is RATIO_CLEARLY times the limit or more, or less than a part of it by that; otherwise nothing
 * is clear. */
#define RATIO_CLEARLY 2.0
struct ratio ratio_of_few(const struct ratio_pair *pairs, size_t count,
                          const struct threshold *threshold);

/* More pairs would say nothing that matters: the answer is clear, and either many pairs say so or
 * they have taken `spent_s` seconds, which is long enough to wait. */
bool ratio_is_settled(const struct ratio *ratio, double spent_s);

#endif
