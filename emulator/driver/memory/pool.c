/* Stream-ordered memory and its pools. Memory stays reserved until its free has run, and afterwards
 * as far as the release threshold allows. Only the statistics model this: freed memory is gone at
 * once, and its address is not given out again, so that a late use can be reported. */
#include "emulator/driver/memory/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/stream.h"

#include <stdlib.h>

struct pool {
    struct object object;
    uint64_t values[CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1]; /* by CUmemPool_attribute */
    uint64_t taken; /* bytes whose free has not run yet, even if it was requested */
    uint64_t most;  /* bytes in use at once, CUmemPoolProps.maxSize; 0: any number */
    int device;     /* its ordinal */
    uint32_t open;  /* bitmap of other devices that have access */
    bool shareable; /* made to be shared with other processes */
    struct pool *next;
};

static struct {
    struct {
        struct pool *first, *current; /* first: the device's default pool */
    } of[MEMORY_DEVICES];
    struct pool *list;
} pools;

static struct pool *pool_of(const struct memory_region *region)
{
    struct pool *pool = region->pool != 0 ? pools.list : NULL;
    while (pool != NULL && pool->object.id != region->pool) pool = pool->next;
    return pool;
}

void pool_unused(const struct memory_region *region)
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

void pool_returned(const struct memory_region *region)
{
    struct pool *pool = pool_of(region);
    if (pool == NULL) return;
    pool->taken -= region->size;
    pool_trim(pool, pool->values[CU_MEMPOOL_ATTR_RELEASE_THRESHOLD]);
}

CUmemoryPool pool_handle(const struct memory_region *region)
{
    return (CUmemoryPool)pool_of(region);
}

static bool is_open(const struct pool *pool, int device)
{
    return device == pool->device || (pool->open >> device & 1) != 0;
}

bool pool_is_open(const struct memory_region *region, int device)
{
    const struct pool *pool = pool_of(region);
    return pool != NULL && is_open(pool, device);
}

/* ---- pools ------------------------------------------------------------------------------- */

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
    if (pools.of[device].first == NULL) pools.of[device].first = pool_make(device);
    /* The program may have chosen another one before the first call that needs this one. */
    if (pools.of[device].current == NULL) pools.of[device].current = pools.of[device].first;
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
    struct pool *found = object_find(pool, OBJECT_POOL);
    if (found == NULL || found->device != dev) return CUDA_ERROR_INVALID_VALUE;
    pools.of[dev].current = found;
    return CUDA_SUCCESS;
}

static CUresult check_properties(const CUmemPoolProps *props)
{
    const CUmemLocationType where = props->location.type;
    const unsigned windows = CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT;
    if (where == CU_MEM_LOCATION_TYPE_HOST || where == CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return finding_unsupported("pools of host memory");
    for (size_t i = 0; i < sizeof props->reserved; i++)
        if (props->reserved[i] != 0) return CUDA_ERROR_INVALID_VALUE;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || where != CU_MEM_LOCATION_TYPE_DEVICE ||
        props->location.id < 0 || props->location.id >= devices_count() ||
        props->handleTypes & windows)
        return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes == CU_MEM_HANDLE_TYPE_FABRIC)
        return finding_unsupported("pools that other machines may share");
    return props->handleTypes & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

CUresult driver_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    NEED_POINTER(pool);
    NEED_POINTER(poolProps);
    TRY(check_properties(poolProps));
    struct pool *made = pool_make(poolProps->location.id);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->most = poolProps->maxSize;
    made->shareable = poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    trace_object(&made->object, TRACE_CREATE, TRACE_POOL, 0);
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

static CUresult refuse_sharing(const struct pool *pool)
{
    if (pool == NULL || !pool->shareable) return CUDA_ERROR_INVALID_VALUE;
    return finding_unsupported("sharing a pool with other processes");
}

