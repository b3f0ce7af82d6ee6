#include "grader/evidence/thresholds.h"

#define THRESHOLD(name, ratio, floor_us, bound, part, reason)                                      \
    const struct threshold threshold_##name = {ratio, (floor_us)*1e-6, bound, part, reason};
#define LIMIT(name, value, reason) const double limit_##name = value;
#include "grader/evidence/thresholds.def"

double threshold_at(const struct threshold *threshold, double seconds)
{
    if (seconds <= 0 || threshold->floor_s <= 0) return threshold->ratio;
    const double floor = 1 + threshold->floor_s / seconds;
    return floor > threshold->ratio ? floor : threshold->ratio;
}
