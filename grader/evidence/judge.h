/* judge: what a lesson looks like to the grader, on the parent's side: its runs (processes to
 * start), its checks (pure functions of the evidence that a run left behind), and the words in
 * which a check says what is wrong.
 *
 * A judge never touches CUDA, never starts anything, keeps no state between calls, and trusts
 * nothing that it finds in evidence->output or evidence->trace: the student's code could write
 * there. It compares with evidence->input, which is the parent's own copy.
 *
 * grader/lessons/NN_name/judge.c defines one `const struct lesson lesson_NN_name`, and
 * grader/lessons/table.def lists it.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_JUDGE_H
#define OVERLAP_GRADER_EVIDENCE_JUDGE_H

#include "grader/base/random.h"
#include "grader/child/drive.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a lesson ----------------------------------------------------------------------------- */

/* Given to a run plan's prepare. */
struct run_input {
    enum drive_device device; /* small sizes on the emulator, the real constants on a GPU */
    const char *run;          /* the plan's name */
    struct random_source *random;
    void *data; /* set by run_input_allocate; freed by the grader */
    size_t size;
    size_t output_size; /* set by prepare: bytes of output that the drive may write */
};

/* Makes the input buffer: `size` bytes of zeros, 64-byte aligned. Call it once. NULL: no memory. */
void *run_input_allocate(struct run_input *input, size_t size);

enum run_flag {
    RUN_ON_EMULATOR = 1u << 0,
    RUN_ON_GPU = 1u << 1,
    RUN_ON_BOTH = RUN_ON_EMULATOR | RUN_ON_GPU,
    /* On the emulator, the run is repeated, with fresh inputs, with operations run as late and as
     * early as CUDA allows and in random orders between (latest, earliest, random:1, random:2). Its
     * checks must hold in each. Without the flag: latest only. */
    RUN_IN_EVERY_ORDER = 1u << 2,
    /* The reference solution is run in turn with the submission, with the same inputs, several
     * times on a GPU, once on the emulator (whose clock is exact). See verdict_time_ratio. */
    RUN_TIMED = 1u << 3,
    /* On the emulator only. The run is made as it is, and then, with the same inputs, once for each
     * call in the phases DRIVE_INJECTIONS that can fail, with that call failing:
     * evidence->injections. (Of very many calls it is a choice: grader/evidence/injections.h.) */
    RUN_INJECTIONS = 1u << 4,
};

/* One process to start. A lesson's list of them ends with a row whose name is NULL. */
struct run_plan {
    const char *name; /* "values": reaches the drive as drive->run */
    unsigned flags;   /* enum run_flag */
    /* Draws the inputs and says how large the output is. Returns 0, or -1 (no memory). */
    int (*prepare)(struct run_input *input);
    double seconds;         /* wall time allowed; 0: 20 s */
    uint64_t memory;        /* resident bytes allowed on the host, in all processes; 0: 2 GiB */
    unsigned processes;     /* processes allowed at one time, the runner included; 0: 1 */
    uint32_t trace_records; /* room in the trace; 0: TRACE_DEFAULT_CAPACITY */
};

struct evidence;
struct verdict;

enum check_flag {
    /* An order check: with a GPU it is judged there and on the emulator as well. */
    CHECK_ORDER = 1u << 0,
    /* Only the emulator can see it; with --device=gpu it is skipped, with that reason. */
    CHECK_EMULATOR_ONLY = 1u << 1,
    /* Only a GPU can show it; without one it is skipped, with that reason. */
    CHECK_GPU_ONLY = 1u << 2,
    /* Values only: on the emulator it is judged where every operation runs as early as it may. With
     * its work done at once, even a submission that does not wait finds its results, so what is
     * wrong there is a value and not the order. */
    CHECK_EARLIEST = 1u << 3,
};

