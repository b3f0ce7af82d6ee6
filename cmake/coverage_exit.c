/* Keeps gcov's counters of processes that end otherwise than by exit().
 *
 * The linker sends every call of _exit(), abort() and raise() here (--wrap, see coverage.cmake).
 * Each library and program that links this file writes its own counters, because libgcov is
 * linked into each. Only in builds for coverage.
 */
#include <stdnoreturn.h>

void __gcov_dump(void);
void __gcov_reset(void);
noreturn void __real__exit(int status);
noreturn void __real_abort(void);
int __real_raise(int number);
noreturn void __wrap__exit(int status);
noreturn void __wrap_abort(void);
int __wrap_raise(int number);

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

void __wrap_abort(void)
{
    __gcov_dump();
    __real_abort();
}

/* The signal may be one that a handler survives: after a dump the counters start again, so that
 * nothing is counted twice. */
int __wrap_raise(int number)
{
    __gcov_dump();
    __gcov_reset();
    return __real_raise(number);
}
