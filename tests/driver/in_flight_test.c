/* Pageable memory in flight: changing or freeing it before the copy was waited for gives advice, in
 * every order, and a finding where a graph copies; a program that waits, by whatever means, gets
 * none. */
#include "tests/driver/support.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 4000, BYTES = N * 4 };

#define CHANGED "changed in flight"
#define SOONER "copy done sooner than promised"

static CUstream one, two;
static CUdeviceptr buffer;
static unsigned char *host;

static void begin(int order)
{
    test_context(order);
    one = test_stream(CU_STREAM_NON_BLOCKING);
    two = test_stream(CU_STREAM_NON_BLOCKING);
    buffer = test_device(BYTES);
    host = malloc(BYTES);
    ck_assert_ptr_nonnull(host);
    memset(host, 1, BYTES);
    OK(cuMemcpyHtoD(buffer, host, BYTES));
    OK(cuCtxSynchronize()); /* the transfer may still be pending, for a non-blocking stream */
}

static void end(const char *expected)
{
    const bool advice = expected != NULL && strcmp(expected, SOONER) == 0;
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), expected != NULL && !advice);
    ck_assert_uint_eq(test_count(TRACE_ADVICE, 0, NULL), advice);
    if (expected == NULL) return;
    const struct trace_record *found = test_find(advice ? TRACE_ADVICE : TRACE_FINDING, 0, NULL);
    ck_assert_str_eq(trace_finding_kind(found)->name, expected);
    ck_assert_uint_ne(found->caller, 0);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "in the stream made by the call before 0x"));
    ck_assert_ptr_nonnull(
        strstr(test_sentence(found), "the change was seen at the call before 0x"));
}

START_TEST(a_source_that_is_changed_before_the_wait_is_advised_about)
{
    begin(_i);
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    host[BYTES - 1] = 2;
    OK(cuStreamSynchronize(one));
    end(SOONER);
}
END_TEST

START_TEST(the_wait_for_another_stream_is_none)
{
    begin(_i);
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    OK(cuStreamSynchronize(two));
    host[0] = 2;
    end(SOONER);
}
END_TEST

START_TEST(a_destination_that_is_changed_before_the_wait_is_advised_about)
{
    begin(_i);
    OK(cuMemcpyDtoHAsync(host, buffer, BYTES, one));
    memset(host, 9, BYTES);
    OK(cuStreamSynchronize(one));
    end(SOONER);
}
END_TEST

START_TEST(a_source_that_is_given_back_before_the_wait_is_advised_about)
{
    begin(_i);
    void *mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 3, BYTES);
    OK(cuMemcpyHtoDAsync(buffer, mapped, BYTES, one));
    munmap(mapped, BYTES);
    OK(cuStreamSynchronize(one));
    ck_assert_uint_eq(test_count(TRACE_ADVICE, 0, SOONER), 1);
}
END_TEST

START_TEST(a_loop_over_one_buffer_is_one_finding_with_a_count)
{
    begin(_i);
    for (int i = 0; i < 5; i++) {
        host[0] = (unsigned char)(i + 10);
        OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    }
    end(SOONER);
    ck_assert_uint_ge(test_find(TRACE_ADVICE, 0, SOONER)->count, 4);
}
END_TEST

START_TEST(whoever_waits_may_change_it)
{
    begin(_i);
    CUevent event = test_event(CU_EVENT_DEFAULT), start = test_event(CU_EVENT_DEFAULT);
    float ms;
    for (int way = 0; way < 7; way++) {
        OK(cuEventRecord(start, one));
        OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
        OK(cuEventRecord(event, one));
        if (way == 0) OK(cuStreamSynchronize(one));
        if (way == 1) OK(cuEventSynchronize(event));
        if (way == 2) OK(cuCtxSynchronize());
        while (way == 3 && cuStreamQuery(one) == CUDA_ERROR_NOT_READY) continue;
        while (way == 4 && cuEventQuery(event) == CUDA_ERROR_NOT_READY) continue;
        while (way == 5 && cuEventElapsedTime(&ms, start, event) == CUDA_ERROR_NOT_READY) continue;
        if (way == 6) { /* by another stream that waits for it */
            OK(cuStreamWaitEvent(two, event, 0));
            OK(cuStreamSynchronize(two));
        }
        memset(host, way + 20, BYTES);
    }
    end(NULL);
}
END_TEST

