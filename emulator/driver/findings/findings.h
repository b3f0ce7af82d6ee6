/* findings: the hub of the room. The other rooms report events here, one function per event; only
 * findings.c knows which detectors handle an event. All functions but findings_call_ended run under
 * the driver's lock.
 *
 * The room has two more public headers: handle.h looks handles up, and finding.h is for code that
 * itself detects a mistake. Code outside of the room never calls a detector directly
 * (tests/style/rooms.txt).
 */
#ifndef OVERLAP_DRIVER_FINDINGS_FINDINGS_H
#define OVERLAP_DRIVER_FINDINGS_FINDINGS_H

#include "emulator/driver/core/core.h"
#include "emulator/driver/findings/rows.h"
#include "emulator/races/races.h"

struct exec_footprint;
struct exec_launch;
struct exec_racecheck;

/* ---- the process and its calls ------------------------------------------------------------- */

/* Called before the first call. */
void findings_process_begins(void);
/* Called by cuInit after it has created the timeline. Returns false if memory runs out. */
bool findings_begin(void);
/* Returns true if accesses of operations are checked at all. */
bool findings_watching(void);
/* The thread's current call has ended with `code`. Called without the lock. */
void findings_call_ended(int code);
/* The current call waits as GPUs do although the documentation promises no wait: for work of
 * `stream`, or of the whole context if `stream` is 0 (trace ids). */
void findings_host_waits_on_gpus(uint64_t context, uint64_t stream);
/* The current call is the first to use something in a context, for which a GPU has to prepare: it
 * begins nothing new, or (MODULE, LOCAL: to be told for the process's only thread) does not return,
 * before the kernels that run have ended. */
enum findings_first_what {
    FIRST_USE_OF_KERNEL, /* loaded lazily */
    FIRST_USE_OF_MODULE, /* of code of a file of its own, loaded lazily */
    FIRST_NEED_OF_HEAPS, /* a launch of a kernel that may print or use the heap */
    FIRST_NEED_OF_LOCAL, /* a launch that needs more local memory than any before */
};
struct findings_first {
    enum findings_first_what what;
    const char *kernel; /* mangled; NULL: none in particular */
    uint32_t bytes;     /* of local memory per thread */
};
void findings_first_use(const struct context *context, const struct findings_first *first);
/* The kernel `held` went on because of what a GPU does only behind its end: the operation `later`,
 * NULL: the program's next steps. */
void findings_held_up(const struct operation *held, const struct operation *later);
/* The host has waited for something. */
void findings_host_waited(void);
/* The current call fails because it was given no valid object of that kind, or no memory at that
 * address. */
void findings_call_lacks(enum object_kind kind);
void findings_call_lacks_memory(uint64_t address);
/* The current call reads these bytes of host memory. */
void findings_host_reads(const struct races_rows *rows);
/* The process ends. */
void findings_process_ends(void);
/* Nothing will run any more, and no call will be made. */
void findings_last(void);

/* ---- an operation's life -------------------------------------------------------------------- */

/* The operation was created for a call. */
void findings_asked_for(struct operation *operation);
/* The current call passes this address to work of the device, which may read or write there. */
void findings_given(uint64_t address);
/* The operation is about to be submitted and will read or write these bytes of pageable memory at a
 * moment unknown to the host. `is_advice`: on a GPU the access is over when the call returns, but
 * the documentation does not promise that. Assigns operation->flight. */
void findings_will_touch(struct operation *operation, enum races_mode mode,
                         const struct races_rows *rows, bool is_advice);
/* The operation with that flight number was submitted as `op` and writes or reads these bytes; `op`
 * NULL: the submission failed. Rows of width 0: none. */
void findings_in_flight(uint64_t flight, const struct timeline_op *op,
                        const struct races_rows *written, const struct races_rows *read);
/* The operation is about to be submitted. Returns false if memory runs out: then it must not be.
 * Otherwise findings_submitted follows. */
bool findings_submits(const struct operation *operation);
/* The operation was submitted as `op`; NULL: the submission failed. */
void findings_submitted(const struct operation *operation, const struct timeline_op *op);
/* A pending copy or memset, `op`, will write at this address when it runs. */
void findings_will_write(const struct timeline_op *op, uint64_t address);
/* A pending kernel, `op`, was given this address and may access memory from there on when it
 * runs. */
