/* The data that the judge passes to the drive of lesson 02, and the drive's results.
 *
 * With the real constants the arrays have 839 MB, so they are not passed: the judge passes a secret
 * seed per array, both sides compute the same numbers from it (values.h), and of large results the
 * drive returns a digest.
 */
#ifndef OVERLAP_GRADER_LESSONS_02_STREAMS_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_02_STREAMS_EXCHANGE_H

#include "grader/lessons/values.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STREAMS_LANES 200     /* at most */
#define STREAMS_ROUNDS 4      /* at most */
#define STREAMS_MANY 67       /* run "failures": more than a table of 64 entries holds */
#define STREAMS_FULL_LANES 32 /* on the software device the lanes after these are tiny: */
#define STREAMS_TINY 32       /* at most this many floats */
#define STREAMS_BOTH_WAYS 8   /* copies in each direction, both directions at once */

struct streams_input_lane {
    uint64_t length; /* floats */
    uint64_t seed;
    uint64_t offset; /* where the lane's results of the first round begin in `values`, if returned
                        whole */
};

struct streams_input {
    uint32_t count;      /* of lanes */
    uint32_t rounds;     /* calls of streams_run, each with new arrays */
    uint32_t whole;      /* 1: whole results are returned, 0: digests only */
    uint32_t impossible; /* run "failures": the lane that is too large for the device */
    uint32_t refused;    /* run "failures": the launch that is refused */
    uint32_t serial; /* run "compare": number of lanes, from the first on, in the serial baseline */
    uint64_t total;  /* floats of all lanes */
    double clearly[2]; /* run "compare": no further round once a round's time, as a multiple of the
                          baseline's, is outside these limits */
    struct streams_input_lane lanes[STREAMS_LANES];
};

struct streams_output {
    int32_t open, runs[STREAMS_ROUNDS], close; /* what the student's functions returned */
    uint32_t rounds;                           /* calls of streams_run */
    uint32_t incomplete; /* lanes without host memory although streams_open succeeded */
    uint32_t busy;       /* streams with pending work after streams_run, over all rounds */
    /* Run "failures". */
    int32_t open_failed, run_failed, run_untold, close_again;
    uint32_t kept;                 /* pointers that were not NULL after streams_open had failed */
    uint32_t kept_closed;          /* the same after streams_close */
    uint32_t busy_failed;          /* streams with pending work after streams_run had failed */
    int32_t breadth_first;         /* run "compare": the drive's own calls */
    uint64_t hosts[STREAMS_LANES]; /* addresses of the lanes' host memory */
    uint64_t digests[STREAMS_ROUNDS][STREAMS_LANES];
    float values[]; /* whole results: rounds times total floats */
};

/* Phases. */
#define STREAMS_PHASE_LIFE "life"          /* from before streams_open to after streams_close */
#define STREAMS_PHASE_OPEN "open"          /* 0: succeeds */
#define STREAMS_PHASE_OPEN_FAILS "no room" /* streams_open with an impossible lane */
#define STREAMS_PHASE_RUN "streams"        /* streams_run; index: the round */
#define STREAMS_PHASE_RUN_FAILS "refused"  /* streams_run with a launch that is refused */
#define STREAMS_PHASE_RUN_UNTOLD "untold"  /* the same, with a launcher that returns an error */
#define STREAMS_PHASE_CLOSE "close"        /* 0 and 1 */
/* The drive's baseline: input->serial lanes, one after another. */
#define STREAMS_PHASE_SERIAL "serial"
/* One array, each way twice, with nothing else running. */
#define STREAMS_PHASE_CALIBRATE "calibrate"
/* One array, STREAMS_BOTH_WAYS times each way, both at once. */
#define STREAMS_PHASE_BOTH_WAYS "both ways"
#define STREAMS_PHASE_BREADTH "breadth-first" /* the drive's own calls, on the student's lanes */

/* Added to the lane's length: floats of 4 PiB. With sizes cut to 32 bits only the lane's own length
 * is left. */
#define STREAMS_TOO_MANY ((size_t)1 << 50)

#define STREAMS_UNTOLD_ERROR 701 /* cudaErrorLaunchOutOfResources */

/* The second call gets another kernel, which adds twice the element's mark. */
#define STREAMS_MARKS(round) ((round) == 1 ? 2u : 1u)

/* The digest of an array: elements are distributed over this many chains, which can be computed in
 * parallel. */
#define STREAMS_CHAINS 32

struct streams_digest {
    uint64_t chains[STREAMS_CHAINS]; /* begin with zeros */
};

static inline uint64_t streams_mix(uint64_t chain, uint64_t bits)
{
    return (chain ^ bits) * 0x9e3779b97f4a7c15ull;
}

/* Adds the next elements: STREAMS_CHAINS, or fewer at the array's end. */
static inline void streams_digest_add(struct streams_digest *digest, const float *values,
                                      size_t count)
{
    uint32_t bits[STREAMS_CHAINS] = {0};
    memcpy(bits, values, count * sizeof *bits);
    for (size_t i = 0; i < STREAMS_CHAINS; i++)
        digest->chains[i] = streams_mix(digest->chains[i] + 1, bits[i]);
}

static inline uint64_t streams_digest_end(const struct streams_digest *digest)
{
    uint64_t end = 0;
    for (size_t i = 0; i < STREAMS_CHAINS; i++) end = streams_mix(end + 1, digest->chains[i]);
    return end;
}

/* Returns the floats of all lanes divided by the floats of the baseline's lanes. */
static inline double streams_of_serial(const struct streams_input *input)
{
    uint64_t gone_through = 0;
    for (uint32_t i = 0; i < input->serial; i++) gone_through += input->lanes[i].length;
    return (double)input->total / (double)gone_through;
}

#endif
