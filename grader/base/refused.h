/* refused: which system calls a program that is not trusted is refused, as one table, and what to
 * do where such a call was made. confine.c makes the filter from the table; the runner, which has
 * no use for the filter's library, needs only the handler.
 *
 * Sources: seccomp(2), syscalls(2).
 */
#ifndef OVERLAP_GRADER_BASE_REFUSED_H
#define OVERLAP_GRADER_BASE_REFUSED_H

#include <signal.h>
#include <stddef.h>

/* How a call is refused. The first group traps (SIGSYS), so that it can be seen where it was made:
 * each reaches for a process that is not the program's own. The others fail with an error. */
enum refused_how {
    REFUSED_BY_PROCESS, /* `argument` is a process or thread above */
    REFUSED_BY_TARGET,  /* as kill(2): also a group above (negative), or everybody (-1) */
    REFUSED_BY_WHO,     /* `argument` says how to read the next one: a process, group or user */
    REFUSED_VALUE,      /* `argument` is `value` */
    REFUSED_QUIETLY,    /* `argument` is `value`: EPERM */
    REFUSED_SETTING,    /* the same where the next one, what to set, is no null pointer: asking for
                         * the value remains */
    REFUSED_FLAG,       /* `argument` has the bits `value`: EPERM */
    REFUSED_UNLESS, /* `argument` is not `value`: EPERM; and where it is, unless the program works
                     * with an NVIDIA driver, which needs that much */
    REFUSED_SHARED, /* EPERM, unless the program has a namespace of its own for it */
    REFUSED_ALWAYS, /* EPERM */
    REFUSED_TO_RUNNER, /* EPERM, but not to a compiler */
    REFUSED_UNKNOWN,   /* ENOSYS, as on an older kernel: callers have another way */
};

struct refused_row {
    int number;
    const char *name;
    enum refused_how how;
    unsigned argument;
    unsigned long value;
};

extern const struct refused_row refused_rows[];
extern const size_t refused_count;

/* "kill"; NULL for a number that is not in the table. */
const char *refused_name(int number);

/* In the handler of SIGSYS (SA_SIGINFO): lets the call return EPERM and gives its number; 0 when
 * the signal came from elsewhere. A program without a handler dies of the signal.
 * Async-signal-safe. */
int refused_call(const siginfo_t *info, void *context);

#endif
