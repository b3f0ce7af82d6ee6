/* Lesson 09, honest_timing: how long c = a + b takes, asked in five ways, and what each of the five
 * answers includes.
 *
 * You write the two functions in timing.cu, and the kernel. This file is the contract. Do not
 * change it.
 *
 * Both return cudaSuccess, or the first error that any call gave; an error of a call before this
 * one, which the runtime still remembers (cudaGetLastError), is not returned.
 */
#ifndef OVERLAP_LESSONS_09_HONEST_TIMING_LESSON_H
#define OVERLAP_LESSONS_09_HONEST_TIMING_LESSON_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

/* The clock: the host's time, in nanoseconds since nobody knows when. A large number, which no
 * float holds. */
typedef uint64_t (*timing_clock)(void);

/* What can be in a time. */
enum timing_part {
    TIMING_REQUEST = 1,  /* the call that asks for the kernel */
    TIMING_LOADING = 2,  /* what is done once in a program: the kernel's code goes to the device */
    TIMING_KERNEL = 4,   /* the kernel itself, from its begin to its end */
    TIMING_COPY_IN = 8,  /* the copies of a and b to the device */
    TIMING_COPY_OUT = 16 /* the copy of c back */
};

struct timing_time {
    double microseconds;
    unsigned includes; /* of enum timing_part, all that is in it */
};

/* The first four are taken with the clock, the last by events. */
struct timing_report {
    struct timing_time first;  /* the first launch of all, and a wait until the kernel has ended */
    struct timing_time launch; /* a launch, without a wait */
    struct timing_time waited; /* a launch, and a wait until the kernel has ended */
    struct timing_time transfers; /* a and b in, a launch, c out, and a wait until c has arrived */
    struct timing_time kernel;    /* a launch between two events: the device's own time */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a[i] + b[i] into c[i], for all i in [0, n): one launch of your kernel in `stream`, and
 * nothing else. It does not wait. a, b and c are device memory, the caller's. n is a multiple of
 * nothing and below 2^31; with 0 nothing is launched. */
cudaError_t timing_add(const float *a, const float *b, float *c, size_t n, cudaStream_t stream);

/* Times that kernel on a[0 .. n) and b[0 .. n), and fills in *report. On return the sums are in
 * c[0 .. n). a, b and c are page-locked host memory, the caller's; n is at least 1.
 *
 * - Each of the first four times is the difference of two readings of the clock, as it is: nothing
 *   added up, shared out or taken off. The clock is read 256 times at most.
 * - Between the two readings stand the calls that the time is to include, once each (a copy may be
 *   made in pieces), and no other call of CUDA's, but those that wait, where there is to be a wait,
 *   and those that ask for an error.
 * - At the first of the two readings no work of yours is left on the device: its time would be in
 *   yours.
 * - To wait is to call what waits: a synchronisation, or a query until it says yes. It is not left
 *   to cudaFree or its kin. GPUs of today wait there, and nothing promises it.
 * - Between the two events stands the launch, and no other call but one that asks for an error.
 *   Their time agrees with the device's own record of that kernel within 5 %, and 30 us more at
 *   most, which is what events add to a short kernel.
 * - The device memory is yours, and so is whatever else you make: you release it, on every path. An
 *   n that the device has no room for is an error that you return.
 *
 * After an error *report and c have no meaning. On return no work of yours is left, after an error
 * either. */
cudaError_t timing_measure(const float *a, const float *b, float *c, size_t n, timing_clock now,
                           struct timing_report *report);

#ifdef __cplusplus
}
#endif

#endif
