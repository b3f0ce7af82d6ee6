/* Findings at the end of a process or a context: work that was not waited for, events that were
 * never recorded. In every order; a program that does it right, or ends for another reason, gets
 * none. */
#include "tests/driver/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 4000, BYTES = N * 4 };

static CUstream one, two;
static CUdeviceptr buffer, more;
static unsigned *host;

#define UNFINISHED "work left unfinished"
#define NEVER "event never recorded"

/* Runs `body` in a process whose exit status must be `expected`. */
static void in_a_process(int order, int (*body)(void), int expected)
{
    int status;
    test_begin(order);
    const pid_t child = fork();
    if (child == 0) {
        test_start();
        one = test_stream(CU_STREAM_NON_BLOCKING);
        two = test_stream(CU_STREAM_NON_BLOCKING);
        buffer = test_device(BYTES);
        more = test_device(BYTES);
        host = test_pinned(BYTES);
        OK(cuMemsetD8(buffer, 1, BYTES));
        OK(cuMemsetD8(more, 1, BYTES));
        OK(cuCtxSynchronize());
        exit(body());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), expected);
}

static void finds(const char *name, unsigned count, const char *text)
{
    const size_t found = test_count(TRACE_FINDING, 0, NULL);
    const bool named = name != NULL && test_count(TRACE_FINDING, 0, name) == 1;
    struct trace_record record = {0};
    if (named) record = *test_find(TRACE_FINDING, 0, name);
    ck_assert_uint_eq(found, name != NULL);
    if (name == NULL) return;
    ck_assert_msg(named, "no %s", name);
    ck_assert_uint_eq(record.count, count);
    ck_assert_uint_ne(record.caller, 0);
    ck_assert_msg(strstr(test_sentence(&record), text) != NULL, "%s", test_sentence(&record));
}

/* ---- work --------------------------------------------------------------------------------- */

static int leaves_a_kernel(void)
{
    for (int i = 0; i < 3; i++) OK(test_launch("add", one, buffer, 1, N));
    OK(cuStreamSynchronize(two));
    return 0;
}

static int leaves_a_copy_out(void)
{
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuStreamSynchronize(one));
    OK(cuMemcpyDtoHAsync(host, buffer, BYTES, one));
    return 0;
}

static int leaves_nothing(void)
{
    CUevent event = test_event(CU_EVENT_DEFAULT);
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuEventRecord(event, one));
    OK(cuStreamWaitEvent(two, event, 0));
    OK(test_launch("add", two, buffer, 1, N));
    OK(cuMemcpyDtoHAsync(host, buffer, BYTES, two));
    OK(cuStreamSynchronize(two));
    return 0;
}

static int looks_at_a_value(void)
{
    volatile unsigned *value = test_pinned(4);
    *value = 0;
    OK(cuMemcpyDtoHAsync(host, buffer, BYTES, one));
    OK(cuStreamWriteValue32(one, (CUdeviceptr)(uintptr_t)value, 1, 0));
    while (*value == 0) continue;
    return host[0] == 0x01010101 ? 0 : 1;
}

static int leaves_what_nobody_reads(void)
{
    CUdeviceptr p;
    OK(cuMemAllocAsync(&p, BYTES, one));
    OK(cuMemcpyHtoDAsync(p, host, BYTES, one));
    OK(cuMemsetD8Async(p, 0, BYTES, one));
    OK(cuMemFreeAsync(p, one));
    return 0;
}

static int fails_and_leaves(void)
{
    CUdeviceptr p;
    OK(test_launch("add", one, buffer, 1, N));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, (size_t)1 << 60));
    return 0;
}

static int leaves_with_a_status(void)
{
    OK(test_launch("add", one, buffer, 1, N));
    return 3;
}

static int destroys_its_context(void)
{
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuCtxDestroy(test_context_handle));
    return 0;
}

static int destroys_its_context_when_done(void)
{
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuStreamSynchronize(one));
    OK(cuCtxDestroy(test_context_handle));
    return 0;
}

START_TEST(work_that_nobody_waited_for_is_named)
{
    in_a_process(_i, leaves_a_kernel, 0);
    finds(UNFINISHED, 3, "kernel add (in the stream made by the call before 0x");
    in_a_process(_i, leaves_a_copy_out, 0);
    finds(UNFINISHED, 1, "the copy to the host (in the stream made by the call before 0x");
    in_a_process(_i, destroys_its_context, 0);
    finds(UNFINISHED, 1, "before its context was destroyed, by the call before 0x");
}
END_TEST

START_TEST(what_was_waited_for_or_need_not_be_is_not)
{
    int (*const right[])(void) = {leaves_nothing,           looks_at_a_value,
                                  leaves_what_nobody_reads, fails_and_leaves,
                                  leaves_with_a_status,     destroys_its_context_when_done};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        in_a_process(_i, right[i], right[i] == leaves_with_a_status ? 3 : 0);
        finds(NULL, 0, NULL);
    }
}
END_TEST

/* Is inside some call for a moment longer, as the device's own thread may be. Asserts nothing: an
 * assertion writes to Check's file, and the process may end in the middle of that. */
static void *copies_on(void *unused)
{
    enum { MANY = 4 << 20 };
    void *much = calloc(1, MANY);
    CUdeviceptr p;
    (void)unused;
    if (much == NULL || cuCtxSetCurrent(test_context_handle) != CUDA_SUCCESS ||
        cuMemAlloc(&p, MANY) != CUDA_SUCCESS)
        abort();
    for (int i = 0; i < 5; i++)
        if (cuMemcpyHtoD(p, much, MANY) != CUDA_SUCCESS) abort();
    free(much);
    return NULL;
}

