/* answer: the first questions that every lesson's judge asks about the return value of the
 * student's function: is the function written at all, did it succeed, did it return the error that
 * it met. Every lesson reports them in the same words.
 *
 * This module knows CUDA's error codes by number and name only. The runtime API and the driver API
 * use the same number for an error that both have (CUDA Runtime API, "cudaError"; CUDA Driver API,
 * "CUresult").
 */
#ifndef OVERLAP_GRADER_EVIDENCE_ANSWER_H
#define OVERLAP_GRADER_EVIDENCE_ANSWER_H

#include "grader/evidence/judge.h"

/* The value that a stub returns. No CUDA function returns it: cudaErrorNotYetImplemented is unused
 * since CUDA 4.1. */
#define ANSWER_NOT_WRITTEN 31

/* The API whose error names a lesson uses. */
enum answer_api { ANSWER_RUNTIME, ANSWER_DRIVER };

/* One return value of the student's function. */
struct answer {
    const struct evidence *evidence;
    const struct phase *phase; /* the phase of the call; NULL: not known */
    const char *function;      /* "device_sync_transform" */
    enum answer_api api;
    int code; /* what it returned */
};

/* Writes the error's name and number, "cudaErrorInvalidValue (1)", into `text` and returns
 * `text`. */
#define ANSWER_NAME_SIZE 80
const char *answer_name(enum answer_api api, int code, char text[ANSWER_NAME_SIZE]);

/* Makes a struct answer for `function` called in the given phase. The record may lack that phase;
 * otherwise *phase is filled in, and must live as long as the returned struct, which points to
 * it. */
struct answer answer_in(const struct evidence *evidence, const char *phase_name, uint32_t index,
                        const char *function, enum answer_api api, int code, struct phase *phase);

/* Returns the first CALL in the answer's phase that a line of the student made and that returned an
 * error; NULL: there is none. */
const struct trace_record *answer_first_failed(const struct answer *answer);

/* Returns true when the function is written; otherwise the verdict fails with one line that says
 * so. */
bool answer_written(struct verdict *verdict, const struct answer *answer);

/* Returns true when the function returned success; otherwise the verdict fails, with what is known
 * about a stub or about the error, at the line of the failed call where there is one. `doing` ends
 * the sentence "... returned X for": "an array of 100 floats". */
bool answer_succeeded(struct verdict *verdict, const struct answer *answer, const char *doing);

/* As answer_succeeded, but with a one-line failure, for checks that need a success but are about
 * something else. `where` names the check that reports the problem in full:
 * "DeviceSync.EveryElementIsRight". */
bool answer_judgeable(struct verdict *verdict, const struct answer *answer, const char *where);

/* Returns true when the function returned the error of its first call that failed, or `expected`
 * where no call on the student's own lines failed; otherwise the verdict fails. `because` says why
 * that error had to occur: "the array does not fit into the device's memory". */
bool answer_failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                        const char *because);

/* As answer_failed_with, for an error that kernel(...) returned, which need not be a CUDA call. */
bool answer_launch_failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                               const char *because);

#endif
