/* trace_record: one thing that happened, of fixed size: a call, an object's life, work of the
 * device, a finding. What each field means depends on the kind.
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
    TRACE_NONE = 0,  /* reserved but not (completely) written: the writer died in between */
    TRACE_MODULE,    /* a file mapped into the process: address = load base, text = path */
    TRACE_MARK,      /* a phase of the drive: name, object = its number, flags TRACE_BEGIN/END */
    TRACE_CALL,      /* one public API call made by the submission, written when it returns */
    TRACE_CREATE,    /* an object came to be: what, object; address/bytes for memory */
    TRACE_DESTROY,   /* and ended */
    TRACE_OPERATION, /* work done on the device: what, stream, start, end, bytes, from/to */
    TRACE_FINDING,   /* something wrong that the device saw: name = who, finding */
    TRACE_SETTING,   /* a fact about the device: name = key, text = value (or bytes = number) */
    TRACE_STACK,     /* the calls that led to one: object = its number, see trace_stack_addresses */
    TRACE_HOST_CALL, /* a call of the C library's that can be made to fail: threads/refusals.h */
    TRACE_SEAL,      /* what a writer has put (trace/seal.h); no reader is shown one */
    TRACE_ADVICE,    /* as a finding: right on GPUs, promised by nobody */
    TRACE_LINE,      /* of a program that an interpreter runs: object = its number, text = file,
                        count = line; or, object = 0, of device code: name = what stands there */
    TRACE_KIND_COUNT
};

/* Sets of kinds: what a trace is wanted for. */
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
    TRACE_POOL,       /* that memory is taken from in stream order, not the device's own */
    TRACE_THREAD,     /* of the host; ended: joined or detached */
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
    TRACE_CONDITION,    /* of a conditional node of a graph: it was looked at */
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
    TRACE_ASYNC = 1u << 2,    /* CALL, OPERATION: the call that asked for it was asynchronous */
    TRACE_DRIVER = 1u << 3,   /* CALL: of the driver API */
    TRACE_IMPLICIT = 1u << 4, /* CREATE, DESTROY: by the device itself (primary context,
                                 default stream, a context's end taking its streams along) */
    TRACE_TIMING_DISABLED = 1u << 5, /* CREATE of an event */
    TRACE_NON_BLOCKING = 1u << 6,    /* CREATE of a stream */
    TRACE_CAN_FAIL = 1u << 7,        /* CALL, HOST_CALL: one that can be made to fail */
    TRACE_MADE_TO_FAIL = 1u << 8,    /* CALL, HOST_CALL: it was, and did nothing else: text = as if
                                        what */
    TRACE_DETACHED = 1u << 9,        /* DESTROY of a thread: nobody waited for its end */
};

/* Identifiers: 0 is "none"; otherwise small numbers, given once per process and never reused, so
 * that a new stream at an old handle's address is another stream. The default streams have ids too.
 */
struct trace_record {
    uint32_t kind;  /* enum trace_kind; written last, with release */
    uint32_t what;  /* enum trace_what */
    uint32_t flags; /* enum trace_flag */
    uint32_t from;  /* enum trace_place */
    uint32_t to;    /* enum trace_place */
    int32_t code;   /* CALL: cudaError_t or CUresult. FINDING: the error it will be returned as */
    uint32_t process;
    uint32_t thread;
    uint64_t context;
    uint64_t stream;
    uint64_t object;  /* CREATE/DESTROY: the object; CALL: the event or other object it names */
    uint64_t request; /* correlation: the CALL and the OPERATION that it asked for share it */
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t ran_ns; /* of the software device, CLOCK_MONOTONIC: OPERATION: when it was done; CALL:
                        when it began; else 0 */
    uint64_t bytes;
    uint64_t address;
    uint64_t caller; /* return address into the submission's code; 0 where unknown */
    uint64_t count;  /* OPERATION kernel: threads in the grid; FINDING: times it was seen; CREATE of
                        a thread: its number, as in `thread`, or 0: it has not begun; DESTROY of a
                        detached thread: 1: long after the function's end it had not ended */
    uint32_t unused;
    uint32_t stack; /* object of the TRACE_STACK with the calls up to `caller`; 0: not recorded */
    char name[TRACE_NAME_SIZE]; /* CALL: the API's name without version suffix; CREATE of memory: of
                                   the call that made it; kernel's name */
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

/* How one speaks of an object that a program makes and gives back: "a stream" is created and
 * destroyed. NULL: `what` is none. */
struct trace_held {
    const char *one, *made, *ended; /* "a stream", "created", "destroyed" */
    const char *by;                 /* the call that ends it */
    const char *why;                /* it matters that it is ended */
};
const struct trace_held *trace_held(uint32_t what);

/* "A stream that was created here was never destroyed.", "3 times device memory (96 bytes) that was
 * allocated here was never released."; empty for what is no such object.
 * `words` as in struct trace_places. */
void trace_leak_sentence(uint32_t what, uint64_t count, uint64_t bytes,
                         const char *(*words)(const char *), char *text, size_t size);

#endif
