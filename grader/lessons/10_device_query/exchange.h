/* The data that the judge passes to the drive of lesson 10, and the drive's results. */
#ifndef OVERLAP_GRADER_LESSONS_10_DEVICE_QUERY_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_10_DEVICE_QUERY_EXCHANGE_H

#include <stdint.h>

#define DEVICE_QUERY_CASES 13   /* at most */
#define DEVICE_QUERY_DEVICES 16 /* the most that are described and that the arrays hold */

/* The function that a case calls. */
enum device_query_what { DEVICE_QUERY_RUNTIME, DEVICE_QUERY_DRIVER, DEVICE_QUERY_MEMORY };

/* The context that is current to the thread during a call. */
enum device_query_current {
    DEVICE_QUERY_NOTHING = 0,
    DEVICE_QUERY_OWN,    /* a context of the drive's own, on device `at` */
    DEVICE_QUERY_PRIMARY /* the primary context of device `at` */
};

struct device_query_case {
    uint32_t what;
    int32_t room;     /* runtime, driver */
    int32_t ordinal;  /* memory */
    uint32_t current; /* enum device_query_current */
    int32_t at;
    uint32_t held;  /* bytes of the drive's in the primary context of `ordinal`; 0: none. On a GPU
                       with less memory free: fewer, as the answer says */
    uint32_t apart; /* 1: they are in the drive's own context there, and the primary one is dead */
};

/* A device of the software device, as the judge configured it: index in trace/gpus.h, memory, and
 * whether its limits are made up (trace/limits.def). */
struct device_query_device {
    uint32_t gpu;
    uint32_t megabytes;
    uint32_t made_up;
};

struct device_query_input {
    uint32_t count; /* devices that the program must see; in a run on a GPU the drive reports the
                       number */
    uint32_t cases;
    struct device_query_case at[DEVICE_QUERY_CASES];
    struct device_query_device devices[DEVICE_QUERY_DEVICES];
};

/* The numbers of struct device_query_facts. */
enum device_query_figure {
    DEVICE_QUERY_MAJOR,
    DEVICE_QUERY_MINOR,
    DEVICE_QUERY_TOTAL,
    DEVICE_QUERY_MULTIPROCESSORS,
    DEVICE_QUERY_CLOCK,
    DEVICE_QUERY_THREADS,
    DEVICE_QUERY_BLOCK,
    DEVICE_QUERY_GRID = DEVICE_QUERY_BLOCK + 3,
    DEVICE_QUERY_SHARED = DEVICE_QUERY_GRID + 3,
    DEVICE_QUERY_FIGURES
};

struct device_query_told {
    char name[256];
    int64_t figures[DEVICE_QUERY_FIGURES];
};

struct device_query_answer {
    int32_t code;
    int32_t count;    /* runtime, driver */
    uint32_t written; /* one bit per element of facts that was written to */
    int32_t kept;     /* the runtime's last error after the function had returned */
    uint64_t free;    /* memory */
    uint64_t total;   /* memory */
    uint32_t moved;   /* 1: another context or none is current, or the stack's depth changed */
    uint32_t before;  /* one bit per device whose primary context was active */
    uint32_t after;   /* the same after the function had returned */
    uint32_t spoiled; /* 1: the drive's memory in a primary context is gone */
    uint32_t held;    /* bytes that the drive had there */
    struct device_query_told told[DEVICE_QUERY_DEVICES];
};

struct device_query_output {
    uint32_t reached; /* cases that were called */
    uint32_t asked;   /* run on a GPU: devices that the drive itself found */
    struct device_query_answer answers[DEVICE_QUERY_CASES];
    /* Run on a GPU: what the drive itself queried about them. */
    struct device_query_told truth[DEVICE_QUERY_DEVICES];
};

/* Every case is one phase of this name, with the case's index. */
#define DEVICE_QUERY_PHASE "query"

#endif
