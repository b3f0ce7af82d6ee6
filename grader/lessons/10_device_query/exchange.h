/* What the judge hands to the drive of lesson 10, and what it gets back. */
#ifndef OVERLAP_GRADER_LESSONS_10_DEVICE_QUERY_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_10_DEVICE_QUERY_EXCHANGE_H

#include <stdint.h>

#define DEVICE_QUERY_CASES 12   /* at most */
#define DEVICE_QUERY_DEVICES 16 /* the most that are described, and there is room for */

/* Which function a case calls. */
enum device_query_what { DEVICE_QUERY_RUNTIME, DEVICE_QUERY_DRIVER, DEVICE_QUERY_MEMORY };

/* What is current to the thread during a call. */
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
    uint32_t held; /* bytes that the drive holds in the primary context of `ordinal`; 0: none */
};

/* A device as the judge has asked the software device for it: index in trace/gpus.h, memory. */
struct device_query_device {
    uint32_t gpu;
    uint32_t megabytes;
};

struct device_query_input {
    uint32_t count; /* devices that the program is to see; of a GPU's run: as the drive says */
    uint32_t cases;
    struct device_query_case at[DEVICE_QUERY_CASES];
    struct device_query_device devices[DEVICE_QUERY_DEVICES];
};

/* struct device_query_facts in numbers. */
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
    uint32_t written; /* a bit for each element of facts that was written to */
    int32_t kept;     /* the runtime's last error when the function had returned */
    uint64_t free;    /* memory */
    uint64_t total;   /* memory */
    uint32_t moved;   /* 1: another context is current, or none, or the stack is not as deep */
    uint32_t before;  /* a bit for each device whose primary context was alive */
    uint32_t after;   /* the same when the function had returned */
    uint32_t spoiled; /* 1: what the drive held in a primary context is gone */
    struct device_query_told told[DEVICE_QUERY_DEVICES];
};

struct device_query_output {
    uint32_t reached; /* cases that were called */
    uint32_t asked;   /* of a GPU's run: devices that the drive itself has found */
    struct device_query_answer answers[DEVICE_QUERY_CASES];
    struct device_query_told truth[DEVICE_QUERY_DEVICES]; /* the same: what it was told of them */
};

/* Every case is one phase of this name; its index is the case's. */
#define DEVICE_QUERY_PHASE "query"

#endif
