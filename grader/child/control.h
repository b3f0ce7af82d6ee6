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
 * loads anything of the student's. These two are its own. */
#define CONTROL_RUN_SETTING "RUN"
#define CONTROL_DEVICE_SETTING "DEVICE" /* "gpu" or "emulator" */

/* The order in which the runner lets host threads begin (threads/threads.h), as in OVERLAP_ORDER;
 * where it is not set they begin as the system likes. */
#define CONTROL_THREADS_VARIABLE "OVERLAP_THREADS"

enum control_stage {
    CONTROL_STARTED = 0,
    CONTROL_REFUSED, /* the runner could not map or load; message */
    CONTROL_LOADED,  /* lesson.so is in; base */
    CONTROL_DRIVING, /* drive_main was called */
    CONTROL_DRIVEN,  /* and returned; drive_result */
};

#define CONTROL_FRAMES 32

struct control {
    uint32_t stage; /* enum control_stage */
    int32_t drive_result;
    uint64_t base; /* load address of lesson.so */
    /* Of a crash, or of where the program was when its time was up: */
    int32_t signal;       /* 0: none was seen */
    uint32_t frame_count; /* return addresses, innermost first; frames[0] is the place itself */
    uint64_t fault;       /* the address that was touched, for SIGSEGV and SIGBUS */
    uint64_t frames[CONTROL_FRAMES];
    char message[256];
    int32_t refused; /* system call that reached for a process above (refused.h); 0: none. Until
                      * there is a crash the frames are those of this call. */
};

#endif
