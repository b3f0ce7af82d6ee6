/* lesson: what a lesson is to the grader: its runs (processes to start), its checks (pure functions
 * of the evidence that a run left behind), and the files that it is made of. Plain data: nothing
 * here starts, reads or judges anything.
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

/* Given to a run plan's prepare. */
struct run_input {
    enum drive_device device; /* small sizes on the emulator, the real constants on a GPU */
    const char *run;          /* the plan's name */
    struct random_source *random;
    void *data; /* set by run_input_allocate; freed by the grader */
    size_t size;
    size_t output_size; /* set by prepare: bytes of output that the drive may write */
    /* Set by prepare where it matters which devices there are. On the software device: those
     * (OVERLAP_DEVICES); empty: one. With RUN_OPENCL: opencl/layer.h. */
    char devices[160];
    bool chooses; /* the program sees those in `visible` (CUDA_VISIBLE_DEVICES) */
    char visible[160];
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
    /* The reference solution is run in turn with the submission, with the same inputs: once on the
     * emulator, whose clock is exact; on a GPU in rounds (grader/run/turns.h), each of them
     * drive_main once in a process that goes on to the next, with fresh inputs. Needs `phase`. See
     * verdict_time_ratio. */
    RUN_TIMED = 1u << 3,
    /* On the emulator only. The run is made as it is, and then, with the same inputs, once for each
     * call in the phases DRIVE_INJECTIONS that can fail, with that call failing:
     * evidence->injections. (Of very many calls it is a choice: grader/evidence/injections.h.) */
    RUN_INJECTIONS = 1u << 4,
    /* On a GPU nothing runs beside it: its checks read the device's own times. */
    RUN_ALONE = 1u << 5,
    /* RUN_TIMED: the student's function makes threads, so it is not kept on one processor. */
    RUN_THREADS = 1u << 6,
    /* It needs much of the device's memory: no other submission's are beside it, and nothing at all
     * is on a GPU that has no room for all of one submission's. */
    RUN_LARGE = 1u << 7,
    /* It is a run of OpenCL, and of no CUDA: the layer of opencl/ is its device, in front of PoCL
     * in the place of the software device, of NVIDIA's OpenCL on a GPU. PoCL starts the linker. */
    RUN_OPENCL = 1u << 8,
    /* Of RUN_INJECTIONS: of the calls that a line makes in a phase only the first and the last
     * fail. For a check that asks which of several fails, and not what becomes of each. */
    RUN_ENDS = 1u << 9,
    /* RUN_TIMED: what the recorder takes is nothing beside its few, long calls; so it need not rest
     * in most rounds, and fewer will do. */
    RUN_RECORDED = 1u << 10,
};

/* One process to start. A lesson's list of them ends with a row whose name is NULL. */
struct run_plan {
    const char *name; /* "values": reaches the drive as drive->run */
    unsigned flags;   /* enum run_flag */
    /* Draws the inputs and says how large the output is. Returns 0, or -1 (no memory). */
    int (*prepare)(struct run_input *input);
    /* Allowed by its own clock (grader/base/process.h); 0: 20 s. On the emulator at most 5 s. */
    double seconds;
    uint64_t memory;        /* resident bytes allowed on the host, in all processes; 0: 2 GiB */
    unsigned processes;     /* processes allowed at one time, the runner included; 0: 1 */
    uint32_t trace_records; /* room in the trace; 0: TRACE_DEFAULT_CAPACITY */
    const char *phase;      /* RUN_TIMED: what is timed, index 0 of it */
    const struct threshold *threshold; /* RUN_TIMED: how long it may take */
    /* What to look at where a bad access, or the limit of time, stopped this run; NULL: what is
     * said of any. */
    const char *crash_hint, *time_hint;
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

/* Help for a student who is stuck on a check, a step at a time: where to look, the idea, nearly the
 * code. A lesson's rows are in grader/lessons/<folder>/hints.def, HINT(check, where, idea, code).
 */
#define HINT_STEPS 3
struct hint {
    const char *check;
    const char *steps[HINT_STEPS];
};
#define HINT(name, where, idea, code) {.check = name, .steps = {where, idea, code}},

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
    /* Parts that only a run on a GPU calls, through weak names: linked where they are built. */
    const char *const *gpu_parts;
    /* Queries whose every answer the function may hand on as data, errors too: they are not made to
     * fail by themselves. NULL: none */
    const char *const *answers;
    const char *const *libraries; /* of the system's, linked in: {"png", NULL}. NULL: none */
    const struct run_plan *runs;
    const struct check *checks;
    const struct hint *hints; /* one row for each check; the list ends with a check NULL */
};

#endif
