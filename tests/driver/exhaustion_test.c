/* Exhausted resources give CUDA's error and nothing worse: device memory, its address range, the
 * stack and the heap of kernels, launch resources, host memory. Afterwards the device still works,
 * unless a kernel has failed. */
#include "tests/driver/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Fills memory and copies it back: the device works. */
static void works(void)
{
    uint32_t host[16] = {0};
    const CUdeviceptr p = test_device(sizeof host);
    OK(test_launch("set", NULL, p, 9, 16));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    for (int i = 0; i < 16; i++) ck_assert_uint_eq(host[i], 9);
    OK(cuMemFree(p));
}

START_TEST(device_memory)
{
    enum { PIECES = 64 };
    CUdeviceptr pieces[PIECES], rest, p;
    size_t before, free_bytes, total;
    setenv("OVERLAP_MEMORY", "65M", 1);
    test_context(_i);
    OK(cuMemGetInfo(&before, &total));
    for (int i = 0; i < PIECES; i++) OK(cuMemAlloc(&pieces[i], 1 << 20));
    OK(cuMemAlloc(&rest, before - (PIECES << 20)));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 1));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocManaged(&p, 1, CU_MEM_ATTACH_GLOBAL));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, SIZE_MAX));
    for (int i = 0; i < PIECES; i += 2) OK(cuMemFree(pieces[i]));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, (32 << 20) + 1));
    OK(cuMemAlloc(&p, 32 << 20)); /* pages need not be adjacent */
    OK(cuMemFree(p));
    works();
    for (int i = 1; i < PIECES; i += 2) OK(cuMemFree(pieces[i]));
    OK(cuMemFree(rest));
    OK(cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(free_bytes, before);
}
END_TEST

/* Allocates more addresses than there are, one after another, beside one allocation that stays. */
START_TEST(addresses_come_back)
{
    CUdeviceptr first, p;
    test_context(LATEST);
    OK(cuMemAlloc(&first, 1 << 20));
    for (int i = 0; i < 100; i++) {
        OK(cuMemAlloc(&p, (size_t)1 << 30));
        ck_assert(p >= first + (1 << 20) || p + (1ull << 30) <= first);
        OK(cuMemsetD8(p + (1ull << 30) - 1, 1, 1));
        OK(cuCtxSynchronize());
        OK(cuMemFree(p));
    }
    works();
}
END_TEST

static const char deep[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".func f(.param .u32 n) { .reg .u32 %r; .reg .pred %p; .local .b8 room[96];\n"
    "ld.param.u32 %r, [n]; setp.eq.u32 %p, %r, 0; @%p ret; add.u32 %r, %r, -1;\n"
    "{ .param .u32 a; st.param.u32 [a], %r; call f, (a); }\nret; }\n"
    ".visible .entry k(.param .u32 depth) { .reg .u32 %r; ld.param.u32 %r, [depth];\n"
    "{ .param .u32 a; st.param.u32 [a], %r; call f, (a); }\nret; }\n";

static CUresult recurse(unsigned depth)
{
    CUmodule module;
    CUfunction function;
    void *arguments[] = {&depth};
    OK(cuModuleLoadData(&module, deep));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    return cuCtxSynchronize();
}

START_TEST(a_stack_that_is_large_enough)
{
    size_t size;
    test_context(_i);
    OK(recurse(8));
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 64 << 10));
    OK(cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(size, 64 << 10);
    OK(recurse(400));
    works();
}
END_TEST

START_TEST(a_stack_that_is_used_up)
{
    test_context(_i);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, recurse(400));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}
END_TEST

/* With a sanitizer the host's memory cannot be limited. */
#if !defined OVERLAP_SANITIZE && !defined __SANITIZE_THREAD__

static void limit(int resource, size_t bytes)
{
    struct rlimit now;
    ck_assert_int_eq(getrlimit(resource, &now), 0);
    now.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(resource, &now), 0);
}

/* Returns the writable mapped bytes of the process, which RLIMIT_DATA limits. */
static size_t data_size(void)
{
    char line[256];
    size_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    ck_assert_ptr_nonnull(status);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmData: %zu kB", &kilobytes) == 1) break;
    fclose(status);
    return kilobytes << 10;
}

START_TEST(no_addresses_to_reserve)
{
    test_begin(LATEST);
    limit(RLIMIT_AS, (size_t)4 << 30);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuInit(0));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
    limit(RLIMIT_AS, RLIM_INFINITY);
    OK(cuInit(0));
}
END_TEST

START_TEST(no_memory_of_the_host)
{
    enum { MOST = 200000 };
    static CUstream streams[MOST];
    CUdeviceptr p;
    void *host;
    CUcontext context;
    size_t count = 0;
    CUresult code = CUDA_SUCCESS;
    test_context(_i);
    works();
    limit(RLIMIT_DATA, data_size() + (1 << 20));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 1 << 30));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemHostAlloc(&host, 1 << 30, 0));
    while (count < MOST && code == CUDA_SUCCESS)
        code = cuStreamCreate(&streams[count], CU_STREAM_NON_BLOCKING), count++;
    ck_assert_int_eq(code, CUDA_ERROR_OUT_OF_MEMORY);
    /* No memory is left, but every call still returns. */
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuCtxCreate(&context, NULL, 0, 0));
    code = test_launch("set", NULL, 0, 0, 0);
    if (code == CUDA_SUCCESS) code = cuCtxSynchronize();
    ck_assert_msg(code == CUDA_SUCCESS || code == CUDA_ERROR_OUT_OF_MEMORY ||
                      code == CUDA_ERROR_INVALID_VALUE,
                  "the launch answers %d", (int)code);
    limit(RLIMIT_DATA, RLIM_INFINITY);
    for (size_t i = 0; i + 1 < count; i++) OK(cuStreamDestroy(streams[i]));
}
END_TEST

static void set_flag(void *flag)
{
    __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
}

static void wait_for(const int *flag)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) usleep(1000);
}

/* Takes what the heap has left. */
static void use_up(void)
{
    static void *volatile taken;
    for (size_t bytes = 1 << 16; bytes >= 16; bytes -= bytes > 1024 ? bytes / 2 : 8) do
            taken = malloc(bytes);
        while (taken != NULL);
}

START_TEST(a_destructor_is_called_without_memory)
{
    static int begun, destroyed;
    CUuserObject object;
    test_context(LATEST);
    OK(cuLaunchHostFunc(NULL, set_flag, &begun)); /* starts the thread */
    OK(cuCtxSynchronize());
    wait_for(&begun);
    OK(cuUserObjectCreate(&object, &destroyed, set_flag, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    limit(RLIMIT_DATA, data_size());
    use_up();
    const CUresult code = cuUserObjectRelease(object, 1); /* an assertion would take memory */
    wait_for(&destroyed);
    setrlimit(RLIMIT_DATA, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    OK(code);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("driver_exhaustion");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, device_memory, 0, ORDERS);
    tcase_add_test(tests, addresses_come_back);
    tcase_add_loop_test(tests, a_stack_that_is_large_enough, 0, 2);
    tcase_add_loop_test(tests, a_stack_that_is_used_up, 0, 2);
#if !defined OVERLAP_SANITIZE && !defined __SANITIZE_THREAD__
    tcase_add_test(tests, no_addresses_to_reserve);
    tcase_add_loop_test(tests, no_memory_of_the_host, 0, 2);
    tcase_add_test(tests, a_destructor_is_called_without_memory);
#endif
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
