/* calls: what an API function does, as far as its record needs it, read from CUPTI's copy of its
 * parameters. The table is calls.def.
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
    CALLS_MAKES, /* an object, handed out through a pointer */
    CALLS_ENDS,
};

struct calls_row {
    const char *name; /* plain: no _v2, no _ptsz */
    enum calls_effect effect;
    uint32_t what;                /* enum trace_what */
    size_t stream, event, handle; /* offsets of parameters */
    size_t bytes, flags;
};

/* The plain name of a function as CUPTI calls it: "cudaLaunchKernel" of "__cudaLaunchKernel_ptsz".
 * `per_thread` (may be NULL): whether NULL as a stream means the thread's own default stream. */
void calls_plain_name(const char *name, char *plain, size_t size, bool *per_thread);

/* A call that a launch <<<>>> is made of ("__cudaPushCallConfiguration"), but not the launch; or
 * that by which the runtime learns, in front of such a launch, the kernel's name for CUPTI. */
bool calls_is_generated(const char *name);

/* The row of a plain name, or NULL: nothing is known but the name. */
const struct calls_row *calls_find(const char *plain);

/* All that follows from a function's name. */
struct calls_function {
    char plain[TRACE_NAME_SIZE];
    const struct calls_row *row; /* or NULL */
    bool per_thread, generated, asynchronous;
};

/* Of the function with CUPTI's number `id`, of the driver or of the runtime, whose name is `name`.
 * It is worked out once: a launch is no longer than looking for its name in the table. From any
 * thread. Returns an entry that lives on, or `*room`, filled in. */
const struct calls_function *calls_function(bool driver, uint32_t id, const char *name,
                                            struct calls_function *room);

/* A pointer-sized parameter, 0 when there is none. */
uint64_t calls_parameter(const void *parameters, size_t offset);
/* What a pointer parameter points to, 0 when there is none. */
uint64_t calls_pointed(const void *parameters, size_t offset);
/* An unsigned int parameter. */
unsigned calls_flags(const void *parameters, size_t offset);

/* By its name the call does not wait for the work that it asks for. */
bool calls_is_asynchronous(const char *plain);

#endif
