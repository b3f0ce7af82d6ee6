/* Ignored errors: a finding names the call that failed and the later call that it affected, in
 * every order; a program that checks the error gets none, whatever it does next. */
#include "tests/driver/support.h"

#include <string.h>

enum { N = 4000, BYTES = N * 4 };

#define TOO_MUCH ((size_t)1 << 60)

/* Checks for one ignored error, of `failed`, which affected `hurt`. */
static void is_named(const char *failed, const char *hurt)
{
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "error ignored"), 1);
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "error ignored");
    ck_assert_msg(strncmp(test_sentence(found), failed, strlen(failed)) == 0, "%s",
                  test_sentence(found));
    ck_assert_msg(strstr(test_sentence(found), hurt) != NULL, "%s", test_sentence(found));
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "by the call before 0x"));
    ck_assert_uint_ne(found->code, 0);
    ck_assert_uint_ne(found->caller, 0);
}

START_TEST(a_copy_to_memory_that_was_not_to_be_had)
{
    static unsigned char host[BYTES];
    CUdeviceptr p = 0;
    test_context(_i);
    cuMemAlloc(&p, TOO_MUCH);
    cuMemcpyHtoD(p, host, BYTES);
    cuMemsetD8(p, 0, BYTES);
    cuMemFree(p);
    is_named("cuMemAlloc failed here with error 2", "cuMemcpyHtoD");
}
END_TEST

START_TEST(a_kernel_on_memory_that_was_not_to_be_had)
{
    CUdeviceptr p = 0;
    test_context(_i);
    cuMemAlloc(&p, TOO_MUCH);
    test_launch("set", NULL, p, 1, N);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    cuMemFree(p);
    is_named("cuMemAlloc failed here", "kernel set");
}
END_TEST

START_TEST(a_copy_from_pinned_memory_that_was_not_to_be_had)
{
    void *pinned = NULL;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    cuMemAllocHost(&pinned, TOO_MUCH);
    cuMemcpyHtoDAsync(p, pinned, BYTES, NULL);
    cuCtxSynchronize();
    is_named("cuMemAllocHost failed here", "cuMemcpyHtoDAsync");
}
END_TEST

START_TEST(handles_that_were_not_made)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    test_context(_i);
    cuModuleLoad(&module, "/nowhere/at.all");
    cuModuleGetFunction(&function, module, "set");
    is_named("cuModuleLoad failed here", "cuModuleGetFunction");
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "error ignored"), 2);
    CUevent event = NULL;
    cuEventCreate(&event, ~0u);
    cuEventRecord(event, NULL);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "error ignored"), 3);
}
END_TEST

START_TEST(a_context_that_was_not_made)
{
    CUcontext context;
    CUdeviceptr p;
    test_context(_i);
    OK(cuCtxPopCurrent(&context));
    cuCtxCreate(&context, NULL, ~0u, 0);
    cuMemAlloc(&p, BYTES);
    is_named("cuCtxCreate failed here", "cuMemAlloc");
}
END_TEST

START_TEST(whoever_looks_is_not_accused)
{
    static unsigned char host[BYTES];
    CUdeviceptr p = 0, q = 0;
    CUevent event = NULL;
    CUstream stream;
    test_context(_i);
    /* Retries with less. */
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, TOO_MUCH));
    OK(cuMemAlloc(&p, BYTES));
    OK(cuMemcpyHtoD(p, host, BYTES));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(0, host, BYTES)); /* an independent mistake */
    /* Goes on without the memory. */
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&q, TOO_MUCH));
    OK(test_launch("set", NULL, p, 1, N));
    OK(cuCtxSynchronize());
    /* Queries work that is not complete yet. */
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(test_launch("slow", stream, p, 1, N));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) continue;
    OK(cuStreamSynchronize(stream));
    /* Releases objects, including one that was never made. */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, ~0u));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
    OK(cuMemFree(q));
    OK(cuMemFree(p));
    /* The only finding is the null pointer above. */
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 1);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid address"), 1);
}
END_TEST

/* Errors caused by a fault are part of the fault, which has a finding of its own. */
START_TEST(what_fails_behind_a_fault_is_not_told_again)
{
    CUdeviceptr q = 0;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    OK(test_launch("trap", NULL, p, 0, N));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemAlloc(&q, BYTES));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemsetD8(q, 0, BYTES));
    CUcontext context;
    OK(cuCtxPopCurrent(&context));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxCreate(&context, NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemsetD8(p, 0, BYTES));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "error ignored"), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_copy_to_memory_that_was_not_to_be_had,
        a_kernel_on_memory_that_was_not_to_be_had,
        a_copy_from_pinned_memory_that_was_not_to_be_had,
        handles_that_were_not_made,
        a_context_that_was_not_made,
        whoever_looks_is_not_accused,
        what_fails_behind_a_fault_is_not_told_again,
    };
    Suite *suite = suite_create("driver_unchecked");
    TCase *tcase = tcase_create("errors");
    tcase_set_timeout(tcase, 300);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(tcase, tests[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
