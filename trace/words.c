/* The English words of a trace: names of its enumerations, and the sentence of a leak.
 */
#include "trace/sentence.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[TRACE_KIND_COUNT] = {
    "none",    "module",  "mark",  "call",      "create", "destroy", "operation",
    "finding", "setting", "stack", "host call", "seal",   "advice",  "line"};

static const char *const what_names[TRACE_WHAT_COUNT] = {
    N_("nothing"), N_("context"), N_("stream"), N_("event"), N_("module"), N_("device memory"),
    N_("pinned memory"), N_("managed memory"), N_("memory pool"), N_("thread"), N_("graph"),
    N_("executable graph"), N_("texture object"), N_("surface object"),
    /* OpenCL */
    N_("context"), N_("command queue"), N_("buffer"), N_("program"), N_("kernel"), N_("event"),
    /* operations */
    N_("kernel"), N_("copy"), N_("memset"), N_("host function"), N_("event record"),
    N_("event wait"), N_("condition")};

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

#define IS_HELD                                                                                    \
    N_("What is not given back is held until the program ends: a program that runs for days runs " \
       "out of it.")

#define IS_COUNTED                                                                                 \
    N_("OpenCL counts references: an object is there until it has been released as often as it "   \
       "was made and retained. What is not released is held until the program ends.")

static const struct trace_held held[TRACE_WHAT_COUNT] = {
    [TRACE_CONTEXT] = {N_("a context"), N_("created"), N_("destroyed"), "cuCtxDestroy", IS_HELD},
    [TRACE_STREAM] = {N_("a stream"), N_("created"), N_("destroyed"),
                      "cudaStreamDestroy (cuStreamDestroy)", IS_HELD},
    [TRACE_EVENT] = {N_("an event"), N_("created"), N_("destroyed"),
                     "cudaEventDestroy (cuEventDestroy)", IS_HELD},
    [TRACE_LIBRARY] = {N_("a module"), N_("loaded"), N_("unloaded"),
                       N_("cuModuleUnload, or the end of its context"), IS_HELD},
    [TRACE_DEVICE_MEMORY] = {N_("device memory"), N_("allocated"), N_("released"),
                             "cudaFree (cuMemFree)", IS_HELD},
    [TRACE_PINNED_MEMORY] = {N_("pinned memory"), N_("allocated"), N_("released"),
                             "cudaFreeHost (cuMemFreeHost)", IS_HELD},
    [TRACE_MANAGED_MEMORY] = {N_("managed memory"), N_("allocated"), N_("released"),
                              "cudaFree (cuMemFree)", IS_HELD},
    [TRACE_POOL] = {N_("a memory pool"), N_("created"), N_("destroyed"),
                    "cudaMemPoolDestroy (cuMemPoolDestroy)", IS_HELD},
    [TRACE_GRAPH] = {N_("a graph"), N_("created"), N_("destroyed"),
                     "cudaGraphDestroy (cuGraphDestroy)", IS_HELD},
    [TRACE_GRAPH_EXEC] = {N_("an executable graph"), N_("created"), N_("destroyed"),
                          "cudaGraphExecDestroy (cuGraphExecDestroy)", IS_HELD},
    [TRACE_TEXTURE] = {N_("a texture object"), N_("created"), N_("destroyed"),
                       "cudaDestroyTextureObject (cuTexObjectDestroy)", IS_HELD},
    [TRACE_SURFACE] = {N_("a surface object"), N_("created"), N_("destroyed"),
                       "cudaDestroySurfaceObject (cuSurfObjectDestroy)", IS_HELD},
    [TRACE_CL_CONTEXT] = {N_("a context"), N_("created"), N_("released"), "clReleaseContext",
                          IS_COUNTED},
    [TRACE_CL_QUEUE] = {N_("a command queue"), N_("created"), N_("released"),
                        "clReleaseCommandQueue", IS_COUNTED},
    [TRACE_CL_BUFFER] = {N_("a buffer"), N_("created"), N_("released"), "clReleaseMemObject",
                         IS_COUNTED},
    [TRACE_CL_PROGRAM] = {N_("a program"), N_("created"), N_("released"), "clReleaseProgram",
                          IS_COUNTED},
    [TRACE_CL_KERNEL] = {N_("a kernel"), N_("created"), N_("released"), "clReleaseKernel",
                         IS_COUNTED},
    [TRACE_CL_EVENT] = {N_("an event"), N_("created"), N_("released"), "clReleaseEvent",
                        IS_COUNTED},
    [TRACE_THREAD] = {N_("a thread"), N_("started"), N_("joined"), "pthread_join (thrd_join)",
                      N_("Until it is joined nobody knows that it has ended: it may still be at "
                         "work, on memory that its starter releases, and what it found out is "
                         "lost. Its stack is held until the program ends.")},
};

const struct trace_held *trace_held(uint32_t what)
{
    return what < TRACE_WHAT_COUNT && held[what].made != NULL ? &held[what] : NULL;
}

#define IN_STREAM_ORDER "cudaFreeAsync (cuMemFreeAsync)"

static const struct {
    const char *maker, *by;
} released_otherwise[] = {
    {"cudaMallocAsync", IN_STREAM_ORDER},
    {"cudaMallocFromPoolAsync", IN_STREAM_ORDER},
    {"cuMemAllocAsync", IN_STREAM_ORDER},
    {"cuMemAllocFromPoolAsync", IN_STREAM_ORDER},
    {"cudaMallocArray", "cudaFreeArray"},
    {"cudaMalloc3DArray", "cudaFreeArray"},
    {"cuArrayCreate", "cuArrayDestroy"},
    {"cuArray3DCreate", "cuArrayDestroy"},
    {"cudaMallocMipmappedArray", "cudaFreeMipmappedArray"},
    {"cuMipmappedArrayCreate", "cuMipmappedArrayDestroy"},
    {"cudaHostRegister", "cudaHostUnregister"},
    {"cuMemHostRegister", "cuMemHostUnregister"},
};

const char *trace_ended_by(const struct trace_record *made)
{
    const size_t count = sizeof released_otherwise / sizeof *released_otherwise;
    const struct trace_held *row = trace_held(made->what);
    if (row == NULL) return NULL;
    for (size_t k = 0; k < count; k++)
        if (strcmp(made->name, released_otherwise[k].maker) == 0) return released_otherwise[k].by;
    return row->by;
}

static const char *unchanged(const char *phrase)
{
    return phrase;
}

void trace_leak_sentence(uint32_t what, uint64_t count, uint64_t bytes,
                         const char *(*words)(const char *), char *text, size_t size)
{
    const struct trace_held *row = trace_held(what);
    char times[48] = "", amount[64] = "";
    if (words == NULL) words = unchanged;
    if (size > 0) text[0] = '\0';
    if (row == NULL || size == 0) return;
    if (count > 1) snprintf(times, sizeof times, words(N_("%" PRIu64 " times ")), count);
    if (bytes > 0)
        snprintf(amount, sizeof amount,
                 words(bytes == 1 ? N_(" (%" PRIu64 " byte)") : N_(" (%" PRIu64 " bytes)")), bytes);
    snprintf(text, size, words(N_("%s%s%s that was %s here was never %s.")), times, words(row->one),
             amount, words(row->made), words(row->ended));
    text[0] = (char)toupper((unsigned char)text[0]);
}
