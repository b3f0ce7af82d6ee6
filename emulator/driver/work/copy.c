/* Copies: argument checks, whether the host waits, execution.
 *
 * Whether the host waits follows the Driver API's "API synchronization behavior", by the kinds of
 * memory on both sides. Where that says "might", this device does what an H100 does: an
 * asynchronous copy reads its pageable source before it returns, and one into pageable memory
 * returns when it is done.
 */
#include "emulator/driver/work/work.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/driver/work/sides.h"
#include "emulator/driver/work/staging.h"
#include "emulator/memory/page_guard.h"

#include <stdlib.h>
#include <string.h>

enum { STAGED_MOST = 1 << 20 }; /* bytes: a larger source waits for its stream's earlier work */

/* Where a side begins in an array, for the parameters of a captured copy. */
struct in_array {
    CUarray array; /* NULL: the side is not in an array, or not a box of it */
    size_t x, y, z;
};

struct copy {
    struct side to, from;
    struct in_array to_array, from_array;
    struct extent extent;
    unsigned char *staged; /* the source, read at the call; owned */
    bool asynchronous;     /* a call, not a graph node: on a GPU it has finished with pageable
                              memory when it returns, but the documentation does not promise that */
};

static bool is_host(enum trace_place place)
{
    return place == TRACE_PAGEABLE || place == TRACE_PINNED;
}

/* ---- execution --------------------------------------------------------------------------- */

/* Copies row by row. `guarded`: a side is pageable and may be unmapped by now; then returns
 * false. */
static bool copy_rows(unsigned char *to, const struct side *to_side, const unsigned char *from,
                      size_t from_pitch, size_t from_slice, const struct extent *extent,
                      bool guarded)
{
    for (size_t z = 0; z < extent->depth; z++) {
        for (size_t y = 0; y < extent->height; y++) {
            unsigned char *row_to = to + z * to_side->slice + y * to_side->pitch;
            const unsigned char *row_from = from + z * from_slice + y * from_pitch;
            if (!guarded)
                memmove(row_to, row_from, extent->width);
            else if (!memory_copy_guarded(row_to, row_from, extent->width))
                return false;
        }
    }
    return true;
}

/* Merges dense rows and slices into one row, so that a big copy is one memmove. */
static void flatten(struct copy *copy)
{
    struct extent *e = &copy->extent;
    if (copy->to.pitch == e->width && copy->from.pitch == e->width) {
        e->width *= e->height;
        copy->to.pitch = copy->from.pitch = e->width;
        bool dense = copy->to.slice == e->width && copy->from.slice == e->width;
        e->height = 1;
        if (dense || e->depth == 1) {
            e->width *= e->depth;
            copy->to.pitch = copy->from.pitch = copy->to.slice = copy->from.slice = e->width;
            e->depth = 1;
        }
    }
}

/* Carries out the copy. The page guards of both sides are lifted at this point. */
static enum timeline_ran do_copy(struct operation *operation)
{
    const struct copy *copy = (const void *)operation->payload;
    const struct extent *extent = &copy->extent;
    enum trace_place to_place, from_place = TRACE_PLACE_NONE;
    unsigned char *to = side_bytes(copy->to.address, side_span(&copy->to, extent), &to_place);
    if (to == NULL || (to_place == TRACE_PAGEABLE && copy->to.place != TRACE_PAGEABLE))
        return side_gone(operation, copy->to.address, ROLE_DESTINATION);
    const struct races_rows written = side_rows(&copy->to, extent);
    findings_writes(operation, &written);

    if (copy->staged != NULL) {
        size_t row = extent->width;
        side_overwrite(&copy->to, extent);
        if (!copy_rows(to, &copy->to, copy->staged, row, row * extent->height, extent,
                       to_place == TRACE_PAGEABLE))
            return side_gone(operation, copy->to.address, ROLE_DESTINATION);
        return TIMELINE_RAN;
    }
    const unsigned char *from =
        side_bytes(copy->from.address, side_span(&copy->from, extent), &from_place);
    if (from == NULL || (from_place == TRACE_PAGEABLE && copy->from.place != TRACE_PAGEABLE))
        return side_gone(operation, copy->from.address, ROLE_SOURCE);
    const struct races_rows read = side_rows(&copy->from, extent);
    findings_reads(operation, &read);
    if (memory_find(copy->to.address) != memory_find(copy->from.address))
        side_overwrite(&copy->to, extent);
    if (copy_rows(to, &copy->to, from, copy->from.pitch, copy->from.slice, extent,
                  to_place == TRACE_PAGEABLE || from_place == TRACE_PAGEABLE))
        return TIMELINE_RAN;
    return to_place == TRACE_PAGEABLE ? side_gone(operation, copy->to.address, ROLE_DESTINATION)
                                      : side_gone(operation, copy->from.address, ROLE_SOURCE);
}

