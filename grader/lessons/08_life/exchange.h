/* exchange: the data that judge and drive of lesson 08 exchange: lattices, the calls that are made
 * with them, and the results. C; no CUDA, no pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_08_LIFE_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_08_LIFE_EXCHANGE_H

#include <stdint.h>

enum life_step { LIFE_LAUNCHES, LIFE_BLOCK, LIFE_SHARED, LIFE_STREAMS, LIFE_GRID, LIFE_STEPS };

/* Every call is in a phase LIFE_PHASE_CALL with its index, within DRIVE_INJECTIONS. The timed call
 * is in LIFE_PHASE_TIME, index 0, instead, and the drive waits for the device in that phase. */
#define LIFE_CALLS 8
#define LIFE_LATTICES 88
#define LIFE_PHASE_CALL "call"
#define LIFE_PHASE_TIME "time"

struct life_input_lattice {
    uint32_t width, height;
    uint64_t offset; /* of the lattice's cells, counted in cells */
};

struct life_call {
    uint32_t step;         /* enum life_step */
    uint32_t first, count; /* lattices; more than one only for LIFE_STREAMS */
    uint32_t generations;
    uint32_t again; /* 1: made once more, while the runtime holds an error of the caller's */
    uint32_t timed;
};

struct life_input {
    uint32_t call_count, lattice_count;
    uint64_t cell_count;
    struct life_call calls[LIFE_CALLS];
    struct life_input_lattice lattices[LIFE_LATTICES];
    int32_t cells[];
};

struct life_answer {
    int32_t status;     /* what the call returned */
    int32_t later;      /* the error returned when the drive waited for its work */
    uint32_t lost;      /* 1: not called, because a call before it had broken the context */
    int32_t remembered; /* what it returned then; 0 also where it was not made again */
};

struct life_output {
    struct life_answer answers[LIFE_CALLS];
    int32_t cells[]; /* as in the input; still poisoned where there is no result */
};

#endif
