/* runtime: libcudart.so.13, the runtime API on top of the driver's public functions; and, compiled
 * with RUNTIME_MAJOR 12, libcudart.so.12 for programs of CUDA 12.
 *
 * This library holds what the driver does not know: the fat binaries, kernels and variables that
 * the program registered, and each host thread's device, last error and launch configurations. It
 * never launches, copies or allocates by itself, and knows nothing of stream order or memory: those
 * rules exist once, in the driver.
 *
 * Nothing starts when a program registers its kernels (before main). The first call initialises the
 * driver; the first call that needs a context retains the primary context.
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

#if RUNTIME_MAJOR == 12
#include "emulator/runtime/properties12.h"
#define RUNTIME_VERSION 12090
typedef struct properties12 runtime_properties;
#else
#define RUNTIME_VERSION CUDART_VERSION
typedef struct cudaDeviceProp runtime_properties;
#endif

/* ---- a call of the submission ---------------------------------------------------------------- */

enum runtime_needs {
    RUNTIME_ANY,
    RUNTIME_KNOWN,
    RUNTIME_HERE,
    RUNTIME_READY,
    RUNTIME_CURRENT,
    RUNTIME_ASYNC,
};
enum runtime_default_stream { RUNTIME_LEGACY, RUNTIME_PER_THREAD };

/* Enters a public function: records the call and its return address, and prepares what it needs
 * (driver, context). Returns cudaSuccess, or the error that the call must return without doing
 * anything. */
cudaError_t runtime_enter(const char *name, const void *caller, enum runtime_needs needs,
                          enum runtime_default_stream stream);

/* Leaves a public function, whether runtime_enter succeeded or not: an error becomes the thread's
 * last error. Returns `error`. */
cudaError_t runtime_leave(cudaError_t error);

/* The first call of any function initialises the driver (as in CUDA 13), even one that needs
 * nothing of the driver and cannot fail because of it. */
bool runtime_has_started(void);
void runtime_start(void);

/* ---- state of the thread --------------------------------------------------------------------- */

/* Converts a driver's error code: the numbers are the same, unknown ones become
 * cudaErrorUnknown. */
cudaError_t runtime_error(CUresult result);

/* Converts a stream for the driver; stream 0 becomes the default stream of the current call's
 * variant. */
CUstream runtime_stream(cudaStream_t stream);

/* Returns true in a call of the variant for per-thread default streams. */
bool runtime_per_thread(void);

/* Returns the ordinal of the thread's device. */
int runtime_device(void);

/* Makes `device` the thread's device and its primary context current, whatever was current
 * before. */
cudaError_t runtime_use_device(int device);
/* Finds the primary context of a device that exists. With `make` it is made if there is none;
 * otherwise *context is NULL then. */
CUresult runtime_primary(int device, bool make, CUcontext *context);
/* Makes the device the one that the thread uses as long as it has not chosen one. */
void runtime_prefer_device(int device);

/* Starts the primary context of `device`, and leaves the thread's device and what is current. */
cudaError_t runtime_start_device(int device);

/* Returns true if the runtime made `context` current and has ended it since. */
bool runtime_is_reset(CUcontext context);

/* Reads the number and the properties of all devices, once: later calls answer from that. */
CUresult runtime_know_devices(void);

/* Releases the primary context of `device`; the next call that needs it retains it again. */
cudaError_t runtime_reset_device(int device);

/* ---- registered kernels and variables -------------------------------------------------------- */

/* Finds the function of a kernel in the current context. `symbol` is the kernel's host function or
 * a cudaKernel_t. Errors: cudaErrorInvalidDeviceFunction for NULL,
 * cudaErrorInvalidResourceHandle for another address that is neither; the driver's error if the fat
 * binary cannot be loaded. */
cudaError_t runtime_function(const void *symbol, CUfunction *function);

/* The same without a context: finds the kernel of a library. */
cudaError_t runtime_kernel(const void *symbol, CUkernel *kernel);

/* Finds the device variable of `symbol` in the current context. Errors: cudaErrorInvalidSymbol, or
 * the driver's. */
cudaError_t runtime_variable(const void *symbol, CUdeviceptr *address, size_t *size);

/* ---- copies ---------------------------------------------------------------------------------- */

/* Copies rows synchronously, in the default stream of the call's variant. */
CUresult runtime_copy_rows(const CUDA_MEMCPY2D *copy);

/* Bytes of one element of an array; 0: not an array. */
size_t runtime_array_element(cudaArray_const_t array);

/* The host function that was registered for the kernel, or `function` itself if there is none. */
const void *runtime_symbol(CUfunction function);

/* The address of byte `offset` of a variable; `count` bytes from there must be inside it. Errors:
 * as runtime_variable, and cudaErrorInvalidValue past its end. */
cudaError_t runtime_part_of_variable(const void *symbol, size_t offset, size_t count,
                                     CUdeviceptr *address);

/* ---- copies ---------------------------------------------------------------------------------- */

/* Converts the parameters of cudaMemcpy3D to the driver's. */
cudaError_t runtime_describe_copy(CUDA_MEMCPY3D *copy, const struct cudaMemcpy3DParms *params);

/* ---- implementations of the rows ------------------------------------------------------------- */

#define ROW(symbol, name, needs, stream, parameters, arguments)                                    \
    cudaError_t runtime_##name parameters;
#define BY_HAND(symbol)
#include "emulator/runtime/runtime.def"
#undef ROW
#undef BY_HAND

#endif
