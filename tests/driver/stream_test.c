/* Streams: what orders what (Driver API, "Stream synchronization behavior"), host functions, waits
 * for values. A test that expects operations *not* to be ordered runs under the latest order, where
 * that shows.
 */
#include "tests/driver/support.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 256, BYTES = N * 4 };

/* Returns device memory that was set to 1. */
static CUdeviceptr ones(void)
{
    CUdeviceptr p = test_device(BYTES);
    OK(cuMemsetD32(p, 1, N));
    OK(cuCtxSynchronize());
    return p;
}

/* Returns what `stream` sees of p when only `stream` is waited for. */
static unsigned seen_from(CUstream stream, CUdeviceptr p)
{
    unsigned *out = test_pinned(BYTES); /* kept: freeing it would wait for all other work */
    OK(cuMemcpyDtoHAsync(out, p, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    return out[N - 1];
}

START_TEST(work_in_one_stream_is_in_order)
{
    test_context(_i);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = ones();
    for (unsigned i = 0; i < 20; i++) OK(test_launch("add", stream, p, i, N));
    OK(test_launch("set", stream, p, 5, N));
    OK(test_launch("add", stream, p, 2, N));
    ck_assert_uint_eq(seen_from(stream, p), 7);
}
END_TEST

START_TEST(latest_two_streams_are_not_ordered)
{
    test_context(LATEST);
    CUdeviceptr p = ones();
    CUstream a = test_stream(0), b = test_stream(0);
    OK(test_launch("set", a, p, 2, N));
    ck_assert_uint_eq(seen_from(b, p), 1);
}
END_TEST

START_TEST(a_stream_is_synchronised_alone)
{
    test_context(LATEST);
    CUdeviceptr p = ones(), q = ones();
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    OK(test_launch("set", a, p, 2, N));
    OK(test_launch("set", b, q, 3, N));
    OK(cuStreamSynchronize(b));
    CUstream c = test_stream(CU_STREAM_NON_BLOCKING);
    ck_assert_uint_eq(seen_from(c, q), 3);
    ck_assert_uint_eq(seen_from(c, p), 1);
}
END_TEST

/* As an H100 does: cuStreamSynchronize(NULL) took as long as the blocking stream's kernel. */
START_TEST(the_legacy_stream_is_synchronised_with_the_blocking_ones)
{
    test_context(LATEST);
    CUdeviceptr p = ones(), q = ones();
    CUstream reader = test_stream(CU_STREAM_NON_BLOCKING);
    CUstream blocking = test_stream(0), alone = test_stream(CU_STREAM_NON_BLOCKING);
    OK(test_launch("set", blocking, p, 2, N));
    OK(test_launch("set", alone, q, 3, N));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamQuery(blocking));
    ck_assert_uint_eq(seen_from(reader, p), 2);
    ck_assert_uint_eq(seen_from(reader, q), 1);
}
END_TEST

START_TEST(a_context_is_synchronised_with_all_its_streams)
{
    test_context(_i);
    CUdeviceptr p = ones();
    unsigned *out = test_pinned(BYTES);
    OK(test_launch("set", test_stream(CU_STREAM_NON_BLOCKING), p, 2, N));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoHAsync(out, p, BYTES, test_stream(CU_STREAM_NON_BLOCKING)));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(out[0], 2);
}
END_TEST

START_TEST(the_legacy_stream_waits_for_blocking_streams)
{
    test_context(_i);
    CUdeviceptr p = ones();
    OK(test_launch("set", test_stream(0), p, 2, N));
    ck_assert_uint_eq(seen_from(NULL, p), 2);
    OK(test_launch("set", test_stream(0), p, 3, N));
    ck_assert_uint_eq(seen_from(CU_STREAM_LEGACY, p), 3);
}
END_TEST

START_TEST(blocking_streams_wait_for_the_legacy_stream)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream stream = test_stream(0);
    OK(test_launch("set", NULL, p, 2, N));
    ck_assert_uint_eq(seen_from(stream, p), 2);
}
END_TEST

