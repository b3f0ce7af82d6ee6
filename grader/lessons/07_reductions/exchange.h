/* exchange: what the drive and the judge of lesson 07 say to each other: a pool of elements of each
 * kind, the cases that take stretches of it, and the results. C and C++; no CUDA, no pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_07_REDUCTIONS_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_07_REDUCTIONS_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/* A type of twelve bytes, which no load instruction brings at once. Its reduction keeps the
 * smallest `low`, the largest `high`, and `mixed` exclusive-or'ed. */
struct reduction_range {
    int32_t low, high;
    uint32_t mixed;
};

/* Types of no word's size, or of one that they are not aligned to, added byte by byte. */
struct reduction_bytes_1 {
    uint8_t bytes[1];
};
struct reduction_bytes_2 {
    uint8_t bytes[2];
};
struct reduction_bytes_3 {
    uint8_t bytes[3];
};
struct reduction_bytes_5 {
    uint8_t bytes[5];
};
struct reduction_bytes_8 {
    uint8_t bytes[8];
};
struct reduction_bytes_16 {
    uint8_t bytes[16];
};
struct reduction_bytes_64 {
    uint8_t bytes[64];
};

/* The reductions that are tried: KIND(name, type of an element, operator in drive.cu, how many
 * elements the pool has, words for messages). */
// clang-format off
#define REDUCTION_TABLE(KIND)                                                                     \
    KIND(SUM_INT64, int64_t, Sum,     1060000, "the sum of 64-bit integers")                      \
    KIND(SUM_INT32, int32_t, Sum,       20000, "the sum of 32-bit integers")                      \
    KIND(SUM_FLOAT, float,   Sum,       20000, "the sum of floats")                               \
    KIND(MAX_FLOAT, float,   Maximum,   20000, "the maximum of negative floats")                  \
    KIND(MIN_INT32, int32_t, Minimum,   20000, "the minimum of positive integers")                \
    KIND(PRODUCT,   uint64_t, Product,  20000, "the product of odd 64-bit integers")              \
    KIND(MODULAR,   uint32_t, Modular,  20000, "the product modulo a prime")                      \
    KIND(RANGE, struct reduction_range, Range, 20000, "the range of 12-byte structs")              \
    KIND(BYTES_1, struct reduction_bytes_1, Bytewise, 9000, "the sums of 1-byte structs")     \
    KIND(BYTES_2, struct reduction_bytes_2, Bytewise, 9000, "the sums of 2-byte structs")     \
    KIND(BYTES_3, struct reduction_bytes_3, Bytewise, 9000, "the sums of 3-byte structs")     \
    KIND(BYTES_5, struct reduction_bytes_5, Bytewise, 9000, "the sums of 5-byte structs")     \
    KIND(BYTES_8, struct reduction_bytes_8, Bytewise, 9000, "the sums of 8-byte structs")     \
    KIND(BYTES_16, struct reduction_bytes_16, Bytewise, 9000, "the sums of 16-byte structs")  \
    KIND(BYTES_64, struct reduction_bytes_64, Bytewise, 9000, "the sums of 64-byte structs")
// clang-format on

enum reduction_kind {
#define KIND(name, type, operation, pool, words) REDUCTION_##name,
    REDUCTION_TABLE(KIND)
#undef KIND
        REDUCTION_KINDS
};

#define REDUCTION_ELEMENT_SIZE 64 /* at least that of every kind's type */

/* What a case is about; each check judges one or two of these. */
enum reduction_group {
    REDUCTION_FIRST,    /* 1 to 10000 */
    REDUCTION_SIZES,    /* the sum of integers, every size, no init */
    REDUCTION_KINDLY,   /* every kind, no init */
    REDUCTION_INIT,     /* every kind, with init */
    REDUCTION_EMPTY,    /* size 0 */
    REDUCTION_SHIFTED,  /* an array that begins between two 16-byte boundaries */
    REDUCTION_TOGETHER, /* beside another in another stream: see "together" and "interleaved" */
    REDUCTION_GATED,    /* behind work that has not begun: see run "stream" */
    REDUCTION_LONG,     /* more elements than 32 bits count: see run "long" */
    REDUCTION_GROUPS
};

struct reduction_case {
    uint32_t kind, group;
    uint32_t with_init;
    uint32_t shift;     /* elements between a 256-byte boundary and the array */
    uint32_t skew;      /* bytes more, of a type that is aligned to 1 */
    uint32_t parameter; /* MODULAR: the prime */
    uint64_t size;      /* elements */
    uint64_t offset;    /* of the first one, in elements of the kind's pool */
    unsigned char init[REDUCTION_ELEMENT_SIZE];
};

/* Runs. "values" and "injections": each case once, in phase "case" with its index. "stream": case 0
 * in a stream that is held back, and so is another one, until the call has returned: phase "gated";
 * init is in pinned memory. "together": cases 0 and 1 in a stream each, both held back until both
 * calls have returned, in phases "together". "interleaved": the same, and then cases 2 and 3, where
 * half of the blocks of 2 wait for 3. "long": case 0 in phase "case", told of REDUCTION_TOO_MANY
 * elements more than there are. "time": the first case's stretch, repeated until the array has
 * `time_size` elements; phases "time" and, on a GPU, "cub", with the repetition's index. */
#define REDUCTION_CASES 192
/* Cut to 32 bits, the size that is told is that of the elements that there are. */
#define REDUCTION_TOO_MANY ((uint64_t)1 << 32)
#define REDUCTION_PHASE_CASE "case"
#define REDUCTION_PHASE_GATED "gated"
#define REDUCTION_PHASE_TOGETHER "together"
#define REDUCTION_PHASE_WARM_UP "warm up"
#define REDUCTION_PHASE_TIME "time"
#define REDUCTION_PHASE_TIME_32 "time 32"
#define REDUCTION_PHASE_CUB "cub"
#define REDUCTION_PHASE_CUB_32 "cub 32"

struct reduction_input {
    uint32_t case_count;
    uint32_t repetitions; /* "time": phases of each name */
    uint32_t calls;       /* "time": calls in a phase, one after another */
    uint32_t reserved;
    uint64_t time_size;                    /* "time": 64-bit elements in the array */
    uint64_t pool_offset[REDUCTION_KINDS]; /* bytes from the input's begin */
    uint64_t pool_count[REDUCTION_KINDS];  /* elements */
    struct reduction_case cases[REDUCTION_CASES];
};

struct reduction_answer {
    int32_t status; /* what the call returned */
    int32_t later;  /* the error met when its work was waited for */
    uint32_t held;  /* "stream", "together": 1: returned while both streams were held back */
    /* 1: not called, because a call before it had broken the context; 2: because one had waited for
     * the device. */
    uint32_t lost;
    /* The element before *result, *result, and the element after it. */
    unsigned char result[3][REDUCTION_ELEMENT_SIZE];
};

struct reduction_output {
    struct reduction_answer answers[REDUCTION_CASES]; /* "time": 0 64-bit, 1 32-bit */
};

#endif
