/* Declarations shared by the files of threads/. */
#ifndef OVERLAP_THREADS_PARTS_H
#define OVERLAP_THREADS_PARTS_H

#include "threads/threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

/* A thread started by watched code. It exists from before the thread begins until the thread is
 * joined or, if detached, ends. */
struct host_thread {
    struct host_thread *next;
    uint64_t id; /* 1, 2, ... in the order of starting */
    pthread_t handle;
    pid_t number; /* the system's thread number; 0: not begun */
    pid_t starter;
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } function;
    void *argument;
    uint64_t caller;
    uint64_t *told;      /* its `count` in the trace, for its number, or NULL */
    uint64_t *told_left; /* detached: the `count` that is set if it outlives the function, or
                            NULL */
    bool joinable;       /* neither joined nor detached */
    bool joining;        /* a thread is about to join or detach it */
    bool ended;
    enum threads_hold {
        HOLD_NOBODY = 0,
        HOLD_THREAD,  /* the new thread is held at its beginning */
        HOLD_STARTER, /* the starter is held in the call that started it */
        HOLD_FOREVER, /* the new thread, until the process ends */
    } hold;
};

/* One lock for the whole room, held only briefly. It is free in a forked child. */
void threads_lock(void);
void threads_unlock(void);
struct host_thread *threads_first(void);

/* ---- threads/threads.c, for code that interposes a system function -------------------------- */

/* ThreadSanitizer maps memory before it is ready to be told of a function's beginning: what is
 * called then is not told to it. */
#define THREADS_EARLY __attribute__((no_sanitize_thread))
#define THREADS_PUBLIC __attribute__((visibility("default"))) THREADS_EARLY

/* Returns true if the address is in the watched module. */
THREADS_EARLY bool threads_is_watched(const void *address);
/* Finds the next function of that name behind ours (dlsym RTLD_NEXT), cached in *known. */
THREADS_EARLY void *threads_behind(void **known, const char *name);
/* Declares `real`, whose `call` is the function of that name behind ours. A union, because C has no
 * conversion from an object pointer to a function pointer. */
#define THREADS_BEHIND(type, name, parameters)                                                     \
    static void *known;                                                                            \
    const union {                                                                                  \
        void *address;                                                                             \
        type(*call) parameters;                                                                    \
    } real = {.address = threads_behind(&known, #name)}

/* ---- threads/order.c: which thread goes first; under the lock, released during a hold ------
 */

void order_set(const char *order);
/* In the starter, before the new thread is visible to others: decides which of the two is held. */
void order_decide(struct host_thread *thread);
/* In the starter, and in the new thread: return when the caller may continue. The starter passes an
 * id instead of a pointer, because the thread may have ended meanwhile. */
void order_hold_starter(uint64_t id);
void order_hold_thread(struct host_thread *thread);
/* The thread `number` is about to wait for another thread, or ends: releases the thread held for
 * it. */
void order_waits(pid_t number);
/* The thread is about to be joined: releases it. */
void order_is_wanted(struct host_thread *thread);
/* Threads that are held at their beginning now stay held until the process ends. */
void order_freeze(void);
/* Pauses for about a millisecond, or until a held thread is released. */
void order_pause(void);
/* Returns the nanoseconds since *looked that count as elapsed: at most the time between two looks
 * on an idle machine. Sets *looked to the current time (CLOCK_MONOTONIC). */
int64_t order_look(int64_t *looked);
/* In a forked child: no thread is held. */
void order_forget(void);
/* Returns false if order_waits would do nothing. Needs no lock. */
bool order_holds_any(void);

#endif
