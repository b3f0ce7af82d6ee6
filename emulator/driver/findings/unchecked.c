#include "emulator/driver/findings/unchecked.h"

#include "emulator/driver/findings/finding.h"

#include <stdlib.h>
#include <string.h>

enum { TOLD = 64 }; /* failed calls known to have been reported */

static const struct row {
    const char *name;
    unsigned kind;
} rows[] = {
#define OBJECT_MEMORY MISSING_MEMORY
#define MAKES(function, what) {#function, OBJECT_##what},
#include "emulator/driver/findings/making.def"
#undef MAKES
#undef OBJECT_MEMORY
};

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const struct row *)row)->name);
}

void unchecked_call_ended(int code)
{
    char name[TRACE_NAME_SIZE];
    if (code == CUDA_ERROR_NOT_READY || (code == CUDA_SUCCESS && !thread.misses)) return;
    call_plain_name(name, sizeof name, thread.call.name);
    if (strcmp(name, "cudaGetLastError") == 0) {
        /* A program that takes the last error has looked at it. */
        for (size_t i = 0; i < sizeof thread.missing / sizeof *thread.missing; i++)
            if (thread.missing[i].code == code) thread.missing[i].name = NULL;
        return;
    }
    const struct row *row = bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows, compare);
    if (row == NULL) return;
    if (code == CUDA_SUCCESS) {
        thread.missing[row->kind].name = NULL;
        return;
    }
    thread.misses = true;
    thread.missing[row->kind] =
        (struct missing){.name = row->name,
                         .code = code,
                         .caller = (uint64_t)(uintptr_t)thread.call.caller,
                         .request = thread.call.request,
                         .stack = stack_note((uint64_t)(uintptr_t)thread.call.caller)};
}

static bool gives_back(const char *name)
{
    static const char *const words[] = {"Destroy", "Free", "Unload", "Release", "Unregister"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]) != NULL) return true;
    return false;
}

/* Only the first call that suffers from the failure is reported. */
static bool is_told(const struct missing *missing)
{
    static uint64_t told[TOLD];
    static size_t count;
    for (size_t i = 0; i < TOLD; i++)
        if (told[i] == missing->request) return true;
    told[count++ % TOLD] = missing->request;
    return false;
}

/* `hurt`: the work, or the call, that needs what is missing. */
static void report(const struct missing *missing, const struct trace_record *hurt)
{
    if (driver.lost) return; /* a fault of earlier work may be the cause */
    if (is_told(missing)) return;
    const struct trace_record failed = {
        .caller = missing->caller, .stack = missing->stack, .request = missing->request};
    struct trace_record found = finding_at_work(FINDING_ERROR_IGNORED, &failed, 0);
    trace_copy_string(found.name, sizeof found.name, missing->name);
    found.code = missing->code;
    finding_other(&found, hurt, 0);
    finding_put(&found);
}

void unchecked_lacks(unsigned kind)
{
    const struct missing *missing = &thread.missing[kind];
    struct trace_record call = {.caller = (uint64_t)(uintptr_t)thread.call.caller};
    if (kind == OBJECT_KERNEL)
        unchecked_lacks(OBJECT_FUNCTION); /* kernel and function handles are interchangeable */
    if (missing->name == NULL || thread.depth == 0) return;
    call_plain_name(call.name, sizeof call.name, thread.call.name);
    call.stack = stack_note(call.caller);
    if (!gives_back(call.name)) report(missing, &call);
}

/* Returns true if an uninitialised or NULL pointer can have this value. */
static bool leads_to_nothing(uint64_t address)
{
    const enum memory_miss miss = memory_explain(address).kind;
    return memory_find(address) == NULL && (miss == MEMORY_MISS_NULL || miss == MEMORY_MISS_HOST);
}

void unchecked_lacks_memory(uint64_t address)
{
    if (leads_to_nothing(address)) unchecked_lacks(MISSING_MEMORY);
}

void unchecked_take_along(struct operation *operation)
{
    operation->missing = thread.missing[MISSING_MEMORY];
}

void unchecked_operation_faults(const struct operation *operation, uint64_t address)
{
    if (operation->missing.name == NULL || !leads_to_nothing(address)) return;
    report(&operation->missing, &operation->record);
}
