/* core: the state of libcuda.so.1 that every room of the driver works on: the process, the calling
 * thread and its call, objects and their handles (object.h), the trace (report.h), and what the
 * functions of the driver API share.
 *
 * One lock guards everything. A public function's wrapper takes it (entry/entry.h) and gives it
 * back; an implementation, driver_cuXxx, always runs under it and lets go of it only while it waits
 * for a host function. Kernels and copies run under it, in whichever thread forces them.
 *
 * It never decides when an operation runs (timeline), what an address is (memory) or what an
 * instruction does (exec).
 *
 * Source: CUDA Driver API 13.0.
 */
#ifndef OVERLAP_DRIVER_CORE_CORE_H
#define OVERLAP_DRIVER_CORE_CORE_H

/* cuda.h then declares every version of every function under its own name. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <cudaProfiler.h>

#include <pthread.h>

#include "emulator/driver/core/devices.h"
#include "emulator/driver/core/object.h"
#include "emulator/driver/core/report.h"
#include "emulator/driver/driver.h"
#include "emulator/timeline/model.h"

/* The implementations, one per distinct name in driver.def: each in the room whose matter it is. */
#include "emulator/driver/core/signatures.def"
#define ROW(name, implementation, since, needs)                                                    \
    CUresult driver_##implementation PARAMETERS_##implementation;
#include "emulator/driver/core/driver.def"
#undef ROW

/* ---- the thread --------------------------------------------------------------------------- */

/* The outermost call that the thread is in. */
struct call {
    const char *name;
    const void *caller;
    unsigned flags; /* enum overlap_call_flag */
    uint64_t request;
    uint64_t start_ns;
    uint64_t began_ns;                /* CLOCK_MONOTONIC */
    uint64_t context, stream, object; /* trace ids that the call named */
    unsigned injection;               /* TRACE_CAN_FAIL, TRACE_MADE_TO_FAIL: entry/entry.h */
    const char *as_if;                /* of a call that is made to fail: why; NULL: it is not */
    uint32_t stack;                   /* the same: stack_note */
};

struct thread {
    bool known;
    uint64_t number;   /* 1, 2, ... */
    uint64_t clock_ns; /* its virtual host clock */
    unsigned depth;    /* of public functions */
    bool locked;
    bool in_turn;    /* of those that enter the device in turns */
    bool per_thread; /* stream 0 in the current driver call */
    bool in_host_function;
    struct timeline_op *host_op;      /* of the host function; NULL: in none */
    unsigned polls;                   /* queries in a row that were answered with not ready */
    CUstreamCaptureMode capture_mode; /* cuThreadExchangeStreamCaptureMode */
    CUresult owed; /* a sticky error that the call returns after it has done its work */
    struct call call;
    struct missing missing[MISSING_KIND_COUNT]; /* since when the thread has made nothing such */
    bool misses;                                /* any of them */
    struct context **stack;                     /* of current contexts, the last one on top */
    size_t depth_of_stack, room_of_stack;
};
extern _Thread_local struct thread thread;

/* "cuMemcpyHtoDAsync" of "cuMemcpyHtoDAsync_v2_ptsz". */
void call_plain_name(char *to, size_t size, const char *name);
/* The return address of the call that the thread is in; 0: it is in none. */
uint64_t call_place(void);
/* The context on top of the thread's stack, alive or not; NULL: none. */
struct context *thread_context(void);
uint64_t monotonic_ns(void); /* CLOCK_MONOTONIC */
/* Lets the calling thread's host clock run on. */
void thread_spend(double ns);
void thread_wait_until(uint64_t ns);
/* The same for work of the device: the host notices its end a little later. */
void thread_wait_for_device(uint64_t end_ns);
/* For what only one thread at a time can do in a process (creating a context). */
void thread_spend_exclusively(double ns);

/* ---- the process -------------------------------------------------------------------------- */

struct driver {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something ran, or a host function ended */
    bool initialised;
    bool forked; /* the parent had CUDA */
    bool ending; /* what is left runs to be checked only: the program is over */
    struct trace_writer *trace;
    struct timeline *timeline;
    uint64_t ids, requests, threads, families; /* how many were given out */
    uint64_t main_clock_ns;  /* atomic: the first thread's clock, and of every thread that ended */
    uint64_t start_clock_ns; /* atomic: where others start, the first thread's after a call */
    uint64_t initialised_ns; /* when it was */
    uint64_t exclusive_ns;   /* until when thread_spend_exclusively is taken */
    uint64_t calls;          /* public functions entered, for whoever watches for a pause */

    struct {
        struct context *context; /* kept for ever once made */
        unsigned count;
        unsigned flags;
    } primary[MEMORY_DEVICES]; /* by ordinal */
    CUresult failed; /* the first fault in any context: from then on none works, none is created */
    bool lost;       /* a context has a sticky error, by a fault or by an injected error */
    struct capture *captures; /* sequences that have not ended */
};
extern struct driver driver;

/* Takes the lock from outside a call (a signal's handler, the process's end), where waiting for
 * ever might never end. Returns whether it did; never if this thread has it. It gives up after `ms`
 * in which nobody in the process computed, or 20 times as long: whoever has the lock and works for
 * long gives it back. */
bool driver_lock_within(unsigned ms);

/* Shared memory that a launch may ask for without opting in: bytes per block. */
enum { SHARED_DEFAULT = 48 << 10 };

/* What the environment says to the device, read once, at cuInit (environment.c). */
struct environment {
    enum timeline_order order;
    uint64_t seed;              /* of the random order */
    uint64_t memory;            /* bytes */
    uint64_t workers;           /* 0: one per processor */
    uint64_t instruction_limit; /* warp instructions */
    uint64_t connections;
    bool launch_blocking;
    bool races;             /* are looked for: OVERLAP_RACES is not "off" */
    bool advises;           /* OVERLAP_ADVICE is not "off" */
    const char *order_name; /* as it was given */
    CUresult refusal;       /* of cuInit: there is no device to be seen */
};

/* A size of device memory, "512M", as OVERLAP_MEMORY has it. False: it is none. */
bool environment_memory(const char *text, uint64_t *bytes);

/* Reads it, and complains. Under the driver's lock. After environment_keep it does nothing. */
void environment_read(void);
/* Reads it now and never again: whoever started the process may take it away. */
void environment_keep(void);
/* What was read last; before that, zeros. */
const struct environment *environment(void);
/* Writes "overlap: ..." and a line feed on standard error, unless OVERLAP_QUIET is "all". */
__attribute__((format(printf, 1, 2))) void device_say(const char *format, ...);
/* OVERLAP_QUIET is set: somebody reads the trace, so what stands there need not be said. */
bool device_is_quiet(void);

/* CUDA_ERROR_INVALID_VALUE unless all of them are given: `return`s from the implementation. */
#define NEED_POINTER(pointer)                                                                      \
    do {                                                                                           \
        if ((pointer) == NULL) return CUDA_ERROR_INVALID_VALUE;                                    \
    } while (0)
#define NEED_DEVICE(device)                                                                        \
    do {                                                                                           \
        if ((device) < 0 || (device) >= devices_count()) return CUDA_ERROR_INVALID_DEVICE;         \
    } while (0)
#define TRY(expression)                                                                            \
    do {                                                                                           \
        CUresult try_code = (expression);                                                          \
        if (try_code != CUDA_SUCCESS) return try_code;                                             \
    } while (0)

#endif