void findings_may_touch(const struct timeline_op *op, uint64_t address);
/* The operation runs now: called before and after its effect. `pageable`: the bytes of pageable
 * memory that it writes; NULL: none. */
void findings_begins(const struct operation *operation, const struct races_rows *pageable);
void findings_ran(const struct operation *operation, const struct races_rows *pageable);
/* Called between those two: what a copy or a memset accesses. */
void findings_reads(struct operation *operation, const struct races_rows *rows);
void findings_writes(struct operation *operation, const struct races_rows *rows);
/* A value that others may be waiting for, by an operation that stores values. */
void findings_value(struct operation *operation, uint64_t address, uint64_t size);
/* The operation fails because of this access. */
void findings_operation_faults(struct operation *operation, const struct findings_access *access);
/* `op` may exchange values with the host through memory, so that the host may know what happens
 * before `op`. */
void findings_communicates(const struct timeline_op *op);
/* The operation is released. */
void findings_operation_ends(struct operation *operation);

/* ---- a kernel ------------------------------------------------------------------------------- */

/* What is recorded about a kernel from its beginning to its end. Owned by its launch, initially
 * zero. */
struct findings_kernel {
    struct exec_footprint *footprint;
    struct exec_racecheck *racecheck;
    struct timeline_op *primary;  /* the stream's preceding kernel beside which this one may begin
                                     (programmatic dependent launch); a reference; NULL: none */
    struct early_kernels beside;  /* other kernels beside which it may begin unless something else
                                     orders it behind them */
    struct exec_footprint *early; /* accesses before the kernel waits for all of these; NULL:
                                     none */
    uint64_t memory_ends; /* memory_ends() when it paused: the regions in the footprint are valid
                             while that stays the same */
    bool has_paused;      /* the host and other operations went on between two parts of it */
    bool has_lost;        /* a footprint of its, with memory that ended */
};

/* The kernel begins, or resumes after a pause. Sets the recording fields of `request`, the launch
 * that is about to run. */
void findings_kernel_begins(struct operation *operation, struct findings_kernel *kernel,
                            struct exec_launch *request);
/* The kernel pauses; the host may access memory until it resumes. */
void findings_kernel_pauses(struct findings_kernel *kernel);
/* The kernel launches a kernel itself and goes on. The first function returns true if it has
 * accessed anything since the last such launch; the second records those accesses as happening
 * before the end of operation->op. */
bool findings_kernel_has_touched(const struct findings_kernel *kernel);
void findings_kernel_part(struct operation *operation, struct findings_kernel *kernel,
                          const struct exec_launch *request);
/* The kernel has ended. */
void findings_kernel_ran(struct operation *operation, struct findings_kernel *kernel,
                         const struct exec_launch *request);
/* The kernel will not run, or will not resume. */
void findings_kernel_drop(struct findings_kernel *kernel);

/* ---- memory, contexts, events --------------------------------------------------------------- */

/* The region was just allocated and holds no defined contents. */
void findings_memory_begins(const struct memory_region *region);
/* These bytes are padding, which a program may read without having written them. */
void findings_memory_pads(const struct races_rows *rows);
/* The region ends: by the host's current call (which counts as an access), or without any
 * access. */
void findings_memory_ends(const struct memory_region *region);
void findings_memory_gone(const struct memory_region *region);
/* An operation allocates (RACES_WRITE) or frees (RACES_FREE) the region in stream order. `stays`:
 * it keeps its address while it is free, so that work can still race with the free. */
void findings_memory_passes(struct operation *operation, enum races_mode mode,
                            const struct memory_region *region, bool stays);
/* An operation finds that other work has freed the memory that it was to touch. */
void findings_memory_misses(struct operation *operation, enum races_mode mode, uint64_t address,
                            uint64_t bytes);
struct ptx_module;
/* `unit` was parsed from `text`, which may quote lines of its source code as comments. */
void findings_unit_parsed(const struct ptx_module *unit, const char *text);
/* The context is about to end, by the current call; and: none of its work will run any more. */
void findings_context_ends(const struct context *context);
void findings_context_abandoned(const struct context *context);
/* The host, or `stream`, waits for the event; the event ends. */
void findings_event_awaited(struct event *event, const struct stream *stream);
void findings_event_ends(const struct event *event);

#endif
