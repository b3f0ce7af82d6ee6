/* failures: the check that every lesson has: each call that can fail is made to fail once, in a run
 * of its own (RUN_INJECTIONS). Each time the student's function must return that error or do its
 * work in spite of it, and must leave nothing behind: no objects, and no work on memory that it
 * releases.
 *
 * Requirements of a lesson's contract beyond that are checked by its own judge (struct
 * failures_contract).
 */
#ifndef OVERLAP_GRADER_EVIDENCE_FAILURES_H
#define OVERLAP_GRADER_EVIDENCE_FAILURES_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"

/* The name of the run plan and of the check; both are the same in every lesson. */
#define FAILURES_RUN "injections"
#define FAILURES_CHECK "EveryErrorIsReturnedAndNothingLeaks"

/* Each run is small. These limits stop a program that polls a lost device for ever before it has
 * filled gigabytes with its record. */
#define FAILURES_SECONDS 8
#define FAILURES_RECORDS (1u << 14)

/* The run plan. */
#define FAILURES_PLAN(prepare_inputs)                                                              \
    {                                                                                              \
        .name = FAILURES_RUN, .flags = RUN_ON_EMULATOR | RUN_INJECTIONS,                           \
        .prepare = prepare_inputs, .seconds = FAILURES_SECONDS, .trace_records = FAILURES_RECORDS  \
    }

struct failures_contract {
    bool advice; /* true: the device's advice fails too, so each wait must be promised by CUDA */
    enum answer_api api;
    /* Returns the student's function in which the call `failed` (a CALL) happened, and its return
     * value. The callback fills in evidence, phase, function and code. */
    struct answer (*answer)(const struct evidence *evidence, const struct trace_record *failed,
                            struct phase *phase);
    /* Called when the function succeeded although a call had failed: is the result there, and
     * right? */
    bool (*right)(const struct evidence *evidence);
    /* Checks what else the contract says of this run; `before` begins a sentence about the failed
     * call. NULL: nothing. */
    void (*more)(struct verdict *verdict, const struct evidence *evidence,
                 const struct answer *answer, const struct trace_record *failed,
                 const char *before);
    /* true: no work of the function may be pending when it returns, also after a failure */
    bool waits;
    /* A call that a signal interrupts is made again, and what moves in part is gone on with:
     * neither is an error that the function may return. */
    bool goes_on;
};

/* Judges the runs of `evidence`->injections. The run without an injected failure must have ended
 * well. */
void failures_judge(struct verdict *verdict, const struct evidence *evidence,
                    const struct failures_contract *contract);

/* Returns true when the call that was made to fail in this run took the context with it. What the
 * drive asks of the device behind the function fails as well then, and says nothing about it. */
bool failures_lose_context(const struct evidence *evidence);

/* Finds the phase of that name in which the call failed, and its index. False: in none. */
bool failures_find(const struct evidence *evidence, const char *name,
                   const struct trace_record *failed, struct phase *phase, uint32_t *index);

#endif