static enum timeline_ran run_copy(struct operation *operation)
{
    struct copy *copy = (void *)operation->payload;
    if (driver.ending && (copy->to.place == TRACE_PAGEABLE || copy->from.place == TRACE_PAGEABLE) &&
        copy->staged == NULL)
        return TIMELINE_RAN; /* the host's own memory may be gone */
    const struct side *sides[] = {&copy->to, &copy->from};
    for (int i = 0; i < 2; i++)
        page_guard_lift(sides[i]->address, side_span(sides[i], &copy->extent));
    const struct races_rows written = side_rows(&copy->to, &copy->extent);
    const struct races_rows *pageable = copy->to.place == TRACE_PAGEABLE ? &written : NULL;
    findings_begins(operation, pageable);
    const enum timeline_ran ran = do_copy(operation);
    findings_ran(operation, pageable);
    for (int i = 0; i < 2; i++)
        page_guard_restore(sides[i]->address, side_span(sides[i], &copy->extent));
    if (ran == TIMELINE_RAN) {
        /* Released early: the operation may live on for long. */
        staging_give(copy->staged);
        copy->staged = NULL;
    }
    return ran;
}

static void drop_copy(struct operation *operation)
{
    staging_give(((struct copy *)(void *)operation->payload)->staged);
}

/* ---- copies ------------------------------------------------------------------------------ */

/* Reads the source now, as the driver's staging buffer does. An asynchronous copy is documented to
 * read it later, in stream order; in_flight checks programs that rely on the early read. */
