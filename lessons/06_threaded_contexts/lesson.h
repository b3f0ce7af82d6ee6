/* Lesson 06: ten arrays, ten host threads, ten contexts; and then the same with processes.
 *
 * You write two functions in threaded_contexts.c, with the driver API (cu...). Both do the same
 * work: each array is copied to the device, transformed by one kernel, copied back, and added up.
 */
#ifndef OVERLAP_LESSONS_06_THREADED_CONTEXTS_LESSON_H
#define OVERLAP_LESSONS_06_THREADED_CONTEXTS_LESSON_H

#include "kernels/multiply_divide.h" /* MULTIPLY_DIVIDE_NAME, MULTIPLY_DIVIDE_THREADS */

#include <cuda.h>
#include <stddef.h>

/* One array: the caller's, in ordinary (pageable, private) host memory. length > 0. */
struct threaded_array {
    float *values; /* replaced by what the kernel makes of them; untouched if that fails */
    size_t length;
};

/* What became of one array. */
struct threaded_result {
    CUresult error; /* the first error that its thread or process met; CUDA_SUCCESS: none */
    double sum;     /* of the new values, added in double; 0 on an error */
};

/* Both functions:
 *
 * image    a module as text (PTX) ended by a 0, for cuModuleLoadData. Its kernel
 *          MULTIPLY_DIVIDE_NAME has the parameters (float *array, size_t length) and is launched
 *          with one block of MULTIPLY_DIVIDE_THREADS threads, for a whole array.
 * arrays   `count` of them, read and written. results: room for `count`, all written.
 *
 * Waiting is yours: a wait is not left to cuMemFree, cuCtxDestroy or their kin. GPUs of today wait
 * there, and nothing promises it.
 *
 * The device is number 0. Every context that the function makes is destroyed when it returns,
 * modules and device memory with it, also for an array that failed; an array that fails does not
 * keep the others from being done. Returns CUDA_SUCCESS, or the error of the first array, by its
 * index, that failed; a thread or a process that cannot be started, or ends without a result, is
 * CUDA_ERROR_OPERATING_SYSTEM. */

/* Yours. Array i is done by a thread of its own (not the caller's), which makes a context of its
 * own, loads the image into it, and is the only one to use it. The thread's result comes back as
 * the value that pthread_join() delivers. All threads are started before the first is joined, and
 * none is left on return, whatever fails. */
CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results);

/* Yours. Array i is done by a child process of its own. The calling process makes no CUDA call at
 * all: CUDA starts in each child, after the fork. Values and result come back through memory that
 * you share with the children, or through pipes. Every child is waited for, and no other: the
 * caller may have children of its own. It may have handlers for signals as well: a call that one
 * interrupts (EINTR) is made again, and read and write may move less than they were asked to. */
CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results);

#endif
