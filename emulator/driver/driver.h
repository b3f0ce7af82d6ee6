/* driver: what libcudart.so.13 needs of libcuda.so.1 beyond cuda.h.
 *
 * The runtime is a layer over the driver's public functions. Only what those cannot say is here:
 * that several driver calls make up one call of the submission, and sentences about it. Nothing
 * here launches, copies or allocates.
 *
 * The names are exported by libcuda.so.1 under the prefix overlap_, so that they cannot meet a name
 * of the submission. None of them takes a handle, and none fails unless it says so.
 */
#ifndef OVERLAP_DRIVER_DRIVER_H
#define OVERLAP_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* ---- one call of the submission ---------------------------------------------------------- */

enum overlap_call_flag {
    OVERLAP_CALL_DRIVER = 1u << 0,  /* a function of the driver API */
    OVERLAP_CALL_ASYNC = 1u << 1,   /* by its name: the host does not wait for the work */
    OVERLAP_CALL_REPEATS = 1u << 2, /* what it returns is an earlier call's error */
};

/* Enters and leaves a public function. Calls nest per thread; the outermost one is the call of the
 * submission: it gets a request number, advances the thread's virtual clock by the cost of a call,
 * and on leaving becomes one TRACE_CALL with `name` (without _v2, _ptsz), the return address
 * `caller`, the stream, context and object that the driver functions inside named, and `code`
 * (cudaError_t or CUresult, as the submission sees it). Operations submitted inside carry its
 * request number. The lock is not held in between: the driver's functions take it themselves.
 *
 * `name` must stay valid until the matching leave. leave returns `code`. Every path that entered
 * must leave. Both may be called before cuInit. */
void overlap_call_enter(const char *name, const void *caller, unsigned flags);
int overlap_call_leave(int code);

/* False inside a host function or a stream callback, where a submission must not call CUDA: the
 * runtime answers cudaErrorNotPermitted without doing anything. (The driver's functions answer
 * CUDA_ERROR_NOT_PERMITTED by themselves.) */
bool overlap_call_permitted(void);

/* The current call, if it is the submission's own, is about to be carried out: the error that it
 * has to return instead, because OVERLAP_FAIL chose it (entry/entry.h), or 0. */
int overlap_call_fault(void);

/* Reads the environment and opens the trace now, instead of at the first call; nothing that the
 * environment says later is heard. For a process that loads, after this, code that it does not
 * trust (grader/child/runner.c). Before the first call. Returns why the device is of no use on this
 * machine, or NULL. */
const char *overlap_begin(void);

/* The calling thread's time, in nanoseconds, by the model of a host that the virtual clock has: its
 * CUDA calls take some, its own computing none, and a look at the clock a little, so that who looks
 * until some time has passed comes to an end. For a drive that hands a clock to what it drives. */
uint64_t overlap_host_clock(void);

/* True in a process that was forked after CUDA had been initialised in its parent: nothing works
 * here; cuInit and every other call return CUDA_ERROR_NOT_INITIALIZED. */
bool overlap_forked(void);

/* ---- findings --------------------------------------------------------------------------- */

/* A finding at the current outermost call: "the software device does not support <what>". `code`:
 * the error that the call will return. */
void overlap_finding_unsupported(const char *what, int code) __attribute__((nonnull(1)));

/* The body of every function that is exported but not supported: a finding "not supported" with
 * the function's name, printed once per name. `caller` as in overlap_call_enter. Returns `code`
 * (801 in both APIs) and records the call. */
int overlap_unsupported(const char *name, const void *caller, unsigned flags, int code);

#pragma GCC visibility pop

#endif
