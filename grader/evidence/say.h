/* say: functions with which a check reports a failure, and the complete checks that every lesson
 * can use. Text of a student's never goes into a format string.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_SAY_H
#define OVERLAP_GRADER_EVIDENCE_SAY_H

#include "grader/evidence/query.h"

/* A failure has three parts: what happened (one or two sentences), why it matters, what to look at
 * next. Begin a failure with one of verdict_fail*, then add verdict_why and verdict_hint; another
 * verdict_fail* begins another failure (at most 8 are kept; do not report one cause several times).
 */

/* Fails at the line that caused `record` (NULL, or a line that is not the student's: at the line
 * where the lesson's function begins). */
__attribute__((format(printf, 4, 5))) void verdict_fail(struct verdict *verdict,
                                                        const struct evidence *evidence,
                                                        const struct trace_record *record,
                                                        const char *format, ...);
/* Fails at the line where the student's function `function` begins. */
__attribute__((format(printf, 4, 5))) void verdict_fail_in(struct verdict *verdict,
                                                           const struct evidence *evidence,
                                                           const char *function, const char *format,
                                                           ...);
/* Fails at a known place. */
__attribute__((format(printf, 3, 4))) void
verdict_fail_at(struct verdict *verdict, const struct place *place, const char *format, ...);
__attribute__((format(printf, 2, 3))) void verdict_why(struct verdict *verdict, const char *format,
                                                       ...);
__attribute__((format(printf, 2, 3))) void verdict_hint(struct verdict *verdict, const char *format,
                                                        ...);

/* Sets the failure's kind of finding: a name in trace/findings.def, or "leak". The reports give it
 * as the failure's type. */
void verdict_kind(struct verdict *verdict, const char *kind);

/* Says that the failure begun last is the check `because` ("Suite.Check") again: what this check is
 * about was not judged, since that one had failed. */
void verdict_not_judged(struct verdict *verdict, const char *because);

/* Skips the check, which cannot be judged here: "the kernel's time cannot be seen: ...". */
__attribute__((format(printf, 2, 3))) void verdict_skip(struct verdict *verdict, const char *format,
                                                        ...);

/* This evidence cannot show what the check proves, for a reason of the machine's, which has fewer
 * devices than that takes. The check is skipped where none of its evidence can. */
void verdict_pass_over(struct verdict *verdict, const char *reason);

/* A figure for people, printed under the check whether it passes or not, and a property in the
 * reports: verdict_figure(v, "ratio", "%.2f times the reference; at most 1.5", ratio). `key` is an
 * identifier. */
__attribute__((format(printf, 3, 4))) void verdict_figure(struct verdict *verdict, const char *key,
                                                          const char *format, ...);

bool verdict_failed(const struct verdict *verdict);

/* ---- whole checks that every lesson can use ------------------------------------------------- */

/* Fails for each kind of finding that the device reported, with its line and sentence. `kinds`
 * lists the kinds to look at, ended by FINDING_KIND_COUNT; NULL: all kinds. */
void verdict_findings(struct verdict *verdict, const struct evidence *evidence,
                      const enum trace_finding_kind_id *kinds);

/* As verdict_findings, for the kinds of finding that can make values wrong: unordered accesses,
 * memory that is freed too early or never written. Call it before reporting a wrong value, so that
 * the cause is reported first. Returns true when there was one; the verdict has then failed. */
bool verdict_causes(struct verdict *verdict, const struct evidence *evidence);

/* Fails for the device's advice on waits. For contracts that ask for more than what GPUs happen to
 * do. A verdict that has failed is left as it is: the same missing wait shows as a finding first.
 */
void verdict_advice(struct verdict *verdict, const struct evidence *evidence);

/* As verdict_findings and verdict_advice, in a run in which a call was made to fail: each message
 * begins with `before`. */
void verdict_findings_after(struct verdict *verdict, const struct evidence *evidence,
                            const enum trace_finding_kind_id *kinds, const char *before);
void verdict_advice_after(struct verdict *verdict, const struct evidence *evidence,
                          const char *before);

/* Fails for every object that the student's code made in the phase (NULL: the whole run) and that
 * still existed at the end of the phase, at the line that made it. This includes threads that were
 * neither joined nor detached, and detached threads that made a call after the phase. */
void verdict_leaks(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase);

/* As verdict_leaks, for host threads started in the phase only, because such a thread may be what
 * makes a result wrong. Returns true when there was one; the verdict has then failed. */
bool verdict_threads_left(struct verdict *verdict, const struct evidence *evidence,
                          const struct phase *phase);

/* As verdict_leaks; each message begins with the sentence `before`. */
void verdict_leaks_after(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, const char *before);

/* Fails when a call of the student's returned an error in the phase (NULL: the whole run).
 * cudaErrorNotReady and CUDA_ERROR_NOT_READY do not count as errors. */
void verdict_calls_succeed(struct verdict *verdict, const struct evidence *evidence,
                           const struct phase *phase);

/* For RUN_TIMED: compares the duration of the plan's phase, measured in turn with the reference
 * solution, with the plan's threshold: met, not met, or too noisy to say, which is a skip. The
 * clock: on the emulator the virtual time from the first start to the last end of the calls and
 * operations in the phase; on a GPU CLOCK_MONOTONIC between the marks, checked against the grader's
 * own clock. Adds the figures; a failure says in what the timelines differ. It adds no hint: the
 * caller adds one. */
void verdict_time_ratio(struct verdict *verdict, const struct evidence *evidence);

/* Marks the verdict as failed for taking too long: the picture of its timelines is shown beside
 * it. */
void verdict_slow(struct verdict *verdict);

/* Returns the index of the first element in which output differs from expected, or -1. */
ptrdiff_t judge_first_difference(const void *output, const void *expected, size_t count,
                                 size_t element_size);

#endif
