/* parameters: the structures that the kernels of kernels.cu take. C and CUDA share this header. It
 * never holds pointers to host memory.
 *
 * A generator draws 32-bit numbers from `sequences` subsequences in turn. A unit is what one
 * subsequence contributes before the next one is asked: one result, or the two results of a
 * Box-Muller transform, or four results with Philox.
 */
#ifndef OVERLAP_STANDINS_CURAND_PARAMETERS_H
#define OVERLAP_STANDINS_CURAND_PARAMETERS_H

#include <stdint.h>

enum { RAND_BLOCK = 256, RAND_MOST_SEGMENTS = 64, RAND_MOST_REPLAYS = 4096 };

/* Consecutive subsequences of which the same number of 32-bit numbers has been drawn. */
struct rand_segment {
    uint32_t begin; /* the first subsequence; the segment ends where the next one begins */
    uint64_t draws;
};

/* How far a generator has come. Segment 0 begins at subsequence 0. */
struct rand_place {
    uint32_t sequences; /* a multiple of RAND_BLOCK */
    uint32_t next;      /* the subsequence that the next result comes from */
    uint32_t within;    /* Philox: how many of that unit's four results have been handed out */
    uint32_t segments;
    struct rand_segment segment[RAND_MOST_SEGMENTS];
};

/* Fills `out` with `count` results. */
struct rand_fill {
    void *out;
    uint64_t count;
    uint64_t seed;
    double mean, deviation; /* of the normal distribution; `mean` is lambda for Poisson */
    uint32_t counter;       /* 1 + the index of the captured call's replay counter, or 0 */
    struct rand_place place;
};

/* Increments a replay counter. */
struct rand_replayed {
    uint32_t counter;
};

#endif
