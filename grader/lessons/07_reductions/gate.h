/* gate: a host function that holds a stream back until the gate is opened, or until it gives up.
 *
 * A submission that waits for the stream inside its call would wait for ever, since the gate is
 * opened after the call. So the gate gives up after a time limit, and records that. The limit
 * counts the caller's own time: processor time that the caller uses (on a GPU a waiting thread
 * polls in a loop) and time that the caller sleeps; not time in which it wants a processor and has
 * none, nor time in which the gate's thread is not running.
 */
#ifndef OVERLAP_GRADER_LESSONS_07_REDUCTIONS_GATE_H
#define OVERLAP_GRADER_LESSONS_07_REDUCTIONS_GATE_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GATE_PATIENCE_MS 1500

struct gate {
    pid_t caller;      /* the thread */
    int open, gave_up; /* accessed atomically, through the functions below only */
};

/* Makes a closed gate for calls of the calling thread. */
struct gate gate_make(void);
/* The host function for cudaLaunchHostFunc, with the gate as its argument. Calls nothing of
 * CUDA's. */
void gate_wait(void *gate);
void gate_open(struct gate *gate);
/* Returns 1 when the gate gave up before it was opened. */
int gate_gave_up(struct gate *gate);

#ifdef __cplusplus
}
#endif

#endif
