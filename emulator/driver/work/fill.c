/* Fills (memset): argument checks, whether the host waits, execution. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/driver/work/sides.h"
#include "emulator/driver/work/work.h"

#include <string.h>

struct fill {
    struct side to;
    struct extent extent;
    uint32_t value; /* as given: of a node it may be wider than a unit */
    unsigned unit;  /* bytes: 1, 2 or 4 */
};

/* The 4 bytes that each row repeats. A value that is wider than a unit is not cut but spread, as an
 * H200 does. */
static uint32_t pattern_of(const struct fill *fill)
{
    uint32_t pattern = fill->value;
    if (fill->unit == 1) pattern |= pattern << 8;
    if (fill->unit < 4 && fill->extent.height > 1) pattern &= UINT16_MAX;
    return fill->unit < 4 ? pattern | pattern << 16 : pattern;
}

static enum timeline_ran run_fill(struct operation *operation)
{
    const struct fill *fill = (const void *)operation->payload;
    enum trace_place place;
    unsigned char *to = side_bytes(fill->to.address, side_span(&fill->to, &fill->extent), &place);
    if (to == NULL || place == TRACE_PAGEABLE)
        return side_gone(operation, fill->to.address, ROLE_DESTINATION);
    const struct races_rows written = side_rows(&fill->to, &fill->extent);
    findings_writes(operation, &written);
    side_overwrite(&fill->to, &fill->extent);
    const uint32_t pattern = pattern_of(fill);
    const bool alike = pattern == (pattern & UINT8_MAX) * 0x01010101u;
    const size_t width = fill->extent.width, rest = width % sizeof pattern;
    for (size_t y = 0; y < fill->extent.height; y++) {
        unsigned char *row = to + y * fill->to.pitch;
        if (alike) memset(row, (int)(pattern & UINT8_MAX), width);
        for (size_t x = 0; !alike && x < width - rest; x += sizeof pattern)
            memcpy(row + x, &pattern, sizeof pattern);
        if (!alike) memcpy(row + width - rest, &pattern, rest);
    }
    return TIMELINE_RAN;
}

