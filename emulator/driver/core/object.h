/* object: what a handle points to: the kinds of objects, the table of live handles, and those that
 * more than one room knows by their fields: contexts, streams, events, and operations, which are
 * work on its way into the timeline.
 *
 * What a handle that means nothing is told of is not decided here (findings/handle.c).
 */
#ifndef OVERLAP_DRIVER_CORE_OBJECT_H
#define OVERLAP_DRIVER_CORE_OBJECT_H

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    OBJECT_TEXTURE, /* or a surface */
    OBJECT_ALLOCATION,
    OBJECT_KIND_COUNT
};

/* A call that was to make something, and failed: findings/unchecked.h. */
enum { MISSING_MEMORY = OBJECT_KIND_COUNT, MISSING_KIND_COUNT };
struct missing {
    const char *name; /* NULL: none */
    uint64_t caller, request;
    uint32_t stack;
    int code;
};

struct context;
struct object;

/* Ends an object for good; `implicit`: it goes with its context. */
typedef void object_ender(struct object *object, bool implicit);

/* What every handle points to. */
struct object {
    enum object_kind kind;
    uint64_t id;                    /* of the trace: never used twice */
    uint64_t caller;                /* of the call that made it; 0: the device itself did */
    uint64_t ended;                 /* of the call that ended it; 0: it has not ended */
    struct context *context;        /* that it ends with; NULL: of the process */
    object_ender *end;              /* NULL: of the process */
    struct object *next, *previous; /* in the context's list */
    struct object *bucket;          /* in the table of live handles */
};

struct stream {
    struct object object;
    struct timeline_stream *time;
    unsigned flags;
    int priority;
    CUsynchronizationPolicy policy;
    CUaccessPolicyWindow window; /* hints without an effect here, like the next two */
    CUlaunchMemSyncDomain domain;
    CUlaunchMemSyncDomainMap domains;
    uint64_t triggers; /* timeline_op_number of its latest kernel that lets dependent ones begin
                          before it ends; 0: none */
    uint64_t thread;   /* of a per-thread default stream; 0: not one */
    struct captured *captured; /* its part in a capture; NULL: it is not being captured */
    struct stream *next;       /* in the context's list of those */
};

struct event {
    struct object object;
    unsigned flags;
    struct timeline_op *record; /* the latest; NULL: never recorded */
    struct captured *captured;  /* what a capture recorded, if that was later; NULL: it was not */
    bool tried;                 /* the program has asked for a record of it */
    uint64_t request;           /* of the call that made it */
    /* The first wait for it that may have been meant to be for something; 0: none. */
    uint64_t waited, waited_request;
    uint32_t waited_stack;
};

enum { LIMITS = 16 };

struct context {
    struct object object;
    int device; /* its ordinal */
    bool alive; /* a context that was destroyed is kept, to say so */
    bool primary;
    unsigned flags;
    unsigned api_version;
    unsigned attached; /* by cuCtxAttach, and not detached since */
    CUresult sticky;   /* of a kernel that failed; CUDA_SUCCESS: none */
    struct timeline_context *time;
    struct stream *legacy;
    struct stream *per_thread; /* list */
    struct object *objects;    /* all that ends with it */
    size_t limits[LIMITS];     /* by CUlimit */
    CUfunc_cache cache;
    const struct memory_region *heap; /* of malloc in kernels; NULL until a kernel runs */
    bool has_printed;                 /* a kernel has */
    /* Parameters of the launches that kernels are making; NULL until one does. */
    const struct memory_region *launches;
    size_t launches_used, launches_open; /* bytes of it; launches */
};

/* What an operation carries: made by operation_make, put into a stream by operation_submit, which
 * takes it over in any case (stream/stream.h). */
struct operation {
    struct trace_record record; /* completed and written when it has settled */
    struct context *context;
    enum timeline_ran (*run)(struct operation *operation); /* NULL: nothing to do */
    void (*abandoned)(struct operation *operation);        /* it will not run; may be NULL */
    void (*drop)(struct operation *operation);             /* what `payload` owns; may be NULL */
    void (*copied)(struct operation *operation);           /* it has a second owner; may be NULL */
    /* It has been submitted and has not begun; may be NULL. */
    void (*pending)(struct operation *operation, struct timeline_op *op);
    void (*settled)(struct operation *operation); /* its record is written; may be NULL */
    uint64_t family; /* the same for all that came of one launch by the host; 0: it is alone */
    struct timeline_op *op; /* during `run` */
    struct actor *actor;    /* what findings/races.c knows of it; NULL: nothing yet */
    uint64_t flight;        /* of findings/in_flight.c; 0: none */
    struct missing missing; /* of memory, when it was asked for */
    bool is_common;         /* stream/operation.c: where its memory comes from */
    bool awaited;           /* the program should wait for its end: findings/unfinished.h */
    uint64_t stream_caller; /* who made the stream */
    CUresult *outcome;      /* of a caller that waits; NULL: an error becomes the context's */
    size_t payload_size;
    _Alignas(16) unsigned char payload[];
};

/* Gives a new object of the process its id and makes its handle valid. */
void object_add(struct object *object, enum object_kind kind);
/* The same for one that ends with `context`, by `end`. */
void object_add_to(struct context *context, struct object *object, enum object_kind kind,
                   object_ender *end);
/* The reverse of both; the caller gives it to object_free. */
void object_remove(struct object *object);
/* Frees the memory that begins with the object, some time later: until then no other handle is the
 * same, and who uses this one is told when it ended. */
void object_free(struct object *object);
/* The object behind a handle if it is of that kind, else NULL. Says nothing. */
void *object_peek(const void *handle, enum object_kind kind);
/* The same whatever its kind is, and one that has ended (as it was), the latest. */
const struct object *object_live(const void *handle);
const struct object *object_ended(const void *handle);
/* The next live object behind `after`, or the first one for NULL; NULL: no more. In no order. */
struct object *object_next(const struct object *after);

/* "stream", "an" or "a". */
#endif
