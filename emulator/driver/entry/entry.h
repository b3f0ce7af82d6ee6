/* entry: the only door into the device. One wrapper per public function (wrap.c) enters a call,
 * runs the implementation and leaves the call. The checks before a call, and the beginning and end
 * of the process and of its threads, are here as well.
 *
 * No room below uses this header. What libcudart.so uses is declared in emulator/driver/driver.h.
 */
#ifndef OVERLAP_DRIVER_ENTRY_ENTRY_H
#define OVERLAP_DRIVER_ENTRY_ENTRY_H

#include "emulator/driver/core/core.h"

enum driver_needs {
    ANY = 0,
    NEEDS_INIT = 1u << 0,
    NEEDS_CONTEXT = 1u << 1,
    STICKY_LATER = 1u << 2, /* carried out in spite of a sticky error */
    SUBMITS = 1u << 3,
    PER_THREAD = 1u << 4, /* stream 0 is the thread's own default stream */
    UNSAFE = 1u << 5,     /* has an effect that no graph can repeat: a capture may prohibit it */
    OF_HANDLE = 1u << 6,  /* the context follows from a handle among the arguments */
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

/* The body of every wrapper: driver_enter, then the implementation if that returned CUDA_SUCCESS,
 * and always driver_leave with the result; what driver_leave returns goes to the caller. */
CUresult driver_enter(const char *name, unsigned needs, const void *caller);
CUresult driver_leave(CUresult code);

/* The version that the driver says it is: CUDA_VERSION, or that of a newer runtime inside a program
 * (driver.h). */
int driver_version(void);

/* Called at the calling thread's first call. */
void thread_begin(void);
/* Advances the process's clock (the first thread's) to at least `ns`. */
void main_clock_reaches(uint64_t ns);

/* Called at the process's first call, or by overlap_begin. */
void process_begin(void);
/* Called by cuInit: from now on pending work is judged before the process dies of a signal
 * (end.c). */
void end_watch(void);

/* ---- turns (turns.c) ------------------------------------------------------------------------ */

/* Reads OVERLAP_TURNS. Unless it is "on", threads enter the device whenever they like, and the
 * functions below do nothing. */
void turns_begin(void);
/* turns_take and turns_give enclose a call and are called without any lock held. turns_pause and
 * turns_go_on enclose a wait for another thread inside a call, under the driver's lock. */
void turns_take(void);
void turns_give(void);
void turns_pause(void);
void turns_go_on(void);
/* In a forked child: forgets all other threads. */
void turns_after_fork(void);

/* ---- injected errors ---------------------------------------------------------------------- */

/* Reads OVERLAP_FAIL, once; names an invalid value on standard error. Called when the library is
 * loaded, so that processes forked later share the count, and at the first call, for a program that
 * sets the variable itself. */
void injection_begin(void);

/* Called when the thread's outermost call is about to be carried out, under the driver's lock.
 * Records in thread.call.injection whether the call can fail, and returns the error that it must
 * return instead of running, or CUDA_SUCCESS. */
CUresult injection_strikes(void);

/* At the end of the process: prints a note if the call that OVERLAP_FAIL chose never came. */
void injection_end(void);

#endif
