/* thresholds: how long a submission may take, by name. The numbers and their reasons are in
 * thresholds.def only.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_THRESHOLDS_H
#define OVERLAP_GRADER_EVIDENCE_THRESHOLDS_H

#include "grader/child/drive.h"

/* The part of the reference's work that nobody who does the whole work can leave out (bound.h). */
enum threshold_bound {
    BOUND_STEPS,    /* all device time: the steps have to follow one another */
    BOUND_COPIES,   /* the longest of the copies in, the copies out, and one kernel */
    BOUND_CONTEXTS, /* the calls that make and end contexts, one at a time per process */
    BOUND_READING,  /* all device time, with kernels written by the student */
    BOUND_NONE,     /* nothing: the work can be done in another way than the reference's */
};

struct threshold {
    double ratio;   /* limit: multiple of the reference's time */
    double on_gpu;  /* the same on a GPU, where calls cost more; 0: as `ratio` */
    double floor_s; /* or this many seconds longer, if that is more */
    enum threshold_bound bound;
    double part; /* fraction of the bound: a shorter time is not believed */
    const char *reason;
};

#define THRESHOLD(name, ratio, on_gpu, floor_us, bound, part, reason)                              \
    extern const struct threshold threshold_##name;
#define LIMIT(name, value, reason) extern const double limit_##name;
#include "grader/evidence/thresholds.def"
#undef THRESHOLD
#undef LIMIT

/* Returns the threshold for `device`: the software device's clock is exact and has no floor. */
struct threshold threshold_on(const struct threshold *threshold, enum drive_device device);

/* Returns the limit of the ratio when the reference takes `seconds`. */
double threshold_at(const struct threshold *threshold, double seconds);

#endif
