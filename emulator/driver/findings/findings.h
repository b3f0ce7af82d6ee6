/* findings: the hub of the room. The other rooms say what happens, in these verbs; which detectors
 * want to know, only findings.c knows. All under the lock but findings_call_ended.
 *
 * The room's other doors: handle.h looks handles up, finding.h is for whoever finds something wrong
 * by itself. Nobody outside calls a detector (tests/style/rooms.txt).
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

/* Before the first call. */
void findings_process_begins(void);
/* cuInit, with the timeline made. false: no memory. */
bool findings_begin(void);
/* Is what operations touch told to anybody? */
bool findings_watching(void);
/* The thread's current call is over. Without the lock. */
void findings_call_ended(int code);
/* The current call waits for work that only GPUs wait for: a stream's, or (0) a context's. */
void findings_host_waits_on_gpus(uint64_t context, uint64_t stream);
/* The host has waited for something. */
void findings_host_waited(void);
/* The current call is refused: it is given no object of that kind, or no memory at the address. */
void findings_call_lacks(enum object_kind kind);
void findings_call_lacks_memory(uint64_t address);
/* The current call reads these bytes of the host's. */
void findings_host_reads(const struct races_rows *rows);
/* The process ends. */
void findings_process_ends(void);
/* Nothing will run any more, and no call be made. */
void findings_last(void);

/* ---- an operation's life -------------------------------------------------------------------- */

/* It has been made, for a call. */
void findings_asked_for(struct operation *operation);
/* The current call gives this address to work of the device, which may read or write there. */
void findings_given(uint64_t address);
/* It is about to be submitted, and will read, or write, these bytes of pageable memory at a moment
 * that the host does not know; `is_advice`: a GPU has done so when the call returns, though nobody
 * promises it. Gives it a number in operation->flight. */
void findings_will_touch(struct operation *operation, enum races_mode mode,
                         const struct races_rows *rows, bool is_advice);
/* The one of that number has been submitted as `op`, which reads or writes these; `op` NULL: it
 * could not be. Rows of no width: none. */
void findings_in_flight(uint64_t flight, const struct timeline_op *op,
                        const struct races_rows *written, const struct races_rows *read);
/* It has been submitted as `op`. */
void findings_submitted(const struct operation *operation, const struct timeline_op *op);
/* A copy or a memset that is pending as `op` writes at this address when it runs. */
void findings_will_write(const struct timeline_op *op, uint64_t address);
/* A kernel that is pending as `op` has been given this address, and may touch what is from there on
 * when it runs. */
void findings_may_touch(const struct timeline_op *op, uint64_t address);
/* It runs now: before, and behind what it does. `pageable`: it writes these bytes of pageable
 * memory; NULL: none. */
void findings_begins(const struct operation *operation, const struct races_rows *pageable);
void findings_ran(const struct operation *operation, const struct races_rows *pageable);
/* In between: what a copy or a memset touches. */
void findings_reads(struct operation *operation, const struct races_rows *rows);
void findings_writes(struct operation *operation, const struct races_rows *rows);
/* It fails for this access. */
void findings_operation_faults(struct operation *operation, const struct findings_access *access);
/* It may have told the host by memory, or been told, what happens before it. */
void findings_communicates(const struct timeline_op *op);
/* It is released. */
void findings_operation_ends(struct operation *operation);

/* ---- a kernel ------------------------------------------------------------------------------- */

/* What is noted of a kernel from its beginning to its end. Its launch keeps it, zeros at first. */
struct findings_kernel {
    struct exec_footprint *footprint;
    struct exec_racecheck *racecheck;
    struct timeline_op *primary;  /* the kernel before it, beside which it may begin, a reference
                                     that goes with the rest; NULL: none */
    struct exec_footprint *early; /* what it touches before it waits for that; NULL: none */
    uint64_t memory_ends; /* when it paused: regions in the footprint live while that stays */
};

/* It begins, or goes on where it paused. `request`, which launches it, is given what is noted. */
void findings_kernel_begins(struct operation *operation, struct findings_kernel *kernel,
                            struct exec_launch *request);
/* It pauses, and the host may touch memory in between. */
void findings_kernel_pauses(struct findings_kernel *kernel);
/* It launches a kernel, and goes on: whether it has touched anything since the last time; and what,
 * all of which happens before the end of operation->op. */
bool findings_kernel_has_touched(const struct findings_kernel *kernel);
void findings_kernel_part(struct operation *operation, struct findings_kernel *kernel,
                          const struct exec_launch *request);
/* It has ended. */
void findings_kernel_ran(struct operation *operation, struct findings_kernel *kernel,
                         const struct exec_launch *request);
/* It will not run, or not on. */
void findings_kernel_drop(struct findings_kernel *kernel);

/* ---- memory, contexts, events --------------------------------------------------------------- */

/* The region has just been allocated, with contents that nobody wrote. */
void findings_memory_begins(const struct memory_region *region);
/* These bytes of it are padding, which a program may read without having written it. */
void findings_memory_pads(const struct races_rows *rows);
/* It ends, by the call that the host is in; or by nothing that touches it. */
void findings_memory_ends(const struct memory_region *region);
void findings_memory_gone(const struct memory_region *region);
/* An operation makes it the program's, or takes it back (RACES_WRITE, RACES_FREE). */
void findings_memory_passes(struct operation *operation, enum races_mode mode,
                            const struct memory_region *region);
/* The context is about to end, by the current call; nothing of it will run any more. */
struct ptx_module;
/* `unit` was parsed from the text, which may quote the lines of its source. */
void findings_unit_parsed(const struct ptx_module *unit, const char *text);
void findings_context_ends(const struct context *context);
void findings_context_abandoned(const struct context *context);
/* The host, or `stream`, is made to wait for an event; it ends. */
void findings_event_awaited(struct event *event, const struct stream *stream);
void findings_event_ends(const struct event *event);

#endif
