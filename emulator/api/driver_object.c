/* Handles, the records of objects in the trace, and sentences about them. */
#include "emulator/api/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of live handles ----------------------------------------------------------- */

static struct object **bucket_of(const void *handle)
{
    const size_t buckets = sizeof driver.buckets / sizeof *driver.buckets;
    return &driver.buckets[((uintptr_t)handle >> 5) * 0x9e3779b97f4a7c15ull >> 32 & (buckets - 1)];
}

void object_add(struct object *object, enum object_kind kind, struct context *context)
{
    struct object **bucket = bucket_of(object);
    object->kind = kind;
    object->id = ++driver.ids;
    object->context = context;
    object->bucket = *bucket;
    *bucket = object;
    if (context == NULL) return;
    object->previous = NULL;
    object->next = context->objects;
    if (object->next != NULL) object->next->previous = object;
    context->objects = object;
}

void object_remove(struct object *object)
{
    struct object **link = bucket_of(object);
    while (*link != NULL && *link != object) link = &(*link)->bucket;
    if (*link != NULL) *link = object->bucket;
    if (object->context == NULL) return;
    *(object->previous != NULL ? &object->previous->next : &object->context->objects) =
        object->next;
    if (object->next != NULL) object->next->previous = object->previous;
}

void *object_find(const void *handle, enum object_kind kind)
{
    if (handle == NULL) return NULL;
    for (struct object *object = *bucket_of(handle); object != NULL; object = object->bucket)
        if ((const void *)object == handle) return object->kind == kind ? object : NULL;
    return NULL;
}

/* ---- the trace --------------------------------------------------------------------------- */

static void fill_from_call(struct trace_record *record)
{
    record->request = thread.depth > 0 ? thread.call.request : 0;
    record->caller = thread.depth > 0 ? (uint64_t)(uintptr_t)thread.call.caller : 0;
    record->start_ns = record->end_ns = thread.clock_ns;
    if (record->kind != TRACE_DESTROY) record->stack = stack_note(record->caller);
}

void trace_object(const struct object *object, enum trace_kind kind, enum trace_what what,
                  unsigned flags)
{
    struct trace_record record = {.kind = kind,
                                  .what = what,
                                  .flags = flags,
                                  .object = object->id,
                                  .context = object->context ? object->context->object.id : 0};
    if (what == TRACE_CONTEXT) record.context = object->id;
    if (what == TRACE_STREAM) record.stream = object->id;
    fill_from_call(&record);
    trace_put(driver.trace, &record);
}

static const enum trace_what memory_whats[MEMORY_KIND_COUNT] = {
    [MEMORY_DEVICE] = TRACE_DEVICE_MEMORY,
    [MEMORY_PINNED] = TRACE_PINNED_MEMORY,
    [MEMORY_MANAGED] = TRACE_MANAGED_MEMORY,
    [MEMORY_VARIABLE] = TRACE_DEVICE_MEMORY,
};

void trace_memory(const struct memory_region *region, enum trace_kind kind, unsigned flags)
{
    struct trace_record record = {.kind = kind,
                                  .what = memory_whats[region->kind],
                                  .flags = flags,
                                  .object = region->id,
                                  .context = region->context,
                                  .address = region->address,
                                  .bytes = region->size};
    fill_from_call(&record);
    trace_put(driver.trace, &record);
}

void finding_say(const char *sentence)
{
    const char *quiet = getenv("OVERLAP_QUIET");
    if (quiet == NULL || *quiet == '\0') fprintf(stderr, "overlap: %s\n", sentence);
}

void overlap_finding(const char *kind, int code, const char *sentence)
{
    struct trace_record record = {.kind = TRACE_FINDING, .code = code, .count = 1};
    fill_from_call(&record);
    record.context = thread.call.context;
    record.stream = thread.call.stream;
    trace_copy_string(record.name, sizeof record.name, kind);
    trace_copy_string(record.text, sizeof record.text, sentence);
    trace_put(driver.trace, &record);
    finding_say(sentence);
}

void finding(const char *kind, CUresult code, const char *format, ...)
{
    char sentence[TRACE_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    overlap_finding(kind, (int)code, sentence);
}

/* ---- sentences --------------------------------------------------------------------------- */

static const char *const memory_names[MEMORY_KIND_COUNT] = {
    [MEMORY_DEVICE] = "device memory",
    [MEMORY_PINNED] = "pinned host memory",
    [MEMORY_MANAGED] = "managed memory",
    [MEMORY_VARIABLE] = "a module's variable",
};

void describe_region(const struct memory_region *region, char *text, size_t size)
{
    snprintf(text, size, "%s (%llu bytes at 0x%llx, allocated by the call before 0x%llx)",
             memory_names[region->kind], (unsigned long long)region->size,
             (unsigned long long)region->address, (unsigned long long)region->caller);
}

void describe_miss(uint64_t address, char *text, size_t size)
{
    const struct memory_miss_report report = memory_explain(address);
    const struct memory_region *near = &report.near;
    switch (report.kind) {
    case MEMORY_MISS_NULL:
        snprintf(text, size, "a null pointer");
        return;
    case MEMORY_MISS_HOST:
        snprintf(text, size, "no device memory but a host address");
        return;
    case MEMORY_MISS_NOWHERE:
        snprintf(text, size, "in no allocation, though in the range of device addresses");
        return;
    case MEMORY_MISS_FREED:
        snprintf(text, size, "in %s of %llu bytes that has been freed", memory_names[near->kind],
                 (unsigned long long)near->size);
        return;
    case MEMORY_MISS_BEYOND:
        if (address < near->address)
            snprintf(text, size, "%llu bytes before %s of %llu bytes",
                     (unsigned long long)(near->address - address), memory_names[near->kind],
                     (unsigned long long)near->size);
        else
            snprintf(text, size, "%llu bytes past the end of %s of %llu bytes",
                     (unsigned long long)(address - near->address - near->size),
                     memory_names[near->kind], (unsigned long long)near->size);
        return;
    }
}
