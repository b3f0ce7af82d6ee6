/* control: the page that the grader and the runner share besides input, output and trace, and the
 * file descriptors through which the runner gets them.
 *
 * Student code runs in the runner's process and could write to this page too. So the grader takes
 * from it only what can harm nobody but the submission itself: where a crash was, and whether the
 * drive came to its end (a submission that forges that must still leave the right output).
 */
#ifndef OVERLAP_GRADER_CHILD_CONTROL_H
#define OVERLAP_GRADER_CHILD_CONTROL_H

#include "grader/base/process.h"
#include "trace/rest.h"

#include <stdint.h>

enum {
    CONTROL_FD = PROCESS_FIRST_FD, /* struct control */
    CONTROL_INPUT_FD,              /* sealed: nobody can write to it; may be empty */
    CONTROL_OUTPUT_FD,             /* fixed size; may be empty */
    CONTROL_SETTINGS_FD,           /* sealed: NAME=VALUE strings, each ended by a 0 */
    CONTROL_TRACE_FD,              /* fixed size */
    CONTROL_FD_COUNT = 5
};

/* Settings are hidden from the student's code: which run this is, in which order the device runs
 * it, which call fails. The runner puts them into the environment, lets the device read them, and
 * removes them before it loads anything of the student's. The following settings are the runner's
 * own. */
#define CONTROL_RUN_SETTING "RUN"
#define CONTROL_DEVICE_SETTING "DEVICE" /* "gpu" or "emulator" */
/* The folder of CUDA's libraries. The runner loads them by path, because the loader's search path
 * cannot hold a folder with a colon or a semicolon in its name. */
#define CONTROL_LIBRARIES_SETTING "LIBRARIES"

/* The OpenCL layer, which is the device of the run; there is no CUDA then. */
#define CONTROL_OPENCL_SETTING "OPENCL"

/* A random number, in hexadecimal, that the runner writes together with CONTROL_REFUSED and `want`.
 * Both excuse a run as the machine's trouble, so a submission, which does not know the number,
 * cannot claim them. */
#define CONTROL_WORD_SETTING REST_WORD_VARIABLE

/* The phase that is timed; only for a run in rounds. */
#define CONTROL_TIMED_SETTING "TIMED"

/* The order in which the runner lets host threads begin (threads/threads.h), with the values of
 * OVERLAP_ORDER; where it is unset they begin as the system schedules them. */
#define CONTROL_THREADS_VARIABLE "OVERLAP_THREADS"

enum control_stage {
    CONTROL_STARTED = 0,
    CONTROL_REFUSED, /* the runner could not map or load; see message, word */
    CONTROL_LOADED,  /* lesson.so is loaded; see base */
    CONTROL_DRIVING, /* drive_main was called */
    CONTROL_DRIVEN,  /* drive_main has returned; see drive_result */
};

#define CONTROL_FRAMES 32

/* ---- rounds ------------------------------------------------------------------------------------
 * A run in rounds calls drive_main repeatedly in one process, each time with another part of input
 * and output. Round 0 warms up; before each later round the runner waits for its turn, so that of
 * the processes that are timed against each other only one works at a time. */

#define CONTROL_ROUNDS 13 /* at most, warm-up included */
/* The name of the phase that marks each round in the trace; its index is the round's number. */
#define CONTROL_ROUND_PHASE "round of the runner's"

struct control_round {
    uint64_t input, input_size, output, output_size; /* offsets and sizes in bytes */
    uint64_t recorded;                               /* 0: the recorder rests in this round */
};

/* The state of a process in rounds: a futex word. The grader changes WAITING, the runner the other
 * states. */
enum control_turn {
    CONTROL_BEFORE = 0, /* in its first round */
    CONTROL_WAITING,    /* waits for its turn */
    CONTROL_GIVEN,      /* set by the grader: the turn has come */
    CONTROL_NO_MORE,    /* set by the grader: there is no further round */
    CONTROL_TIMING,     /* in the timed phase */
    CONTROL_TIMED       /* past the timed phase, in the same round */
};

struct control {
    uint32_t stage; /* enum control_stage */
    int32_t drive_result;
    uint64_t base; /* load address of lesson.so */
    /* For a crash, or for where the program was when its time was up: */
    int32_t signal;       /* 0: none was seen */
    uint32_t frame_count; /* return addresses, innermost first; frames[0] is the place itself */
    uint64_t fault;       /* the accessed address, for SIGSEGV and SIGBUS */
    uint64_t frames[CONTROL_FRAMES];
    uint64_t word;
    char message[256];
    /* Number of a refused system call that reached for what is not the program's (refused.h), and
     * its second argument; 0: none. Until there is a crash the frames are those of this call. */
    int32_t refused;
    uint64_t refused_second;
    /* errno: the system had no thread or process for the run, although the run had few. */
    int32_t want;
    uint32_t turn;   /* enum control_turn */
    uint32_t rounds; /* 0: a run without rounds */
    uint32_t spread; /* 1: the process may use several processors at a time */
    struct control_round round[CONTROL_ROUNDS];
};

#endif
