/* Memory instructions beyond loads, stores and scalar atomics: barrier objects, bulk copies, vector
 * and 128-bit atomics, wide loads, address space queries. Each is compared with values worked out
 * by hand or in plain C. */
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 256 };

/* Runs a kernel whose body has its thread number in %t and the buffers in %in and %out. Registers:
 * %r0..9 b32, %d0..9 b64, %h0..9 b16, %f0..9 f32, %q0..3 b128, %p, %q; 1 KiB of shared memory `s`
 * and a barrier object `m`. */
static enum exec_end run_kernel(const char *body, uint32_t threads, const void *in, void *out,
                                struct device_run *result)
{
    static char text[16384];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n"
             ".const .align 4 .u32 constant = 7;\n.global .align 16 .b8 variable[64];\n"
             ".visible .entry k(.param .u64 pi, .param .u64 po) {\n"
             ".reg .b64 %%in, %%out, %%d<10>;\n.reg .b32 %%t, %%r<10>;\n.reg .b16 %%h<10>;\n"
             ".reg .f32 %%f<10>;\n.reg .b128 %%q<4>;\n.reg .pred %%p, %%p1;\n"
             ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 m[2];\n"
             "ld.param.u64 %%in, [pi];\nld.param.u64 %%out, [po];\nmov.u32 %%t, %%tid.x;\n"
             "%s\nret;\n}\n",
             body);
    struct exec_program *program = device_program(text);
    for (size_t k = 0; k < exec_variable_count(program); k++) {
        ck_assert(exec_variable_at(program, k)->size <= 64);
    }
    void *bytes;
    const uint64_t parameters[] = {device_buffer_of(in, 4 * WORDS, NULL),
                                   device_buffer(4 * WORDS, &bytes)};
    memset(bytes, 0, 4 * WORDS);
    struct device_run run = {.program = program,
                             .name = "k",
                             .blocks = 1,
                             .threads = threads,
                             .parameters = parameters,
                             .limit = 1000000};
    const enum exec_end end = device_launch(&run);
    if (out) memcpy(out, bytes, 4 * WORDS);
    if (result) *result = run;
    exec_program_destroy(program);
    device_reset();
    return end;
}

static uint32_t input[WORDS], output[WORDS];

static void run(const char *body, uint32_t threads)
{
    struct device_run result;
    for (uint32_t k = 0; k < WORDS; k++) input[k] = 0x1000 + 3 * k;
    const enum exec_end end = run_kernel(body, threads, input, output, &result);
    ck_assert_msg(end == EXEC_DONE, "%s\n%s", body, device_sentence(&result));
}

static void stops(const char *body, enum exec_end expected, const char *words)
{
    struct device_run result;
    const enum exec_end end = run_kernel(body, 32, input, NULL, &result);
    ck_assert_msg(end == expected, "%s: %d, expected %d", body, end, expected);
    ck_assert_msg(strstr(device_sentence(&result), words) != NULL, "%s: %s", body,
                  device_sentence(&result));
}

/* ---- barrier objects ---------------------------------------------------------------------------
 */

START_TEST(a_phase_ends_with_its_last_arrival)
{
    /* One thread arrives for three, and tests after each arrival. */
    run("setp.ne.u32 %p, %t, 0;\n@%p ret;\nmbarrier.init.shared.b64 [m], 3;\n"
        "mbarrier.arrive.shared.b64 %d1, [m];\nmbarrier.test_wait.shared.b64 %p, [m], %d1;\n"
        "selp.u32 %r0, 1, 0, %p;\nst.global.u32 [%out], %r0;\n"
        "mbarrier.pending_count.b64 %r1, %d1;\nst.global.u32 [%out+4], %r1;\n"
        "mbarrier.arrive.shared.b64 %d2, [m], 2;\nmbarrier.test_wait.shared.b64 %p, [m], %d1;\n"
        "selp.u32 %r0, 1, 0, %p;\nst.global.u32 [%out+8], %r0;\n"
        "mbarrier.pending_count.b64 %r1, %d2;\nst.global.u32 [%out+12], %r1;\n"
        "mbarrier.test_wait.parity.shared.b64 %p, [m], 0;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out+16], %r0;\nmbarrier.test_wait.parity.shared.b64 %p, [m], 1;\n"
        "selp.u32 %r0, 1, 0, %p;\nst.global.u32 [%out+20], %r0;\n"
        "mbarrier.arrive_drop.shared.b64 %d3, [m];\nmbarrier.arrive.shared.b64 %d4, [m], 2;\n"
        "mbarrier.test_wait.parity.shared.b64 %p, [m], 1;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out+24], %r0;\nmbarrier.arrive.shared.b64 %d5, [m], 2;\n"
        "mbarrier.test_wait.shared.b64 %p, [m], %d5;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out+28], %r0;\nmbarrier.inval.shared.b64 [m];",
        1);
    static const uint32_t right[] = {0, 3, 1, 2, 1, 0, 1, 1};
    for (unsigned k = 0; k < 8; k++)
        ck_assert_msg(output[k] == right[k], "word %u: %u, expected %u", k, output[k], right[k]);
}
END_TEST

