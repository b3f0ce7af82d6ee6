/* Kernels that launch kernels: their calls to the device runtime, the order in which child grids
 * run, their records in the trace, and errors. */
#include "tests/driver/support.h"

#include <stdlib.h>
#include <string.h>

/* LAUNCH(kernel, its two parameters, stream): %e is what the launch returns. */
#define LAUNCH(kernel, first, second, stream)                                                      \
    "{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;\n"      \
    ".param .b64 r; mov.u64 %k, " kernel "; st.param.b64 [f], %k;\n"                               \
    "st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"                         \
    "st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"    \
    "call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %k, [r]; }\n"        \
    "st.u64 [%k], " first "; st.u32 [%k+8], " second ";\n"                                         \
    "{ .param .b64 f; .param .b64 s; .param .b32 r; st.param.b64 [f], %k;\n"                       \
    "st.param.b64 [s], " stream "; call.uni (r), __cudaCDP2LaunchDeviceV2, (f, s);\n"              \
    "ld.param.b32 %e, [r]; }\n"
#define KERNEL(name) ".visible .entry " name "(.param .u64 p, .param .u32 n)"
#define BEGIN                                                                                      \
    "{ .reg .b64 %a, %k; .reg .b32 %n, %e, %v; .reg .pred %p;\n"                                   \
    "ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; cvta.to.global.u64 %a, %a;\n"

static const char *const text[] = {
    ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"family.cu\"\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(\n"
    "    .param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 f, .param .b64 s);\n",
    /* *p = 10 * *p + n, at line 3 */
    KERNEL("step") BEGIN ".loc 1 3 0\n ld.global.u32 %v, [%a]; mad.lo.u32 %v, %v, 10, %n;\n"
                         "st.global.u32 [%a], %v; ret; }\n",
    /* 1 and 2 in order, 3 as the tail launch */
    KERNEL("parent") BEGIN,
    LAUNCH("step", "%a", "3", "3"),
    LAUNCH("step", "%a", "1", "0"),
    LAUNCH("step", "%a", "2", "0") "ret; }\n",
    /* reads at line 7 what its child changes */
    KERNEL("hasty") BEGIN LAUNCH("step", "%a", "%n", "0"),
    ".loc 1 7 0\n ld.global.u32 %v, [%a]; st.global.u32 [%a+4], %v; ret; }\n",
    /* the same before the launch */
    KERNEL("patient") BEGIN "ld.global.u32 %v, [%a]; st.global.u32 [%a+4], %v;\n",
    LAUNCH("step", "%a", "%n", "0") "ret; }\n",
    /* ++*p, and again in n nested grids; the error of a launch that fails is stored in p[1] */
    KERNEL("deeper") BEGIN "red.global.add.u32 [%a], 1; setp.eq.u32 %p, %n, 0; @%p bra END;\n"
                           "sub.u32 %n, %n, 1;\n",
    LAUNCH("deeper", "%a", "%n", "0"),
    "setp.eq.u32 %p, %e, 0; @%p bra END; st.global.u32 [%a+4], %e; END: ret; }\n",
    /* the same with tail launches */
    KERNEL("tails") BEGIN "red.global.add.u32 [%a], 1; setp.eq.u32 %p, %n, 0; @%p bra END;\n"
                          "sub.u32 %n, %n, 1;\n",
    LAUNCH("tails", "%a", "%n", "3") "END: ret; }\n",
    /* launches n times; the sum of the launches' results is stored in p[1] */
    KERNEL("many") BEGIN ".reg .b32 %s; mov.u32 %s, 0;\n"
                         "AGAIN: setp.eq.u32 %p, %n, 0; @%p bra END;\n",
    LAUNCH("step", "%a", "1", "4") "add.u32 %s, %s, %e; sub.u32 %n, %n, 1; bra AGAIN;\n",
    "END: st.global.u32 [%a+4], %s; ret; }\n",
    /* its child stores to an invalid address */
    KERNEL("wild") BEGIN "mov.u64 %a, 64;\n",
    LAUNCH("step", "%a", "1", "0") "ret; }\n",
};

