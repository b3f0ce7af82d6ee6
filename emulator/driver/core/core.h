/* core: the state that every room of libcuda.so.1 works on: the process, the calling thread and its
 * current call, objects and their handles (object.h), the trace (report.h), and the helpers that
 * all implementations of driver functions share.
 *
 * One lock guards all of it. The wrapper of a public function (entry/entry.h) takes the lock and
 * releases it; an implementation, driver_cuXxx, always runs under the lock and releases it only
 * while it waits for a host function. Kernels and copies also run under the lock, in the thread
 * whose call forces them to run.
 *
 * core never decides when an operation runs (timeline), what an address means (memory) or what an
 * instruction does (exec).
 *
 * Source: CUDA Driver API 13.0.
 */
#ifndef OVERLAP_DRIVER_CORE_CORE_H
#define OVERLAP_DRIVER_CORE_CORE_H

/* With this macro cuda.h declares every version of every function under its own name. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <cudaProfiler.h>

#include <pthread.h>

#include "emulator/driver/core/devices.h"
#include "emulator/driver/core/object.h"
#include "emulator/driver/core/report.h"
#include "emulator/driver/driver.h"
#include "emulator/timeline/model.h"

/* The implementations, one per distinct name in driver.def. Each is defined in the room that it
 * belongs to. */
#include "emulator/driver/core/signatures.def"
#include "emulator/driver/core/signatures_graph.def"
#define ROW(name, implementation, since, needs)                                                    \
    CUresult driver_##implementation PARAMETERS_##implementation;
#include "emulator/driver/core/driver.def"
#undef ROW

/* ---- the thread --------------------------------------------------------------------------- */

/* The outermost public call that the thread is in. */
struct call {
    const char *name;
    const void *caller;
    unsigned flags; /* enum overlap_call_flag */
    uint64_t request;
    uint64_t start_ns;
    uint64_t began_ns;                /* CLOCK_MONOTONIC */
    uint64_t context, stream, object; /* trace ids that the call named */
    unsigned injection;               /* flags for the trace: TRACE_CAN_FAIL, TRACE_MADE_TO_FAIL
                                         (entry/entry.h) */
    const char *as_if;                /* why an injected error fails the call; NULL: no injected
                                         error */
    uint32_t stack;                   /* stack_note of a call that an injected error fails */
    bool ranked;                      /* overlap_call_waits: `who` and `whom` are known */
    uint32_t who, whom;
};

struct thread {
    bool known;
    uint64_t number;   /* 1, 2, ... */
    uint64_t clock_ns; /* its virtual host clock */
    unsigned depth;    /* nested public functions */
    bool locked;
    bool in_turn;    /* entered the device under OVERLAP_TURNS (entry/turns.c) */
    bool per_thread; /* the current driver call takes stream 0 for the thread's own default
                        stream */
    bool in_host_function;
    bool reads_late; /* the copies that it asks for may read their sources when they run */
    struct timeline_op *host_op;      /* operation of the running host function; NULL: none runs */
    unsigned polls;                   /* successive queries that returned "not ready" */
    CUstreamCaptureMode capture_mode; /* cuThreadExchangeStreamCaptureMode */
    CUresult owed; /* a sticky error that the call returns after it has done its work */
    struct call call;
    struct missing missing[MISSING_KIND_COUNT]; /* by kind: the latest failed creation, until one
                                                   succeeds */
    bool misses;                                /* some entry of `missing` is set */
    struct context **stack;                     /* current contexts, the top one last */
    size_t depth_of_stack, room_of_stack;
};
extern _Thread_local struct thread thread;

/* Writes the plain name of a function: "cuMemcpyHtoDAsync" for "cuMemcpyHtoDAsync_v2_ptsz". */
void call_plain_name(char *to, size_t size, const char *name);
/* The return address of the public call that the thread is in; 0: the thread is in none. */
uint64_t call_place(void);
/* The context on top of the thread's stack, alive or not; NULL: none. */
struct context *thread_context(void);
int64_t clock_ns(clockid_t clock); /* -1: there is no such clock */
uint64_t monotonic_ns(void);       /* CLOCK_MONOTONIC */
/* CPU time of a thread of this process in ns; -1: the thread is gone. */
int64_t thread_computed(pid_t tid);
/* Advances the calling thread's virtual host clock by `ns`, or to `ns` if it is behind that. */
void thread_spend(double ns);
void thread_wait_until(uint64_t ns);
/* Like thread_wait_until, for work of the device: the host needs a moment more to notice its
 * end. */
