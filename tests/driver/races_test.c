/* Races in programs, in every order: which are reported, and which accesses are not races. */
#include "tests/driver/support.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4000, BYTES = N * 4 };

static CUstream one, two;
static CUdeviceptr buffer;
static unsigned *pinned;

static void begin(int order)
{
    test_context(order);
    one = test_stream(CU_STREAM_NON_BLOCKING);
    two = test_stream(CU_STREAM_NON_BLOCKING);
    buffer = test_device(BYTES);
    pinned = test_pinned(BYTES);
    memset(pinned, 1, BYTES);
    OK(cuMemcpyHtoD(buffer, pinned, BYTES));
}

static void end(size_t expected)
{
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), expected);
}

START_TEST(two_kernels_in_two_streams_race)
{
    begin(_i);
    OK(test_launch("add", one, buffer, 1, N));
    OK(test_launch("add", two, buffer, 1, N));
    end(1);
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "race");
    ck_assert_uint_eq(found->bytes, BYTES);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "kernel add"));
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "in the stream made by the call before"));
}
END_TEST

START_TEST(an_event_a_wait_or_other_bytes_order_them)
{
    begin(_i);
    CUevent event = test_event(CU_EVENT_DISABLE_TIMING);
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuEventRecord(event, one));
    OK(cuStreamWaitEvent(two, event, 0));
    OK(test_launch("add", two, buffer, 1, N));
    OK(cuStreamSynchronize(two));
    OK(test_launch("set", one, buffer, 1, N / 2));
    OK(test_launch("set", two, buffer + BYTES / 2, 1, N / 2));
    end(0);
}
END_TEST

/* Captures two kernels that change the buffer, the second in a stream of its own. */
static CUgraphExec two_branches(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUevent fork = test_event(CU_EVENT_DISABLE_TIMING), join = test_event(CU_EVENT_DISABLE_TIMING);
    OK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(fork, one));
    OK(cuStreamWaitEvent(two, fork, 0));
    OK(test_launch("add", one, buffer, 1, N));
    OK(test_launch("add", two, buffer, 1, N));
    OK(cuEventRecord(join, two));
    OK(cuStreamWaitEvent(one, join, 0));
    OK(cuStreamEndCapture(one, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* They are told of as nodes: the stream of the launch, which both have, orders neither. */
START_TEST(two_branches_of_a_graph_race)
{
    begin(_i);
    OK(cuGraphLaunch(two_branches(), one));
    end(1);
    const char *sentence = test_sentence(test_find(TRACE_FINDING, 0, "race"));
    ck_assert_ptr_nonnull(strstr(sentence, "both are nodes of one graph"));
}
END_TEST

/* A launch that races with another's node, and not with its own, is told of by its stream. */
START_TEST(a_graph_races_with_what_is_beside_it)
{
    begin(_i);
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuStreamEndCapture(one, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, one));
    OK(test_launch("add", two, buffer, 1, N));
    end(1);
    const char *sentence = test_sentence(test_find(TRACE_FINDING, 0, "race"));
    ck_assert_ptr_null(strstr(sentence, "both are nodes of one graph"));
}
END_TEST

START_TEST(an_event_that_is_recorded_too_early_does_not)
{
    begin(_i);
    CUevent event = test_event(CU_EVENT_DISABLE_TIMING);
    OK(cuEventRecord(event, one));
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuStreamWaitEvent(two, event, 0));
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, two));
    end(1);
}
END_TEST

START_TEST(the_default_stream_orders_blocking_streams_only)
{
    begin(_i);
    CUstream blocking = test_stream(CU_STREAM_DEFAULT);
    OK(test_launch("add", blocking, buffer, 1, N));
    OK(test_launch("add", NULL, buffer, 1, N));
    OK(test_launch("add", blocking, buffer, 1, N));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 0);
    OK(test_launch("add", NULL, buffer, 1, N));
    OK(test_launch("add", one, buffer, 1, N));
    end(1);
}
END_TEST

