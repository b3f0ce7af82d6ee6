/* parts of lesson 06's judge: judge.c has the runs and the table of checks, values.c what came back
 * in arrays and results, contexts.c what threads and processes made of contexts, errors.c what
 * became of errors. None of them reads the device or the submission, only evidence.
 */
#ifndef OVERLAP_LESSONS_06_THREADED_CONTEXTS_PARTS_H
#define OVERLAP_LESSONS_06_THREADED_CONTEXTS_PARTS_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"
#include "grader/evidence/phases.h"
#include "grader/lessons/06_threaded_contexts/exchange.h"

#define BY_THREADS "threaded_contexts_threads"
#define BY_PROCESSES "threaded_contexts_processes"

/* ---- what came back: values.c -------------------------------------------------------------- */

struct threaded_view { /* one call of one of the functions, with all that is known of it */
    const struct threaded_call *call;
    const struct threaded_answer *answer;
    const float *before, *after; /* all its arrays, with guards */
    const char *function;
    struct phase phase;
};

/* False: there is no such call in this run; or its phase is missing, and the verdict has failed. */
bool threaded_view(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                   struct threaded_view *view);
struct answer threaded_answer(const struct evidence *evidence, const struct threaded_view *view);
/* False: the function has not been written, and the verdict has failed. */
bool threaded_written(struct verdict *verdict, const struct evidence *evidence);

/* Array `index` as it was given, and as it came back. */
const float *threaded_before(const struct threaded_view *view, uint32_t index);
const float *threaded_after(const struct threaded_view *view, uint32_t index);
/* Its result has the sum of its new values; `sum` is set to that. */
bool threaded_sum_is_right(const struct threaded_view *view, uint32_t index, double *sum);

/* results[i].error, as the drive had filled it: nobody has written it. */
#define THREADED_UNWRITTEN ((int32_t)(DRIVE_POISON * 0x01010101u))

/* Each fails the verdict where it answers false. */
bool threaded_array_is_right(struct verdict *verdict, const struct evidence *evidence,
                             const struct threaded_view *view, uint32_t index);
bool threaded_result_is_right(struct verdict *verdict, const struct evidence *evidence,
                              const struct threaded_view *view, uint32_t index);
/* Only the children call CUDA, on no path the parent: contexts.c. */
bool threaded_parent_calls_nothing(struct verdict *verdict, const struct evidence *evidence,
                                   const struct phase *phase);
/* No child returns from the function in its parent's stead. */
bool threaded_children_end(struct verdict *verdict, const struct evidence *evidence,
                           const struct phase *phase);
/* Every child of the function's, and none of its caller's. `before`: what has happened, which
 * begins a sentence; "": nothing. */
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
