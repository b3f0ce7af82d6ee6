/* standins: libraries that take the place of NVIDIA's cuBLAS, cuFFT, cuRAND, cuSOLVER, cuSPARSE and
 * NCCL, whose machine code the software device cannot run, and of cuDNN, of which there are handles
 * only. `./emulate --stand-ins` puts them in front; without it nobody finds them.
 *
 * A stand-in computes by kernels of its own, which it launches in the caller's stream through the
 * public functions of the runtime and the driver. Everything that CUDA says of kernels holds for
 * them: streams order them, graphs capture them, races and uninitialised reads are named at the
 * caller's line. A stand-in never computes on the host, and never promises NVIDIA's rounding, speed
 * or choice of algorithm.
 *
 * This header is what the stand-ins share: the bracket around a public function, and kernels.
 */
#ifndef OVERLAP_STANDINS_STANDINS_H
#define OVERLAP_STANDINS_STANDINS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/driver/driver.h"

#define STANDIN_PUBLIC __attribute__((visibility("default")))

/* Begins and ends a public function. The calls of CUDA in between belong to the caller's one call,
 * `name`, made from the address `caller`. Every path that begins must end. `fine`: the function
 * succeeded. Otherwise its CUDA error is the first one that standin_met was given since the
 * beginning, or `otherwise` if there was none. */
void standin_call_begin(const char *name, const void *caller);
void standin_call_end(bool fine, CUresult otherwise);
/* Records an error that the thread's present call has met, or CUDA_SUCCESS. Returns it. */
CUresult standin_met(CUresult error);

/* The body of a function that the library has and the stand-in lacks, in place of the two above: a
 * finding that names it, once for each name. `name` must live as long as the process. */
void standin_absent(const char *name, const void *caller);
#define STANDIN_ABSENT(name, status)                                                               \
    STANDIN_PUBLIC int name(void)                                                                  \
    {                                                                                              \
        standin_absent(#name, __builtin_return_address(0));                                        \
        return status;                                                                             \
    }

/* Inside the bracket: a finding that the software device does not support `what`, a noun. The
 * function is to fail with CUDA_ERROR_NOT_SUPPORTED. */
void standin_lacks(const char *what);

/* Inside the bracket: a finding of a misuse of the library; `what` is its sentence. */
void standin_misused(const char *what);

/* Inside the bracket: from here on rank `who` waits for values of rank `whom`:
 * overlap_call_waits. */
void standin_waits(unsigned who, unsigned whom);

/* Says that registered memory is the library's own: overlap_memory_is_private. */
void standin_private(const void *bytes, const struct overlap_writers *writers, void *user);

/* Makes sure that the calling thread has a current context, the primary one if there was none. */
CUresult standin_context(void);

/* A library's kernels: PTX, loaded when the first of them is launched. One static object for each
 * stand-in, all zeros but for `ptx`. */
struct standin_kernels {
    const char *ptx; /* ended by a 0 */
    CUlibrary library;
    CUresult loaded;
    bool tried;
};

/* The size of a launch, in threads: rounded up to whole blocks of `block` threads. */
struct standin_size {
    uint64_t x, y, z;
    unsigned block_x, block_y;
};

/* Launches kernel `name` in `stream` with one parameter, a structure that is copied.
 * Errors: those of loading and launching; CUDA_ERROR_INVALID_VALUE for a grid that is too large. */
CUresult standin_launch(struct standin_kernels *kernels, const char *name,
                        const struct standin_size *size, CUstream stream, const void *parameter);

#endif
