/* driver_fault: a call that fails because the environment says so, to see what a program makes of
 * it.
 *
 *   OVERLAP_FAIL=N        the N-th call of the program that can fail, from 1
 *   OVERLAP_FAIL=NAME:N   the N-th call of that function: cudaMalloc:2
 *
 * Which calls can fail, and with what, says entry/injection.def. Only calls that the program makes
 * itself count, in all its threads, and in the processes that it forks together with its own; what
 * the runtime library asks of the driver does not, nor a call that fails anyway. One call fails. It
 * does nothing but return the error (and, in the runtime, keep it as the thread's last), or, where
 * it waits for the device, find the context lost; its record in the trace says that it was made to.
 *
 * It never fails a call that gives something back, and chooses nothing by chance.
 */
#ifndef OVERLAP_DRIVER_ENTRY_INJECTION_H
#define OVERLAP_DRIVER_ENTRY_INJECTION_H

#include "emulator/driver/driver.h"

/* Reads OVERLAP_FAIL, if that has not been done. A value that is none is named on standard error.
 * When the library is loaded, so that processes forked later count together; and at the first call,
 * for a program that set it by itself. */
void injection_begin(void);

/* The calling thread's outermost call is about to be carried out: says whether it can fail, in its
 * flags for the trace (thread.call.injection), and returns the error that it must return instead,
 * or CUDA_SUCCESS. Under the driver's lock. */
CUresult injection_strikes(void);

/* At the end of the process: says so where no call was the one. */
void injection_end(void);

#endif
