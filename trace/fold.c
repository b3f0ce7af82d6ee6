#include "trace/fold.h"

#include <stdlib.h>
#include <string.h>

/* Returns true if the line of device code alone identifies the finding's place. */
static bool is_by_line(const struct trace_record *record)
{
    const struct trace_finding *finding = &record->finding;
    const bool of_two = finding->sides[1].call != 0 && finding->sides[1].access != ACCESS_NONE;
    return finding->sides[0].line != 0 && !of_two;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_words(const struct trace_record *a, const struct trace_record *b,
                         enum trace_word word)
{
    return strcmp(trace_finding_word(&a->finding, word), trace_finding_word(&b->finding, word));
}

/* Returns 0 if the findings are the same. Sorted instead of hashed, because student code could
 * choose records with equal hashes. */
static int compare(const struct trace_folded *x, const struct trace_folded *y)
{
    const struct trace_record *a = x->record, *b = y->record;
    const uint64_t call_a = is_by_line(a) ? 0 : x->call, call_b = is_by_line(b) ? 0 : y->call;
    int order =
        compare_numbers(trace_finding_kind_of(a->finding.id), trace_finding_kind_of(b->finding.id));
    if (order == 0) order = compare_numbers(call_a, call_b);
    if (order == 0) order = compare_numbers(a->finding.sides[0].line, b->finding.sides[0].line);
    if (order == 0) order = compare_words(a, b, WORD_FILE);
    if (order == 0 && !is_by_line(a)) order = strcmp(a->name, b->name);
    if (order != 0 || call_a != 0 || a->finding.sides[0].line != 0) return order;
    order = compare_numbers(a->finding.id, b->finding.id);
    return order != 0 ? order : compare_words(a, b, WORD_DETAIL);
}

bool trace_finding_repeats(const struct trace_record *a, const struct trace_record *b)
{
    return compare(&(struct trace_folded){.record = a, .call = a->caller},
                   &(struct trace_folded){.record = b, .call = b->caller}) == 0 &&
           (is_by_line(a) || a->stack == b->stack);
}

static int by_position(const void *a, const void *b)
{
    const struct trace_folded *x = a, *y = b;
    return x->record < y->record ? -1 : x->record > y->record;
}

static int by_likeness(const void *a, const void *b)
{
    const int order = compare(a, b);
    return order != 0 ? order : by_position(a, b);
}

size_t trace_fold(struct trace_folded *rows, size_t count)
{
    size_t kept = 0;
    qsort(rows, count, sizeof *rows, by_likeness);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && compare(&rows[kept - 1], &rows[i]) == 0)
            rows[kept - 1].count += rows[i].count;
        else
            rows[kept++] = rows[i];
    qsort(rows, kept, sizeof *rows, by_position);
    return kept;
}
