/* stretches: for each time of lesson 09's report, what happened between the two readings of the
 * clock of which the time is the difference. The readings are found by comparing the time with the
 * differences of all readings; the host's calls between them, and the device's progress by the
 * second, are in the record. Judges nothing.
 *
 * This module uses the order of calls, readings and work, never a duration.
 */
#ifndef OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_STRETCHES_H
#define OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_STRETCHES_H

#include "grader/evidence/judge.h"
#include "grader/lessons/09_honest_timing/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMING_CLOCKED TIMING_EVENTS /* number of times taken with the clock; they come first */

/* The contract's names for the times: "first", "launch", ... */
extern const char *const timing_names[TIMING_COUNT];

struct stretch {
    bool found;
    uint32_t from, to;  /* indices of the two readings */
    struct phase phase; /* the part of the run between them */
    /* Records of the two readings, at whose lines a failure is reported. */
    struct trace_record from_at, at;

    size_t launches;                   /* kernels asked for */
    const struct trace_record *kernel; /* the first of them, or NULL */
    uint64_t bytes_in, bytes_out;      /* copied to the device, and from it */
    const struct trace_record *wait;   /* the first call that waits, or NULL */
    const struct trace_record
        *foreign; /* the first call that does not belong between them, or NULL */
    /* Earlier work that was still pending at the first reading, or NULL. */
    const struct trace_record *busy;
    /* Its own work that was still pending at the second, or NULL. */
    const struct trace_record *left;
};

struct stretches {
    const struct evidence *evidence;
    const struct timing_input *in;
    const struct timing_measured *out;
    struct phase measure;
    uint32_t readings; /* that the record has */
    struct phase reading[TIMING_READINGS];
    struct stretch of[TIMING_CLOCKED];
};

/* Fills in *stretches. False: the record has no phase of timing_measure. */
bool stretches_look(const struct evidence *evidence, struct stretches *stretches);

/* Returns true when the time is a difference of two readings cut to whole microseconds. */
bool stretches_cut_off(const struct stretches *stretches, enum timing_which which);

/* Returns true when the time is `factor` times a difference of two readings. */
bool stretches_off_by(const struct stretches *stretches, enum timing_which which, double factor);

/* Returns the first kernel that was asked for in timing_measure; NULL: none. */
const struct trace_record *stretches_first_kernel(const struct stretches *stretches);

/* Returns true for a call that only queries an error. */
bool stretches_asks_for_an_error(const struct trace_record *call);

/* Returns nanoseconds by the device's own record, from the first start to the last end of the
 * operations asked for in the stretch; 0: not known. */
uint64_t stretches_device_ns(const struct stretches *stretches, const struct stretch *stretch);

#endif
