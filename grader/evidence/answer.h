/* answer: what every lesson's judge asks first of what the student's function returned, said in the
 * same words everywhere: is it written at all, did it succeed, did it return the error that it met.
 *
 * It knows CUDA's error codes by number and name only; the numbers of the runtime API and of the
 * driver API are the same where both have the error (CUDA Runtime API, "cudaError"; CUDA Driver
 * API, "CUresult").
 */
#ifndef OVERLAP_GRADER_EVIDENCE_ANSWER_H
#define OVERLAP_GRADER_EVIDENCE_ANSWER_H

#include "grader/evidence/judge.h"

/* What a stub returns. No CUDA function does: cudaErrorNotYetImplemented is not used since 4.1. */
#define ANSWER_NOT_WRITTEN 31

/* Which API's names a lesson speaks. */
enum answer_api { ANSWER_RUNTIME, ANSWER_DRIVER };

/* One answer of the student's function. */
struct answer {
    const struct evidence *evidence;
    const struct phase *phase; /* in which it was called; NULL: not known */
    const char *function;      /* "device_sync_transform" */
    enum answer_api api;
    int code; /* what it returned */
};

/* "cudaErrorInvalidValue (1)". The text is in `text`, which is returned. */
#define ANSWER_NAME_SIZE 80
const char *answer_name(enum answer_api api, int code, char text[ANSWER_NAME_SIZE]);

/* What `function` returned in a phase, which need not be in the record. *phase is set, and must
 * live as long as what is returned points to it. */
struct answer answer_in(const struct evidence *evidence, const char *phase_name, uint32_t index,
                        const char *function, enum answer_api api, int code, struct phase *phase);

/* The first call in its phase, on the student's own lines, that gave an error; NULL: none did. */
const struct trace_record *answer_first_failed(const struct answer *answer);

/* True when the function is written; otherwise the verdict fails, saying so in one line. */
bool answer_written(struct verdict *verdict, const struct answer *answer);

/* True when it returned success; otherwise the verdict fails, saying what there is to say of a
 * stub, or of an error, at the line of the call that failed where there is one. `doing` ends the
 * sentence "... returned X for": "an array of 100 floats". */
bool answer_succeeded(struct verdict *verdict, const struct answer *answer, const char *doing);

/* The same in one line, for the checks that need a success but are about something else: what is
 * wrong is said in full by the check `where`, "DeviceSync.EveryElementIsRight". */
bool answer_judgeable(struct verdict *verdict, const struct answer *answer, const char *where);

/* True when it returned the error of its first call that failed (`expected`, where no call of the
 * student's own lines did); otherwise the verdict fails. `because` says why that error was
 * to come: "the array does not fit into the device's memory". */
bool answer_failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                        const char *because);

/* The same where the error is what kernel(...) returned, which need be no call of CUDA's. */
bool answer_launch_failed_with(struct verdict *verdict, const struct answer *answer, int expected,
                               const char *because);

#endif