static int leaves_a_kernel_beside_a_call(void)
{
    pthread_t other;
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuStreamSynchronize(two));
    if (pthread_create(&other, NULL, copies_on, NULL) != 0 || pthread_detach(other) != 0) return 1;
    usleep(10000); /* too short or too long is no failure */
    return 0;
}

START_TEST(the_end_waits_for_a_call_in_another_thread)
{
    in_a_process(_i, leaves_a_kernel_beside_a_call, 0);
    finds(UNFINISHED, 1, "kernel add (in the stream made by the call before 0x");
}
END_TEST

static int leaves_a_kernel_behind_many(void)
{
    enum { MANY = 5000 };
    for (int i = 0; i < MANY; i++)
        OK(test_launch("set", test_stream(CU_STREAM_NON_BLOCKING),
                       (i < N ? buffer : more) + 4 * (unsigned)(i % N), 1, 1));
    OK(test_launch("add", one, test_device(BYTES), 1, N));
    return 0;
}

/* Findings of one place in the program are told once, so it takes a second place. */
START_TEST(much_unfinished_work_hides_none)
{
    in_a_process(LATEST, leaves_a_kernel_behind_many, 0);
    const size_t found = test_count(TRACE_FINDING, 0, UNFINISHED);
    ck_assert_uint_eq(found, 2);
}
END_TEST

/* ---- events ------------------------------------------------------------------------------- */

static int waits_for_the_wrong_event(void)
{
    CUevent recorded = test_event(CU_EVENT_DEFAULT), other = test_event(CU_EVENT_DEFAULT);
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuEventRecord(recorded, one));
    OK(cuStreamWaitEvent(two, other, 0));
    OK(test_launch("add", two, more, 1, N));
    OK(cuCtxSynchronize());
    OK(cuEventDestroy(recorded));
    OK(cuEventDestroy(other));
    return 0;
}

static int synchronises_with_nothing(void)
{
    CUevent event = test_event(CU_EVENT_DEFAULT);
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuEventSynchronize(event));
    OK(cuCtxSynchronize());
    return 0; /* objects that are never destroyed are reported too */
}

static int asks_for_a_time(void)
{
    CUevent start = test_event(CU_EVENT_DEFAULT), stop = test_event(CU_EVENT_DEFAULT);
    float ms;
    OK(cuEventRecord(start, one));
    OK(cuStreamSynchronize(one));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, stop));
    return 0;
}

static int asks_an_event_without_a_time(void)
{
    CUevent start = test_event(CU_EVENT_DISABLE_TIMING), stop = test_event(CU_EVENT_DEFAULT);
    float ms;
    OK(cuEventRecord(start, one));
    OK(cuEventRecord(stop, one));
    OK(cuStreamSynchronize(one));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, stop));
    return 0;
}

/* In the first round nothing has been recorded yet. */
static int goes_round(void)
{
    CUevent done[2] = {test_event(CU_EVENT_DEFAULT), test_event(CU_EVENT_DEFAULT)};
    CUevent ready = test_event(CU_EVENT_DEFAULT);
    for (int i = 0; i < 6; i++) {
        OK(cuEventSynchronize(done[i % 2]));
        OK(cuEventQuery(done[i % 2]));
        OK(test_launch("add", one, i % 2 == 0 ? buffer : more, 1, N));
        OK(cuStreamWaitEvent(two, ready, 0));
        OK(cuEventRecord(ready, one));
        OK(cuEventRecord(done[i % 2], one));
    }
    OK(cuCtxSynchronize());
    for (int i = 0; i < 2; i++) OK(cuEventDestroy(done[i]));
    OK(cuEventDestroy(ready));
    return 0;
}

/* No work was pending except what precedes it in the stream anyway. */
static int goes_round_once(void)
{
    CUevent done = test_event(CU_EVENT_DEFAULT);
    OK(cuEventSynchronize(done));
    OK(test_launch("add", one, buffer, 1, N));
    OK(cuStreamWaitEvent(one, done, 0));
    OK(cuStreamSynchronize(one));
    OK(cuEventDestroy(done));
    return 0;
}

static int fails_before_it_records(void)
{
    CUdeviceptr p;
    CUevent event = test_event(CU_EVENT_DEFAULT);
    OK(test_launch("add", one, buffer, 1, N));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, (size_t)1 << 60));
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
    OK(cuCtxSynchronize());
    return 0;
}

START_TEST(an_event_that_was_never_recorded_is_named)
{
    in_a_process(_i, waits_for_the_wrong_event, 0);
    finds(NEVER, 1, "created by the call before 0x");
    in_a_process(_i, synchronises_with_nothing, 0);
    finds(NEVER, 1, "created by the call before 0x");
    in_a_process(_i, asks_for_a_time, 0);
    finds(NEVER, 1, "the second is the event");
    in_a_process(_i, asks_an_event_without_a_time, 0);
    finds("event without a time", 1, "the first is the event");
}
END_TEST

START_TEST(an_event_that_is_recorded_later_is_not)
{
    int (*const right[])(void) = {goes_round, goes_round_once, fails_before_it_records};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        in_a_process(_i, right[i], 0);
        finds(NULL, 0, NULL);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        work_that_nobody_waited_for_is_named,      the_end_waits_for_a_call_in_another_thread,
        what_was_waited_for_or_need_not_be_is_not, an_event_that_was_never_recorded_is_named,
        an_event_that_is_recorded_later_is_not,
    };
    Suite *suite = suite_create("driver_unfinished");
    TCase *tcase = tcase_create("endings");
    tcase_set_timeout(tcase, 300);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(tcase, tests[i], 0, ORDERS);
    tcase_add_test(tcase, much_unfinished_work_hides_none);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
