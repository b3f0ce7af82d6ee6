/* threads: the host threads that a program starts, observed by interposing the system's functions:
 * pthread_create and thrd_create, and all functions that join, detach or wait. It knows nothing of
 * CUDA, so it works with any device. It has two purposes.
 *
 * Recording: each thread that watched code starts is a TRACE_CREATE of a TRACE_THREAD, with the
 * caller's address; joining or detaching it is a TRACE_DESTROY. A thread that stays is a leak like
 * any other.
 *
 * Ordering: a system starts threads whenever it likes, and a program with a missing wait usually
 * works by luck. With the order `latest` a new thread does nothing before its starter waits, so a
 * starter that forgets to wait goes on without the thread's result. With `earliest` the starter
 * goes on only when the thread has ended or waits, so what the thread needs must be ready before it
 * is started. With `random:SEED` each thread gets one, the other or neither. No hold is permanent:
 * it ends when the running thread has computed for 20 ms or slept for 5 ms.
 *
 * Watched is the code of one module, the submission's library or the program itself, including
 * std::thread through the shared C++ library. Threads started by other code (CUDA's libraries, the
 * device, OpenMP) are neither ordered nor recorded.
 *
 * The code is linked into a program that exports its symbols (grader/child/runner.c) or preloaded
 * into any program (threads/preload.c); never both, since calls would be seen twice.
 */
#ifndef OVERLAP_THREADS_THREADS_H
#define OVERLAP_THREADS_THREADS_H

#include "trace/trace.h"

/* Value of every byte at the address of a thread-local variable that a thread returns: the variable
 * ended with the thread. */
#define THREADS_SPOILED 0xd7

/* Watches the loaded module that contains `inside`, from now on. `order` as in OVERLAP_ORDER
 * (copied); NULL or an invalid order: threads start as the system likes. `trace` must stay open
 * until the process ends; NULL: nothing is recorded. Call it once, before there are threads. */
void threads_watch(const void *inside, const char *order, struct trace_writer *trace);

/* Called with errno when the system itself cannot create a thread or process for watched code; not
 * for calls that are made to fail. NULL: no callback. Set it before there are threads. */
extern void (*threads_on_want)(int error);

/* Called when the watched function has returned. Threads that it left behind may access memory that
 * is about to end: threads still held stay held for ever, and others are waited for, up to two
 * seconds of sleeping or computing. For detached threads that are still running then, the count of
 * their TRACE_DESTROY is set to 1. */
void threads_settle(void);

#endif