static CUresult stage(struct copy *copy, bool asynchronous)
{
    const struct extent *e = &copy->extent;
    struct side dense = {.pitch = e->width, .slice = e->width * e->height};
    copy->staged = staging_take(e->width * e->height * e->depth);
    if (copy->staged == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    const struct races_rows read = side_rows(&copy->from, e);
    if (!asynchronous) findings_host_reads(&read);
    if (copy_rows(copy->staged, &dense, (const unsigned char *)(uintptr_t)copy->from.address,
                  copy->from.pitch, copy->from.slice, e, true))
        return CUDA_SUCCESS;
    staging_give(copy->staged);
    copy->staged = NULL;
    findings_call_lacks_memory(copy->from.address);
    return side_refuse(FINDING_COPY_OF_NO_HOST_MEMORY, CUDA_ERROR_INVALID_VALUE, &copy->from,
                       side_span(&copy->from, e), ROLE_SOURCE);
}

/* Describes the copy for the timeline. Staging of pageable memory costs host time for copies to the
 * device, and copy time for copies to the host. */
static struct timeline_work work_of(const struct copy *copy)
{
    const bool to_host = is_host(copy->to.place), from_host = is_host(copy->from.place);
    const struct extent *e = &copy->extent;
    const uint64_t bytes = (uint64_t)e->width * e->height * e->depth;
    struct timeline_work work = {
        .kind = to_host && from_host ? TIMELINE_COPY_HOST
                : from_host          ? TIMELINE_COPY_IN
                : to_host            ? TIMELINE_COPY_OUT
                                     : TIMELINE_COPY_INSIDE,
        .bytes = bytes,
        .pageable = copy->to.place == TRACE_PAGEABLE,
    };
    if (!to_host) work.touches[0] = touch_of(copy->to.address, bytes);
    if (!from_host) work.touches[1] = touch_of(copy->from.address, bytes);
    return work;
}

/* Makes the operation of a copy, which owns the staged source. NULL: no memory. */
static struct operation *make_copy(const struct stream *stream, const struct copy *copy)
{
    struct operation *operation = operation_make(stream, TRACE_COPY, sizeof *copy);
    if (operation == NULL) return NULL;
    operation->record.from = copy->from.place;
    operation->record.to = copy->to.place;
    operation->record.bytes = work_of(copy).bytes;
    operation->record.address = copy->to.address;
    operation->run = run_copy;
    operation->drop = drop_copy;
    operation->pending = side_pending;
    findings_asked_for(operation);
    findings_given(copy->from.address);
    findings_given(copy->to.address);
    operation->awaited = is_host(copy->to.place) && !is_host(copy->from.place);
    memcpy(operation->payload, copy, sizeof *copy);
    return operation;
}

struct copy_flight copy_begins(struct operation *operation)
{
    const struct copy *copy = (const void *)operation->payload;
    struct copy_flight flight = {.written = side_rows(&copy->to, &copy->extent)};
    if (copy->staged == NULL || copy->asynchronous)
        flight.read = side_rows(&copy->from, &copy->extent);
    if (copy->to.place == TRACE_PAGEABLE)
        findings_will_touch(operation, RACES_WRITE, &flight.written, copy->asynchronous);
    if (copy->from.place == TRACE_PAGEABLE && flight.read.width > 0)
        findings_will_touch(operation, RACES_READ, &flight.read, copy->asynchronous);
    flight.number = operation->flight;
    return flight;
}

void copy_submitted(const struct copy_flight *flight, const struct timeline_op *op)
{
    findings_in_flight(flight->number, op, &flight->written, &flight->read);
}

/* Returns true if the host waits for the copy. For a staged source the wait has happened
 * already. */
static bool host_waits(const struct copy *copy, bool staged, bool asynchronous)
{
    return (is_host(copy->to.place) && is_host(copy->from.place)) ||
           (!asynchronous && !staged &&
            (is_host(copy->to.place) || is_host(copy->from.place) ||
             copy->to.place == TRACE_MANAGED || copy->from.place == TRACE_MANAGED ||
             side_syncs(&copy->to) || side_syncs(&copy->from)));
}

/* Waits for the stream's earlier work, then reads the source; the transfer itself may still be in
 * progress when the call returns. */
static CUresult stage_behind(CUstream handle, struct stream **stream, struct copy *copy,
                             bool asynchronous)
{
    struct timeline_op *last = timeline_stream_last((*stream)->time);
    if (!asynchronous)
        TRY(wait_for_op((*stream)->object.context, last));
    else if (work_of(copy).bytes > STAGED_MOST)
        TRY(wait_for_op_on_gpus(*stream, last));
    TRY(stream_for_work(handle, stream)); /* another thread may have destroyed it meanwhile */
    return stage(copy, asynchronous);
}

/* The other contexts whose memory a copy reads and writes, with whose work it is ordered because it
 * is not in a stream of its own choice; NULL: none. */
struct owners {
    const struct context *from, *to;
};

static struct owners owners_of(const struct stream *stream, const struct copy *copy)
{
    const struct context *context = stream->object.context;
    if (stream->captured != NULL || (!stream_is_legacy(stream) && copy->asynchronous))
        return (struct owners){NULL, NULL};
    return (struct owners){peers_owner(context, copy->from.address),
                           peers_owner(context, copy->to.address)};
}

/* With `op` NULL before the copy is submitted, then with its operation. */
static CUresult join_owners(struct stream *stream, const struct owners *owners,
                            struct timeline_op *op)
{
    TRY(stream_join_context(stream, owners->from, op));
    return stream_join_context(stream, owners->to, op);
}

/* Submits a copy whose sides are known. Takes ownership of the staged source. */
static CUresult submit_placed(struct stream *stream, struct copy *copy, bool waits)
{
    const struct timeline_work work = work_of(copy);
    const bool flies = !waits && stream->captured == NULL;
    struct operation *operation = make_copy(stream, copy);
    struct timeline_op *op = NULL;
    struct copy_flight flight = {.number = 0};
    CUresult outcome = CUDA_SUCCESS, code = CUDA_SUCCESS;
    const struct owners owners = owners_of(stream, copy);

    if (operation == NULL) {
        staging_give(copy->staged);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (waits) operation->outcome = &outcome;
    if (flies) flight = copy_begins(operation);
    code = join_owners(stream, &owners, NULL);
    if (code == CUDA_SUCCESS)
        code = operation_submit(operation, stream, &work, NULL, &op);
    else
        operation_drop(operation);
    if (flies) copy_submitted(&flight, op);
    if (code == CUDA_SUCCESS) code = join_owners(stream, &owners, op);
    if (waits && code == CUDA_SUCCESS) {
        code = wait_for_op(stream->object.context, op);
        if (code == CUDA_SUCCESS) code = outcome;
    } else if (flies && code == CUDA_SUCCESS && copy->to.place == TRACE_PAGEABLE) {
        code = wait_for_op_on_gpus(stream, op);
    }
    timeline_op_release(op);
    return code;
}

static CUresult submit_copy(CUstream handle, struct copy *copy, enum demand to, enum demand from,
                            bool asynchronous)
{
    struct stream *stream;
    struct extent *e = &copy->extent;

    TRY(stream_for_work(handle, &stream));
    if (e->width == 0 || e->height == 0 || e->depth == 0) return CUDA_SUCCESS;
    TRY(side_find(&copy->to, e, to, ROLE_DESTINATION));
    TRY(side_find(&copy->from, e, from, ROLE_SOURCE));
    const bool captured = stream->captured != NULL;
    const bool is_box = copy->to_array.array != NULL || copy->from_array.array != NULL;
    if (!captured || !is_box) flatten(copy); /* rows of an array stay rows in its parameters */
    const bool to_device = copy->from.place == TRACE_PAGEABLE && !is_host(copy->to.place);
    const bool staged = to_device && !captured && !thread.reads_late;
    copy->asynchronous = asynchronous && !captured && !(to_device && thread.reads_late);
    if (staged) {
        TRY(stage_behind(handle, &stream, copy, asynchronous));
        thread_spend((double)timeline_staging_time(work_of(copy).bytes));
    }
    return submit_placed(stream, copy, !captured && host_waits(copy, staged, asynchronous));
}

static CUresult copy_flat(CUstream stream, uint64_t to, enum demand to_demand, uint64_t from,
                          enum demand from_demand, size_t size, bool asynchronous)
{
    struct copy copy = {.to = {to, size, size, TRACE_PLACE_NONE},
                        .from = {from, size, size, TRACE_PLACE_NONE},
                        .extent = {size, 1, 1}};
    return submit_copy(stream, &copy, to_demand, from_demand, asynchronous);
}

static uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

CUresult driver_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy_flat(NULL, dst, ANY_SIDE, src, ANY_SIDE, ByteCount, false);
}

CUresult driver_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return copy_flat(hStream, dst, ANY_SIDE, src, ANY_SIDE, ByteCount, true);
}