START_TEST(latest_a_non_blocking_stream_is_exempt_from_both)
{
    test_context(LATEST);
    CUdeviceptr p = ones();
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(test_launch("set", NULL, p, 2, N));
    ck_assert_uint_eq(seen_from(stream, p), 1);
    CUdeviceptr q = ones();
    OK(test_launch("set", stream, q, 2, N));
    ck_assert_uint_eq(seen_from(NULL, q), 1);
}
END_TEST

/* alpaka #850: a synchronous copy is legacy-stream work and waits for no non-blocking stream. */
START_TEST(latest_a_synchronous_copy_does_not_wait_for_a_non_blocking_stream)
{
    test_context(LATEST);
    unsigned out[N];
    CUdeviceptr p = ones();
    OK(test_launch("set", test_stream(CU_STREAM_NON_BLOCKING), p, 2, N));
    OK(cuMemcpyDtoH(out, p, BYTES));
    ck_assert_uint_eq(out[0], 1);
}
END_TEST

START_TEST(waiting_for_an_event_in_the_legacy_stream_is_an_action)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream a = test_stream(0), b = test_stream(0);
    CUevent over = test_event(0);
    OK(cuEventRecord(over, b));
    OK(cuEventSynchronize(over));
    OK(test_launch("set", a, p, 2, N));
    OK(cuStreamWaitEvent(NULL, over, 0)); /* waits for a; b waits for NULL's work */
    ck_assert_uint_eq(seen_from(b, p), 2);
}
END_TEST

/* As on an H200, and as older documentation says ("a functional no-op"). */
START_TEST(waiting_for_an_event_that_was_never_recorded_is_none)
{
    test_context(LATEST);
    CUdeviceptr p = ones();
    CUstream a = test_stream(0), b = test_stream(0);
    OK(test_launch("set", a, p, 2, N));
    OK(cuStreamWaitEvent(NULL, test_event(0), 0));
    ck_assert_uint_eq(seen_from(b, p), 1);
}
END_TEST

/* As on an H200: the device has nothing to do for such a record, so neither a query nor a wait of
 * the stream sees it; a wait for the event does. */
START_TEST(an_untimed_record_behind_the_legacy_stream_alone_is_not_waited_for)
{
    test_context(_i);
    unsigned *flag = test_pinned(64);
    CUstream a = test_stream(0), b = test_stream(0);
    CUevent untimed = test_event(CU_EVENT_DISABLE_TIMING), timed = test_event(0);
    *flag = 0;
    OK(cuStreamWaitValue32(a, (CUdeviceptr)(uintptr_t)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(test_launch("set", NULL, test_device(BYTES), 2, N));
    OK(cuEventRecord(untimed, b));
    OK(cuStreamQuery(b));
    OK(cuStreamSynchronize(b));
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(untimed));
    OK(cuEventRecord(timed, b));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(b));
    *flag = 1;
    OK(cuEventSynchronize(untimed));
    OK(cuStreamSynchronize(b));
    OK(cuEventQuery(timed));
}
END_TEST

START_TEST(the_per_thread_stream_is_a_blocking_stream)
{
    test_context(_i);
    CUdeviceptr p = ones();
    OK(test_launch("set", CU_STREAM_PER_THREAD, p, 2, N));
    ck_assert_uint_eq(seen_from(NULL, p), 2);
    OK(test_launch("set", NULL, p, 3, N));
    ck_assert_uint_eq(seen_from(CU_STREAM_PER_THREAD, p), 3);
}
END_TEST

static void *id_of_per_thread_stream(void *id)
{
    OK(cuCtxSetCurrent(test_context_handle));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, id));
    return NULL;
}

START_TEST(every_thread_has_its_own_per_thread_stream)
{
    test_context(_i);
    unsigned long long mine, again, other, legacy;
    pthread_t thread;
    id_of_per_thread_stream(&mine);
    id_of_per_thread_stream(&again);
    pthread_create(&thread, NULL, id_of_per_thread_stream, &other);
    pthread_join(thread, NULL);
    OK(cuStreamGetId(NULL, &legacy));
    ck_assert_uint_eq(mine, again);
    ck_assert_uint_ne(mine, other);
    ck_assert_uint_ne(mine, legacy);
}
END_TEST

