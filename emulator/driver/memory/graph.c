/* Memory of graphs' allocation nodes. Its address is fixed from the creation of the node until
 * the last graph with a node for it is gone. A launch gives the memory to the submission; a free
 * node, cuMemFreeAsync or cuMemFree takes it back. In between it stays reserved, with poisoned
 * contents. A graph may be destroyed while a launch of it is in flight, so the memory also stays
 * until every operation that frees it has run. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/memory/parts.h"

#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What an H200 takes for graphs at a time. */
#define PIECE (32ull << 20)

static struct {
    struct graph_memory *list;
    uint64_t held;      /* bytes of all on the list */
    uint64_t allocated; /* of those that launches have given to the submission */
    /* What the attributes tell: launches take memory from the device in pieces, which stay with the
     * graphs, and count as used, until cuDeviceGraphMemTrim. */
    uint64_t taken, used_high, reserved_high;
} memories;

static const struct memory_region *region_of(const struct graph_memory *memory)
{
    const struct memory_region *region = memory_find(memory->address);
    return region != NULL && region->id == memory->id ? region : NULL;
}

struct graph_memory *graph_memory_find(CUdeviceptr address)
{
    for (struct graph_memory *memory = memories.list; memory != NULL; memory = memory->next)
        if (memory->address == address && region_of(memory) != NULL) return memory;
    return NULL;
}

/* ---- life -------------------------------------------------------------------------------- */

static void forget_unused(struct graph_memory *memory, uint64_t caller)
{
    if (memory->nodes > 0 || memory->frees > 0 || memory->allocated) return;
    const struct memory_region *region = region_of(memory);
    struct graph_memory **link = &memories.list;
    while (*link != memory) link = &(*link)->next;
    *link = memory->next;
    memories.held -= memory->size;
    if (region != NULL) {
        findings_memory_gone(region);
        memory_release(region, caller);
    }
    free(memory);
}

static struct graph_memory *memory_make(struct context *context, uint64_t size)
{
    struct graph_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) return NULL;
    const struct memory_region *region = memory_allocate(&(struct memory_request){
        .kind = MEMORY_DEVICE,
        .size = size,
        .context = context->object.id,
        .device = (unsigned)context->device,
        .id = ++driver.ids,
        .caller = (uint64_t)(uintptr_t)thread.call.caller,
    });
    if (region == NULL) {
        free(memory);
        return NULL;
    }
    *memory = (struct graph_memory){
        .address = region->address, .size = size, .id = region->id, .next = memories.list};
    memories.list = memory;
    memories.held += size;
    return memory;
}

static uint64_t pieces(uint64_t bytes)
{
    return (bytes + PIECE - 1) / PIECE * PIECE;
}

void graph_memory_set_allocated(struct graph_memory *memory, bool allocated)
{
    const struct memory_region *region = region_of(memory);
    if (memory->allocated == allocated) return;
    memory->allocated = allocated;
    memories.allocated += allocated ? memory->size : -memory->size;
    graph_memory_used_inside(0);
    if (region != NULL) trace_memory(region, allocated ? TRACE_CREATE : TRACE_DESTROY, 0);
}

void graph_memory_used_inside(uint64_t bytes)
{
    const uint64_t needed = pieces(memories.allocated + bytes);
    if (needed > memories.taken) memories.taken = needed;
    if (memories.taken > memories.used_high) memories.used_high = memories.taken;
    if (memories.taken > memories.reserved_high) memories.reserved_high = memories.taken;
}

void graph_memory_retain(CUdeviceptr address)
{
    struct graph_memory *memory = graph_memory_find(address);
    if (memory != NULL) memory->nodes++;
}

void graph_memory_release(CUdeviceptr address)
{
    struct graph_memory *memory = graph_memory_find(address);
    if (memory == NULL) return;
    assert(memory->nodes > 0);
    memory->nodes--;
    forget_unused(memory, call_place());
}

/* ---- operations -------------------------------------------------------------------------- */

static enum timeline_ran run_change(struct operation *operation, enum races_mode mode)
{
    const struct memory_region *region = memory_find(operation->record.address);
    if (region == NULL) return TIMELINE_RAN; /* it ended with its context */
    findings_memory_passes(operation, mode, region, true);
    memset(region->bytes, MEMORY_POISON, region->size);
    return TIMELINE_RAN;
}

static enum timeline_ran run_allocate(struct operation *operation)
{
    return run_change(operation, RACES_WRITE);
}

/* Payload of an operation that frees memory; NULL once it has run. */
static struct graph_memory **freed_by(struct operation *operation)
{
    return (struct graph_memory **)(void *)operation->payload;
}

