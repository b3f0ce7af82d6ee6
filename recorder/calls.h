/* calls: what the recorder must know of an API function, read from CUPTI's copy of its parameters.
 * The table is calls.def.
 */
#ifndef OVERLAP_RECORDER_CALLS_H
#define OVERLAP_RECORDER_CALLS_H

#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLS_NONE ((size_t)-1) /* the function has no such parameter */

enum calls_effect {
    CALLS_NO_EFFECT,
    CALLS_MAKES,  /* creates an object, returned through a pointer */
    CALLS_POOLED, /* the same: memory from a pool, or a pool, which cuCtxDestroy leaves */
    CALLS_ENDS,
};

struct calls_row {
    const char *name; /* plain: without _v2 and _ptsz */
    enum calls_effect effect;
    uint32_t what;                /* enum trace_what */
    size_t config;                /* offset of the pointer to what holds the stream */
    size_t stream, event, handle; /* offsets of parameters */
    size_t bytes, flags;
};

/* Writes the plain name of a function as CUPTI names it: "cudaLaunchKernel" for
 * "__cudaLaunchKernel_ptsz". `per_thread` (may be NULL): set to whether a NULL stream means the
 * thread's own default stream. */
void calls_plain_name(const char *name, char *plain, size_t size, bool *per_thread);

/* Returns true for generated calls that are not recorded: those that prepare a <<<>>> launch
 * ("__cudaPushCallConfiguration"), and the call before such a launch by which the runtime learns
 * the kernel's name for CUPTI. */
bool calls_is_generated(const char *name);

/* The row of a plain name; NULL: only the name is known. */
const struct calls_row *calls_find(const char *plain);

/* Everything that follows from a function's name. */
struct calls_function {
    char plain[TRACE_NAME_SIZE];
    const struct calls_row *row; /* may be NULL */
    bool per_thread, generated, asynchronous;
};

/* The entry of the function with CUPTI's number `id`, of the driver or the runtime, with this name.
 * Entries are cached, because looking up the name would take as long as a launch. Thread-safe.
 * Returns a cached entry that stays valid, or `*room`, filled in. */
const struct calls_function *calls_function(bool driver, uint32_t id, const char *name,
                                            struct calls_function *room);

/* A pointer-sized parameter; 0 if there is none. */
uint64_t calls_parameter(const void *parameters, size_t offset);
/* The value that a pointer parameter points to; 0 if there is none. */
uint64_t calls_pointed(const void *parameters, size_t offset);
/* The stream that a call names; 0 if there is none. */
uint64_t calls_stream(const struct calls_row *row, const void *parameters);
/* An unsigned int parameter. */
unsigned calls_flags(const void *parameters, size_t offset);

/* Returns true if, by its name, the function does not wait for the work that it submits. */
bool calls_is_asynchronous(const char *plain);

#endif
