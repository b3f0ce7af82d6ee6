/* python: the lines of Python source that the calling thread is at, where the process is CPython.
 *
 * The lines come from the interpreter's own traceback dump, made for handlers of fatal signals. The
 * dump takes no lock (not even the interpreter's, which a ctypes caller has released), allocates
 * nothing and touches no reference count. So it is safe inside a call, under the driver's lock and
 * in a signal handler. This module links nothing else of Python and calls nothing else.
 *
 * Source: CPython's Python/traceback.c, 3.8 to 3.14; 3.15 makes the function public.
 */
#ifndef OVERLAP_DRIVER_CORE_PYTHON_H
#define OVERLAP_DRIVER_CORE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address inside the interpreter's code; NULL: this process has no interpreter. */
const void *python_code(void);

/* Writes up to `most` addresses for a TRACE_STACK, innermost line first. Each address stands for a
 * TRACE_LINE, which this function records the first time. Returns how many it wrote. Not
 * thread-safe: the caller serialises calls. */
size_t python_lines(uint64_t *addresses, size_t most);

/* In a forked child: forgets the recorded lines, because the child's trace needs its own
 * records. */
void python_after_fork(void);

#endif
