/* The data that the judge passes to the drive of lesson 13, and the drive's results. */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_EXCHANGE_H

#include <stdint.h>

/* The runs. */
#define OPENCL_RUN_DEVICES "devices"
#define OPENCL_RUN_NONE "none"
#define OPENCL_RUN_VALUES "values"

/* The phases: one for each call of the student's functions. */
#define OPENCL_PHASE_DEVICES "devices"
#define OPENCL_PHASE_SUM "sum"
#define OPENCL_PHASE_COMPARE "compare"
/* A call with one element and no round. */
#define OPENCL_PHASE_LEAST "least"
/* In step 3: each reading of the clock, with its index. */
#define OPENCL_PHASE_READING "reading"

enum {
    OPENCL_CALLS = 3, /* calls of opencl_devices in a run */
    OPENCL_MOST = 8,  /* maximum number of devices reported */
    OPENCL_SUMS = 4,  /* calls of opencl_sum */
    OPENCL_TEXT_SIZE = 128,
    OPENCL_READINGS = 16,
    OPENCL_FAILURES = 160, /* maximum number of the student's calls that are made to fail */
};

struct opencl_input {
    uint64_t zero; /* offset of the clock */
    uint32_t rooms[OPENCL_CALLS];
    uint32_t rounds;
    uint32_t counts[OPENCL_SUMS];
    uint32_t count; /* of opencl_compare */
    uint32_t reserved;
    /* a and b of each sum, then of opencl_compare, then of the call with one element */
    float values[];
};

struct opencl_told {
    char platform[OPENCL_TEXT_SIZE], name[OPENCL_TEXT_SIZE], version[OPENCL_TEXT_SIZE];
    uint64_t type, group, memory, local;
    uint32_t units;
    uint32_t has_id; /* 1: the handle is the one that OpenCL has for the device of this number */
};

struct opencl_listed {
    int32_t code;
    uint32_t count;
    uint32_t beyond; /* bytes that were changed after the room that was given */
    uint32_t reserved;
    struct opencl_told told[OPENCL_MOST];
};

struct opencl_compared {
    int32_t code;
    uint32_t reading_count;
    uint64_t host, written, kernel, read, total;
    uint64_t readings[OPENCL_READINGS];
};

/* A call of a student's function in which one OpenCL call was made to fail. */
struct opencl_failed {
    uint32_t function; /* of enum opencl_function */
    int32_t code;
};
enum opencl_function { OPENCL_DEVICES, OPENCL_SUM, OPENCL_COMPARE, OPENCL_FUNCTIONS };

struct opencl_output {
    struct opencl_listed listed[OPENCL_CALLS];
    int32_t sum_codes[OPENCL_SUMS];
    uint32_t sum_beyond[OPENCL_SUMS]; /* bytes that were changed after c */
    struct opencl_compared compared;
    int32_t least_code;
    uint32_t device; /* the number of the device that was passed */
    uint32_t failure_count;
    uint32_t reserved;
    struct opencl_failed failures[OPENCL_FAILURES];
    /* The sums, one after another, then the host's and the device's results of step 3, and those of
     * the call with one element. */
    float values[];
};

#endif
