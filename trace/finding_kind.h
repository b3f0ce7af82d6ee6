/* The kinds of findings, with rows in trace/findings.def: name, checker, why the kind matters, and
 * a hint. The sentence of a single finding is trace/finding.h's matter.
 */
#ifndef OVERLAP_TRACE_FINDING_KIND_H
#define OVERLAP_TRACE_FINDING_KIND_H

#include <stdbool.h>

struct trace_record;

/* One id per sentence. */
enum trace_finding_id {
    FINDING_NONE,
#define KIND(id, name, checker, why, hint)
#define FINDING(id, kind, sentence) FINDING_##id,
#include "trace/findings.def"
#undef FINDING
#undef KIND
    FINDING_COUNT
};

/* Kinds: the names under which findings are printed and counted. */
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
    const char *checker; /* name of the Compute Sanitizer tool for it; "ours"; "advice" */
    const char *why;     /* why it matters; NULL: self-explanatory */
    const char *hint;
};

/* Returns true if the record carries a finding or advice. */
bool trace_has_finding(const struct trace_record *record);
/* Returns true if the kind's checker is "advice"; it is then recorded as TRACE_ADVICE. */
bool trace_finding_is_advice(enum trace_finding_id id);

/* The kind of the record's finding; for other records the first kind. */
const struct trace_finding_kind *trace_finding_kind(const struct trace_record *record);
const struct trace_finding_kind *trace_finding_kind_at(enum trace_finding_kind_id kind);
enum trace_finding_kind_id trace_finding_kind_of(enum trace_finding_id id);
/* The most specific hint for this finding; NULL: self-explanatory. */
const char *trace_finding_hint(const struct trace_record *record);

#endif
