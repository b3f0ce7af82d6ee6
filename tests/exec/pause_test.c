/* Kernels that wait for an event outside the launch: they pause, continue when something has
 * changed, and exceed their instruction limit only while something waits for them. */
#include "emulator/exec/check/footprint.h"
#include "emulator/memory/memory.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Thread 0 of each block waits for flags[0], then for flags[1] or flags[2]; then all threads write
 * the block's number + flags[3]. */
static const char waits[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry waits(.param .u64 flags_in, .param .u64 out_in) {\n"
    ".reg .b64 %flags, %out, %m; .reg .b32 %t, %b, %v, %w, %n; .reg .pred %p;\n"
    "ld.param.u64 %flags, [flags_in]; ld.param.u64 %out, [out_in];\n"
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;\n"
    "setp.ne.u32 %p, %t, 0;\n@%p bra MEET;\n"
    "FIRST: ld.volatile.global.u32 %v, [%flags];\nsetp.eq.u32 %p, %v, 0;\n@%p bra FIRST;\n"
    "SECOND: ld.volatile.global.u32 %v, [%flags+4]; ld.acquire.sys.global.u32 %w, [%flags+8];\n"
    "or.b32 %v, %v, %w; setp.eq.u32 %p, %v, 0;\n@%p bra SECOND;\n"
    "MEET: bar.sync 0;\n"
    "ld.global.u32 %v, [%flags+12]; add.u32 %v, %v, %b;\n"
    "mad.lo.u32 %t, %b, %n, %t; mul.wide.u32 %m, %t, 4; add.u64 %out, %out, %m;\n"
    "st.global.u32 [%out], %v; ret; }\n"
    /* Every thread waits for a flag of its own. */
    ".visible .entry all(.param .u64 flags_in) {\n"
    ".reg .b64 %flags, %m; .reg .b32 %t; .reg .pred %p;\n"
    "ld.param.u64 %flags, [flags_in]; mov.u32 %t, %tid.x;\n"
    "mul.wide.u32 %m, %t, 4; add.u64 %flags, %flags, %m;\n"
    "AGAIN: ld.volatile.global.u32 %t, [%flags]; setp.eq.u32 %p, %t, 0;\n@%p bra AGAIN;\n"
    "ret; }\n"
    /* A thread waits by atomics that leave the flags as they are. */
    ".visible .entry asks(.param .u64 flags_in) {\n"
    ".reg .b64 %flags; .reg .b32 %v; .reg .pred %p;\n"
    "ld.param.u64 %flags, [flags_in];\n"
    "ADD: atom.global.add.u32 %v, [%flags], 0; setp.eq.u32 %p, %v, 0;\n@%p bra ADD;\n"
    "OR: atom.global.or.b32 %v, [%flags+4], 0; setp.eq.u32 %p, %v, 0;\n@%p bra OR;\n"
    "XOR: atom.xor.b32 %v, [%flags+8], 0; setp.eq.u32 %p, %v, 0;\n@%p bra XOR;\n"
    "ret; }\n";

enum { BLOCKS = 3, THREADS = 40, ALL = BLOCKS * THREADS };

static volatile uint32_t *flags;
static uint32_t *out;
static uint64_t parameters[2];

static struct device_run begin(uint64_t limit)
{
    static const uint32_t zeros[ALL] = {0};
    void *bytes;
    parameters[0] = device_buffer_of(zeros, 16, &bytes);
    flags = bytes;
    parameters[1] = device_buffer_of(zeros, sizeof zeros, &bytes);
    out = bytes;
    return (struct device_run){.program = device_program(waits),
                               .name = "waits",
                               .blocks = BLOCKS,
                               .threads = THREADS,
                               .parameters = parameters,
                               .limit = limit,
                               .pauses = true};
}

static void finish(struct device_run *run)
{
    exec_program_destroy((struct exec_program *)(uintptr_t)run->program);
    device_reset();
}

static void check_out(uint32_t value)
{
    for (uint32_t i = 0; i < ALL; i++) ck_assert_uint_eq(out[i], value + i / THREADS);
}

START_TEST(it_goes_on_when_something_changes)
{
    struct device_run run = begin(0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(device_launch(&run), EXEC_PAUSED);
        ck_assert_ptr_nonnull(run.paused);
    }
    flags[0] = 1;
    ck_assert_int_eq(device_launch(&run), EXEC_PAUSED);
    flags[3] = 100;
    flags[2] = 1;
    ck_assert_uint_eq(out[0], 0);
    ck_assert_int_eq(device_launch(&run), EXEC_DONE);
    ck_assert_ptr_null(run.paused);
    check_out(100);
    finish(&run);
}
END_TEST

START_TEST(an_atomic_that_changes_nothing_waits_too)
{
    struct device_run run = begin(1000000);
    run.name = "asks";
    run.blocks = run.threads = 1;
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(device_launch(&run), EXEC_PAUSED);
        flags[k] = 1;
    }
    ck_assert_int_eq(device_launch(&run), EXEC_DONE);
    finish(&run);
}
END_TEST

/* A launch that finds all flags set behaves as one that may not pause. */
START_TEST(one_that_need_not_wait_is_as_before)
{
    struct exec_counts counts;
    struct device_run run = begin(0);
    flags[0] = flags[1] = flags[3] = 1;
    ck_assert_int_eq(device_launch(&run), EXEC_DONE);
    check_out(1);
    counts = run.counts;
    run.pauses = false;
    ck_assert_int_eq(device_launch(&run), EXEC_DONE);
    ck_assert_mem_eq(&counts, &run.counts, sizeof counts);
    finish(&run);
}
END_TEST

START_TEST(only_who_is_waited_for_is_endless)
{
    struct device_run run = begin(200000);
    for (int i = 0; i < 200; i++) ck_assert_int_eq(device_launch(&run), EXEC_PAUSED);
    run.impatient = true;
    int times = 0;
    enum exec_end end;
    while ((end = device_launch(&run)) == EXEC_PAUSED && times++ < 100) {
    }
    ck_assert_int_eq(end, EXEC_ENDLESS);
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "waits"));
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "reading a value that does not change"));
    ck_assert_uint_eq(run.fault.line, 10);
    ck_assert_ptr_null(run.paused);
    run.impatient = run.pauses = false;
    ck_assert_int_eq(device_launch(&run), EXEC_ENDLESS);
    finish(&run);
}
END_TEST