void thread_wait_for_device(uint64_t end_ns);
/* Like thread_spend, for work that only one thread of a process can do at a time (creating a
 * context). */
void thread_spend_exclusively(double ns);

/* ---- the process -------------------------------------------------------------------------- */

struct driver {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when an operation ran or a host function ended */
    bool initialised;
    bool forked; /* this process was forked from one that had initialised CUDA */
    bool ending; /* the program is over: remaining work runs for the checks only */
    struct trace_writer *trace;
    struct timeline *timeline;
    /* The last number given out of each kind. */
    uint64_t ids, contexts, requests, threads, families;
    uint64_t main_clock_ns;  /* atomic: the latest clock of the first thread and of every thread
                                that ended */
    uint64_t start_clock_ns; /* atomic: where new threads start: the first thread's clock after its
                                latest call */
    uint64_t initialised_ns; /* virtual time of the end of cuInit */
    uint64_t exclusive_ns;   /* end of the latest thread_spend_exclusively */
    uint64_t calls;          /* public functions entered so far; lets a waiting thread detect a
                                pause */
    unsigned nudges;         /* of the timeline, by calls */

    struct {
        struct context *context; /* never freed once it exists */
        unsigned count;
        unsigned flags;
    } primary[MEMORY_DEVICES]; /* by ordinal */
    CUresult failed;   /* first fault in any context; after it every context fails and none can be
                          created */
    bool lost;         /* some context has a sticky error, from a fault or an injected error */
    bool programmatic; /* a launch outside a capture has recorded a programmatic event */
    struct capture *captures; /* captures that have not ended */
};
extern struct driver driver;

/* Take and release the driver's lock; thread.locked says who holds it. */
void driver_lock(void);
void driver_unlock(void);
/* Takes the driver's lock from outside a public call (a signal handler, the end of the process),
 * where an unbounded wait could hang for ever. Returns true if this function has taken the lock.
 * Returns false if the calling thread holds it already, after `ms` in which no thread of the
 * process used the CPU, or after 20 * `ms` in any case: a thread that works under the lock for long
 * still releases it. */
bool driver_lock_within(unsigned ms);
/* Waits so for anything that other threads do. `has_come` looks for it, for DRIVER_LOOK_MS
 * milliseconds unless it has come. Safe in a signal handler if `has_come` is. */
enum { DRIVER_LOOK_MS = 20 };
bool driver_waits_for(bool (*has_come)(void), unsigned ms);

/* Bytes of shared memory per block that a launch may request without opting in. */
enum { SHARED_DEFAULT = 48 << 10 };

/* The settings that the device takes from environment variables, read once, at cuInit
 * (environment.c). */
struct environment {
    enum timeline_order order;
    uint64_t seed;              /* seed of the random order */
    uint64_t memory;            /* bytes */
    uint64_t workers;           /* host threads that run blocks; 0: one per processor */
    uint64_t instruction_limit; /* warp instructions that a kernel may execute */
    uint64_t connections;
    bool launch_blocking;
    bool races;             /* race checking is on: OVERLAP_RACES is not "off" */
    bool advises;           /* advice is given: OVERLAP_ADVICE is not "off" */
    const char *order_name; /* OVERLAP_ORDER as written */
    CUresult refusal;       /* what cuInit returns when no device is visible */
};

/* Parses a size of device memory such as "512M" (the form of OVERLAP_MEMORY). Returns false if
 * `text` is not a size in the allowed range. */
bool environment_memory(const char *text, uint64_t *bytes);

/* Reads the settings; names each invalid value on standard error. The caller holds the driver's
 * lock. Does nothing after environment_keep. */
void environment_read(void);
/* Reads only which devices exist: before cuInit. The caller holds the lock. */
void environment_read_devices(void);
/* Reads the settings now and never again: the code that started the process may change the
 * environment afterwards. */
void environment_keep(void);
/* The settings as last read; all zero before the first read. */
const struct environment *environment(void);
/* Writes "overlap: ..." and a line feed on standard error, unless OVERLAP_QUIET is "all". */
__attribute__((format(printf, 1, 2))) void device_say(const char *format, ...);
/* True when OVERLAP_QUIET is set: a reader of the trace reports what is recorded there, so the
 * device need not print it. */
bool device_is_quiet(void);

/* These macros `return` an error from the implementation: CUDA_ERROR_INVALID_VALUE for a NULL
 * pointer, CUDA_ERROR_INVALID_DEVICE for a device that is not visible, and any error of
 * `expression`. */
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
