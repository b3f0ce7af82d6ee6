/* Lesson 01, device_sync: one array to the device, through a kernel, and back, with the host
 * waiting where it must and nowhere else.
 *
 * You write device_sync_transform in device_sync.c. This file is the contract: what you are given,
 * what you give back, who owns what. Do not change it.
 */
#ifndef LESSON_01_DEVICE_SYNC_H
#define LESSON_01_DEVICE_SYNC_H

#include <cuda_runtime_api.h>
#include <stddef.h>

/* Launches a kernel that changes array[0 .. length), floats in device memory, in `stream`. It
 * returns at once: the answer says whether the launch was accepted, not how the kernel ended. */
typedef cudaError_t (*device_sync_kernel)(float *array, size_t length, cudaStream_t stream);

/* Copies input[0 .. length) to the device, runs `kernel` on it once, copies the result into
 * output[0 .. length), and puts the sum of the results, added up on the host in double, in *sum.
 *
 * - input and output are page-locked host memory, the caller's. On return, also on failure, they
 *   belong to the caller again: nothing may still read or write them.
 * - All the work goes into `stream`, the caller's. It is a non-blocking stream: it neither waits
 *   for the default stream nor does the default stream wait for it. Copies are asynchronous
 *   (cudaMemcpyAsync).
 * - The device memory is yours: you allocate it and release it, on every path.
 * - Waiting is yours: a wait is not left to cudaFree or its kin. GPUs of today wait there, and
 *   nothing promises it. A host function that you put into the stream is work like any other.
 * - length 0: nothing to do; *sum is 0. A length that the device has no room for, or whose bytes
 *   are more than a size_t holds, is not a mistake of yours; it is an error that you return.
 *
 * Returns cudaSuccess, or the first error that any call gave, kernel(...) and the kernel's own end
 * included. An error of a call before this one, which the runtime still remembers
 * (cudaGetLastError), is not returned. After an error *sum and output have no meaning. */
cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum);

#endif