CUresult driver_cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                                 CUmemAllocationHandleType handleType,
                                                 unsigned long long flags)
{
    NEED_POINTER(handle_out);
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return refuse_sharing(object_find(pool, OBJECT_POOL));
}

CUresult driver_cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
    const struct memory_region *region = memory_find(ptr);
    NEED_POINTER(shareData_out);
    return refuse_sharing(region != NULL ? pool_of(region) : NULL);
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
    *kept = attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? *(int *)value != 0
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
                                                                   : CUDA_ERROR_INVALID_VALUE;
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

/* A pool's own device always keeps the access to read and write. */
static CUresult check_access(const struct pool *pool, const CUmemAccessDesc *access)
{
    const int device = access->location.id;
    if (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (device < 0 || device >= devices_count()) return CUDA_ERROR_INVALID_DEVICE;
    if (device == pool->device ? access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE
                               : device_link(device, pool->device) == DEVICE_UNLINKED)
        return CUDA_ERROR_INVALID_DEVICE;
    if (access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) return CUDA_SUCCESS;
    if (access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ) return CUDA_ERROR_NOT_SUPPORTED;
    return access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    struct pool *found = object_find(pool, OBJECT_POOL);
    NEED_POINTER(map);
    NEED_POINTER(found);
    for (size_t i = 0; i < count; i++) TRY(check_access(found, &map[i]));
    for (size_t i = 0; i < count; i++) {
        const uint32_t device = 1u << map[i].location.id;
        found->open &= ~device;
        if (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) found->open |= device;
    }
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
    *flags = is_open(found, location->id) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                          : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* The memory exists for work ordered behind the allocation, until work ordered before the free. If
 * it is gone, a free that nothing orders behind the allocation has run before it. */
static enum timeline_ran run_allocate(struct operation *operation)
{
    const struct memory_region *region = memory_find(operation->record.address);
    if (region != NULL)
        findings_memory_passes(operation, RACES_WRITE, region, false);
    else
        findings_memory_misses(operation, RACES_WRITE, operation->record.address,
                               *(const uint64_t *)(const void *)operation->payload);
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
    /* To take more memory from the device is as unsafe as cuMemAlloc while a capture forbids it. */
    if (in_pieces(pool->taken + bytesize) > pool->values[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT])
        TRY(capture_check_unsafe());
    /* Memory that a stream has freed may be taken again in its order, before the free has run. */
    const uint64_t used = pool->values[CU_MEMPOOL_ATTR_USED_MEM_CURRENT];
    if (pool->most > 0 && (used > pool->most || bytesize > pool->most - used))
        return CUDA_ERROR_OUT_OF_MEMORY;
    TRY(region_make((struct memory_request){.kind = MEMORY_DEVICE,
                                            .size = bytesize,
                                            .pool = pool->object.id,
                                            .device = (unsigned)pool->device},
                    &region));
    *dptr = region->address;
    pool->taken += bytesize;
    const uint64_t reserved = pool->values[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT];
    const uint64_t needed = in_pieces(pool->taken);
    if (needed > reserved)
        pool_gains(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, needed - reserved);
    pool_gains(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, bytesize);
    struct operation *operation = operation_make(stream, TRACE_WHAT_NONE, sizeof(uint64_t));
    if (operation != NULL) {
        call_plain_name(operation->record.name, sizeof operation->record.name, thread.call.name);
        operation->record.address = *dptr;
        *(uint64_t *)(void *)operation->payload = bytesize;
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
    if (region != NULL) findings_memory_passes(operation, RACES_FREE, region, false);
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
        region->kind != MEMORY_DEVICE) {
        const bool managed = region != NULL && region->kind == MEMORY_MANAGED;
        return region_refuse_free(dptr, managed && region->address == dptr
                                            ? CUDA_ERROR_NOT_SUPPORTED
                                            : CUDA_ERROR_INVALID_VALUE);
    }
    struct operation *operation = operation_make(stream, TRACE_WHAT_NONE, 0);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    region_note_free(dptr);
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
