/* Values in memory that a stream writes or waits for: single ones, and batches, which a graph holds
 * as one node each. */
#include "emulator/base/hash.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/parts.h"

#include <string.h>

enum {
    MOST = 256,        /* operations of a batch */
    TOLD_AFTER_S = 10, /* who waits for so long is told of, and fails if the writer is over */
    ASK_EACH_MS = 100, /* whether it is */
    NS_PER_MS = 1000000,
};

/* Payload of a batch's operation. */
struct values {
    unsigned count;
    unsigned done; /* operations that have run: the next one may wait */
    struct {
        uint64_t since_ns; /* 0: none waits */
        uint64_t asked_ns; /* whether its writer is over */
        bool is_over, is_missed, is_told;
    } wait;      /* of the one that waits */
    bool ranked; /* the waits are rank `who`'s for rank `whom` */
    uint32_t who, whom;
    CUstreamBatchMemOpParams ops[];
};

/* What an operation of a batch does; the fields of a wait and of a write lie at the same places. */
static const struct value_kind {
    unsigned size; /* bytes of the value; 0: it has none */
    bool known, waits;
} kinds[] = {
    [CU_STREAM_MEM_OP_WAIT_VALUE_32] = {.size = 4, .known = true, .waits = true},
    [CU_STREAM_MEM_OP_WRITE_VALUE_32] = {.size = 4, .known = true},
    [CU_STREAM_MEM_OP_WAIT_VALUE_64] = {.size = 8, .known = true, .waits = true},
    [CU_STREAM_MEM_OP_WRITE_VALUE_64] = {.size = 8, .known = true},
    /* Operations of a stream are in order anyway. */
    [CU_STREAM_MEM_OP_BARRIER] = {.known = true},
};

/* The latest value that a stream wrote to each place, and each value to one of private memory, as
 * far as there is room for them. */
enum { PLACES = 1024 };
static struct {
    struct written {
        uint64_t memory, offset, value; /* `memory`: the region's id */
        struct timeline_op *op;         /* a reference; NULL: no entry */
    } written[PLACES];
} places;

static struct values *values_of(const struct operation *operation)
{
    return (struct values *)(uintptr_t)operation->payload;
}

/* The allocation that has the value's bytes: NULL if none has, or a managed one, which an H200
 * refuses. */
static const struct memory_region *region_of(const CUstreamBatchMemOpParams *op, unsigned size)
{
    const uint64_t address = op->waitValue.address;
    const struct memory_region *region = memory_find(address);
    if (region == NULL || region->kind == MEMORY_MANAGED ||
        region->address + region->size < address + size)
        return NULL;
    return region;
}

/* The value that is written or waited for. */
static uint64_t value_of(const CUstreamBatchMemOpParams *op, unsigned size)
{
    return size == 4 ? op->waitValue.value : op->waitValue.value64;
}

/* ---- checks ------------------------------------------------------------------------------ */

