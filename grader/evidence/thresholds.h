/* thresholds: how long a submission may take, by name. The numbers and their reasons are in
 * thresholds.def, and nowhere else.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_THRESHOLDS_H
#define OVERLAP_GRADER_EVIDENCE_THRESHOLDS_H

struct threshold {
    double ratio;   /* times what it is compared with */
    double floor_s; /* or so much longer, if that is more */
    const char *reason;
};

#define THRESHOLD(name, ratio, floor_us, reason) extern const struct threshold threshold_##name;
#define LIMIT(name, value, reason) extern const double limit_##name;
#include "grader/evidence/thresholds.def"
#undef THRESHOLD
#undef LIMIT

/* What the ratio may be where what it is compared with takes `seconds`. */
double threshold_at(const struct threshold *threshold, double seconds);

#endif
