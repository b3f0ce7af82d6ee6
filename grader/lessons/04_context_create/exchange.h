/* The data that the judge passes to the drive of lesson 04, and the drive's results. */
#ifndef OVERLAP_GRADER_LESSONS_04_CONTEXT_CREATE_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_04_CONTEXT_CREATE_EXCHANGE_H

#include <stdint.h>

#define CONTEXT_CREATE_CASES 8 /* at most */

/* How the student's function is called. */
enum context_create_way {
    CONTEXT_CREATE_GOOD = 0,
    CONTEXT_CREATE_NO_DEVICE, /* an ordinal that does not exist */
    CONTEXT_CREATE_TOO_LONG,  /* more floats than any device has room for */
    CONTEXT_CREATE_REFUSED,   /* work returns CUDA_ERROR_NOT_FOUND */
    CONTEXT_CREATE_HALFWAY,   /* work has launched a kernel and returns CUDA_ERROR_NOT_FOUND */
    CONTEXT_CREATE_FAULTY,    /* work succeeds, and its kernel faults */
    CONTEXT_CREATE_WAY_COUNT
};

/* The context that is current to the thread when the student's function is called. */
enum context_create_inside {
    CONTEXT_CREATE_NONE = 0,
    CONTEXT_CREATE_OWN,     /* a context that the drive made */
    CONTEXT_CREATE_PRIMARY, /* the device's primary context, in which the drive has memory */
};

struct context_create_case {
    uint32_t way;    /* enum context_create_way */
    uint32_t inside; /* enum context_create_inside */
    uint32_t length; /* floats; they begin at `offset` in values, on both sides */
    uint32_t offset;
};

struct context_create_input {
    uint32_t count; /* number of cases; in the first no context is current, and the driver is not
                       initialised yet */
    int32_t bad_ordinal;
    struct context_create_case cases[CONTEXT_CREATE_CASES];
    float values[];
};

struct context_create_answer {
    int32_t code;     /* what context_create_round_trip returned */
    uint32_t worked;  /* how often it called work */
    uint32_t extra;   /* contexts on the stack above, or in place of, the previous current one */
    uint32_t lost;    /* 1: the previous current context is no longer on the stack */
    uint32_t ready;   /* 0: the drive could not make its own context for the case */
    uint32_t spoiled; /* 1: the drive's memory in the primary context was changed */
};

struct context_create_output {
    struct context_create_answer answers[CONTEXT_CREATE_CASES];
    float values[];
};

/* Every case is one phase of this name, with the case's index. */
#define CONTEXT_CREATE_PHASE "round trip"
#define CONTEXT_CREATE_ALL_PHASE "all" /* encloses all cases */

/* Added to the length: floats of 4 PiB. The low 32 bits of the size in bytes stay small, so a
 * 32-bit size fits. */
#define CONTEXT_CREATE_TOO_MANY ((size_t)1 << 50)
#define CONTEXT_CREATE_NOBODYS 16u /* an invalid device address */
#define CONTEXT_CREATE_DEEPEST 8u  /* depth to which the stack is inspected */

#endif