START_TEST(the_host_may_not_read_what_a_copy_writes)
{
    begin(_i);
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, one));
    ck_assert_uint_ne(((volatile unsigned *)pinned)[7], 0);
    end(1);
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "race");
    ck_assert_uint_eq(found->address, (uint64_t)(uintptr_t)&pinned[7]);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "the host reads 4 bytes that"));
}
END_TEST

START_TEST(the_host_may_read_but_not_write_what_a_copy_reads)
{
    begin(_i);
    OK(cuMemcpyHtoDAsync(buffer, pinned, BYTES, one));
    ck_assert_uint_ne(((volatile unsigned *)pinned)[7], 0);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 0);
    ((volatile unsigned *)pinned)[9] = 1;
    end(1);
}
END_TEST

START_TEST(the_host_may_do_anything_once_it_has_waited)
{
    begin(_i);
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, one));
    OK(cuStreamSynchronize(one));
    memset(pinned, 2, BYTES);
    OK(cuMemcpyHtoDAsync(buffer, pinned, BYTES, two));
    OK(cuStreamSynchronize(two));
    memset(pinned, 3, BYTES);
    end(0);
}
END_TEST

START_TEST(a_part_in_flight_leaves_the_rest_alone)
{
    begin(_i);
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES / 2, one));
    memset((char *)pinned + BYTES / 2, 2, BYTES / 2);
    end(0);
}
END_TEST

static void CUDA_CB write_there(void *data)
{
    ((volatile unsigned *)data)[3] = 5;
}

START_TEST(a_host_function_is_ordered_by_its_stream)
{
    begin(_i);
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, one));
    OK(cuLaunchHostFunc(one, write_there, pinned));
    OK(cuMemcpyHtoDAsync(buffer, pinned, BYTES, one));
    end(0);
}
END_TEST

static void CUDA_CB hand_on(void *data)
{
    sem_post(data);
}

START_TEST(a_host_function_hands_on_what_its_stream_has_done)
{
    sem_t done;
    begin(_i);
    sem_init(&done, 0, 0);
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, one));
    OK(cuLaunchHostFunc(one, hand_on, &done));
    sem_wait(&done);
    ((volatile unsigned *)pinned)[7] = 3;
    OK(test_launch("add", two, buffer, 1, N));
    end(0);
    sem_destroy(&done);
}
END_TEST

START_TEST(a_host_function_of_another_stream_hands_on_nothing)
{
    sem_t done;
    begin(_i);
    sem_init(&done, 0, 0);
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, one));
    OK(cuLaunchHostFunc(two, hand_on, &done));
    sem_wait(&done);
    ((volatile unsigned *)pinned)[7] = 3;
    end(1);
    sem_destroy(&done);
}
END_TEST

START_TEST(memory_that_is_freed_while_in_use_is_named)
{
    CUdeviceptr p;
    begin(EARLIEST);
    OK(cuMemAllocAsync(&p, BYTES, one));
    OK(test_launch("set", one, p, 1, N));
    OK(cuMemFreeAsync(p, two));
    end(0);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "freed in use"), 1);
}
END_TEST

/* GPUs happen to wait there; the advice names the call that waited, in every order. */
START_TEST(who_relies_on_a_wait_that_nobody_promises_is_advised)
{
    begin(_i);
    CUdeviceptr other = test_device(BYTES), mapped = (CUdeviceptr)(uintptr_t)pinned;
    OK(test_launch("set", one, mapped, 6, N));
    OK(cuMemFree(other));
    ck_assert_uint_eq(((volatile unsigned *)pinned)[7], 6);
    OK(test_launch("add", two, mapped, 1, N));
    end(0);
    ck_assert_uint_eq(test_count(TRACE_ADVICE, 0, "wait that nobody promises"), 2);
    const struct trace_record *advice = test_find(TRACE_ADVICE, 0, NULL);
    ck_assert_ptr_nonnull(strstr(test_sentence(advice), "by a wait in cuMemFree, the call"));
}
END_TEST

