/* run_evidence: the data that one run of a submission left behind, and how the run ended. A judge
 * only reads it, and trusts nothing in `output` or `trace`, because the student's code could write
 * there. The judge compares them with `input`, which is the parent's own copy.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_RUN_EVIDENCE_H
#define OVERLAP_GRADER_EVIDENCE_RUN_EVIDENCE_H

#include "grader/child/control.h"
#include "grader/evidence/lesson.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a run ended. A judge only ever sees ENDED_WELL. */
enum evidence_ending {
    ENDED_WELL = 0,
    ENDED_NOT_STARTED,  /* lesson.so could not be loaded, or the system refused; `why` */
    ENDED_EARLY,        /* exited with status `code` before the drive came to its end */
    ENDED_DRIVE,        /* the drive gave up and returned `code` */
    ENDED_SIGNAL,       /* killed by `signal` of its own making: segmentation fault, abort */
    ENDED_TIME,         /* ran longer than allowed; killed */
    ENDED_MEMORY,       /* used more memory than allowed; killed */
    ENDED_PROCESSES,    /* had more processes than allowed; killed */
    ENDED_OUTPUT,       /* printed more than allowed; killed */
    ENDED_FILES,        /* wrote more files, or more into them, than allowed; killed */
    ENDED_LEFT_RUNNING, /* came to its end, but left `left_running` processes; they were killed */
    ENDED_UNWATCHED,    /* killed its supervisor (grader/base/process.h); all were killed */
    ENDED_REACHED_UP,   /* made the system call `why` on a process above it; the call was refused */
    ENDED_TYPED,        /* tried to put characters into a terminal's input; it was refused */
    ENDED_NOT_MADE,     /* was not started, because another run (`after`) did not end */
    ENDED_COUNT
};

/* Where in input and output the parts of a run in rounds are (grader/evidence/rounds.h). */
struct evidence_rounds {
    unsigned count; /* 0: a run without rounds */
    struct control_round round[CONTROL_ROUNDS];
};

struct sources; /* debug information of a lesson.so: grader/evidence/sources.h */
struct evidence_index;

struct evidence {
    const struct lesson *lesson;
    const struct run_plan *plan;
    enum drive_device device;
    const char *order; /* "latest", "earliest", "random:1"; NULL on a GPU */
    bool reference;    /* a run of the reference solution, not of the submission */

    enum evidence_ending ending;
    int code;
    int signal;
    unsigned left_running;
    char why[256];
    double seconds;         /* wall time by the parent's clock, including process start */
    double own_seconds;     /* time by the run's own clock: grader/base/process.h */
    uint64_t peak_bytes;    /* largest resident memory seen */
    double allowed_seconds; /* the plan's limits, with defaults filled in */
    uint64_t allowed_memory;
    unsigned allowed_processes;
    /* The first run of the lesson that did not end, because of which this run was given less time
     * or was not made; NULL: none did before this run. */
    const struct run_plan *after;
    const char *shown_folder; /* where the student's files are, as the student types it */
    /* For a crash, or where the program was when its time was up: the stack, innermost frame first,
     * as addresses in the runner, and the address that was accessed. */
    uint64_t frames[32];
    size_t frame_count;
    uint64_t fault;

    const void *input; /* the parent's own copy */
    size_t input_size;
    const void *output; /* a copy, taken when all the run's processes had ended */
    size_t output_size;
    const char *printed; /* stdout and stderr together, ended by a 0 */
    size_t printed_size;

    struct trace trace;
    bool trace_sound; /* false: trace is empty, trace_why says why */
    char trace_why[256];
    struct evidence_index *index;  /* belongs to grader/evidence/evidence.c */
    const struct sources *sources; /* for evidence_place */
    uint64_t base;                 /* where lesson.so was loaded in the runner */

    /* RUN_TIMED on a GPU: this evidence is one round of several in its process; the duration of the
     * timed phase by the parent's own clock; 0: not known. */
    double clocked;
    bool unrecorded; /* the recorder rested: the record has times, but not what was done */
    bool between;    /* the process made calls between two rounds, while others were timed */
    struct evidence_rounds rounds; /* set in the whole, before it is split */

    /* RUN_TIMED: this run and its repetitions, and the reference's runs with the same inputs, pair
     * by pair. Otherwise repeats points to this evidence, repeat_count is 1 and references is
     * NULL. */
    const struct evidence *repeats;
    const struct evidence *references;
    size_t repeat_count;

    /* RUN_INJECTIONS: the runs in which a call was made to fail (evidence_made_to_fail), however
     * they ended; after one that did not end well no more are made. Otherwise there are none. */
    const struct evidence *injections;
    size_t injection_count;
    size_t fault_calls; /* number of calls that could have been chosen */
};

#endif
