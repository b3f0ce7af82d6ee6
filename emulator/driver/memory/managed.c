/* Managed memory: advice and prefetches. They change no result, but a program may ask for what it
 * advised: it is kept by whole pages. */
#include "emulator/driver/memory/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/stream/stream.h"

#include <stdlib.h>

/* ---- what is known of pages ---------------------------------------------------------------- */

enum { PAGE = 4096, HOST_BIT = MEMORY_DEVICES };

/* What pages were told. */
struct told {
    bool read_mostly;
    CUmemLocation preferred, prefetched; /* `nowhere`: no such place */
    uint32_t accessed_by;                /* a bit per device, and HOST_BIT */
};

/* A run of pages; they do not overlap. Pages of no run were told nothing. */
struct run {
    uint64_t from, to;
    struct told told;
    struct run *next; /* by address */
};

static const CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_INVALID,
                                      .id = CU_DEVICE_INVALID};
static struct run *runs;

static struct told nothing_told(void)
{
    return (struct told){.preferred = nowhere, .prefetched = nowhere};
}

/* Makes a run begin at `at`, if one goes across. Returns false without memory. */
static bool runs_cut(uint64_t at)
{
    struct run *run = runs;
    while (run != NULL && run->to <= at) run = run->next;
    if (run == NULL || run->from >= at) return true;
    struct run *rest = malloc(sizeof *rest);
    if (rest == NULL) return false;
    *rest = *run;
    rest->from = run->to = at;
    run->next = rest;
    return true;
}

/* Makes runs that cover [from, to) exactly. Returns the first; NULL without memory. */
static struct run *runs_cover(uint64_t from, uint64_t to)
{
    if (!runs_cut(from) || !runs_cut(to)) return NULL;
    struct run **link = &runs, **first;
    while (*link != NULL && (*link)->to <= from) link = &(*link)->next;
    for (first = link; from < to; from = (*link)->to, link = &(*link)->next) {
        if (*link != NULL && (*link)->from == from) continue;
        struct run *made = malloc(sizeof *made);
        if (made == NULL) return NULL;
        *made = (struct run){.from = from,
                             .to = *link != NULL && (*link)->from < to ? (*link)->from : to,
                             .told = nothing_told(),
                             .next = *link};
        *link = made;
    }
    return *first;
}

void managed_ends(const struct memory_region *region)
{
    const uint64_t end = region->address + region->size;
    if (region->kind != MEMORY_MANAGED) return;
    for (struct run **link = &runs; *link != NULL;) {
        struct run *run = *link;
        if (run->to <= region->address || run->from >= end) {
            link = &run->next;
            continue;
        }
        *link = run->next;
        free(run);
    }
}

static bool same_place(CUmemLocation a, CUmemLocation b)
{
    return a.type == b.type && a.id == b.id;
}

/* What all of these pages were told. */
static struct told told_to_all(uint64_t from, uint64_t to)
{
    struct told common = nothing_told(), told;
    bool first = true;
    for (const struct run *run = runs; from < to; first = false) {
        while (run != NULL && run->to <= from) run = run->next;
        const bool inside = run != NULL && run->from <= from;
        told = inside ? run->told : nothing_told();
        from = inside ? run->to : run != NULL && run->from < to ? run->from : to;
        if (first) common = told;
        common.read_mostly &= told.read_mostly;
        common.accessed_by &= told.accessed_by;
        if (!same_place(common.preferred, told.preferred)) common.preferred = nowhere;
        if (!same_place(common.prefetched, told.prefetched)) common.prefetched = nowhere;
    }
    return common;
}

/* ---- calls --------------------------------------------------------------------------------- */

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

/* Runs over the pages of a range; NULL without memory. */
static struct run *pages_of(CUdeviceptr address, size_t size, uint64_t *end)
{
    *end = (address + size + PAGE - 1) / PAGE * PAGE;
    return runs_cover(address / PAGE * PAGE, *end);
}

/* A place as an H200 tells it later: the host has no number, and memory that prefers one of its
 * nodes prefers the host. */
