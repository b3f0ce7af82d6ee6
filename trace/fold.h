/* trace_fold: when a finding is the same again, so that people are told it once, and how often it
 * was seen. The one rule for whoever writes a trace and whoever reads one.
 *
 * The same are findings of one kind in one place. That is the line of device code, whoever launched
 * it; of an access that is not ordered against somebody else's, the call that asked for it as well;
 * and of all else the call, with what it is about: a kernel, a function. Without a place the same
 * are those that say the same. Numbers, addresses and the other side tell nothing apart: a loop has
 * others each time round.
 */
#ifndef OVERLAP_TRACE_FOLD_H
#define OVERLAP_TRACE_FOLD_H

#include "trace/trace.h"

/* For the writer: calls are told apart by their address and the calls that led there. */
bool trace_finding_repeats(const struct trace_record *a, const struct trace_record *b);

/* For a reader. */
struct trace_folded {
    const struct trace_record *record; /* a finding or advice, of one array */
    uint64_t call;                     /* the same number: the same place; 0: unknown */
    uint64_t count;                    /* times it was seen */
};
/* Keeps the first record of those that are the same, in the records' order. Returns how many. */
size_t trace_fold(struct trace_folded *rows, size_t count);

#endif
