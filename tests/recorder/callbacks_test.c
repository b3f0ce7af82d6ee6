/* What the recorder writes of calls that come back with no memory or with an error. This file is a
 * stand-in for CUPTI's callbacks and for activities.c. */
#include "recorder/recorder.h"

#include <check.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID 5000 /* of no function that there is */

int InitializeInjection(void);

/* ---- CUPTI ------------------------------------------------------------------------------------
 */

static CUpti_CallbackFunc callback;
static uint64_t clock_ns;

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function,
                           void *user)
{
    (void)subscriber;
    (void)user;
    callback = function;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain)
{
    (void)enable;
    (void)subscriber;
    (void)domain;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    (void)result;
    *text = "a reason";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = ++clock_ns;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
    (void)context;
    (void)stream;
    (void)per_thread;
    *id = 7;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    (void)context;
    *id = 1;
    return CUPTI_SUCCESS;
}

/* ---- activities.c -----------------------------------------------------------------------------
 */

static uint32_t refused[8];
static size_t refused_count;

int activities_start(const char **why)
{
    (void)why;
    return 0;
}

int activities_go_on(bool on, const char **why)
{
    (void)on;
    (void)why;
    return 0;
}

void activities_alias(uint32_t nested, uint32_t outer)
{
    (void)nested;
    (void)outer;
}

void activities_refused(uint32_t correlation)
{
    ck_assert_uint_lt(refused_count, 8);
    refused[refused_count++] = correlation;
}

void activities_flush(int all)
{
    (void)all;
}

/* ---- a program's calls ------------------------------------------------------------------------
 */

static int record;

static void start(void)
{
    char path[64];

    record = trace_create_in_memory(64, TRACE_ALL_KINDS);
    ck_assert_int_ge(record, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", record);
    setenv(TRACE_PATH_VARIABLE, path, 1);
    ck_assert_int_eq(InitializeInjection(), 1);
    ck_assert(callback != NULL);
}

static void call(uint32_t correlation, const char *name, const void *parameters, int code)
{
    CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
                               .functionName = name,
                               .functionParams = parameters,
                               .functionReturnValue = &code,
                               .correlationId = correlation,
                               .contextUid = 1};

    callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, ID, &data);
    data.callbackSite = CUPTI_API_EXIT;
    callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, ID, &data);
}

static size_t recorded(uint32_t kind)
{
    struct trace trace;
    char why[200];
    size_t count = 0;

    ck_assert_msg(trace_read_descriptor(record, NULL, &trace, why, sizeof why) == 0, "%s", why);
    for (size_t i = 0; i < trace.count; i++) count += trace.records[i].kind == kind;
    trace_free(&trace);
    return count;
}

/* An H200 gives no memory, and success, to who asks a pool for 0 bytes. */
START_TEST(no_memory_is_no_object)
{
    uintptr_t memory = 0;
    const struct {
        uintptr_t *memory;
        size_t size;
        void *stream;
    } none = {&memory, 0, NULL}, some = {&memory, 64, NULL};

    start();
    call(1, "cuMemAllocAsync", &none, 0);
    ck_assert_uint_eq(recorded(TRACE_CALL), 1);
    ck_assert_uint_eq(recorded(TRACE_CREATE), 0);
    memory = 0x1000;
    call(2, "cuMemAllocAsync", &some, 0);
    ck_assert_uint_eq(recorded(TRACE_CREATE), 1);
}
END_TEST

START_TEST(calls_that_return_an_error_are_refused)
{
    start();
    call(1, "cuLaunchKernel", NULL, 0);
    call(2, "cuLaunchKernel", NULL, 1);
    call(3, "cuStreamQuery", NULL, 600); /* says that work is under way, and is asked often */
    call(4, "cuMemcpyHtoDAsync_v2", NULL, 700);
    ck_assert_uint_eq(refused_count, 2);
    ck_assert_uint_eq(refused[0], 2);
    ck_assert_uint_eq(refused[1], 4);
    ck_assert_uint_eq(recorded(TRACE_CALL), 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorder callbacks");
    TCase *tcase = tcase_create("callbacks");
    tcase_add_test(tcase, no_memory_is_no_object);
    tcase_add_test(tcase, calls_that_return_an_error_are_refused);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
