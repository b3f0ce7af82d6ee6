/* timeline's work: what an operation consists of for the timeline: a kind, a cost, and functions to
 * call. Durations are in ns, sizes in bytes. */
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
    TIMELINE_STAMP, /* record of a timed event: takes no time, but waits in a hardware queue */
    TIMELINE_MARK,  /* takes no time and no queue: an untimed record, a wait, a free, a value */
    TIMELINE_KIND_COUNT
};

enum timeline_ran {
    TIMELINE_RAN,
    /* What the operation waits for is not there; call `run` again later. A kernel that returns this
     * has begun: the device continues it under any order policy. */
    TIMELINE_NOT_YET,
    TIMELINE_STARTED, /* another thread runs it and will call timeline_op_ran */
};

/* The cost of an operation that has the device to itself, and the shares of the device that it
 * uses. Running operations whose shares add up to more than 1 slow each other down. */
struct timeline_cost {
    double duration_ns;
    double cached_ns; /* duration when its data was copied into the device's cache; 0: the same */
    double used_ns;   /* duration when a kernel has used its data there; 0: the same */
    double touched;   /* bytes of device memory; 0: unknown */
    double issue;     /* share of the issue slots, 0 to 1 */
    double traffic;   /* share of device memory's bandwidth, 0 to 1 */
    double room;      /* share of the places for resident blocks, 0 to 1 */
};

/* A piece of device memory that an operation reads or writes. */
struct timeline_touch {
    uint64_t object; /* identifies the piece; 0: none */
    uint64_t bytes;  /* 0, of a kernel: unknown, taken from what it, or one before it, touched */
};
enum { TIMELINE_TOUCHES = 4 };

/* Whether what is behind an operation is behind the end of those that the operation depends on, or
 * only behind what happens before them. The timeline runs it behind their end in any case. */
enum timeline_early {
    TIMELINE_AT_END,
    TIMELINE_EARLY_UNPROMISED, /* only in the sense TIMELINE_PROMISED: GPUs wait for the end */
    TIMELINE_EARLY,
};

struct timeline_work {
    enum timeline_kind kind;
    enum timeline_early early;
    uint64_t bytes;     /* of copies and sets, whose cost follows from it */
    bool pageable;      /* a copy that is staged through pageable memory */
    uint64_t signature; /* kernels with equal ones are expected to take equally long; 0: none */
    struct timeline_touch touches[TIMELINE_TOUCHES]; /* what it reads or writes, as far as known */
    bool converses; /* the host may wait for its effects without an API call */
    bool waits;     /* it ends when `run` says so, not before: a wait for a value */
    /* An untimed record, or a wait for an event that is over: the device has nothing to do. A
     * stream without other pending work is idle despite such an operation: a query or
     * synchronisation of the stream does not wait for what precedes the operation in other streams
     * (a GPU does not either). Only a wait for the event, or for later work of the stream, does. */
    bool passive;
    bool beside; /* launched by the device itself: it waits in no shared hardware queue */
    enum timeline_ran (*run)(struct timeline_op *op, void *user); /* NULL: nothing to do */
    /* Called once, when the operation has run and its times are known; not when abandoned. */
    void (*settled)(const struct timeline_op *op, void *user); /* may be NULL */
    void (*abandoned)(void *user); /* called once instead of `run`; may be NULL */
    void (*release)(void *user);   /* called last, when the last reference is gone; may be NULL */
    void *user;
};

#endif
