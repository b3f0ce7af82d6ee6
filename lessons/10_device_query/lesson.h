/* Lesson 10, device_query: which devices there are, and what they are like, asked of both APIs.
 *
 * You write the three functions in device_query.c. This file is the contract. Do not change it.
 */
#ifndef LESSON_10_DEVICE_QUERY_H
#define LESSON_10_DEVICE_QUERY_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

/* What the stubs return; no CUDA function does. */
#define DEVICE_QUERY_NOT_WRITTEN 31

#define DEVICE_QUERY_NAME 256 /* bytes, with the 0 at the end */

struct device_query_facts {
    char name[DEVICE_QUERY_NAME];
    int major, minor;      /* compute capability */
    size_t memory;         /* bytes of device memory, free or not */
    int multiprocessors;   /* how many */
    int clock;             /* of the multiprocessors, at its highest, in kHz */
    int threads_per_block; /* at most */
    int block[3], grid[3]; /* threads of a block, and blocks of a grid, along x, y and z, at most */
    int shared_per_block;  /* bytes of shared memory, at most, that no kernel has to opt in for */
};

/* Both ask how many devices the program sees, and describe the first of them, in their order, in
 * facts[0 .. room). The first asks the runtime API and nothing else, the second the driver API and
 * nothing else, so that one can be held against the other.
 *
 * - *count is how many there are, also where there is room for fewer. Of facts nothing is written
 *   behind the last device, nor behind the room. room may be 0, and facts NULL then.
 * - That there is no device is an answer: *count is 0, and success is returned. The runtime keeps
 *   no error of it for the caller's next cudaGetLastError.
 * - Nobody may have called CUDA before. Asking makes no context, primary ones included.
 *
 * They return success, or the first error that any call gave; then *count and facts have no
 * meaning. */
cudaError_t device_query_runtime(struct device_query_facts *facts, int room, int *count);
CUresult device_query_driver(struct device_query_facts *facts, int room, int *count);

/* How many bytes of memory device `ordinal` has, and how many of them nobody has taken, now.
 *
 * - That takes a context: the device's primary one, which may or may not be alive. You retain it
 *   and release it again, on every path; you make none of your own, and you reset none.
 * - What was current to the calling thread (another context, or none) is current when it returns,
 *   on every path, and the stack is as deep as it was.
 * - Nobody may have called CUDA before. There may be no device, or none of that ordinal; that is an
 *   error here.
 *
 * Returns CUDA_SUCCESS, or the first error that any call gave; then *free and *total have no
 * meaning. */
CUresult device_query_memory(int ordinal, size_t *free, size_t *total);

#endif
