/* Contexts: the stack of each thread, creation and destruction, the primary context, forks. */
#include "tests/driver/support.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static CUcontext current(void)
{
    CUcontext context;
    OK(cuCtxGetCurrent(&context));
    return context;
}

static void begin(int order)
{
    test_begin(order);
    OK(cuInit(0));
}

START_TEST(nothing_works_before_cuInit)
{
    int count, version;
    CUcontext context;
    const char *text;
    test_begin(_i);
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxCreate(&context, NULL, 0, 0));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
    OK(cuDriverGetVersion(&version));
    ck_assert_int_eq(version, 13000);
    OK(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &text));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    OK(cuInit(0));
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 1);
}
END_TEST

START_TEST(there_is_no_context_until_one_is_made)
{
    CUdeviceptr p;
    CUcontext context = (CUcontext)&p;
    begin(_i);
    ck_assert_ptr_null(current());
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&context));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&context, NULL, 0, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(&context, NULL, 0x4000, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(NULL, NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)&context));
}
END_TEST

START_TEST(creating_pushes_and_popping_goes_back)
{
    CUcontext a, b, popped;
    begin(_i);
    OK(cuCtxCreate(&a, NULL, 0, 0));
    ck_assert_ptr_eq(current(), a);
    OK(cuCtxCreate(&b, NULL, 0, 0));
    ck_assert_ptr_eq(current(), b);
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, b);
    ck_assert_ptr_eq(current(), a);
    OK(cuCtxPushCurrent(b));
    OK(cuCtxPushCurrent(b)); /* pushing twice is allowed: it is a stack */
    ck_assert_ptr_eq(current(), b);
    OK(cuCtxPopCurrent(NULL));
    OK(cuCtxPopCurrent(NULL));
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, a);
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(NULL));
}
END_TEST

START_TEST(set_current_replaces_the_top_and_null_pops)
{
    CUcontext a, b, popped;
    begin(_i);
    OK(cuCtxCreate(&a, NULL, 0, 0));
    OK(cuCtxCreate(&b, NULL, 0, 0));
    OK(cuCtxSetCurrent(a));
    ck_assert_ptr_eq(current(), a);
    OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, a);
    ck_assert_ptr_eq(current(), a); /* b has been replaced, a was below it */
    OK(cuCtxSetCurrent(NULL));
    ck_assert_ptr_null(current());
    OK(cuCtxSetCurrent(b));
    ck_assert_ptr_eq(current(), b);
}
END_TEST

START_TEST(destroying_the_current_context_pops_it)
{
    CUcontext a, b;
    unsigned version, flags;
    begin(_i);
    OK(cuCtxCreate(&a, NULL, 0, 0));
    OK(cuCtxCreate(&b, NULL, 0, 0));
    OK(cuCtxDestroy(a)); /* not current: stays in the stack below */
    ck_assert_ptr_eq(current(), b);
    OK(cuCtxDestroy(b));
    ck_assert_ptr_eq(current(), a);
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy(a));
    OK(cuCtxPushCurrent(a)); /* pushing it is possible, using it is not */
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion(a, &version));
    OK(cuCtxGetFlags(&flags));
    OK(cuCtxPopCurrent(NULL));
    OK(cuCtxPopCurrent(NULL));
    ck_assert_ptr_null(current());
}
END_TEST

static pthread_barrier_t barrier;

static void *use_while_destroyed(void *context)
{
    CUdeviceptr p;
    ck_assert_ptr_null(current()); /* the stack is the thread's own */
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&p, 16));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); /* destroyed in between */
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&p, 16));
    ck_assert_ptr_eq(current(), context);
    return NULL;
}

START_TEST(other_threads_are_told_that_their_context_is_destroyed)
{
    CUcontext context;
    pthread_t thread;
    begin(_i);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, use_while_destroyed, context);
    pthread_barrier_wait(&barrier);
    OK(cuCtxDestroy(context));
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_context_takes_all_that_is_in_it_along)
{
    test_context(_i);
    CUcontext other;
    size_t free_before, free_after, total;
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuMemGetInfo(&free_before, &total));
    CUstream stream = test_stream(0);
    CUevent event = test_event(0);
    CUdeviceptr p = test_device(1 << 20);
    test_pinned(4096);
    OK(cuMemsetD8Async(p, 1, 16, stream)); /* pending */
    OK(cuCtxDestroy(other));
    OK(cuMemGetInfo(&free_after, &total));
    ck_assert_uint_eq(free_before, free_after);
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuEventQuery(event));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    const struct trace *trace = test_trace();
    size_t implicit = 0, explicit = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind != TRACE_DESTROY) continue;
        if (r->flags & TRACE_IMPLICIT)
            implicit++;
        else
            explicit ++;
    }
    /* Implicit: stream and default stream, the event, both memories; explicit: the context
     * itself. */
    ck_assert_uint_eq(implicit, 5);
    ck_assert_uint_eq(explicit, 1);
}
END_TEST

