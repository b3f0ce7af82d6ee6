/* Environment variables: valid values are used; invalid ones are reported on standard error and
 * change nothing. Each test is a process of its own, so it may set variables before cuInit. */
#include "tests/driver/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Captures standard error in `said`, from here to hear_end. */
static char said[2000];
static FILE *heard;
static int console;

static void hear(void)
{
    fflush(stderr);
    heard = tmpfile();
    console = dup(STDERR_FILENO);
    ck_assert(heard != NULL && console >= 0 && dup2(fileno(heard), STDERR_FILENO) >= 0);
}

static void hear_end(void)
{
    fflush(stderr);
    dup2(console, STDERR_FILENO);
    close(console);
    rewind(heard);
    said[fread(said, 1, sizeof said - 1, heard)] = '\0';
    fclose(heard);
}

static CUresult start_with(const char *name, const char *value)
{
    ck_assert_int_eq(setenv(name, value, 1), 0);
    hear();
    const CUresult code = cuInit(0);
    hear_end();
    return code;
}

/* ---- what is refused ------------------------------------------------------------------------ */

static const struct {
    const char *name, *value, *sentence;
} refused[] = {
    {"OVERLAP_ORDER", "latests",
     "is none of latest, earliest, random:SEED (a number); using latest"},
    {"OVERLAP_ORDER", "random:", "is none of latest"},
    {"OVERLAP_ORDER", "random:12x", "is none of latest"},
    {"OVERLAP_ORDER", "randomly", "is none of latest"},
    {"OVERLAP_MEMORY", "lots", "is not a size from 1M to 64G (such as 512M or 4G); using 4G"},
    {"OVERLAP_MEMORY", "4T", "is not a size"},
    {"OVERLAP_MEMORY", "-1G", "is not a size"},
    {"OVERLAP_MEMORY", "4G4", "is not a size"},
    {"OVERLAP_MEMORY", "1", "is not a size"},
    {"OVERLAP_MEMORY", "18446744073709551615G", "is not a size"},
    {"OVERLAP_MEMORY", "99999999999999999999", "is not a size"},
    {"OVERLAP_WORKERS", "two", "is not a number from 1 to 64; using one per processor"},
    {"OVERLAP_WORKERS", "0", "is not a number"},
    {"OVERLAP_WORKERS", "65", "is not a number"},
    {"OVERLAP_INSTRUCTION_LIMIT", "1e9", "is not a number of warp instructions; using 4000000000"},
    {"OVERLAP_INSTRUCTION_LIMIT", "0", "is not a number"},
    {"CUDA_DEVICE_MAX_CONNECTIONS", "33", "is not a number from 1 to 32; using 8"},
    {"CUDA_DEVICE_MAX_CONNECTIONS", "-8", "is not a number"},
    {"CUDA_LAUNCH_BLOCKING", "yes", "is not 0 or 1; using 0"},
};

START_TEST(what_is_no_value_is_named_and_changes_nothing)
{
    size_t free_bytes, total;
    CUcontext context;
    char start[100];
    ck_assert_int_eq(start_with(refused[_i].name, refused[_i].value), CUDA_SUCCESS);
    snprintf(start, sizeof start, "overlap: %s=%s ", refused[_i].name, refused[_i].value);
    ck_assert_msg(strncmp(said, start, strlen(start)) == 0 && strstr(said, refused[_i].sentence),
                  "%s says: %s", start, said);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(total, (size_t)4 << 30);
}
END_TEST

START_TEST(nothing_is_said_when_all_is_to_be_quiet)
{
    setenv("OVERLAP_QUIET", "all", 1);
    ck_assert_int_eq(start_with("OVERLAP_WORKERS", "two"), CUDA_SUCCESS);
    ck_assert_str_eq(said, "");
}
END_TEST

/* ---- what is taken ------------------------------------------------------------------------------
 */

