#include "trace/repeats.h"

#include <string.h>

/* What a program calls again and again while it waits. */
static const char *const asking[] = {"cudaStreamQuery", "cudaEventQuery",   "cuStreamQuery",
                                     "cuEventQuery",    "cudaGetLastError", "cudaPeekAtLastError",
                                     "clGetEventInfo",  "clFlush"};

#define ASKING (sizeof asking / sizeof asking[0])
#define MOST_AT_ONCE 32 /* calls of one loop that are told apart; further ones are all recorded */

struct call {
    size_t name;
    int32_t code;
    uint32_t flags;
    uint64_t object, stream, caller;
};

/* Of one thread. A fork copies it: `process` tells. */
static _Thread_local struct {
    uint32_t process;
    size_t used;
    struct {
        struct call call;
        uint64_t times;
    } row[MOST_AT_ONCE]; /* calls in a row */
    uint64_t left_out[ASKING];
} repeats;

void repeats_forget(void)
{
    memset(&repeats, 0, sizeof repeats);
}

static size_t find_name(const struct trace_record *record)
{
    size_t i = 0;
    if (record->kind != TRACE_CALL) return ASKING;
    while (i < ASKING && strcmp(asking[i], record->name) != 0) i++;
    return i;
}

static bool same(const struct call *a, const struct call *b)
{
    return a->name == b->name && a->code == b->code && a->flags == b->flags &&
           a->object == b->object && a->stream == b->stream && a->caller == b->caller;
}

/* Returns how often the call was made in a row, this time included; 0: not known. */
static uint64_t times_of(const struct call *call)
{
    size_t i = 0;
    while (i < repeats.used && !same(&repeats.row[i].call, call)) i++;
    if (i == MOST_AT_ONCE) return 0;
    if (i == repeats.used) {
        repeats.row[i].call = *call;
        repeats.row[i].times = 0;
        repeats.used++;
    }
    return ++repeats.row[i].times;
}

/* Facts about the program or the device, recorded in passing, end no loop. */
static bool ends_a_row(const struct trace_record *record)
{
    return record->kind == TRACE_CALL || record->kind == TRACE_MARK ||
           record->kind == TRACE_CREATE || record->kind == TRACE_DESTROY ||
           record->kind == TRACE_OPERATION;
}

bool repeats_keep(struct trace_record *record)
{
    const size_t name = find_name(record);

    if (repeats.process != record->process) {
        repeats_forget();
        repeats.process = record->process;
    }
    if (name == ASKING) {
        if (ends_a_row(record)) repeats.used = 0;
        return true;
    }
    const uint64_t times = times_of(&(struct call){name, record->code, record->flags,
                                                   record->object, record->stream, record->caller});
    if (times > REPEATS_ALL && (times & (times - 1)) != 0) {
        repeats.left_out[name]++;
        return false;
    }
    record->count = repeats.left_out[name];
    repeats.left_out[name] = 0;
    return true;
}
