/* Lesson 04, context_create: a context of one's own, made, used and destroyed with the driver API.
 *
 * You write context_create_round_trip in context_create.c. This file is the contract. Do not change
 * it.
 */
#ifndef LESSON_04_CONTEXT_CREATE_H
#define LESSON_04_CONTEXT_CREATE_H

#include <cuda.h>
#include <stddef.h>

/* What the stub returns; no CUDA function does. */
#define CONTEXT_CREATE_NOT_WRITTEN ((CUresult)31)

/* The caller's part: changes array[0 .. length), floats in device memory of the context that is
 * current to the calling thread. What it loads into that context goes with the context. Returns
 * CUDA_SUCCESS, or an error that you pass on. Its kernel may still run when it returns, also when
 * it returns an error; it is in the default stream, and what goes wrong in it is an error of
 * whatever call waits for it. */
typedef CUresult (*context_create_work)(CUdeviceptr array, size_t length);

/* Starts the driver, makes a new context on device `ordinal`, and in that context: allocates device
 * memory, copies input[0 .. length) in, calls `work` once, copies the result out to
 * output[0 .. length). Then takes everything down again.
 *
 * - The calling thread's stack of contexts is found as it was left: whatever was current before the
 *   call (another context, or none) is current after it, and the stack is as deep as it was. On
 *   every path, also after an error.
 * - The context that you make is destroyed, on every path. So is all that was made in it.
 * - Waiting is yours: where you return CUDA_SUCCESS, no wait is left to cuMemFree, cuCtxDestroy or
 *   their kin. GPUs of today wait there, and nothing promises it. After an error their wait is
 *   enough, as nobody needs the data.
 * - length is at least 1; input and output are pageable host memory, the caller's. ordinal may be
 *   one that does not exist; length may be more than fits.
 *
 * Returns CUDA_SUCCESS, or the first error that any call, or work, gave. After an error output has
 * no meaning. */
CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work);

#endif