/* Finds the memory, which has to be within reach of the stream's device. */
static CUresult find_destination(const struct context *context, struct fill *fill)
{
    TRY(side_find(&fill->to, &fill->extent, DEVICE_SIDE, ROLE_DESTINATION));
    const struct memory_region *region = memory_find(fill->to.address);
    if (region == NULL || peers_may_access(context, region, true)) return CUDA_SUCCESS;
    struct trace_record found =
        finding_at_call(FINDING_MEMSET_OF_OTHER_DEVICE, CUDA_ERROR_INVALID_VALUE);
    finding_address(&found, fill->to.address);
    found.finding.numbers[0] = region->device;
    found.finding.numbers[1] = (uint64_t)context->device;
    finding_put(&found);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Makes an operation that fills `height` rows of `count` units, meant for `stream`. */
static CUresult make_fill(const struct stream *stream, CUdeviceptr address, size_t pitch,
                          uint32_t value, unsigned unit, size_t count, size_t height,
                          struct operation **made, struct timeline_work *work)
{
    struct fill fill = {.value = value, .unit = unit};
    if (address % unit != 0 || (height > 1 && pitch % unit != 0)) return CUDA_ERROR_INVALID_VALUE;
    if (count > SIZE_MAX / unit) return CUDA_ERROR_INVALID_VALUE;
    fill.extent = (struct extent){count * unit, height, 1};
    fill.to = (struct side){.address = address, .pitch = pitch, .slice = 0};
    if (height > 1 && pitch < fill.extent.width) return CUDA_ERROR_INVALID_VALUE;
    if (stream->captured != NULL) /* checked when the graph is instantiated */
        side_bytes(fill.to.address, side_span(&fill.to, &fill.extent), &fill.to.place);
    else
        TRY(find_destination(stream->object.context, &fill));

    struct operation *operation = operation_make(stream, TRACE_SET, sizeof fill);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    operation->record.to = fill.to.place;
    operation->record.bytes = (uint64_t)fill.extent.width * height;
    operation->record.address = address;
    operation->run = run_fill;
    findings_given(address);
    operation->pending = side_pending;
    memcpy(operation->payload, &fill, sizeof fill);
    *work = (struct timeline_work){.kind = TIMELINE_SET,
                                   .bytes = operation->record.bytes,
                                   .touches = {touch_of(address, operation->record.bytes)}};
    *made = operation;
    return CUDA_SUCCESS;
}

struct copy_flight fill_flight(const struct operation *operation)
{
    const struct fill *fill = (const void *)operation->payload;
    return (struct copy_flight){.written = side_rows(&fill->to, &fill->extent)};
}

/* Submits a fill. The host waits only if the memory is host memory as well. */
static CUresult submit_fill(CUstream handle, CUdeviceptr address, size_t pitch, uint32_t value,
                            unsigned unit, size_t count, size_t height, bool asynchronous)
{
    struct stream *stream;
    struct operation *operation;
    struct timeline_op *op = NULL;
    struct timeline_work work;
    TRY(stream_for_work(handle, &stream));
    if (count == 0 || height == 0) return CUDA_SUCCESS;
    TRY(make_fill(stream, address, pitch, value, unit, count, height, &operation, &work));
    const struct fill *fill = (const void *)operation->payload;
    const bool waits =
        !asynchronous && (operation->record.to != TRACE_DEVICE || side_syncs(&fill->to));
    const struct copy_flight flight = fill_flight(operation);
    const bool captured = stream->captured != NULL;
    TRY(operation_submit(operation, stream, &work, NULL, &op));
    if (!captured) copy_submitted(&flight, op);
    CUresult code = waits ? wait_for_op(stream->object.context, op) : CUDA_SUCCESS;
    timeline_op_release(op);
    return code;
}

CUresult fill_operation(struct context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *params,
                        struct operation **operation, struct timeline_work *work)
{
    const unsigned unit = params->elementSize;
    if (unit != 1 && unit != 2 && unit != 4) return CUDA_ERROR_INVALID_VALUE;
    if (params->width == 0 || params->height == 0) return CUDA_ERROR_INVALID_VALUE;
    return make_fill(context->legacy, params->dst, params->pitch, params->value, unit,
                     params->width, params->height, operation, work);
}

bool fill_is_possible(const struct operation *operation)
{
    const struct fill *fill = (const void *)operation->payload;
    struct side to = fill->to;
    return side_find(&to, &fill->extent, DEVICE_SIDE, ROLE_DESTINATION) == CUDA_SUCCESS;
}

void fill_describe(const struct operation *operation, CUDA_MEMSET_NODE_PARAMS_v2 *params)
{
    const struct fill *fill = (const void *)operation->payload;
    *params = (CUDA_MEMSET_NODE_PARAMS_v2){
        .dst = fill->to.address,
        .pitch = fill->to.pitch,
        .elementSize = fill->unit,
        .width = fill->extent.width / fill->unit,
        .height = fill->extent.height,
        .value = fill->value,
    };
}

/* The twelve functions differ only in unit, rows and waiting. */
#define FILL(bits, type)                                                                           \
    CUresult driver_cuMemsetD##bits(CUdeviceptr dst, type value, size_t count)                     \
    {                                                                                              \
        return submit_fill(NULL, dst, 0, value, bits / 8, count, 1, false);                        \
    }                                                                                              \
    CUresult driver_cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t count,              \
                                           CUstream stream)                                        \
    {                                                                                              \
        return submit_fill(stream, dst, 0, value, bits / 8, count, 1, true);                       \
    }                                                                                              \
    CUresult driver_cuMemsetD2D##bits(CUdeviceptr dst, size_t pitch, type value, size_t width,     \
                                      size_t height)                                               \
    {                                                                                              \
        return submit_fill(NULL, dst, pitch, value, bits / 8, width, height, false);               \
    }                                                                                              \
    CUresult driver_cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value,            \
                                             size_t width, size_t height, CUstream stream)         \
    {                                                                                              \
        return submit_fill(stream, dst, pitch, value, bits / 8, width, height, true);              \
    }
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
#undef FILL
