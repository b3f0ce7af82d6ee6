#include "grader/lessons/spans.h"

uint64_t spans_phase(const struct evidence *evidence, const struct phase *phase)
{
    if (evidence->device == DRIVE_GPU) return phase->end_ns - phase->begin_ns;

    static const uint32_t kinds[] = {TRACE_CALL, TRACE_OPERATION};
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct query query = {.phase = phase, .kind = kinds[k]};
        const struct trace_record *record = NULL;
        while ((record = evidence_next(evidence, &query, record)) != NULL) {
            if (record->start_ns < first) first = record->start_ns;
            if (record->end_ns > last) last = record->end_ns;
        }
    }
    return last > first ? last - first : 0;
}

uint64_t spans_last(const struct evidence *evidence, const struct query *query, uint64_t *bytes)
{
    const struct trace_record *record = NULL, *last = NULL;
    while ((record = evidence_next(evidence, query, record)) != NULL) {
        if (last == NULL || record->start_ns >= last->start_ns) last = record;
    }
    if (bytes != NULL) *bytes = last != NULL ? last->bytes : 0;
    return last != NULL ? last->end_ns - last->start_ns : 0;
}
