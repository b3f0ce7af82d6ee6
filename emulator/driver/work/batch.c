/* Batches: copies, prefetches and discards of many ranges in one call. Each range is handled like a
 * single call. That a batch promises no order among its ranges matters only to race checking. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/driver/work/work.h"

#include <stdlib.h>

/* Checks the stream of a batch, which must not be the legacy default stream. */
static CUresult batch_stream(CUstream handle, struct stream **stream)
{
    TRY(stream_for_work(handle, stream));
    if (*stream != (*stream)->object.context->legacy) return CUDA_SUCCESS;
    return finding_tell(FINDING_BATCH_IN_DEFAULT_STREAM, CUDA_ERROR_INVALID_VALUE, "%s", "");
}

/* Checks that `indexes` divide `count` entries into runs, each with its own setting. */
static CUresult check_runs(const size_t *indexes, size_t runs, size_t count)
{
    if (runs == 0 || runs > count || indexes == NULL || indexes[0] != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 1; i < runs; i++)
        if (indexes[i] <= indexes[i - 1] || indexes[i] >= count) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* ---- copies ------------------------------------------------------------------------------ */

/* No graph holds such copies: an H200 refuses them, and the capture goes on. */
static CUresult check_capture(const struct stream *stream)
{
    return stream->captured != NULL ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

static CUresult check_order(CUmemcpySrcAccessOrder order, unsigned flags)
{
    if (order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
        return CUDA_ERROR_INVALID_VALUE;
    return flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE ? CUDA_ERROR_INVALID_VALUE
                                                                         : CUDA_SUCCESS;
}

/* Sources that are read in the order of the stream, or whenever, must stay until they are. */
static bool is_late(CUmemcpySrcAccessOrder order)
{
    return order != CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
}

/* Waits for the copies if the sources may be freed as soon as the call returns. */
static CUresult finish_sources(bool during_call, CUstream stream)
{
    return during_call ? driver_cuStreamSynchronize(stream) : CUDA_SUCCESS;
}

CUresult driver_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                   size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                                   size_t numAttrs, size_t *failIdx, CUstream hStream)
{
    struct stream *stream;
    bool during_call = false;
    if (failIdx != NULL) *failIdx = SIZE_MAX;
    TRY(batch_stream(hStream, &stream));
    if (count == 0 || dsts == NULL || srcs == NULL || sizes == NULL || attrs == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    TRY(check_runs(attrsIdxs, numAttrs, count));
    TRY(check_capture(stream));
    for (size_t i = 0; i < numAttrs; i++) {
        TRY(check_order(attrs[i].srcAccessOrder, attrs[i].flags));
        during_call |= !is_late(attrs[i].srcAccessOrder);
    }
    for (size_t i = 0, run = 0; i < count; i++) {
        if (run + 1 < numAttrs && attrsIdxs[run + 1] == i) run++;
        thread.reads_late = is_late(attrs[run].srcAccessOrder);
        CUresult code = sizes[i] > 0 ? driver_cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream)
                                     : CUDA_ERROR_INVALID_VALUE;
        thread.reads_late = false;
        if (code == CUDA_SUCCESS) continue;
        if (failIdx != NULL) *failIdx = i;
        return code;
    }
    return finish_sources(during_call, hStream);
}

CUresult driver_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                      size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                                      size_t numAttrs, CUstream hStream)
{
    return driver_cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL,
                                     hStream);
}

/* Bytes per unit of an operand's extent: an array's texel size, or 1 for a pointer. 0: an invalid
 * operand. */
static size_t operand_element(const CUmemcpy3DOperand *operand)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER) return 1;
    const struct array *array =
        operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? array_find(operand->op.array.array) : NULL;
    return array != NULL ? array->texel_bytes : 0;
}

/* CUDA_MEMCPY3D has the same fields for both sides, with different prefixes. */
#define SET_SIDE(copy, side, operand, element)                                                     \
    do {                                                                                           \
        if ((operand)->type == CU_MEMCPY_OPERAND_TYPE_POINTER) {                                   \
            (copy)->side##MemoryType = CU_MEMORYTYPE_UNIFIED;                                      \
            (copy)->side##Device = (operand)->op.ptr.ptr;                                          \
            (copy)->side##Pitch = (operand)->op.ptr.rowLength * (element);                         \
            (copy)->side##Height = (operand)->op.ptr.layerHeight;                                  \
        } else {                                                                                   \
            (copy)->side##MemoryType = CU_MEMORYTYPE_ARRAY;                                        \
            (copy)->side##Array = (operand)->op.array.array;                                       \
            (copy)->side##XInBytes = (operand)->op.array.offset.x * (element);                     \
            (copy)->side##Y = (operand)->op.array.offset.y;                                        \
            (copy)->side##Z = (operand)->op.array.offset.z;                                        \
        }                                                                                          \
    } while (0)

