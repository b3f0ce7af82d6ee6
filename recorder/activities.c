/* Copies, memsets and kernels, which CUPTI delivers in buffers some time after the work was done,
 * on a thread of its own. */
#include "recorder/recorder.h"

#include <cupti.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUFFER_BYTES ((size_t)4 << 20)
#define ALIASES 8192 /* a power of two */

static struct {
    pthread_mutex_t lock;
    /* nested -> outer, the newest in each slot. Slots are reused after 8192 calls; by then the
     * records of the older calls have arrived. */
    struct {
        uint32_t nested, outer;
    } aliases[ALIASES];
    uint32_t refused[ALIASES]; /* calls that returned an error, likewise */
    uint64_t unstamped; /* records without times, which are left out, of what was not refused */
} activities = {.lock = PTHREAD_MUTEX_INITIALIZER};

void activities_alias(uint32_t nested, uint32_t outer)
{
    pthread_mutex_lock(&activities.lock);
    activities.aliases[nested % ALIASES].nested = nested;
    activities.aliases[nested % ALIASES].outer = outer;
    pthread_mutex_unlock(&activities.lock);
}

void activities_refused(uint32_t correlation)
{
    pthread_mutex_lock(&activities.lock);
    activities.refused[correlation % ALIASES] = correlation;
    pthread_mutex_unlock(&activities.lock);
}

static uint64_t request_of(uint32_t correlation)
{
    uint64_t request = correlation;
    pthread_mutex_lock(&activities.lock);
    if (activities.aliases[correlation % ALIASES].nested == correlation)
        request = activities.aliases[correlation % ALIASES].outer;
    pthread_mutex_unlock(&activities.lock);
    return request;
}

static uint32_t place_of(uint8_t memory_kind)
{
    switch (memory_kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
        return TRACE_PAGEABLE;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
        return TRACE_PINNED;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
        return TRACE_DEVICE;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
        return TRACE_ARRAY;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
        return TRACE_MANAGED;
    default:
        return TRACE_PLACE_NONE;
    }
}

/* CUPTI delivers a time of 0 if it could not take one, and also for a launch that was refused,
 * which is no operation. */
static bool is_stamped(const struct trace_record *record)
{
    const bool stamped = record->start_ns != 0 && record->end_ns != 0;
    const uint64_t request = record->request; /* 0: of no call */

    pthread_mutex_lock(&activities.lock);
    activities.unstamped +=
        !stamped && (request == 0 || activities.refused[request % ALIASES] != request);
    pthread_mutex_unlock(&activities.lock);
    return stamped;
}

static void put_kernel(const CUpti_ActivityKernel10 *kernel)
{
    uint64_t blocks = (uint64_t)kernel->gridX * (uint64_t)kernel->gridY * (uint64_t)kernel->gridZ;
    uint64_t threads =
        (uint64_t)kernel->blockX * (uint64_t)kernel->blockY * (uint64_t)kernel->blockZ;
    struct trace_record record = {
        .kind = TRACE_OPERATION,
        .what = TRACE_KERNEL,
        .flags = TRACE_ASYNC,
        .context = kernel->contextId,
        .stream = recorder_stream_number(kernel->contextId, kernel->streamId),
        .request = request_of(kernel->correlationId),
        .start_ns = kernel->start,
        .end_ns = kernel->end,
        .count = blocks * threads,
    };
    trace_copy_string(record.name, sizeof record.name, kernel->name != NULL ? kernel->name : "");
    if (is_stamped(&record)) recorder_put(&record);
}

/* A copy between devices without direct access goes through the host, in two halves: that of the
 * device with the source, and that of the other one, which counts. Both name device memory on both
 * sides (as seen of two H200s: tests/recorder/peer_activities.cu). */
