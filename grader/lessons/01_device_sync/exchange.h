/* The data that the judge passes to the drive of lesson 01, and the drive's results. */
#ifndef OVERLAP_GRADER_LESSONS_01_DEVICE_SYNC_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_01_DEVICE_SYNC_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#define DEVICE_SYNC_CASES 12 /* at most */

/* How the student's function is called. */
enum device_sync_way {
    DEVICE_SYNC_GOOD = 0, /* multiply_divide, with the true number of floats */
    DEVICE_SYNC_STALE,    /* the same, while the runtime holds an earlier error of the caller's */
    DEVICE_SYNC_SLOW,     /* the same, with a kernel that takes long by the device's clock */
    DEVICE_SYNC_TOO_LONG, /* more floats than any device has room for */
    DEVICE_SYNC_WRAPS,    /* more floats than a size_t has bytes for */
    DEVICE_SYNC_REFUSED,  /* a kernel whose launch is refused */
    DEVICE_SYNC_UNTOLD,   /* the launcher returns an error that no CUDA call returned */
    DEVICE_SYNC_FAULTY    /* a kernel that writes to an invalid address: the last case of a run */
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
    int32_t later; /* what the drive's own wait for the device returned afterwards */
    double sum;
};

struct device_sync_output {
    uint32_t reached; /* cases that were called; fewer than `count` when the device was lost */
    uint32_t reserved;
    struct device_sync_answer answers[DEVICE_SYNC_CASES];
    float values[];
};

/* Every case is one phase of this name, with the case's index. */
#define DEVICE_SYNC_PHASE "transform"
#define DEVICE_SYNC_ALL_PHASE "all" /* encloses all cases */

/* Added to the case's length: floats of 4 PiB. With sizes cut to 32 bits only the case's own length
 * is left. */
#define DEVICE_SYNC_TOO_MANY ((size_t)1 << 50)

/* The same for a size_t: the size in bytes wraps, so only the case's own length is left. */
#define DEVICE_SYNC_WRAP ((SIZE_MAX >> 2) + 1)

/* Returns how many floats are added to the case's own length. */
static inline size_t device_sync_beyond(uint32_t way)
{
    return way == DEVICE_SYNC_TOO_LONG ? DEVICE_SYNC_TOO_MANY
           : way == DEVICE_SYNC_WRAPS  ? DEVICE_SYNC_WRAP
                                       : 0;
}

#define DEVICE_SYNC_UNTOLD_ERROR 701 /* cudaErrorLaunchOutOfResources */

#endif
