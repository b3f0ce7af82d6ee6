/* timeline's work: what an operation is to the timeline: a kind, a cost, and functions to call. */
#ifndef OVERLAP_TIMELINE_WORK_H
#define OVERLAP_TIMELINE_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct timeline_op;

enum timeline_kind {
    TIMELINE_KERNEL,
    TIMELINE_COPY_IN,     /* host to device */
    TIMELINE_COPY_OUT,    /* device to host */
    TIMELINE_COPY_INSIDE, /* device to device */
    TIMELINE_COPY_HOST,   /* host to host, by the host */
    TIMELINE_SET,
    TIMELINE_HOST_FUNCTION,
    TIMELINE_STAMP, /* a timed event's record: takes no time, but its turn among the kernels */
    TIMELINE_MARK,  /* takes no time: an untimed event's record, a wait, a free, a value */
    TIMELINE_KIND_COUNT
};

enum timeline_ran {
    TIMELINE_RAN,
    /* What is waited for is not there; call again later. A kernel that answers so has begun: the
     * device goes on with it whatever the order policy. */
    TIMELINE_NOT_YET,
    TIMELINE_STARTED, /* another thread is at it, and will say timeline_op_ran */
};

/* What an operation costs when it has the device to itself, and which share of the device it takes:
 * operations that together ask for more than all of it slow each other down. */
struct timeline_cost {
    double duration_ns;
    double cached_ns; /* when what it touches was copied into the device's cache; 0: the same */
    double used_ns;   /* when a kernel has used it there; 0: the same */
    double touched;   /* bytes of device memory; 0: not known */
    double issue;     /* of the issue slots, 0 to 1 */
    double traffic;   /* of device memory's bandwidth, 0 to 1 */
    double room;      /* of the places for resident blocks, 0 to 1 */
};

/* A piece of device memory. */
struct timeline_touch {
    uint64_t object; /* any number that is its own; 0: none */
    uint64_t bytes;  /* of a kernel: 0: what it turns out to touch, and has touched before */
};
enum { TIMELINE_TOUCHES = 4 };

struct timeline_work {
    enum timeline_kind kind;
    uint64_t bytes;     /* of copies and sets: their cost follows from it */
    bool pageable;      /* a copy that is staged through pageable memory */
    uint64_t signature; /* kernels: equal ones are expected to take equally long; 0: none */
    struct timeline_touch
        touches[TIMELINE_TOUCHES]; /* what it reads or writes, as far as is known */
    bool converses;                /* the host may await what it does without a call */
    bool waits;                    /* it ends when `run` says so, not before: a wait for a value */
    /* An untimed record, or a wait for what is over: nothing for the device to do. Who waits for a
     * stream that has nothing else to do, or asks it, does not wait for what this stands behind in
     * other streams, as a GPU does not: only who waits for the event, or for later work. */
    bool passive;
    bool beside; /* the device itself asks for it: it waits in no hardware queue */
    enum timeline_ran (*run)(struct timeline_op *op, void *user); /* NULL: nothing to do */
    /* Called once, when the operation has run and its times are known; not when abandoned. */
    void (*settled)(const struct timeline_op *op, void *user); /* may be NULL */
    void (*abandoned)(void *user); /* called once, instead of running it; may be NULL */
    void (*release)(void *user);   /* called last, some time later; may be NULL */
    void *user;
};

#endif
