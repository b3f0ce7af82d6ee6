#include "grader/evidence/thresholds.h"

#define THRESHOLD(name, ratio, on_gpu, floor_us, bound, part, reason)                              \
    const struct threshold threshold_##name = {ratio, on_gpu, (floor_us)*1e-6, bound, part, reason};
#define LIMIT(name, value, reason) const double limit_##name = value;
#include "grader/evidence/thresholds.def"

struct threshold threshold_on(const struct threshold *threshold, enum drive_device device)
{
    struct threshold here = *threshold;
    if (device == DRIVE_EMULATOR)
        here.floor_s = 0;
    else if (here.on_gpu > 0)
        here.ratio = here.on_gpu;
    return here;
}

double threshold_at(const struct threshold *threshold, double seconds)
{
    if (seconds <= 0 || threshold->floor_s <= 0) return threshold->ratio;
    const double floor = 1 + threshold->floor_s / seconds;
    return floor > threshold->ratio ? floor : threshold->ratio;
}