CUresult driver_cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy_flat(NULL, dstDevice, DEVICE_SIDE, address_of(srcHost), HOST_SIDE, ByteCount,
                     false);
}

CUresult driver_cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                  CUstream hStream)
{
    return copy_flat(hStream, dstDevice, DEVICE_SIDE, address_of(srcHost), HOST_SIDE, ByteCount,
                     true);
}

CUresult driver_cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_flat(NULL, address_of(dstHost), HOST_SIDE, srcDevice, DEVICE_SIDE, ByteCount,
                     false);
}

CUresult driver_cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                  CUstream hStream)
{
    return copy_flat(hStream, address_of(dstHost), HOST_SIDE, srcDevice, DEVICE_SIDE, ByteCount,
                     true);
}

CUresult driver_cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_flat(NULL, dstDevice, DEVICE_SIDE, srcDevice, DEVICE_SIDE, ByteCount, false);
}

CUresult driver_cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                  CUstream hStream)
{
    return copy_flat(hStream, dstDevice, DEVICE_SIDE, srcDevice, DEVICE_SIDE, ByteCount, true);
}

/* Checks the contexts of a peer copy. The locations follow from the addresses; contexts only say
 * whose the memory is, and NULL says nothing. */
static CUresult check_peers(CUcontext to, CUcontext from)
{
    const CUcontext both[] = {to, from};
    for (int i = 0; i < 2; i++) {
        if (both[i] == NULL) continue;
        const struct context *context = object_find(both[i], OBJECT_CONTEXT);
        if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
        TRY(context_check(context));
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                             CUcontext srcContext, size_t ByteCount)
{
    TRY(check_peers(dstContext, srcContext));
    return driver_cuMemcpyDtoD(dstDevice, srcDevice, ByteCount);
}

CUresult driver_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                  CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                                  CUstream hStream)
{
    TRY(check_peers(dstContext, srcContext));
    return driver_cuMemcpyDtoDAsync(dstDevice, srcDevice, ByteCount, hStream);
}