/* The names with _ptsz treat stream 0 as the thread's own stream. */
START_TEST(the_ptsz_names_take_stream_0_for_the_per_thread_stream)
{
    CUresult (*get_id)(CUstream, unsigned long long *);
    unsigned long long mine, zero;
    test_context(_i);
    OK(cuGetProcAddress("cuStreamGetId", (void **)&get_id, CUDA_VERSION,
                        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    OK(get_id(NULL, &zero));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
    ck_assert_uint_eq(zero, mine);
}
END_TEST

/* Adds 1 in the thread's own stream; waits for it if that is asked for. */
static CUdeviceptr added_to;
static void *add_and_end(void *waits)
{
    OK(cuCtxSetCurrent(test_context_handle));
    OK(test_launch("add", CU_STREAM_PER_THREAD, added_to, 1, N));
    if (waits != NULL) OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

static void in_short_threads(unsigned count, bool waits)
{
    static char yes;
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, add_and_end, waits ? &yes : NULL), 0);
        pthread_join(thread, NULL);
    }
}

START_TEST(work_in_the_stream_of_a_thread_that_has_ended_is_done)
{
    enum { THREADS = 150 };
    test_context(_i);
    added_to = ones();
    in_short_threads(THREADS, true);
    in_short_threads(1, false);
    in_short_threads(THREADS, true);
    OK(test_launch("add", CU_STREAM_PER_THREAD, added_to, 1, N));
    ck_assert_uint_eq(seen_from(NULL, added_to), 2 * THREADS + 3);
    OK(cuCtxDestroy(test_context_handle));
    ck_assert_uint_eq(test_count(TRACE_CREATE, TRACE_STREAM, NULL), 2 * THREADS + 3);
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_STREAM, NULL), 2 * THREADS + 3);
    const struct trace *trace = test_trace(); /* the next call frees it */
    for (const struct trace_record *r = trace->records; r < trace->records + trace->count; r++)
        if (r->what == TRACE_STREAM) ck_assert(r->flags & TRACE_IMPLICIT);
}
END_TEST

START_TEST(destroying_a_stream_with_pending_work_returns_at_once_and_loses_nothing)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream stream = test_stream(0);
    OK(test_launch("set", stream, p, 2, N));
    OK(cuStreamDestroy(stream));
    if (_i == LATEST) ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_KERNEL, "set"), 0);
    ck_assert_uint_eq(seen_from(NULL, p), 2);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
}
END_TEST

START_TEST(a_stream_query_is_not_ready_then_ready)
{
    test_context(_i);
    CUdeviceptr p = ones();
    unsigned *out = test_pinned(BYTES);
    CUstream stream = test_stream(0);
    OK(cuStreamQuery(stream));
    OK(test_launch("slow", stream, p, 2, N));
    OK(cuMemcpyDtoHAsync(out, p, BYTES, stream));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    if (_i == LATEST) ck_assert_uint_eq(out[0], 0x7f7f7f7f);
    int polls = 0;
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) ck_assert_int_lt(++polls, 10000);
    ck_assert_uint_eq(out[0], 2);
}
END_TEST

/* A polling loop ends, however long the work: each consecutive unsuccessful query costs more
 * time. */
START_TEST(repeated_queries_take_longer)
{
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream stream = test_stream(0);
    OK(test_launch("slow", stream, p, 2, N));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
    }
    const struct trace *trace = test_trace();
    uint64_t before = 0, polls = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind != TRACE_CALL || strcmp(r->name, "cuStreamQuery") != 0) continue;
        ck_assert_uint_gt(r->end_ns - r->start_ns, before);
        before = r->end_ns - r->start_ns;
        polls++;
    }
    ck_assert_uint_gt(polls, 5);
    ck_assert_uint_lt(polls, 100); /* of a kernel that takes more than 100 us */
}
END_TEST