/* 128 threads exchange values through shared memory, twice: the barrier object orders them as a
 * barrier would. */
START_TEST(threads_wait_for_each_other)
{
    run("setp.ne.u32 %p, %t, 0;\n@%p bra A;\nmbarrier.init.shared::cta.b64 [m], 128;\nA:\n"
        "bar.sync 0;\nmov.u32 %r3, s;\nmul.lo.u32 %r4, %t, 4;\nadd.u32 %r5, %r3, %r4;\n"
        "mov.u32 %r1, 0;\n"
        "AGAIN:\nadd.u32 %r2, %t, %r1;\nst.shared.u32 [%r5], %r2;\n"
        "mbarrier.arrive.release.cta.shared::cta.b64 %d1, [m];\n"
        "W: mbarrier.try_wait.shared.b64 %p, [m], %d1;\n@!%p bra W;\n"
        "xor.b32 %r6, %r4, 0x1fc;\nadd.u32 %r6, %r6, %r3;\nld.shared.u32 %r7, [%r6];\n"
        "mbarrier.arrive.shared.b64 %d1, [m];\n"
        "V: mbarrier.test_wait.shared.b64 %p, [m], %d1;\n@!%p bra V;\n"
        "add.u32 %r1, %r1, 1000;\nsetp.lt.u32 %p, %r1, 2000;\n@%p bra AGAIN;\n"
        "cvt.u64.u32 %d2, %r4;\nadd.u64 %d2, %d2, %out;\nst.global.u32 [%d2], %r7;",
        128);
    for (uint32_t t = 0; t < 128; t++) ck_assert_uint_eq(output[t], 1000 + (127 ^ t));
}
END_TEST

START_TEST(bytes_are_waited_for)
{
    run("mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive.expect_tx.shared::cta.b64 %d1, [m], "
        "96;\n"
        "mbarrier.test_wait.shared.b64 %p, [m], %d1;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out], %r0;\n"
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [m], 64;\n"
        "mbarrier.test_wait.shared.b64 %p, [m], %d1;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out+4], %r0;\nmov.u32 %r1, s;\nmov.u32 %r2, m;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], 32, "
        "[%r2];\n"
        "mbarrier.test_wait.shared.b64 %p, [m], %d1;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out+8], %r0;\nld.shared.u32 %r3, [s+28];\nst.global.u32 [%out+12], %r3;\n"
        "cp.async.mbarrier.arrive.noinc.shared.b64 [m];\n"
        "mbarrier.test_wait.parity.shared.b64 %p, [m], 1;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out+16], %r0;\ncp.async.mbarrier.arrive.shared.b64 [m];\n"
        "mbarrier.test_wait.parity.shared.b64 %p, [m], 0;\nselp.u32 %r0, 1, 0, %p;\n"
        "st.global.u32 [%out+20], %r0;",
        1);
    const uint32_t right[] = {0, 0, 1, input[7], 1, 0};
    for (unsigned k = 0; k < 6; k++)
        ck_assert_msg(output[k] == right[k], "word %u: %u, expected %u", k, output[k], right[k]);
}
END_TEST

