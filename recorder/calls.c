#include "recorder/calls.h"
#include "trace/trace.h"

/* CUPTI's parameter structures use types that cuda.h declares only under this macro. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <generated_cuda_meta.h>
#include <generated_cuda_runtime_api_meta.h>

#include <ctype.h>
#include <stdatomic.h>
#include <string.h>

#define AT(parameters, field) offsetof(parameters, field)
/* No structure has a field called NOTHING: rows use this name for functions without a size. */
#define BYTES_AT(parameters, field) BYTES_OF_##field(parameters)
#define BYTES_OF_NOTHING(parameters) CALLS_NONE
#define BYTES_OF_size(parameters) offsetof(parameters, size)
#define BYTES_OF_bytesize(parameters) offsetof(parameters, bytesize)

#define NO CALLS_NONE
#define ON(name, parameters, stream)                                                               \
    {#name, CALLS_NO_EFFECT, 0, NO, AT(parameters, stream), NO, NO, NO, NO},
#define IN(name, parameters, config, type, stream)                                                 \
    {#name, CALLS_NO_EFFECT, 0, AT(parameters, config), AT(type, stream), NO, NO, NO, NO},
#define EVENT(name, parameters, stream, event)                                                     \
    {#name, CALLS_NO_EFFECT, 0, NO, AT(parameters, stream), AT(parameters, event), NO, NO, NO},
#define NAMES(name, parameters, event)                                                             \
    {#name, CALLS_NO_EFFECT, 0, NO, NO, AT(parameters, event), NO, NO, NO},
#define MAKES(name, parameters, what, handle, bytes)                                               \
    {#name, CALLS_MAKES, what, NO, NO, NO, AT(parameters, handle), BYTES_AT(parameters, bytes), NO},
#define POOLED(name, parameters, what, handle, bytes)                                              \
    {#name, CALLS_POOLED, what, NO, NO, NO, AT(parameters, handle), BYTES_AT(parameters, bytes),   \
     NO},
#define FLAGGED(name, parameters, what, handle, flags)                                             \
    {#name, CALLS_MAKES, what, NO, NO, NO, AT(parameters, handle), NO, AT(parameters, flags)},
#define ENDS(name, parameters, what, handle)                                                       \
    {#name, CALLS_ENDS, what, NO, NO, NO, AT(parameters, handle), NO, NO},

static const struct calls_row rows[] = {
#include "recorder/calls.def"
};

static void cut_end(char *text, const char *end)
{
    size_t length = strlen(text), cut = strlen(end);
    if (length > cut && strcmp(text + length - cut, end) == 0) text[length - cut] = '\0';
}

void calls_plain_name(const char *name, char *plain, size_t size, bool *per_thread)
{
    while (*name == '_') name++;
    trace_copy_string(plain, size, name);
    if (per_thread != NULL)
        *per_thread = strstr(plain, "_ptsz") != NULL || strstr(plain, "_ptds") != NULL;
    cut_end(plain, "_ptsz");
    cut_end(plain, "_ptds");
    char *version = strrchr(plain, '_');
    if (version != NULL && version[1] == 'v' && isdigit((unsigned char)version[2])) *version = '\0';
    cut_end(plain, "_ptsz");
    cut_end(plain, "_ptds");
}

bool calls_is_generated(const char *name)
{
    const char *launch = "__cudaLaunchKernel";
    if (strcmp(name, "cuKernelGetName") == 0) return true;
    return strncmp(name, "__", 2) == 0 && strncmp(name, launch, strlen(launch)) != 0;
}

const struct calls_row *calls_find(const char *plain)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, plain) == 0) return &rows[i];
    return NULL;
}

#define MOST_IDS 1024 /* for each of driver and runtime; they have some 800 */

enum { UNKNOWN, BEING_FILLED, KNOWN };

static struct {
    _Atomic int state;
    struct calls_function function;
} functions[2][MOST_IDS];

static void fill(struct calls_function *function, const char *name)
{
    calls_plain_name(name, function->plain, sizeof function->plain, &function->per_thread);
    function->row = calls_find(function->plain);
    function->generated = calls_is_generated(name);
    function->asynchronous = calls_is_asynchronous(function->plain);
}

const struct calls_function *calls_function(bool driver, uint32_t id, const char *name,
                                            struct calls_function *room)
{
    int unknown = UNKNOWN;

    if (id < MOST_IDS) {
        _Atomic int *state = &functions[driver][id].state;
        struct calls_function *function = &functions[driver][id].function;
        if (atomic_load_explicit(state, memory_order_acquire) == KNOWN) return function;
        if (atomic_compare_exchange_strong(state, &unknown, BEING_FILLED)) {
            fill(function, name);
            atomic_store_explicit(state, KNOWN, memory_order_release);
            return function;
        }
    }
    fill(room, name);
    return room;
}

uint64_t calls_parameter(const void *parameters, size_t offset)
{
    uint64_t value = 0;
    if (parameters != NULL && offset != CALLS_NONE)
        memcpy(&value, (const char *)parameters + offset, sizeof value);
    return value;
}

uint64_t calls_pointed(const void *parameters, size_t offset)
{
    uint64_t address = calls_parameter(parameters, offset), value = 0;
    if (address != 0) memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

unsigned calls_flags(const void *parameters, size_t offset)
{
    unsigned value = 0;
    if (parameters != NULL && offset != CALLS_NONE)
        memcpy(&value, (const char *)parameters + offset, sizeof value);
    return value;
}

uint64_t calls_stream(const struct calls_row *row, const void *parameters)
{
    const void *from = parameters;
    if (row->config != CALLS_NONE)
        from = (const void *)(uintptr_t)calls_parameter(parameters, row->config);
    return calls_parameter(from, row->stream);
}

bool calls_is_asynchronous(const char *plain)
{
    return strstr(plain, "Async") != NULL || strstr(plain, "Launch") != NULL ||
           strstr(plain, "EventRecord") != NULL || strstr(plain, "WaitEvent") != NULL;
}
