/* process: starts an untrusted program (the runner with a submission, the compiler with a
 * submission's source), enforces its limits, and leaves no process of it running.
 *
 * Each program has a supervisor, a fork of the grader. The supervisor starts the program in a
 * session of its own, is the subreaper of all its descendants (so that one that calls setsid or
 * loses its parent is still found), collects its output, and kills it. Where there are namespaces
 * the supervisor is the first process of one, whose processes end when it does. The grader itself
 * only waits, and never interprets the program's output.
 *
 * The time limit is measured by the program's own clock. That clock stands still while a process
 * wants a processor (or a disk) and has none: it advances with the processor time that all
 * processes of the program use together, at most as fast as wall time, and with wall time while
 * none of them wants a processor. So a program that computes for ever, or waits for ever, is killed
 * after as many seconds as on an idle machine, and a busy machine makes no program late. Of a
 * program that computes a slow machine needs more of them, of one that waits it does not: so the
 * limit may be a multiple for the former. After PROCESS_PATIENCE times the limit in wall time the
 * program is killed all the same, and the machine is to blame.
 */
#ifndef OVERLAP_GRADER_BASE_PROCESS_H
#define OVERLAP_GRADER_BASE_PROCESS_H

#include "grader/base/contain.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_HANDED 6   /* maximum number of descriptors passed to the program */
#define PROCESS_FIRST_FD 3 /* the first of them has this number in the program */

#define PROCESS_PATIENCE 24

struct process_limits {
    double seconds;      /* by the program's own clock */
    unsigned computing;  /* how many times as long it may compute as wait; 0: once */
    double cpu_seconds;  /* per process; 0: `seconds` on every processor */
    uint64_t memory;     /* resident bytes of all its processes together; 0: no limit */
    unsigned processes;  /* at one time, the first included; 0: no limit */
    size_t output;       /* bytes of stdout and stderr together; at least 1 */
    uint64_t file_bytes; /* size of each file that it writes (RLIMIT_FSIZE); 0: no limit */
};

struct process_spec {
    const char *const *arguments;   /* NULL-ended; [0] is the program's path */
    const char *const *environment; /* NULL-ended; the complete environment */
    const char *folder;             /* its working directory */
    int handed[PROCESS_HANDED];     /* become 3, 4, ... in the program; negative: none */
    size_t handed_count;
    struct process_limits limits;
    /* When the time is up, first send SIGXCPU and wait briefly, so that the program can record
     * where it is. */
    int ask_where;
    /* Restrictions; NULL: the program is trusted and unrestricted. */
    const struct contain_rules *contain;
};

enum process_ending {
    PROCESS_EXITED,    /* by itself; see code */
    PROCESS_SIGNALLED, /* by a signal that the supervisor did not send; see signal */
    PROCESS_TIME,      /* from here to PROCESS_FILES: killed for exceeding a limit */
    PROCESS_MEMORY,
    PROCESS_PROCESSES,
    PROCESS_OUTPUT,
    PROCESS_FILES,       /* its folder had more bytes or files than its rules allow */
    PROCESS_BUSY,        /* the machine gave it too little processor time */
    PROCESS_NOT_STARTED, /* the system refused; see why, error */
    PROCESS_ABANDONED,   /* the supervisor was itself killed, or the grader was interrupted */
};

struct process_result {
    enum process_ending ending;
    int code;
    int signal;
    unsigned left_running; /* processes still alive half a second (its own clock) after the first
                              one ended; killed */
    int error;             /* errno of the refusal */
    double seconds;        /* wall time */
    double own_seconds;    /* by the program's own clock */
    uint64_t peak_bytes;
    unsigned peak_processes;
    size_t printed_size;
    char why[160];
};

struct process;

/* Starts the program. NULL: there is no memory or no process (errno). */
struct process *process_start(const struct process_spec *spec);

/* Waits until one of the `count` processes has ended (entries may be NULL) and returns its index.
 * On a signal that process_interrupted reports, all of them are killed first. */
size_t process_wait_any(struct process *const *processes, size_t count);

/* Valid after the process was waited for; owned by the process. Printed text ends with a 0. */
const struct process_result *process_result(const struct process *process);
const char *process_printed(const struct process *process);

void process_free(struct process *process);

/* Installs handlers with which SIGINT, SIGTERM and SIGHUP kill the running programs in order. */
void process_handle_interrupts(void);
/* Returns the signal that came, or 0. */
int process_interrupted(void);

/* Blocks these signals until the caller restores the previous mask, `before`. */
void process_hold_interrupts(sigset_t *before);

#endif
