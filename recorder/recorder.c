#include "recorder/recorder.h"
#include "recorder/calls.h"
#include "recorder/objects.h"

#include <cupti.h>

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define NOT_READY 600 /* of a query: no error */
#define FRAMES 40     /* how deep below the callback the submission's frame may be */

static struct {
    struct trace_writer *trace;
    CUpti_SubscriberHandle subscriber;
    bool callers;     /* determine callers */
    bool on;          /* CUPTI delivers */
    uint64_t word;    /* the number that callers of overlap_rest must know; 0: nobody may call it */
    _Atomic int rest; /* enum rest */
    atomic_bool faulted; /* a kernel did, in some context */
    /* address range of lesson.so */
    pthread_once_t lesson_once;
    uintptr_t lesson_begin, lesson_end;
} recorder = {.lesson_once = PTHREAD_ONCE_INIT};

/* The submission's call that the thread is in: the outermost one. Driver calls that the runtime
 * makes inside are a part of it. */
static _Thread_local struct {
    unsigned depth;
    bool per_thread;
    bool resolved; /* the stream was determined on entry */
    bool hidden;   /* a generated call, not recorded */
    uint32_t correlation;
    const struct calls_row *row;
    struct trace_record record;
    uint64_t pending_stream; /* stream created by this call; recorded when its flags are known */
    uint64_t pending_context;
} thread;

static bool is_resting(void)
{
    return atomic_load_explicit(&recorder.rest, memory_order_relaxed) == REST_ENTIRELY;
}

void recorder_put(const struct trace_record *record)
{
    trace_put(recorder.trace, record);
}

void recorder_setting(const char *name, const char *text, uint64_t number)
{
    struct trace_record record = {.kind = TRACE_SETTING, .bytes = number};
    trace_copy_string(record.name, sizeof record.name, name);
    trace_copy_string(record.text, sizeof record.text, text);
    recorder_put(&record);
}

uint64_t recorder_stream_number(uint32_t context, uint32_t stream)
{
    return (uint64_t)context << 32 | stream;
}

/* ---- callers ----------------------------------------------------------------------------------
 */

/* Callback: finds lesson.so, by its file name. */
static int look_at_library(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *end = "/lesson.so";
    size_t length = strlen(info->dlpi_name), wanted = strlen(end);

    (void)size;
    (void)data;
    if (length < wanted || strcmp(info->dlpi_name + length - wanted, end) != 0) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
        recorder.lesson_begin = info->dlpi_addr + header->p_vaddr;
        recorder.lesson_end = recorder.lesson_begin + header->p_memsz;
        return 1;
    }
    return 0;
}

static void find_lesson(void)
{
    dl_iterate_phdr(look_at_library, NULL);
}

