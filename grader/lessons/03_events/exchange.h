/* The data that the judge passes to the drive of lesson 03, and the drive's results.
 *
 * Task 0 is timed alone; tasks 1 .. few by one call of events_time_each, the `many` tasks after
 * them by another. The effect of a kernel on its array is checked in two windows, at the array's
 * head and tail.
 */
#ifndef OVERLAP_GRADER_LESSONS_03_EVENTS_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_03_EVENTS_EXCHANGE_H

#include "grader/lessons/values.h"

#include <stdint.h>

#define EVENTS_FEW 7 /* fewer than the device's 8 hardware queues */
#define EVENTS_MANY                                                                                \
    300 /* at most; the times of up to 100 are judged, which is fewer than the 128                 \
         * kernels that are resident at a time */
#define EVENTS_TASKS (1 + EVENTS_FEW + EVENTS_MANY)
#define EVENTS_WINDOW 64 /* floats; arrays are at least two of them long */
#define EVENTS_SETS 4    /* of numbers for events_statistics */
#define EVENTS_NUMBERS 200

struct events_input_task {
    uint64_t length; /* floats */
    uint64_t seed;   /* element i is values_at(seed, i) within the windows, and 0 between them */
};

struct events_input_set {
    uint32_t count;
    float numbers[EVENTS_NUMBERS];
};

struct events_input {
    uint32_t many;    /* tasks of the second events_time_each */
    uint32_t refused; /* run "failures": the launch of events_time_each that is refused */
    struct events_input_task tasks[EVENTS_TASKS];
    struct events_input_set sets[EVENTS_SETS];
};

/* What events_time_one wrote into its struct. */
struct events_output_one {
    int32_t code;
    float milliseconds;
    int32_t start_before, end_before, start_after, end_after;
};

struct events_output_each {
    int32_t code;
    uint32_t busy; /* streams with pending work on return */
    float milliseconds[EVENTS_MANY];
};

struct events_output_statistics {
    int32_t code;
    int32_t reserved;
    double mean, deviation;
};

struct events_output {
    struct events_output_one one;
    struct events_output_each each[2]; /* few, many */
    /* Run "failures". */
    struct events_output_one one_failed, one_untold, one_behind;
    struct events_output_each each_failed, each_untold;
    int32_t each_of_none, statistics_of_none;
    struct events_output_statistics sets[EVENTS_SETS];
    float windows[EVENTS_TASKS][2][EVENTS_WINDOW];
};

/* Phases. */
#define EVENTS_PHASE_ALL "all" /* encloses "one" and both of "each" */
#define EVENTS_PHASE_ONE "one"
#define EVENTS_PHASE_EACH "each" /* 0: few, 1: many */
#define EVENTS_PHASE_ONE_FAILS "one, refused"
#define EVENTS_PHASE_EACH_FAILS "each, refused"
#define EVENTS_PHASE_ONE_BEHIND "one, behind" /* after other work in its stream */
#define EVENTS_PHASE_ONE_UNTOLD "one, untold" /* the launcher returns an error */
#define EVENTS_PHASE_EACH_UNTOLD "each, untold"
#define EVENTS_PHASE_STATISTICS "statistics"
#define EVENTS_PHASE_STATISTICS_OF_NONE "statistics of none"

#define EVENTS_UNTOLD_ERROR 701 /* cudaErrorLaunchOutOfResources, which no call of CUDA's gave */

#endif
