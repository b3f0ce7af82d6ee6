/* exchange: the data that judge and drive of lesson 11 exchange: the calls, their arguments, and
 * the results. C; no CUDA, no pointers.
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

/* The kernels of kernels.cu. The LOOK kernels take values only and write down the bytes that they
 * received, without padding; the effect of the WORK kernels is known to the judge (model.h). */
enum structs_kernel {
    STRUCTS_LOOK_GROWING, /* a byte, then larger and larger types, then a byte */
    STRUCTS_LOOK_MIXED,
    STRUCTS_LOOK_STRUCTS, /* values that are larger than their alignment, where that matters */
    STRUCTS_LOOK_LARGE,   /* 16 bytes after 1 */
    STRUCTS_WORK_FLOATS,
    STRUCTS_WORK_BYTES,
    STRUCTS_WORK_IN_PLACE, /* all that it is given memory for comes back */
    STRUCTS_KERNELS
};
#define STRUCTS_SEEN 64 /* maximum number of bytes that a kernel writes down */

/* Every call is in a phase STRUCTS_PHASE_CALL with its index, within DRIVE_INJECTIONS; the timed
 * one is in STRUCTS_PHASE_TIME, index 0, instead. */
#define STRUCTS_CALLS 8
#define STRUCTS_ARGUMENTS 8
#define STRUCTS_PHASE_CALL "call"
#define STRUCTS_PHASE_TIME "time"

/* STRUCTS_STEP_MULTIPLY: one array. Its elements are at `at` in the bytes of input and output. */
struct structs_list {
    int32_t factor;
    uint32_t length;
    uint64_t at;
};

/* STRUCTS_STEP_CALL: one argument; `way` is defined in lesson.h. */
struct structs_given {
    uint32_t way, size, alignment;
    uint32_t pageable;
    uint64_t at;
};

struct structs_case {
    uint32_t step;
    uint32_t again; /* 1: made once more, while the runtime holds an error of the caller's */
    uint32_t timed; /* 1: in STRUCTS_PHASE_TIME */
    uint32_t rows, columns, stride; /* STRUCTS_STEP_DOUBLE: the matrix is at `at` */
    uint32_t pageable;              /* STRUCTS_STEP_LAYOUT: 1: pageable, 0: page-locked */
    uint32_t count, first;          /* STRUCTS_STEP_MULTIPLY: structs of structs_list at `at` */
    /* STRUCTS_STEP_CALL; the bytes that a LOOK kernel wrote are at `at`. */
    uint32_t kernel, blocks, threads, arguments;
    uint64_t at;
    struct structs_given given[STRUCTS_ARGUMENTS];
};

/* Data in the input's bytes is returned at the same place of the output's bytes. */
struct structs_input {
    uint32_t case_count, reserved;
    uint64_t size; /* of `bytes`, on both sides */
    struct structs_case cases[STRUCTS_CALLS];
    unsigned char bytes[];
};

#define STRUCTS_LAYOUT_FIGURES 8 /* size, alignment, six offsets */

struct structs_answer {
    int32_t status;     /* what the call returned */
    int32_t later;      /* the error returned when the drive waited for its work */
    uint32_t lost;      /* 1: not called, because a call before it had broken the context */
    int32_t remembered; /* what it returned then; 0 also where it was not made again */
    uint32_t reserved;
    uint32_t spoilt; /* 1 + index of the first changed struct of the caller's; 0: none */
    uint64_t host[STRUCTS_LAYOUT_FIGURES], device[STRUCTS_LAYOUT_FIGURES];
};

struct structs_output {
    struct structs_answer answers[STRUCTS_CALLS];
    unsigned char bytes[];
};

#endif