/* ---- rows and slices ---------------------------------------------------------------------- */

/* A side of a 2-D or 3-D copy as the API describes it. */
struct described {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height, level;
};

static CUresult side_of(const struct described *described, const struct extent *extent,
                        struct side *side, enum demand *demand)
{
    switch (described->type) {
    case CU_MEMORYTYPE_HOST:
        side->address = address_of(described->host);
        *demand = HOST_SIDE;
        break;
    case CU_MEMORYTYPE_DEVICE:
        side->address = described->device;
        *demand = DEVICE_SIDE;
        break;
    case CU_MEMORYTYPE_UNIFIED:
        side->address = described->device;
        *demand = ANY_SIDE;
        break;
    case CU_MEMORYTYPE_ARRAY:
        *demand = ARRAY_SIDE;
        if (described->array == NULL || described->level != 0) return CUDA_ERROR_INVALID_VALUE;
        return array_place(described->array,
                           &(struct array_part){.x = described->x,
                                                .y = described->y,
                                                .z = described->z,
                                                .width = extent->width,
                                                .height = extent->height,
                                                .depth = extent->depth},
                           &side->address, &side->pitch, &side->slice);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* A pitch or height of 0 means dense; any other must hold what is copied, even if that is a
     * single row. */
    size_t width, height;
    if (__builtin_add_overflow(extent->width, described->x, &width) ||
        __builtin_add_overflow(extent->height, described->y, &height))
        return CUDA_ERROR_INVALID_VALUE;
    side->pitch = described->pitch != 0 ? described->pitch : width;
    const size_t rows = described->height != 0 ? described->height : height;
    if (side->pitch < width || rows < height) return CUDA_ERROR_INVALID_VALUE;
    /* The size of a slice matters only where there is a second one. */
    const __uint128_t slice = (__uint128_t)side->pitch * rows;
    if ((described->z > 0 || extent->depth > 1) && slice > INT64_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    side->slice = (uint64_t)slice;
    const __uint128_t offset = (__uint128_t)described->z * side->slice +
                               (__uint128_t)described->y * side->pitch + described->x;
    if (offset > INT64_MAX) return CUDA_ERROR_INVALID_VALUE;
    side->address += (uint64_t)offset;
    return CUDA_SUCCESS;
}

static struct in_array in_array_of(const struct described *side)
{
    if (side->type != CU_MEMORYTYPE_ARRAY) return (struct in_array){0};
    return (struct in_array){side->array, side->x, side->y, side->z};
}

static CUresult copy_described(CUstream stream, const struct described *to,
                               const struct described *from, struct extent extent,
                               bool asynchronous)
{
    struct copy copy = {
        .to_array = in_array_of(to), .from_array = in_array_of(from), .extent = extent};
    enum demand to_demand = ANY_SIDE, from_demand = ANY_SIDE;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return submit_copy(stream, &copy, to_demand, from_demand, asynchronous); /* an empty copy */
    TRY(side_of(to, &extent, &copy.to, &to_demand));
    TRY(side_of(from, &extent, &copy.from, &from_demand));
    return submit_copy(stream, &copy, to_demand, from_demand, asynchronous);
}

static CUresult copy_2d(CUstream stream, const CUDA_MEMCPY2D *p, bool asynchronous)
{
    NEED_POINTER(p);
    return copy_described(stream,
                          &(struct described){.type = p->dstMemoryType,
                                              .host = p->dstHost,
                                              .device = p->dstDevice,
                                              .array = p->dstArray,
                                              .x = p->dstXInBytes,
                                              .y = p->dstY,
                                              .pitch = p->dstPitch},
                          &(struct described){.type = p->srcMemoryType,
                                              .host = p->srcHost,
                                              .device = p->srcDevice,
                                              .array = p->srcArray,
                                              .x = p->srcXInBytes,
                                              .y = p->srcY,
                                              .pitch = p->srcPitch},
                          (struct extent){p->WidthInBytes, p->Height, 1}, asynchronous);
}

CUresult driver_cuMemcpy2D(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(NULL, pCopy, false);
}

CUresult driver_cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(NULL, pCopy, false);
}

CUresult driver_cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(hStream, pCopy, true);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have these fields in common. */
#define DESCRIBED_3D(p, side)                                                                      \
    &(struct described)                                                                            \
    {                                                                                              \
        .type = (p)->side##MemoryType, .host = (p)->side##Host, .device = (p)->side##Device,       \
        .array = (p)->side##Array, .x = (p)->side##XInBytes, .y = (p)->side##Y, .z = (p)->side##Z, \
        .pitch = (p)->side##Pitch, .height = (p)->side##Height, .level = (p)->side##LOD            \
    }

/* Takes both sides of a copy of something, wherever they are. */
static CUresult take_sides(const CUDA_MEMCPY3D *params, struct copy *copy, enum demand *to,
                           enum demand *from)
{
    struct extent *e = &copy->extent;
    *e = (struct extent){params->WidthInBytes, params->Height, params->Depth};
    if (e->width == 0 || e->height == 0 || e->depth == 0) return CUDA_ERROR_INVALID_VALUE;
    TRY(side_of(DESCRIBED_3D(params, dst), e, &copy->to, to));
    return side_of(DESCRIBED_3D(params, src), e, &copy->from, from);
}

/* Finds where both sides of a copy of something are. */
static CUresult place_sides(const CUDA_MEMCPY3D *params, struct copy *copy)
{
    enum demand to, from;
    TRY(take_sides(params, copy, &to, &from));
    TRY(side_find(&copy->to, &copy->extent, to, ROLE_DESTINATION));
    return side_find(&copy->from, &copy->extent, from, ROLE_SOURCE);
}

CUresult copy_check(const CUDA_MEMCPY3D *params)
{
    struct copy copy = {.staged = NULL};
    enum demand to, from;
    return take_sides(params, &copy, &to, &from);
}

CUresult copy_operation(struct context *context, const CUDA_MEMCPY3D *params,
                        struct operation **operation, struct timeline_work *work)
{
    struct copy copy = {.staged = NULL};
    TRY(place_sides(params, &copy));
    flatten(&copy);
    *work = work_of(&copy);
    *operation = make_copy(context->legacy, &copy);
    return *operation != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void copy_describe(const struct operation *operation, CUDA_MEMCPY3D *params)
{
    const struct copy *copy = (const void *)operation->payload;
    const struct side *to = &copy->to, *from = &copy->from;
    *params = (CUDA_MEMCPY3D){
        .srcMemoryType = is_host(from->place) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcHost = is_host(from->place) ? (const void *)(uintptr_t)from->address : NULL,
        .srcDevice = is_host(from->place) ? 0 : from->address,
        .srcPitch = from->pitch,
        .srcHeight = from->pitch > 0 ? from->slice / from->pitch : 0,
        .dstMemoryType = is_host(to->place) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = is_host(to->place) ? (void *)(uintptr_t)to->address : NULL,
        .dstDevice = is_host(to->place) ? 0 : to->address,
        .dstPitch = to->pitch,
        .dstHeight = to->pitch > 0 ? to->slice / to->pitch : 0,
        .WidthInBytes = copy->extent.width,
        .Height = copy->extent.height,
        .Depth = copy->extent.depth,
    };
#define IN_ARRAY(side, in)                                                                         \
    do {                                                                                           \
        if ((in).array == NULL) break;                                                             \
        params->side##MemoryType = CU_MEMORYTYPE_ARRAY;                                            \
        params->side##Array = (in).array;                                                          \
        params->side##XInBytes = (in).x;                                                           \
        params->side##Y = (in).y;                                                                  \
        params->side##Z = (in).z;                                                                  \
        params->side##Device = 0;                                                                  \
        params->side##Pitch = params->side##Height = 0;                                            \
    } while (0)
    IN_ARRAY(src, copy->from_array);
    IN_ARRAY(dst, copy->to_array);
#undef IN_ARRAY
}

static CUresult copy_3d(CUstream stream, const CUDA_MEMCPY3D *p, bool asynchronous)
{
    NEED_POINTER(p);
    return copy_described(stream, DESCRIBED_3D(p, dst), DESCRIBED_3D(p, src),
                          (struct extent){p->WidthInBytes, p->Height, p->Depth}, asynchronous);
}

CUresult driver_cuMemcpy3D(const CUDA_MEMCPY3D *pCopy)
{
    return copy_3d(NULL, pCopy, false);
}

CUresult driver_cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return copy_3d(hStream, pCopy, true);
}

static CUresult copy_3d_peer(CUstream stream, const CUDA_MEMCPY3D_PEER *p, bool asynchronous)
{
    NEED_POINTER(p);
    TRY(check_peers(p->dstContext, p->srcContext));
    return copy_described(stream, DESCRIBED_3D(p, dst), DESCRIBED_3D(p, src),
                          (struct extent){p->WidthInBytes, p->Height, p->Depth}, asynchronous);
}

CUresult driver_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    return copy_3d_peer(NULL, pCopy, false);
}