struct search {
    int frames;
    uintptr_t caller;
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *data)
{
    struct search *search = data;
    uintptr_t address = _Unwind_GetIP(context);

    if (address >= recorder.lesson_begin && address < recorder.lesson_end) {
        search->caller = address;
        return _URC_END_OF_STACK;
    }
    return ++search->frames < FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The innermost return address inside lesson.so; 0: none. */
static uint64_t find_caller(void)
{
    struct search search = {0, 0};

    if (!recorder.callers) return 0;
    pthread_once(&recorder.lesson_once, find_lesson);
    if (recorder.lesson_end != 0) _Unwind_Backtrace(look_at_frame, &search);
    return search.caller;
}

/* ---- API calls --------------------------------------------------------------------------------
 */

static void find_stream(const CUpti_CallbackData *data)
{
    uint32_t number = 0;

    if (thread.resolved || thread.row == NULL || thread.row->stream == CALLS_NONE ||
        data->context == NULL)
        return;
    uint64_t handle = calls_stream(thread.row, data->functionParams);
    if (cuptiGetStreamIdEx(data->context, (CUstream)(uintptr_t)handle, thread.per_thread,
                           &number) != CUPTI_SUCCESS)
        return;
    thread.record.stream = recorder_stream_number(data->contextUid, number);
    thread.resolved = true;
}

static void enter_call(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    struct trace_record *record = &thread.record;
    struct calls_function room;
    const struct calls_function *function = calls_function(driver, id, data->functionName, &room);

    memset(record, 0, sizeof *record);
    thread.resolved = false;
    thread.pending_stream = 0;
    thread.correlation = data->correlationId;
    memcpy(record->name, function->plain, sizeof record->name);
    thread.per_thread = function->per_thread;
    thread.hidden = function->generated;
    thread.row = function->row;
    record->kind = TRACE_CALL;
    record->flags = (driver ? TRACE_DRIVER : 0u) | (function->asynchronous ? TRACE_ASYNC : 0u);
    record->request = data->correlationId;
    record->caller = find_caller();
    find_stream(data); /* determined now, because a call may end its stream */
    if (thread.row != NULL)
        record->object =
            objects_find(TRACE_EVENT, calls_parameter(data->functionParams, thread.row->event));
    cuptiGetTimestamp(&record->start_ns);
}

/* Begins a CREATE or DESTROY record that belongs to the thread's current call. */
static struct trace_record begin_object(uint32_t kind, uint32_t what, uint64_t id, uint64_t context)
{
    struct trace_record record = {
        .kind = kind, .what = what, .object = id, .context = context, .process = 0};
    if (thread.depth > 0) {
        record.caller = thread.record.caller;
        record.request = thread.record.request;
    }
    cuptiGetTimestamp(&record.start_ns);
    record.end_ns = record.start_ns;
    return record;
}

static void made(const CUpti_CallbackData *data)
{
    const struct calls_row *row = thread.row;
    uint64_t handle = calls_pointed(data->functionParams, row->handle);
    unsigned flags = calls_flags(data->functionParams, row->flags);

    if (row->what == TRACE_STREAM) return; /* recorded by CUPTI's stream callback */
    if (handle == 0) return; /* no bytes were asked for, and none are to be given back */
    struct object object = {.what = row->what,
                            .handle = handle,
                            .context = data->contextUid,
                            .bytes = calls_parameter(data->functionParams, row->bytes),
                            .pooled = row->effect == CALLS_POOLED};
    uint64_t id = objects_add(&object);
    struct trace_record record = begin_object(TRACE_CREATE, row->what, id, data->contextUid);
    if (row->what == TRACE_EVENT && (flags & CU_EVENT_DISABLE_TIMING))
        record.flags |= TRACE_TIMING_DISABLED;
    if (row->what != TRACE_EVENT) record.address = handle;
    record.bytes = object.bytes;
    recorder_put(&record);
}

static void ended(const CUpti_CallbackData *data)
{
    uint64_t handle = calls_parameter(data->functionParams, thread.row->handle);
    struct object object;

    /* cudaFree ends managed memory too, so the kind comes from the object's creation. */
    const bool memory = thread.row->what == TRACE_DEVICE_MEMORY;
    uint32_t what = memory ? 0 : thread.row->what;
    if (handle == 0 || !objects_take(what, handle, &object)) return;
    struct trace_record record =
        begin_object(TRACE_DESTROY, object.what, object.id, object.context);
    record.bytes = object.bytes;
    if (object.what != TRACE_EVENT) record.address = handle;
    recorder_put(&record);
}

/* Records the stream created by this call, now that its flags can be read. */
static void put_pending_stream(const CUpti_CallbackData *data)
{
    const bool asked = strstr(thread.record.name, "StreamCreate") != NULL;
    struct trace_record record =
        begin_object(TRACE_CREATE, TRACE_STREAM, thread.pending_stream, thread.pending_context);

    record.stream = thread.pending_stream;
    if (!asked) record.flags |= TRACE_IMPLICIT;
    if (asked && thread.row != NULL &&
        (calls_flags(data->functionParams, thread.row->flags) & CU_STREAM_NON_BLOCKING))
        record.flags |= TRACE_NON_BLOCKING;
    recorder_put(&record);
}

static void leave_call(const CUpti_CallbackData *data)
{
    struct trace_record *record = &thread.record;
    const enum calls_effect effect = thread.row != NULL ? thread.row->effect : CALLS_NO_EFFECT;

    cuptiGetTimestamp(&record->end_ns);
    /* cudaError_t and CUresult are both 32 bits wide. */
    if (data->functionReturnValue != NULL)
        memcpy(&record->code, data->functionReturnValue, sizeof record->code);
    if (trace_is_fault(record->code)) atomic_store(&recorder.faulted, true);
    if (record->code != 0 && record->code != NOT_READY) activities_refused(thread.correlation);
    record->context = data->contextUid;
    find_stream(data); /* the call may have created its context only now */
    if (thread.pending_stream != 0) put_pending_stream(data);
    if (record->code == 0 && (effect == CALLS_MAKES || effect == CALLS_POOLED)) made(data);
    if (record->code == 0 && effect == CALLS_ENDS) ended(data);
    if (!thread.hidden) recorder_put(record);
    /* A forked child may exit without its exit handlers. */
    if (strncmp(record->name, "cuCtxDestroy", 12) == 0 ||
        strcmp(record->name, "cudaDeviceReset") == 0)
        activities_flush(0);
}

static void on_call(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    if (data->callbackSite == CUPTI_API_ENTER) {
        if (thread.depth == 0 && is_resting()) return;
        if (thread.depth++ == 0)
            enter_call(driver, id, data);
        else if (data->correlationId != thread.correlation)
            activities_alias(data->correlationId, thread.correlation);
    } else if (thread.depth > 0 && --thread.depth == 0) {
        thread.depth = 1; /* still inside, for begin_object */
        leave_call(data);
        thread.depth = 0;
    }
}

/* ---- contexts, streams, modules ----------------------------------------------------------------
 */

static bool call_begins_with(const char *prefix)
{
    return thread.depth > 0 && strncmp(thread.record.name, prefix, strlen(prefix)) == 0;
}

/* Memory from a pool, and the pool, end with a context only if a fault ends it; nobody is accused
 * of leaving it to the primary context either. */
static bool takes_all_along(void)
{
    return atomic_load(&recorder.faulted) || !call_begins_with("cuCtxDestroy");
}

static void on_context(CUcontext context, bool created)
{
    struct object object;
    uint32_t number = 0;

    if (cuptiGetContextId(context, &number) != CUPTI_SUCCESS) return;
    if (!created)
        while (objects_take_of_context(number, takes_all_along(), &object)) {
            struct trace_record gone = begin_object(TRACE_DESTROY, object.what, object.id, number);
            gone.flags |= TRACE_IMPLICIT;
            recorder_put(&gone);
        }
    struct trace_record record =
        begin_object(created ? TRACE_CREATE : TRACE_DESTROY, TRACE_CONTEXT, number, number);
    /* Primary contexts are created and ended implicitly. */
    if (!call_begins_with(created ? "cuCtxCreate" : "cuCtxDestroy")) record.flags |= TRACE_IMPLICIT;
    recorder_put(&record);
}

static void on_stream(CUcontext context, CUstream stream, bool created)
{
    uint32_t context_number = 0, number = 0;
    struct object object;

    if (cuptiGetContextId(context, &context_number) != CUPTI_SUCCESS) return;
    if (created) {
        if (cuptiGetStreamIdEx(context, stream, 0, &number) != CUPTI_SUCCESS) return;
        object = (struct object){.what = TRACE_STREAM,
                                 .handle = (uint64_t)(uintptr_t)stream,
                                 .id = recorder_stream_number(context_number, number),
                                 .context = context_number};
        objects_add(&object);
        if (thread.depth > 0) {
            thread.pending_stream = object.id;
            thread.pending_context = context_number;
            return;
        }
        if (is_resting()) return;
        struct trace_record record =
            begin_object(TRACE_CREATE, TRACE_STREAM, object.id, context_number);
        record.stream = object.id;
        record.flags |= TRACE_IMPLICIT;
        recorder_put(&record);
        return;
    }
    if (!objects_take(TRACE_STREAM, (uint64_t)(uintptr_t)stream, &object) || is_resting()) return;
    struct trace_record record =
        begin_object(TRACE_DESTROY, TRACE_STREAM, object.id, object.context);
    record.stream = object.id;
    if (!call_begins_with("cudaStreamDestroy") && !call_begins_with("cuStreamDestroy"))
        record.flags |= TRACE_IMPLICIT;
    recorder_put(&record);
}

static void on_module(CUcontext context, const CUpti_ModuleResourceData *module, bool loaded)
{
    uint32_t context_number = 0;
    struct object object;

    if (module == NULL) return;
    cuptiGetContextId(context, &context_number);
    object = (struct object){
        .what = TRACE_LIBRARY, .handle = module->moduleId, .context = context_number};
    if (loaded) object.id = objects_add(&object);
    if (!loaded && !objects_take(TRACE_LIBRARY, module->moduleId, &object)) return;
    struct trace_record record = begin_object(loaded ? TRACE_CREATE : TRACE_DESTROY, TRACE_LIBRARY,
                                              object.id, context_number);
    if (loaded) record.bytes = module->cubinSize;
    if (!call_begins_with("cuModule") && !call_begins_with("cuLibrary"))
        record.flags |= TRACE_IMPLICIT;
    recorder_put(&record);
}

static void on_resource(CUpti_CallbackId id, const CUpti_ResourceData *data)
{
    switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
        on_context(data->context, true);
        break;
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        on_context(data->context, false);
        break;
    case CUPTI_CBID_RESOURCE_STREAM_CREATED:
        on_stream(data->context, data->resourceHandle.stream, true);
        break;
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
        on_stream(data->context, data->resourceHandle.stream, false);
        break;
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
        on_module(data->context, data->resourceDescriptor, true);
        break;
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        on_module(data->context, data->resourceDescriptor, false);
        break;
    default:
        break;
    }
}

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data)
{
    (void)user;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        on_resource(id, data);
    else
        on_call(domain == CUPTI_CB_DOMAIN_DRIVER_API, id, data);
}

