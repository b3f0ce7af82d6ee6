/* exchange: the data that judge and drive of lesson 09 exchange: the number of floats, the seeds of
 * their values, the readings of the clock, the report, and a sample of the sums. C; no CUDA, no
 * pointers.
 */
#ifndef OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_EXCHANGE_H

#include "grader/lessons/values.h"

#include <stddef.h>
#include <stdint.h>

/* Every call of timing_add is in a phase TIMING_PHASE_ADD with its index, that of timing_measure in
 * TIMING_PHASE_MEASURE, index 0, both within DRIVE_INJECTIONS. What is timed against the reference
 * is in TIMING_PHASE_TIME, index 0, instead: `repeats` calls of timing_add, and a wait. Each of the
 * first TIMING_READINGS readings of the clock is a phase TIMING_PHASE_READING. */
#define TIMING_PHASE_ADD "add"
#define TIMING_PHASE_MEASURE "measure"
#define TIMING_PHASE_TIME "time"
#define TIMING_PHASE_READING "reading"
#define TIMING_ADDS 6
#define TIMING_READINGS 256
#define TIMING_SAMPLES 8192

/* In the order of struct timing_report. */
enum timing_which {
    TIMING_FIRST,
    TIMING_LAUNCH,
    TIMING_WAITED,
    TIMING_TRANSFERS,
    TIMING_EVENTS,
    TIMING_COUNT
};

/* a[i] is values_at(values_seed(seed, 0), i), b[i] is values_at(values_seed(seed, 1), i). */
struct timing_call {
    uint64_t n, seed;
    uint32_t again;   /* 1: made once more, while the runtime holds an error of the caller's */
    uint32_t repeats; /* 0: the call is not timed */
};

struct timing_input {
    uint32_t adds, measures; /* number of calls of each: measures is 0 or 1 */
    uint64_t zero;           /* offset that is added to the clock's readings */
    struct timing_call add[TIMING_ADDS], measure;
};

struct timing_added {
    int32_t status;     /* what the call returned */
    int32_t later;      /* the error returned when the drive waited for its work */
    uint32_t lost;      /* 1: not called, because a call before it had broken the context */
    int32_t remembered; /* what it returned then; 0 also where it was not made again */
    float samples[TIMING_SAMPLES];
};

struct timing_measured {
    int32_t status;
    uint32_t readings; /* number of readings of the clock */
    struct {
        uint64_t ns, caller; /* the reading, and the return address of its call */
    } reading[TIMING_READINGS];
    double microseconds[TIMING_COUNT];
    uint32_t includes[TIMING_COUNT];
    int32_t remembered; /* as above */
    float samples[TIMING_SAMPLES];
};

struct timing_output {
    struct timing_measured measured;
    struct timing_added added[TIMING_ADDS];
};

/* Return how many of n sums are sampled, and the index of the k-th sample: all sums, or the first
 * and the last sums, a quarter of the sample each, and evenly spaced ones between them. */
static inline size_t timing_samples(size_t n)
{
    return n < TIMING_SAMPLES ? n : TIMING_SAMPLES;
}

static inline size_t timing_sample(size_t n, size_t k)
{
    const size_t quarter = TIMING_SAMPLES / 4, half = TIMING_SAMPLES / 2;
    if (n <= TIMING_SAMPLES || k < quarter) return k;
    if (k >= TIMING_SAMPLES - quarter) return n - TIMING_SAMPLES + k;
    return quarter + (size_t)((uint64_t)(n - half) * (k - quarter) / half);
}

static inline float timing_sum(uint64_t seed, size_t i)
{
    return values_at(values_seed(seed, 0), i) + values_at(values_seed(seed, 1), i);
}

#endif
