/* Errors: kernels that fail, invalid launches, host code that accesses device memory, names of
 * errors. */
#include "tests/driver/support.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 256, BYTES = N * 4 };

/* ---- kernels that fail -------------------------------------------------------------------- */

static const struct {
    const char *kernel;
    CUresult code;
    const char *finding;
} failures[] = {
    {"beyond", CUDA_ERROR_ILLEGAL_ADDRESS, "out of bounds"},
    {"misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned"},
    {"trap", CUDA_ERROR_LAUNCH_FAILED, "trap"},
    {"endless", CUDA_ERROR_LAUNCH_TIMEOUT, "endless kernel"},
};
enum { FAILURES = sizeof failures / sizeof *failures };

START_TEST(a_kernel_that_fails_is_a_sticky_error_of_its_process)
{
    CUcontext other, none;
    CUdeviceptr q;
    setenv("OVERLAP_INSTRUCTION_LIMIT", "100000", 1);
    test_context(_i / FAILURES);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuCtxPopCurrent(&other));
    const CUresult wanted = failures[_i % FAILURES].code;
    CUdeviceptr p = test_device(BYTES);
    CUstream stream = test_stream(0);
    OK(test_launch(failures[_i % FAILURES].kernel, stream, p, 0, N)); /* asynchronous */
    FAILS(wanted, cuCtxSynchronize());
    FAILS(wanted, cuStreamSynchronize(stream));
    FAILS(wanted, cuMemAlloc(&q, 4));
    FAILS(wanted, cuStreamCreate(&stream, 0));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, failures[_i % FAILURES].finding), 1);
    const struct trace_record *found = test_find(TRACE_FINDING, 0, failures[_i % FAILURES].finding);
    ck_assert_int_eq(found->code, (int)wanted);
    ck_assert_uint_ne(found->caller, 0);
    ck_assert_uint_ne(found->request, 0);
    ck_assert_uint_ne(strlen(test_sentence(found)), 0);
    /* No new context can be made, and existing ones have the error too (H100, H200). */
    FAILS(wanted, cuCtxCreate(&none, NULL, 0, 0));
    OK(cuCtxPushCurrent(other));
    FAILS(wanted, cuMemAlloc(&q, 4));
    OK(cuCtxDestroy(other));
    OK(cuCtxDestroy(test_context_handle)); /* the failed context can be destroyed */
}
END_TEST

START_TEST(cleaning_up_after_a_failure_is_done_and_returns_the_error)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    void *pinned = test_pinned(BYTES);
    CUstream stream = test_stream(0);
    CUevent event = test_event(0);
    OK(test_launch("trap", stream, p, 0, N));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFree(p));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFreeHost(pinned));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuStreamDestroy(stream));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuEventDestroy(event));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuModuleUnload(test_module));
    ck_assert_uint_eq(test_count(TRACE_DESTROY, 0, NULL), 5);
}
END_TEST

START_TEST(work_after_a_failure_does_not_run)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES), q = test_device(BYTES);
    unsigned *out = test_pinned(BYTES);
    unsigned value = 5;
    int n = N;
    void *parameters[] = {&q, &value, &n};
    CUfunction set = test_kernel("set");
    OK(test_launch("beyond", NULL, p, 0, N));
    CUresult later = cuLaunchKernel(set, 2, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL);
    /* The error may be reported by any call from here on. */
    if (later == CUDA_SUCCESS) later = cuMemcpyDtoHAsync(out, q, BYTES, NULL);
    ck_assert(later == CUDA_SUCCESS || later == CUDA_ERROR_ILLEGAL_ADDRESS);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    ck_assert_uint_eq(out[0], 0x7f7f7f7f);
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_KERNEL, "set"), 0);
}
END_TEST

/* As on a GPU; a finding says that the wait is not promised. */
START_TEST(memory_is_freed_when_pending_work_is_done)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    OK(test_launch("set", test_stream(CU_STREAM_NON_BLOCKING), p, 1, N));
    OK(cuMemFree(p));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
    ck_assert_uint_eq(test_count(TRACE_ADVICE, 0, NULL), 1);
}
END_TEST

START_TEST(a_free_returns_the_error_of_the_work_that_it_waits_for)
{
    test_context(LATEST);
    CUdeviceptr p = test_device(BYTES), q = test_device(BYTES);
    OK(test_launch("trap", NULL, p, 0, N));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuMemFree(q));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}
