/* ratio: what a number of paired samples says about the ratio of two times, and how certain that
 * is. Arithmetic only: no clock, no evidence.
 *
 * The ratio is the median of the pairs' ratios. Its interval is that of the sign test, between two
 * of the sorted ratios: the test assumes nothing about the distribution of the times, and a few
 * disturbed pairs do not move it. Fewer than six pairs (eight for 99 %) have no such interval;
 * there the interval is Student's, of the logarithms, which three pairs can give and disturbed
 * pairs only widen.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_RATIO_H
#define OVERLAP_GRADER_EVIDENCE_RATIO_H

#include "grader/evidence/thresholds.h"

#include <stdbool.h>
#include <stddef.h>

#define RATIO_MOST_PAIRS 96

/* Seconds: the time that is judged, and the time that it is compared with. */
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
    double low, high; /* 95 % interval; of one pair, its ratio */
    double limit;     /* upper limit for the ratio, the threshold's floor included */
    size_t pairs;
    enum ratio_answer answer;
};

/* Takes at least one pair, at most RATIO_MOST_PAIRS; all times above 0. RATIO_MET: the 95 %
 * interval lies below the limit; RATIO_NOT_MET: the 99 % interval lies above it, because a failure
 * needs stronger proof. One pair is taken as exact (the software device's clock is). */
struct ratio ratio_of(const struct ratio_pair *pairs, size_t count,
                      const struct threshold *threshold);

/* As ratio_of, for samples of a host's clock, of which there may be only one. One sample is
 * believed only where its ratio is at least RATIO_CLEARLY times the limit or at most the limit
 * divided by RATIO_CLEARLY; otherwise the answer is RATIO_UNCLEAR. */
#define RATIO_CLEARLY 2.0
struct ratio ratio_of_few(const struct ratio_pair *pairs, size_t count,
                          const struct threshold *threshold);

/* Returns true when further pairs would not change anything that matters: the answer is clear, and
 * either there are many pairs, or a few that have taken `spent_s` seconds, which is long enough. */
bool ratio_is_settled(const struct ratio *ratio, double spent_s);

#endif
