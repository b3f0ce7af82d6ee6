/* failures: the check that every lesson has: each call that can fail is made to fail once, in a run
 * of its own (RUN_INJECTIONS), and every time the student's function has to return that error, or
 * to do its work in spite of it, and to leave nothing behind, no work on what it releases either.
 *
 * What a lesson's contract says beyond that, its judge knows.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_FAILURES_H
#define OVERLAP_GRADER_EVIDENCE_FAILURES_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"

/* The name of the run plan and of the check, the same in every lesson. */
#define FAILURES_RUN "injections"
#define FAILURES_CHECK "EveryErrorIsReturnedAndNothingLeaks"

/* Every run is a small one. A program that asks a lost device again and again whether it is done
 * is stopped soon, and has not filled gigabytes with the record of it. */
#define FAILURES_SECONDS 8
#define FAILURES_RECORDS (1u << 14)

/* The run plan. */
#define FAILURES_PLAN(prepare_inputs)                                                              \
    {                                                                                              \
        .name = FAILURES_RUN, .flags = RUN_ON_EMULATOR | RUN_INJECTIONS,                           \
        .prepare = prepare_inputs, .seconds = FAILURES_SECONDS, .trace_records = FAILURES_RECORDS  \
    }

struct failures_contract {
    bool advice; /* a wait is not left to what GPUs do beyond the documentation */
    enum answer_api api;
    /* The student's function in which the call failed, and what it returned: evidence, phase,
     * function, code. `failed`: the CALL. */
    struct answer (*answer)(const struct evidence *evidence, const struct trace_record *failed,
                            struct phase *phase);
    /* The function succeeded although the call had failed: is the result there, and right? */
    bool (*right)(const struct evidence *evidence);
    /* What else the contract says of this run; `before` begins a sentence about the failed call.
     * NULL: nothing. */
    void (*more)(struct verdict *verdict, const struct evidence *evidence,
                 const struct answer *answer, const struct trace_record *failed,
                 const char *before);
    /* No work of a call may be left when it returns, after a failure either. */
    bool waits;
};

/* Judges the runs of `evidence`->injections; the run without a failure must have been good. */
void failures_judge(struct verdict *verdict, const struct evidence *evidence,
                    const struct failures_contract *contract);

/* In which phase of that name the call failed: its index. False: in none. */
bool failures_find(const struct evidence *evidence, const char *name,
                   const struct trace_record *failed, struct phase *phase, uint32_t *index);

#endif
