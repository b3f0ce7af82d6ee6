/* Trace records of objects and memory. */
#include "emulator/driver/core/core.h"
#include "emulator/driver/core/python.h"

void trace_at_call(struct trace_record *record)
{
    record->request = thread.depth > 0 ? thread.call.request : 0;
    record->caller = call_place();
    record->start_ns = record->end_ns = thread.clock_ns;
    /* In Python every call of a function may come from the same place in native code, so there the
     * stack is needed even for a destruction. */
    if (record->kind != TRACE_DESTROY || python_code() != NULL)
        record->stack = stack_note(record->caller);
}

void trace_object(const struct object *object, enum trace_kind kind, enum trace_what what,
                  unsigned flags)
{
    struct trace_record record = {.kind = kind,
                                  .what = what,
                                  .flags = flags,
                                  .object = object->id,
                                  .context =
                                      object->context != NULL ? object->context->object.id : 0};
    if (what == TRACE_CONTEXT) record.context = object->id;
    if (what == TRACE_STREAM) record.stream = object->id;
    trace_at_call(&record);
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
    trace_at_call(&record);
    if (kind == TRACE_CREATE && thread.call.name != NULL)
        call_plain_name(record.name, sizeof record.name, thread.call.name);
    trace_put(driver.trace, &record);
}
