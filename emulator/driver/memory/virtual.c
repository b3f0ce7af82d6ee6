/* Virtual memory management: reserved addresses, physical memory, and the maps between them. All of
 * it belongs to the process and not to a context.
 *
 * A reservation is a range of device addresses. An allocation is contents without an address.
 * Mapped memory is accessible to kernels and copies only after access was granted. Adjacent maps
 * with the same access then form one region, since a buffer that grew piece by piece is one buffer.
 *
 * Contents are a file, so an allocation is shared by a descriptor of it; for the rules among
 * processes see ipc.c. That of the host's memory is mapped a second time where the host looks for
 * it; what the host does there is not watched, and for copies it is memory of a device.
 */
#include "emulator/driver/memory/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/handle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRANULARITY = 2 << 20 }; /* bytes, of all sizes and addresses here */

struct allocation {
    struct object object;
    CUmemAllocationProp properties;
    struct memory_contents *contents;
    uint64_t size;
    unsigned references; /* of its handle, plus one per map */
    unsigned handles;    /* references of the handle; 0: the handle is invalid */
};

struct map {
    struct map *next; /* list of the reservation, by address */
    struct allocation *allocation;
    uint64_t address, size;
    CUmemAccess_flags access[MEMORY_DEVICES]; /* by ordinal; of the host's memory, all the same */
};

struct reservation {
    struct reservation *next;
    uint64_t address, size;
    struct map *maps;
};

static struct reservation *reservations;

static struct reservation *reservation_of(uint64_t address, uint64_t size)
{
    for (struct reservation *r = reservations; r != NULL; r = r->next)
        if (address - r->address < r->size && size <= r->size - (address - r->address)) return r;
    return NULL;
}

/* ---- addresses --------------------------------------------------------------------------- */

