/* trace_record: one event, of fixed size: a call, an object's creation or end, work of the device,
 * a finding. The meaning of the fields depends on the kind.
 *
 * Times: `start_ns`/`end_ns` are nanoseconds on the clock of the device that the record comes from
 * (the virtual clock of the software device, CUPTI's clock on a GPU), except in TRACE_MARK, where
 * they are CLOCK_MONOTONIC of the host, as in `ran_ns`. The two clocks are never compared with each
 * other.
 */
#ifndef OVERLAP_TRACE_RECORD_H
#define OVERLAP_TRACE_RECORD_H

#include "trace/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_NAME_SIZE 64
#define TRACE_TEXT_SIZE 512

enum trace_kind {
    TRACE_NONE = 0,  /* reserved but not (completely) written: the writer died */
    TRACE_MODULE,    /* a file mapped into the process: address = load base, text = path */
    TRACE_MARK,      /* a phase of the drive: name, object = its number, flags TRACE_BEGIN/END */
    TRACE_CALL,      /* a public API call of the submission, written when it returns */
    TRACE_CREATE,    /* an object was created: what, object; address/bytes for memory */
    TRACE_DESTROY,   /* an object ended */
    TRACE_OPERATION, /* work done on the device: what, stream, start, end, bytes, from/to */
    TRACE_FINDING,   /* something wrong that the device saw: name = kernel or function, finding */
    TRACE_SETTING,   /* a fact about the device: name = key, text = value (or bytes = number) */
    TRACE_STACK,     /* stack of calls: object = its number, see trace_stack_addresses */
    TRACE_HOST_CALL, /* a C library call that can be made to fail: threads/refusals.h */
    TRACE_SEAL,      /* a writer's sums (trace/seal.h); never shown to readers of a trace */
    TRACE_ADVICE,    /* as a finding: works on GPUs, promised by no documentation */
    TRACE_LINE,      /* a line of an interpreted program: object = its number, text = file, count =
                        line; or with object = 0 of device code: name = its text */
    TRACE_KIND_COUNT
};

/* Sets of kinds: the records that a trace accepts. */
#define TRACE_KIND_BIT(kind) (1u << (kind))
#define TRACE_ALL_KINDS (TRACE_KIND_BIT(TRACE_KIND_COUNT) - 1u)

/* What a CREATE, DESTROY or OPERATION record is about. */
enum trace_what {
    TRACE_WHAT_NONE = 0,
    TRACE_CONTEXT,
    TRACE_STREAM,
    TRACE_EVENT,
    TRACE_LIBRARY, /* a loaded module (CUmodule, CUlibrary) */
    TRACE_DEVICE_MEMORY,
    TRACE_PINNED_MEMORY,
    TRACE_MANAGED_MEMORY,
    TRACE_POOL,   /* pool for stream-ordered memory, not the device's default pool */
    TRACE_THREAD, /* host thread; ends when joined or detached */
    TRACE_GRAPH,
    TRACE_GRAPH_EXEC, /* an executable graph */
    TRACE_TEXTURE,    /* texture object */
    TRACE_SURFACE,    /* surface object */
    TRACE_CL_CONTEXT, /* OpenCL's objects */
    TRACE_CL_QUEUE,
    TRACE_CL_BUFFER,
    TRACE_CL_PROGRAM,
    TRACE_CL_KERNEL,
    TRACE_CL_EVENT,
    TRACE_KERNEL, /* from here on: operations */
    TRACE_COPY,
    TRACE_SET,
    TRACE_HOST_FUNCTION,
    TRACE_EVENT_RECORD, /* start = end = the time the event was reached; object = event id */
    TRACE_EVENT_WAIT,   /* a stream waited for an event; object = event id */
    TRACE_CONDITION,    /* a graph's conditional node read its condition */
    TRACE_WHAT_COUNT
};

/* Where a copy reads from and writes to. */
enum trace_place {
    TRACE_PLACE_NONE = 0,
    TRACE_PAGEABLE,
    TRACE_PINNED,
    TRACE_DEVICE,
    TRACE_MANAGED,
    TRACE_ARRAY,
    TRACE_PLACE_COUNT
};

