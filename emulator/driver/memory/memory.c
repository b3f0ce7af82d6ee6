/* Memory: device, pinned, managed, stream-ordered; attributes of addresses. As on GPUs, freeing
 * waits for the context's work, except for stream-ordered memory. */
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

/* ---- pools ------------------------------------------------------------------------------- */

struct pool {
    struct object object;
    uint64_t values[CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1]; /* by CUmemPool_attribute */
    uint64_t taken; /* bytes whose free has not run yet, even if it was requested */
    uint64_t most;  /* bytes in use at once, CUmemPoolProps.maxSize; 0: any number */
    int device;     /* its ordinal */
    struct pool *next;
};

static struct {
    struct {
        struct pool *first, *current; /* first: the device's default pool */
    } of[MEMORY_DEVICES];
    struct pool *list;
} pools;

/* The region's pool; NULL: not from a pool, or the pool was destroyed. */
static struct pool *pool_of(const struct memory_region *region)
{
    struct pool *pool = region->pool != 0 ? pools.list : NULL;
    while (pool != NULL && pool->object.id != region->pool) pool = pool->next;
    return pool;
}

static void pool_unused(const struct memory_region *region)
{
    struct pool *pool = pool_of(region);
    if (pool != NULL) pool->values[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] -= region->size;
}

/* Rounds up to the units in which an H200's pool reserves memory. */
static uint64_t in_pieces(uint64_t size)
{
    const uint64_t piece = 32u << 20;
    return (size + piece - 1) / piece * piece;
}

/* Makes the pool release unused memory, down to `keep` bytes. */
static void pool_trim(struct pool *pool, uint64_t keep)
{
    uint64_t *reserved = &pool->values[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT];
    const uint64_t used = in_pieces(pool->taken);
    if (keep < used) keep = used;
    if (*reserved > keep) *reserved = keep;
}

static void pool_returned(const struct memory_region *region)
{
    struct pool *pool = pool_of(region);
    if (pool == NULL) return;
    pool->taken -= region->size;
    pool_trim(pool, pool->values[CU_MEMPOOL_ATTR_RELEASE_THRESHOLD]);
}

/* ---- allocation -------------------------------------------------------------------------- */

