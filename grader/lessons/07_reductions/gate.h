/* gate: a host function that holds a stream back until it is told to let go, or has had enough.
 *
 * A submission that waits for the stream inside its call would wait for ever, since the gate opens
 * after the call: so the gate gives up after a while, and remembers it.
 */
#ifndef OVERLAP_GRADER_LESSONS_07_REDUCTIONS_GATE_H
#define OVERLAP_GRADER_LESSONS_07_REDUCTIONS_GATE_H

#ifdef __cplusplus
extern "C" {
#endif

#define GATE_PATIENCE_MS 1500

struct gate {
    int open, gave_up; /* accessed atomically, through the functions below only */
};

/* For cudaLaunchHostFunc, with the gate as its argument. Calls nothing of CUDA's. */
void gate_wait(void *gate);
void gate_open(struct gate *gate);
/* 1: it stopped waiting before it was opened. */
int gate_gave_up(struct gate *gate);

#ifdef __cplusplus
}
#endif

#endif
