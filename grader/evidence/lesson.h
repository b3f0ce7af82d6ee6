/* lesson: the description of a lesson for the grader: its runs (processes to start), its checks
 * (pure functions of the evidence that a run left behind), and its files. Plain data: nothing here
 * starts, reads or judges anything.
 *
 * grader/lessons/NN_name/judge.c defines one `const struct lesson lesson_NN_name`, and
 * grader/lessons/table.def lists it.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_LESSON_H
#define OVERLAP_GRADER_EVIDENCE_LESSON_H

#include "grader/base/random.h"
#include "grader/child/drive.h"
#include "grader/evidence/thresholds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The argument of a run plan's prepare callback. */
struct run_input {
    enum drive_device device; /* small sizes on the emulator, the real constants on a GPU */
    const char *run;          /* the plan's name */
    struct random_source *random;
    unsigned gpus; /* how many GPUs the program sees; 0: none, or it is not known */
    void *data;    /* set by run_input_allocate; freed by the grader */
    size_t size;
    size_t output_size; /* set by prepare: bytes of output that the drive may write */
    /* Set by prepare where the run depends on which devices there are. On the software device: the
     * value of OVERLAP_DEVICES; empty: one device. With RUN_OPENCL: see opencl/layer.h. */
    char devices[160];
    bool chooses; /* the program sees only the devices in `visible` (CUDA_VISIBLE_DEVICES) */
    char visible[160];
};

/* Allocates the input buffer: `size` bytes of zeros, 64-byte aligned. Call it once. NULL: no
 * memory. */
void *run_input_allocate(struct run_input *input, size_t size);

enum run_flag {
    RUN_ON_EMULATOR = 1u << 0,
    RUN_ON_GPU = 1u << 1,
    RUN_ON_BOTH = RUN_ON_EMULATOR | RUN_ON_GPU,
    /* On the emulator, the run is repeated, with fresh inputs, in several orders: operations run as
     * late and as early as CUDA allows, and in random orders between (latest, earliest, random:1,
     * random:2). The checks must hold in each order. Without the flag: latest only. */
    RUN_IN_EVERY_ORDER = 1u << 2,
    /* The reference solution runs in turn with the submission, with the same inputs: once on the
     * emulator, whose clock is exact; on a GPU in rounds (grader/run/turns.h): one process calls
     * drive_main several times, each time with fresh inputs. Needs `phase`. See
     * verdict_time_ratio. */
    RUN_TIMED = 1u << 3,
    /* On the emulator only. The run is made once without failures, and then, with the same inputs,
     * once for each call in the phases DRIVE_INJECTIONS that can fail, with that call failing:
     * evidence->injections. (Of very many calls some are chosen: grader/evidence/injections.h.) */
    RUN_INJECTIONS = 1u << 4,
    /* On a GPU nothing else runs at the same time: the checks read the device's own times. */
    RUN_ALONE = 1u << 5,
    /* With RUN_TIMED: the student's function makes threads, so the process is not bound to one
     * processor. */
    RUN_THREADS = 1u << 6,
    /* The run needs much of the device's memory: no other submission's RUN_LARGE run takes place at
     * the same time. On a GPU without enough memory for all such runs of one submission, nothing
     * else runs beside one. */
    RUN_LARGE = 1u << 7,
    /* The run uses OpenCL and no CUDA. The layer of opencl/ records it: in front of PoCL in place
     * of the software device, in front of NVIDIA's OpenCL on a GPU. PoCL starts the linker. */
    RUN_OPENCL = 1u << 8,
    /* With RUN_INJECTIONS: of the calls that a line makes in a phase only the first and the last
     * are made to fail. For a check that asks which of several calls fails, not what follows each
     * failure. */
    RUN_ENDS = 1u << 9,
    /* With RUN_TIMED: the recorder's cost is negligible beside the run's few, long calls, so it
     * need not rest in most rounds, and fewer rounds suffice. */
    RUN_RECORDED = 1u << 10,
};