/* Describes a copy as a single call does, and checks the description. */
static CUresult describe_one(const CUDA_MEMCPY3D_BATCH_OP *op, CUDA_MEMCPY3D *copy)
{
    const size_t from = operand_element(&op->src), to = operand_element(&op->dst);
    const bool arrays = op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY &&
                        op->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
    const size_t element = from > to ? from : to;
    if (from == 0 || to == 0 || (arrays && from != to)) return CUDA_ERROR_INVALID_VALUE;
    if (op->extent.width > SIZE_MAX / element) return CUDA_ERROR_INVALID_VALUE;
    *copy = (CUDA_MEMCPY3D){.WidthInBytes = op->extent.width * element,
                            .Height = op->extent.height,
                            .Depth = op->extent.depth};
    TRY(check_order(op->srcAccessOrder, op->flags));
    SET_SIDE(copy, src, &op->src, element);
    SET_SIDE(copy, dst, &op->dst, element);
    return copy_check(copy);
}

/* Either all are described well or none is submitted; but one whose memory is not there ends the
 * batch behind those before it, as on an H200. */
static CUresult copy_all(const CUDA_MEMCPY3D_BATCH_OP *ops, CUDA_MEMCPY3D *copies, size_t count,
                         size_t *failed, CUstream stream)
{
    for (*failed = 0; *failed < count; ++*failed)
        TRY(describe_one(&ops[*failed], &copies[*failed]));
    for (*failed = 0; *failed < count; ++*failed) {
        thread.reads_late = is_late(ops[*failed].srcAccessOrder);
        const CUresult code = driver_cuMemcpy3DAsync(&copies[*failed], stream);
        thread.reads_late = false;
        TRY(code);
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                     unsigned long long flags, CUstream hStream)
{
    struct stream *stream;
    bool during_call = false;
    size_t failed;
    if (failIdx != NULL) *failIdx = SIZE_MAX;
    TRY(batch_stream(hStream, &stream));
    if (numOps == 0 || opList == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    TRY(check_capture(stream));
    CUDA_MEMCPY3D *copies = calloc(numOps, sizeof *copies);
    if (copies == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult code = copy_all(opList, copies, numOps, &failed, hStream);
    free(copies);
    if (code != CUDA_SUCCESS && failIdx != NULL) *failIdx = failed;
    TRY(code);
    for (size_t i = 0; i < numOps; i++) during_call |= !is_late(opList[i].srcAccessOrder);
    return finish_sources(during_call, hStream);
}

CUresult driver_cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                                        unsigned long long flags, CUstream hStream)
{
    return driver_cuMemcpy3DBatchAsync(numOps, opList, NULL, flags, hStream);
}

/* ---- managed memory ---------------------------------------------------------------------- */

CUresult driver_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                        CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                        size_t numPrefetchLocs, unsigned long long flags,
                                        CUstream hStream)
{
    struct stream *stream;
    TRY(batch_stream(hStream, &stream));
    if (count == 0 || dptrs == NULL || sizes == NULL || prefetchLocs == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    TRY(check_runs(prefetchLocIdxs, numPrefetchLocs, count));
    for (size_t i = 0, run = 0; i < count; i++) {
        if (run + 1 < numPrefetchLocs && prefetchLocIdxs[run + 1] == i) run++;
        TRY(driver_cuMemPrefetchAsync_v2(dptrs[i], sizes[i], prefetchLocs[run], 0, hStream));
    }
    return CUDA_SUCCESS;
}

/* Discarded memory has undefined contents, so it is poisoned. */
CUresult driver_cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                       unsigned long long flags, CUstream hStream)
{
    struct stream *stream;
    TRY(batch_stream(hStream, &stream));
    if (count == 0 || dptrs == NULL || sizes == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (stream->captured != NULL)
        return capture_invalidate(stream->captured->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                  FINDING_CAPTURE_UNKNOWN_WORK);
    for (size_t i = 0; i < count; i++) {
        const struct memory_region *region = memory_find(dptrs[i]);
        if (region == NULL || region->kind != MEMORY_MANAGED) return CUDA_ERROR_INVALID_VALUE;
        TRY(driver_cuMemsetD8Async(dptrs[i], MEMORY_POISON, sizes[i], hStream));
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                                  CUmemLocation *prefetchLocs,
                                                  size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                                  unsigned long long flags, CUstream hStream)
{
    TRY(driver_cuMemDiscardBatchAsync(dptrs, sizes, count, flags, hStream));
    return driver_cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
                                          numPrefetchLocs, flags, hStream);
}
