/* Lesson 14, devices: one grid on several devices, which hand each other their border rows.
 *
 * You write the two functions in devices.c. This file is the contract. Do not change it.
 *
 * In both functions `devices` names `count` devices, at least one, each once, in any order; there
 * may be more. The calling thread's current device is the same afterwards, on every path. Returns
 * cudaSuccess, or the first error that any call gave; an error of a call before this one, which the
 * runtime still remembers (cudaGetLastError), is not returned.
 */
#ifndef OVERLAP_LESSONS_14_DEVICES_LESSON_H
#define OVERLAP_LESSONS_14_DEVICES_LESSON_H

#include "kernels/stencil.h" /* stencil_launch: one step of some rows */

#include <cuda_runtime_api.h>

/* Enables direct access between neighbours: devices[i] and devices[i + 1] may use each other's
 * memory, each where cudaDeviceCanAccessPeer says that it can. Where it cannot, nothing is asked
 * for and nothing is wrong. Devices that are no neighbours stay as they are. Access that is enabled
 * already is no error: neither is it returned, nor does the runtime remember it afterwards. */
cudaError_t devices_link(const int devices[], int count);

/* Makes `steps` steps of a grid, rows x columns ints, row by row: output is what stencil_launch
 * makes of input, so many times. Above the first row and below the last one all cells are 0. Both
 * arrays are page-locked host memory, the caller's; input stays as it is. rows is at least `count`,
 * columns at least 1, steps at least 0; with 0, output is input.
 *
 * The grid is cut into bands of whole rows. Band i has rows / count rows, and one more if i is less
 * than rows % count. devices[i] makes all steps of band i, and of no other.
 *
 * Between two steps only the rows at the bands' borders move, from device to device, by
 * cudaMemcpyPeerAsync or its kin, with direct access or without. Devices work at the same time.
 * What one of them needs of another its stream waits for, by an event. The host gives all devices
 * all their steps, and waits then: not between two steps.
 *
 * Streams, events and device memory are yours: you make and release them, on every path. On return,
 * also on failure, nothing of this call is still to be done, on any device. After an error output
 * has no meaning. Waiting is yours: a wait is not left to cudaFree or its kin. GPUs of today wait
 * there, and nothing promises it. */
cudaError_t devices_steps(const int *input, int *output, int rows, int columns, int steps,
                          const int devices[], int count);

#endif
