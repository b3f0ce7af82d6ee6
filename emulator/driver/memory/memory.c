/* Memory: device, pinned, managed. As on GPUs, freeing waits for the context's work, except for
 * stream-ordered memory (pool.c). */
#include "emulator/driver/memory/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PITCH_ALIGNMENT = 512 };

/* ---- allocation -------------------------------------------------------------------------- */

CUresult region_make(struct memory_request request, const struct memory_region **region)
{
    const enum memory_kind kind = request.kind;
    if (request.size == 0) return CUDA_ERROR_INVALID_VALUE;
    request.context = thread.call.context;
    request.id = ++driver.ids;
    request.caller = (uint64_t)(uintptr_t)thread.call.caller;
    request.padding = kind == MEMORY_DEVICE ? stack_padding(request.caller) : 0;
    *region = memory_allocate(&request);
    if (*region == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    if (kind == MEMORY_DEVICE || kind == MEMORY_MANAGED) findings_memory_begins(*region);
    thread_spend(kind == MEMORY_PINNED
                     ? timeline_model->allocate_pinned * (double)(request.size / 1024 + 1)
                     : timeline_model->allocate);
    thread.call.object = (*region)->id;
    trace_memory(*region, TRACE_CREATE, 0);
    return CUDA_SUCCESS;
}

static CUresult allocate(enum memory_kind kind, size_t size, unsigned flags,
                         const struct memory_region **region)
{
    return region_make(
        (struct memory_request){
            .kind = kind, .size = size, .flags = flags, .device = (unsigned)device_current()},
        region);
}

/* Addresses freed although their call returned a sticky error. A GPU frees nothing then, so a
 * program may free them once more; that is not reported as a double free. */
static struct {
    uint64_t addresses[64]; /* the latest */
    size_t count;
} unsure;

void region_note_free(uint64_t address)
{
    if (thread.owed == CUDA_SUCCESS) return;
    unsure.addresses[unsure.count++ % (sizeof unsure.addresses / sizeof *unsure.addresses)] =
        address;
}

static bool is_unsure(uint64_t address)
{
    for (size_t i = 0; i < sizeof unsure.addresses / sizeof *unsure.addresses; i++)
        if (unsure.addresses[i] == address) return true;
    return false;
}

/* A double free, the most common case, has a finding of its own. */
CUresult region_refuse_free(uint64_t address, CUresult code)
{
    if (thread.owed != CUDA_SUCCESS && is_unsure(address)) return thread.owed;
    const struct memory_region *region = memory_find(address);
    const struct memory_miss_report report = memory_explain(address);
    const bool freed = region != NULL ? region->ended != 0 : report.kind == MEMORY_MISS_FREED;
    const bool whole = address == (region != NULL ? region->address : report.near.address);
    struct trace_record found =
        finding_at_call(freed && whole ? FINDING_DOUBLE_FREE : FINDING_INVALID_FREE, code);
    finding_address(&found, address);
    finding_put(&found);
    return code;
}

static void release(const struct memory_region *region)
{
    region_note_free(region->address);
    thread.call.object = region->id;
    trace_memory(region, TRACE_DESTROY, 0);
    pool_unused(region);
    pool_returned(region);
    managed_ends(region);
    findings_memory_ends(region);
    memory_release(region, (uint64_t)(uintptr_t)thread.call.caller);
}

struct context *region_context(const struct memory_region *region)
{
    for (struct object *object = NULL; (object = object_next(object)) != NULL;)
        if (object->kind == OBJECT_CONTEXT && object->id == region->context)
            return (struct context *)object;
    return NULL;
}

/* Frees the region after all work of its context. Returns false if another thread freed it during
 * the wait. An error of that work becomes the call's result. */
static bool release_after_work(const struct memory_region *region)
{
    struct context *context = region_context(region);
    const uint64_t id = region->id, address = region->address;
    if (context != NULL && context->alive && region->pool == 0) {
        const CUresult code = wait_for_context_on_gpus(context);
        if (thread.owed == CUDA_SUCCESS) thread.owed = code;
        region = memory_find(address);
        if (region == NULL || region->id != id) return false;
    }
    release(region);
    return true;
}

/* Frees all memory of a context. Memory from a pool that was not freed stays, because the pool
 * belongs to the device (cuda.h, cuCtxDestroy); a reset of the primary context and a fault free it
 * too.
 */
static void context_release_memory(const struct context *context)
{
    peers_forget(context);
    for (size_t i = memory_count(); i-- > 0;) {
        const struct memory_region *region = memory_at(i);
        if (region->context != context->object.id) continue;
        if (region->pool != 0 && region->ended == 0 && !context->primary &&
            context->sticky == CUDA_SUCCESS)
            continue;
        trace_memory(region, TRACE_DESTROY, TRACE_IMPLICIT);
        if (region->ended == 0) pool_unused(region);
        pool_returned(region);
        managed_ends(region);
        memory_release(region, (uint64_t)(uintptr_t)thread.call.caller);
    }
}

void memory_room_begin(void)
{
    context_memory_is_of(context_release_memory);
}

CUresult driver_cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    const struct memory_region *region;
    NEED_POINTER(dptr);
    if (bytesize == 0) *dptr = 0; /* refused below; an H200 writes this as well */
    TRY(allocate(MEMORY_DEVICE, bytesize, 0, &region));
    *dptr = region->address;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                size_t Height, unsigned int ElementSizeBytes)
{
    NEED_POINTER(dptr);
    NEED_POINTER(pPitch);
    *pPitch = 0;
    if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
        return CUDA_ERROR_INVALID_VALUE;
    if (WidthInBytes == 0 || Height == 0) return CUDA_ERROR_INVALID_VALUE;
    /* More than there are addresses is an invalid value on a GPU, and any less is too much memory.
     */
    if (WidthInBytes > SIZE_MAX / 2 / Height) return CUDA_ERROR_INVALID_VALUE;
    if (WidthInBytes > INT32_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    size_t pitch = (WidthInBytes + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (Height > SIZE_MAX / pitch) return CUDA_ERROR_OUT_OF_MEMORY;
    TRY(driver_cuMemAlloc(dptr, pitch * Height));
    if (pitch > WidthInBytes) /* reading the padding behind a row is no mistake */
        findings_memory_pads(&(struct races_rows){.address = *dptr + WidthInBytes,
                                                  .width = pitch - WidthInBytes,
                                                  .pitch = pitch,
                                                  .height = Height,
                                                  .slice = pitch * Height,
                                                  .depth = 1});
    *pPitch = pitch;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    const struct memory_region *region;
    NEED_POINTER(dptr);
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytesize == 0) *dptr = 0; /* as in cuMemAlloc */
    TRY(allocate(MEMORY_MANAGED, bytesize, flags, &region));
    *dptr = region->address;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemFree(CUdeviceptr dptr)
{
    if (dptr == 0) return CUDA_SUCCESS;
    struct graph_memory *of_graph = graph_memory_find(dptr);
    if (of_graph != NULL) return graph_memory_free_now(of_graph, NULL);
    const struct memory_region *region = memory_find(dptr);
    if (region == NULL || region->address != dptr || region->mapped || region->ended != 0 ||
        (region->kind != MEMORY_DEVICE && region->kind != MEMORY_MANAGED))
        return region_refuse_free(dptr, CUDA_ERROR_INVALID_VALUE);
    const size_t size = region->kind == MEMORY_DEVICE ? region->size : 0;
    const unsigned device = region->device;
    if (!release_after_work(region)) return region_refuse_free(dptr, CUDA_ERROR_INVALID_VALUE);
    timeline_clear(driver.timeline, device, size, thread.clock_ns);
    return CUDA_SUCCESS;
}

CUresult driver_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    const struct memory_region *region;
    NEED_POINTER(pp);
    if (Flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    if (bytesize == 0) {
        *pp = NULL; /* unlike the other functions it accepts a size of 0 */
        return CUDA_SUCCESS;
    }
    TRY(allocate(MEMORY_PINNED, bytesize, Flags | CU_MEMHOSTALLOC_DEVICEMAP, &region));
    *pp = region->bytes;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemAllocHost(void **pp, size_t bytesize)
{
    return driver_cuMemHostAlloc(pp, bytesize, 0);
}

CUresult driver_cuMemFreeHost(void *p)
{
    const uint64_t address = (uint64_t)(uintptr_t)p;
    if (p == NULL) return CUDA_SUCCESS;
    const struct memory_region *region = memory_find(address);
    if (region == NULL || region->address != address || region->kind != MEMORY_PINNED ||
        region->registered)
        return region_refuse_free(address, CUDA_ERROR_INVALID_VALUE);
    return release_after_work(region) ? CUDA_SUCCESS
                                      : region_refuse_free(address, CUDA_ERROR_INVALID_VALUE);
}

/* Returns false if a page of the range is certainly not mapped. */
static bool is_there(uint64_t address, size_t size)
{
    unsigned char pages[1024];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = address + size;
    if (end < address) return false;
    for (uint64_t at = address & -page; at < end; at += page * sizeof pages) {
        const uint64_t left = end - at, most = page * sizeof pages;
        if (mincore((void *)(uintptr_t)at, left < most ? left : most, pages) != 0 &&
            errno == ENOMEM)
            return false;
    }
    return true;
}

CUresult driver_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    const unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    const uint64_t address = (uint64_t)(uintptr_t)p;
    NEED_POINTER(p);
    if (bytesize == 0 || memory_is_device_address(address)) return CUDA_ERROR_INVALID_VALUE;
    const struct memory_region *there = memory_find(address);
    if (there != NULL && !there->registered) return CUDA_ERROR_INVALID_VALUE; /* pinned already */
    /* What an H200 says of memory that is no device's own is also all there is here. */
    if (Flags & ~known || !is_there(address, bytesize)) return CUDA_ERROR_INVALID_VALUE;
    const struct memory_region *region = memory_register(
        p, &(struct memory_request){
               .kind = MEMORY_PINNED,
               .size = bytesize,
               .context = thread_context()->object.id,
               .id = ++driver.ids,
               .caller = (uint64_t)(uintptr_t)thread.call.caller,
               /* As on an H200, READ_ONLY is not kept. */
               .flags = (Flags & CU_MEMHOSTREGISTER_PORTABLE) | CU_MEMHOSTALLOC_DEVICEMAP,
           });
    if (region == NULL) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    thread_spend(timeline_model->allocate_pinned * (double)(bytesize / 1024 + 1));
    trace_memory(region, TRACE_CREATE, 0);
    return CUDA_SUCCESS;
}

CUresult driver_cuMemHostUnregister(void *p)
{
    const uint64_t address = (uint64_t)(uintptr_t)p;
    NEED_POINTER(p);
    const struct memory_region *region = memory_find(address);
    if (region == NULL) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (!region->registered || region->address != address) return CUDA_ERROR_INVALID_VALUE;
    return release_after_work(region) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult driver_cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    NEED_POINTER(pdptr);
    const struct memory_region *region = memory_find((uint64_t)(uintptr_t)p);
    if (Flags != 0 || region == NULL || region->kind != MEMORY_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    NEED_POINTER(pFlags);
    const struct memory_region *region = memory_find((uint64_t)(uintptr_t)p);
    if (region == NULL || (region->kind != MEMORY_PINNED && region->kind != MEMORY_MANAGED))
        return CUDA_ERROR_INVALID_VALUE;
    *pFlags = region->kind == MEMORY_PINNED ? region->flags : CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

/* ---- queries ----------------------------------------------------------------------------- */

CUresult driver_cuMemGetInfo(size_t *free, size_t *total)
{
    const unsigned device = (unsigned)device_current();
    /* Either may be NULL, as on an H200. */
    if (total != NULL) *total = (size_t)memory_limit(device);
    if (free != NULL) *free = (size_t)(memory_limit(device) - memory_used(device));
    return CUDA_SUCCESS;
}

CUresult driver_cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    const struct memory_region *region = memory_find(dptr);
    if (region == NULL || !peers_may_access(thread_context(), region, false))
        return CUDA_ERROR_NOT_FOUND;
    struct virtual_map map = {.base = region->address, .size = region->size};
    virtual_find(dptr, &map);
    if (pbase != NULL) *pbase = map.base;
    if (psize != NULL) *psize = map.size;
    return CUDA_SUCCESS;
}