START_TEST(stream_properties_are_what_was_asked_for)
{
    CUstream stream;
    CUcontext context;
    CUgreenCtx green = (CUgreenCtx)&stream;
    int priority, least, greatest;
    unsigned flags;
    test_context(_i);
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    ck_assert_int_lt(greatest, least);
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
    OK(cuStreamGetPriority(stream, &priority));
    ck_assert_int_eq(priority, greatest);
    OK(cuStreamGetFlags(stream, &flags));
    ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetCtx(stream, &context));
    OK(cuStreamGetGreenCtx(stream, &green));
    ck_assert_ptr_null(green);
    ck_assert_ptr_eq(context, test_context_handle);
    OK(cuStreamCreateWithPriority(&stream, 0, greatest - 100));
    OK(cuStreamGetPriority(stream, &priority));
    ck_assert_int_eq(priority, greatest); /* clamped */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 0x80));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(NULL, 0));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery((CUstream)&stream));
}
END_TEST

START_TEST(a_stream_says_in_which_context)
{
    CUcontext other;
    static const char nothing[] =
        ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
    CUfunction here, there;
    CUmodule module;
    CUdeviceptr memory = 0;
    test_context(_i);
    CUdeviceptr p = ones();
    CUstream stream = test_stream(0);
    OK(cuModuleGetFunction(&here, test_module, "set"));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuModuleLoadData(&module, nothing));
    OK(cuModuleGetFunction(&there, module, "k"));
    unsigned value = 3, count = N;
    void *arguments[] = {&p, &value, &count};
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernel(there, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "wrong context"), 1);
    for (int current = 1; current >= 0; current--) { /* another context, or none */
        OK(cuMemsetD32Async(p, 0, N, stream));
        OK(cuLaunchKernel(here, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
        OK(cuMemAllocAsync(&memory, BYTES, stream));
        OK(cuMemFreeAsync(memory, stream));
        OK(cuStreamSynchronize(stream));
        if (current) OK(cuCtxPopCurrent(NULL));
        if (current) OK(cuCtxPopCurrent(NULL));
    }
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemsetD32Async(p, 0, N, NULL));
    /* A library's kernel runs in the context of the stream. */
    CUlibrary library;
    CUkernel kernel;
    OK(cuLibraryLoadData(&library, nothing, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "k"));
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    OK(cuStreamSynchronize(stream));
}
END_TEST

/* ---- host functions ----------------------------------------------------------------------- */

static struct {
    unsigned *out;
    unsigned seen;
    CUresult cuda_inside;
    int calls;
    CUresult status;
} host;

static void host_function(void *unused)
{
    (void)unused;
    host.seen = host.out != NULL ? host.out[0] : 0;
    if (host.out != NULL) host.out[1] = 99;
    size_t free, total;
    host.cuda_inside = cuMemGetInfo(&free, &total);
    __atomic_add_fetch(&host.calls, 1, __ATOMIC_RELEASE);
}

static void CUDA_CB callback(CUstream stream, CUresult status, void *argument)
{
    (void)stream;
    host.status = status;
    host_function(argument);
}

START_TEST(a_host_function_runs_after_prior_work_and_blocks_later_work)
{
    test_context(_i);
    CUdeviceptr p = ones(), q = ones();
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    host.out = test_pinned(BYTES);
    OK(test_launch("set", stream, p, 2, N));
    OK(cuMemcpyDtoHAsync(host.out, p, BYTES, stream));
    OK(cuLaunchHostFunc(stream, host_function, NULL));
    OK(cuMemcpyHtoDAsync(q, host.out, BYTES, stream));
    unsigned *back = test_pinned(BYTES);
    OK(cuMemcpyDtoHAsync(back, q, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_int_eq(host.calls, 1);
    ck_assert_uint_eq(host.seen, 2);
    ck_assert_uint_eq(back[1], 99);
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_HOST_FUNCTION, NULL), 1);
}
END_TEST

