/* Destroyed and invalid handles: each is reported with where it was made and where it ended, in
 * every order; and using valid ones is no finding. */
#include "tests/driver/support.h"

#include <string.h>

enum { N = 256, BYTES = N * 4 };

/* Checks that the latest finding names the call that created the object and the one that destroyed
 * it. */
static void is_named_with_both_calls(const char *what)
{
    const struct trace *trace = test_trace();
    const struct trace_record *found = NULL;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind == TRACE_FINDING) found = &trace->records[i];
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(trace_finding_kind(found)->name, "use after destruction");
    ck_assert_msg(strstr(test_sentence(found), what) != NULL, "%s: %s", what, test_sentence(found));
    ck_assert_ptr_nonnull(strstr(test_sentence(found), ", created by the call before 0x"));
    ck_assert_ptr_nonnull(strstr(test_sentence(found), ", destroyed by the call before 0x"));
    ck_assert_uint_ne(found->caller, 0);
}

START_TEST(a_destroyed_handle_is_named_with_where_it_was_made_and_ended)
{
    test_context(_i);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamDestroy(stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    is_named_with_both_calls("the stream");
    CUevent event = test_event(CU_EVENT_DEFAULT);
    OK(cuEventDestroy(event));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, NULL));
    is_named_with_both_calls("the event");
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
    is_named_with_both_calls("the event");
    CUfunction function = test_kernel("set");
    OK(cuModuleUnload(test_module));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, test_module, "set"));
    is_named_with_both_calls("the module");
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    is_named_with_both_calls("the function");
    CUgraph graph;
    CUgraphExec exec;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, graph, 0));
    is_named_with_both_calls("the graph");
    OK(cuGraphExecDestroy(exec));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, NULL));
    is_named_with_both_calls("the executable graph");
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool pool;
    CUdeviceptr p;
    OK(cuMemPoolCreate(&pool, &properties));
    OK(cuMemPoolDestroy(pool));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&p, BYTES, pool, NULL));
    is_named_with_both_calls("the memory pool");
}
END_TEST

static void end_of_a_user_object(void *unused)
{
    (void)unused;
}

/* No new object has the handle of one that is gone, which would be taken for it. */
START_TEST(a_user_object_that_is_gone_is_named)
{
    enum { MANY = 64 };
    CUuserObject gone[MANY];
    test_context(_i);
    for (int i = 0; i < MANY; i++) {
        OK(cuUserObjectCreate(&gone[i], NULL, end_of_a_user_object, 1,
                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        for (int k = 0; k < i; k++) ck_assert_ptr_ne(gone[k], gone[i]);
        OK(cuUserObjectRelease(gone[i], 1));
    }
    FAILS(CUDA_ERROR_INVALID_VALUE, cuUserObjectRetain(gone[0], 1));
    is_named_with_both_calls("the user object");
    FAILS(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(gone[1], 1));
    is_named_with_both_calls("the user object");
}
END_TEST

START_TEST(a_context_takes_its_handles_along)
{
    CUcontext current;
    test_context(_i);
    CUevent event = test_event(CU_EVENT_DEFAULT);
    OK(cuCtxDestroy(test_context_handle));
    OK(cuCtxSetCurrent(test_context_handle));
    is_named_with_both_calls("the context");
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy(test_context_handle));
    is_named_with_both_calls("the context");
    OK(cuCtxCreate(&current, NULL, 0, 0));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuEventSynchronize(event));
    is_named_with_both_calls("the event");
}
END_TEST

START_TEST(a_new_object_does_not_answer_to_an_old_handle)
{
    test_context(_i);
    CUevent old = test_event(CU_EVENT_DEFAULT);
    OK(cuEventDestroy(old));
    for (int i = 0; i < 100; i++) ck_assert_ptr_ne(test_event(CU_EVENT_DEFAULT), old);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(old));
    is_named_with_both_calls("the event");
}
END_TEST

START_TEST(what_never_was_a_handle_is_said_to_be_none)
{
    test_context(_i);
    int local;
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)(void *)&local));
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "invalid handle");
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "where a stream is wanted, but no call"));
    CUevent event = test_event(CU_EVENT_DEFAULT);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)(void *)event));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid handle"), 2);
}
END_TEST

START_TEST(a_wrong_context_is_named_with_all_that_was_made)
{
    CUcontext other;
    test_context(_i);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING), theirs;
    CUevent event = test_event(CU_EVENT_DEFAULT);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING));
    /* Stream and event are of one context, whichever is current. */
    OK(cuEventRecord(event, stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, theirs));
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "wrong context");
    const char *at = test_sentence(found);
    for (int i = 0; i < 3; i++, at++)
        ck_assert_ptr_nonnull(at = strstr(at, "created by the call before 0x"));
}
END_TEST

/* Default streams by each of their names, null handles, and the first and last use of an object. */
START_TEST(what_there_is_is_no_finding)
{
    test_context(_i);
    CUstream stream = test_stream(CU_STREAM_DEFAULT);
    CUevent event = test_event(CU_EVENT_DEFAULT);
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0));
    OK(cuStreamWaitEvent(CU_STREAM_LEGACY, event, 0));
    OK(cuStreamSynchronize(NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(NULL));
    OK(cuStreamDestroy(stream));
    OK(cuEventDestroy(event));
    OK(cuModuleUnload(test_module));
    OK(cuCtxDestroy(test_context_handle));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_destroyed_handle_is_named_with_where_it_was_made_and_ended,
        a_user_object_that_is_gone_is_named,
        a_context_takes_its_handles_along,
        a_new_object_does_not_answer_to_an_old_handle,
        what_never_was_a_handle_is_said_to_be_none,
        a_wrong_context_is_named_with_all_that_was_made,
        what_there_is_is_no_finding,
    };
    Suite *suite = suite_create("driver_handle");
    TCase *tcase = tcase_create("handles");
    tcase_set_timeout(tcase, 300);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(tcase, tests[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
