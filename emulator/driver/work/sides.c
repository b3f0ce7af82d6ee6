/* Sides of copies and fills: their bytes, and what a call allows. */
#include "emulator/driver/work/sides.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/driver/work/work.h"

uint64_t side_span(const struct side *side, const struct extent *extent)
{
    __uint128_t bytes = (__uint128_t)(extent->depth - 1) * side->slice +
                        (__uint128_t)(extent->height - 1) * side->pitch + extent->width;
    return bytes <= INT64_MAX ? (uint64_t)bytes : 0;
}

unsigned char *side_bytes(uint64_t address, uint64_t size, enum trace_place *place)
{
    static const enum trace_place places[MEMORY_KIND_COUNT] = {
        [MEMORY_DEVICE] = TRACE_DEVICE,
        [MEMORY_PINNED] = TRACE_PINNED,
        [MEMORY_MANAGED] = TRACE_MANAGED,
        [MEMORY_VARIABLE] = TRACE_DEVICE,
    };
    const struct memory_region *region = memory_find(address);
    if (region == NULL) {
        *place = TRACE_PAGEABLE;
        return memory_is_device_address(address) ? NULL : (unsigned char *)(uintptr_t)address;
    }
    *place = places[region->kind];
    /* Registered memory ends exactly where its registration does: an H200 refuses a copy that
     * begins inside and goes on behind it, even if the next byte was registered by another call. A
     * copy that begins before it counts as pageable. */
    return size <= region->address + region->size - address
               ? region->bytes + (address - region->address)
               : NULL;
}

CUresult side_refuse(enum trace_finding_id id, CUresult code, const struct side *side,
                     uint64_t size, enum trace_role role)
{
    struct trace_record found = finding_at_call(id, code);
    finding_address(&found, side->address);
    found.finding.sides[0].role = (uint16_t)role;
    found.bytes = size;
    finding_put(&found);
    return code;
}

CUresult side_find(struct side *side, const struct extent *extent, enum demand demand,
                   enum trace_role role)
{
    const CUresult invalid = CUDA_ERROR_INVALID_VALUE;
    uint64_t size = side_span(side, extent);
    const bool is_written = role == ROLE_DESTINATION;
    if (size == 0) return invalid;
    unsigned char *bytes = side_bytes(side->address, size, &side->place);
    const struct memory_region *region = memory_find(side->address);
    if (bytes == NULL) {
        findings_call_lacks_memory(side->address);
        return side_refuse(region != NULL ? FINDING_COPY_OUT_OF_BOUNDS : FINDING_COPY_OF_NO_MEMORY,
                           invalid, side, size, role);
    }
    if (demand == ARRAY_SIDE) side->place = TRACE_ARRAY;
    if (demand == HOST_SIDE && side->place == TRACE_DEVICE && !region->on_host)
        side_refuse(FINDING_COPY_CALLS_IT_HOST, CUDA_SUCCESS, side, size, role);
    if (is_written && region != NULL && region->mapped && region->read_only)
        return side_refuse(FINDING_COPY_TO_READ_ONLY, invalid, side, size, role);
    if (demand != DEVICE_SIDE || side->place != TRACE_PAGEABLE) return CUDA_SUCCESS;
    findings_call_lacks_memory(side->address);
    return side_refuse(FINDING_COPY_NEEDS_DEVICE, invalid, side, size, role);
}

bool side_syncs(const struct side *side)
{
    const struct memory_region *region = memory_find(side->address);
    return region != NULL && region->syncs;
}

struct races_rows side_rows(const struct side *side, const struct extent *extent)
{
    return (struct races_rows){.address = side->address,
                               .width = extent->width,
                               .pitch = side->pitch,
                               .height = extent->height,
                               .slice = side->slice,
                               .depth = extent->depth};
}

void side_overwrite(const struct side *to, const struct extent *extent)
{
    if (extent->height == 1 && extent->depth == 1) memory_overwrite(to->address, extent->width);
}

enum timeline_ran side_gone(struct operation *operation, uint64_t address, enum trace_role role)
{
    enum trace_place place;
    const bool pageable = side_bytes(address, 1, &place) != NULL;
    findings_operation_faults(operation, &(struct findings_access){
                                             .address = address,
                                             .bytes = 1,
                                             .mode = role == ROLE_SOURCE ? RACES_READ : RACES_WRITE,
                                         });
    struct trace_record found =
        finding_at_work(pageable ? FINDING_COPY_OF_GONE_HOST_MEMORY : FINDING_COPY_AFTER_FREE,
                        &operation->record, operation->stream_caller);
    found.code = operation->outcome != NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_ILLEGAL_ADDRESS;
    finding_address(&found, address);
    found.finding.sides[0].role = (uint16_t)role;
    return operation_fail(operation, &found);
}

struct timeline_touch touch_of(uint64_t address, uint64_t bytes)
{
    const struct memory_region *region = memory_find(address);
    return (struct timeline_touch){region != NULL ? region->id : 0, bytes};
}

void side_pending(struct operation *operation, struct timeline_op *op)
{
    findings_will_write(op, operation->record.address);
}
