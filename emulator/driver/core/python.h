/* python: the lines of a Python program that the calling thread is at, where the process is
 * CPython.
 *
 * By the interpreter's own dump of a traceback, which it makes for handlers of fatal signals: that
 * takes no lock, not even the interpreter's, which who calls CUDA by ctypes has given back; it
 * allocates nothing and touches no count of references. So it may be asked for inside a call, under
 * the driver's lock and in a signal handler. Nothing of Python is linked or called otherwise.
 *
 * Source: CPython's Python/traceback.c, 3.8 to 3.14; 3.15 makes the function public.
 */
#ifndef OVERLAP_DRIVER_CORE_PYTHON_H
#define OVERLAP_DRIVER_CORE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address inside the interpreter's code; NULL: there is none in this process. */
const void *python_code(void);

/* Writes up to `most` addresses for a TRACE_STACK, the innermost line first, each of a TRACE_LINE
 * that it records the first time. Returns how many. One thread at a time. */
size_t python_lines(uint64_t *addresses, size_t most);

/* The child records its own. */
void python_after_fork(void);

#endif