/* Memory that is freed while the kernel pauses is not accessed afterwards. */
START_TEST(memory_may_go_while_it_pauses)
{
    struct device_run run = begin(0);
    run.name = "all";
    run.blocks = 1;
    run.threads = 32;
    parameters[0] = parameters[1];
    ck_assert_int_eq(device_launch(&run), EXEC_PAUSED);
    device_release(parameters[0]);
    ck_assert_int_eq(device_launch(&run), EXEC_OUT_OF_BOUNDS);
    finish(&run);
    run = begin(0);
    ck_assert_int_eq(device_launch(&run), EXEC_PAUSED);
    exec_paused_drop(run.paused);
    exec_paused_drop(NULL);
    finish(&run);
}
END_TEST

/* The last accesses of a dropped launch were not reported. */
START_TEST(what_a_dropped_launch_touched_the_next_has_not)
{
    enum { LARGE = 1 << 20 };
    struct device_run run = begin(0);
    run.name = "all";
    void *bytes;
    parameters[0] = device_buffer(LARGE, &bytes);
    memset(bytes, 0, LARGE);
    const struct memory_region *region = memory_find(parameters[0]);
    run.footprint = exec_footprint_create(NULL, NULL);
    ck_assert_int_eq(device_launch(&run), EXEC_PAUSED);
    ck_assert_uint_ne(exec_footprint_bits(run.footprint, region, EXEC_LOAD)[0], 0);
    exec_paused_drop(run.paused);
    exec_footprint_destroy(run.footprint);
    run.footprint = exec_footprint_create(NULL, NULL);
    const uint64_t *bits = exec_footprint_bits(run.footprint, region, EXEC_LOAD);
    for (int i = 0; i < LARGE / 64; i++) ck_assert_uint_eq(bits[i], 0);
    exec_footprint_destroy(run.footprint);
    finish(&run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_pause");
    TCase *tests = tcase_create("pause");
    tcase_add_test(tests, it_goes_on_when_something_changes);
    tcase_add_test(tests, an_atomic_that_changes_nothing_waits_too);
    tcase_add_test(tests, one_that_need_not_wait_is_as_before);
    tcase_add_test(tests, only_who_is_waited_for_is_endless);
    tcase_add_test(tests, memory_may_go_while_it_pauses);
    tcase_add_test(tests, what_a_dropped_launch_touched_the_next_has_not);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