END_TEST

START_TEST(a_host_pointer_in_a_kernel_is_named)
{
    test_context(_i);
    unsigned *host = calloc(N, 4);
    OK(test_launch("set", NULL, (CUdeviceptr)(uintptr_t)host, 1, N));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "wrong side"), 1);
    free(host);
}
END_TEST

/* ---- launches that cannot be -------------------------------------------------------------- */

/* Returns the occurrences of all findings together. */
static uint64_t times_seen(void)
{
    uint64_t times = 0;
    for (size_t i = 0; i < test_trace()->count; i++)
        if (test_trace()->records[i].kind == TRACE_FINDING) times += test_trace()->records[i].count;
    return times;
}

START_TEST(launch_configurations_are_checked_at_the_call)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    unsigned value = 1;
    int n = N;
    void *parameters[] = {&p, &value, &n};
    CUfunction set = test_kernel("set");
    static const struct {
        unsigned grid[3], block[3], shared;
    } wrong[] = {
        {{0, 1, 1}, {1, 1, 1}, 0},     {{1, 0, 1}, {1, 1, 1}, 0},
        {{1, 1, 1}, {0, 1, 1}, 0},     {{1, 1, 1}, {1025, 1, 1}, 0},
        {{1, 1, 1}, {32, 33, 1}, 0},   {{1, 1, 1}, {1, 1, 65}, 0},
        {{1, 65536, 1}, {1, 1, 1}, 0}, {{0x80000000u, 1, 1}, {1, 1, 1}, 0},
        {{1, 1, 1}, {1, 1, 1}, 49153},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        FAILS(CUDA_ERROR_INVALID_VALUE,
              cuLaunchKernel(set, wrong[i].grid[0], wrong[i].grid[1], wrong[i].grid[2],
                             wrong[i].block[0], wrong[i].block[1], wrong[i].block[2],
                             wrong[i].shared, NULL, parameters, NULL));
    /* Repeated launches of one kernel in a loop are one finding with a count. */
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid launch"), 1);
    ck_assert_uint_eq(times_seen(), sizeof wrong / sizeof *wrong);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernel((CUfunction)&p, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    OK(cuFuncSetAttribute(set, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    OK(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 100000, NULL, parameters, NULL));
    FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          cuLaunchCooperativeKernel(set, 100000, 1, 1, 128, 1, 1, 0, NULL, parameters));
    OK(cuCtxSynchronize()); /* none of these is sticky */
}
END_TEST

START_TEST(parameters_may_come_in_a_buffer)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    unsigned out[N];
    struct {
        CUdeviceptr p;
        unsigned value;
        int n;
    } buffer = {p, 8, N};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(test_kernel("set"), 2, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    buffer.value = 9; /* parameters are copied at the call */
    OK(cuMemcpyDtoH(out, p, BYTES));
    ck_assert_uint_eq(out[N - 1], 8);
    /* Missing bytes are filled in, with a finding; surplus ones are refused: as on an H200. */
    static const struct {
        size_t size;
        CUresult code;
    } rows[] = {{0, CUDA_ERROR_INVALID_VALUE},
                {sizeof buffer - 1, CUDA_SUCCESS},
                {sizeof buffer + 1, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size = rows[i].size;
        CUresult code =
            cuLaunchKernel(test_kernel("set"), 2, 1, 1, 128, 1, 1, 0, NULL, NULL, extra);
        ck_assert_int_eq(code, rows[i].code);
        ck_assert_uint_eq(times_seen(), i + 1);
    }
    OK(cuCtxSynchronize());
}
END_TEST

/* ---- the wrong side ----------------------------------------------------------------------- */

static void touch(bool write)
{
    volatile unsigned *device = (volatile unsigned *)(uintptr_t)test_device(BYTES);
    if (write)
        device[3] = 1;
    else
        (void)device[3];
}

static void check_touch(bool write)
{
    int status;
    test_begin(LATEST); /* the child initialises CUDA; the trace is shared */
    pid_t child = fork();
    if (child == 0) {
        CUcontext context;
        if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS)
            _exit(3);
        touch(write);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "wrong side");
    ck_assert_uint_ne(found->caller, 0);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), write ? "wrote to" : "read from"));
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "1024 bytes"));
}

START_TEST(host_code_that_reads_device_memory_is_named_and_ends)
{
    check_touch(false);
}
END_TEST

