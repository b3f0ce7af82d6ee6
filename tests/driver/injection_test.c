/* Calls that are made to fail by OVERLAP_FAIL: which call, with which error, and that it had no
 * effect. */
#include "tests/driver/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_fail(const char *which)
{
    ck_assert_int_eq(setenv("OVERLAP_FAIL", which, 1), 0);
}

/* Makes a context; its calls (cuInit, cuDeviceGet, cuCtxCreate) are counted. */
static CUcontext start(const char *which)
{
    CUcontext context;
    CUdevice device;
    make_fail(which);
    test_begin(LATEST);
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate(&context, NULL, 0, device));
    return context;
}

static size_t made_to_fail(void)
{
    const struct trace *trace = test_trace();
    size_t count = 0;
    for (size_t i = 0; i < trace->count; i++)
        count += (trace->records[i].flags & TRACE_MADE_TO_FAIL) != 0;
    return count;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const char *const faults[] = {
#define INJECTION(name, way) #name,
#include "emulator/driver/entry/injection.def"
#undef INJECTION
};

START_TEST(the_table_is_in_order)
{
    for (size_t i = 1; i < sizeof faults / sizeof *faults; i++)
        ck_assert_msg(strcmp(faults[i - 1], faults[i]) < 0, "%s, %s", faults[i - 1], faults[i]);
}
END_TEST

static const char *const functions[] = {
#define ROW(name, implementation, since, needs) #name,
#include "emulator/driver/core/driver.def"
#undef ROW
#define ROW(symbol, name, needs, stream, parameters, arguments) #symbol,
#define BY_HAND(symbol) #symbol,
#include "emulator/runtime/runtime.def"
#undef ROW
#undef BY_HAND
};

/* Tests that every name is a function's: another name would never fail. */
START_TEST(the_table_names_functions)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof functions / sizeof *functions && !found; k++) {
            const size_t length = strlen(faults[i]);
            found = strncmp(functions[k], faults[i], length) == 0 &&
                    (functions[k][length] == '\0' || functions[k][length] == '_');
        }
        ck_assert_msg(found, "%s", faults[i]);
    }
}
END_TEST

/* ---- which call ----------------------------------------------------------------------------- */

START_TEST(the_nth_call_fails_and_no_other)
{
    CUdeviceptr p = 5;
    start("5"); /* the second allocation */
    test_device(64);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 64));
    ck_assert_uint_eq(p, 5);
    OK(cuMemAlloc(&p, 64));
    OK(cuMemFree(p));
    ck_assert_uint_eq(made_to_fail(), 1);
    const struct trace *trace = test_trace();
    const struct trace_record *call = NULL;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].flags & TRACE_MADE_TO_FAIL) call = &trace->records[i];
    ck_assert_ptr_nonnull(call);
    ck_assert_str_eq(call->name, "cuMemAlloc");
    ck_assert_int_eq(call->code, CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert(call->flags & TRACE_CAN_FAIL);
    ck_assert_uint_eq(test_count(TRACE_CREATE, TRACE_DEVICE_MEMORY, NULL), 2);
}
END_TEST

START_TEST(the_nth_call_of_a_function)
{
    CUstream stream = NULL;
    start("cuStreamCreate:2");
    test_device(64);
    OK(cuStreamCreate(&stream, 0));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuStreamCreate(&stream, 0));
    OK(cuStreamCreate(&stream, 0));
    ck_assert_uint_eq(made_to_fail(), 1);
}
END_TEST

/* Not counted: a query of an invalid stream, a free, and calls that fail anyway. */
START_TEST(only_what_could_have_been_done_counts)
{
    CUcontext popped;
    CUdeviceptr p;
    start("4");
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
    OK(cuCtxPopCurrent(&popped));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 64));
    ck_assert_uint_eq(made_to_fail(), 0);
}
END_TEST

/* A context that cannot be made current leaves the one that was. */
START_TEST(what_makes_a_context_current_can_fail)
{
    CUcontext context = start("cuCtxSetCurrent:1"), current = NULL;
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(NULL));
    OK(cuCtxGetCurrent(&current));
    ck_assert_ptr_eq(current, context);
    OK(cuCtxSetCurrent(NULL));
    ck_assert_uint_eq(made_to_fail(), 1);
}
END_TEST

static const struct {
    const char *which;
    CUresult code;
} at_the_start[] = {
    {"1", CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
    {"2", CUDA_ERROR_INVALID_DEVICE},
    {"3", CUDA_ERROR_OUT_OF_MEMORY},
};

START_TEST(starting_can_fail)
{
    CUcontext context = NULL;
    CUdevice device = 0;
    CUresult got[3];
    make_fail(at_the_start[_i].which);
    test_begin(LATEST);
    got[0] = cuInit(0);
    if (got[0] != CUDA_SUCCESS) OK(cuInit(0));
    got[1] = cuDeviceGet(&device, 0);
    got[2] = cuCtxCreate(&context, NULL, 0, device);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(got[i], i == _i ? at_the_start[i].code : CUDA_SUCCESS);
    if (_i == 2) {
        OK(cuCtxGetCurrent(&context));
        ck_assert_ptr_null(context);
    }
}
END_TEST

/* Parent and child count together, and one call of both fails. */
START_TEST(forked_children_count_together)
{
    int failures = 0, version;
    make_fail("cuCtxCreate:2");
    OK(cuDriverGetVersion(&version)); /* reads the variable, and starts nothing */
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        if (child == 0) {
            CUcontext context;
            CUdevice device;
            if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) _exit(2);
            _exit(cuCtxCreate(&context, NULL, 0, device) != CUDA_SUCCESS);
        }
        int status = 0;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), i == 1);
        failures += WEXITSTATUS(status);
    }
    ck_assert_int_eq(failures, 1);
}
END_TEST

