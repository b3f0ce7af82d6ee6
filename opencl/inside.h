/* inside: declarations shared by the files of the layer. Every function takes the layer's lock
 * itself, unless its comment says that the caller holds it.
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

/* The function in libOpenCL; NULL: it has none of that name. */
void *layer_real(enum row row);
/* The same, stored into a pointer to a function. */
void layer_take(enum row row, void *function);
/* The real function, with the type of our own function of that name. */
#define REAL(name) (*(__typeof__(&name) *)layer_real_place(ROW_##name))
void *layer_real_place(enum row row);

/* One call of the student's, from its beginning to its end. */
struct call {
    enum row row;
    uint64_t caller, request, began_ns;
    cl_int code; /* return value, if the call is not to be forwarded */
    bool made_to_fail;
};

/* Begins a call. `handle`: the object that it works on, for rows of a kind. Returns false if the
 * call has failed already, with call->code. */
bool call_begin(struct call *call, enum row row, uint64_t caller, cl_handle handle);
/* The value that a successful release must return: it may be made to fail. */
cl_int call_released(struct call *call, cl_int code);
/* Records the call. Returns `code`. */
cl_int call_end(const struct call *call, cl_int code);
/* The same for a call that returns an object: stores the code in *error. */
void call_end_made(const struct call *call, cl_int code, cl_int *error);

/* OpenCL's name of the function. */
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
    unsigned references;  /* the student's; 0: the object has ended */
    uint64_t made, ended; /* return addresses */
    struct object *context;
    size_t size;                /* of a buffer, as the student requested */
    cl_bitfield flags;          /* the same */
    bool guarded;               /* of a buffer: guard bytes follow its end */
    bool filled;                /* of a buffer: created with data, or written by a copy or a fill */
    bool copied;                /* of a buffer: a command has read it */
    bool hidden;                /* of a buffer: what the device wrote is not in host memory */
    unsigned char *host;        /* of a buffer: the memory that the student gave it to live in */
    uint64_t sum;               /* of such a buffer: checksum of what host and device agreed on */
    bool in_order, profiled;    /* of a queue, as the student requested */
    cl_handle device;           /* of a queue: its own; of a context: its first */
    cl_handle own_queue;        /* of a context: a queue of the layer's own, created when needed */
    char name[TRACE_NAME_SIZE]; /* of a kernel */
    struct object *arguments[ARGUMENTS];
};

/* Adds a new object, created by the call. NULL: no memory. */
struct object *object_add(cl_handle handle, enum kind kind, struct object *context,
                          const struct call *call, size_t size);
/* The newest object of that handle, live or ended; NULL: there never was one. */
struct object *object_find(cl_handle handle, enum kind kind);
/* The same for a handle passed to a call, whose object must be live: otherwise reports a finding
 * and returns NULL.
 */
struct object *object_use(const struct call *call, cl_handle handle, enum kind kind);
/* The error that a call with an invalid handle of that kind returns. */
cl_int object_invalid(enum kind kind);
/* Removes one reference. Returns true if it was the last. */
bool object_release(struct object *object, uint64_t caller);
void object_retain(struct object *object);
/* Asks OpenCL for a kernel's name; does nothing for other objects. `object` may be NULL. */
void object_ask_name(struct object *object);
/* Calls `visit` for each object of the kind, live or ended. */
void objects_visit(enum kind kind, void (*visit)(struct object *object));

/* ---- platforms (platforms.c) ------------------------------------------------------------------
 */

/* Shows the devices of the first platform as those of several platforms. `shape` lists the device
 * names of each platform (none, one or more of PoCL's), with "|" between platforms. Writes the
 * devices that PoCL must create (POCL_DEVICES) to `names`. */
void platforms_shape(const char *shape, char *names, size_t size);
/* Like OpenCL's functions of these names, for the shown platforms, without a trace record. */
cl_int platforms_list(cl_uint room, cl_handle *platforms, cl_uint *count);
cl_int platforms_ask(cl_handle platform, cl_uint what, size_t size, void *value, size_t *needed);
cl_int platforms_devices(cl_handle platform, cl_bitfield type, cl_uint room, cl_handle *devices,
                         cl_uint *count);
