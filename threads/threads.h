/* threads: the host threads that a program starts, seen by standing in front of the system's
 * functions: pthread_create and thrd_create, and all that joins, detaches or waits. It serves two
 * ends, and knows no CUDA, so that it works beside any device.
 *
 * Told: each thread that the watched code starts is a TRACE_CREATE of a TRACE_THREAD in the trace,
 * with the caller's address; joined or detached it is a TRACE_DESTROY. What stays is a leak like
 * any other.
 *
 * Ordered: a system starts threads when it likes, and a program that relies on it comes out right
 * nearly always. Under the order `latest` a new thread does nothing before its starter waits, so
 * that one that forgets to wait goes on without the result; under `earliest` the starter goes on
 * when the thread has ended or waits itself, so that what it needed had to be there before; under
 * `random:SEED` each thread has the one, the other, or neither. None of it can stop a program for
 * good: whoever is waited for loses that once it has computed for 20 ms or slept for 5.
 *
 * Watched is the code of one module, the submission's library or the program itself, also where it
 * starts a std::thread, through the shared library of C++. Threads that others start (CUDA's
 * libraries, the device, OpenMP) run as ever, and are not told.
 *
 * Linked into a program that exports its symbols (grader/child/runner.c), or preloaded into any
 * (threads/preload.c): one of the two, or a call is seen twice.
 */
#ifndef OVERLAP_THREADS_THREADS_H
#define OVERLAP_THREADS_THREADS_H

#include "trace/trace.h"

/* What the address of a thread-local variable points at, if a thread returns it: it ended with the
 * thread. In every byte. */
#define THREADS_SPOILED 0xd7

/* Watches the loaded module that `inside` points into, from now on. `order` as in OVERLAP_ORDER
 * (copied); NULL, or what is none: threads start as the system likes. `trace` must stay open for
 * the life of the process; NULL: nothing is told. Once, before there are threads. */
void threads_watch(const void *inside, const char *order, struct trace_writer *trace);

/* Called where the system itself has no thread or process for the watched code, with errno; not for
 * a call that is made to fail. NULL: nobody. Set it before there are threads. */
extern void (*threads_on_want)(int error);

/* The watched function has returned. What it has left behind may be at work on memory that is about
 * to end: threads that are still held back stay so for ever, for others it waits, for two seconds
 * in which they sleep or compute.
 * Detached ones that have not ended then are told: their TRACE_DESTROY has the count 1. */
void threads_settle(void);

#endif
