#include "grader/learn/timeline.h"
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"

#include <string.h>

#define COLUMNS 64

/* A row of the picture: a class of operations. */
static const struct row {
    const char *name;
    uint32_t what;
    bool in, out; /* copies: to the device, from it */
} rows[] = {
    {"H2D", TRACE_COPY, true, false},
    {"kernels", TRACE_KERNEL, false, false},
    {"D2H", TRACE_COPY, false, true},
};

static bool is_in_row(const struct trace_record *r, const struct row *row)
{
    if (r->what != row->what) return false;
    if (row->what != TRACE_COPY) return true;
    return row->in ? r->to == TRACE_DEVICE && r->from != TRACE_DEVICE
                   : r->from == TRACE_DEVICE && r->to != TRACE_DEVICE;
}

/* First start and last end of all operations, by the device's clock. */
static bool span(const struct evidence *evidence, uint64_t *first, uint64_t *last)
{
    const struct query query = {.kind = TRACE_OPERATION};

    *first = UINT64_MAX;
    *last = 0;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        if (r->end_ns <= r->start_ns) continue;
        if (r->start_ns < *first) *first = r->start_ns;
        if (r->end_ns > *last) *last = r->end_ns;
    }
    return *last > *first;
}

/* A digit says how many operations touch that moment; + is more than nine. */
static void add_row(struct text *text, const struct evidence *evidence, const struct row *row,
                    uint64_t first, uint64_t scale)
{
    const struct query query = {.kind = TRACE_OPERATION, .what = row->what};
    unsigned counts[COLUMNS] = {0};
    bool any = false;

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        if (r->end_ns <= r->start_ns || !is_in_row(r, row)) continue;
        uint64_t from = (r->start_ns - first) * COLUMNS / scale;
        uint64_t to = (r->end_ns - first) * COLUMNS / scale;
        for (uint64_t i = from; i <= to && i < COLUMNS; i++) counts[i]++;
        any = true;
    }
    if (!any) return;
    text_format(text, "  %-8s ", row->name);
    for (size_t i = 0; i < COLUMNS; i++) {
        const char sign = counts[i] == 0 ? ' ' : counts[i] > 9 ? '+' : (char)('0' + counts[i]);
        text_add_bytes(text, &sign, 1);
    }
    text_add(text, "\n");
}

static void add(struct text *text, const struct evidence *evidence, const char *whose,
                uint64_t scale)
{
    uint64_t first, last;

    if (!span(evidence, &first, &last)) return;
    text_format(text, "%s: %.1f us\n", whose, (double)(last - first) / 1000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_row(text, evidence, &rows[i], first, scale);
}

void timeline_of(struct text *text, const struct evidence *evidence)
{
    uint64_t first, last, scale = 1;

    if (!(evidence->plan->flags & RUN_TIMED) || !evidence_usable(evidence)) return;
    if (span(evidence, &first, &last)) scale = last - first;
    if (evidence->references != NULL && span(evidence->references, &first, &last) &&
        last - first > scale)
        scale = last - first;
    add(text, evidence, _("yours"), scale + 1);
    if (evidence->references != NULL)
        add(text, evidence->references, _("the reference solution's"), scale + 1);
}