static CUresult allocate_in(const struct pool *pool, enum memory_kind kind, size_t size,
                            unsigned flags, const struct memory_region **region)
{
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    *region = memory_allocate(&(struct memory_request){
        .kind = kind,
        .size = size,
        .context = thread.call.context,
        .id = ++driver.ids,
        .caller = (uint64_t)(uintptr_t)thread.call.caller,
        .flags = flags,
        .pool = pool != NULL ? pool->object.id : 0,
        .device = (unsigned)(pool != NULL ? pool->device : device_current()),
    });
    if (*region == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    if (kind == MEMORY_DEVICE || kind == MEMORY_MANAGED) findings_memory_begins(*region);
    thread_spend(kind == MEMORY_PINNED ? timeline_model->allocate_pinned * (double)(size / 1024 + 1)
                                       : timeline_model->allocate);
    thread.call.object = (*region)->id;
    trace_memory(*region, TRACE_CREATE, 0);
    return CUDA_SUCCESS;
}

static CUresult allocate(enum memory_kind kind, size_t size, unsigned flags,
                         const struct memory_region **region)
{
    return allocate_in(NULL, kind, size, flags, region);
}

/* Addresses freed although their call returned a sticky error. A GPU frees nothing then, so a
 * program may free them once more; that is not reported as a double free. */
static struct {
    uint64_t addresses[64]; /* the latest */
    size_t count;
} unsure;

static void note_free(uint64_t address)
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

/* Refuses to free something that is not an allocation. A double free, the most common case, has a
 * finding of its own. */
static CUresult refuse_free(uint64_t address)
{
    if (thread.owed != CUDA_SUCCESS && is_unsure(address)) return thread.owed;
    const struct memory_region *region = memory_find(address);
    const struct memory_miss_report report = memory_explain(address);
    const bool freed = region != NULL ? region->ended != 0 : report.kind == MEMORY_MISS_FREED;
    const bool whole = address == (region != NULL ? region->address : report.near.address);
    struct trace_record found = finding_at_call(
        freed && whole ? FINDING_DOUBLE_FREE : FINDING_INVALID_FREE, CUDA_ERROR_INVALID_VALUE);
    finding_address(&found, address);
    finding_put(&found);
    return CUDA_ERROR_INVALID_VALUE;
}

static void release(const struct memory_region *region)
{
    note_free(region->address);
    thread.call.object = region->id;
    trace_memory(region, TRACE_DESTROY, 0);
    pool_unused(region);
    pool_returned(region);
    findings_memory_ends(region);
    memory_release(region, (uint64_t)(uintptr_t)thread.call.caller);
}

static struct context *context_by_id(uint64_t id)
{
    for (struct object *object = NULL; (object = object_next(object)) != NULL;)
        if (object->kind == OBJECT_CONTEXT && object->id == id) return (struct context *)object;
    return NULL;
}

/* Frees the region after all work of its context. Returns false if another thread freed it during
 * the wait. An error of that work becomes the call's result. */
static bool release_after_work(const struct memory_region *region)
{
    struct context *context = context_by_id(region->context);
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
    for (size_t i = memory_count(); i-- > 0;) {
        const struct memory_region *region = memory_at(i);
        if (region->context != context->object.id) continue;
        if (region->pool != 0 && region->ended == 0 && !context->primary &&
            context->sticky == CUDA_SUCCESS)
            continue;
        trace_memory(region, TRACE_DESTROY, TRACE_IMPLICIT);
        if (region->ended == 0) pool_unused(region);
        pool_returned(region);
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
    if (WidthInBytes == 0 || Height == 0 || WidthInBytes > INT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
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
        return refuse_free(dptr);
    const size_t size = region->kind == MEMORY_DEVICE ? region->size : 0;
    if (!release_after_work(region)) return refuse_free(dptr);
    timeline_clear(driver.timeline, size, thread.clock_ns);
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
        return refuse_free(address);
    return release_after_work(region) ? CUDA_SUCCESS : refuse_free(address);
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
    if (Flags & CU_MEMHOSTREGISTER_IOMEMORY) return CUDA_ERROR_NOT_SUPPORTED;
    if (Flags & ~known || !is_there(address, bytesize)) return CUDA_ERROR_INVALID_VALUE;
    const struct memory_region *region =
        memory_register(p, &(struct memory_request){
                               .kind = MEMORY_PINNED,
                               .size = bytesize,
                               .context = thread_context()->object.id,
                               .id = ++driver.ids,
                               .caller = (uint64_t)(uintptr_t)thread.call.caller,
                               .flags = Flags | CU_MEMHOSTALLOC_DEVICEMAP,
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
    NEED_POINTER(free);
    NEED_POINTER(total);
    const unsigned device = (unsigned)device_current();
    *total = (size_t)memory_limit(device);
    *free = (size_t)(memory_limit(device) - memory_used(device));
    return CUDA_SUCCESS;
}

CUresult driver_cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    const struct memory_region *region = memory_find(dptr);
    if (region == NULL) return CUDA_ERROR_NOT_FOUND;
    uint64_t base = region->address;
    size_t size = region->size;
    virtual_range(dptr, &base, &size);
    if (pbase != NULL) *pbase = base;
    if (psize != NULL) *psize = size;
    return CUDA_SUCCESS;
}

/* Writes an attribute of an address inside `region` to `data`, in the attribute's own type. */
static CUresult pointer_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr,
                                  const struct memory_region *region)
{
    const bool host = region->kind == MEMORY_PINNED || region->kind == MEMORY_MANAGED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = (CUcontext)context_by_id(region->context);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)data =
            region->kind == MEMORY_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = host ? (void *)(uintptr_t)ptr : NULL;
        return host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(unsigned long long *)data = region->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = region->kind == MEMORY_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = (int)region->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)data = ipc_can_share(region);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        *(unsigned *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)data = region->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = region->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = (CUmemoryPool)pool_of(region);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* The size of an attribute's type: unknown addresses yield a zero of that size. */
static size_t pointer_attribute_size(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return sizeof(uint64_t);
    default:
        return sizeof(unsigned);
    }
}

CUresult driver_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    NEED_POINTER(data);
    const struct memory_region *region = memory_find(ptr);
    if (region == NULL) return CUDA_ERROR_INVALID_VALUE;
    return pointer_attribute(data, attribute, ptr, region);
}