START_TEST(a_host_function_must_not_call_cuda)
{
    test_context(_i);
    OK(cuLaunchHostFunc(NULL, host_function, NULL));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(host.cuda_inside, CUDA_ERROR_NOT_PERMITTED);
    host.cuda_inside = CUDA_SUCCESS;
    OK(cuStreamAddCallback(NULL, callback, NULL, 0));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(host.cuda_inside, CUDA_ERROR_NOT_PERMITTED);
    ck_assert_int_eq(host.status, CUDA_SUCCESS);
    ck_assert_ptr_nonnull(test_find(TRACE_FINDING, 0, "call in a host function"));
}
END_TEST

START_TEST(a_host_function_is_not_called_after_an_error_and_a_callback_is_told)
{
    test_context(_i);
    CUdeviceptr p = ones();
    host.status = CUDA_SUCCESS;
    OK(test_launch("trap", NULL, p, 0, N));
    CUresult submitted = cuLaunchHostFunc(NULL, host_function, NULL);
    if (submitted == CUDA_SUCCESS) OK(cuStreamAddCallback(NULL, callback, NULL, 0));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    /* Under the earliest order the error was reported before. */
    if (submitted != CUDA_SUCCESS) return;
    while (__atomic_load_n(&host.calls, __ATOMIC_ACQUIRE) == 0) usleep(1000);
    ck_assert_int_eq(host.calls, 1);
    ck_assert_int_eq(host.status, CUDA_ERROR_LAUNCH_FAILED);
}
END_TEST

static pthread_mutex_t flag_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flag_changed = PTHREAD_COND_INITIALIZER;
static bool flag;

static void raise_flag(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&flag_lock);
    flag = true;
    pthread_cond_signal(&flag_changed);
    pthread_mutex_unlock(&flag_lock);
}

#define HOG_MS 300

static uint64_t thread_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Starts a process that keeps the caller's processor busy. */
static pid_t hog(void)
{
    const int here = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here < 0 ? 0 : here, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    const pid_t child = fork();
    const uint64_t begin = thread_ms(CLOCK_MONOTONIC);
    while (child == 0)
        if (thread_ms(CLOCK_MONOTONIC) - begin > HOG_MS) _exit(0);
    return child;
}

/* A program that wants a processor and has none has not waited: memory that it abandoned stays
 * unchanged. */
START_TEST(a_starved_program_has_not_waited)
{
    const struct sched_param none = {0};
    test_context(LATEST);
    OK(cuLaunchHostFunc(NULL, raise_flag, NULL));
    /* Only this thread: the device's own threads run where there is room. */
    const pid_t child = hog();
    ck_assert_int_eq(sched_setscheduler(0, SCHED_IDLE, &none), 0);
    for (uint64_t begin = thread_ms(CLOCK_THREAD_CPUTIME_ID);
         thread_ms(CLOCK_THREAD_CPUTIME_ID) - begin < 5;)
        continue;
    pthread_mutex_lock(&flag_lock);
    const bool early = flag;
    pthread_mutex_unlock(&flag_lock);
    ck_assert(!early);
    waitpid(child, NULL, 0);
    OK(cuCtxSynchronize());
    ck_assert(flag);
}
END_TEST

/* Legal: the device works on its own, so the function is called although no CUDA call is made. */
START_TEST(a_host_that_sleeps_until_its_host_function_has_run_is_woken)
{
    test_context(_i);
    CUdeviceptr p = ones();
    OK(test_launch("set", NULL, p, 2, N));
    OK(cuLaunchHostFunc(NULL, raise_flag, NULL));
    pthread_mutex_lock(&flag_lock);
    while (!flag) pthread_cond_wait(&flag_changed, &flag_lock);
    pthread_mutex_unlock(&flag_lock);
    ck_assert_uint_eq(seen_from(NULL, p), 2);
}
END_TEST

static void wait_for_flag(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&flag_lock);
    while (!flag) pthread_cond_wait(&flag_changed, &flag_lock);
    pthread_mutex_unlock(&flag_lock);
}