/* ---- what it does --------------------------------------------------------------------------- */

START_TEST(a_launch_that_fails_does_not_run)
{
    uint32_t value = 0;
    make_fail("cuLaunchKernel:2");
    test_context(LATEST);
    CUdeviceptr p = test_device(4);
    OK(test_launch("set", NULL, p, 1, 1));
    FAILS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, test_launch("set", NULL, p, 2, 1));
    OK(cuMemcpyDtoH(&value, p, sizeof value));
    ck_assert_uint_eq(value, 1);
}
END_TEST

START_TEST(a_copy_that_fails_leaves_all_as_it_was)
{
    make_fail("cuMemcpyDtoHAsync:1");
    test_context(EARLIEST);
    CUdeviceptr p = test_device(4);
    uint32_t *to = test_pinned(4);
    *to = 7;
    OK(test_launch("set", NULL, p, 1, 1));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemcpyDtoHAsync(to, p, 4, NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(*to, 7);
    OK(cuMemcpyDtoHAsync(to, p, 4, NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(*to, 1);
}
END_TEST

/* A wait fails because the work did: that work does not run, and no later work does; but existing
 * objects can be released. */
START_TEST(a_wait_that_fails_loses_the_context)
{
    make_fail("cuStreamSynchronize:1");
    test_context(LATEST);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = test_device(4), other, in_order;
    uint32_t *to = test_pinned(4);
    *to = 7;
    OK(cuMemAllocAsync(&in_order, 4, stream));
    OK(test_launch("set", stream, p, 1, 1));
    OK(cuMemcpyDtoHAsync(to, p, 4, stream));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemAlloc(&other, 4));
    ck_assert_uint_eq(*to, 7);
    const size_t before = test_count(TRACE_DESTROY, 0, NULL);
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFree(p));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFreeHost(to));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFreeAsync(in_order, stream));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuStreamDestroy(stream));
    ck_assert_uint_eq(test_count(TRACE_DESTROY, 0, NULL), before + 4);
    ck_assert_uint_eq(made_to_fail(), 1);
    /* Those frees returned an error, so freeing once more is no double free. */
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFree(p));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFree(in_order));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "double free"), 0);
}
END_TEST

/* Only the context in which the call was made to fail has the error. */
START_TEST(another_context_goes_on)
{
    make_fail("cuCtxSynchronize:1");
    test_context(LATEST);
    CUcontext other, lost;
    CUdeviceptr p;
    OK(cuCtxGetCurrent(&lost));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuCtxPopCurrent(&other));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    OK(cuCtxPushCurrent(other));
    OK(cuMemAlloc(&p, 4));
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
    OK(cuCtxDestroy(other));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}
END_TEST

/* A call that would lose the context fails alone when that is requested. */
START_TEST(a_query_that_fails_alone_leaves_the_context)
{
    make_fail("cuStreamQuery:2:alone");
    test_context(LATEST);
    OK(cuStreamQuery(NULL));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuStreamQuery(NULL));
    OK(cuStreamQuery(NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(made_to_fail(), 1);
}
END_TEST

/* ---- what is no such thing ------------------------------------------------------------------ */

static const char *const no_number[] = {"0",           "x",   "-1", "cuMemFree:1",
                                        "cuMemAlloc:", "1:2", ":",  "cuMemAlloc:0"};

START_TEST(a_value_that_is_none_fails_nothing)
{
    CUdeviceptr p;
    start(no_number[_i]);
    OK(cuMemAlloc(&p, 64));
    ck_assert_uint_eq(made_to_fail(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("faults");
    TCase *tcase = tcase_create("faults");
    tcase_add_test(tcase, the_table_is_in_order);
    tcase_add_test(tcase, the_table_names_functions);
    tcase_add_test(tcase, the_nth_call_fails_and_no_other);
    tcase_add_test(tcase, the_nth_call_of_a_function);
    tcase_add_test(tcase, only_what_could_have_been_done_counts);
    tcase_add_test(tcase, what_makes_a_context_current_can_fail);
    tcase_add_loop_test(tcase, starting_can_fail, 0, 3);
    tcase_add_test(tcase, forked_children_count_together);
    tcase_add_test(tcase, a_launch_that_fails_does_not_run);
    tcase_add_test(tcase, a_copy_that_fails_leaves_all_as_it_was);
    tcase_add_test(tcase, a_wait_that_fails_loses_the_context);
    tcase_add_test(tcase, another_context_goes_on);
    tcase_add_test(tcase, a_query_that_fails_alone_leaves_the_context);
    tcase_add_loop_test(tcase, a_value_that_is_none_fails_nothing, 0,
                        sizeof no_number / sizeof *no_number);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