CUresult driver_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                       void **data, CUdeviceptr ptr)
{
    NEED_POINTER(attributes);
    NEED_POINTER(data);
    const struct memory_region *region = memory_find(ptr);
    for (unsigned i = 0; i < numAttributes; i++) {
        if (attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
            attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
            return CUDA_ERROR_INVALID_VALUE;
        NEED_POINTER(data[i]);
        memset(data[i], 0, pointer_attribute_size(attributes[i]));
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *(int *)data[i] = -2;
        if (region != NULL) pointer_attribute(data[i], attributes[i], ptr, region);
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                      CUdeviceptr ptr)
{
    NEED_POINTER(value);
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || memory_find(ptr) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (*(const unsigned *)value == 0) return CUDA_SUCCESS;
    return finding_unsupported("CU_POINTER_ATTRIBUTE_SYNC_MEMOPS");
}

/* ---- managed memory ---------------------------------------------------------------------- */

static CUresult check_managed(CUdeviceptr address, size_t size)
{
    const struct memory_region *region = memory_find(address);
    if (size == 0 || region == NULL || region->kind != MEMORY_MANAGED ||
        size > region->address + region->size - address)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Where managed memory may be. A host has one NUMA node. */
static const struct place {
    CUmemLocationType type;
    bool has_id;     /* the location's number counts */
    bool can_access; /* CU_MEM_ADVISE_SET_ACCESSED_BY takes it */
} places[] = {
    {CU_MEM_LOCATION_TYPE_DEVICE, true, true},
    {CU_MEM_LOCATION_TYPE_HOST, false, true},
    {CU_MEM_LOCATION_TYPE_HOST_NUMA, true, false},
    {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, false, false},
};

/* NULL: there is no such kind of place. */
static const struct place *place_of(CUmemLocation location)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].type == location.type) return &places[i];
    return NULL;
}

static bool place_exists(const struct place *place, int id)
{
    const int count = place->type == CU_MEM_LOCATION_TYPE_DEVICE ? devices_count() : 1;
    return !place->has_id || (id >= 0 && id < count);
}

/* Advice does not change results. */
CUresult driver_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                               CUmemLocation location)
{
    const struct place *place = place_of(location);
    const bool accessed = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
    if ((int)advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY ||
        place == NULL || (accessed && !place->can_access))
        return CUDA_ERROR_INVALID_VALUE;
    if ((accessed || advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION) &&
        !place_exists(place, location.id))
        return CUDA_ERROR_INVALID_VALUE;
    return check_managed(devPtr, count);
}

/* The location that a device stands for in the first versions of these functions. */
static CUmemLocation location_of(CUdevice device)
{
    return (CUmemLocation){.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST
                                                           : CU_MEM_LOCATION_TYPE_DEVICE,
                           .id = device};
}

CUresult driver_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    return driver_cuMemAdvise_v2(devPtr, count, advice, location_of(device));
}

CUresult driver_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                      unsigned int flags, CUstream hStream)
{
    struct stream *stream;
    const struct place *place = place_of(location);
    if (flags != 0 || place == NULL) return CUDA_ERROR_INVALID_VALUE;
    TRY(stream_for_work(hStream, &stream));
    TRY(check_managed(devPtr, count));
    if (!place_exists(place, location.id))
        return place->type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE
                                                          : CUDA_ERROR_INVALID_VALUE;
    return operation_submit(operation_make(stream, TRACE_WHAT_NONE, 0), stream,
                            &(struct timeline_work){.kind = TIMELINE_MARK}, NULL, NULL);
}