CUresult driver_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment,
                                    CUdeviceptr addr, unsigned long long flags)
{
    (void)addr; /* a hint */
    NEED_POINTER(ptr);
    if (size == 0 || size % GRANULARITY != 0 || flags != 0 || (alignment & (alignment - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct reservation *made = calloc(1, sizeof *made);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->address = memory_reserve(size, alignment > GRANULARITY ? alignment : GRANULARITY);
    if (made->address == 0) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->size = size;
    made->next = reservations;
    reservations = made;
    *ptr = made->address;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    struct reservation **link = &reservations;
    while (*link != NULL && (*link)->address != ptr) link = &(*link)->next;
    struct reservation *found = *link;
    if (found == NULL || found->size != size || found->maps != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *link = found->next;
    memory_unreserve(found->address, found->size);
    free(found);
    return CUDA_SUCCESS;
}

/* ---- physical memory ----------------------------------------------------------------------- */

static bool is_of_host(CUmemLocationType type)
{
    return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static CUresult check_properties(const CUmemAllocationProp *prop)
{
    const CUmemLocationType where = prop->location.type;
    const unsigned windows = CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT;
    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || prop->requestedHandleTypes & windows)
        return CUDA_ERROR_INVALID_VALUE;
    if (where != CU_MEM_LOCATION_TYPE_DEVICE && !is_of_host(where)) return CUDA_ERROR_INVALID_VALUE;
    if (prop->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC)
        return finding_unsupported("cuMemCreate for memory that other machines may share");
    /* One node, for which CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID says -1. */
    if (where == CU_MEM_LOCATION_TYPE_HOST_NUMA && prop->location.id != 0 &&
        prop->location.id != -1)
        return CUDA_ERROR_INVALID_VALUE;
    if (where == CU_MEM_LOCATION_TYPE_DEVICE) NEED_DEVICE(prop->location.id);
    return CUDA_SUCCESS;
}

/* The same for all memory, even for properties that cuMemCreate refuses, as on an H200. */
CUresult driver_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                              CUmemAllocationGranularity_flags option)
{
    NEED_POINTER(granularity);
    NEED_POINTER(prop);
    if ((unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return CUDA_SUCCESS;
}

static void allocation_release(struct allocation *allocation)
{
    if (--allocation->references > 0) return;
    memory_contents_destroy(allocation->contents);
    object_free(&allocation->object);
}

/* Makes a handle for contents, of which it takes ownership, also on failure. */
static CUresult allocation_make(struct memory_contents *contents, size_t size,
                                const CUmemAllocationProp *properties,
                                CUmemGenericAllocationHandle *handle)
{
    struct allocation *made = contents != NULL ? calloc(1, sizeof *made) : NULL;
    if (made == NULL) {
        if (contents != NULL) memory_contents_destroy(contents);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->properties = *properties;
    made->contents = contents;
    made->size = size;
    made->references = made->handles = 1;
    object_add(&made->object, OBJECT_ALLOCATION);
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)made;
    return CUDA_SUCCESS;
}

CUresult driver_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                            const CUmemAllocationProp *prop, unsigned long long flags)
{
    NEED_POINTER(handle);
    NEED_POINTER(prop);
    if (size == 0 || size % GRANULARITY != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    TRY(check_properties(prop));
    TRY(allocation_make(is_of_host(prop->location.type)
                            ? memory_contents_of_host(size)
                            : memory_contents_create(size, (unsigned)prop->location.id),
                        size, prop, handle));
    thread_spend(timeline_model->allocate);
    return CUDA_SUCCESS;
}

static struct allocation *allocation_find(CUmemGenericAllocationHandle handle)
{
    struct allocation *found = object_find((const void *)(uintptr_t)handle, OBJECT_ALLOCATION);
    return found != NULL && found->handles > 0 ? found : NULL;
}

CUresult driver_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct allocation *found = allocation_find(handle);
    if (found == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (--found->handles == 0) object_remove(&found->object);
    allocation_release(found);
    return CUDA_SUCCESS;
}

CUresult driver_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                       CUmemGenericAllocationHandle handle)
{
    const struct allocation *found = allocation_find(handle);
    NEED_POINTER(prop);
    if (found == NULL) return CUDA_ERROR_INVALID_VALUE;
    *prop = found->properties;
    return CUDA_SUCCESS;
}

/* ---- sharing ------------------------------------------------------------------------------- */

CUresult driver_cuMemExportToShareableHandle(void *shareableHandle,
                                             CUmemGenericAllocationHandle handle,
                                             CUmemAllocationHandleType handleType,
                                             unsigned long long flags)
{
    const struct allocation *found = allocation_find(handle);
    NEED_POINTER(shareableHandle);
    if (found == NULL || flags != 0 || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !(found->properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        return CUDA_ERROR_INVALID_VALUE;
    const int file = memory_contents_export(found->contents);
    if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    timeline_hurry(driver.timeline);
    *(int *)shareableHandle = file;
    return CUDA_SUCCESS;
}

/* The descriptor stays the program's. */
CUresult driver_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                               CUmemAllocationHandleType shHandleType)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    uint64_t size;
    unsigned device;
    NEED_POINTER(handle);
    if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    struct memory_contents *contents =
        memory_contents_import((int)(intptr_t)osHandle, &size, &device);
    if (contents == NULL) return CUDA_ERROR_UNKNOWN;
    timeline_hurry(driver.timeline);
    properties.location.id = (int)device;
    return allocation_make(contents, size, &properties, handle);
}

/* ---- maps -------------------------------------------------------------------------------- */

/* The access of the device that has most. */
static CUmemAccess_flags most_access(const struct map *map)
{
    CUmemAccess_flags most = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (int device = 0; device < MEMORY_DEVICES; device++)
        if (map->access[device] > most) most = map->access[device];
    return most;
}

static bool is_on_host(const struct map *map)
{
    return is_of_host(map->allocation->properties.location.type);
}

/* Memory of the host counts as the first device's. */
static int device_of(const struct map *map)
{
    return is_on_host(map) ? 0 : map->allocation->properties.location.id;
}

/* Finds the end of the adjacent maps of one device with the same access, starting with `first`.
 * Returns the map behind them. */
static const struct map *run_end(const struct map *first, uint64_t *end)
{
    const struct map *map = first;
    for (*end = map->address;
         map != NULL && map->address == *end &&
         memcmp(map->access, first->access, sizeof map->access) == 0 &&
         is_on_host(map) == is_on_host(first) && device_of(map) == device_of(first);
         map = map->next)
        *end += map->size;
    return map;
}

static void hide(const struct reservation *reservation)
{
    for (const struct map *map = reservation->maps; map != NULL; map = map->next) {
        const struct memory_region *region = memory_find(map->address);
        if (region != NULL) memory_hide(region);
    }
}

/* Makes regions of the accessible parts of a reservation again. */
static CUresult show(const struct reservation *reservation)
{
    const struct map *map = reservation->maps;
    while (map != NULL) {
        uint64_t end;
        const struct map *next = run_end(map, &end);
        if (most_access(map) != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
            memory_show(map->address, end - map->address,
                        &(struct memory_request){
                            .kind = MEMORY_DEVICE,
                            .id = ++driver.ids,
                            .caller = (uint64_t)(uintptr_t)thread.call.caller,
                            .read_only = most_access(map) == CU_MEM_ACCESS_FLAGS_PROT_READ,
                            .on_host = is_on_host(map),
                            .device = (unsigned)device_of(map),
                        }) == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        map = next;
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                         CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct reservation *reservation = reservation_of(ptr, size);
    struct allocation *allocation = allocation_find(handle);
    if (reservation == NULL || allocation == NULL || flags != 0 || size == 0 ||
        ptr % GRANULARITY != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (offset != 0 || size != allocation->size) return CUDA_ERROR_NOT_SUPPORTED; /* only whole */
    struct map **link = &reservation->maps;
    while (*link != NULL && (*link)->address + (*link)->size <= ptr) link = &(*link)->next;
    if (*link != NULL && (*link)->address < ptr + size) return CUDA_ERROR_INVALID_VALUE;
    struct map *map = calloc(1, sizeof *map);
    if (map == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!memory_map(ptr, allocation->contents, is_of_host(allocation->properties.location.type))) {
        free(map);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *map = (struct map){.next = *link, .allocation = allocation, .address = ptr, .size = size};
    *link = map;
    allocation->references++;
    return CUDA_SUCCESS;
}

static bool within(const struct map *map, uint64_t address, uint64_t size)
{
    return map->address >= address && map->address + map->size <= address + size;
}

/* Returns true if the range is of whole maps, and begins and ends with one. There may be holes
 * between. */
static bool of_maps(const struct reservation *reservation, uint64_t address, uint64_t size)
{
    const uint64_t end = address + size;
    bool begins = false, ends = false;
    for (const struct map *map = reservation->maps; map != NULL; map = map->next) {
        if (map->address + map->size <= address || map->address >= end) continue;
        if (!within(map, address, size)) return false;
        begins |= map->address == address;
        ends |= map->address + map->size == end;
    }
    return begins && ends;
}

CUresult driver_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    struct reservation *reservation = reservation_of(ptr, size);
    if (reservation == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
    for (const struct map *map = reservation->maps; map != NULL; map = map->next)
        if (map->address < ptr + size && ptr < map->address + map->size && !within(map, ptr, size))
            return CUDA_ERROR_INVALID_VALUE; /* part of a map; unmapping a range without maps is
                                                allowed */
    hide(reservation);
    for (struct map **link = &reservation->maps; *link != NULL;) {
        struct map *map = *link;
        if (!within(map, ptr, size)) {
            link = &map->next;
            continue;
        }
        *link = map->next;
        memory_unmap(map->address, map->size);
        allocation_release(map->allocation);
        free(map);
    }
    return show(reservation);
}

/* Access is for the memory's own device and those that are linked with it; to memory of the host,
 * for every device and the host. */
static CUresult check_access(const struct reservation *reservation, uint64_t address, uint64_t size,
                             const CUmemAccessDesc *access)
{
    const CUmemAccess_flags flags = access->flags;
    const bool host = is_of_host(access->location.type);
    if (!host && (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE || access->location.id < 0 ||
                  access->location.id >= devices_count()))
        return CUDA_ERROR_INVALID_VALUE;
    for (const struct map *map = reservation->maps; map != NULL; map = map->next)
        if (within(map, address, size) && !is_on_host(map) &&
            (host || (access->location.id != device_of(map) &&
                      device_link(access->location.id, device_of(map)) == DEVICE_UNLINKED)))
            return CUDA_ERROR_INVALID_DEVICE;
    return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                   flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static void allow(struct map *map, const CUmemAccessDesc *access)
{
    for (int device = 0; device < MEMORY_DEVICES; device++)
        if (is_on_host(map) || device == access->location.id) map->access[device] = access->flags;
}

CUresult driver_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                               size_t count)
{
    struct reservation *reservation = reservation_of(ptr, size);
    NEED_POINTER(desc);
    if (reservation == NULL || size == 0 || count == 0 || !of_maps(reservation, ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) TRY(check_access(reservation, ptr, size, &desc[i]));
    hide(reservation);
    for (struct map *map = reservation->maps; map != NULL; map = map->next)
        for (size_t i = 0; i < count && within(map, ptr, size); i++) allow(map, &desc[i]);
    return show(reservation);
}

static const struct map *map_of(CUdeviceptr ptr)
{
    const struct reservation *reservation = reservation_of(ptr, 1);
    const struct map *map = reservation != NULL ? reservation->maps : NULL;
    while (map != NULL && ptr - map->address >= map->size) map = map->next;
    return map;
}

bool virtual_access(const struct memory_region *region, int device, CUmemAccess_flags *access)
{
    const struct map *map = region->mapped ? map_of(region->address) : NULL;
    if (map != NULL) *access = map->access[device]; /* a region's maps all allow the same */
    return map != NULL;
}

bool virtual_find(CUdeviceptr ptr, struct virtual_map *found)
{
    const struct map *map = map_of(ptr);
    if (map == NULL) return false;
    const struct reservation *reservation = reservation_of(ptr, 1);
    *found = (struct virtual_map){
        .range = reservation->address,
        .range_size = reservation->size,
        .base = map->address,
        .size = map->size,
        .block = map->allocation->object.id,
        .handle_types = map->allocation->properties.requestedHandleTypes,
    };
    return true;
}

CUresult driver_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                               CUdeviceptr ptr)
{
    const struct map *map = map_of(ptr);
    NEED_POINTER(flags);
    NEED_POINTER(location);
    if (map == NULL || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    NEED_DEVICE(location->id);
    *flags = (unsigned long long)map->access[location->id];
    return CUDA_SUCCESS;
}

CUresult driver_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    const struct map *map = map_of((CUdeviceptr)(uintptr_t)addr);
    NEED_POINTER(handle);
    if (map == NULL) return CUDA_ERROR_INVALID_VALUE;
    struct allocation *allocation = map->allocation;
    if (allocation->handles++ == 0) object_add(&allocation->object, OBJECT_ALLOCATION);
    allocation->references++;
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)allocation;
    return CUDA_SUCCESS;
}
