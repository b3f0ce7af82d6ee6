/* Events: capture, waits, queries, elapsed time, and what is refused. */
#include "emulator/driver/driver.h"
#include "tests/driver/support.h"

enum { N = 256, BYTES = N * 4 };

static CUdeviceptr ones(void)
{
    CUdeviceptr p = test_device(BYTES);
    OK(cuMemsetD32(p, 1, N));
    OK(cuCtxSynchronize());
    return p;
}

static unsigned seen_from(CUstream stream, CUdeviceptr p)
{
    unsigned *out = test_pinned(BYTES);
    OK(cuMemcpyDtoHAsync(out, p, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    return out[0];
}

START_TEST(an_event_orders_two_streams)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = test_event(CU_EVENT_DISABLE_TIMING);
    OK(test_launch("set", a, p, 2, N));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    ck_assert_uint_eq(seen_from(b, p), 2);
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_EVENT_RECORD, NULL), 1);
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_EVENT_WAIT, NULL), 1);
}
END_TEST

/* "captures the stream's work at the call" */
START_TEST(latest_a_record_captures_what_came_before_it_only)
{
    test_context(LATEST);
    CUdeviceptr p = ones();
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = test_event(0);
    OK(cuEventRecord(event, a));
    OK(test_launch("set", a, p, 2, N)); /* after the record: the usual mistake */
    OK(cuStreamWaitEvent(b, event, 0));
    ck_assert_uint_eq(seen_from(b, p), 1);
    OK(cuEventSynchronize(event));
    ck_assert_uint_eq(seen_from(test_stream(CU_STREAM_NON_BLOCKING), p), 1);
}
END_TEST

/* "recording again overwrites; earlier waits keep the old capture" */
START_TEST(latest_recording_again_does_not_change_earlier_waits)
{
    test_context(LATEST);
    CUdeviceptr p = ones(), q = ones();
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = test_event(0);
    OK(test_launch("set", a, p, 2, N));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(test_launch("set", a, q, 3, N));
    OK(cuEventRecord(event, a));
    ck_assert_uint_eq(seen_from(b, p), 2);
    ck_assert_uint_eq(seen_from(b, q), 1);
    OK(cuEventSynchronize(event));
    ck_assert_uint_eq(seen_from(b, q), 3);
}
END_TEST

START_TEST(an_event_that_was_never_recorded_stands_for_no_work)
{
    test_context(_i);
    CUevent event = test_event(0);
    OK(cuEventQuery(event));
    OK(cuEventSynchronize(event));
    OK(cuStreamWaitEvent(test_stream(0), event, 0));
    OK(cuCtxSynchronize());
}
END_TEST

/* Measured on a GPU: right after the launch the start has been reached, the end has not. */
START_TEST(right_after_the_launch_the_start_is_reached_and_the_end_is_not)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUevent start = test_event(0), end = test_event(0);
    OK(cuEventRecord(start, NULL));
    OK(test_launch("slow", NULL, p, 2, N));
    OK(cuEventRecord(end, NULL));
    OK(cuEventQuery(start));
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(end));
    int polls = 0;
    while (cuEventQuery(end) == CUDA_ERROR_NOT_READY) ck_assert_int_lt(++polls, 10000);
    OK(cuEventQuery(end));
}
END_TEST

START_TEST(elapsed_time_is_the_kernels_time_on_the_virtual_clock)
{
    float ms;
    test_context(_i);
    CUdeviceptr p = ones();
    CUevent start = test_event(0), end = test_event(0);
    OK(cuEventRecord(start, NULL));
    OK(test_launch("slow", NULL, p, 2, N));
    OK(cuEventRecord(end, NULL));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, start, end));
    const struct trace_record *kernel = test_find(TRACE_OPERATION, TRACE_KERNEL, "slow");
    double kernel_ms = (double)(kernel->end_ns - kernel->start_ns) / 1e6;
    ck_assert_double_ge(kernel_ms, 0.1); /* 20000 steps of 3 instructions, one after another */
    ck_assert_double_eq_tol(ms, kernel_ms, kernel_ms * 0.05);
    OK(cuEventElapsedTime(&ms, start, start));
    ck_assert_float_eq(ms, 0);
}
END_TEST

