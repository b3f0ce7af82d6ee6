/* The kinds of findings, of which trace/findings.def has the rows: what each is called, who finds
 * it, why it matters and what to do about it. What one finding says is trace/finding.h's.
 */
#ifndef OVERLAP_TRACE_FINDING_KIND_H
#define OVERLAP_TRACE_FINDING_KIND_H

#include <stdbool.h>

struct trace_record;

/* What is told apart: a row's sentence. */
enum trace_finding_id {
    FINDING_NONE,
#define KIND(id, name, checker, why, hint)
#define FINDING(id, kind, sentence) FINDING_##id,
#include "trace/findings.def"
#undef FINDING
#undef KIND
    FINDING_COUNT
};

/* What findings are called, and counted by. */
enum trace_finding_kind_id {
#define KIND(id, name, checker, why, hint) FINDING_KIND_##id,
#define FINDING(id, kind, sentence)
#include "trace/findings.def"
#undef FINDING
#undef KIND
    FINDING_KIND_COUNT
};

struct trace_finding_kind {
    const char *name;    /* as printed: "race" */
    const char *checker; /* Compute Sanitizer's word for who finds it; "ours"; "advice" */
    const char *why;     /* it matters; NULL: it explains itself */
    const char *hint;
};

/* Does the record carry a finding? Advice does as well. */
bool trace_has_finding(const struct trace_record *record);
/* Is the kind's checker "advice"? It is then told in TRACE_ADVICE records. */
bool trace_finding_is_advice(enum trace_finding_id id);

/* The finding's kind; of what is no finding the first one. */
const struct trace_finding_kind *trace_finding_kind(const struct trace_record *record);
const struct trace_finding_kind *trace_finding_kind_at(enum trace_finding_kind_id kind);
enum trace_finding_kind_id trace_finding_kind_of(enum trace_finding_id id);
/* What to do about it, as exactly as the finding tells; NULL: it explains itself. */
const char *trace_finding_hint(const struct trace_record *record);

#endif
