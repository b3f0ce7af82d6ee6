/* What the judge hands to the drive of lesson 02, and what it gets back.
 *
 * With the real constants the arrays are 839 MB, so they do not travel: the judge hands over a
 * secret seed per array, both sides make the same numbers of it (values.h), and of large results a
 * digest comes back.
 */
#ifndef OVERLAP_GRADER_LESSONS_02_STREAMS_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_02_STREAMS_EXCHANGE_H

#include "grader/lessons/values.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STREAMS_LANES 200     /* at most */
#define STREAMS_ROUNDS 4      /* at most */
#define STREAMS_MANY 67       /* run "failures": more than who makes room for 64 has */
#define STREAMS_FULL_LANES 32 /* those behind them are tiny on the software device: */
#define STREAMS_TINY 32       /* so many floats at most */
#define STREAMS_BOTH_WAYS 8   /* copies each way, both ways at once */

struct streams_input_lane {
    uint64_t length; /* floats */
    uint64_t seed;
    uint64_t offset; /* of the first round's results in values, where they come back whole */
};

struct streams_input {
    uint32_t count;      /* of lanes */
    uint32_t rounds;     /* how often streams_run is called, with new arrays each time */
    uint32_t whole;      /* 1: results come back whole, 0: digests only */
    uint32_t impossible; /* run "failures": the lane that the device has no room for */
    uint32_t refused;    /* run "failures": the launch that is refused */
    uint32_t serial;     /* run "compare": so many lanes, from the first on, one after the other */
    uint64_t total;      /* floats of all lanes */
    double clearly[2];   /* run "compare": no further round where a round's time, in times of the
                            baseline's, is not between the two */
    struct streams_input_lane lanes[STREAMS_LANES];
};

struct streams_output {
    int32_t open, runs[STREAMS_ROUNDS], close; /* what the student's functions returned */
    uint32_t rounds;                           /* how often streams_run was called */
    uint32_t incomplete; /* lanes without host memory after streams_open succeeded */
    uint32_t busy;       /* streams with work left after streams_run, over all rounds */
    /* Run "failures". */
    int32_t open_failed, run_failed, run_untold, close_again;
    uint32_t kept;                 /* pointers that were not NULL after streams_open had failed */
    uint32_t kept_closed;          /* and after streams_close */
    uint32_t busy_failed;          /* streams with work left after streams_run had failed */
    int32_t breadth_first;         /* run "compare": the drive's own calls */
    uint64_t hosts[STREAMS_LANES]; /* where the lanes' host memory is */
    uint64_t digests[STREAMS_ROUNDS][STREAMS_LANES];
    float values[]; /* where whole: rounds times total floats */
};

/* Phases. */
#define STREAMS_PHASE_LIFE "life"           /* from before streams_open to after streams_close */
#define STREAMS_PHASE_OPEN "open"           /* 0: succeeds */
#define STREAMS_PHASE_OPEN_FAILS "no room"  /* streams_open with an impossible lane */
#define STREAMS_PHASE_RUN "streams"         /* streams_run; index: the round */
#define STREAMS_PHASE_RUN_FAILS "refused"   /* streams_run with a launch that is refused */
#define STREAMS_PHASE_RUN_UNTOLD "untold"   /* and one whose launcher answers with an error */
#define STREAMS_PHASE_CLOSE "close"         /* 0 and 1 */
#define STREAMS_PHASE_SERIAL "serial"       /* the drive's baseline: input->serial lanes in turn */
#define STREAMS_PHASE_CALIBRATE "calibrate" /* one array, each way twice, nothing beside it */
#define STREAMS_PHASE_BOTH_WAYS "both ways" /* one array, so often each way, both ways at once */
#define STREAMS_PHASE_BREADTH "breadth-first" /* the drive, in the student's lanes */

/* Floats, 4 PiB, and the lane's own length besides: cut to 32 bits, their size is the small one. */
#define STREAMS_TOO_MANY ((size_t)1 << 50)

#define STREAMS_UNTOLD_ERROR 701 /* cudaErrorLaunchOutOfResources */

/* The second call is given another kernel, which adds the element's mark twice. */
#define STREAMS_MARKS(round) ((round) == 1 ? 2u : 1u)

/* The digest of an array: elements go round so many chains, which do not wait for each other. */
#define STREAMS_CHAINS 32

struct streams_digest {
    uint64_t chains[STREAMS_CHAINS]; /* begin with zeros */
};

static inline uint64_t streams_mix(uint64_t chain, uint64_t bits)
{
    return (chain ^ bits) * 0x9e3779b97f4a7c15ull;
}

/* The next elements: STREAMS_CHAINS of them, or fewer at the array's end. */
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

/* All lanes' floats, in times of those that the baseline goes through. */
static inline double streams_of_serial(const struct streams_input *input)
{
    uint64_t gone_through = 0;
    for (uint32_t i = 0; i < input->serial; i++) gone_through += input->lanes[i].length;
    return (double)input->total / (double)gone_through;
}

#endif
