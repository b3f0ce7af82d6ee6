/* The small programs beside the grader: trace_dump, probe, the runner started by hand. */
#include "grader/run/devices.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(a_trace_is_shown)
{
    static const struct trace_record records[] = {
        {.kind = TRACE_CALL,
         .flags = TRACE_ASYNC,
         .request = 3,
         .start_ns = 1000,
         .end_ns = 2500,
         .stream = 2,
         .name = "cudaMemcpyAsync"},
        {.kind = TRACE_OPERATION,
         .what = TRACE_COPY,
         .from = TRACE_PINNED,
         .to = TRACE_DEVICE,
         .bytes = 64,
         .request = 3},
        {.kind = TRACE_CREATE, .what = TRACE_CONTEXT, .flags = TRACE_IMPLICIT, .object = 1},
        {.kind = TRACE_MARK, .flags = TRACE_BEGIN, .name = "run"},
        {.kind = TRACE_FINDING,
         .code = 700,
         .finding = {.id = FINDING_MODULE_DOES_NOT_LINK,
                     .sides = {{.line = 7}},
                     .words = "a.cu\0\0\0Too far."}},
    };
    char path[256];
    const char *make[] = {TRACE_DUMP, "--create", path, NULL};
    const char *show[] = {TRACE_DUMP, path, NULL};
    struct text out = {0}, err = {0};

    snprintf(path, sizeof path, "%s/trace", support_folder());
    ck_assert_int_eq(support_run(make, NULL, NULL, &out, &err), 0);
    setenv(TRACE_PATH_VARIABLE, path, 1);
    struct trace_writer *writer = trace_open_from_environment();
    ck_assert_ptr_nonnull(writer);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) trace_put(writer, &records[i]);
    trace_writer_close(writer);
    ck_assert_int_eq(support_run(show, NULL, NULL, &out, &err), 0);
    static const char *const lines[] = {
        "call      cudaMemcpyAsync async stream=2 request=3 1000..2500 ns (1.500 us)",
        "operation copy pinned->device request=3 bytes=64",
        "create    context implicit object=1",
        "mark      run begin",
        "finding   invalid module code=700 a.cu:7 \"Too far.\"",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        ck_assert_msg(strstr(text_string(&out), lines[i]) != NULL, "no \"%s\" in\n%s", lines[i],
                      text_string(&out));
    const char *none[] = {TRACE_DUMP, "/no/such/trace", NULL}, *nothing[] = {TRACE_DUMP, NULL};
    const char *nowhere[] = {TRACE_DUMP, "--create", "/no/such/folder/trace", NULL};
    ck_assert_int_eq(support_run(none, NULL, NULL, &out, &err), 1);
    ck_assert_int_eq(support_run(nothing, NULL, NULL, &out, &err), 2);
    ck_assert_int_eq(support_run(nowhere, NULL, NULL, &out, &err), 1);
    text_free(&out);
    text_free(&err);
}
END_TEST

START_TEST(the_probe_names_gpus_or_says_why_not)
{
    const char *arguments[] = {PROBE, NULL};
    const char *no_driver[] = {"LD_LIBRARY_PATH=" FALSE_DRIVER, NULL};
    struct text out = {0}, err = {0};

    int status = support_run(arguments, NULL, NULL, &out, &err);
    ck_assert_int_eq(status == 0, out.size > 0);
    ck_assert_int_eq(status == 1, err.size > 0);
    text_free(&err);
    ck_assert_int_eq(support_run(arguments, NULL, no_driver, &out, &err), 1);
    ck_assert_str_eq(text_string(&err), "libcuda.so.1 is not NVIDIA's driver\n");
    text_free(&out);
    text_free(&err);
}
END_TEST

START_TEST(gpus_are_counted)
{
    const struct toolchain toolchain = {.probe = PROBE, .emulator = "/nowhere"};
    struct devices devices;
    struct text why = {0};
    struct trouble trouble = {0};
    char given[4096] = "";

    if (getenv("LD_LIBRARY_PATH") != NULL)
        snprintf(given, sizeof given, "%s", getenv("LD_LIBRARY_PATH"));
    setenv("LD_LIBRARY_PATH", TWO_GPUS, 1);
    ck_assert_int_eq(devices_find(&devices, &toolchain, DEVICE_GPU, false, &why, &trouble), 0);
    ck_assert(devices.gpu);
    ck_assert_str_eq(devices.gpu_name, "GPU number 0");
    ck_assert_uint_eq(devices.gpu_bytes, (uint64_t)1 << 30);
    ck_assert_uint_eq(devices.gpu_count, 2);
    ck_assert_uint_eq(devices.gpu_capability, 75); /* of the older one */
    setenv("LD_LIBRARY_PATH", given, 1);
    ck_assert_int_eq(devices_find(&devices, &toolchain, DEVICE_EMULATOR, false, &why, &trouble), 2);
    ck_assert_uint_eq(devices.gpu_count, 0);
    text_free(&why);
}
END_TEST

/* PTX is added for a GPU that would run nothing of what is compiled, and only for such a one. */
START_TEST(a_gpu_that_runs_nothing_gets_its_own_code)
{
#define PTX_80 "-gencode=arch=compute_80,code=compute_80"
#define SM_75 " -gencode=arch=compute_75,code=sm_75"
#define PTX_75 " -gencode=arch=compute_75,code=compute_75"
    static const struct {
        const char *gencode;
        unsigned capability;
        const char *wide;
    } cases[] = {{PTX_80, 0, PTX_80},
                 {PTX_80, 80, PTX_80},
                 {PTX_80, 90, PTX_80},
                 {PTX_80, 75, PTX_80 PTX_75},
                 {PTX_80 SM_75, 75, PTX_80 SM_75},
                 {PTX_80 PTX_75, 75, PTX_80 PTX_75}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct toolchain from = {.gencode = cases[k].gencode, .cc = "cc"};
        struct toolchain wide;
        ck_assert_int_eq(toolchain_widen(&wide, &from, cases[k].capability), 0);
        ck_assert_str_eq(wide.gencode, cases[k].wide);
        ck_assert_ptr_eq(wide.cc, from.cc);
    }
}
END_TEST

START_TEST(the_runner_is_not_for_people)
{
    const char *arguments[] = {RUNNER, "lesson.so", "values", "gpu", NULL};
    struct text err = {0};

    ck_assert_int_eq(support_run(arguments, NULL, NULL, NULL, &err), 2);
    ck_assert_str_eq(text_string(&err), "runner: started by the grader only\n");
    text_free(&err);
}
END_TEST

START_TEST(the_grader_lists_its_lessons_at_once)
{
    const char *list[] = {GRADER, "--gtest_list_tests", NULL};
    struct text out = {0}, err = {0};

    ck_assert_int_eq(support_run(list, "/", NULL, &out, &err), 0);
    ck_assert_ptr_nonnull(strstr(text_string(&out), "DeviceSync.\n  "));
    ck_assert_ptr_nonnull(strstr(text_string(&out), "\nReductions.\n  "));
    ck_assert_str_eq(text_string(&err), "");
    text_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader tools");
    TCase *tcase = tcase_create("tools");
    tcase_add_test(tcase, a_trace_is_shown);
    tcase_add_test(tcase, the_probe_names_gpus_or_says_why_not);
    tcase_add_test(tcase, a_gpu_that_runs_nothing_gets_its_own_code);
    tcase_add_test(tcase, gpus_are_counted);
    tcase_add_test(tcase, the_runner_is_not_for_people);
    tcase_add_test(tcase, the_grader_lists_its_lessons_at_once);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