CUresult driver_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                   CUstream hStream)
{
    return driver_cuMemPrefetchAsync_v2(devPtr, count, location_of(dstDevice), 0, hStream);
}

CUresult driver_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                       CUdeviceptr devPtr, size_t count)
{
    NEED_POINTER(data);
    TRY(check_managed(devPtr, count));
    if (dataSize < sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
    static const char *const names[] = {
        [CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY] = "CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY",
        [CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION] = "CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION",
        [CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY] = "CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY",
        [CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION] =
            "CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION",
    };
    const unsigned k = (unsigned)attribute;
    const char *name = k < sizeof names / sizeof *names && names[k] != NULL ? names[k] : "others";
    return finding_unsupported("asking for attributes (%s) of a range of managed memory: it takes "
                               "advice and keeps none",
                               name);
}

/* ---- stream-ordered memory --------------------------------------------------------------- */

/* Makes a pool. Memory stays reserved until its free has run, and afterwards as far as the release
 * threshold allows. Only the statistics model this: freed memory is gone at once. */
static struct pool *pool_make(int device)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) return NULL;
    for (int i = 0; i <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; i++)
        pool->values[i] = 1; /* every kind of reuse is allowed at first */
    object_add(&pool->object, OBJECT_POOL);
    pool->device = device;
    pool->next = pools.list;
    pools.list = pool;
    return pool;
}

static struct pool *default_pool(int device)
{
    if (pools.of[device].first == NULL)
        pools.of[device].first = pools.of[device].current = pool_make(device);
    return pools.of[device].first;
}

/* `current` is directly followed by its high-water mark. */
static void pool_gains(struct pool *pool, CUmemPool_attribute current, uint64_t size)
{
    uint64_t *now = &pool->values[current], *most = &pool->values[current + 1];
    *now += size;
    if (*now > *most) *most = *now;
}

CUresult driver_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    NEED_POINTER(pool_out);
    NEED_DEVICE(dev);
    *pool_out = (CUmemoryPool)default_pool(dev);
    return *pool_out != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult driver_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    TRY(driver_cuDeviceGetDefaultMemPool(pool, dev));
    *pool = (CUmemoryPool)pools.of[dev].current;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    NEED_DEVICE(dev);
    struct pool *found = object_find(pool, OBJECT_POOL);
    if (found == NULL || found->device != dev) return CUDA_ERROR_INVALID_VALUE;
    pools.of[dev].current = found;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    NEED_POINTER(pool);
    NEED_POINTER(poolProps);
    const CUmemLocationType where = poolProps->location.type;
    if (where == CU_MEM_LOCATION_TYPE_HOST || where == CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return finding_unsupported("pools of host memory");
    if (poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        where != CU_MEM_LOCATION_TYPE_DEVICE || poolProps->location.id < 0 ||
        poolProps->location.id >= devices_count())
        return CUDA_ERROR_INVALID_VALUE;
    if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return finding_unsupported("pools that other processes may share");
    struct pool *made = pool_make(poolProps->location.id);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->most = poolProps->maxSize;
    trace_object(&made->object, TRACE_CREATE, TRACE_POOL, 0);
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemPoolDestroy(CUmemoryPool pool)
{
    struct pool *found = object_find(pool, OBJECT_POOL);
    if (found == NULL || found == pools.of[found->device].first) return CUDA_ERROR_INVALID_VALUE;
    if (pools.of[found->device].current == found)
        pools.of[found->device].current = default_pool(found->device);
    struct pool **link = &pools.list;
    while (*link != found) link = &(*link)->next;
    *link = found->next;
    trace_object(&found->object, TRACE_DESTROY, TRACE_POOL, 0);
    object_remove(&found->object);
    object_free(&found->object);
    return CUDA_SUCCESS;
}

CUresult driver_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    struct pool *found = object_find(pool, OBJECT_POOL);
    if (found == NULL) return CUDA_ERROR_INVALID_VALUE;
    pool_trim(found, minBytesToKeep);
    return CUDA_SUCCESS;
}

