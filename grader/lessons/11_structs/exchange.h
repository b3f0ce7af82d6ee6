/* exchange: what the drive and the judge of lesson 11 say to each other: the calls that are made,
 * with what, and what came back. C; no CUDA, no pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_11_STRUCTS_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_11_STRUCTS_EXCHANGE_H

#include <stdint.h>

enum structs_step {
    STRUCTS_STEP_DOUBLE,
    STRUCTS_STEP_LAYOUT,
    STRUCTS_STEP_MULTIPLY,
    STRUCTS_STEP_CALL,
    STRUCTS_STEPS
};

/* The kernels of kernels.cu. Those that look take nothing but values, and write down what they
 * saw, end to end; of those that work the judge knows what they do. */
enum structs_kernel {
    STRUCTS_LOOK_GROWING, /* a byte, then ever larger ones, then a byte */
    STRUCTS_LOOK_MIXED,
    STRUCTS_LOOK_LARGE, /* 16 bytes behind 1 */
    STRUCTS_WORK_FLOATS,
    STRUCTS_WORK_BYTES,
    STRUCTS_KERNELS
};
#define STRUCTS_SEEN 64 /* bytes that a kernel can write down */

/* Every call is in a phase STRUCTS_PHASE_CALL with its index, and that in DRIVE_INJECTIONS; the
 * one that is timed in STRUCTS_PHASE_TIME, 0, instead. */
#define STRUCTS_CALLS 8
#define STRUCTS_ARGUMENTS 8
#define STRUCTS_PHASE_CALL "call"
#define STRUCTS_PHASE_TIME "time"

/* STRUCTS_STEP_MULTIPLY: one array. Its elements are in the bytes of input and output alike. */
struct structs_list {
    int32_t factor;
    uint32_t length;
    uint64_t at;
};

/* STRUCTS_STEP_CALL: one argument; `way` as in lesson.h. */
struct structs_given {
    uint32_t way, size, alignment;
    uint32_t pageable;
    uint64_t at;
};

struct structs_case {
    uint32_t step;
    uint32_t stale;                 /* 1: the runtime remembers an error of the caller's */
    uint32_t timed;                 /* 1: in STRUCTS_PHASE_TIME */
    uint32_t rows, columns, stride; /* STRUCTS_STEP_DOUBLE: the matrix is at `at` */
    uint32_t pageable;              /* STRUCTS_STEP_LAYOUT: so are the layouts; else page-locked */
    uint32_t count, first;          /* STRUCTS_STEP_MULTIPLY: structs of structs_list at `at` */
    uint32_t kernel, blocks, threads, arguments; /* STRUCTS_STEP_CALL; seen bytes at `at` */
    uint64_t at;
    struct structs_given given[STRUCTS_ARGUMENTS];
};

/* What lies in the input's bytes comes back in the same place of the output's. */
struct structs_input {
    uint32_t case_count, reserved;
    uint64_t size; /* of the bytes behind, on both sides */
    struct structs_case cases[STRUCTS_CALLS];
    unsigned char bytes[];
};

#define STRUCTS_LAYOUT_FIGURES 8 /* size, alignment, six offsets */

struct structs_answer {
    int32_t status;  /* what the call returned */
    int32_t later;   /* the error met when its work was waited for */
    uint32_t lost;   /* 1: not called, because a call before it had broken the context */
    uint32_t spoilt; /* 1 and the index of the first of the caller's structs that has changed */
    uint64_t host[STRUCTS_LAYOUT_FIGURES], device[STRUCTS_LAYOUT_FIGURES];
};

struct structs_output {
    struct structs_answer answers[STRUCTS_CALLS];
    unsigned char bytes[];
};

#endif
