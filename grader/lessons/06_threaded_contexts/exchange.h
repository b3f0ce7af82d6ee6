/* exchange: the data that judge and drive of lesson 06 exchange: arrays in, arrays and results out.
 * No CUDA, no pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_06_THREADED_CONTEXTS_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_06_THREADED_CONTEXTS_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#define THREADED_ARRAYS 80 /* at most */
#define THREADED_GUARD 32  /* floats after each array that must stay unwritten */

/* One call of one of the student's functions, in the phase THREADED_PHASE with the call's index. */
enum threaded_way {
    THREADED_BY_THREADS = 0,
    THREADED_BY_PROCESSES,
};

enum threaded_slip { /* the error in the function's arguments */
                     THREADED_NOTHING = 0,
                     THREADED_BAD_IMAGE, /* text that is not PTX */
                     THREADED_TOO_LONG,  /* array `slip_array` has more floats than any device can
                                            hold; array `second_slip`, if different, has more bytes
                                            than a size_t counts */
};

struct threaded_call {
    uint32_t way;        /* enum threaded_way */
    uint32_t slip;       /* enum threaded_slip */
    uint32_t slip_array; /* for THREADED_TOO_LONG */
    uint32_t second_slip;
    uint32_t count; /* arrays */
    uint32_t reserved;
    uint64_t lengths[THREADED_ARRAYS];
    uint64_t offset; /* of the call's first value in values[], and of its results in the output's
                        values[] */
};

#define THREADED_CALLS 3
#define THREADED_PHASE "call" /* with the call's index */
/* Added to an array's length. The low 32 bits of the size in bytes stay small, so a 32-bit size
 * fits. */
#define THREADED_TOO_LONG_LENGTH ((uint64_t)1 << 42)
#define THREADED_UNCOUNTABLE_LENGTH                                                                \
    ((uint64_t)1 << 62) /* the length itself: its bytes are 2^64                                   \
                         */

struct threaded_input {
    uint32_t call_count;
    struct threaded_call calls[THREADED_CALLS];
    float values[];
};

struct threaded_answer {
    int32_t error;          /* what the function returned */
    uint32_t children_left; /* 1: the function left a child that could still be waited for */
    uint32_t child_taken;   /* 1: the function waited for the caller's own child, which had ended */
    uint32_t reserved;
    struct {
        int32_t error;
        uint32_t reserved;
        double sum;
    } results[THREADED_ARRAYS];
};

/* Each array's values are followed by its guard. */
struct threaded_output {
    struct threaded_answer answers[THREADED_CALLS];
    float values[];
};

/* Returns how many floats the arrays of a call occupy in input and in output, guards included. */
static inline uint64_t threaded_room(const struct threaded_call *call)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < call->count; i++) room += call->lengths[i] + THREADED_GUARD;
    return room;
}

/* Returns where array `index` of a call begins, in both. */
static inline uint64_t threaded_offset(const struct threaded_call *call, uint32_t index)
{
    uint64_t offset = call->offset;
    for (uint32_t i = 0; i < index; i++) offset += call->lengths[i] + THREADED_GUARD;
    return offset;
}

#endif
