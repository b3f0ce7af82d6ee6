#include "grader/lessons/02_streams/bound.h"
#include "grader/lessons/02_streams/exchange.h"

#define RESIDENT_KERNELS 128.0 /* CUDA Programming Guide, table of compute capabilities */

/* Returns the duration in ns of the last operation that `query` selects; 0: there is none. */
static double last_ns(const struct evidence *evidence, const struct query *query)
{
    const struct trace_record *record = NULL, *last = NULL;
    while ((record = evidence_next(evidence, query, record)) != NULL) {
        if (last == NULL || record->start_ns >= last->start_ns) last = record;
    }
    return last != NULL ? (double)(last->end_ns - last->start_ns) : 0.0;
}

/* Returns the ns per copy while others go the other way, measured over copies that all began
 * together, from the first start to the last end; 0: not known. */
static double both_ways_ns(const struct evidence *evidence)
{
    struct phase phase;
    struct query query = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const struct trace_record *record = NULL;
    uint64_t first = UINT64_MAX, last = 0;

    if (!evidence_phase(evidence, STREAMS_PHASE_BOTH_WAYS, 0, &phase)) return 0.0;
    while ((record = evidence_next(evidence, &query, record)) != NULL) {
        if (record->start_ns < first) first = record->start_ns;
        if (record->end_ns > last) last = record->end_ns;
    }
    return last > first ? (double)(last - first) / STREAMS_BOTH_WAYS : 0.0;
}

double streams_bound_ns(const struct evidence *evidence)
{
    const struct streams_input *input = evidence->input;
    struct phase phase;
    if (!evidence_phase(evidence, STREAMS_PHASE_CALIBRATE, 0, &phase)) return 0.0;

    struct query query = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    query.to = TRACE_DEVICE;
    const double in = last_ns(evidence, &query);
    query.to = TRACE_PINNED;
    const double out = last_ns(evidence, &query);
    query.to = 0;
    query.what = TRACE_KERNEL;
    const double kernel = last_ns(evidence, &query);
    if (in == 0.0 || out == 0.0 || kernel == 0.0) return 0.0;

    /* Calibrated with lane 0; the other lanes take time in proportion to their length. */
    const double lanes = (double)input->total / (double)input->lanes[0].length;
    const double both = both_ways_ns(evidence), before = lanes - (kernel + out) / out;
    double bound = lanes * in + kernel + out;
    if (both > in && before > 0.0) bound += before * (both - in);
    if (in + kernel + lanes * out > bound) bound = in + kernel + lanes * out;
    if (in + lanes * kernel / RESIDENT_KERNELS + out > bound)
        bound = in + lanes * kernel / RESIDENT_KERNELS + out;
    return bound;
}
