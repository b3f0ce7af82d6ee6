/* The log of errors: a line for each call that fails, in order, the newest ones where there is not
 * room for all, and callbacks. */
#include "tests/driver/support.h"
#include "tests/temporary.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_STREAM "Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuStreamCreate"

/* Without a context: makes two calls that fail, and one that does not. */
static void fail_twice(void)
{
    CUstream stream;
    int version;
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
    OK(cuDriverGetVersion(&version));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &(const char *){NULL}));
}

static void dump(CUlogIterator *from, char *text, size_t room, CUresult wanted)
{
    size_t size = room;
    const CUresult code = cuLogsDumpToMemory(from, text, &size, 0);
    ck_assert_int_eq((int)code, (int)wanted);
    ck_assert_uint_eq(size, strlen(text));
}

START_TEST(a_call_that_fails_leaves_a_line)
{
    char text[4096];
    CUlogIterator before, end;
    OK(cuInit(0));
    OK(cuLogsCurrent(&before, 0));
    end = before;
    dump(&before, text, sizeof text, CUDA_SUCCESS);
    ck_assert_str_eq(text, "");
    fail_twice();
    dump(&before, text, sizeof text, CUDA_SUCCESS);
    int hour, minute, second, length = 0;
    unsigned long thread;
    ck_assert_int_eq(sscanf(text, "[%d:%d:%d.%*d][%lu][CUDA][E] " NO_STREAM "\n%n", &hour, &minute,
                            &second, &thread, &length),
                     4);
    ck_assert_uint_eq(thread, pthread_self());
    ck_assert_int_gt(length, 0);
    ck_assert_ptr_nonnull(
        strstr(text + length, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuGetErrorName\n"));
    ck_assert_uint_eq(before, end + 2); /* the position advanced */
    dump(&before, text, sizeof text, CUDA_SUCCESS);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(where_there_is_no_room_the_newest_are_given)
{
    char text[150];
    CUlogIterator from;
    size_t none = 0;
    OK(cuInit(0));
    OK(cuLogsCurrent(&from, 0));
    fail_twice();
    CUlogIterator again = from;
    dump(&again, text, sizeof text, CUDA_SUCCESS);
    ck_assert_ptr_nonnull(strstr(text, "no room for older messages"));
    ck_assert_ptr_nonnull(strstr(text, "cuGetErrorName"));
    ck_assert_ptr_null(strstr(text, "cuStreamCreate"));
    again = from;
    dump(&again, text, 32, CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(again, from);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToMemory(NULL, text, &none, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToMemory(NULL, NULL, &none, 0));
    OK(cuLogsCurrent(&from, 1)); /* as on an H200 */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsCurrent(NULL, 0));
}
END_TEST

START_TEST(only_the_last_hundred_are_kept)
{
    static char text[1 << 16];
    CUlogIterator from;
    OK(cuInit(0));
    OK(cuLogsCurrent(&from, 0));
    for (int i = 0; i < 60; i++) fail_twice();
    dump(&from, text, sizeof text, CUDA_SUCCESS);
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) lines++;
    ck_assert_uint_eq(lines, 101);
    ck_assert_ptr_nonnull(strstr(text, "no longer kept"));
}
END_TEST

START_TEST(it_goes_to_a_file)
{
    char text[1024] = "";
    const char *path = temporary_file();
    OK(cuInit(0));
    fail_twice();
    OK(cuLogsDumpToFile(NULL, path, 0));
    FILE *file = fopen(path, "r");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, NO_STREAM "\n"));
    unlink(path);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToFile(NULL, "/nowhere/at/all", 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToFile(NULL, NULL, 0));
    setenv("CUDA_LOG_FILE", path, 1);
    fail_twice();
    unsetenv("CUDA_LOG_FILE");
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
    ck_assert_ptr_nonnull(strstr(text, NO_STREAM "\n"));
    fclose(file);
}
END_TEST

static unsigned called, data_of[2];

/* A callback may call CUDA, also with errors. */
static void CUDA_CB note(void *data, CUlogLevel level, char *message, size_t length)
{
    int count = 0;
    ck_assert_int_eq(level, CU_LOG_LEVEL_ERROR);
    ck_assert_uint_eq(length, strlen(message));
    if (strcmp(message, NO_STREAM) == 0) called++;
    *(unsigned *)data += 1;
    cuDeviceGetCount(&count);
    ck_assert_int_eq(count, 1);
}

START_TEST(who_is_registered_is_called)
{
    CUlogsCallbackHandle handles[2];
    unsigned third = 0;
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) OK(cuLogsRegisterCallback(note, &data_of[i], &handles[i]));
    OK(cuLogsRegisterCallback(note, &third, NULL));
    fail_twice();
    ck_assert_uint_eq(called, 3);
    ck_assert_uint_eq(data_of[0], 2);
    OK(cuLogsUnregisterCallback(handles[0]));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsUnregisterCallback(handles[0]));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsUnregisterCallback(NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLogsRegisterCallback(NULL, NULL, NULL));
    ck_assert_uint_eq(data_of[0], 2);
    ck_assert_uint_eq(data_of[1], 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_logs");
    TCase *tcase = tcase_create("logs");
    const TTest *const tests[] = {
        a_call_that_fails_leaves_a_line, where_there_is_no_room_the_newest_are_given,
        only_the_last_hundred_are_kept,  it_goes_to_a_file,
        who_is_registered_is_called,
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
