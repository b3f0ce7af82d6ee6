/* say: the words in which a check says what is wrong, and the whole checks that every lesson can
 * use. Students' text never goes into a format.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_SAY_H
#define OVERLAP_GRADER_EVIDENCE_SAY_H

#include "grader/evidence/query.h"

/* A failure has three parts: what happened (one or two sentences), why it matters, what to look at
 * next. Begin it with one of verdict_fail*, then add verdict_why and verdict_hint; further
 * verdict_fail* begin further failures (at most 8 are kept; do not list what has one cause).
 */

/* At the line that caused `record` (NULL, or a line that is not the student's: at the line where
 * the lesson's function begins). */
__attribute__((format(printf, 4, 5))) void verdict_fail(struct verdict *verdict,
                                                        const struct evidence *evidence,
                                                        const struct trace_record *record,
                                                        const char *format, ...);
/* At the line where the student's function `function` begins. */
__attribute__((format(printf, 4, 5))) void verdict_fail_in(struct verdict *verdict,
                                                           const struct evidence *evidence,
                                                           const char *function, const char *format,
                                                           ...);
/* At a known place. */
__attribute__((format(printf, 3, 4))) void
verdict_fail_at(struct verdict *verdict, const struct place *place, const char *format, ...);
__attribute__((format(printf, 2, 3))) void verdict_why(struct verdict *verdict, const char *format,
                                                       ...);
__attribute__((format(printf, 2, 3))) void verdict_hint(struct verdict *verdict, const char *format,
                                                        ...);

/* What kind of finding the failure is: a name in trace/findings.def, or "leak". The reports
 * give it as the failure's type. */
void verdict_kind(struct verdict *verdict, const char *kind);

/* The check cannot be judged here: "the kernel's time cannot be seen: ...". */
__attribute__((format(printf, 2, 3))) void verdict_skip(struct verdict *verdict, const char *format,
                                                        ...);

/* A figure for people, printed under the check whether it passes or not, and a property in the
 * reports: verdict_figure(v, "ratio", "%.2f times the reference; at most 1.5", ratio). `key` is an
 * identifier. */
__attribute__((format(printf, 3, 4))) void verdict_figure(struct verdict *verdict, const char *key,
                                                          const char *format, ...);

bool verdict_failed(const struct verdict *verdict);

/* ---- whole checks that every lesson can use ------------------------------------------------- */

/* Fails for each kind of finding that the device reported, with its line and sentence. `kinds`
 * lists those to look at, up to FINDING_KIND_COUNT; NULL: all of them. */
void verdict_findings(struct verdict *verdict, const struct evidence *evidence,
                      const enum trace_finding_kind_id *kinds);

/* The same of those that spoil values: work that nothing orders, memory that ends too early or
 * holds nothing. For a value that is wrong, before anything is said of it: its cause comes first.
 * True: there was one, and the verdict has failed. */
bool verdict_causes(struct verdict *verdict, const struct evidence *evidence);

/* Fails for the device's advice on waits: where a contract asks for more than what GPUs do. */
void verdict_advice(struct verdict *verdict, const struct evidence *evidence);

/* The same as both in a run in which a call was made to fail: `before` comes first in each. */
void verdict_findings_after(struct verdict *verdict, const struct evidence *evidence,
                            const enum trace_finding_kind_id *kinds, const char *before);
void verdict_advice_after(struct verdict *verdict, const struct evidence *evidence,
                          const char *before);

/* Fails for every object that the student's code made in the phase (NULL: the whole run) and that
 * did not end before the phase did, at the line that made it; among them threads that were neither
 * joined nor detached, or were detached and made a call after the phase. */
void verdict_leaks(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase);

/* The same of host threads alone, which may be what makes a result wrong: of those that were
 * started in the phase. True: there was one, and the verdict has failed. */
bool verdict_threads_left(struct verdict *verdict, const struct evidence *evidence,
                          const struct phase *phase);

/* The same; `before`, a sentence, comes first in each. */
void verdict_leaks_after(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, const char *before);

/* Fails when the student made a call that returned an error, in the phase (NULL: the whole run).
 * cudaErrorNotReady and CUDA_ERROR_NOT_READY are answers, not errors. */
void verdict_calls_succeed(struct verdict *verdict, const struct evidence *evidence,
                           const struct phase *phase);

/* For RUN_TIMED: how long the plan's phase took, in turn with the reference solution, held against
 * the plan's threshold: met, not met, or too noisy to say, which is a skip. The clock: on the
 * emulator the virtual time from the first start to the last end of the calls and operations in the
 * phase; on a GPU CLOCK_MONOTONIC between the marks, checked against the grader's own. Adds the
 * figures; a failure says what the timelines differ in. It has no hint: add one. */
void verdict_time_ratio(struct verdict *verdict, const struct evidence *evidence);

/* It failed because it took too long: the picture of its timelines is shown beside it. */
void verdict_slow(struct verdict *verdict);

/* The index of the first element in which output differs from expected, or -1. */
ptrdiff_t judge_first_difference(const void *output, const void *expected, size_t count,
                                 size_t element_size);

#endif