static bool is_first_half(const CUpti_ActivityMemcpy6 *copy)
{
    return copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH &&
           copy->dstKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

/* The structures for copies of both kinds call their fields alike. */
#define RECORD_OF_COPY(copy)                                                                       \
    {                                                                                              \
        .kind = TRACE_OPERATION, .what = TRACE_COPY,                                               \
        .flags = (copy)->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC ? TRACE_ASYNC : 0,               \
        .from = place_of((copy)->srcKind), .to = place_of((copy)->dstKind),                        \
        .context = (copy)->contextId,                                                              \
        .stream = recorder_stream_number((copy)->contextId, (copy)->streamId),                     \
        .request = request_of((copy)->correlationId), .start_ns = (copy)->start,                   \
        .end_ns = (copy)->end, .bytes = (copy)->bytes,                                             \
    }

static void put_copy(const CUpti_ActivityMemcpy6 *copy)
{
    struct trace_record record = RECORD_OF_COPY(copy);
    if (!is_first_half(copy) && is_stamped(&record)) recorder_put(&record);
}

/* A copy between devices with direct access. */
static void put_peer_copy(const CUpti_ActivityMemcpyPtoP4 *copy)
{
    struct trace_record record = RECORD_OF_COPY(copy);
    if (is_stamped(&record)) recorder_put(&record);
}

static void put_set(const CUpti_ActivityMemset4 *set)
{
    struct trace_record record = {
        .kind = TRACE_OPERATION,
        .what = TRACE_SET,
        .flags = set->flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC ? TRACE_ASYNC : 0,
        .to = place_of((uint8_t)set->memoryKind),
        .context = set->contextId,
        .stream = recorder_stream_number(set->contextId, set->streamId),
        .request = request_of(set->correlationId),
        .start_ns = set->start,
        .end_ns = set->end,
        .bytes = set->bytes,
    };
    if (is_stamped(&record)) recorder_put(&record);
}

static void CUPTIAPI on_buffer_requested(uint8_t **buffer, size_t *size, size_t *records)
{
    *size = BUFFER_BYTES;
    *records = 0; /* as many as fit */
    *buffer = aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, BUFFER_BYTES);
    if (*buffer == NULL) *size = 0;
}

static void CUPTIAPI on_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
                                         size_t size, size_t valid)
{
    CUpti_Activity *activity = NULL;
    size_t dropped = 0;

    (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &activity) == CUPTI_SUCCESS) {
        /* The record's type follows from its kind; CUPTI aligns all of them. */
        const void *record = activity;
        switch (activity->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        case CUPTI_ACTIVITY_KIND_KERNEL:
            put_kernel(record);
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            put_copy(record);
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            put_peer_copy(record);
            break;
        case CUPTI_ACTIVITY_KIND_MEMSET:
            put_set(record);
            break;
        default:
            break;
        }
    }
    if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS &&
        dropped > 0)
        recorder_setting(RECORDER_DROPPED, "activity records that CUPTI had no room for", dropped);
    pthread_mutex_lock(&activities.lock);
    const uint64_t unstamped = activities.unstamped;
    activities.unstamped = 0;
    pthread_mutex_unlock(&activities.lock);
    if (unstamped > 0)
        recorder_setting(RECORDER_UNSTAMPED, "activity records without a time", unstamped);
    free(buffer);
}

/* KIND_KERNEL would serialise kernels. */
static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                           CUPTI_ACTIVITY_KIND_MEMSET};

static int say_why(CUptiResult result, const char **why)
{
    if (cuptiGetResultString(result, why) != CUPTI_SUCCESS) *why = "unknown";
    return -1;
}

int activities_go_on(bool on, const char **why)
{
    CUptiResult result = CUPTI_SUCCESS;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && result == CUPTI_SUCCESS; i++)
        result = on ? cuptiActivityEnable(kinds[i]) : cuptiActivityDisable(kinds[i]);
    return result == CUPTI_SUCCESS ? 0 : say_why(result, why);
}

int activities_start(const char **why)
{
    const CUptiResult result =
        cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed);

    if (result == CUPTI_SUCCESS) return activities_go_on(true, why);
    return say_why(result, why);
}

void activities_flush(int all)
{
    cuptiActivityFlushAll(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : CUPTI_ACTIVITY_FLAG_NONE);
}