enum trace_flag {
    TRACE_BEGIN = 1u << 0,    /* MARK */
    TRACE_END = 1u << 1,      /* MARK */
    TRACE_ASYNC = 1u << 2,    /* CALL, OPERATION: the submitting call was asynchronous */
    TRACE_DRIVER = 1u << 3,   /* CALL: of the driver API */
    TRACE_IMPLICIT = 1u << 4, /* CREATE, DESTROY: by the device itself (primary context, default
                                 stream, streams that end with their context) */
    TRACE_TIMING_DISABLED = 1u << 5, /* CREATE of an event */
    TRACE_NON_BLOCKING = 1u << 6,    /* CREATE of a stream */
    TRACE_CAN_FAIL = 1u << 7,        /* CALL, HOST_CALL: can be made to fail */
    TRACE_MADE_TO_FAIL = 1u << 8,    /* CALL, HOST_CALL: was made to fail and did nothing else: text
                                        = pretended reason */
    TRACE_DETACHED = 1u << 9,        /* DESTROY of a thread: it was detached */
};

/* Identifiers: 0 is "none"; otherwise small numbers, given once per process and never reused, so
 * that a new stream at an old handle's address has another number. The default streams have ids
 * too.
 */
struct trace_record {
    uint32_t kind;  /* enum trace_kind; written last, with release order */
    uint32_t what;  /* enum trace_what */
    uint32_t flags; /* enum trace_flag */
    uint32_t from;  /* enum trace_place */
    uint32_t to;    /* enum trace_place */
    int32_t code;   /* CALL: cudaError_t or CUresult. FINDING: the error that will be returned for
                       it */
    uint32_t process;
    uint32_t thread;
    uint64_t context;
    uint64_t stream;
    uint64_t object;  /* CREATE/DESTROY: the object; CALL: the event or other object that it
                         names */
    uint64_t request; /* correlation: shared by a CALL and the OPERATIONs that it submitted */
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t ran_ns; /* CLOCK_MONOTONIC, software device only: OPERATION: when it was carried out;
                        CALL: when it began; else 0 */
    uint64_t bytes;
    uint64_t address;
    uint64_t caller; /* return address in the submission's code; 0: unknown */
    uint64_t count;  /* OPERATION kernel: threads in the grid; FINDING: occurrences; CREATE of a
                        thread: its number, as in `thread`, or 0: not begun; DESTROY of a detached
                        thread: 1: still running long after the function ended; CALL: how many
                        calls of the function were left out before it (trace/repeats.h) */
    uint32_t unused;
    uint32_t stack; /* object of the TRACE_STACK that leads to `caller`; 0: not recorded */
    char name[TRACE_NAME_SIZE]; /* CALL: the API's name without version suffix; CREATE of memory:
                                   name of the creating call; name of a kernel; for other work
                                   of a library: its function's */
    union {
        char text[TRACE_TEXT_SIZE];
        struct trace_finding finding;                       /* FINDING, ADVICE */
        uint64_t calls[TRACE_TEXT_SIZE / sizeof(uint64_t)]; /* STACK */
    };
};

/* ---- words -------------------------------------------------------------------------------- */

/* The English names used in messages and in dumps: "kernel", "copy", "pinned", ... */
const char *trace_kind_name(uint32_t kind);
const char *trace_what_name(uint32_t what);
const char *trace_place_name(uint32_t place);

/* How to speak of an object that a program creates and releases: "a stream" is created and
 * destroyed. trace_held returns NULL if `what` is not such an object. */
struct trace_held {
    const char *one, *made, *ended; /* "a stream", "created", "destroyed" */
    const char *by;                 /* the call that ends it */
    const char *why;                /* why it matters that it is ended */
};
const struct trace_held *trace_held(uint32_t what);

/* The call that ends the object of a CREATE record: trace_held's `by`, or another one where the
 * memory is from a function that has a release of its own. NULL as trace_held. */
const char *trace_ended_by(const struct trace_record *made);

/* Writes the sentence of a leak: "A stream that was created here was never destroyed.", "3 times
 * device memory (96 bytes) that was allocated here was never released."; an empty text if `what` is
 * not such an object. `words` as in struct trace_places. */
void trace_leak_sentence(uint32_t what, uint64_t count, uint64_t bytes,
                         const char *(*words)(const char *), char *text, size_t size);

#endif