START_TEST(misuse_of_barrier_objects_is_named)
{
    stops("mbarrier.arrive.shared.b64 %d1, [m];", EXEC_TRAP, "mbarrier.init has not made it");
    stops("mbarrier.init.shared.b64 [m], 0;", EXEC_TRAP, "takes 1 to");
    stops("mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive.shared.b64 %d1, [m], 2;", EXEC_TRAP,
          "2 arrivals");
    stops("mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive.noComplete.shared.b64 %d1, [m], 1;",
          EXEC_TRAP, ".noComplete");
    stops("mbarrier.init.shared.b64 [m], 1;\nmbarrier.inval.shared.b64 [m];\n"
          "mbarrier.test_wait.parity.shared.b64 %p, [m], 0;",
          EXEC_TRAP, "ended");
    stops("mbarrier.init.shared.b64 [m], 1;\nmov.u64 %d1, 5;\n"
          "mbarrier.test_wait.shared.b64 %p, [m], %d1;",
          EXEC_TRAP, "no state");
    stops("mbarrier.init.b64 [%in], 1;", EXEC_WRONG_SPACE, "not in shared memory");
    stops("mbarrier.init.shared.b64 [m+4], 1;", EXEC_MISALIGNED, "not a multiple of 8");
}
END_TEST

/* ---- bulk copies --------------------------------------------------------------------------------
 */

START_TEST(bulk_copies_and_reductions)
{
    run("mov.u32 %r1, s;\nmov.u32 %r2, m;\nmbarrier.init.shared.b64 [m], 1;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [m], 96;\n"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+16], [%in+32], 64, "
        "[%r2];\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1+512], "
        "[%r1+32], 32, [%r2];\n"
        "W: mbarrier.try_wait.shared.b64 %p, [m], %d1;\n@!%p bra W;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1+16], 64;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%out+64], [%r1+512], 32;\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%r1+16], 32;\n"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s64 [%out+64], [%r1+16], 16;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
        "mov.u64 %d2, 24;\nst.bulk.weak.shared::cta [%r1+16], %d2, 0;\n"
        "ld.shared.u32 %r3, [%r1+36];\nst.global.u32 [%out+100], %r3;\n"
        "ld.shared.u32 %r3, [%r1+40];\nst.global.u32 [%out+104], %r3;",
        1);
    for (unsigned k = 0; k < 16; k++) ck_assert_uint_eq(output[k], (k < 8 ? 2 : 1) * input[8 + k]);
    for (unsigned k = 0; k < 8; k++) {
        /* The first two pairs are the larger of what was there and words 8.. of the input. */
        ck_assert_uint_eq(output[16 + k], input[12 + k]);
    }
    ck_assert_uint_eq(output[25], 0);
    ck_assert_uint_eq(output[26], input[14]);
}
END_TEST

START_TEST(bulk_shapes_are_checked)
{
    stops("mov.u32 %r1, s;\ncp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 24;",
          EXEC_MISALIGNED, "multiples of 16");
    stops("mov.u32 %r1, s;\ncp.async.bulk.global.shared::cta.bulk_group [%out+8], [%r1], 16;",
          EXEC_MISALIGNED, "multiples of 16");
    stops("mov.u32 %r1, s;\ncp.async.bulk.global.shared::cta.bulk_group [%out+1008], [%r1], 32;",
          EXEC_OUT_OF_BOUNDS, "");
}
END_TEST

/* cp.async with the predicate that ignores its source. */
START_TEST(ignored_sources_are_zero)
{
    run("setp.gt.u32 %p, %t, 1;\nmul.lo.u32 %r1, %t, 8;\nmov.u32 %r2, s;\nadd.u32 %r2, %r2, %r1;\n"
        "cvt.u64.u32 %d1, %r1;\nadd.u64 %d2, %d1, %in;\n"
        "cp.async.ca.shared.global [%r2], [%d2], 8, %p;\ncp.async.wait_all;\n"
        "ld.shared.u64 %d3, [%r2];\nadd.u64 %d4, %d1, %out;\nst.global.u64 [%d4], %d3;",
        4);
    for (unsigned k = 0; k < 8; k++) ck_assert_uint_eq(output[k], k < 4 ? input[k] : 0);
}
END_TEST