START_TEST(contexts_cost_virtual_time_one_after_another)
{
    CUcontext contexts[3];
    begin(_i);
    for (int i = 0; i < 3; i++) OK(cuCtxCreate(&contexts[i], NULL, 0, 0));
    const struct trace *trace = test_trace();
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind != TRACE_CALL || r->flags == 0) continue;
        if (r->name[2] != 'C' || r->name[5] != 'C') continue; /* cuCtxCreate */
        ck_assert_uint_ge(r->end_ns - r->start_ns, 100000000);
    }
    ck_assert_uint_eq(test_count(TRACE_CALL, 0, "cuCtxCreate"), 3);
}
END_TEST

static void *create_and_destroy(void *unused)
{
    CUcontext context;
    (void)unused;
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuCtxDestroy(context));
    return NULL;
}

/* Measured: ten threads with a context each take as long as ten contexts one after another. */
START_TEST(threads_that_create_contexts_wait_for_each_other)
{
    enum { THREADS = 10 };
    pthread_t threads[THREADS];
    CUcontext context;
    begin(_i);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, create_and_destroy, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(cuCtxCreate(&context, NULL, 0, 0)); /* after the joins, in virtual time too */
    const struct trace *trace = test_trace();
    uint64_t last_start = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind == TRACE_CALL) last_start = trace->records[i].start_ns;
    ck_assert_uint_ge(last_start, 1500000000);
    ck_assert_uint_le(last_start, 2000000000);
}
END_TEST

START_TEST(the_primary_context_is_counted)
{
    CUcontext primary, again;
    unsigned flags;
    int active;
    begin(_i);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    ck_assert_ptr_null(current()); /* retaining does not push */
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    ck_assert_ptr_eq(primary, again);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    ck_assert_uint_eq(flags, CU_CTX_SCHED_BLOCKING_SYNC);
    OK(cuCtxSetCurrent(primary));
    CUdeviceptr p = test_device(16);
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(primary));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuMemsetD8(p, 0, 16));
    OK(cuDevicePrimaryCtxRelease(0)); /* the last one resets */
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemsetD8(p, 0, 16));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    ck_assert_ptr_eq(primary, again);
    /* Active, but another context: p is gone. */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(p, 0, 16));
}
END_TEST

START_TEST(an_attached_context_lives_until_it_is_detached_as_often)
{
    CUcontext same, other, now;
    test_context(_i);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(&same, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(NULL, 0));
    OK(cuCtxAttach(&same, 0));
    ck_assert_ptr_eq(same, test_context_handle);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(same)); /* not current */
    OK(cuCtxDetach(other));                               /* created, never attached */
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDetach(other));
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, same);
    OK(cuCtxDetach(same));
    OK(cuCtxSynchronize()); /* it still exists */
    OK(cuCtxDetach(same));
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_null(now);
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxAttach(&same, 0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(NULL));
}
END_TEST

START_TEST(what_is_known_of_a_context)
{
    unsigned long long id;
    unsigned version, flags;
    int most;
    size_t limit;
    CUfunc_cache cache;
    CUdevice device = 7;
    test_context(_i);
    OK(cuCtxGetId(NULL, &id));
    ck_assert_uint_gt(id, 0);
    OK(cuCtxGetApiVersion(test_context_handle, &version));
    ck_assert_uint_ge(version, 3020);
    OK(cuCtxGetFlags(&flags));
    ck_assert_uint_eq(flags, 0);
    OK(cuCtxGetDevice(&device));
    ck_assert_int_eq(device, 0);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(limit, 4096);
    OK(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 1000));
    OK(cuCtxGetLimit(&limit, CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
    ck_assert_uint_eq(limit, 128);
    OK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, device));
    OK(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, (size_t)64 << 30));
    OK(cuCtxGetLimit(&limit, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
    ck_assert_uint_eq(limit, (size_t)most);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(&limit, (CUlimit)77));
    OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cuCtxGetCacheConfig(&cache));
    ck_assert_int_eq(cache, CU_FUNC_CACHE_PREFER_L1);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetId(NULL, NULL));
}
END_TEST