static CUresult pool_value(CUmemoryPool pool, CUmemPool_attribute attr, uint64_t **value)
{
    struct pool *found = object_find(pool, OBJECT_POOL);
    if (found == NULL || attr < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attr > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    *value = &found->values[attr];
    return CUDA_SUCCESS;
}

CUresult driver_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    uint64_t *kept;
    NEED_POINTER(value);
    TRY(pool_value(pool, attr, &kept));
    if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attr == CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
        if (*(cuuint64_t *)value != 0) return CUDA_ERROR_INVALID_VALUE;
        *kept = kept[-1]; /* reset to the current value, which precedes its high-water mark */
        return CUDA_SUCCESS;
    }
    *kept = attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? (uint64_t) * (int *)value
                                                                      : *(cuuint64_t *)value;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    uint64_t *kept;
    NEED_POINTER(value);
    TRY(pool_value(pool, attr, &kept));
    if (attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        *(int *)value = (int)*kept;
    else
        *(cuuint64_t *)value = *kept;
    return CUDA_SUCCESS;
}

/* Checks a pool's location: only memory that stays on a device is supported. */
static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type)
{
    NEED_POINTER(location);
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED)
        return location->id >= 0 && location->id < devices_count() ? CUDA_SUCCESS
                                                                   : CUDA_ERROR_INVALID_DEVICE;
    if (location->type == CU_MEM_LOCATION_TYPE_INVALID || type == CU_MEM_ALLOCATION_TYPE_INVALID)
        return CUDA_ERROR_INVALID_VALUE;
    return finding_unsupported("pools of managed memory, or elsewhere than on the device");
}

CUresult driver_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                       CUmemAllocationType type)
{
    TRY(check_location(location, type));
    return driver_cuDeviceGetDefaultMemPool(pool_out, location->id);
}

CUresult driver_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                CUmemAllocationType type)
{
    TRY(check_location(location, type));
    return driver_cuDeviceGetMemPool(pool, location->id);
}

CUresult driver_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                                CUmemoryPool pool)
{
    TRY(check_location(location, type));
    return driver_cuDeviceSetMemPool(location->id, pool);
}

CUresult driver_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    const struct pool *found = object_find(pool, OBJECT_POOL);
    if (found == NULL || (map == NULL && count > 0)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            map[i].location.id != found->device ||
            map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) /* a pool's own device always keeps
                                                              access */
            return CUDA_ERROR_INVALID_DEVICE;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                                   CUmemLocation *location)
{
    NEED_POINTER(flags);
    NEED_POINTER(location);
    const struct pool *found = object_find(memPool, OBJECT_POOL);
    if (found == NULL || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id < 0 ||
        location->id >= devices_count())
        return CUDA_ERROR_INVALID_VALUE;
    *flags = location->id == found->device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                           : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* The memory exists for work ordered behind the allocation, until work ordered before the free. */
static enum timeline_ran run_allocate(struct operation *operation)
{
    const struct memory_region *region = memory_find(operation->record.address);
    if (region == NULL) return TIMELINE_RAN;
    findings_memory_passes(operation, RACES_WRITE, region);
    return TIMELINE_RAN;
}

static CUresult allocate_from(struct pool *pool, CUdeviceptr *dptr, size_t bytesize,
                              CUstream hStream)
{
    struct stream *stream;
    const struct memory_region *region;
    TRY(stream_for_work(hStream, &stream));
    if (stream->captured != NULL) {
        CUgraphNodeParams params = {
            .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            .alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                                 .id = pool->device}},
                      .bytesize = bytesize}};
        NEED_POINTER(dptr);
        TRY(capturing->add(stream, &params));
        *dptr = params.alloc.dptr;
        return CUDA_SUCCESS;
    }
    NEED_POINTER(dptr);
    /* Memory that a stream has freed may be taken again in its order, before the free has run. */
    const uint64_t used = pool->values[CU_MEMPOOL_ATTR_USED_MEM_CURRENT];
    if (pool->most > 0 && (used > pool->most || bytesize > pool->most - used))
        return CUDA_ERROR_OUT_OF_MEMORY;
    TRY(allocate_in(pool, MEMORY_DEVICE, bytesize, 0, &region));
    *dptr = region->address;
    pool->taken += bytesize;
    const uint64_t reserved = pool->values[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT];
    const uint64_t needed = in_pieces(pool->taken);
    if (needed > reserved)
        pool_gains(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, needed - reserved);
    pool_gains(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, bytesize);
    struct operation *operation = operation_make(stream, TRACE_WHAT_NONE, 0);
    if (operation != NULL) {
        call_plain_name(operation->record.name, sizeof operation->record.name, thread.call.name);
        operation->record.address = *dptr;
        operation->run = run_allocate;
    }
    return operation_submit(operation, stream, &(struct timeline_work){.kind = TIMELINE_MARK}, NULL,
                            NULL);
}