static const struct {
    const char *name, *value;
} taken[] = {
    {"OVERLAP_ORDER", ""},           {"OVERLAP_ORDER", "latest"},
    {"OVERLAP_ORDER", "earliest"},   {"OVERLAP_ORDER", "random"},
    {"OVERLAP_ORDER", "random:7"},   {"OVERLAP_MEMORY", "1048576"},
    {"OVERLAP_MEMORY", "64g"},       {"OVERLAP_WORKERS", "1"},
    {"OVERLAP_WORKERS", "64"},       {"OVERLAP_INSTRUCTION_LIMIT", "18446744073709551615"},
    {"CUDA_LAUNCH_BLOCKING", ""},    {"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
    {"CUDA_VISIBLE_DEVICES", "0"},   {"CUDA_VISIBLE_DEVICES", "0,-1"},
    {"CUDA_VISIBLE_DEVICES", "0,1"}, {"CUDA_VISIBLE_DEVICES", "GPU-4f76"},
};

START_TEST(what_is_a_value_is_taken_without_a_word)
{
    int count = 0;
    ck_assert_int_eq(start_with(taken[_i].name, taken[_i].value), CUDA_SUCCESS);
    ck_assert_str_eq(said, "");
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 1);
}
END_TEST

START_TEST(the_memory_is_as_large_as_it_says)
{
    size_t free_bytes, total;
    CUcontext context;
    CUdeviceptr p;
    ck_assert_int_eq(start_with("OVERLAP_MEMORY", "8M"), CUDA_SUCCESS);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(total, 8u << 20);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, (8u << 20) + 1));
    OK(cuMemAlloc(&p, 6u << 20));
    OK(cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(free_bytes, 2u << 20);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 4u << 20));
}
END_TEST

START_TEST(an_endless_kernel_meets_the_limit_that_was_set)
{
    ck_assert_int_eq(setenv("OVERLAP_INSTRUCTION_LIMIT", "5000", 1), 0);
    test_context(LATEST);
    OK(test_launch("endless", NULL, test_device(64), 0, 1));
    hear();
    const CUresult code = cuCtxSynchronize();
    hear_end();
    ck_assert_int_eq(code, CUDA_ERROR_LAUNCH_TIMEOUT);
    ck_assert_msg(strstr(said, "5000"), "it says: %s", said);
}
END_TEST

/* ---- no device, blocking launches ------------------------------------------------------------ */

static const char *const hiding[] = {"", "-1", "1", "none", "-1,0", "GPU-5", "NoDevFiles"};

START_TEST(there_is_no_device_when_it_is_hidden)
{
    int count = 7;
    CUdevice device;
    ck_assert_int_eq(start_with("CUDA_VISIBLE_DEVICES", hiding[_i]), CUDA_ERROR_NO_DEVICE);
    ck_assert_msg(strstr(said, "leaves no device"), "it says: %s", said);
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
}
END_TEST

START_TEST(the_device_cannot_be_named_twice)
{
    ck_assert_int_eq(start_with("CUDA_VISIBLE_DEVICES", "0,0"), CUDA_ERROR_INVALID_DEVICE);
}
END_TEST

START_TEST(a_blocking_launch_has_ended_when_it_returns)
{
    ck_assert_int_eq(setenv("CUDA_LAUNCH_BLOCKING", "1", 1), 0);
    test_context(_i);
    const CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    const CUdeviceptr p = test_device(64);
    OK(test_launch("slow", stream, p, 3, 16));
    OK(cuStreamQuery(stream));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, test_launch("trap", stream, p, 0, 1));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuStreamQuery(stream));
}
END_TEST

START_TEST(a_launch_does_not_block_unless_it_is_asked_to)
{
    ck_assert_int_eq(setenv("CUDA_LAUNCH_BLOCKING", "0", 1), 0);
    test_context(LATEST);
    const CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(test_launch("slow", stream, test_device(64), 3, 16));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    OK(cuStreamSynchronize(stream));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_environment");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, nothing_is_said_when_all_is_to_be_quiet);
    tcase_add_loop_test(tests, what_is_no_value_is_named_and_changes_nothing, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_loop_test(tests, what_is_a_value_is_taken_without_a_word, 0,
                        sizeof taken / sizeof *taken);
    tcase_add_test(tests, the_memory_is_as_large_as_it_says);
    tcase_add_test(tests, an_endless_kernel_meets_the_limit_that_was_set);
    tcase_add_loop_test(tests, there_is_no_device_when_it_is_hidden, 0,
                        sizeof hiding / sizeof *hiding);
    tcase_add_test(tests, the_device_cannot_be_named_twice);
    tcase_add_loop_test(tests, a_blocking_launch_has_ended_when_it_returns, 0, ORDERS);
    tcase_add_test(tests, a_launch_does_not_block_unless_it_is_asked_to);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