/* One test, printed as Suite.Name. The list ends with a row whose name is NULL. */
struct check {
    const char *name;  /* CamelCase: a sentence that is true of a right submission */
    const char *run;   /* which run plan's evidence it reads */
    unsigned flags;    /* enum check_flag */
    const char *title; /* one line for people: what it proves */
    /* Called once for each evidence that the flags select (device, order); stops at the first that
     * fails. Called only for evidence that ended well: the grader itself reports the others.
     * Says nothing: passed. */
    void (*judge)(struct verdict *verdict, const struct evidence *evidence);
};

struct lesson {
    unsigned number;      /* 2 */
    const char *folder;   /* "02_streams": in lessons/, solutions/, grader/lessons/ */
    const char *suite;    /* "Streams" */
    const char *function; /* the student's main function: failures without a better line go there */
    const char *const *files; /* what the student writes: {"streams.c", NULL}; .c or .cu */
    /* Compiled with the student's files each time they change, because they include them (a CUDA
     * template); file names in grader/lessons/<folder>/. NULL: none. They see the student's folder
     * in their include path, before lessons/<folder>. */
    const char *const *drive_sources;
    /* Static libraries linked in, declared with overlap_part() (cmake/lesson.cmake), by its NAME:
     * the drive and the shared kernels: {"02_streams_drive", "multi_kernel", NULL}. */
    const char *const *parts;
    const char *const *libraries; /* of the system's, linked in: {"png", NULL}. NULL: none */
    const struct run_plan *runs;
    const struct check *checks;
};

/* ---- evidence ----------------------------------------------------------------------------- */

/* How a run ended. A judge only ever sees ENDED_WELL. */
enum evidence_ending {
    ENDED_WELL = 0,
    ENDED_NOT_STARTED,  /* lesson.so could not be loaded, or the system refused; `why` */
    ENDED_EARLY,        /* left with exit status `code` before the drive came to its end */
    ENDED_DRIVE,        /* the drive gave up (code) */
    ENDED_SIGNAL,       /* killed by `signal` of its own making: segmentation fault, abort */
    ENDED_TIME,         /* longer than allowed; killed */
    ENDED_MEMORY,       /* more memory than allowed; killed */
    ENDED_PROCESSES,    /* more processes than allowed; killed */
    ENDED_OUTPUT,       /* printed more than allowed; killed */
    ENDED_LEFT_RUNNING, /* came to its end, but left `left_running` processes; killed */
    ENDED_UNWATCHED,    /* it killed the process that held it to its limits; all killed */
    ENDED_REACHED_UP,   /* it called `why` on a process above it, which was refused */
    ENDED_COUNT
};

struct sources; /* debug information of a lesson.so: grader/evidence/sources.h */
struct evidence_index;

struct evidence {
    const struct lesson *lesson;
    const struct run_plan *plan;
    enum drive_device device;
    const char *order; /* "latest", "earliest", "random:1"; NULL on a GPU */
    bool reference;    /* of the reference solution, not of the submission */

    enum evidence_ending ending;
    int code;
    int signal;
    unsigned left_running;
    char why[256];
    double seconds;         /* wall time by the parent's clock, start-up of the process included */
    uint64_t peak_bytes;    /* most resident memory seen */
    double allowed_seconds; /* the plan's limits, defaults filled in */
    uint64_t allowed_memory;
    unsigned allowed_processes;
    const char *shown_folder; /* where the student's files are, as the student types it */
    /* Of a crash, or of where the program was when its time was up: the stack, innermost first, as
     * addresses in the runner, and the address that was touched. */
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
    struct evidence_index *index;  /* grader/evidence/evidence.c's */
    const struct sources *sources; /* for evidence_place */
    uint64_t base;                 /* where lesson.so was loaded in the runner */

    /* RUN_TIMED: this run and its repetitions, and the reference's runs with the same inputs, pair
     * by pair. Otherwise repeats = this one, count 1, references NULL. */
    const struct evidence *repeats;
    const struct evidence *references;
    size_t repeat_count;