START_TEST(advice_can_be_turned_off)
{
    setenv("OVERLAP_ADVICE", "off", 1);
    begin(_i);
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuMemFree(buffer));
    end(0);
    ck_assert_uint_eq(test_count(TRACE_ADVICE, 0, NULL), 0);
}
END_TEST

START_TEST(a_loop_is_one_finding_with_a_count)
{
    begin(_i);
    for (int i = 0; i < 5; i++) {
        OK(test_launch("add", one, buffer, 1, N));
        OK(test_launch("add", two, buffer, 1, N));
        OK(cuCtxSynchronize());
    }
    end(1);
    ck_assert_uint_ge(test_find(TRACE_FINDING, 0, "race")->count, 5);
}
END_TEST

START_TEST(it_can_be_turned_off)
{
    setenv("OVERLAP_RACES", "off", 1);
    begin(_i);
    OK(test_launch("add", one, buffer, 1, N));
    OK(test_launch("add", two, buffer, 1, N));
    end(0);
}
END_TEST

/* ---- events that a kernel records before its end ----------------------------------------------
 */

enum early { AT_BEGIN, AT_TRIGGER }; /* a launch completion event, a programmatic event */

/* Launches "add" into the stream; the event comes when its blocks have begun, as for lack of a
 * trigger a programmatic one is told to. */
