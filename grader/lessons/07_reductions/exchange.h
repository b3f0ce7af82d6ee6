/* exchange: the data that judge and drive of lesson 07 exchange: a pool of elements of each kind,
 * the cases, each of which uses a range of its pool, and the results. C and C++; no CUDA, no
 * pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_07_REDUCTIONS_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_07_REDUCTIONS_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/* A 12-byte type, for which there is no single load instruction. Its reduction keeps the smallest
 * `low`, the largest `high`, and the exclusive or of `mixed`. */
struct reduction_range {
    int32_t low, high;
    uint32_t mixed;
};

/* Types whose size is not that of a word, or which are not aligned to their size; added byte by
 * byte. */
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

/* The kinds of reduction: KIND(name, element type, operator in calls.cu, elements in the pool,
 * words for messages). */
// clang-format off
#define REDUCTION_TABLE(KIND)                                                                     \
    KIND(SUM_INT64, int64_t, Sum,     1800000, "the sum of 64-bit integers")                      \
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

#define REDUCTION_ELEMENT_SIZE 64 /* at least the size of every kind's type */

/* The purpose of a case; each check judges one or two of these. */
enum reduction_group {
    REDUCTION_FIRST,    /* sizes 1 to 10000 */
    REDUCTION_SIZES,    /* the sum of integers, every size, no init */
    REDUCTION_KINDLY,   /* every kind, no init */
    REDUCTION_INIT,     /* every kind, with init */
    REDUCTION_EMPTY,    /* size 0 */
    REDUCTION_SHIFTED,  /* an array that does not begin at a 16-byte boundary */
    REDUCTION_TOGETHER, /* beside another stream's case: see "together" and "interleaved" */
    REDUCTION_GATED,    /* queued behind work that has not begun: see run "stream" */
    REDUCTION_LONG,     /* more elements than a 32-bit size counts: see run "long" */
    REDUCTION_GROUPS
};

struct reduction_case {
    uint32_t kind, group;
    uint32_t with_init;
    uint32_t shift;     /* elements between a 256-byte boundary and the array */
    uint32_t skew;      /* additional bytes, for a type that is aligned to 1 */
    uint32_t parameter; /* MODULAR: the prime */
    uint64_t size;      /* elements */
    uint64_t offset;    /* of the first one, in elements of the kind's pool */
    unsigned char init[REDUCTION_ELEMENT_SIZE];
};

/* Runs. "values" and "injections": each case once, in phase "case" with its index. "stream": case 0
 * in phase "gated", in a stream that is held back until the call has returned, as is another
 * stream; init is in pinned memory. "together": cases 0 and 1 in a stream each, both held back
 * until both calls have returned, in phases "together". "interleaved": the same, and then cases 2
 * and 3, where half of the blocks of case 2 wait for case 3. "long": case 0 in phase "case", with a
 * size that is REDUCTION_TOO_MANY elements larger than the array. "time": the first case's range,
 * repeated until the array has `time_size` elements; phases "time" and, on a GPU, "cub", with the
 * repetition's index. */
#define REDUCTION_CASES 192
/* Cut to 32 bits, the size that is passed is the array's true size. */
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
    int32_t later;  /* the error returned when the drive waited for its work */
    uint32_t held;  /* "stream", "together": 1: it returned while both streams were held back */
    /* 1: not called, because an earlier call had broken the context; 2: not called, because an
     * earlier call had waited for the device. */
    uint32_t lost;
    /* The element before *result, *result, and the element after it. */
    unsigned char result[3][REDUCTION_ELEMENT_SIZE];
};

struct reduction_output {
    struct reduction_answer answers[REDUCTION_CASES]; /* "time": 0 64-bit, 1 32-bit */
};

#endif
