/* trouble: what keeps the grader from judging and is the machine's, not the submission's: no
 * process, memory, room or descriptor to be had, a compiler that was killed, a machine too busy.
 * The kinds are rows of one table, trouble.def.
 *
 * It goes the same way from wherever it is met: a function fills in a struct trouble and returns
 * -1; building and running hand it up to the session; there every check that needed it is not
 * judged, in all reports, and the exit status is 2. It is never a failed check, and nothing
 * remembers it: not the cache of what was compiled, not a class's results, not ./learn's progress.
 *
 * What a program did that was given all it could want is not said here.
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

/* Starts as {0}. */
struct trouble {
    enum trouble_kind kind;
    char detail[300]; /* what it was met at, without a full stop; "" nothing more to say */
};

/* Fills it in unless it is there already: the first is the cause. Returns -1, for `return`. */
__attribute__((format(printf, 3, 4))) int
trouble_set(struct trouble *trouble, enum trouble_kind kind, const char *format, ...);

/* The same for a system call that failed: the kind is that of `error` (an errno), or `otherwise`
 * where that says nothing; its words are added. */
__attribute__((format(printf, 4, 5))) int trouble_set_error(struct trouble *trouble, int error,
                                                            enum trouble_kind otherwise,
                                                            const char *format, ...);

/* TROUBLE_NONE: such an error can be the submission's own doing. */
enum trouble_kind trouble_of_error(int error);

/* Looks in what a compiler or the loader printed for the words of one that ran out of something of
 * the machine's. Returns 0, or -1: it did, and the line is in the trouble, behind `what`. */
int trouble_find_words(struct trouble *trouble, const char *what, const char *said);

/* Appends "It could not be judged, because ...: DETAIL. REMEDY", in the user's language. */
void trouble_sentence(const struct trouble *trouble, struct text *text);

/* The limits that a shell sets (ulimit): raises those that can be, and looks whether what is left
 * is enough for the grader and what it starts. Returns 0 or -1. */
int trouble_find_limits(struct trouble *trouble);

#endif