    /* RUN_INJECTIONS: the runs in which a call was made to fail (evidence_made_to_fail), however
     * they ended; after one that did not end well no more are made. Otherwise none. */
    const struct evidence *injections;
    size_t injection_count;
    size_t fault_calls; /* how many calls could have been chosen */
};

/* A place in source code. */
struct place {
    char file[256]; /* as the student knows it: "lessons/02_streams/streams.c" */
    unsigned line;  /* 1-based; 0: unknown */
    char function[64];
    bool submission; /* true: in a file that the student wrote (not drive, not a kernel of ours) */
};

/* The innermost line of the submission's that led to the record: its own, or, where that lies in a
 * header or in one of ours, the one that called; of a finding also one that its sentence names. */
bool evidence_student_place(const struct evidence *evidence, const struct trace_record *record,
                            struct place *place);

/* Where `caller` (a record's field) is. Returns true when it is known. */
bool evidence_place(const struct evidence *evidence, const struct trace_record *record,
                    struct place *place);
/* Where the student's function of that name begins. */
bool evidence_function(const struct evidence *evidence, const char *function, struct place *place);
/* The record was caused by a line of the student's own files. */
bool evidence_by_submission(const struct evidence *evidence, const struct trace_record *record);

/* A phase of the drive. Operations belong to the phase in which they were asked for, whenever the
 * device runs them. */
struct phase {
    size_t first, last;        /* indices of the two marks in trace.records */
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; never compared with a device's clock */
};
/* Finds the index-th phase of that name. False: the drive never began or never ended it. */
bool evidence_phase(const struct evidence *evidence, const char *name, uint32_t index,
                    struct phase *phase);

/* Which records one asks for; a field left 0 or NULL matches all. */
struct query {
    const struct phase *phase; /* only those asked for in it */
    uint32_t kind;             /* TRACE_CALL, TRACE_OPERATION, TRACE_CREATE ... */
    uint32_t what;             /* TRACE_KERNEL, TRACE_COPY, TRACE_STREAM ... */
    uint32_t from, to;         /* copies: TRACE_PINNED, TRACE_DEVICE ... */
    const char *name;          /* the API's name, or the kernel's; "cudaMemcpy*": a prefix */
    uint64_t stream, context, object;
    uint32_t process, thread;
    bool student; /* only those that the student's own files caused (evidence_by_submission) */
};
/* The next record that matches after `after` (NULL: the first), or NULL. */
const struct trace_record *evidence_next(const struct evidence *evidence, const struct query *query,
                                         const struct trace_record *after);
size_t evidence_count(const struct evidence *evidence, const struct query *query);
/* The CALL that asked for this OPERATION, or made or ended this object, or NULL. */
const struct trace_record *evidence_call_of(const struct evidence *evidence,
                                            const struct trace_record *record);
/* The first OPERATION that this CALL asked for, or NULL. */
const struct trace_record *evidence_operation_of(const struct evidence *evidence,
                                                 const struct trace_record *call);
/* The CREATE of the object that the record names (stream, object...), or NULL. */
const struct trace_record *evidence_creation(const struct evidence *evidence, uint32_t process,
                                             uint32_t what, uint64_t object);
/* The CALL that the device made to fail in this run, or NULL. */
const struct trace_record *evidence_made_to_fail(const struct evidence *evidence);
/* The value of a TRACE_SETTING (its text), or NULL. */
const char *evidence_setting(const struct evidence *evidence, const char *key);

/* Device time spent on two classes of operations, by the device's clock: merged intervals. */
struct overlap {
    uint64_t a_ns, b_ns; /* time in which at least one of the class was running */
    uint64_t both_ns;    /* at least one of each (for a == b: at least two) */
    uint64_t a_sum_ns;   /* sum of the durations: a_sum / a = how many at once, on average */
    uint64_t b_sum_ns;
    uint64_t span_ns; /* first start to last end of either */
    size_t a_count, b_count;
};
/* `a` and `b` are queries for operations; b NULL: the class a against itself. */
struct overlap evidence_overlap(const struct evidence *evidence, const struct query *a,
                                const struct query *b);

