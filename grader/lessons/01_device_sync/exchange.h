/* What the judge hands to the drive of lesson 01, and what it gets back. */
#ifndef OVERLAP_GRADER_LESSONS_01_DEVICE_SYNC_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_01_DEVICE_SYNC_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#define DEVICE_SYNC_CASES 12 /* at most */

/* How one call of the student's function is made. */
enum device_sync_way {
    DEVICE_SYNC_GOOD = 0, /* multiply_divide, as many floats as there are */
    DEVICE_SYNC_STALE,    /* the same, and the runtime remembers an error of the caller's */
    DEVICE_SYNC_SLOW,     /* the same, with a kernel that takes long on the device's clock */
    DEVICE_SYNC_TOO_LONG, /* more floats than any device has room for */
    DEVICE_SYNC_WRAPS,    /* more floats than a size_t has bytes for */
    DEVICE_SYNC_REFUSED,  /* a kernel whose launch is refused */
    DEVICE_SYNC_UNTOLD,   /* the launcher answers with an error that no call of CUDA's gave */
    DEVICE_SYNC_FAULTY    /* a kernel that writes where it may not: the last case of a run */
};

struct device_sync_case {
    uint32_t way;    /* enum device_sync_way */
    uint32_t length; /* floats; they begin at `offset` in values, on both sides */
    uint64_t offset;
};

struct device_sync_input {
    uint32_t count; /* of cases */
    uint32_t reserved;
    struct device_sync_case cases[DEVICE_SYNC_CASES];
    float values[];
};

struct device_sync_answer {
    int32_t code;  /* what device_sync_transform returned */
    int32_t later; /* what the drive's own wait for the device returned after that */
    double sum;
};

struct device_sync_output {
    uint32_t reached; /* cases that were called; fewer than there are when the device was lost */
    uint32_t reserved;
    struct device_sync_answer answers[DEVICE_SYNC_CASES];
    float values[];
};

/* Every case is one phase of this name; its index is the case's. */
#define DEVICE_SYNC_PHASE "transform"
#define DEVICE_SYNC_ALL_PHASE "all" /* around all of them */

/* Floats, 4 PiB, and the case's own length besides: cut to 32 bits, their size is the small one. */
#define DEVICE_SYNC_TOO_MANY ((size_t)1 << 50)

/* The same in a size_t: four times it is 0, and the small size is the case's. */
#define DEVICE_SYNC_WRAP ((SIZE_MAX >> 2) + 1)

/* How many floats a case has beside its own length. */
static inline size_t device_sync_beyond(uint32_t way)
{
    return way == DEVICE_SYNC_TOO_LONG ? DEVICE_SYNC_TOO_MANY
           : way == DEVICE_SYNC_WRAPS  ? DEVICE_SYNC_WRAP
                                       : 0;
}

#define DEVICE_SYNC_UNTOLD_ERROR 701 /* cudaErrorLaunchOutOfResources */

#endif