/* ---- forks -------------------------------------------------------------------------------- */

/* Returns the exit status of a child that runs `body`. The child must not use Check, whose lock may
 * be held by a thread that the child does not have. */
static int in_child(int (*body)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) _exit(body());
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int use_after_fork(void)
{
    CUdeviceptr p;
    int count;
    if (cuInit(0) != CUDA_ERROR_NOT_INITIALIZED) return 1;
    if (cuDeviceGetCount(&count) != CUDA_ERROR_NOT_INITIALIZED) return 2;
    if (cuMemAlloc(&p, 16) != CUDA_ERROR_NOT_INITIALIZED) return 3;
    if (cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED) return 4;
    return 0;
}

START_TEST(a_forked_child_of_an_initialised_process_has_no_cuda)
{
    test_context(_i);
    ck_assert_int_eq(in_child(use_after_fork), 0);
    CUdeviceptr p = test_device(16); /* the parent's is untouched */
    OK(cuMemsetD8(p, 0, 16));
}
END_TEST

static int start_after_fork(void)
{
    CUcontext context;
    CUdeviceptr p;
    unsigned char out[16];
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    if (cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS) return 2;
    if (cuMemAlloc(&p, 16) != CUDA_SUCCESS) return 3;
    if (cuMemsetD8(p, 5, 16) != CUDA_SUCCESS) return 4;
    if (cuMemcpyDtoH(out, p, 16) != CUDA_SUCCESS) return 5;
    return out[15] == 5 ? 0 : 6;
}

START_TEST(a_child_that_starts_cuda_itself_works)
{
    int count;
    test_begin(_i);
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count)); /* touched, not initialised */
    for (int i = 0; i < 3; i++) ck_assert_int_eq(in_child(start_after_fork), 0);
    ck_assert_int_eq(start_after_fork(), 0);
}
END_TEST

enum { IN_FLIGHT = 4 << 12 };
static char *in_flight;

/* The system copies the bytes it is passed, and returns EFAULT where they are guarded. */
static int hand_to_the_system(void)
{
    int ends[2];
    if (pipe(ends) != 0) return 1;
    if (write(ends[1], in_flight, IN_FLIGHT) != IN_FLIGHT) return 2;
    if (read(ends[0], in_flight, IN_FLIGHT) != IN_FLIGHT) return 3;
    return 0;
}

START_TEST(a_forked_child_has_its_page_locked_memory_to_itself)
{
    test_context(_i);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = test_device(IN_FLIGHT);
    in_flight = test_pinned(IN_FLIGHT);
    OK(cuMemsetD8Async(p, 7, IN_FLIGHT, stream));
    OK(cuMemcpyDtoHAsync(in_flight, p, IN_FLIGHT, stream));
    ck_assert_int_eq(in_child(hand_to_the_system), 0);
    OK(cuStreamSynchronize(stream));
    ck_assert_int_eq(in_flight[IN_FLIGHT - 1], 7);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

static void *call_for_ever(void *stop)
{
    size_t free, total;
    CUresult code = cuCtxSetCurrent(test_context_handle);
    while (code == CUDA_SUCCESS && !__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE))
        code = cuMemGetInfo(&free, &total);
    return code == CUDA_SUCCESS ? NULL : stop;
}

/* Another thread may hold the lock at the moment of the fork. */
START_TEST(a_forked_child_never_waits_for_a_thread_that_it_does_not_have)
{
    bool stop = false;
    pthread_t thread;
    test_context(_i);
    pthread_create(&thread, NULL, call_for_ever, &stop);
    for (int i = 0; i < 8; i++) ck_assert_int_eq(in_child(use_after_fork), 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    void *failed;
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverContext");
    TCase *tcase = tcase_create("contexts");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        nothing_works_before_cuInit,
        there_is_no_context_until_one_is_made,
        creating_pushes_and_popping_goes_back,
        set_current_replaces_the_top_and_null_pops,
        destroying_the_current_context_pops_it,
        other_threads_are_told_that_their_context_is_destroyed,
        a_context_takes_all_that_is_in_it_along,
        contexts_cost_virtual_time_one_after_another,
        threads_that_create_contexts_wait_for_each_other,
        the_primary_context_is_counted,
        an_attached_context_lives_until_it_is_detached_as_often,
        what_is_known_of_a_context,
        a_forked_child_of_an_initialised_process_has_no_cuda,
        a_child_that_starts_cuda_itself_works,
        a_forked_child_has_its_page_locked_memory_to_itself,
        a_forked_child_never_waits_for_a_thread_that_it_does_not_have,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