static CUevent add_telling(enum early early, CUstream stream, CUdeviceptr p)
{
    int n = N;
    unsigned value = 1;
    void *arguments[] = {&p, &value, &n};
    CUlaunchAttribute attribute = {0};
    CUevent event = test_event(CU_EVENT_DISABLE_TIMING);
    if (early == AT_BEGIN) {
        attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
        attribute.value.launchCompletionEvent.event = event;
    } else {
        attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
        attribute.value.programmaticEvent.event = event;
        attribute.value.programmaticEvent.triggerAtBlockStart = 1;
    }
    const CUlaunchConfig config = {.gridDimX = (N + 255) / 256,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 256,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    OK(cuLaunchKernelEx(&config, test_kernel("add"), arguments, NULL));
    return event;
}

static void end_with_advice(size_t races, size_t advice)
{
    end(races);
    ck_assert_uint_eq(test_count(TRACE_ADVICE, 0, "event later than promised"), advice);
}

START_TEST(the_event_of_a_kernels_begin_is_before_its_end)
{
    begin(_i);
    CUdeviceptr mapped = (CUdeviceptr)(uintptr_t)pinned;
    OK(cuStreamWaitEvent(two, add_telling(AT_BEGIN, one, buffer), 0));
    OK(cuMemsetD8Async(buffer, 0, BYTES, two));
    end_with_advice(1, 0);
    OK(cuStreamWaitEvent(two, add_telling(AT_BEGIN, one, buffer), 0));
    OK(test_launch("add", two, buffer, 1, N));
    end_with_advice(2, 0);
    OK(cuEventSynchronize(add_telling(AT_BEGIN, one, mapped)));
    ck_assert_uint_ne(((volatile unsigned *)pinned)[7], 0);
    end_with_advice(3, 0);
}
END_TEST

START_TEST(what_was_before_the_kernel_is_before_its_event)
{
    begin(_i);
    CUdeviceptr other = test_device(BYTES);
    OK(test_launch("add", one, other, 1, N));
    OK(cuStreamWaitEvent(two, add_telling(AT_BEGIN, one, buffer), 0));
    OK(test_launch("add", two, other, 1, N));
    OK(test_launch("add", one, buffer, 1,
                   N)); /* in the kernel's stream, all comes behind its end */
    end_with_advice(0, 0);
    CUevent event = add_telling(AT_BEGIN, one, buffer);
    OK(cuEventRecord(event, one)); /* from now on it stands for the end */
    OK(cuStreamWaitEvent(two, event, 0));
    OK(test_launch("add", two, buffer, 1, N));
    end_with_advice(0, 0);
}
END_TEST

START_TEST(a_programmatic_event_promises_copies_and_the_host_no_end)
{
    begin(_i);
    CUdeviceptr mapped = (CUdeviceptr)(uintptr_t)pinned;
    OK(cuStreamWaitEvent(two, add_telling(AT_TRIGGER, one, buffer), 0));
    OK(cuMemsetD8Async(buffer, 0, BYTES, two));
    end_with_advice(0, 1);
    OK(cuEventSynchronize(add_telling(AT_TRIGGER, one, mapped)));
    ck_assert_uint_ne(((volatile unsigned *)pinned)[7], 0);
    end_with_advice(0, 2);
}
END_TEST

START_TEST(a_kernel_behind_several_programmatic_events_is_behind_all)
{
    begin(_i);
    CUdeviceptr other = test_device(BYTES), third = test_device(BYTES);
    CUstream three = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD8(other, 0, BYTES));
    OK(cuMemsetD8(third, 0, BYTES));
    OK(cuCtxSynchronize());
    OK(cuStreamWaitEvent(two, add_telling(AT_TRIGGER, one, buffer), 0));
    OK(cuStreamWaitEvent(two, add_telling(AT_TRIGGER, three, other), 0));
    OK(test_launch("add", two, third, 1, N));
    OK(test_launch("add", two, buffer, 1, N));
    OK(test_launch("add", two, other, 1, N));
    end_with_advice(0, 0);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
    OK(cuStreamWaitEvent(two, add_telling(AT_TRIGGER, three, other), 0));
    OK(cuStreamWaitEvent(two, add_telling(AT_TRIGGER, one, buffer), 0));
    OK(test_launch("add", two, other, 1, N));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race of a dependent launch"), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_races");
    TCase *tcase = tcase_create("races");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, two_kernels_in_two_streams_race, 0, ORDERS);
    tcase_add_loop_test(tcase, an_event_a_wait_or_other_bytes_order_them, 0, ORDERS);
    tcase_add_loop_test(tcase, two_branches_of_a_graph_race, 0, ORDERS);
    tcase_add_loop_test(tcase, a_graph_races_with_what_is_beside_it, 0, ORDERS);
    tcase_add_loop_test(tcase, an_event_that_is_recorded_too_early_does_not, 0, ORDERS);
    tcase_add_loop_test(tcase, the_default_stream_orders_blocking_streams_only, 0, ORDERS);
    tcase_add_loop_test(tcase, the_host_may_not_read_what_a_copy_writes, 0, ORDERS);
    tcase_add_loop_test(tcase, the_host_may_read_but_not_write_what_a_copy_reads, 0, ORDERS);
    tcase_add_loop_test(tcase, the_host_may_do_anything_once_it_has_waited, 0, ORDERS);
    tcase_add_loop_test(tcase, a_part_in_flight_leaves_the_rest_alone, 0, ORDERS);
    tcase_add_loop_test(tcase, a_host_function_is_ordered_by_its_stream, 0, ORDERS);
    tcase_add_loop_test(tcase, a_host_function_hands_on_what_its_stream_has_done, 0, ORDERS);
    tcase_add_loop_test(tcase, a_host_function_of_another_stream_hands_on_nothing, 0, ORDERS);
    tcase_add_test(tcase, memory_that_is_freed_while_in_use_is_named);
    tcase_add_loop_test(tcase, who_relies_on_a_wait_that_nobody_promises_is_advised, 0, ORDERS);
    tcase_add_test(tcase, advice_can_be_turned_off);
    tcase_add_loop_test(tcase, a_loop_is_one_finding_with_a_count, 0, ORDERS);
    tcase_add_loop_test(tcase, it_can_be_turned_off, 0, ORDERS);
    tcase_add_loop_test(tcase, the_event_of_a_kernels_begin_is_before_its_end, 0, ORDERS);
    tcase_add_loop_test(tcase, what_was_before_the_kernel_is_before_its_event, 0, ORDERS);
    tcase_add_loop_test(tcase, a_programmatic_event_promises_copies_and_the_host_no_end, 0, ORDERS);
    tcase_add_loop_test(tcase, a_kernel_behind_several_programmatic_events_is_behind_all, 0,
                        ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
