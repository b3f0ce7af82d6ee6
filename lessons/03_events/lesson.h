/* Lesson 03, events: how long a kernel takes, asked of the device.
 *
 * You write the three functions in events.c. This file is the contract. Do not change it.
 */
#ifndef LESSON_03_EVENTS_H
#define LESSON_03_EVENTS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

/* Launches a kernel that changes array[0 .. length), floats in device memory, in `stream`. It
 * returns at once: the answer says whether the launch was accepted. */
typedef cudaError_t (*events_kernel)(float *array, size_t length, cudaStream_t stream);

/* One kernel to launch. Array and stream are the caller's; the stream is a non-blocking one. */
struct events_task {
    float *array; /* device memory */
    size_t length;
    cudaStream_t stream;
};

/* What events_time_one saw. The four are answers of cudaEventQuery: cudaSuccess, the device has
 * come past the event, or cudaErrorNotReady, it has not. */
struct events_observation {
    float milliseconds;       /* that the kernel took */
    cudaError_t start_before; /* the event before the kernel, asked before the host waits */
    cudaError_t end_before;   /* the event behind the kernel, asked then */
    cudaError_t start_after;  /* both again, after the host has waited */
    cudaError_t end_after;
};

/* Launches `kernel` once for *task, between two events in its stream; asks for both events at once,
 * without waiting; waits; asks again; and fills in *seen. cudaErrorNotReady is an answer here, not
 * an error: it is not returned. The stream may have work of the caller's to do first, and the start
 * not be ready either.
 *
 * In this function and the next: between a kernel's two events stands its launch, and no other call
 * of CUDA's, unless it only asks for an error (cudaGetLastError). What the host does there is part
 * of the time.
 *
 * Waiting is yours: a wait is not left to cudaFree or its kin. GPUs of today wait there, and
 * nothing promises it.
 *
 * In all three functions: events that you create you destroy, on every path; the time is taken by
 * events, not by a clock of the host. Returns cudaSuccess, or the first error that any call gave,
 * kernel(...) included; an error of a call before this one, which the runtime still remembers
 * (cudaGetLastError), is not returned.
 * After an error, what was to be filled in has no meaning, and no work of the call is left. */
cudaError_t events_time_one(events_kernel kernel, const struct events_task *task,
                            struct events_observation *seen);

/* Launches `kernel` once for each of tasks[0 .. count), every one in its own stream, all of them
 * before the host waits for any, and writes how long each kernel took to milliseconds[0 .. count).
 * The times agree with the device's own record within 5 %, however many kernels there are and
 * however much they differ. Also when it fails, no work of this call is left on the device on
 * return. count 0: nothing to do. */
cudaError_t events_time_each(events_kernel kernel, const struct events_task tasks[], size_t count,
                             float milliseconds[]);

/* Mean and standard deviation of milliseconds[0 .. count), both in milliseconds. The deviation is
 * that of the population (divided by count, not by count - 1): these are all the kernels that there
 * were, not a sample of them. Both are right to six digits, also where the times differ by little.
 * Returns cudaErrorInvalidValue when count is 0. Makes no CUDA call. */
cudaError_t events_statistics(const float milliseconds[], size_t count, double *mean,
                              double *deviation);

#endif
