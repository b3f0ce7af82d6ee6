/* entry: the only door into the device. A wrapper per public function (wrap.c) enters a call, runs
 * the implementation and leaves; what stands in the way of a call is looked at here, and so are the
 * beginning and the end of the process and of its threads.
 *
 * Nothing below knows it. What libcudart.so uses is emulator/driver/driver.h.
 */
#ifndef OVERLAP_DRIVER_ENTRY_ENTRY_H
#define OVERLAP_DRIVER_ENTRY_ENTRY_H

#include "emulator/driver/core/core.h"

enum driver_needs {
    ANY = 0,
    NEEDS_INIT = 1u << 0,
    NEEDS_CONTEXT = 1u << 1,
    STICKY_LATER = 1u << 2, /* done in spite of a sticky error */
    SUBMITS = 1u << 3,
    PER_THREAD = 1u << 4, /* stream 0 is the thread's own default stream */
    UNSAFE = 1u << 5,     /* a capture may prohibit it: it has an effect that no graph repeats */
    OF_HANDLE = 1u << 6,  /* a handle that it is given says in which context */
    READY = NEEDS_INIT,
    CURRENT = NEEDS_INIT | NEEDS_CONTEXT,
    CLEANUP = CURRENT | STICKY_LATER,
    HANDLE = NEEDS_INIT | OF_HANDLE,
    HANDLE_CLEANUP = HANDLE | STICKY_LATER,
    HANDLE_CLEANUP_UNSAFE = HANDLE_CLEANUP | UNSAFE,
    ASYNC = HANDLE | SUBMITS,
    ASYNC_CLEANUP = ASYNC | STICKY_LATER,
    READY_UNSAFE = READY | UNSAFE,
    CURRENT_UNSAFE = CURRENT | UNSAFE,
    CLEANUP_UNSAFE = CLEANUP | UNSAFE,
    CURRENT_PER_THREAD = CURRENT | PER_THREAD,
    CURRENT_UNSAFE_PER_THREAD = CURRENT_UNSAFE | PER_THREAD,
    HANDLE_PER_THREAD = HANDLE | PER_THREAD,
    CLEANUP_PER_THREAD = CLEANUP | PER_THREAD,
    READY_PER_THREAD = READY | PER_THREAD,
    ASYNC_PER_THREAD = ASYNC | PER_THREAD,
    ASYNC_CLEANUP_PER_THREAD = ASYNC_CLEANUP | PER_THREAD,
};

/* The body of every wrapper: driver_enter, the implementation if that returned success, and in any
 * case driver_leave with the result, which returns what the caller gets. */
CUresult driver_enter(const char *name, unsigned needs, const void *caller);
CUresult driver_leave(CUresult code);

/* The calling thread makes its first call. */
void thread_begin(void);
/* The process's clock, which is the first thread's, is at least `ns`. */
void main_clock_reaches(uint64_t ns);

/* The process makes its first call, or is told to begin. */
void process_begin(void);

/* ---- turns (turns.c) ------------------------------------------------------------------------ */

/* Reads OVERLAP_TURNS: on. Otherwise threads enter the device when they like. */
void turns_begin(void);
/* Around a call, outside of all locks; under the lock, around a wait in it for somebody else. */
void turns_take(void);
void turns_give(void);
void turns_pause(void);
void turns_go_on(void);
/* In a forked child: nobody else is there. */
void turns_after_fork(void);

/* ---- injected errors ---------------------------------------------------------------------- */

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
