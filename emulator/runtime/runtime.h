/* runtime: libcudart.so.13, the runtime API over the driver's public functions.
 *
 * It holds what the driver does not know: which fat binaries, kernels and variables the program
 * registered, each host thread's device, last error and launch configurations. It never launches,
 * copies or allocates by itself, and it knows nothing of streams' order or of memory: every rule of
 * those is the driver's, stated once.
 *
 * Nothing is started when a program registers its kernels (before main): the driver is initialised
 * at the first call, the primary context retained at the first that needs a context.
 *
 * Source: CUDA Runtime API 13.0; crt/host_runtime.h for what the compiler's host code calls.
 */
#ifndef OVERLAP_RUNTIME_RUNTIME_H
#define OVERLAP_RUNTIME_RUNTIME_H

#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#define RUNTIME_EXPORT __attribute__((visibility("default")))

/* ---- a call of the submission ---------------------------------------------------------------- */

enum runtime_needs { RUNTIME_ANY, RUNTIME_READY, RUNTIME_CURRENT, RUNTIME_ASYNC };
enum runtime_default_stream { RUNTIME_LEGACY, RUNTIME_PER_THREAD };

/* Enters a public function: records the call and the address it comes from, makes ready what it
 * needs. Returns the error that the call must return without doing anything, or cudaSuccess. */
cudaError_t runtime_enter(const char *name, const void *caller, enum runtime_needs needs,
                          enum runtime_default_stream stream);

/* Leaves it, after an enter that succeeded or not: an error becomes the last error. Returns
 * `error`. */
cudaError_t runtime_leave(cudaError_t error);

/* The first call of whatever function initialises the driver (as with CUDA 13), also one that needs
 * nothing of it and cannot fail by it. */
bool runtime_has_started(void);
void runtime_start(void);

/* ---- what the thread works with -------------------------------------------------------------- */

/* A driver's code as the runtime's: the numbers are the same, unknown ones become
 * cudaErrorUnknown. */
cudaError_t runtime_error(CUresult result);

/* `stream` as the driver's, with stream 0 made what it means in the current call. */
CUstream runtime_stream(cudaStream_t stream);

/* True in a call of the per-thread default stream's variant. */
bool runtime_per_thread(void);

/* The ordinal of the device that the thread uses. */
int runtime_device(void);

/* Makes `device` the thread's and its primary context current, whatever was current before. */
cudaError_t runtime_use_device(int device);

/* Gives the primary context of `device` back; the next call that needs one retains it again. */
cudaError_t runtime_reset_device(int device);

/* ---- what the program registered ------------------------------------------------------------- */

/* The kernel that the host function `symbol` stands for, in the current context. `symbol` may also
 * be a cudaKernel_t. Errors: cudaErrorInvalidDeviceFunction when nothing of that address was
 * registered; the driver's, when the fat binary cannot be loaded. */
cudaError_t runtime_function(const void *symbol, CUfunction *function);

/* The same, without a context. */
cudaError_t runtime_kernel(const void *symbol, CUkernel *kernel);

/* The name that the program registered for `symbol`, or NULL. */
const char *runtime_function_name(const void *symbol);

/* The device variable that `symbol` stands for, in the current context.
 * Errors: cudaErrorInvalidSymbol, or the driver's. */
cudaError_t runtime_variable(const void *symbol, CUdeviceptr *address, size_t *size);

/* ---- copies ---------------------------------------------------------------------------------- */

/* Rows, waited for as the call's default stream has it. */
CUresult runtime_copy_rows(const CUDA_MEMCPY2D *copy);

/* Bytes of one element of an array; 0: it is none. */
size_t runtime_array_element(cudaArray_const_t array);

/* The host function of a kernel, or `function` itself when it is none that was registered. */
const void *runtime_symbol(CUfunction function);

/* The address of byte `offset` of a variable, of which `count` bytes are wanted.
 * Errors: as runtime_variable, and cudaErrorInvalidValue past its end. */
cudaError_t runtime_part_of_variable(const void *symbol, size_t offset, size_t count,
                                     CUdeviceptr *address);

/* ---- copies ---------------------------------------------------------------------------------- */

/* What cudaMemcpy3D is given, as the driver's. */
cudaError_t runtime_describe_copy(CUDA_MEMCPY3D *copy, const struct cudaMemcpy3DParms *params);

/* ---- the functions behind the rows ----------------------------------------------------------- */

#define ROW(symbol, name, needs, stream, parameters, arguments)                                    \
    cudaError_t runtime_##name parameters;
#define BY_HAND(symbol)
#include "emulator/runtime/runtime.def"
#undef ROW
#undef BY_HAND

#endif