START_TEST(host_code_that_writes_device_memory_is_named_and_ends)
{
    check_touch(true);
}
END_TEST

static void note_and_leave(int number)
{
    (void)number;
    _exit(42);
}

/* An invalid address that the compiler cannot know. */
static volatile int *volatile nowhere = (volatile int *)16;

START_TEST(other_faults_go_to_the_handler_that_was_there)
{
    int status;
    test_begin(LATEST);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, note_and_leave);
        if (cuInit(0) != CUDA_SUCCESS) _exit(3);
        *nowhere = 1;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 42);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

START_TEST(other_faults_without_a_handler_end_the_process)
{
    int status;
    test_begin(LATEST);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (cuInit(0) != CUDA_SUCCESS) _exit(3);
        *nowhere = 1;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
}
END_TEST

/* ---- names -------------------------------------------------------------------------------- */

START_TEST(every_error_has_a_name_and_a_sentence)
{
    const char *text;
    test_begin(LATEST);
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    ck_assert_str_eq(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    ck_assert_str_eq(text, "an illegal memory access was encountered");
    int known = 0;
    for (int code = 0; code < 1000; code++) {
        if (cuGetErrorName((CUresult)code, &text) != CUDA_SUCCESS) {
            ck_assert_ptr_null(text);
            continue;
        }
        ck_assert_uint_gt(strlen(text), 4);
        OK(cuGetErrorString((CUresult)code, &text));
        ck_assert_uint_gt(strlen(text), 4);
        known++;
    }
    ck_assert_int_gt(known, 100);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &text));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(CUDA_SUCCESS, NULL));
}
END_TEST

START_TEST(an_unsupported_function_names_itself)
{
    CUmemGenericAllocationHandle handle;
    test_context(LATEST);
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&handle, NULL));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&handle, NULL));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "not supported"), 1); /* once per function */
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "not supported");
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "cuMulticastCreate"));
    ck_assert_uint_ne(found->caller, 0);
    ck_assert_int_eq(test_find(TRACE_CALL, 0, "cuMulticastCreate")->code, CUDA_ERROR_NOT_SUPPORTED);
}
END_TEST

START_TEST(every_unsupported_function_says_so)
{
    static const char *const names[] = {
#define ABSENT(name, since) #name,
#include "emulator/driver/entry/absent.def"
#undef ABSENT
    };
    const size_t count = sizeof names / sizeof *names;
    test_begin(LATEST);
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; i < count; i++) {
        int (*function)(void);
        *(void **)&function = dlsym(self, names[i]);
        ck_assert_msg(function != NULL, "%s is not exported", names[i]);
        ck_assert_msg(function() == CUDA_ERROR_NOT_SUPPORTED, "%s", names[i]);
        function();
    }
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "not supported"), count);
    ck_assert_uint_eq(test_count(TRACE_CALL, 0, NULL), 2 * count);
    dlclose(self);
}
END_TEST

/* A loader that asks for a table of functions gives up where one is missing. */
START_TEST(every_name_of_nvidias_driver_is_there)
{
    static const char *const names[] = {
#define EXPORT(name) #name,
#include "tests/driver/exports.def"
#undef EXPORT
    };
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(dlsym(self, names[i]) != NULL, "%s is not exported", names[i]);
    dlclose(self);
}
END_TEST