CUresult driver_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return copy_3d_peer(hStream, pCopy, true);
}

/* ---- byte ranges of arrays ---------------------------------------------------------------- */

/* A range of an array's bytes, which may continue in the next row; then it is no box. */
static CUresult side_of_run(CUarray handle, size_t offset, size_t size, struct side *side,
                            struct in_array *in)
{
    if (size == 0) return CUDA_SUCCESS;
    if (handle == NULL) return CUDA_ERROR_INVALID_VALUE;
    const struct array *array = array_find(handle);
    if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (size > array->region->size || offset > array->region->size - size)
        return CUDA_ERROR_INVALID_VALUE;
    /* These functions are for arrays of one dimension: an H200 takes no run into the next row.
     * Whole rows were not asked. */
    const size_t begin = offset % array->row_bytes;
    if (begin + size > array->row_bytes && (begin != 0 || size % array->row_bytes != 0))
        return CUDA_ERROR_INVALID_VALUE;
    *side = (struct side){array->region->address + offset, size, size, TRACE_PLACE_NONE};
    const size_t x = offset % array->row_bytes, row = offset / array->row_bytes;
    if (size <= array->row_bytes - x)
        *in = (struct in_array){handle, x, row % array->rows, row / array->rows};
    return CUDA_SUCCESS;
}