/* A launch costs the host the same time for any kernel; a wait does not. */
START_TEST(the_hosts_clock_goes_on_with_calls_and_waits_alone)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    const uint64_t begin = overlap_host_clock();
    OK(test_launch("slow", stream, p, 2, N));
    const uint64_t launched = overlap_host_clock();
    OK(cuStreamSynchronize(stream));
    const uint64_t waited = overlap_host_clock();
    const struct trace_record *kernel = test_find(TRACE_OPERATION, TRACE_KERNEL, NULL);
    ck_assert_uint_gt(launched, begin);
    ck_assert_uint_lt(launched, kernel->end_ns);
    ck_assert_uint_ge(waited, kernel->end_ns);
    ck_assert_uint_ge(waited - begin, kernel->end_ns - kernel->start_ns);
    for (uint64_t last = waited, now = 0; last - waited < 10000; last = now)
        /* Repeated reading advances the clock. */
        ck_assert_uint_gt(now = overlap_host_clock(), last);
}
END_TEST

START_TEST(elapsed_time_refuses_what_it_cannot_tell)
{
    float ms;
    test_context(_i);
    CUdeviceptr p = ones();
    CUevent start = test_event(0), end = test_event(0), plain = test_event(CU_EVENT_DISABLE_TIMING);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, end));
    OK(cuEventRecord(start, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, end));
    OK(cuEventRecord(plain, NULL));
    OK(test_launch("slow", NULL, p, 2, N));
    OK(cuEventRecord(end, NULL));
    FAILS(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&ms, start, end));
    OK(cuCtxSynchronize());
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, plain, end));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(NULL, start, end)); /* as an H200 */
    OK(cuEventElapsedTime(&ms, start, end));
}
END_TEST

START_TEST(an_event_and_a_stream_of_different_contexts_are_refused)
{
    CUcontext other;
    test_context(_i);
    CUevent event = test_event(0);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, test_stream(0)));
}
END_TEST

START_TEST(the_time_between_events_of_two_contexts_is_refused_and_named)
{
    float ms;
    CUcontext other;
    test_context(_i);
    CUevent start = test_event(0);
    OK(cuEventRecord(start, NULL));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUevent end = test_event(0);
    OK(cuEventRecord(end, NULL));
    OK(cuEventSynchronize(start));
    OK(cuEventSynchronize(end));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, end));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "wrong context"), 1);
}
END_TEST

START_TEST(waiting_for_an_event_may_cross_contexts)
{
    CUcontext other;
    test_context(_i);
    CUdeviceptr p = ones();
    CUevent event = test_event(0);
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING);
    OK(test_launch("set", a, p, 2, N));
    OK(cuEventRecord(event, a));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUstream b = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamWaitEvent(b, event, 0));
    ck_assert_uint_eq(seen_from(b, p), 2);
}
END_TEST

START_TEST(destroying_an_event_before_it_is_reached_does_not_block_or_lose_the_wait)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = test_event(0);
    OK(test_launch("set", a, p, 2, N));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuEventDestroy(event));
    if (_i == LATEST) ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_KERNEL, "set"), 0);
    ck_assert_uint_eq(seen_from(b, p), 2);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
}
END_TEST

START_TEST(flags_are_checked)
{
    CUevent event;
    test_context(_i);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, 0x100));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, CU_EVENT_INTERPROCESS));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(NULL, 0));
    event = test_event(CU_EVENT_BLOCKING_SYNC);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuEventRecordWithFlags(event, NULL, 0x10));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(NULL, event, 0x10));
    const struct trace_record *created = test_find(TRACE_CREATE, TRACE_EVENT, NULL);
    ck_assert_uint_eq(created->flags & TRACE_TIMING_DISABLED, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverEvent");
    TCase *tcase = tcase_create("events");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        an_event_orders_two_streams,
        an_event_that_was_never_recorded_stands_for_no_work,
        right_after_the_launch_the_start_is_reached_and_the_end_is_not,
        elapsed_time_is_the_kernels_time_on_the_virtual_clock,
        the_hosts_clock_goes_on_with_calls_and_waits_alone,
        elapsed_time_refuses_what_it_cannot_tell,
        an_event_and_a_stream_of_different_contexts_are_refused,
        the_time_between_events_of_two_contexts_is_refused_and_named,
        waiting_for_an_event_may_cross_contexts,
        destroying_an_event_before_it_is_reached_does_not_block_or_lose_the_wait,
        flags_are_checked,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    tcase_add_test(tcase, latest_a_record_captures_what_came_before_it_only);
    tcase_add_test(tcase, latest_recording_again_does_not_change_earlier_waits);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