START_TEST(functions_are_found_by_name_and_version)
{
    void *function;
    CUdriverProcAddressQueryResult status;
    test_begin(LATEST);
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    ck_assert_ptr_nonnull(self);
    static const struct {
        const char *asked;
        int version;
        const char *wanted;
    } rows[] = {
        {"cuMemAlloc", 13000, "cuMemAlloc_v2"},
        {"cuMemAlloc", 3020, "cuMemAlloc_v2"},
        {"cuMemAlloc", 2000, "cuMemAlloc"},
        {"cuCtxCreate", 13000, "cuCtxCreate_v4"},
        {"cuCtxCreate", 12000, "cuCtxCreate_v3"},
        {"cuCtxCreate", 11000, "cuCtxCreate_v2"},
        {"cuInit", 13000, "cuInit"},
        {"cuLaunchKernel", 13000, "cuLaunchKernel"},
        {"cuGraphCreate", 13000, "cuGraphCreate"},
        {"cuEventElapsedTime", 13000, "cuEventElapsedTime_v2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OK(cuGetProcAddress(rows[i].asked, &function, rows[i].version, 0, &status));
        ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SUCCESS);
        ck_assert_msg(function == dlsym(self, rows[i].wanted), "%s at %d is not %s", rows[i].asked,
                      rows[i].version, rows[i].wanted);
    }
    OK(cuGetProcAddress("cuLaunchKernel", &function, 13000,
                        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    ck_assert_ptr_eq(function, dlsym(self, "cuLaunchKernel_ptsz"));
    OK(cuGetProcAddress("cuNoSuch", &function, 13000, 0, &status));
    ck_assert_ptr_null(function);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    OK(cuGetProcAddress("cuLibraryLoadData", &function, 9000, 0, &status));
    ck_assert_ptr_null(function);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    /* A name without the suffix works too. */
    OK(cuGetProcAddress("cuMemAlloc_v2", &function, 13000, 0, &status));
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuMemAlloc", &function, 14000, 0, &status));
    dlclose(self);
}
END_TEST

/* The toolkit's stub library lists the names that a driver exports. */
START_TEST(every_name_of_the_toolkits_stub_is_exported)
{
    char command[600], name[200];
    size_t names = 0;
    if (access(CUDA_STUB, R_OK) != 0) {
        fprintf(stderr, "skipped: there is no %s on this machine\n", CUDA_STUB);
        return;
    }
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    ck_assert_ptr_nonnull(self);
    snprintf(command, sizeof command, "nm -D --defined-only '%s'", CUDA_STUB);
    FILE *list = popen(command, "r");
    ck_assert_ptr_nonnull(list);
    while (fscanf(list, "%*s %*s %199s", name) == 1) {
        ck_assert_msg(dlsym(self, name) != NULL, "%s is not exported", name);
        names++;
    }
    ck_assert_int_eq(pclose(list), 0);
    ck_assert_uint_gt(names, 600);
    dlclose(self);
}
END_TEST

/* Of the emulator's own functions only those for the runtime are exported. */
START_TEST(nothing_else_is_exported)
{
    char command[600], name[200];
    Dl_info info;
    ck_assert_int_ne(dladdr((void *)(uintptr_t)cuInit, &info), 0);
    snprintf(command, sizeof command, "nm -D --defined-only '%s'", info.dli_fname);
    FILE *list = popen(command, "r");
    ck_assert_ptr_nonnull(list);
    while (fscanf(list, "%*s %*s %199s", name) == 1)
        ck_assert_msg(strncmp(name, "cu", 2) == 0 || strncmp(name, "overlap_", 8) == 0 ||
                          strncmp(name, "__gcov", 6) == 0 ||     /* of a build with coverage */
                          strncmp(name, "__odr_asan.", 11) == 0, /* or with AddressSanitizer */
                      "%s is exported", name);
    ck_assert_int_eq(pclose(list), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverError");
    TCase *tcase = tcase_create("errors");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, a_kernel_that_fails_is_a_sticky_error_of_its_process, 0,
                        FAILURES * ORDERS);
    const TTest *const all_orders[] = {
        cleaning_up_after_a_failure_is_done_and_returns_the_error,
        work_after_a_failure_does_not_run,
        a_host_pointer_in_a_kernel_is_named,
        launch_configurations_are_checked_at_the_call,
        parameters_may_come_in_a_buffer,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    tcase_add_loop_test(tcase, memory_is_freed_when_pending_work_is_done, 0, ORDERS);
    tcase_add_test(tcase, a_free_returns_the_error_of_the_work_that_it_waits_for);
    tcase_add_test(tcase, host_code_that_reads_device_memory_is_named_and_ends);
    tcase_add_test(tcase, host_code_that_writes_device_memory_is_named_and_ends);
    tcase_add_test(tcase, other_faults_go_to_the_handler_that_was_there);
    tcase_add_test(tcase, other_faults_without_a_handler_end_the_process);
    tcase_add_test(tcase, every_error_has_a_name_and_a_sentence);
    tcase_add_test(tcase, an_unsupported_function_names_itself);
    tcase_add_test(tcase, every_unsupported_function_says_so);
    tcase_add_test(tcase, every_name_of_nvidias_driver_is_there);
    tcase_add_test(tcase, functions_are_found_by_name_and_version);
    tcase_add_test(tcase, every_name_of_the_toolkits_stub_is_exported);
    tcase_add_test(tcase, nothing_else_is_exported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