static CUresult copy_to_array(CUstream stream, CUarray array, size_t offset, uint64_t from,
                              enum demand demand, size_t size, bool asynchronous)
{
    struct copy copy = {.from = {from, size, size, TRACE_PLACE_NONE}, .extent = {size, 1, 1}};
    TRY(side_of_run(array, offset, size, &copy.to, &copy.to_array));
    return submit_copy(stream, &copy, ARRAY_SIDE, demand, asynchronous);
}

static CUresult copy_from_array(CUstream stream, uint64_t to, enum demand demand, CUarray array,
                                size_t offset, size_t size, bool asynchronous)
{
    struct copy copy = {.to = {to, size, size, TRACE_PLACE_NONE}, .extent = {size, 1, 1}};
    TRY(side_of_run(array, offset, size, &copy.from, &copy.from_array));
    return submit_copy(stream, &copy, demand, ARRAY_SIDE, asynchronous);
}

CUresult driver_cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void *srcHost,
                             size_t ByteCount)
{
    return copy_to_array(NULL, dstArray, dstOffset, address_of(srcHost), HOST_SIDE, ByteCount,
                         false);
}

CUresult driver_cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void *srcHost,
                                  size_t ByteCount, CUstream hStream)
{
    return copy_to_array(hStream, dstArray, dstOffset, address_of(srcHost), HOST_SIDE, ByteCount,
                         true);
}

CUresult driver_cuMemcpyAtoH(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return copy_from_array(NULL, address_of(dstHost), HOST_SIDE, srcArray, srcOffset, ByteCount,
                           false);
}

CUresult driver_cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, size_t srcOffset,
                                  size_t ByteCount, CUstream hStream)
{
    return copy_from_array(hStream, address_of(dstHost), HOST_SIDE, srcArray, srcOffset, ByteCount,
                           true);
}

CUresult driver_cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                             size_t ByteCount)
{
    return copy_to_array(NULL, dstArray, dstOffset, srcDevice, DEVICE_SIDE, ByteCount, false);
}

CUresult driver_cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount)
{
    return copy_from_array(NULL, dstDevice, DEVICE_SIDE, srcArray, srcOffset, ByteCount, false);
}

CUresult driver_cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount)
{
    struct side from;
    struct in_array in;
    TRY(side_of_run(srcArray, srcOffset, ByteCount, &from, &in));
    return copy_to_array(NULL, dstArray, dstOffset, from.address, ARRAY_SIDE, ByteCount, false);
}
