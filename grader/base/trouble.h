/* trouble: reasons for which the grader cannot judge and for which the machine is to blame, not the
 * submission: no process, memory, room or descriptor left, a compiler that was killed, a machine
 * that is too busy. The kinds are rows of one table, trouble.def.
 *
 * Trouble is passed on in the same way everywhere: a function fills in a struct trouble and returns
 * -1; building and running pass it up to the session; there every check that needed the step is not
 * judged, in all reports, and the exit status is 2. Trouble is never a failed check and is stored
 * nowhere: not in the cache of compiled submissions, not in a class's results, not in ./learn's
 * progress.
 *
 * A program that had all resources that it could want and failed is not trouble.
 */
#ifndef OVERLAP_GRADER_BASE_TROUBLE_H
#define OVERLAP_GRADER_BASE_TROUBLE_H

#include "grader/base/text.h"

#include <stdbool.h>

enum trouble_kind {
    TROUBLE_NONE,
#define TROUBLE(kind, because, remedy) TROUBLE_##kind,
#include "grader/base/trouble.def"
    TROUBLE_COUNT
};

/* Initialise it with {0}. */
struct trouble {
    enum trouble_kind kind;
    char detail[300]; /* where it occurred, without a full stop; "": no detail */
};

/* Fills in the trouble unless it is set already: the first one is the cause. Returns -1, for use in
 * a return statement. */
__attribute__((format(printf, 3, 4))) int
trouble_set(struct trouble *trouble, enum trouble_kind kind, const char *format, ...);

/* As trouble_set, for a failed system call: the kind is that of `error` (an errno), or `otherwise`
 * where the errno has none; the text of the errno is added. */
__attribute__((format(printf, 4, 5))) int trouble_set_error(struct trouble *trouble, int error,
                                                            enum trouble_kind otherwise,
                                                            const char *format, ...);

/* Returns the kind of an errno. TROUBLE_NONE: the submission itself can cause such an error. */
enum trouble_kind trouble_of_error(int error);

/* Searches the output of a compiler or of the loader for messages about an exhausted resource of
 * the machine. Returns 0, or -1: one was found, and its line is in the trouble, after `what`. */
int trouble_find_words(struct trouble *trouble, const char *what, const char *said);

/* Appends "It could not be judged, because ...: DETAIL. REMEDY", in the user's language. */
void trouble_sentence(const struct trouble *trouble, struct text *text);

/* Checks the limits that a shell sets (ulimit): raises them as far as possible, and checks that
 * they suffice for the grader and its programs. Returns 0 or -1. */
int trouble_find_limits(struct trouble *trouble);

#endif
