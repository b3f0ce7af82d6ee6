/* trace_fold: decides when two findings are the same, so that each is reported once with a count.
 * Writers and readers of traces share this rule.
 *
 * Findings of one kind in one place are the same. For device code the place is the source line,
 * whichever call launched it; for an access that is not ordered against another access it is the
 * line and the submitting call; for everything else it is the call, together with the kernel or
 * function concerned. Findings without a place are the same if their sentences are. Numbers,
 * addresses and the other side are ignored, because they differ in each iteration of a loop.
 */
#ifndef OVERLAP_TRACE_FOLD_H
#define OVERLAP_TRACE_FOLD_H

#include "trace/trace.h"

/* For writers: calls are compared by their address and their stack. */
bool trace_finding_repeats(const struct trace_record *a, const struct trace_record *b);

/* For readers. */
struct trace_folded {
    const struct trace_record *record; /* a finding or advice; all rows point into one array */
    uint64_t call;                     /* number of the call's place, equal for equal places; 0:
                                          unknown */
    uint64_t count;                    /* number of occurrences */
};
/* Keeps the first record of each group of equal findings, in the records' order. Returns the number
 * of rows. */
size_t trace_fold(struct trace_folded *rows, size_t count);

#endif