/* One process to start. A lesson's list of plans ends with a row whose name is NULL. */
struct run_plan {
    const char *name; /* "values": reaches the drive as drive->run */
    unsigned flags;   /* enum run_flag */
    /* Draws the inputs and says how large the output is. Returns 0, or -1 (no memory). */
    int (*prepare)(struct run_input *input);
    /* Time limit, by the run's own clock (grader/base/process.h); 0: 20 s. On the emulator at most
     * 5 s. */
    double seconds;
    uint64_t memory;    /* resident bytes allowed on the host, all processes together; 0: 2 GiB */
    unsigned processes; /* processes allowed at one time, the runner included; 0: 1 */
    uint32_t trace_records;            /* room in the trace; 0: TRACE_DEFAULT_CAPACITY */
    const char *phase;                 /* RUN_TIMED: the phase that is timed (index 0) */
    const struct threshold *threshold; /* RUN_TIMED: how long it may take */
    /* Hints for a run that was stopped by a bad access, or by the time limit; NULL: the general
     * hint. */
    const char *crash_hint, *time_hint;
};

struct evidence;
struct verdict;

enum check_flag {
    /* An order check: where there is a GPU it is judged on the GPU and on the emulator as well. */
    CHECK_ORDER = 1u << 0,
    /* Only the emulator can show what it checks; with --device=gpu it is skipped, with that
     * reason. */
    CHECK_EMULATOR_ONLY = 1u << 1,
    /* Only a GPU can show what it checks; without one it is skipped, with that reason. */
    CHECK_GPU_ONLY = 1u << 2,
    /* Checks values only: on the emulator it is judged in the earliest order. There the work is
     * done at once, so even a submission that does not wait finds its results, and a failure is due
     * to a wrong value and not to the order. */
    CHECK_EARLIEST = 1u << 3,
};

/* One test, printed as Suite.Name. The list ends with a row whose name is NULL. */
struct check {
    const char *name;  /* CamelCase: a sentence that is true of a right submission */
    const char *run;   /* which run plan's evidence it reads */
    unsigned flags;    /* enum check_flag */
    const char *title; /* one line for people: what it proves */
    /* Called once for each evidence that the flags select (device, order), up to the first that
     * fails, and only for evidence that ended well; the grader itself reports the others. A verdict
     * left untouched means passed. */
    void (*judge)(struct verdict *verdict, const struct evidence *evidence);
};

/* Help for a student who is stuck on a check, in three steps: where to look, the idea, nearly the
 * code. A lesson's rows are in grader/lessons/<folder>/hints.def, HINT(check, where, idea, code).
 */
#define HINT_STEPS 3
struct hint {
    const char *check;
    const char *steps[HINT_STEPS];
};
#define HINT(name, where, idea, code) {.check = name, .steps = {where, idea, code}},

struct lesson {
    unsigned number;          /* 2 */
    const char *folder;       /* "02_streams": in lessons/, solutions/, grader/lessons/ */
    const char *suite;        /* "Streams" */
    const char *function;     /* the student's main function: failures without a better line are
                                 reported at it */
    const char *const *files; /* what the student writes: {"streams.c", NULL}; .c or .cu */
    /* Files that are compiled with the student's files whenever those change, because they include
     * them (a CUDA template); file names in grader/lessons/<folder>/. NULL: none. Their include
     * path has the student's folder before lessons/<folder>. */
    const char *const *drive_sources;
    /* Static libraries to link, by the NAME with which overlap_part() (cmake/lesson.cmake) declares
     * them: the drive and the shared kernels: {"02_streams_drive", "multi_kernel", NULL}. */
    const char *const *parts;
    /* Parts that only a run on a GPU calls, through weak symbols; linked where they are built. */
    const char *const *gpu_parts;
    /* Queries whose every return value, errors too, the function may pass on as data: they are not
     * made to fail on their own. NULL: none. */
    const char *const *answers;
    const char *const *libraries; /* system libraries to link: {"png", NULL}. NULL: none */
    const struct run_plan *runs;
    const struct check *checks;
    const struct hint *hints; /* one row per check; the list ends with a row whose check is NULL */
};

#endif