/* A policy for the cache is no number of bytes. */
START_TEST(a_policy_changes_nothing)
{
    run("createpolicy.fractional.L2::evict_first.b64 %d5, 1.0;\nmov.u32 %r2, s;\n"
        "cp.async.cg.shared.global.L2::cache_hint [%r2], [%in], 16, %d5;\n"
        "cp.async.ca.shared.global.L2::cache_hint [%r2+16], [%in+16], 8, 4, %d5;\n"
        "cp.async.wait_all;\nld.shared.v4.u32 {%r3,%r4,%r5,%r6}, [%r2];\n"
        "st.global.v4.u32 [%out], {%r3,%r4,%r5,%r6};\nld.shared.v2.u32 {%r3,%r4}, [%r2+16];\n"
        "st.global.v2.u32 [%out+16], {%r3,%r4};",
        1);
    for (unsigned k = 0; k < 5; k++) ck_assert_uint_eq(output[k], input[k]);
    ck_assert_uint_eq(output[5], 0);
}
END_TEST

/* Of a copy that reads less than it writes only those bytes need be there. */
START_TEST(copies_may_end_where_memory_does)
{
    struct exec_program *program = device_program(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 pi, .param .u64 po) {\n.reg .b64 %in, %out, %d;\n"
        ".shared .align 16 .b8 s[16];\nld.param.u64 %in, [pi];\nld.param.u64 %out, [po];\n"
        "cp.async.ca.shared.global [s], [%in+96], 8, 4;\ncp.async.wait_all;\n"
        "ld.shared.u64 %d, [s];\nst.global.u64 [%out], %d;\nret;\n}\n");
    void *bytes;
    for (uint32_t k = 0; k < WORDS; k++) input[k] = 0x1000 + 3 * k;
    const uint64_t parameters[] = {device_buffer_of(input, 100, NULL), device_buffer(8, &bytes)};
    struct device_run one = {
        .program = program, .name = "k", .blocks = 1, .threads = 1, .parameters = parameters};
    const enum exec_end end = device_launch(&one);
    ck_assert_msg(end == EXEC_DONE, "%s", device_sentence(&one));
    memcpy(output, bytes, 8);
    exec_program_destroy(program);
    device_reset();
    ck_assert_uint_eq(output[0], input[24]);
    ck_assert_uint_eq(output[1], 0);
    ck_assert_uint_eq(one.counts.bytes_loaded, 4);
}
END_TEST

/* ---- atomics ------------------------------------------------------------------------------------
 */

START_TEST(vector_atomics)
{
    /* Two lanes add to the same vectors; the results are the old values, in lane order. */
    run("mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\nmov.f32 %f3, 0f40400000;\n"
        "mov.f32 %f4, 0f40800000;\natom.global.v2.f32.add {%f5,%f6}, [%out], {%f1,%f2};\n"
        "mul.wide.u32 %d1, %t, 8;\nadd.u64 %d1, %d1, %out;\nst.global.v2.f32 [%d1+64], {%f5,%f6};\n"
        "red.global.v4.f32.add [%out+16], {%f1,%f2,%f3,%f4};\n"
        "mov.b32 %r1, 0x3C003C00;\nmov.b32 %r2, 0x40004000;\n"
        "red.global.v2.f16x2.add.noftz [%out+32], {%r1,%r2};\n"
        "mov.b16 %h1, 0x3F80;\nmov.b16 %h2, 0xC000;\n"
        "atom.global.v2.bf16.max.noftz {%h3,%h4}, [%out+40], {%h1,%h2};\n"
        "atom.global.v2.bf16.min.noftz {_,%h4}, [%out+44], {%h1,%h2};",
        2);
    static const float pair[] = {2, 4}, before[] = {0, 0, 1, 2}, four[] = {2, 4, 6, 8};
    ck_assert(!memcmp(output, pair, sizeof pair));
    ck_assert(!memcmp(&output[16], before, sizeof before));
    ck_assert(!memcmp(&output[4], four, sizeof four));
    ck_assert_uint_eq(output[8], 0x40004000);
    ck_assert_uint_eq(output[9], 0x44004400);
    ck_assert_uint_eq(output[10], 0x00003f80);
    ck_assert_uint_eq(output[11], 0xc0000000);
    stops("red.global.v2.f32.add [%out+4], {%f1,%f2};", EXEC_MISALIGNED, "multiple of 8");
}
END_TEST

