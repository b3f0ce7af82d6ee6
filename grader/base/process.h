/* process: starts a program that is not trusted, holds it to its limits, and leaves nothing of it
 * running: the runner with a submission inside, the compiler with a submission's source.
 *
 * Each program has a supervisor: a fork of the grader that starts it in a session of its own, is
 * the subreaper of all its descendants (so that one that calls setsid or loses its parent is still
 * found), collects what it prints, and ends it; where there are namespaces it is the first process
 * of one, and what is in it ends when it does. The grader itself only waits. It never reads meaning
 * into what the program printed.
 *
 * How long it may take is counted by its own clock, which stands still while a program wants a
 * processor (or a disk) and has none: it goes on with the processor time that all its processes
 * use together, at most as fast as the wall's, and with the wall's while none of them wants one.
 * So whoever computes, or waits for what never comes, is ended after as many seconds as on an idle
 * machine, and a busy machine makes nobody late. After PROCESS_PATIENCE times as long on the wall
 * it is ended all the same, and the machine is to blame.
 */
#ifndef OVERLAP_GRADER_BASE_PROCESS_H
#define OVERLAP_GRADER_BASE_PROCESS_H

#include "grader/base/contain.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_HANDED 6   /* file descriptors that can be handed on */
#define PROCESS_FIRST_FD 3 /* the number of the first of them in the program */

#define PROCESS_PATIENCE 24

struct process_limits {
    double seconds;      /* by its own clock */
    double cpu_seconds;  /* of one process; 0: as long as `seconds` on every processor */
    uint64_t memory;     /* resident bytes of all its processes together; 0: no limit */
    unsigned processes;  /* at one time, the first included; 0: no limit */
    size_t output;       /* bytes of stdout and stderr together; at least 1 */
    uint64_t file_bytes; /* size of a file that it writes (RLIMIT_FSIZE); 0: no limit */
};

struct process_spec {
    const char *const *arguments;   /* NULL-ended; [0] is the program's path */
    const char *const *environment; /* NULL-ended; nothing else is passed on */
    const char *folder;             /* where it runs */
    int handed[PROCESS_HANDED];     /* become 3, 4, ... in the program; -1 or fewer: none */
    size_t handed_count;
    struct process_limits limits;
    /* When the time is up, send SIGXCPU first and give it a moment to say where it is. */
    int ask_where;
    /* What it may reach of the machine; NULL: it is ours, and reaches everything. */
    const struct contain_rules *contain;
};

enum process_ending {
    PROCESS_EXITED,    /* of itself; code */
    PROCESS_SIGNALLED, /* by a signal that the supervisor did not send; signal */
    PROCESS_TIME,      /* from here on: killed for passing a limit */
    PROCESS_MEMORY,
    PROCESS_PROCESSES,
    PROCESS_OUTPUT,
    PROCESS_FILES,       /* more in its folder than its rules allow, or more files */
    PROCESS_BUSY,        /* the machine had no time for it */
    PROCESS_NOT_STARTED, /* the system refused; why, error */
    PROCESS_ABANDONED,   /* the supervisor was itself killed, or the grader was interrupted */
};

struct process_result {
    enum process_ending ending;
    int code;
    int signal;
    unsigned left_running; /* processes alive half a second (its own) after the first one ended;
                              killed */
    int error;             /* errno of what was refused */
    double seconds;        /* on the wall */
    double own_seconds;
    uint64_t peak_bytes;
    unsigned peak_processes;
    size_t printed_size;
    char why[160];
};

struct process;

/* Starts it. NULL only when there is no memory or no process to be had (errno). */
struct process *process_start(const struct process_spec *spec);

/* Waits for one of the `count` processes (entries may be NULL) and returns its index. When a signal
 * arrives that process_interrupted reports, all of them are ended first. */
size_t process_wait_any(struct process *const *processes, size_t count);

/* Valid after its wait; owned by the process. Printed text is ended by a 0. */
const struct process_result *process_result(const struct process *process);
const char *process_printed(const struct process *process);

void process_free(struct process *process);

/* Makes SIGINT, SIGTERM and SIGHUP end what is running in order instead of leaving it. */
void process_handle_interrupts(void);
/* The signal that came, or 0. */
int process_interrupted(void);

/* Keeps these signals waiting until the mask that was there before, `before`, is put back. */
void process_hold_interrupts(sigset_t *before);

#endif
