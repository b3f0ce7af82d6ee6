/* inside: what the parts of the layer share. Every function takes the layer's lock itself, unless
 * it says that the caller holds it.
 */
#ifndef OVERLAP_OPENCL_INSIDE_H
#define OVERLAP_OPENCL_INSIDE_H

#include "opencl/types.h"
#include "trace/trace.h"

#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))

enum kind {
    KIND_NONE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_BUFFER,
    KIND_PROGRAM,
    KIND_KERNEL,
    KIND_EVENT,
    KIND_COUNT
};

enum row {
#define CALL(name, error, as_if, parameters, arguments) ROW_##name,
#define OF(name, kind, error, as_if, parameters, arguments) ROW_##name,
#define MAKE(name, made, kind, error, as_if, parameters, arguments) ROW_##name,
#define RETAIN(name, kind) ROW_##name,
#define RELEASE(name, kind) ROW_##name,
#define OWN(name, kind, error, as_if) ROW_##name,
#include "opencl/functions.def"
    ROW_COUNT
};

/* ---- calls (layer.c) ------------------------------------------------------------------------- */

/* The function in libOpenCL; NULL: this one has none. */
void *layer_real(enum row row);
/* The same into a pointer to a function. */
void layer_take(enum row row, void *function);
/* Calls it by the type of our own function of that name. */
#define REAL(name) (*(__typeof__(&name) *)layer_real_place(ROW_##name))
void *layer_real_place(enum row row);

/* One call of the student's, from its begin to its end. */
struct call {
    enum row row;
    uint64_t caller, request, began_ns;
    cl_int code; /* where it is not to be forwarded */
    bool made_to_fail;
};

/* Begins it. `handle`: the object that it is of, for rows of a kind. False: it has failed already,
 * with call->code. */
bool call_begin(struct call *call, enum row row, uint64_t caller, cl_handle handle);
/* What a release that has succeeded is to return: it may be made to fail. */
cl_int call_released(struct call *call, cl_int code);
/* Records it. Returns `code`. */
cl_int call_end(const struct call *call, cl_int code);
/* The same of one that returns an object: puts the code where the caller wants it. */
void call_end_made(const struct call *call, cl_int code, cl_int *error);

/* OpenCL's name of it. */
const char *call_name(const struct call *call);

uint64_t layer_now(void);
void layer_put(const struct trace_record *record);
void layer_lock(void);
void layer_unlock(void);

/* ---- objects (objects.c) ----------------------------------------------------------------------
 */

#define ARGUMENTS 32

struct object {
    cl_handle handle;
    enum kind kind;
    uint64_t id;
    unsigned references;  /* the student's; 0: it is gone */
    uint64_t made, ended; /* the calls */
    struct object *context;
    size_t size;                /* of a buffer, as the student knows it */
    cl_bitfield flags;          /* the same */
    bool guarded;               /* of a buffer: there are bytes of ours behind it */
    bool in_order, profiled;    /* of a queue, as the student asked */
    cl_handle device;           /* of a queue: its own; of a context: its first */
    cl_handle own_queue;        /* of a context: ours, made when it is needed */
    char name[TRACE_NAME_SIZE]; /* of a kernel */
    struct object *arguments[ARGUMENTS];
};

/* A new one, which the call has made. NULL: no memory. */
struct object *object_add(cl_handle handle, enum kind kind, struct object *context,
                          const struct call *call, size_t size);
/* The newest at that handle, gone or not; NULL: there never was one. */
struct object *object_find(cl_handle handle, enum kind kind);
/* The same for one that the call is given, and that has to be there: a finding otherwise, and NULL.
 */
struct object *object_use(const struct call *call, cl_handle handle, enum kind kind);
/* What a call returns that was given a wrong one. */
cl_int object_invalid(enum kind kind);
/* One reference less. True: that was the last. */
bool object_release(struct object *object, uint64_t caller);
void object_retain(struct object *object);
/* A kernel's name is asked for; what is no kernel has none. `object` may be NULL. */
void object_ask_name(struct object *object);
/* Calls `visit` for each of the kind, gone or not. */
void objects_visit(enum kind kind, void (*visit)(struct object *object));

/* ---- platforms (platforms.c) ------------------------------------------------------------------
 */

/* The devices of the first platform are shown as those of several: `shape` has "|" between two of
 * them, and the names of none, one or more devices of PoCL's for each. Puts what PoCL is to make
 * (POCL_DEVICES) into `names`. */
void platforms_shape(const char *shape, char *names, size_t size);
/* As OpenCL's functions of these names, of what is shown, without a record. */
cl_int platforms_list(cl_uint room, cl_handle *platforms, cl_uint *count);
cl_int platforms_ask(cl_handle platform, cl_uint what, size_t size, void *value, size_t *needed);
cl_int platforms_devices(cl_handle platform, cl_bitfield type, cl_uint room, cl_handle *devices,
                         cl_uint *count);
cl_int platforms_ask_device(cl_handle device, cl_uint what, size_t size, void *value,
                            size_t *needed);
/* OpenCL's own of one that is shown. */
cl_handle platforms_real(cl_handle platform);
/* The number of a device, in the order in which they are shown, from 0. */
unsigned layer_device_number(cl_handle device);

/* ---- buffers (buffers.c) ----------------------------------------------------------------------
 */

/* Looks behind the buffer's end, when all commands of its context have ended. */
void buffer_check(struct object *buffer);
/* Gives back what is ours in a context that is gone: it would keep the context alive. */
void context_leave(struct object *context);

/* ---- commands (commands.c) --------------------------------------------------------------------
 */

struct command {
    struct object *queue;
    cl_handle event; /* ours; the student's is the same one */
    uint64_t event_id;
    struct call call;
    uint32_t what, from, to;
    uint64_t bytes, count;
    char name[TRACE_NAME_SIZE];
    void *destination;  /* what it is to bring arrives here, */
    void *shadow;       /* and waits here until then; NULL: it does not wait */
    const void *source; /* what is not to change while it is under way */
    uint64_t sum;       /* of what was there */
    const void *brings; /* what it has brought is here when it has ended; NULL: nothing */
    bool scattered;     /* in several pieces */
    cl_handle *after;   /* the events that it waits for; owned */
    cl_uint after_count;
    bool behind_all; /* it waits for all before it in its queue, */
    bool barrier;    /* and all behind it wait for it */
    void *mapped;    /* where it maps a buffer; NULL: it maps none */
    bool settled;
};

/* It was queued. `wanted`: where the student wants its event; NULL: nowhere. */
void command_add(const struct command *command, cl_handle *wanted);
/* All that this one comes behind has ended, and it has: what it brings is there. */
void command_settle_event(cl_handle event);
/* The buffer that is mapped there is given back: its command was to be waited for. */
void command_unmap(const void *mapped);
/* All commands of the queue so far have ended. */
void commands_settle_queue(const struct object *queue);
/* The student has waited for the command of that event. */
bool command_is_settled(cl_handle event, const struct object **queue);
/* Waits for all that is under way, which is not a wait of the student's. */
void commands_drain(void);
/* The same, and forgets them; `findings`: reports what nobody waited for. */
void commands_end(bool findings);
/* A sum by which a change is seen, and in *content that of opencl_content. Both 0: some of it is
 * not there. */
uint64_t command_sum(const void *bytes, size_t size, uint64_t *content);

#endif
