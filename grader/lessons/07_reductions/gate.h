/* gate: a host function that holds a stream back until it is told to let go, or has had enough.
 *
 * A submission that waits for the stream inside its call would wait for ever, since the gate opens
 * after the call: so the gate gives up after a while, and remembers it. The while is the caller's
 * own: it goes on as far as the caller computes (on a GPU, who waits goes round a loop), and while
 * it sleeps; not while it wants a processor and has none, nor while nobody looks.
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

/* Closed, for what the calling thread will do. */
struct gate gate_make(void);
/* For cudaLaunchHostFunc, with the gate as its argument. Calls nothing of CUDA's. */
void gate_wait(void *gate);
void gate_open(struct gate *gate);
/* 1: it stopped waiting before it was opened. */
int gate_gave_up(struct gate *gate);

#ifdef __cplusplus
}
#endif

#endif
