/* The English of a trace: what its kinds are called, and how one speaks of what was not given back.
 */
#include "trace/trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[TRACE_KIND_COUNT] = {
    "none",    "module",  "mark",  "call",      "create", "destroy", "operation",
    "finding", "setting", "stack", "host call", "seal",   "advice"};

static const char *const what_names[TRACE_WHAT_COUNT] = {
    "nothing",       "context",       "stream",         "event",        "module",
    "device memory", "pinned memory", "managed memory", "thread",       "kernel",
    "copy",          "memset",        "host function",  "event record", "event wait"};

static const char *const place_names[TRACE_PLACE_COUNT] = {"nowhere", "pageable", "pinned",
                                                           "device",  "managed",  "array"};

const char *trace_kind_name(uint32_t kind)
{
    return kind < TRACE_KIND_COUNT ? kind_names[kind] : "unknown";
}

const char *trace_what_name(uint32_t what)
{
    return what < TRACE_WHAT_COUNT ? what_names[what] : "unknown";
}

const char *trace_place_name(uint32_t place)
{
    return place < TRACE_PLACE_COUNT ? place_names[place] : "unknown";
}

static const char is_held[] =
    "What is not given back is held until the program ends: a program that runs for days runs out "
    "of it.";

static const struct trace_held held[TRACE_WHAT_COUNT] = {
    [TRACE_CONTEXT] = {"a ", "created", "destroyed", "cuCtxDestroy", is_held},
    [TRACE_STREAM] = {"a ", "created", "destroyed", "cudaStreamDestroy (cuStreamDestroy)", is_held},
    [TRACE_EVENT] = {"an ", "created", "destroyed", "cudaEventDestroy (cuEventDestroy)", is_held},
    [TRACE_LIBRARY] = {"a ", "loaded", "unloaded", "cuModuleUnload, or the end of its context",
                       is_held},
    [TRACE_DEVICE_MEMORY] = {"", "allocated", "released", "cudaFree (cuMemFree)", is_held},
    [TRACE_PINNED_MEMORY] = {"", "allocated", "released", "cudaFreeHost (cuMemFreeHost)", is_held},
    [TRACE_MANAGED_MEMORY] = {"", "allocated", "released", "cudaFree (cuMemFree)", is_held},
    [TRACE_THREAD] = {"a ", "started", "joined", "pthread_join (thrd_join)",
                      "Until it is joined nobody knows that it has ended: it may still be at work, "
                      "on memory that its starter releases, and what it found out is lost. Its "
                      "stack is held until the program ends."},
};

const struct trace_held *trace_held(uint32_t what)
{
    return what < TRACE_WHAT_COUNT && held[what].made != NULL ? &held[what] : NULL;
}

void trace_leak_sentence(uint32_t what, uint64_t count, uint64_t bytes, char *text, size_t size)
{
    const struct trace_held *row = trace_held(what);
    char times[32] = "", amount[48] = "";
    if (size > 0) text[0] = '\0';
    if (row == NULL || size == 0) return;
    if (count > 1) snprintf(times, sizeof times, "%" PRIu64 " times ", count);
    if (bytes > 0)
        snprintf(amount, sizeof amount, " (%" PRIu64 " byte%s)", bytes, bytes == 1 ? "" : "s");
    snprintf(text, size, "%s%s%s%s that was %s here was never %s.", times, row->article,
             trace_what_name(what), amount, row->made, row->ended);
    text[0] = (char)toupper((unsigned char)text[0]);
}
