#include "threads/refusals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct {
    bool told;
    struct trace_writer *trace;
    char name[TRACE_NAME_SIZE];
    unsigned long number; /* 0: no call fails */
    unsigned long *count; /* calls of that name so far, in memory that forked processes share */
} refusals;

void refusals_begin(const char *text, struct trace_writer *trace)
{
    if (text == NULL) return;
    refusals.trace = trace;
    refusals.told = true;
    const char *colon = strchr(text, ':');
    const size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    if (length == 0 || length >= sizeof refusals.name) return;
    void *shared = mmap(NULL, sizeof *refusals.count, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    memcpy(refusals.name, text, length);
    refusals.count = shared;
    refusals.number = strtoul(colon + 1, NULL, 10);
}

bool refusals_strike(const char *name, uintptr_t caller, const char *as_if)
{
    if (!refusals.told) return false;
    const int kept = errno;
    const bool strikes =
        refusals.number != 0 && strcmp(name, refusals.name) == 0 &&
        __atomic_fetch_add(refusals.count, 1, __ATOMIC_SEQ_CST) + 1 == refusals.number;
    struct trace_record record = {.kind = TRACE_HOST_CALL,
                                  .caller = (uint64_t)caller,
                                  .flags = TRACE_CAN_FAIL | (strikes ? TRACE_MADE_TO_FAIL : 0)};
    trace_copy_string(record.name, sizeof record.name, name);
    trace_copy_string(record.text, sizeof record.text, as_if);
    trace_put(refusals.trace, &record);
    errno = kept;
    return strikes;
}