static void drop_free(struct operation *operation)
{
    struct graph_memory *memory = *freed_by(operation);
    if (memory == NULL) return;
    *freed_by(operation) = NULL;
    memory->frees--;
    forget_unused(memory, operation->record.caller);
}

static void copied_free(struct operation *operation)
{
    (*freed_by(operation))->frees++;
}

static enum timeline_ran run_free(struct operation *operation)
{
    const enum timeline_ran ran = run_change(operation, RACES_FREE);
    drop_free(operation); /* the operation itself may live on for long */
    return ran;
}

static CUresult make_change(struct context *context, struct graph_memory *memory, bool allocate,
                            struct operation **made, struct timeline_work *work)
{
    struct operation *operation = operation_make(context->legacy, TRACE_WHAT_NONE, sizeof memory);
    *work = (struct timeline_work){.kind = TIMELINE_MARK};
    *made = operation;
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    trace_copy_string(operation->record.name, sizeof operation->record.name, thread.call.name);
    operation->record.address = memory->address;
    operation->run = allocate ? run_allocate : run_free;
    if (allocate) return CUDA_SUCCESS;
    *freed_by(operation) = memory;
    operation->copied = copied_free;
    operation->drop = drop_free;
    copied_free(operation);
    return CUDA_SUCCESS;
}

CUresult graph_memory_allocate(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct operation **operation,
                               struct timeline_work *work)
{
    const CUmemPoolProps *pool = &params->poolProps;
    if (pool->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        pool->location.type != CU_MEM_LOCATION_TYPE_DEVICE || pool->location.id < 0 ||
        pool->location.id >= devices_count() || params->bytesize == 0 ||
        params->accessDescCount > 1)
        return CUDA_ERROR_INVALID_VALUE;
    /* Memory of graphs has no handles to share, and can be written. */
    if (pool->handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        (params->accessDescCount == 1 && params->accessDescs != NULL &&
         params->accessDescs->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
        return CUDA_ERROR_NOT_SUPPORTED;
    struct graph_memory *memory = memory_make(thread_context(), params->bytesize);
    if (memory == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    params->dptr = memory->address;
    params->accessDescs = NULL; /* the device has access to its own memory anyway */
    params->accessDescCount = 0;
    CUresult code = make_change(thread_context(), memory, true, operation, work);
    if (code != CUDA_SUCCESS) forget_unused(memory, call_place());
    return code;
}

CUresult graph_memory_free(const CUDA_MEM_FREE_NODE_PARAMS *params, struct operation **operation,
                           struct timeline_work *work)
{
    struct graph_memory *memory = graph_memory_find(params->dptr);
    if (memory == NULL) return CUDA_ERROR_INVALID_VALUE;
    return make_change(thread_context(), memory, false, operation, work);
}

CUresult graph_memory_free_now(struct graph_memory *memory, struct stream *stream)
{
    struct operation *operation;
    struct timeline_work work;
    if (!memory->allocated) {
        struct trace_record found =
            finding_at_call(FINDING_FREE_OF_GRAPH_MEMORY, CUDA_ERROR_INVALID_VALUE);
        finding_address(&found, memory->address);
        finding_put(&found);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (stream == NULL) {
        graph_memory_set_allocated(memory, false);
        forget_unused(memory, call_place());
        return CUDA_SUCCESS;
    }
    TRY(make_change(stream->object.context, memory, false, &operation, &work));
    operation->record.stream = stream->object.id;
    graph_memory_set_allocated(memory, false);
    return operation_submit(operation, stream, &work, NULL, NULL); /* may end the memory */
}

/* ---- attributes -------------------------------------------------------------------------- */

CUresult driver_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                             void *value)
{
    NEED_POINTER(value);
    NEED_DEVICE(device);
    const uint64_t values[] = {
        [CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = memories.taken,
        [CU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = memories.used_high,
        [CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = memories.taken,
        [CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] = memories.reserved_high,
    };
    if ((size_t)attr >= sizeof values / sizeof *values) return CUDA_ERROR_INVALID_VALUE;
    *(cuuint64_t *)value = values[attr];
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                             void *value)
{
    NEED_POINTER(value);
    NEED_DEVICE(device);
    if (*(cuuint64_t *)value != 0) return CUDA_ERROR_INVALID_VALUE;
    if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        memories.used_high = memories.taken;
    else if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        memories.reserved_high = memories.taken;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGraphMemTrim(CUdevice device)
{
    NEED_DEVICE(device);
    if (memories.taken > pieces(memories.held)) memories.taken = pieces(memories.held);
    return CUDA_SUCCESS;
}
