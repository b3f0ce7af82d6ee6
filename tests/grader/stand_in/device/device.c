#include "device.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS 64
#define STORES 256
#define CALL_NS 1000
#define NO_SUCH_STREAM 400

static struct {
    struct trace_writer *trace;
    uint64_t clock_ns; /* the host's, virtual */
    uint64_t opened, request;
    int open[STREAMS];
    uint64_t busy_until[STREAMS];
    struct {
        uint64_t stream;
        int *to;
        int value;
    } stores[STORES];
    int cache_count;
    char order[32], given[32], workers[32];
} device;

static void keep(char *to, size_t size, const char *name)
{
    const char *value = getenv(name);
    trace_copy_string(to, size, value != NULL ? value : "");
}

__attribute__((constructor)) static void start(void)
{
    device.trace = trace_open_from_environment();
    keep(device.order, sizeof device.order, "OVERLAP_ORDER");
    keep(device.given, sizeof device.given, "OVERLAP_FAIL");
    keep(device.workers, sizeof device.workers, "OVERLAP_WORKERS");
}

__attribute__((destructor)) static void end(void)
{
    trace_end(device.trace);
}

const char *device_given(void)
{
    return device.given;
}

const char *device_workers(void)
{
    return device.workers;
}

static int arrives_at_once(void)
{
    if (device.order[0] == '\0' || strcmp(device.order, "latest") == 0) return 0;
    return strcmp(device.order, "earliest") == 0 || device.cache_count % 2 == 0;
}

/* Every call takes a little time and leaves a record. */
static int record_call(const char *name, uint64_t stream, int code, void *caller)
{
    struct trace_record record = {.kind = TRACE_CALL,
                                  .stream = stream,
                                  .code = code,
                                  .request = ++device.request,
                                  .start_ns = device.clock_ns,
                                  .end_ns = device.clock_ns + CALL_NS,
                                  .caller = (uint64_t)(uintptr_t)caller};
    trace_copy_string(record.name, sizeof record.name, name);
    device.clock_ns += CALL_NS;
    trace_put(device.trace, &record);
    return code;
}

static int is_open(uint64_t stream)
{
    return stream > 0 && stream < STREAMS && device.open[stream];
}

uint64_t device_open(void)
{
    void *caller = __builtin_return_address(0);
    if (device.opened + 1 >= STREAMS) abort();
    struct trace_record record = {.kind = TRACE_CREATE,
                                  .what = TRACE_STREAM,
                                  .object = ++device.opened,
                                  .caller = (uint64_t)(uintptr_t)caller};
    device.open[device.opened] = 1;
    trace_put(device.trace, &record);
    record_call("device_open", device.opened, 0, caller);
    return device.opened;
}

int device_work(uint64_t stream, uint64_t ns)
{
    void *caller = __builtin_return_address(0);
    if (!is_open(stream)) return record_call("device_work", stream, NO_SUCH_STREAM, caller);
    record_call("device_work", stream, 0, caller);
    uint64_t start =
        device.busy_until[stream] > device.clock_ns ? device.busy_until[stream] : device.clock_ns;
    struct trace_record record = {.kind = TRACE_OPERATION,
                                  .what = TRACE_KERNEL,
                                  .stream = stream,
                                  .request = device.request,
                                  .start_ns = start,
                                  .end_ns = start + ns,
                                  .caller = (uint64_t)(uintptr_t)caller,
                                  .name = "work"};
    device.busy_until[stream] = start + ns;
    trace_put(device.trace, &record);
    return 0;
}

int device_store(uint64_t stream, int *to, int value)
{
    void *caller = __builtin_return_address(0);
    if (!is_open(stream) || device.cache_count == STORES)
        return record_call("device_store", stream, NO_SUCH_STREAM, caller);
    device.stores[device.cache_count].stream = stream;
    device.stores[device.cache_count].to = to;
    device.stores[device.cache_count++].value = value;
    if (arrives_at_once()) *to = value;
    return record_call("device_store", stream, 0, caller);
}

int device_wait(uint64_t stream)
{
    void *caller = __builtin_return_address(0);
    if (!is_open(stream)) return record_call("device_wait", stream, NO_SUCH_STREAM, caller);
    for (int i = 0; i < device.cache_count; i++)
        if (device.stores[i].stream == stream) *device.stores[i].to = device.stores[i].value;
    if (device.busy_until[stream] > device.clock_ns) device.clock_ns = device.busy_until[stream];
    return record_call("device_wait", stream, 0, caller);
}

int device_close(uint64_t stream)
{
    void *caller = __builtin_return_address(0);
    if (!is_open(stream)) return record_call("device_close", stream, NO_SUCH_STREAM, caller);
    device.open[stream] = 0;
    struct trace_record record = {.kind = TRACE_DESTROY,
                                  .what = TRACE_STREAM,
                                  .object = stream,
                                  .caller = (uint64_t)(uintptr_t)caller};
    trace_put(device.trace, &record);
    return record_call("device_close", stream, 0, caller);
}

void device_complain(const char *sentence)
{
    struct trace_record record = {.kind = TRACE_FINDING,
                                  .finding.id = FINDING_MODULE_DOES_NOT_LINK,
                                  .count = 1,
                                  .caller = (uint64_t)(uintptr_t)__builtin_return_address(0)};
    trace_finding_word_set(&record.finding, WORD_DETAIL, sentence);
    trace_put(device.trace, &record);
}
