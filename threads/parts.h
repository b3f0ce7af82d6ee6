/* threads_parts: what the files of this room say to each other. */
#ifndef OVERLAP_THREADS_PARTS_H
#define OVERLAP_THREADS_PARTS_H

#include "threads/threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

/* A thread that watched code has started, from before it begins until it is joined, or, detached,
 * until it ends. */
struct host_thread {
    struct host_thread *next;
    uint64_t id; /* 1, 2, ... in the order of starting */
    pthread_t handle;
    pid_t number; /* the system's; 0: it has not begun */
    pid_t starter;
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } function;
    void *argument;
    uint64_t caller;
    uint64_t *told;      /* where its number goes in the trace, or NULL */
    uint64_t *told_left; /* detached: where it goes that it has outlived the function, or NULL */
    bool joinable;       /* neither joined nor detached */
    bool joining;        /* somebody is about to do the one or the other */
    bool ended;
    enum threads_hold {
        HOLD_NOBODY = 0,
        HOLD_THREAD,  /* back, at its beginning */
        HOLD_STARTER, /* in the call that started it */
        HOLD_FOREVER, /* the thread */
    } hold;
};

/* One lock for all of it, taken for moments only; a forked child has it free. */
void threads_lock(void);
void threads_unlock(void);
struct host_thread *threads_first(void);

/* ---- threads/threads.c, for whoever stands in front of a system's function ------------------ */

#define THREADS_PUBLIC __attribute__((visibility("default")))

/* The address is in the watched module. */
bool threads_is_watched(const void *address);
/* The function of that name behind ours, kept in *known. */
void *threads_behind(void **known, const char *name);
/* Declares `real`, whose `call` is the function of that name behind ours. Through a union, because
 * C has no conversion from a pointer to an object to one to a function. */
#define THREADS_BEHIND(type, name, parameters)                                                     \
    static void *known;                                                                            \
    const union {                                                                                  \
        void *address;                                                                             \
        type(*call) parameters;                                                                    \
    } real = {.address = threads_behind(&known, #name)}

/* ---- threads/order.c: who goes first. Under the lock, which is given up while somebody is held.
 */

void order_set(const char *order);
/* In the starter, before anybody else sees the thread: decides who will be held. */
void order_decide(struct host_thread *thread);
/* In the starter, and in the thread: returns when the caller may go on. The starter's may find that
 * the thread is no more, and takes no pointer for that. */
void order_hold_starter(uint64_t id);
void order_hold_thread(struct host_thread *thread);
/* `number` is about to wait for another thread, or ends: whom it held goes on. */
void order_waits(pid_t number);
/* The thread is about to be joined. */
void order_is_wanted(struct host_thread *thread);
/* Whoever is held back now stays so. */
void order_freeze(void);
/* Pauses for about a millisecond, or until somebody goes on. */
void order_pause(void);
/* The nanoseconds since *looked that count, now that somebody looks again: no more than lie between
 * two looks on a machine that is not busy. Sets *looked (of the monotonic clock). */
int64_t order_look(int64_t *looked);
/* In a forked child: nobody is held. */
void order_forget(void);
/* False where order_waits has nothing to do. Without the lock. */
bool order_holds_any(void);

#endif
