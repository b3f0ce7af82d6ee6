/* object: what a handle points to. Declares the kinds of objects, the table of live handles, and
 * the objects whose fields more than one room uses: contexts, streams, events, and operations (work
 * on its way into the timeline).
 *
 * The error and the report for an invalid handle are decided elsewhere (findings/handle.c).
 */
#ifndef OVERLAP_DRIVER_CORE_OBJECT_H
#define OVERLAP_DRIVER_CORE_OBJECT_H

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emulator/driver/core/early.h"
#include "emulator/memory/memory.h"
#include "emulator/timeline/timeline.h"
#include "trace/trace.h"

enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_LIBRARY,
    OBJECT_KERNEL,
    OBJECT_POOL,
    OBJECT_GRAPH,
    OBJECT_GRAPH_NODE,
    OBJECT_GRAPH_EXEC,
    OBJECT_USER,
    OBJECT_LINK,
    OBJECT_ARRAY,
    OBJECT_TEXTURE, /* a texture or a surface */
    OBJECT_ALLOCATION,
    OBJECT_KIND_COUNT
};

/* A failed call that should have created an object of a kind (or memory): findings/unchecked.h. */
enum { MISSING_MEMORY = OBJECT_KIND_COUNT, MISSING_KIND_COUNT };
struct missing {
    const char *name; /* NULL: none */
    uint64_t caller, request;
    uint32_t stack;
    int code;
};

struct context;
struct object;

/* Ends and frees an object. `implicit`: the object ends because its context does. */
typedef void object_ender(struct object *object, bool implicit);

/* The beginning of every object; a handle is a pointer to it. */
struct object {
    enum object_kind kind;
    uint64_t id;                    /* id in the trace, never used twice */
    uint64_t caller;                /* return address of the call that created it; 0: created by the
                                       device itself */
    uint64_t ended;                 /* return address of the call that ended it; 0: not ended */
    struct context *context;        /* the context whose end ends it; NULL: belongs to the
                                       process */
    object_ender *end;              /* NULL: belongs to the process */
    struct object *next, *previous; /* in the context's list of objects */
    struct object *bucket;          /* in the table of live handles */
};

struct stream {
    struct object object;
    struct timeline_stream *time; /* NULL: per-thread default stream of a thread that has ended */
    unsigned flags;
    int priority;
    CUsynchronizationPolicy policy;
    CUaccessPolicyWindow window; /* hints without an effect here, like the next two fields */
    CUlaunchMemSyncDomain domain;
    CUlaunchMemSyncDomainMap domains;
    uint64_t triggers; /* timeline_op_number of its latest kernel that lets dependent kernels begin
                          before its own end; 0: none */
    struct early_kernels early; /* beside which its next kernel may begin, as events say that it
                                   has waited for */
    uint64_t thread; /* of a per-thread default stream, its thread's number; 0: another stream */
    pid_t tid;       /* that thread's id in the system */
    struct captured *captured; /* its part of a capture; NULL: not capturing */
    struct stream *next;       /* next per-thread default stream of the context */
};

struct event {
    struct object object;
    unsigned flags;
    struct timeline_op *record; /* the latest record; NULL: never recorded */
    struct early_kernels early; /* the kernel that recorded it before its end, or those whose such
                                   events its stream had waited for */
    struct captured *captured;  /* what a capture recorded after `record`; NULL: nothing */
    bool tried;                 /* the program has called a function that records it */
    uint64_t request;           /* of the call that created it */
    /* The first wait for the event before it was recorded (a possible mistake): return address,
     * request and stack; 0: none. */
    uint64_t waited, waited_request;
    uint32_t waited_stack;
};

enum { LIMITS = 16 };