static CUfunction kernel(const char *name)
{
    static CUmodule module;
    CUfunction function;
    char whole[16384] = "";
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) strcat(whole, text[i]);
    if (module == NULL) OK(cuModuleLoadData(&module, whole));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static void launch(const char *name, CUdeviceptr p, unsigned n, CUstream stream)
{
    void *parameters[] = {&p, &n};
    OK(cuLaunchKernel(kernel(name), 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static CUdeviceptr words(void)
{
    CUdeviceptr p = test_device(8);
    OK(cuMemsetD32(p, 0, 2));
    return p;
}

static unsigned word(CUdeviceptr p, unsigned index)
{
    unsigned value;
    OK(cuMemcpyDtoH(&value, p + 4 * index, 4));
    return value;
}

START_TEST(children_run_in_their_stream_s_order_and_are_part_of_their_parent)
{
    test_context(_i);
    CUdeviceptr p = words();
    launch("parent", p, 0, NULL);
    launch("step", p, 4, NULL); /* the host's next launch comes after all of them */
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(word(p, 0), 1234);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_KERNEL, "step"), 4);
    /* The next access to the trace invalidates the record. */
    const struct trace_record parent = *test_find(TRACE_OPERATION, TRACE_KERNEL, "parent");
    const struct trace *trace = test_trace();
    size_t children = 0;
    uint64_t last = parent.start_ns;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *record = &trace->records[i];
        if (record->kind != TRACE_OPERATION || record->request != parent.request ||
            strcmp(record->name, "step") != 0)
            continue;
        ck_assert_uint_ge(record->start_ns, last);
        ck_assert_uint_le(record->end_ns, parent.end_ns);
        ck_assert_uint_eq(record->stream, parent.stream);
        last = record->end_ns;
        children++;
    }
    ck_assert_uint_eq(children, 3);
}
END_TEST

START_TEST(a_parent_that_reads_what_its_child_changes_is_named_with_both_lines)
{
    test_context(_i);
    CUdeviceptr p = words();
    launch("patient", p, 1, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
    launch("hasty", p, 1, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 1);
    const char *sentence = test_sentence(test_find(TRACE_FINDING, 0, "race"));
    ck_assert_msg(strstr(sentence, "kernel step (") != NULL, "%s", sentence);
    ck_assert_msg(strstr(sentence, "family.cu:3)") != NULL, "%s", sentence);
    ck_assert_msg(strstr(sentence, "kernel hasty") != NULL, "%s", sentence);
    ck_assert_msg(strstr(sentence, "family.cu:7, reads") != NULL, "%s", sentence);
}
END_TEST

START_TEST(a_child_races_with_other_streams_as_its_parent_would)
{
    test_context(_i);
    CUdeviceptr p = words();
    OK(cuCtxSynchronize());
    launch("many", p, 1, test_stream(CU_STREAM_NON_BLOCKING));
    launch("step", p, 1, test_stream(CU_STREAM_NON_BLOCKING));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 1);
}
END_TEST

/* The Programming Guide still mentions the limit of 24 of older releases; an H200 has none. */
START_TEST(grids_are_nested_as_deep_as_on_a_gpu)
{
    test_context(_i);
    CUdeviceptr p = words();
    launch("deeper", p, 40, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(word(p, 0), 41);
    ck_assert_uint_eq(word(p, 1), 0);
    launch("tails", p, 2000, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(word(p, 0), 41 + 2001);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

START_TEST(more_launches_than_may_be_pending_are_refused)
{
    test_context(_i);
    CUdeviceptr p = words();
    OK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 3));
    launch("many", p, 5, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_KERNEL, "step"), 3);
    ck_assert_uint_eq(word(p, 1), 2 * 69); /* cudaErrorLaunchPendingCountExceeded */
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid launch"), 1);
}
END_TEST

START_TEST(a_child_that_faults_is_named_and_ends_the_context)
{
    test_context(_i);
    launch("wild", words(), 0, NULL);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "out of bounds");
    if (found == NULL) found = test_find(TRACE_FINDING, 0, NULL);
    ck_assert_ptr_nonnull(found);
    ck_assert_msg(strstr(test_sentence(found), "step") != NULL, "%s", test_sentence(found));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dynamic");
    TCase *tests = tcase_create("dynamic");
    tcase_add_loop_test(tests, children_run_in_their_stream_s_order_and_are_part_of_their_parent,
                        LATEST, ORDERS);
    tcase_add_loop_test(tests, a_parent_that_reads_what_its_child_changes_is_named_with_both_lines,
                        LATEST, ORDERS);
    tcase_add_loop_test(tests, a_child_races_with_other_streams_as_its_parent_would, LATEST,
                        ORDERS);
    tcase_add_loop_test(tests, grids_are_nested_as_deep_as_on_a_gpu, LATEST, ORDERS);
    tcase_add_loop_test(tests, more_launches_than_may_be_pending_are_refused, LATEST, ORDERS);
    tcase_add_loop_test(tests, a_child_that_faults_is_named_and_ends_the_context, LATEST, ORDERS);
    suite_add_tcase(suite, tests);
    return test_main(suite);
}
