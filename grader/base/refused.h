/* refused: the table of system calls that an untrusted program is refused, and the handler for such
 * a call. confine.c makes the filter from the table; the runner, which does not link the filter's
 * library, uses only the handler.
 *
 * Sources: seccomp(2), syscalls(2).
 */
#ifndef OVERLAP_GRADER_BASE_REFUSED_H
#define OVERLAP_GRADER_BASE_REFUSED_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* How a call is refused. Calls of the first group trap (SIGSYS), so that the place of the call can
 * be recorded: each reaches for a process that is not the program's own, or for a terminal's input.
 * The others fail with an error. */
enum refused_how {
    REFUSED_BY_PROCESS, /* `argument` is a process or thread above */
    REFUSED_BY_TARGET,  /* as kill(2): also a group above (negative), or all processes (-1) */
    REFUSED_BY_WHO,     /* `argument` says what the next argument is: a process, group or user */
    REFUSED_VALUE,      /* `argument` is `value` */
    REFUSED_TYPING,     /* the same, of a call that puts characters into a terminal's input */
    REFUSED_QUIETLY,    /* `argument` is `value`: fails with EPERM */
    REFUSED_SETTING, /* the same where the next argument, the new setting, is not NULL: reading the
                        setting is permitted */
    REFUSED_FLAG,    /* `argument` has the bits `value`: EPERM */
    REFUSED_UNLESS,  /* `argument` is not `value`: EPERM. `value` itself is permitted only to a
                        program that works with an NVIDIA driver, which needs it */
    REFUSED_SHARED,  /* EPERM, unless the program has a namespace of its own for it */
    REFUSED_ALWAYS,  /* EPERM */
    REFUSED_TO_RUNNER, /* EPERM, but permitted to a compiler */
    REFUSED_UNKNOWN,   /* ENOSYS, as on an older kernel: callers have a fallback */
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

/* Returns the call's name, "kill"; NULL for a number that is not in the table. */
const char *refused_name(int number);
/* Returns true if the call, with this second argument, puts characters into a terminal's input. */
bool refused_is_typing(int number, unsigned long second);

/* For use in a handler of SIGSYS (SA_SIGINFO): makes the call return EPERM and returns its number;
 * 0 when the signal has another cause. Sets `second` to the call's second argument. A program
 * without a handler dies of the signal. Async-signal-safe. */
int refused_call(const siginfo_t *info, void *context, unsigned long *second);

#endif
