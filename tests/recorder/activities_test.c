/* How the recorder handles CUPTI's failures: records without a time, dropped records, unavailable
 * kinds. This file is a stand-in for CUPTI. */
#include "recorder/recorder.h"

#include <check.h>
#include <cupti.h>
#include <stdlib.h>
#include <string.h>

/* ---- CUPTI, with faults -----------------------------------------------------------------------
 */

static struct {
    CUpti_BuffersCallbackRequestFunc requested;
    CUpti_BuffersCallbackCompleteFunc completed;
    CUpti_Activity *records[4]; /* the records that it delivers */
    size_t count, next;
    size_t dropped;
    CUpti_ActivityKind refused;
    unsigned enabled; /* a set of kinds */
} faked;

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    faked.requested = requested;
    faked.completed = completed;
    return CUPTI_SUCCESS;
}

static CUptiResult set_kind(CUpti_ActivityKind kind, unsigned enabled)
{
    const unsigned bit = 1u << kind;
    if (kind == faked.refused) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    faked.enabled = (faked.enabled & ~bit) | enabled * bit;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return set_kind(kind, 1);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    return set_kind(kind, 0);
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "no privilege" : "another reason";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    (void)buffer;
    (void)valid;
    if (faked.next == faked.count) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = faked.records[faked.next++];
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = faked.dropped;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    return CUPTI_SUCCESS;
}

/* ---- what the recorder writes -----------------------------------------------------------------
 */

static struct {
    struct trace_record records[8];
    size_t count;
} put;

void recorder_put(const struct trace_record *record)
{
    ck_assert_uint_lt(put.count, 8);
    put.records[put.count++] = *record;
}

void recorder_setting(const char *name, const char *text, uint64_t number)
{
    struct trace_record record = {.kind = TRACE_SETTING, .bytes = number};
    trace_copy_string(record.name, sizeof record.name, name);
    trace_copy_string(record.text, sizeof record.text, text);
    recorder_put(&record);
}

uint64_t recorder_stream_number(uint32_t context, uint32_t stream)
{
    return (uint64_t)context << 32 | stream;
}

/* Delivers the first `count` of the faked records. */
static void deliver_records(size_t count, size_t dropped)
{
    uint8_t *buffer = NULL;
    size_t size = 0, records = 0;

    faked.count = count;
    faked.next = 0;
    faked.dropped = dropped;
    put.count = 0;
    faked.requested(&buffer, &size, &records);
    ck_assert_uint_gt(size, 0);
    faked.completed(NULL, 0, buffer, size, size); /* which frees it */
}

static uint32_t kernels_call; /* its correlation number */

/* Delivers a kernel and a copy with these times. */
static void deliver(uint64_t kernel_start, uint64_t copy_end, size_t dropped)
{
    CUpti_ActivityKernel10 kernel;
    CUpti_ActivityMemcpy6 copy;

    memset(&kernel, 0, sizeof kernel);
    memset(&copy, 0, sizeof copy);
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = kernel_start;
    kernel.end = kernel_start > 0 ? kernel_start + 10 : 0;
    kernel.name = "scale";
    kernel.correlationId = kernels_call;
    kernel.gridX = kernel.gridY = kernel.gridZ = 1;
    kernel.blockX = 64;
    kernel.blockY = kernel.blockZ = 1;
    copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    copy.start = copy_end > 0 ? copy_end - 5 : 0;
    copy.end = copy_end;
    copy.bytes = 4096;
    copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    faked.records[0] = (void *)&kernel;
    faked.records[1] = (void *)&copy;
    deliver_records(2, dropped);
}

/* The kernel of a launch by a driver call within a runtime call, or of a driver call alone. */
enum { OUTER = 8192 + 5, INNER = 8192 + 6, ALONE = 5 };

static void start(void)
{
    const char *why = NULL;
    ck_assert_int_eq(activities_start(&why), 0);
}

START_TEST(records_with_times_are_put)
{
    start();
    deliver(1000, 900, 0);
    ck_assert_uint_eq(put.count, 2);
    ck_assert_uint_eq(put.records[0].what, TRACE_KERNEL);
    ck_assert_uint_eq(put.records[0].count, 64);
    ck_assert_uint_eq(put.records[0].end_ns, 1010);
    ck_assert_uint_eq(put.records[1].what, TRACE_COPY);
    ck_assert_uint_eq(put.records[1].from, TRACE_PINNED);
}
END_TEST