static CUmemLocation kept_place(CUmemLocation location, bool nodes)
{
    const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = CU_DEVICE_CPU};
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) return location;
    if (location.type == CU_MEM_LOCATION_TYPE_HOST || !nodes) return host;
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 0};
}

static void advise(struct told *told, CUmem_advise advice, CUmemLocation location)
{
    const uint32_t bit =
        1u << (location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : HOST_BIT);
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        told->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        told->preferred = kept_place(location, false);
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        told->preferred = nowhere;
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        told->accessed_by |= bit;
        break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        told->accessed_by &= ~bit;
        break;
    }
}

CUresult driver_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                               CUmemLocation location)
{
    const struct place *place = place_of(location);
    const bool accessed = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
    uint64_t end;
    const bool of_access = accessed || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if ((int)advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY ||
        place == NULL || (of_access && !place->can_access))
        return CUDA_ERROR_INVALID_VALUE;
    if ((accessed || advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION) &&
        !place_exists(place, location.id))
        return CUDA_ERROR_INVALID_VALUE;
    TRY(check_managed(devPtr, count));
    struct run *run = pages_of(devPtr, count, &end);
    if (run == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    if (place_exists(place, location.id))
        for (; run != NULL && run->to <= end; run = run->next) advise(&run->told, advice, location);
    return CUDA_SUCCESS;
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
    TRY(capture_check_never(stream));
    TRY(check_managed(devPtr, count));
    if (!place_exists(place, location.id))
        return place->type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE
                                                          : CUDA_ERROR_INVALID_VALUE;
    uint64_t end;
    struct run *run = pages_of(devPtr, count, &end);
    if (run == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (; run != NULL && run->to <= end; run = run->next)
        run->told.prefetched = kept_place(location, true);
    return operation_submit(operation_make(stream, TRACE_WHAT_NONE, 0), stream,
                            &(struct timeline_work){.kind = TIMELINE_MARK}, NULL, NULL);
}

CUresult driver_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                   CUstream hStream)
{
    return driver_cuMemPrefetchAsync_v2(devPtr, count, location_of(dstDevice), 0, hStream);
}

/* The devices that access all pages, and then the host, as far as there is room. */
static void list_accessing(uint32_t accessed_by, int *list, size_t room)
{
    size_t count = 0;
    for (int bit = 0; bit <= HOST_BIT; bit++)
        if (accessed_by & 1u << bit && count < room)
            list[count++] = bit == HOST_BIT ? CU_DEVICE_CPU : bit;
    while (count < room) list[count++] = CU_DEVICE_INVALID;
}

/* The device that a place is on; the host is one here. */
static int device_holding(CUmemLocation place)
{
    return place.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? CU_DEVICE_CPU : place.id;
}

static CUresult check_size(CUmem_range_attribute attribute, size_t size)
{
    const bool list = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    return size == 0 || size % sizeof(int) != 0 || (!list && size != sizeof(int))
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

CUresult driver_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                       CUdeviceptr devPtr, size_t count)
{
    int *const answer = data;
    NEED_POINTER(data);
    TRY(check_managed(devPtr, count));
    TRY(check_size(attribute, dataSize));
    const struct told told = told_to_all(devPtr / PAGE * PAGE, devPtr + count);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *answer = told.read_mostly;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        *answer = device_holding(told.preferred);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        list_accessing(told.accessed_by, answer, dataSize / sizeof *answer);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *answer = device_holding(told.prefetched);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *answer = (int)told.preferred.type;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *answer = told.preferred.id;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *answer = (int)told.prefetched.type;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *answer = told.prefetched.id;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult driver_cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                        CUmem_range_attribute *attributes, size_t numAttributes,
                                        CUdeviceptr devPtr, size_t count)
{
    NEED_POINTER(data);
    NEED_POINTER(dataSizes);
    NEED_POINTER(attributes);
    if (numAttributes == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numAttributes; i++) TRY(check_size(attributes[i], dataSizes[i]));
    for (size_t i = 0; i < numAttributes; i++)
        TRY(driver_cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count));
    return CUDA_SUCCESS;
}
