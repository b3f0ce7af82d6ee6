/* control: the page that the grader and the runner share besides input, output and trace, and the
 * file descriptors on which the runner finds them.
 *
 * Student code runs in the runner's process and could write here too, so the grader believes of it
 * only what harms nobody but the submission: where a crash was, and whether the drive came to its
 * end (a submission that forges that has still to leave the right output).
 */
#ifndef OVERLAP_GRADER_CHILD_CONTROL_H
#define OVERLAP_GRADER_CHILD_CONTROL_H

#include "grader/base/process.h"
#include "trace/rest.h"

#include <stdint.h>

enum {
    CONTROL_FD = PROCESS_FIRST_FD, /* struct control */
    CONTROL_INPUT_FD,              /* sealed: nobody can write it; may be empty */
    CONTROL_OUTPUT_FD,             /* fixed size; may be empty */
    CONTROL_SETTINGS_FD,           /* sealed: NAME=VALUE, each ended by a 0 */
    CONTROL_TRACE_FD,              /* fixed size */
    CONTROL_FD_COUNT = 5
};

/* Settings are what the student's code is not told: which run this is, in which order the device
 * runs it, which call fails. The runner has them read by the device and forgets them before it
 * loads anything of the student's. These are its own. */
#define CONTROL_RUN_SETTING "RUN"
#define CONTROL_DEVICE_SETTING "DEVICE" /* "gpu" or "emulator" */
/* The folder of CUDA's libraries, which are loaded from there by name: the loader's own path cannot
 * hold a folder with a colon or a semicolon in it. */
#define CONTROL_LIBRARIES_SETTING "LIBRARIES"

/* The layer before OpenCL, which is the device then: there is no CUDA. */
#define CONTROL_OPENCL_SETTING "OPENCL"

/* A number, in hexadecimal, that the runner writes beside CONTROL_REFUSED and `want`: both are the
 * machine's trouble, and whoever wants to be excused by it does not know the number. */
#define CONTROL_WORD_SETTING REST_WORD_VARIABLE

/* The phase that is timed; only of a run in rounds. */
#define CONTROL_TIMED_SETTING "TIMED"

/* The order in which the runner lets host threads begin (threads/threads.h), as in OVERLAP_ORDER;
 * where it is not set they begin as the system likes. */
#define CONTROL_THREADS_VARIABLE "OVERLAP_THREADS"

enum control_stage {
    CONTROL_STARTED = 0,
    CONTROL_REFUSED, /* the runner could not map or load; message, word */
    CONTROL_LOADED,  /* lesson.so is in; base */
    CONTROL_DRIVING, /* drive_main was called */
    CONTROL_DRIVEN,  /* and returned; drive_result */
};

#define CONTROL_FRAMES 32

/* ---- rounds ------------------------------------------------------------------------------------
 * A run in rounds calls drive_main again and again in one process, each time with another part of
 * input and output. Round 0 warms up; before each other one the runner waits for its turn, so that
 * of the processes that are timed against each other one works at a time. */

#define CONTROL_ROUNDS 13 /* at most, the warm-up included */
/* Marks each round in the trace, with its number. */
#define CONTROL_ROUND_PHASE "round of the runner's"

struct control_round {
    uint64_t input, input_size, output, output_size; /* offsets and sizes in bytes */
    uint64_t recorded;                               /* 0: in this round the recorder rests */
};

/* Where a process in rounds is: a futex word. The grader changes WAITING, the runner the rest. */
enum control_turn {
    CONTROL_BEFORE = 0, /* in its first round */
    CONTROL_WAITING,    /* for its turn */
    CONTROL_GIVEN,      /* by the grader: its turn has come */
    CONTROL_NO_MORE,    /* by the grader: there is no further round */
    CONTROL_TIMING,     /* in the phase that is timed */
    CONTROL_TIMED       /* past it, in the same round */
};

struct control {
    uint32_t stage; /* enum control_stage */
    int32_t drive_result;
    uint64_t base; /* load address of lesson.so */
    /* Of a crash, or of where the program was when its time was up: */
    int32_t signal;       /* 0: none was seen */
    uint32_t frame_count; /* return addresses, innermost first; frames[0] is the place itself */
    uint64_t fault;       /* the address that was touched, for SIGSEGV and SIGBUS */
    uint64_t frames[CONTROL_FRAMES];
    uint64_t word;
    char message[256];
    int32_t refused; /* system call that reached for a process above (refused.h); 0: none. Until
                      * there is a crash the frames are those of this call. */
    int32_t want;    /* errno: the system had no thread or process for it, though it had few */
    uint32_t turn;   /* enum control_turn */
    uint32_t rounds; /* 0: a run without rounds */
    uint32_t spread; /* 1: it may use several processors at a time */
    struct control_round round[CONTROL_ROUNDS];
};

#endif