START_TEST(there_and_back_in_one_stream_is_right)
{
    begin(_i);
    for (int i = 0; i < 3; i++) {
        OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
        OK(test_launch("add", one, buffer, 1, N));
        OK(cuMemcpyDtoHAsync(host, buffer, BYTES, one));
    }
    OK(cuStreamSynchronize(one));
    ck_assert_uint_eq(host[0], 4);
    memset(host, 9, BYTES);
    end(NULL);
}
END_TEST

static void CUDA_CB fill(void *data)
{
    memset(data, 7, BYTES);
}

static void CUDA_CB wait_for_it(void *data)
{
    sem_wait(data);
}

START_TEST(a_host_function_may_change_it_on_either_side)
{
    begin(_i);
    OK(cuLaunchHostFunc(one, fill, host));
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    OK(cuLaunchHostFunc(one, fill, host));
    OK(cuMemcpyDtoHAsync(host, buffer, BYTES, one));
    OK(cuStreamSynchronize(one));
    end(NULL);
}
END_TEST

START_TEST(a_copy_behind_a_host_function_that_waits_takes_what_is_filled_meanwhile)
{
    sem_t filled;
    begin(_i);
    unsigned char *pinned = test_pinned(BYTES);
    sem_init(&filled, 0, 0);
    OK(cuLaunchHostFunc(one, wait_for_it, &filled));
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    OK(cuMemcpyHtoDAsync(buffer, pinned, BYTES, one));
    memset(host, 5, BYTES);
    memset(pinned, 5, BYTES);
    sem_post(&filled);
    OK(cuStreamSynchronize(one));
    end(NULL);
    sem_destroy(&filled);
}
END_TEST

START_TEST(a_copy_behind_a_value_takes_what_is_filled_before_that_is_written)
{
    begin(_i);
    volatile unsigned *value = test_pinned(8);
    value[0] = value[1] = 0;
    OK(cuStreamWaitValue32(one, (CUdeviceptr)(uintptr_t)value, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    OK(cuStreamWriteValue32(one, (CUdeviceptr)(uintptr_t)(value + 1), 1, 0));
    memset(host, 5, BYTES);
    value[0] = 1;
    while (value[1] == 0) continue;
    memset(host, 6, BYTES);
    OK(cuStreamSynchronize(one));
    end(NULL);
}
END_TEST

/* tell(flag): *flag = 1; hear(flag): until *flag is 1; ask(flags): both, of flags[1] and flags[0].
 */
static const char conversing[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry tell(.param .u64 a) { .reg .b64 %rd<2>; .reg .b32 %r<2>;"
    "ld.param.u64 %rd1, [a]; mov.u32 %r1, 1; st.volatile.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry hear(.param .u64 a) { .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;"
    "ld.param.u64 %rd1, [a];"
    "again: ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 1; @%p1 bra again; ret; }\n"
    ".visible .entry ask(.param .u64 a) { .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;"
    "ld.param.u64 %rd1, [a]; mov.u32 %r1, 1; st.volatile.global.u32 [%rd1+4], %r1;"
    "again: ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 1; @%p1 bra again; ret; }\n";

START_TEST(a_kernel_may_hear_and_tell_as_well)
{
    CUmodule module;
    CUfunction tell, hear;
    begin(_i);
    volatile unsigned *flags = test_pinned(8);
    unsigned char *pinned = test_pinned(BYTES);
    flags[0] = flags[1] = 0;
    CUdeviceptr heard = (CUdeviceptr)(uintptr_t)flags, told = heard + 4;
    OK(cuModuleLoadData(&module, conversing));
    OK(cuModuleGetFunction(&tell, module, "tell"));
    OK(cuModuleGetFunction(&hear, module, "hear"));
    if (_i == LATEST) { /* in the other orders it would run, and wait, inside its launch */
        OK(cuLaunchKernel(hear, 1, 1, 1, 1, 1, 1, 0, one, (void *[]){&heard}, NULL));
        OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
        memset(host, 5, BYTES);
        flags[0] = 1;
    } else {
        OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    }
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, one));
    OK(cuLaunchKernel(tell, 1, 1, 1, 1, 1, 1, 0, one, (void *[]){&told}, NULL));
    while (flags[1] == 0) continue;
    memset(host, 6, BYTES);
    memset(pinned, 6, BYTES);
    end(NULL);
}
END_TEST

START_TEST(a_kernel_tells_while_it_goes_on)
{
    CUmodule module;
    CUfunction ask;
    begin(_i);
    volatile unsigned *flags = test_pinned(8);
    unsigned char *pinned = test_pinned(BYTES);
    flags[0] = flags[1] = 0;
    CUdeviceptr asked = (CUdeviceptr)(uintptr_t)flags;
    OK(cuModuleLoadData(&module, conversing));
    OK(cuModuleGetFunction(&ask, module, "ask"));
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    OK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, one));
    OK(cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, one, (void *[]){&asked}, NULL));
    while (flags[1] == 0) continue;
    memset(host, 6, BYTES);
    memset(pinned, 6, BYTES);
    flags[0] = 1;
    end(NULL);
}
END_TEST