START_TEST(numbers_of_128_bits)
{
    run("mov.u64 %d1, 11;\nmov.u64 %d2, 22;\nmov.b128 %q0, {%d1, %d2};\nld.global.b128 %q1, "
        "[%in];\n"
        "st.global.b128 [%out], %q1;\natom.global.exch.b128 %q2, [%out], %q0;\n"
        "st.global.b128 [%out+16], %q2;\n"
        "atom.global.cas.b128 %q3, [%out], %q0, %q1;\nst.global.b128 [%out+32], %q3;\n"
        "ld.global.b128 %q3, [%out];\nst.global.b128 [%out+48], %q3;\n"
        "atom.global.cas.b128 %q3, [%out], %q0, %q0;\nld.global.b128 %q3, [%out];\n"
        "mov.b128 %q2, %q3;\nmov.b128 {%d3, %d4}, %q2;\nst.global.u64 [%out+64], %d4;\n"
        "st.global.u64 [%out+72], %d3;",
        1);
    const uint64_t pair[] = {11, 22};
    ck_assert(!memcmp(&output[4], input, 16));
    ck_assert(!memcmp(&output[8], pair, 16));
    ck_assert(!memcmp(&output[12], input, 16));
    ck_assert(!memcmp(&output[16], &input[2], 8) && !memcmp(&output[18], &input[0], 8));
    stops("ld.global.b128 %q1, [%in+8];", EXEC_MISALIGNED, "multiple of 16");
}
END_TEST

START_TEST(vectors_of_eight)
{
    run("mov.u64 %d1, %in;\nld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1];\n"
        "st.global.v8.b32 [%out], {%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1};\n"
        "ld.global.v4.u64 {%d1,%d2,%d3,%d4}, [%d1];\nst.global.v4.u64 [%out+32], "
        "{%d1,%d2,%d3,%d4};",
        1);
    for (unsigned k = 0; k < 8; k++) {
        ck_assert_uint_eq(output[k], input[7 - k]);
        ck_assert_uint_eq(output[8 + k], input[k]);
    }
    stops("st.global.v8.b32 [%out+16], {%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1};", EXEC_MISALIGNED,
          "multiple of 32");
}
END_TEST

/* ---- state spaces
 * -------------------------------------------------------------------------------- */

START_TEST(an_address_knows_its_space)
{
    static const struct {
        const char *address;
        const char *global, *shared, *local;
    } rows[] = {{"mov.u64 %d1, %out;", "1", "0", "0"},
                {"mov.u64 %d1, variable;\ncvta.global.u64 %d1, %d1;", "1", "0", "0"},
                {"mov.u64 %d1, s;\ncvta.shared.u64 %d1, %d1;", "0", "1", "0"},
                {"mov.u64 %d1, pi;\ncvta.param.u64 %d1, %d1;", "1", "0", "0"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char body[512];
        snprintf(body, sizeof body,
                 "%s\nisspacep.global %%p, %%d1;\nselp.u32 %%r0, 1, 0, %%p;\n"
                 "st.global.u32 [%%out], %%r0;\nisspacep.shared %%p, %%d1;\n"
                 "selp.u32 %%r0, 1, 0, %%p;\nst.global.u32 [%%out+4], %%r0;\n"
                 "isspacep.local %%p, %%d1;\nselp.u32 %%r0, 1, 0, %%p;\n"
                 "st.global.u32 [%%out+8], %%r0;",
                 rows[k].address);
        run(body, 1);
        ck_assert_msg(output[0] == (unsigned)atoi(rows[k].global) &&
                          output[1] == (unsigned)atoi(rows[k].shared) &&
                          output[2] == (unsigned)atoi(rows[k].local),
                      "%s: %u %u %u", rows[k].address, output[0], output[1], output[2]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_breadth");
    TCase *tests = tcase_create("breadth");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, a_phase_ends_with_its_last_arrival);
    tcase_add_test(tests, threads_wait_for_each_other);
    tcase_add_test(tests, bytes_are_waited_for);
    tcase_add_test(tests, misuse_of_barrier_objects_is_named);
    tcase_add_test(tests, bulk_copies_and_reductions);
    tcase_add_test(tests, bulk_shapes_are_checked);
    tcase_add_test(tests, ignored_sources_are_zero);
    tcase_add_test(tests, a_policy_changes_nothing);
    tcase_add_test(tests, copies_may_end_where_memory_does);
    tcase_add_test(tests, vector_atomics);
    tcase_add_test(tests, numbers_of_128_bits);
    tcase_add_test(tests, vectors_of_eight);
    tcase_add_test(tests, an_address_knows_its_space);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
