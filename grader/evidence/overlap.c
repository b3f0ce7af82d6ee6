/* Computes how long each of two classes of operations was running, and how long both were: merged
 * intervals, with one sweep over the start and end points. */
#include "grader/evidence/judge.h"

#include <stdlib.h>

/* The start (+1) or end (-1) of an operation of class 0 or 1. */
struct edge {
    uint64_t at;
    int class;
    int step;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->step - y->step; /* ends first, so that touching intervals do not overlap */
}

/* Appends the edges of all operations that match. Operations without a timestamp (start = end = 0
 * from CUPTI) are left out. */
static size_t collect(const struct evidence *evidence, const struct query *query, int class,
                      struct edge *edges, uint64_t *sum, size_t *matched)
{
    struct query operations = *query;
    size_t count = 0;

    operations.kind = TRACE_OPERATION;
    for (const struct trace_record *r = NULL;
         (r = evidence_next(evidence, &operations, r)) != NULL;) {
        if (r->end_ns <= r->start_ns) continue;
        edges[count++] = (struct edge){r->start_ns, class, 1};
        edges[count++] = (struct edge){r->end_ns, class, -1};
        *sum += r->end_ns - r->start_ns;
        ++*matched;
    }
    return count;
}

struct overlap evidence_overlap(const struct evidence *evidence, const struct query *a,
                                const struct query *b)
{
    struct overlap result = {0};
    struct edge *edges = calloc(4 * evidence->trace.count + 1, sizeof *edges);
    long running[2] = {0, 0};

    if (edges == NULL) return result;
    size_t count = collect(evidence, a, 0, edges, &result.a_sum_ns, &result.a_count);
    if (b != NULL)
        count += collect(evidence, b, 1, edges + count, &result.b_sum_ns, &result.b_count);
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < count; i++) {
        uint64_t length = i > 0 ? edges[i].at - edges[i - 1].at : 0;
        if (running[0] > 0) result.a_ns += length;
        if (running[1] > 0) result.b_ns += length;
        if (b != NULL ? running[0] > 0 && running[1] > 0 : running[0] > 1) result.both_ns += length;
        running[edges[i].class] += edges[i].step;
    }
    if (count > 0) result.span_ns = edges[count - 1].at - edges[0].at;
    if (b == NULL) {
        result.b_ns = result.a_ns;
        result.b_sum_ns = result.a_sum_ns;
        result.b_count = result.a_count;
    }
    free(edges);
    return result;
}