START_TEST(a_copy_in_a_graph_is_watched_as_well)
{
    CUgraph graph;
    CUgraphExec exec;
    begin(_i);
    OK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    OK(cuStreamEndCapture(one, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    memset(host, 2, BYTES);
    OK(cuGraphLaunch(exec, one));
    OK(cuStreamSynchronize(one));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
    OK(cuGraphLaunch(exec, one));
    memset(host, 3, BYTES);
    OK(cuStreamSynchronize(one));
    end(CHANGED);
}
END_TEST

START_TEST(a_context_that_ends_forgets_what_was_in_flight)
{
    begin(_i);
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    OK(cuCtxDestroy(test_context_handle));
    memset(host, 2, BYTES);
    OK(cuCtxCreate(&test_context_handle, NULL, 0, 0));
    end(NULL);
}
END_TEST

START_TEST(it_can_be_turned_off)
{
    setenv("OVERLAP_RACES", "off", 1);
    begin(_i);
    OK(cuMemcpyHtoDAsync(buffer, host, BYTES, one));
    memset(host, 2, BYTES);
    end(NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_source_that_is_changed_before_the_wait_is_advised_about,
        the_wait_for_another_stream_is_none,
        a_destination_that_is_changed_before_the_wait_is_advised_about,
        a_source_that_is_given_back_before_the_wait_is_advised_about,
        a_loop_over_one_buffer_is_one_finding_with_a_count,
        whoever_waits_may_change_it,
        there_and_back_in_one_stream_is_right,
        a_host_function_may_change_it_on_either_side,
        a_copy_behind_a_host_function_that_waits_takes_what_is_filled_meanwhile,
        a_copy_behind_a_value_takes_what_is_filled_before_that_is_written,
        a_kernel_may_hear_and_tell_as_well,
        a_kernel_tells_while_it_goes_on,
        a_copy_in_a_graph_is_watched_as_well,
        a_context_that_ends_forgets_what_was_in_flight,
        it_can_be_turned_off,
    };
    Suite *suite = suite_create("driver_in_flight");
    TCase *tcase = tcase_create("flights");
    tcase_set_timeout(tcase, 300);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(tcase, tests[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