/* ---- verdicts ----------------------------------------------------------------------------- */

/* A failure has three parts: what happened (one or two sentences), why it matters, what to look at
 * next. Begin it with one of verdict_fail*, then add verdict_why and verdict_hint; further
 * verdict_fail* begin further failures (at most 8 are kept; do not list what has one cause).
 * Students' text never goes into a format. */

/* At the line that caused `record` (NULL, or a line that is not the student's: at the line where
 * the lesson's function begins). */
__attribute__((format(printf, 4, 5))) void verdict_fail(struct verdict *verdict,
                                                        const struct evidence *evidence,
                                                        const struct trace_record *record,
                                                        const char *format, ...);
/* At the line where the student's function `function` begins. */
__attribute__((format(printf, 4, 5))) void verdict_fail_in(struct verdict *verdict,
                                                           const struct evidence *evidence,
                                                           const char *function, const char *format,
                                                           ...);
/* At a known place. */
__attribute__((format(printf, 3, 4))) void
verdict_fail_at(struct verdict *verdict, const struct place *place, const char *format, ...);
__attribute__((format(printf, 2, 3))) void verdict_why(struct verdict *verdict, const char *format,
                                                       ...);
__attribute__((format(printf, 2, 3))) void verdict_hint(struct verdict *verdict, const char *format,
                                                        ...);

/* What kind of finding the failure is: a name in trace/findings.def, or "leak". The reports
 * give it as the failure's type. */
void verdict_kind(struct verdict *verdict, const char *kind);

/* The check cannot be judged here: "the kernel's time cannot be seen: ...". */
__attribute__((format(printf, 2, 3))) void verdict_skip(struct verdict *verdict, const char *format,
                                                        ...);

/* A figure for people, printed under the check whether it passes or not, and a property in the
 * reports: verdict_figure(v, "ratio", "%.2f times the reference; at most 1.5", ratio). `key` is an
 * identifier. */
__attribute__((format(printf, 3, 4))) void verdict_figure(struct verdict *verdict, const char *key,
                                                          const char *format, ...);

bool verdict_failed(const struct verdict *verdict);

/* ---- whole checks that every lesson can use ------------------------------------------------- */

/* Fails for each kind of finding that the device reported, with its line and sentence. `names` is
 * a NULL-ended list of the findings to look at (TRACE_FINDING's name); NULL: all of them. */
void verdict_findings(struct verdict *verdict, const struct evidence *evidence,
                      const char *const *names);

/* The same in a run in which a call was made to fail: `before` comes first in each. */
void verdict_findings_after(struct verdict *verdict, const struct evidence *evidence,
                            const char *const *names, const char *before);

/* Fails for every object that the student's code made in the phase (NULL: the whole run) and that
 * did not end before the phase did, at the line that made it; among them threads that were neither
 * joined nor detached, or were detached and made a call after the phase. */
void verdict_leaks(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase);

/* The same in a run in which a call was made to fail: `before`, a sentence, comes first in each. */
void verdict_leaks_after(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, const char *before);

/* Fails when the student made a call that returned an error, in the phase (NULL: the whole run).
 * cudaErrorNotReady and CUDA_ERROR_NOT_READY are answers, not errors. */
void verdict_calls_succeed(struct verdict *verdict, const struct evidence *evidence,
                           const struct phase *phase);

/* For RUN_TIMED: the median time of the phase in the submission's runs may be at most `limit` times
 * the reference's. The clock: on the emulator the virtual time from the first start to the last end
 * of the calls and operations in the phase; on a GPU CLOCK_MONOTONIC between the marks. Adds the
 * figures; says "too noisy to say" as a skip. Its failure has no hint: add one. */
void verdict_time_ratio(struct verdict *verdict, const struct evidence *evidence, const char *phase,
                        double limit);

/* The index of the first element in which output differs from expected, or -1. */
ptrdiff_t judge_first_difference(const void *output, const void *expected, size_t count,
                                 size_t element_size);

#endif