START_TEST(a_host_function_may_wait_for_the_host)
{
    test_context(_i);
    CUdeviceptr p = ones();
    OK(cuLaunchHostFunc(NULL, wait_for_flag, NULL));
    OK(test_launch("set", NULL, p, 2, N));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    raise_flag(NULL);
    ck_assert_uint_eq(seen_from(NULL, p), 2);
}
END_TEST

static void *synchronise(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(test_context_handle));
    OK(cuCtxSynchronize());
    return NULL;
}

/* While one thread waits for a host function, other threads can call CUDA. */
START_TEST(other_threads_call_cuda_while_one_waits_for_a_host_function)
{
    test_context(_i);
    pthread_t thread;
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = ones();
    OK(cuLaunchHostFunc(test_stream(CU_STREAM_NON_BLOCKING), wait_for_flag, NULL));
    pthread_create(&thread, NULL, synchronise, NULL);
    usleep(20000);
    OK(test_launch("set", stream, p, 2, N));
    ck_assert_uint_eq(seen_from(stream, p), 2);
    raise_flag(NULL);
    pthread_join(thread, NULL);
}
END_TEST

/* ---- values ------------------------------------------------------------------------------- */

START_TEST(a_wait_for_a_value_orders_two_streams)
{
    test_context(_i);
    CUdeviceptr p = ones(), value = test_device(8);
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD32(value, 0, 2));
    OK(cuCtxSynchronize());
    OK(cuStreamWaitValue32(b, value, 3, CU_STREAM_WAIT_VALUE_GEQ));
    OK(test_launch("add", b, p, 1, N));
    OK(test_launch("set", a, p, 10, N));
    OK(cuStreamWriteValue32(a, value, 4, 0));
    ck_assert_uint_eq(seen_from(b, p), 11);
    OK(cuStreamWaitValue64(b, value, 4, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamSynchronize(b));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(a, 0, 0, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64(a, value + 4, 0, 0));
}
END_TEST

#define WRITE(to, what)                                                                            \
    {                                                                                              \
        .writeValue = {                                                                            \
            .operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,                                          \
            .address = (to),                                                                       \
            .value = (what)                                                                        \
        }                                                                                          \
    }

START_TEST(a_batch_of_values_is_done_or_refused_as_a_whole)
{
    test_context(_i);
    CUdeviceptr p = test_device(8);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    uint32_t seen[2];
    CUstreamBatchMemOpParams right[] = {
        WRITE(p, 1), {.operation = CU_STREAM_MEM_OP_BARRIER}, WRITE(p + 4, 2)};
    CUstreamBatchMemOpParams unknown[] = {WRITE(p, 3), {.operation = 77}};
    CUstreamBatchMemOpParams nowhere[] = {WRITE(p, 3), WRITE(0, 3)};
    CUstreamBatchMemOpParams between[] = {WRITE(p, 3), WRITE(p + 2, 3)};
    OK(cuStreamBatchMemOp(stream, 3, right, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream, 2, unknown, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream, 2, nowhere, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream, 2, between, 0));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(seen, p, 8));
    ck_assert_uint_eq(seen[0], 1);
    ck_assert_uint_eq(seen[1], 2);
}
END_TEST

static void *write_later(void *value)
{
    usleep(20000);
    __atomic_store_n((uint32_t *)value, 5, __ATOMIC_RELEASE);
    return NULL;
}

START_TEST(a_wait_for_a_value_that_the_host_writes_ends)
{
    test_context(_i);
    uint32_t *value = test_pinned(4);
    pthread_t thread;
    *value = 0;
    OK(cuStreamWaitValue32(NULL, (CUdeviceptr)(uintptr_t)value, 5, CU_STREAM_WAIT_VALUE_EQ));
    pthread_create(&thread, NULL, write_later, value);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(*value, 5);
    pthread_join(thread, NULL);
}
END_TEST

/* ---- contexts' kernels in time ------------------------------------------------------------- */

