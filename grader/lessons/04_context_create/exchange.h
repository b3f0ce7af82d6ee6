/* What the judge hands to the drive of lesson 04, and what it gets back. */
#ifndef OVERLAP_GRADER_LESSONS_04_CONTEXT_CREATE_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_04_CONTEXT_CREATE_EXCHANGE_H

#include <stdint.h>

#define CONTEXT_CREATE_CASES 8 /* at most */

/* How one call of the student's function is made. */
enum context_create_way {
    CONTEXT_CREATE_GOOD = 0,
    CONTEXT_CREATE_NO_DEVICE, /* an ordinal that does not exist */
    CONTEXT_CREATE_TOO_LONG,  /* more floats than any device has room for */
    CONTEXT_CREATE_REFUSED,   /* work returns CUDA_ERROR_NOT_FOUND */
    CONTEXT_CREATE_HALFWAY,   /* work has launched a kernel and returns CUDA_ERROR_NOT_FOUND */
    CONTEXT_CREATE_FAULTY,    /* work succeeds, and its kernel faults */
    CONTEXT_CREATE_WAY_COUNT
};

/* What is current to the thread when the student's function is called. */
enum context_create_inside {
    CONTEXT_CREATE_NONE = 0,
    CONTEXT_CREATE_OWN,     /* a context of the drive's */
    CONTEXT_CREATE_PRIMARY, /* the device's primary context, with memory of the drive's in it */
};

struct context_create_case {
    uint32_t way;    /* enum context_create_way */
    uint32_t inside; /* enum context_create_inside */
    uint32_t length; /* floats; they begin at `offset` in values, on both sides */
    uint32_t offset;
};

struct context_create_input {
    uint32_t count; /* of cases; the first is not `inside`: the driver is not started yet */
    int32_t bad_ordinal;
    struct context_create_case cases[CONTEXT_CREATE_CASES];
    float values[];
};

struct context_create_answer {
    int32_t code;     /* what context_create_round_trip returned */
    uint32_t worked;  /* how often it called work */
    uint32_t extra;   /* contexts on the stack above, or in place of, what was current before */
    uint32_t lost;    /* 1: what was current before is no longer on the stack */
    uint32_t ready;   /* 0: the drive could not make its own context for the case */
    uint32_t spoiled; /* 1: the drive's memory in the primary context is no longer what it was */
};

struct context_create_output {
    struct context_create_answer answers[CONTEXT_CREATE_CASES];
    float values[];
};

/* Every case is one phase of this name; its index is the case's. */
#define CONTEXT_CREATE_PHASE "round trip"
#define CONTEXT_CREATE_ALL_PHASE "all" /* around all of them */

/* Added to the length, floats: 4 PiB. Of the bytes the low 32 bits stay small: who counts in them
 * finds room. */
#define CONTEXT_CREATE_TOO_MANY ((size_t)1 << 50)
#define CONTEXT_CREATE_NOBODYS 16u /* an address on the device */
#define CONTEXT_CREATE_DEEPEST 8u  /* as far as the stack is looked at */

#endif
