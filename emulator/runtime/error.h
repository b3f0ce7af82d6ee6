/* runtime_error: the thread's last error, and what an error code is called.
 *
 * Apart from runtime.h because the functions that are not supported are defined without NVIDIA's
 * prototypes, which runtime.h includes.
 *
 * Source: CUDA Runtime API 13.0, "Error Handling".
 */
#ifndef OVERLAP_RUNTIME_ERROR_H
#define OVERLAP_RUNTIME_ERROR_H

#include <driver_types.h>
#include <stdbool.h>

/* Keeps `error` as the thread's last error unless it is cudaSuccess, which leaves an earlier error
 * in place. Returns `error`. */
cudaError_t runtime_keep_error(cudaError_t error);

/* Forgets it: what CUDA's functions do that reset it on their way, although they are not asked to.
 */
void runtime_forget_error(void);

/* Whether `error` is a code of the runtime. */
bool runtime_is_error(int error);

#endif