struct context {
    struct object object;
    int device; /* its ordinal */
    bool alive; /* false once destroyed; the object is kept so that later uses can be reported */
    bool primary;
    unsigned flags;
    uint64_t number;   /* for cuCtxGetId: the process's first context is 1 */
    unsigned attached; /* calls of cuCtxAttach without a cuCtxDetach */
    CUresult sticky;   /* error of a failed kernel; CUDA_SUCCESS: none */
    struct timeline_context *time;
    struct stream *legacy;
    struct stream *per_thread; /* list */
    size_t per_thread_count;   /* its length, and that at which ended threads are looked for */
    size_t per_thread_most;
    struct timeline_op *gate; /* what new streams begin behind (cuCtxWaitEvent); a reference, NULL:
                                 nothing */
    struct object *objects;   /* objects that end with it */
    size_t limits[LIMITS];    /* by CUlimit */
    CUfunc_cache cache;
    const struct memory_region *heap; /* device heap of malloc in kernels; NULL until a kernel
                                         runs */
    bool has_printed, has_taken;      /* a kernel that may print, or use the heap, was launched */
    uint32_t local_bytes; /* per thread: the most that a launch needed of what GPUs wait for */
    /* Parameters of launches made by kernels; NULL until a kernel makes one. */
    const struct memory_region *launches;
    size_t launches_used, launches_open; /* bytes in use; launches not finished */
};

/* An operation: work for the device together with its data. operation_make creates it;
 * operation_submit puts it into a stream and takes ownership of it whether it succeeds or not
 * (stream/stream.h). */
struct operation {
    struct trace_record record; /* completed and written once the operation has settled */
    struct context *context;
    enum timeline_ran (*run)(struct operation *operation); /* NULL: nothing to do */
    void (*abandoned)(struct operation *operation);        /* called when the operation will never
                                                              run; may be NULL */
    void (*drop)(struct operation *operation);             /* releases what `payload` owns; may be
                                                              NULL */
    void (*copied)(struct operation *operation);           /* the payload was copied and now has two
                                                              owners; may be NULL */
    /* Called when the operation was submitted and has not begun; may be NULL. */
    void (*pending)(struct operation *operation, struct timeline_op *op);
    void (*settled)(struct operation *operation); /* called when its record has been written; may be
                                                     NULL */
    uint64_t family; /* common to all operations that one host launch led to; 0: single operation */
    struct timeline_op *op; /* set while `run` runs */
    struct actor *actor;    /* its actor in findings/races.c; NULL: none yet */
    uint64_t flight;        /* number in findings/in_flight.c; 0: none */
    struct missing missing; /* failed memory allocation pending when the operation was submitted */
    bool is_node;           /* of a graph that was launched */
    bool is_common;         /* allocated from the pool of common sizes (stream/operation.c) */
    bool awaited;           /* the program should wait for its end (findings/unfinished.h) */
    uint64_t stream_caller; /* return address of the call that created the stream */
    CUresult *outcome;      /* where a waiting caller wants the result; NULL: an error becomes the
                               context's sticky error */
    size_t payload_size;
    _Alignas(16) unsigned char payload[];
};

/* Gives a new object of the process its id and makes its handle valid. */
void object_add(struct object *object, enum object_kind kind);
/* Like object_add, for an object that ends with `context`, which then calls `end`. */
void object_add_to(struct context *context, struct object *object, enum object_kind kind,
                   object_ender *end);
/* Reverses both: the handle becomes invalid. The caller still has to call object_free. */
void object_remove(struct object *object);
/* Frees the object's memory, which begins with `object`, some time later. Until then no other
 * object gets the same handle, so that a use of the stale handle can be reported with the place
 * that ended the object. */
void object_free(struct object *object);
/* The object behind a handle if the handle is valid and of that kind, else NULL. Reports
 * nothing. */
void *object_peek(const void *handle, enum object_kind kind);
/* The object behind a valid handle of any kind; and a copy of the latest object that had this
 * handle and has ended. NULL: none. */
const struct object *object_live(const void *handle);
const struct object *object_ended(const void *handle);
/* Iterates over the live objects in no particular order: the object after `after`, or the first for
 * NULL. Returns NULL at the end. */
struct object *object_next(const struct object *after);

#endif
