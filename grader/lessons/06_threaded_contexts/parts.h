/* parts of lesson 06's judge: judge.c has the runs and the table of checks, values.c the checks of
 * arrays and results, contexts.c those of contexts, threads and processes, errors.c those of
 * errors. All of them read evidence only.
 */
#ifndef OVERLAP_LESSONS_06_THREADED_CONTEXTS_PARTS_H
#define OVERLAP_LESSONS_06_THREADED_CONTEXTS_PARTS_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"
#include "grader/evidence/phases.h"
#include "grader/lessons/06_threaded_contexts/exchange.h"

#define BY_THREADS "threaded_contexts_threads"
#define BY_PROCESSES "threaded_contexts_processes"

/* ---- arrays and results: values.c ---------------------------------------------------------- */

struct threaded_view { /* one call of one of the functions, and its data */
    const struct threaded_call *call;
    const struct threaded_answer *answer;
    const float *before, *after; /* all its arrays, with guards */
    const char *function;
    struct phase phase;
};

/* Fills in *view. False: this run has no such call; or its phase is missing, and the verdict has
 * failed. */
bool threaded_view(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                   struct threaded_view *view);
struct answer threaded_answer(const struct evidence *evidence, const struct threaded_view *view);
/* False: the function is not written, and the verdict has failed. */
bool threaded_written(struct verdict *verdict, const struct evidence *evidence);

/* Return array `index` before and after the call. */
const float *threaded_before(const struct threaded_view *view, uint32_t index);
const float *threaded_after(const struct threaded_view *view, uint32_t index);
/* Returns true when the result has the sum of the array's new values; sets `sum` to that sum. */
bool threaded_sum_is_right(const struct threaded_view *view, uint32_t index, double *sum);

/* The initial value of results[i].error: the function has not written it. */
#define THREADED_UNWRITTEN ((int32_t)(DRIVE_POISON * 0x01010101u))

/* The following functions fail the verdict where they return false. */
bool threaded_array_is_right(struct verdict *verdict, const struct evidence *evidence,
                             const struct threaded_view *view, uint32_t index);
bool threaded_result_is_right(struct verdict *verdict, const struct evidence *evidence,
                              const struct threaded_view *view, uint32_t index);
/* Checks that only the children call CUDA, never the parent: contexts.c. */
bool threaded_parent_calls_nothing(struct verdict *verdict, const struct evidence *evidence,
                                   const struct phase *phase);
/* Checks that no child returns from the function like its parent. */
bool threaded_children_end(struct verdict *verdict, const struct evidence *evidence,
                           const struct phase *phase);
/* Checks that the function waited for every child of its own, and for none of its caller's.
 * `before`: what happened before, as the beginning of a sentence; "": nothing. */
bool threaded_children_are_waited_for(struct verdict *verdict, const struct evidence *evidence,
                                      const struct threaded_view *view, const char *before);

/* ---- the checks ---------------------------------------------------------------------------- */

typedef void threaded_check(struct verdict *verdict, const struct evidence *evidence);

threaded_check threaded_judge_finishes, threaded_judge_arrays, threaded_judge_results;

/* contexts.c */
threaded_check threaded_judge_contexts, threaded_judge_modules, threaded_judge_together;
threaded_check threaded_judge_fork, threaded_judge_children;

/* errors.c */
threaded_check threaded_judge_errors, threaded_judge_each_failure, threaded_judge_first_error;

#endif
