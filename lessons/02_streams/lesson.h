/* Lesson 02, streams: many arrays, a stream each, so that the copy of one array runs beside the
 * kernel of another, and many kernels beside each other.
 *
 * You write the three functions in streams.c. This file is the contract. Do not change it.
 */
#ifndef LESSON_02_STREAMS_H
#define LESSON_02_STREAMS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

/* Launches a kernel that changes array[0 .. length), floats in device memory, in `stream`. It
 * returns at once: the answer says whether the launch was accepted. It uses one small block, so
 * that one kernel alone leaves most of the device unused. */
typedef cudaError_t (*streams_kernel)(float *array, size_t length, cudaStream_t stream);

/* One array. The caller sets `length` and leaves the rest NULL; streams_open fills in the rest, and
 * from then on until streams_close it is yours to keep and the caller's to look at. */
struct streams_lane {
    size_t length;       /* floats, at least 1; lanes differ */
    float *host;         /* page-locked; the caller writes the array here and reads the result */
    float *device;       /* device memory */
    cudaStream_t stream; /* of this lane alone */
};

/* Gives each of lanes[0 .. count), however many they are, its page-locked host memory, its device
 * memory and its stream. On failure nothing is kept: everything made so far is released, every
 * lane's three pointers are NULL again, and the first error is returned. */
cudaError_t streams_open(struct streams_lane lanes[], size_t count);

/* Copies every lane's host array to the device, runs `kernel` on it once, and copies it back to
 * where it came from. On return, the results are in host and no work of this call is left on the
 * device; also on failure. May be called any number of times between open and close.
 *
 * Each lane's work is in its own stream; no lane waits for another. Copies are asynchronous.
 *
 * Waiting is yours: a wait is not left to cudaFree or its kin. GPUs of today wait there, and
 * nothing promises it.
 *
 * Returns cudaSuccess, or the first error that any call gave, kernel(...) included. An error of a
 * call before this one, which the runtime still remembers (cudaGetLastError), is not returned.
 * After an error the host arrays have no meaning, and streams_run may be called again, with another
 * kernel too. */
cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel);

/* Releases what streams_open made and sets every lane's three pointers to NULL. A lane whose
 * pointers are NULL already is no error. All lanes are released even if one gives an error. Returns
 * cudaSuccess, or the first error. */
cudaError_t streams_close(struct streams_lane lanes[], size_t count);

#endif
