/* driver: what libcudart.so.13 and libnvidia-ml.so.1 need of libcuda.so.1 beyond cuda.h.
 *
 * The runtime is a layer over the driver's public functions. This header has only what those cannot
 * express: that several driver calls make up one call of the submission, findings about that call,
 * and which devices there are before CUDA begins. Nothing here launches, copies or allocates.
 *
 * libcuda.so.1 exports these names under the prefix overlap_, so that they cannot collide with a
 * name of the submission. None of them takes a handle, and none fails unless its comment says so.
 */
#ifndef OVERLAP_DRIVER_DRIVER_H
#define OVERLAP_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* ---- one call of the submission ---------------------------------------------------------- */

enum overlap_call_flag {
    OVERLAP_CALL_DRIVER = 1u << 0,  /* a function of the driver API */
    OVERLAP_CALL_ASYNC = 1u << 1,   /* by its name, the function does not wait for the work */
    OVERLAP_CALL_REPEATS = 1u << 2, /* returns the error of an earlier call */
    OVERLAP_CALL_LIBRARY = 1u << 3, /* of a library, whose work bears its name */
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

/* Returns false inside a host function or a stream callback, where a submission must not call CUDA:
 * the runtime then returns cudaErrorNotPermitted without doing anything. (The driver's functions
 * return CUDA_ERROR_NOT_PERMITTED by themselves.) */
bool overlap_call_permitted(void);

/* Called before the current call is carried out, if the submission itself made it. Returns the
 * error that OVERLAP_FAIL injects into this call (entry/entry.h), or 0. */
int overlap_call_fault(void);

/* Reads the environment and opens the trace now instead of at the first call; later changes of the
 * environment have no effect. For a process that afterwards loads code it does not trust
 * (grader/child/runner.c). Call it before the first CUDA call. Returns why the device cannot work
 * on this machine, or NULL. */
const char *overlap_begin(void);

/* The calling thread's virtual time in nanoseconds. CUDA calls take time on this clock, the
 * program's own computing takes none, and each reading of the clock takes a little, so that a loop
 * that polls the clock ends. For code of the grader that gives the submission a clock. */
uint64_t overlap_host_clock(void);

/* The newest runtime that emulator/front has replaced in a program or library that has no symbols
 * of it, as 13040; 0: none. Written by the audit library, before any code of that object runs. Who
 * has such a runtime inside compares its version with the driver's, which is therefore no older. */
extern unsigned overlap_runtime_inside;

/* Returns true in a process that was forked after its parent had initialised CUDA. Nothing works
 * there: cuInit and every other call return CUDA_ERROR_NOT_INITIALIZED. */
bool overlap_forked(void);

/* Returns true if the device's primary context is alive, whoever has retained it. */
bool overlap_primary_alive(int device);

/* ---- findings --------------------------------------------------------------------------- */

/* Reports the finding "the software device does not support <what>" at the current outermost call.
 * `code`: the error that the call will return. */
void overlap_finding_unsupported(const char *what, int code) __attribute__((nonnull(1)));

/* Reports that a library (emulator/standins) is misused, in the sentence `what`. */
void overlap_finding_misuse(const char *what, int code) __attribute__((nonnull(1)));

/* The page-locked memory at `bytes` is a library's own (emulator/standins): code of the program
 * never looks at it, so what streams do there is checked for nothing and tells the host nothing,
 * and a value there says that its writer has come so far, and no more. `writers` are asked with the
 * driver's lock: they call nothing of CUDA's, and take no lock that is held around such a call. */
struct overlap_writers {
    /* Whether the library's rank `whom` (overlap_call_waits) will write nothing any more. */
    bool (*is_over)(void *user, uint32_t whom);
    /* A stream waits for a value of such a rank, which has not been written. */
    void (*is_missed)(void *user);
};
void overlap_memory_is_private(const void *bytes, const struct overlap_writers *writers,
                               void *user);

/* The waits for values that the present call submits from here on are those of a library's rank
 * `who` for rank `whom`: so a wait that does not end is told. */
void overlap_call_waits(uint32_t who, uint32_t whom);

/* The body of every function that is exported but not supported: enters and leaves the call, and
 * reports a "not supported" finding the first time for each name. `caller` as in
 * overlap_call_enter. Returns `code` (801 in both APIs). */
int overlap_unsupported(const char *name, const void *caller, unsigned flags, int code);

/* ---- devices, for libnvidia-ml.so.1 ------------------------------------------------------ */

/* A device that exists, whether or not CUDA_VISIBLE_DEVICES shows it. */
struct overlap_device {
    char name[64];
    unsigned char uuid[16];
    unsigned bus;          /* on PCI; domain, device and function are 0 */
    unsigned major, minor; /* compute capability */
    unsigned multiprocessors;
    unsigned clock, memory_clock; /* kHz */
    unsigned memory_width;        /* bits */
    bool ecc;
    uint64_t memory, used; /* bytes; `used`: by this process */
};

/* Writes what the device with that number is. Returns false if there is none. Does not initialise
 * CUDA, and reads the environment anew until somebody has: a program may look for a device and then
 * set CUDA_VISIBLE_DEVICES. */
bool overlap_device(unsigned number, struct overlap_device *device) __attribute__((nonnull(2)));
/* Notes in the trace, once, that the program has found the device although it may never use CUDA.
 */
void overlap_asked_for(void);

#pragma GCC visibility pop

#endif
