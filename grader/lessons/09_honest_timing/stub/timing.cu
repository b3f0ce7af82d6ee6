/* Lesson 09: README.md in this folder has the idea and the task, lesson.h the contract. */
#include "lesson.h"

/* Your kernel goes here. */

cudaError_t timing_add(const float *a, const float *b, float *c, size_t n, cudaStream_t stream)
{
    (void)a;
    (void)b;
    (void)c;
    (void)n;
    (void)stream;
    /* Yours to write, and so is the other. As long as these lines stand, all checks fail. */
    return cudaErrorNotYetImplemented;
}

cudaError_t timing_measure(const float *a, const float *b, float *c, size_t n, timing_clock now,
                           struct timing_report *report)
{
    (void)a;
    (void)b;
    (void)c;
    (void)n;
    (void)now;
    (void)report;
    return cudaErrorNotYetImplemented;
}