static CUresult check_op(const CUstreamBatchMemOpParams *op)
{
    if ((size_t)op->operation >= sizeof kinds / sizeof *kinds || !kinds[op->operation].known)
        return CUDA_ERROR_INVALID_VALUE;
    const struct value_kind *kind = &kinds[op->operation];
    if (kind->size == 0) return CUDA_SUCCESS;
    /* An H200 has no writes without a barrier (CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER). */
    const unsigned most = kind->waits ? CU_STREAM_WAIT_VALUE_NOR : CU_STREAM_WRITE_VALUE_DEFAULT;
    const unsigned beside = kind->waits ? CU_STREAM_WAIT_VALUE_FLUSH : 0;
    if (op->waitValue.flags & beside) return CUDA_ERROR_NOT_SUPPORTED; /* CAN_FLUSH_REMOTE_WRITES */
    return op->waitValue.flags > most || op->waitValue.address % kind->size != 0 ||
                   region_of(op, kind->size) == NULL
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

static CUresult check_batch(const CUstreamBatchMemOpParams *ops, unsigned count, unsigned flags)
{
    if ((ops == NULL && count > 0) || count > MOST || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) TRY(check_op(&ops[i]));
    return CUDA_SUCCESS;
}

/* ---- running ----------------------------------------------------------------------------- */

static uint64_t value_at(const void *bytes, unsigned size)
{
    return size == 4 ? __atomic_load_n((const uint32_t *)bytes, __ATOMIC_ACQUIRE)
                     : __atomic_load_n((const uint64_t *)bytes, __ATOMIC_ACQUIRE);
}

static bool has_come(const CUstreamBatchMemOpParams *op, unsigned size, uint64_t have)
{
    const uint64_t want = value_of(op, size);
    const uint64_t all = size == 4 ? UINT32_MAX : UINT64_MAX;
    switch (op->waitValue.flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return size == 4 ? (int32_t)((uint32_t)have - (uint32_t)want) >= 0
                         : (int64_t)(have - want) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return have == want;
    case CU_STREAM_WAIT_VALUE_AND:
        return (have & want) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return (~(have | want) & all) != 0;
    default:
        return true;
    }
}

/* ---- who wrote it ------------------------------------------------------------------------ */

/* Returns the entry of a value at the place, which may hold another one. */
static struct written *entry_of(const struct memory_region *region, uint64_t offset, uint64_t value)
{
    uint64_t hash = hash_add(hash_add(HASH_START, region->id), offset);
    if (region->is_private) hash = hash_add(hash, value);
    return &places.written[hash % PLACES];
}

static void note_write(const struct operation *operation, const struct memory_region *region,
                       uint64_t offset, uint64_t value)
{
    struct written *entry = entry_of(region, offset, value);
    timeline_op_release(entry->op);
    *entry = (struct written){region->id, offset, value, timeline_op_retain(operation->op)};
}

/* The wait for `wanted` has read `value`. If a stream has written it, the wait follows that write;
 * the host, which may have written the same, is followed as well. Otherwise nobody knows what led
 * to it. In private memory only the write of the value that was wanted counts, though the writer
 * may have written more since: another process's has no order with anything here. */
static void follow_writer(const struct operation *operation, const struct memory_region *region,
                          uint64_t offset, uint64_t wanted, uint64_t value)
{
    const uint64_t meant = region->is_private ? wanted : value;
    const struct written *entry = entry_of(region, offset, meant);
    const bool is_known = entry->op != NULL && entry->memory == region->id &&
                          entry->offset == offset && entry->value == meant;
    if (is_known) timeline_join(operation->op, entry->op);
    if (region->is_private) return;
    if (is_known)
        timeline_op_follows_host(operation->op);
    else
        timeline_op_follows_all(operation->op);
}

/* Runs one operation of the batch. */
static enum timeline_ran run_op(struct operation *operation, const CUstreamBatchMemOpParams *op)
{
    const struct value_kind *kind = &kinds[op->operation];
    if (kind->size == 0) return TIMELINE_RAN;
    const struct memory_region *region = region_of(op, kind->size);
    if (region == NULL) {
        struct trace_record found =
            finding_at_work(FINDING_VALUE_AFTER_FREE, &operation->record, operation->stream_caller);
        found.code = CUDA_ERROR_ILLEGAL_ADDRESS;
        finding_address(&found, op->waitValue.address);
        return operation_fail(operation, &found);
    }
    const uint64_t offset = op->waitValue.address - region->address;
    const uint64_t value = value_of(op, kind->size);
    void *bytes = region->bytes + offset;
    if (kind->waits) {
        const uint64_t have = value_at(bytes, kind->size);
        if (!has_come(op, kind->size, have)) return TIMELINE_NOT_YET;
        follow_writer(operation, region, offset, value, have);
        return TIMELINE_RAN;
    }
    if (!region->is_private) {
        findings_value(operation, op->writeValue.address, kind->size);
        findings_communicates(operation->op); /* before the host can see it */
    }
    if (kind->size == 4)
        __atomic_store_n((uint32_t *)bytes, (uint32_t)value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint64_t *)bytes, value, __ATOMIC_RELEASE);
    note_write(operation, region, offset, value);
    return TIMELINE_RAN;
}

/* Asks whether the rank that is waited for is over. It may have written before it ended: what
 * is missing after the answer is missing for ever. */
static void ask_for_writer(const CUstreamBatchMemOpParams *op, struct values *values, uint64_t now)
{
    const struct memory_region *region = region_of(op, kinds[op->operation].size);
    if (region == NULL || region->writers == NULL || !values->ranked) return;
    if (values->wait.is_over && !values->wait.is_missed)
        region->writers->is_missed(region->writers_user);
    values->wait.is_missed = values->wait.is_over;
    if (values->wait.is_over || now - values->wait.asked_ns < (uint64_t)ASK_EACH_MS * NS_PER_MS)
        return;
    values->wait.asked_ns = now;
    values->wait.is_over = region->writers->is_over(region->writers_user, values->whom);
}

/* Tells of a wait that has lasted long: it may be right, but nobody sees otherwise why the program
 * stands still. One whose writer is over fails. */
