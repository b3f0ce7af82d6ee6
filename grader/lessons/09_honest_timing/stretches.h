/* stretches: what lay between the two readings of the clock that make up each time of lesson 09's
 * report. A time is found again among the differences of all readings; what the host called between
 * the two, and what the device had done by the second, is in the record. Judges nothing.
 *
 * It goes by the order of calls, readings and work, never by how long anything took.
 */
#ifndef OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_STRETCHES_H
#define OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_STRETCHES_H

#include "grader/evidence/judge.h"
#include "grader/lessons/09_honest_timing/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMING_CLOCKED TIMING_EVENTS /* so many times are taken with the clock, the first ones */

/* The contract's names for the times: "first", "launch", ... */
extern const char *const timing_names[TIMING_COUNT];

struct stretch {
    bool found;
    uint32_t from, to;               /* the readings */
    struct phase phase;              /* what lies between them */
    struct trace_record from_at, at; /* at whose lines a failure points to: the two readings */

    size_t launches;                    /* kernels asked for */
    const struct trace_record *kernel;  /* the first of them, or NULL */
    uint64_t bytes_in, bytes_out;       /* copied to the device, and from it */
    const struct trace_record *wait;    /* the first call that waits, or NULL */
    const struct trace_record *foreign; /* the first call that has no place in it, or NULL */
    const struct trace_record
        *busy; /* work of before, that was left at the first reading, or NULL */
    const struct trace_record *left; /* work of its own, that was left at the second, or NULL */
};

struct stretches {
    const struct evidence *evidence;
    const struct timing_input *in;
    const struct timing_measured *out;
    struct phase measure;
    uint32_t readings; /* that are known */
    struct phase reading[TIMING_READINGS];
    struct stretch of[TIMING_CLOCKED];
};

/* False: the record has no phase of timing_measure. */
bool stretches_look(const struct evidence *evidence, struct stretches *stretches);

/* It is a difference of two readings in whole microseconds. */
bool stretches_cut_off(const struct stretches *stretches, enum timing_which which);

/* The time of the report that is `factor` times too large for a difference of two readings. */
bool stretches_off_by(const struct stretches *stretches, enum timing_which which, double factor);

/* The first kernel that was asked for in timing_measure; NULL: none. */
const struct trace_record *stretches_first_kernel(const struct stretches *stretches);

/* A call that asks what an error was, and changes nothing. */
bool stretches_asks_for_an_error(const struct trace_record *call);

/* Nanoseconds by the device's own record: from the first begin to the last end of what was asked
 * for in the stretch; 0: it does not say. */
uint64_t stretches_device_ns(const struct stretches *stretches, const struct stretch *stretch);

#endif