/* "The allocation comes from the memory pool current to the stream's device" (cuda.h). */
CUresult driver_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    struct stream *stream;
    NEED_POINTER(dptr);
    *dptr = 0;
    if (bytesize == 0) return CUDA_SUCCESS; /* a NULL result, which need not be freed */
    TRY(stream_resolve(hStream, &stream));
    const int device = stream->object.context->device;
    if (default_pool(device) == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    return allocate_from(pools.of[device].current, dptr, bytesize, hStream);
}

CUresult driver_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                        CUstream hStream)
{
    struct pool *found = object_find(pool, OBJECT_POOL);
    if (found == NULL) return CUDA_ERROR_INVALID_VALUE;
    NEED_POINTER(dptr);
    *dptr = 0;
    if (bytesize == 0) return CUDA_SUCCESS;
    return allocate_from(found, dptr, bytesize, hStream);
}

static void release_at(uint64_t address, uint64_t caller)
{
    const struct memory_region *region = memory_find(address);
    if (region == NULL || region->address != address) return;
    pool_returned(region);
    memory_release(region, caller);
}

static enum timeline_ran run_free(struct operation *operation)
{
    const struct memory_region *region = memory_find(operation->record.address);
    if (region != NULL) findings_memory_passes(operation, RACES_FREE, region);
    release_at(operation->record.address, operation->record.caller);
    return TIMELINE_RAN;
}

static void abandon_free(struct operation *operation)
{
    release_at(operation->record.address, operation->record.caller);
}

CUresult driver_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct stream *stream;
    TRY(stream_for_work(hStream, &stream));
    if (dptr == 0) return CUDA_SUCCESS;
    if (stream->captured != NULL)
        return capturing->add(
            stream, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {dptr}});
    struct graph_memory *of_graph = graph_memory_find(dptr);
    if (of_graph != NULL) return graph_memory_free_now(of_graph, stream);
    const struct memory_region *region = memory_find(dptr);
    if (region == NULL || region->address != dptr || region->mapped || region->ended != 0 ||
        region->kind != MEMORY_DEVICE)
        return refuse_free(dptr);
    struct operation *operation = operation_make(stream, TRACE_WHAT_NONE, 0);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    note_free(dptr);
    thread.call.object = region->id;
    trace_memory(region, TRACE_DESTROY, 0); /* for the submission the memory is freed now */
    pool_unused(region);
    memory_will_end(region, operation->record.caller);
    operation->record.address = dptr;
    call_plain_name(operation->record.name, sizeof operation->record.name, thread.call.name);
    operation->run = run_free;
    operation->abandoned = abandon_free;
    return operation_submit(operation, stream, &(struct timeline_work){.kind = TIMELINE_MARK}, NULL,
                            NULL);
}