static enum timeline_ran look_at_wait(struct operation *operation, struct values *values)
{
    const uint64_t now = monotonic_ns();
    const CUstreamBatchMemOpParams *op = &values->ops[values->done];
    if (values->wait.since_ns == 0) values->wait.since_ns = values->wait.asked_ns = now;
    ask_for_writer(op, values, now);
    const bool is_long = now - values->wait.since_ns >= (uint64_t)TOLD_AFTER_S * 1000 * NS_PER_MS;
    const bool is_missed = values->wait.is_missed;
    if (!is_long || (values->wait.is_told && !is_missed)) return TIMELINE_NOT_YET;
    struct trace_record found = finding_at_work(is_missed        ? FINDING_RANK_GONE
                                                : values->ranked ? FINDING_RANK_NOT_COME
                                                                 : FINDING_VALUE_NOT_WRITTEN,
                                                &operation->record, operation->stream_caller);
    finding_address(&found, op->waitValue.address);
    found.finding.numbers[0] = TOLD_AFTER_S;
    found.finding.numbers[1] = values->who;
    found.finding.numbers[2] = values->whom;
    found.code = is_missed ? CUDA_ERROR_EXTERNAL_DEVICE : CUDA_SUCCESS;
    if (is_missed) return operation_fail(operation, &found);
    finding_put(&found);
    values->wait.is_told = true;
    return TIMELINE_NOT_YET;
}

static enum timeline_ran run_values(struct operation *operation)
{
    struct values *values = values_of(operation);
    for (; values->done < values->count; values->done++) {
        if (run_op(operation, &values->ops[values->done]) != TIMELINE_RAN)
            return look_at_wait(operation, values);
        memset(&values->wait, 0, sizeof values->wait);
    }
    return TIMELINE_RAN;
}

/* ---- operations -------------------------------------------------------------------------- */

/* Makes the operation of a batch that was checked; NULL: no memory. */
static struct operation *make_values(const struct stream *stream,
                                     const CUstreamBatchMemOpParams *ops, unsigned count,
                                     struct timeline_work *work)
{
    *work = (struct timeline_work){.kind = TIMELINE_MARK};
    for (unsigned i = 0; i < count; i++) {
        if (kinds[ops[i].operation].size > 0) findings_given(ops[i].waitValue.address);
        work->waits |= kinds[ops[i].operation].waits;
    }
    struct operation *operation =
        operation_make(stream, TRACE_WHAT_NONE, sizeof(struct values) + count * sizeof *ops);
    if (operation == NULL) return NULL;
    values_of(operation)->count = count;
    values_of(operation)->ranked = thread.call.ranked;
    values_of(operation)->who = thread.call.who;
    values_of(operation)->whom = thread.call.whom;
    memcpy(values_of(operation)->ops, ops, count * sizeof *ops);
    operation->run = run_values;
    return operation;
}

CUresult values_operation(struct context *context, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params,
                          struct operation **operation, struct timeline_work *work)
{
    TRY(check_batch(params->paramArray, params->count, params->flags));
    *operation = make_values(context->legacy, params->paramArray, params->count, work);
    return *operation != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool values_describe(const struct operation *operation, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params)
{
    if (operation->run != run_values) return false;
    struct values *values = values_of(operation);
    *params = (CUDA_BATCH_MEM_OP_NODE_PARAMS_v2){
        .ctx = (CUcontext)operation->context, .count = values->count, .paramArray = values->ops};
    return true;
}

bool values_are_like(const struct operation *operation, const struct operation *other)
{
    const struct values *a = values_of(operation), *b = values_of(other);
    if (operation->context != other->context || a->count != b->count) return false;
    for (unsigned i = 0; i < a->count; i++)
        if (a->ops[i].operation != b->ops[i].operation) return false;
    return true;
}

/* ---- functions of the API ---------------------------------------------------------------- */

/* Nothing is submitted of a batch of which an operation is wrong. */
CUresult driver_cuStreamBatchMemOp(CUstream handle, unsigned int count,
                                   CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    struct stream *stream;
    struct timeline_work work;
    TRY(stream_for_work(handle, &stream));
    TRY(check_batch(paramArray, count, flags));
    if (count == 0) return CUDA_SUCCESS;
    return operation_submit(make_values(stream, paramArray, count, &work), stream, &work, NULL,
                            NULL);
}

#define SINGLE(kind, KIND, bits, field, member)                                                    \
    CUresult driver_cuStream##kind##Value##bits(CUstream stream, CUdeviceptr addr,                 \
                                                cuuint##bits##_t value, unsigned int flags)        \
    {                                                                                              \
        CUstreamBatchMemOpParams op = {                                                            \
            .field = {CU_STREAM_MEM_OP_##KIND##_VALUE_##bits, addr, {.member = value}, flags, 0}}; \
        return driver_cuStreamBatchMemOp(stream, 1, &op, 0);                                       \
    }
SINGLE(Wait, WAIT, 32, waitValue, value)
SINGLE(Wait, WAIT, 64, waitValue, value64)
SINGLE(Write, WRITE, 32, writeValue, value)
SINGLE(Write, WRITE, 64, writeValue, value64)
#undef SINGLE
