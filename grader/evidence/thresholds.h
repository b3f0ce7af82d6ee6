/* thresholds: how long a submission may take, by name. The numbers and their reasons are in
 * thresholds.def, and nowhere else.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_THRESHOLDS_H
#define OVERLAP_GRADER_EVIDENCE_THRESHOLDS_H

#include "grader/child/drive.h"

/* What of the reference's run nobody can leave out who does the work (bound.h). */
enum threshold_bound {
    BOUND_STEPS,    /* all that the device did: the steps have to follow one another */
    BOUND_COPIES,   /* the longest of copying in, copying out, and one kernel */
    BOUND_CONTEXTS, /* the calls that make and end contexts, of which a process has one at a time */
    BOUND_READING,  /* all that the device did, with kernels of the student's own */
    BOUND_NONE,     /* nothing: there is another way than the reference's to do the work */
};

struct threshold {
    double ratio;   /* times what it is compared with */
    double on_gpu;  /* the same on a GPU, where calls cost what they cost; 0: as above */
    double floor_s; /* or so much longer, if that is more */
    enum threshold_bound bound;
    double part; /* of it: less is not believed */
    const char *reason;
};

#define THRESHOLD(name, ratio, on_gpu, floor_us, bound, part, reason)                              \
    extern const struct threshold threshold_##name;
#define LIMIT(name, value, reason) extern const double limit_##name;
#include "grader/evidence/thresholds.def"
#undef THRESHOLD
#undef LIMIT

/* The threshold as it holds on `device`: the software device's clock is exact and has no floor. */
struct threshold threshold_on(const struct threshold *threshold, enum drive_device device);

/* What the ratio may be where what it is compared with takes `seconds`. */
double threshold_at(const struct threshold *threshold, double seconds);

#endif