/* ---- starting and ending ----------------------------------------------------------------------
 */

static void flush(void)
{
    activities_flush(1);
}

static void put_refusal(const char *why)
{
    char text[TRACE_TEXT_SIZE];

    snprintf(text, sizeof text, "refused: %s", why);
    recorder_setting(RECORDER_SETTING, text, 0);
}

/* Registered before flush, and therefore called after it. */
static void finish(void)
{
    trace_end(recorder.trace);
}

/* Called by the runner before a submission is loaded, so that the record's key can be removed from
 * the environment; otherwise by InitializeInjection below. Returns NULL, as the software device's
 * function of this name does when the device can work. */
__attribute__((visibility("default"))) const char *overlap_begin(void)
{
    const char *callers = getenv(RECORDER_CALLERS_VARIABLE), *word = getenv(REST_WORD_VARIABLE);

    if (recorder.trace != NULL) return NULL;
    recorder.trace = trace_open_from_environment();
    recorder.callers = callers == NULL || strcmp(callers, "0") != 0;
    recorder.word = word != NULL ? strtoull(word, NULL, 16) : 0;
    atexit(finish);
    return NULL;
}

__attribute__((visibility("default"))) void overlap_rest(uint64_t word, enum rest rest)
{
    const char *why = NULL;

    if (!recorder.on || recorder.word == 0 || word != recorder.word) return;
    const int before = atomic_exchange(&recorder.rest, (int)rest);
    if ((before == REST_NOT) == (rest == REST_NOT)) return;
    if (activities_go_on(rest == REST_NOT, &why) != 0) put_refusal(why);
}

/* Called by the driver in cuInit, before anything else. Returns 1: the driver may continue. */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
    static const CUpti_CallbackDomain domains[] = {
        CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE};
    const char *why = NULL;

    overlap_begin();
    if (recorder.trace == NULL) return 1;
    CUptiResult result = cuptiSubscribe(&recorder.subscriber, on_callback, NULL);
    for (size_t i = 0; i < sizeof domains / sizeof domains[0] && result == CUPTI_SUCCESS; i++)
        result = cuptiEnableDomain(1, recorder.subscriber, domains[i]);
    if (result != CUPTI_SUCCESS && cuptiGetResultString(result, &why) != CUPTI_SUCCESS)
        why = "unknown";
    if (result != CUPTI_SUCCESS || activities_start(&why) != 0) {
        put_refusal(why);
        return 1;
    }
    recorder.on = true;
    recorder_setting(RECORDER_SETTING, "on", 0);
    atexit(flush);
    return 1;
}
