/* exchange: what the drive and the judge of lesson 12 say to each other: matrices, the calls that
 * are made with them, and what came back. C; no CUDA, no pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_12_MATMUL_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_12_MATMUL_EXCHANGE_H

#include <stdint.h>

enum matmul_step { MATMUL_NAIVE, MATMUL_TILED, MATMUL_BATCHED, MATMUL_STEPS };

/* Every call is in a phase MATMUL_PHASE_CALL with its index, and that in DRIVE_INJECTIONS. The one
 * that is timed is in MATMUL_PHASE_TIME, 0, instead: it is made `repeats` times, and the device is
 * waited for. */
#define MATMUL_CALLS 8
#define MATMUL_PHASE_CALL "call"
#define MATMUL_PHASE_TIME "time"
#define MATMUL_PHASE_CUBLAS "cublas" /* 0, on a GPU: the same product by cuBLAS, as often */

struct matmul_call {
    uint32_t step;  /* enum matmul_step */
    uint32_t count; /* products: 1 but in MATMUL_BATCHED */
    uint32_t m, n, p;
    uint32_t stale;   /* 1: the runtime remembers an error of the caller's */
    uint32_t repeats; /* 0: it is not timed */
    uint32_t reserved;
    uint64_t a, b; /* where in the input's bytes they lie, aligned for their elements */
    uint64_t c;    /* and in the output's */
};

struct matmul_input {
    uint32_t call_count, reserved;
    uint64_t size; /* of the bytes behind */
    struct matmul_call calls[MATMUL_CALLS];
    unsigned char bytes[];
};

struct matmul_answer {
    int32_t status; /* what the call returned */
    int32_t later;  /* the error met when its work was waited for */
    uint32_t lost;  /* 1: not called, because a call before it had broken the context */
    uint32_t reserved;
};

struct matmul_output {
    struct matmul_answer answers[MATMUL_CALLS];
    unsigned char bytes[]; /* poison where there is no result */
};

#endif
