/* error: the thread's last error, and the names of error codes.
 *
 * Separate from runtime.h because the unsupported functions are defined without NVIDIA's
 * prototypes, which runtime.h includes.
 *
 * Source: CUDA Runtime API 13.0, "Error Handling".
 */
#ifndef OVERLAP_RUNTIME_ERROR_H
#define OVERLAP_RUNTIME_ERROR_H

#include <driver_types.h>
#include <stdbool.h>

/* Keeps `error` as the thread's last error. cudaSuccess and cudaErrorNotReady leave an earlier
 * error in place. Returns `error`. */
cudaError_t runtime_keep_error(cudaError_t error);

/* Clears the last error, for functions of CUDA that do so as an undocumented side effect.
 */
void runtime_forget_error(void);

/* Returns true if `error` is an error code of the runtime. */
bool runtime_is_error(int error);

#endif