cl_int platforms_ask_device(cl_handle device, cl_uint what, size_t size, void *value,
                            size_t *needed);
/* OpenCL's own platform behind a shown one. */
cl_handle platforms_real(cl_handle platform);
/* The number of a device in the order in which devices are shown, from 0. */
unsigned layer_device_number(cl_handle device);

/* ---- buffers (buffers.c) ----------------------------------------------------------------------
 */

/* Checks the guard bytes behind the buffer, and whether the host's memory shows what is in it, once
 * all commands of its context have ended. */
void buffer_check(struct object *buffer);
/* The function has returned. `findings`: reports what the last check of the buffer has noted about
 * the host's memory; a function that failed owes nobody its results. */
void buffer_end(struct object *buffer, bool findings);
/* The host's memory in which the buffer is to live, if there is such, and the buffer have the same
 * bytes now. */
void buffer_shown(struct object *buffer);
/* Releases the layer's own objects in a context that the student has released: they would keep the
 * context alive. */
void context_leave(struct object *context);

/* ---- commands (commands.c) --------------------------------------------------------------------
 */

struct command {
    struct object *queue;
    cl_handle event; /* the layer's own reference; the student gets the same event */
    uint64_t event_id;
    struct call call;
    uint32_t what, from, to;
    uint64_t bytes, count;
    char name[TRACE_NAME_SIZE];
    void *destination;  /* where its data must arrive ... */
    void *shadow;       /* ... and where the data stays until the student waits; NULL: no delay */
    const void *source; /* memory that must not change while the command runs */
    uint64_t sum;       /* checksum of that memory */
    const void *brings; /* where its data is when it has ended; NULL: it transfers none to the
                           host */
    bool scattered;     /* in several pieces */
    cl_handle *after;   /* events that it waits for; owned */
    cl_uint after_count;
    bool behind_all; /* waits for all earlier commands of its queue */
    bool barrier;    /* and all later commands of the queue wait for it */
    void *mapped;    /* address at which it maps a buffer; NULL: no mapping */
    /* Where OpenCL has mapped it. The student gets the host's memory of the buffer, or `copy`: so a
     * mapping that is used too early, or too late, holds something else. The bytes are copied from
     * there when the command has ended, if it `shows` them, and back when the mapping is
     * released. */
    void *image;
    unsigned char *copy; /* owned, until the mapping is released */
    bool shows, maps_to_write;
    /* Buffers of which it writes or reads every byte, and those that a kernel may access. */
    struct object *written, *read, *accessed[ARGUMENTS];
    bool settled;
};

/* Fills the layer's own memory of a mapping that is not there yet, or no more. */
enum { COMMAND_UNMAPPED = 0xa5 };

/* Adds a queued command. `wanted`: where the student wants its event; NULL: nowhere. */
void command_add(const struct command *command, cl_handle *wanted);
/* The command of the event has ended, and so have all commands before it: their data is
 * delivered. */
void command_settle_event(cl_handle event);
/* The mapping at this address is released: the command that made it must have been waited for, and
 * the layer's own memory holds something else from now on. Returns where OpenCL has mapped it. */
void *command_unmap(void *mapped);
/* All commands of the queue so far have ended. */
void commands_settle_queue(const struct object *queue);
/* Returns true if the student has waited for the command of that event. */
bool command_is_settled(cl_handle event, const struct object **queue);
/* Waits for all commands in progress; this does not count as a wait of the student's. */
void commands_drain(void);
/* The same, and forgets them. `findings`: reports commands that were not waited for. */
void commands_end(bool findings);
/* Returns a checksum that detects changes, and in *content the sum of opencl_content. Both are 0 if
 * some of the memory is not mapped. */
uint64_t command_sum(const void *bytes, size_t size, uint64_t *content);

#endif