START_TEST(kernels_overlap_between_streams_but_never_between_contexts)
{
    CUcontext other;
    test_context(_i);
    CUdeviceptr p = ones(), q = ones();
    CUstream streams[4];
    for (int i = 0; i < 2; i++) streams[i] = test_stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 2; i++) OK(test_launch("slow", streams[i], i ? q : p, 1, 32));
    OK(cuCtxSynchronize());
    const struct trace *trace = test_trace();
    const struct trace_record *kernels[8];
    size_t count = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind == TRACE_OPERATION && trace->records[i].what == TRACE_KERNEL)
            kernels[count++] = &trace->records[i];
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_lt(kernels[1]->start_ns, kernels[0]->end_ns);
    ck_assert_uint_lt(kernels[0]->start_ns, kernels[1]->end_ns);
    ck_assert_uint_eq(kernels[0]->count, 128);

    CUmodule first_module = test_module;
    OK(test_launch("slow", streams[0], p, 1, 32));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    char *ptx = ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry slow() {"
                ".reg .pred %p; .reg .b32 %r; mov.u32 %r, 0; again: add.s32 %r, %r, 1;"
                "setp.lt.s32 %p, %r, 20000; @%p bra again; ret; }\n";
    CUfunction slow;
    OK(cuModuleLoadData(&test_module, ptx));
    OK(cuModuleGetFunction(&slow, test_module, "slow"));
    OK(cuLaunchKernel(slow, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(test_context_handle));
    OK(cuCtxSynchronize());
    test_module = first_module;
    trace = test_trace();
    count = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind == TRACE_OPERATION && trace->records[i].what == TRACE_KERNEL)
            kernels[count++] = &trace->records[i];
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_ne(kernels[2]->context, kernels[3]->context);
    ck_assert(kernels[2]->end_ns <= kernels[3]->start_ns ||
              kernels[3]->end_ns <= kernels[2]->start_ns);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverStream");
    TCase *tcase = tcase_create("streams");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        work_in_one_stream_is_in_order,
        a_context_is_synchronised_with_all_its_streams,
        the_legacy_stream_waits_for_blocking_streams,
        blocking_streams_wait_for_the_legacy_stream,
        waiting_for_an_event_in_the_legacy_stream_is_an_action,
        waiting_for_an_event_that_was_never_recorded_is_none,
        an_untimed_record_behind_the_legacy_stream_alone_is_not_waited_for,
        the_per_thread_stream_is_a_blocking_stream,
        every_thread_has_its_own_per_thread_stream,
        the_ptsz_names_take_stream_0_for_the_per_thread_stream,
        work_in_the_stream_of_a_thread_that_has_ended_is_done,
        destroying_a_stream_with_pending_work_returns_at_once_and_loses_nothing,
        a_stream_query_is_not_ready_then_ready,
        repeated_queries_take_longer,
        stream_properties_are_what_was_asked_for,
        a_stream_says_in_which_context,
        a_host_function_runs_after_prior_work_and_blocks_later_work,
        a_host_function_must_not_call_cuda,
        a_host_function_is_not_called_after_an_error_and_a_callback_is_told,
        a_host_that_sleeps_until_its_host_function_has_run_is_woken,
        a_host_function_may_wait_for_the_host,
        other_threads_call_cuda_while_one_waits_for_a_host_function,
        a_wait_for_a_value_orders_two_streams,
        a_batch_of_values_is_done_or_refused_as_a_whole,
        a_wait_for_a_value_that_the_host_writes_ends,
        kernels_overlap_between_streams_but_never_between_contexts,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    tcase_add_test(tcase, a_starved_program_has_not_waited);
    tcase_add_test(tcase, latest_two_streams_are_not_ordered);
    tcase_add_test(tcase, a_stream_is_synchronised_alone);
    tcase_add_test(tcase, the_legacy_stream_is_synchronised_with_the_blocking_ones);
    tcase_add_test(tcase, latest_a_non_blocking_stream_is_exempt_from_both);
    tcase_add_test(tcase, latest_a_synchronous_copy_does_not_wait_for_a_non_blocking_stream);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
