/* exchange: the data that judge and drive of lesson 12 exchange: matrices, the calls that are made
 * with them, and the results. C; no CUDA, no pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_12_MATMUL_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_12_MATMUL_EXCHANGE_H

#include <stdint.h>

enum matmul_step { MATMUL_NAIVE, MATMUL_TILED, MATMUL_BATCHED, MATMUL_STEPS };

/* Every call is in a phase MATMUL_PHASE_CALL with its index, within DRIVE_INJECTIONS. The timed one
 * is in MATMUL_PHASE_TIME, index 0, instead: it is made `repeats` times, and the drive waits for
 * the device. */
#define MATMUL_CALLS 8
#define MATMUL_PHASE_CALL "call"
#define MATMUL_PHASE_TIME "time"
/* Index 0, on a GPU: the same product by cuBLAS, `repeats` times. */
#define MATMUL_PHASE_CUBLAS "cublas"

struct matmul_call {
    uint32_t step;  /* enum matmul_step */
    uint32_t count; /* products: 1 except in MATMUL_BATCHED */
    uint32_t m, n, p;
    uint32_t again;   /* 1: made once more, while the runtime holds an error of the caller's */
    uint32_t repeats; /* 0: the call is not timed */
    /* 1: the stream is being captured, so the launch is looked at and never run; there are no
     * matrices, which may be of any size */
    uint32_t captured;
    uint64_t a, b; /* offsets in the input's bytes, aligned for the elements */
    uint64_t c;    /* offset in the output's bytes */
};

struct matmul_input {
    uint32_t call_count, reserved;
    uint64_t size; /* of `bytes` */
    struct matmul_call calls[MATMUL_CALLS];
    unsigned char bytes[];
};

struct matmul_answer {
    int32_t status;     /* what the call returned */
    int32_t later;      /* the error returned when the drive waited for its work */
    uint32_t lost;      /* 1: not called, because a call before it had broken the context */
    int32_t remembered; /* what it returned then; 0 also where it was not made again */
};

struct matmul_output {
    struct matmul_answer answers[MATMUL_CALLS];
    unsigned char bytes[]; /* still poisoned where there is no result */
};

#endif