START_TEST(records_without_times_are_left_out_and_counted)
{
    start();
    deliver(0, 900, 0);
    ck_assert_uint_eq(put.count, 2);
    ck_assert_uint_eq(put.records[0].what, TRACE_COPY);
    ck_assert_str_eq(put.records[1].name, RECORDER_UNSTAMPED);
    ck_assert_uint_eq(put.records[1].bytes, 1);
    deliver(1000, 900, 0); /* and only once */
    ck_assert_uint_eq(put.count, 2);
}
END_TEST

/* CUPTI delivers a kernel without times for a launch that was refused. */
START_TEST(what_was_refused_is_not_missing)
{
    static const struct {
        uint32_t refused, of;
        size_t settings;
    } rows[] = {{ALONE, ALONE, 0}, {OUTER, INNER, 0}, {OUTER, ALONE, 1}, {ALONE, INNER, 1}};

    start();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        activities_alias(INNER, OUTER);
        activities_refused(rows[i].refused);
        kernels_call = rows[i].of;
        deliver(0, 900, 0);
        ck_assert_uint_eq(put.count, 1 + rows[i].settings); /* the copy, and what is missing */
    }
}
END_TEST

/* Each has the bytes of one copy. */
START_TEST(a_copy_between_devices_is_one_record_with_direct_access_or_without)
{
    CUpti_ActivityMemcpy6 halves[2];
    CUpti_ActivityMemcpyPtoP4 direct;

    start();
    memset(halves, 0, sizeof halves);
    memset(&direct, 0, sizeof direct);
    for (uint32_t i = 0; i < 2; i++) {
        halves[i].kind = CUPTI_ACTIVITY_KIND_MEMCPY;
        halves[i].copyKind =
            i == 0 ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
        halves[i].srcKind = halves[i].dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
        halves[i].contextId = 2 - i;
        halves[i].start = 1000 + i;
        halves[i].end = 2000 + i;
        halves[i].bytes = 300;
        faked.records[i] = (void *)&halves[i];
    }
    direct.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    direct.srcKind = direct.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    direct.contextId = 1;
    direct.start = 3000;
    direct.end = 3010;
    direct.bytes = 500;
    faked.records[2] = (void *)&direct;
    deliver_records(3, 0);
    ck_assert_uint_eq(put.count, 2);
    ck_assert_uint_eq(put.records[0].bytes, 300);
    ck_assert_uint_eq(put.records[0].context, 1);
    ck_assert_uint_eq(put.records[1].bytes, 500);
    ck_assert_uint_eq(put.records[1].from, TRACE_DEVICE);
    ck_assert_uint_eq(put.records[1].to, TRACE_DEVICE);
    ck_assert((faked.enabled & 1u << CUPTI_ACTIVITY_KIND_MEMCPY2) != 0);
}
END_TEST

START_TEST(dropped_records_are_counted)
{
    start();
    deliver(1000, 900, 17);
    ck_assert_uint_eq(put.count, 3);
    ck_assert_str_eq(put.records[2].name, RECORDER_DROPPED);
    ck_assert_uint_eq(put.records[2].bytes, 17);
}
END_TEST

START_TEST(a_refusal_has_its_reason)
{
    const char *why = NULL;
    faked.refused = CUPTI_ACTIVITY_KIND_MEMCPY;
    ck_assert_int_eq(activities_start(&why), -1);
    ck_assert_str_eq(why, "no privilege");
}
END_TEST

START_TEST(records_end_and_begin_again)
{
    const char *why = NULL;

    ck_assert_int_eq(activities_start(&why), 0);
    const unsigned all = faked.enabled;
    ck_assert_uint_ne(all, 0);
    ck_assert_int_eq(activities_go_on(false, &why), 0);
    ck_assert_uint_eq(faked.enabled, 0);
    ck_assert_int_eq(activities_go_on(true, &why), 0);
    ck_assert_uint_eq(faked.enabled, all);
    faked.refused = CUPTI_ACTIVITY_KIND_MEMCPY;
    ck_assert_int_eq(activities_go_on(false, &why), -1);
    ck_assert_str_eq(why, "no privilege");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorder activities");
    TCase *tcase = tcase_create("activities");
    tcase_add_test(tcase, records_with_times_are_put);
    tcase_add_test(tcase, records_without_times_are_left_out_and_counted);
    tcase_add_test(tcase, what_was_refused_is_not_missing);
    tcase_add_test(tcase, a_copy_between_devices_is_one_record_with_direct_access_or_without);
    tcase_add_test(tcase, dropped_records_are_counted);
    tcase_add_test(tcase, a_refusal_has_its_reason);
    tcase_add_test(tcase, records_end_and_begin_again);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
