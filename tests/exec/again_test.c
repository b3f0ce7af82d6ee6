/* Repeated launches of a kernel: nothing that an earlier launch left in the host's memory is
 * visible. */
#include "emulator/exec/check/racecheck.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Each block writes value + the number of blocks, queried in a function, to out[ctaid]; then it
 * stores the contents of its uninitialised shared memory, and writes `value` there. */
static const char writes[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".func (.param .b32 r) blocks(.param .b32 add) {\n.reg .b32 %a, %n;\n"
    "ld.param.u32 %a, [add]; mov.u32 %n, %nctaid.x; add.u32 %n, %n, %a;\n"
    "st.param.b32 [r], %n; ret; }\n"
    ".visible .entry writes(.param .u64 out_in, .param .u32 value_in) {\n"
    ".reg .b64 %out, %m; .reg .b32 %v, %r, %b; .shared .b32 left;\n"
    "ld.param.u64 %out, [out_in]; ld.param.u32 %v, [value_in];\n"
    "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %v;\n"
    "call (r), blocks, (a); ld.param.b32 %r, [r]; }\n"
    "mov.u32 %b, %ctaid.x; mul.wide.u32 %m, %b, 8; add.u64 %out, %out, %m;\n"
    "st.global.u32 [%out], %r; ld.shared.u32 %r, [left]; st.global.u32 [%out+4], %r;\n"
    "bar.sync 0; st.shared.u32 [left], %v; ret; }\n";

/* Each thread writes its number to shared memory and stores to out what the thread 32 places away
 * wrote; with a value no barrier orders the two. */
static const char looks_away[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry looks_away(.param .u64 out_in, .param .u32 value_in) {\n"
    ".reg .b64 %out, %m; .reg .b32 %t, %o, %a, %v; .reg .pred %p;\n"
    ".shared .align 4 .b8 all[256];\n"
    "ld.param.u64 %out, [out_in]; ld.param.u32 %v, [value_in]; setp.ne.u32 %p, %v, 0;\n"
    "mov.u32 %t, %tid.x; shl.b32 %o, %t, 2; mov.u32 %a, all; add.u32 %a, %a, %o;\n"
    "st.shared.u32 [%a], %t;\n@%p bra ON;\nbar.sync 0;\nON:\n"
    "xor.b32 %o, %o, 128; mov.u32 %a, all; add.u32 %a, %a, %o; ld.shared.u32 %v, [%a];\n"
    "mul.wide.u32 %m, %t, 4; add.u64 %out, %out, %m; st.global.u32 [%out], %v; ret; }\n";

enum { MOST = 4, LAUNCHES = 6, UNTOUCHED = (int)0xa5a5a5a5 };

static struct {
    uint64_t out;
    uint32_t value;
} parameters;

static enum exec_end launch(struct exec_program *program, uint32_t blocks, uint32_t threads)
{
    struct device_run run = {.program = program,
                             .name = "writes",
                             .blocks = blocks,
                             .threads = threads,
                             .parameters = &parameters};
    return device_launch(&run);
}

START_TEST(each_launch_is_as_the_first)
{
    static const struct {
        uint32_t blocks, threads;
    } shapes[LAUNCHES] = {{1, 1}, {MOST, 1}, {2, 1}, {2, 33}, {3, 33}, {1, 1}};
    struct exec_program *program = device_program(writes);
    int left[MOST] = {0}; /* what each block finds in shared memory; never 0 */
    for (uint32_t k = 0; k < LAUNCHES; k++) {
        void *bytes;
        parameters.out = device_buffer(MOST * 8, &bytes);
        parameters.value = 100 * k;
        const int *out = bytes;
        ck_assert_int_eq(launch(program, shapes[k].blocks, shapes[k].threads), EXEC_DONE);
        for (uint32_t b = 0; b < MOST; b++) {
            const bool ran = b < shapes[k].blocks;
            ck_assert_int_eq(out[2 * b], ran ? (int)(100 * k + shapes[k].blocks) : UNTOUCHED);
            if (ran && left[b] == 0) left[b] = out[2 * b + 1];
            ck_assert_int_ne(out[2 * b + 1], 0);
            ck_assert_int_eq(out[2 * b + 1], ran ? left[b] : UNTOUCHED);
        }
        device_release(parameters.out);
    }
    exec_program_destroy(program);
    device_reset();
}
END_TEST

/* Returns whether racecheck finds anything; `shared`: bytes beyond the kernel's own variables. */
static bool launch_watched(struct exec_program *program, uint32_t value, uint32_t shared)
{
    void *bytes;
    parameters.out = device_buffer(64 * 4, &bytes);
    parameters.value = value;
    struct device_run run = {.program = program,
                             .name = "looks_away",
                             .blocks = 1,
                             .threads = 64,
                             .shared = shared,
                             .parameters = &parameters,
                             .footprint = exec_footprint_create(NULL, NULL),
                             .watch = exec_racecheck_create()};
    ck_assert_int_eq(device_launch(&run), EXEC_DONE);
    const bool found = exec_racecheck_count(run.watch) > 0;
    const int *out = bytes;
    for (int k = 0; k < 64 && !found; k++) ck_assert_int_eq(out[k], k ^ 32);
    exec_racecheck_destroy(run.watch);
    exec_footprint_destroy(run.footprint);
    device_release(parameters.out);
    return found;
}

START_TEST(what_was_seen_of_another_launch_is_forgotten)
{
    struct exec_program *program = device_program_watched(looks_away);
    for (uint32_t k = 0; k < LAUNCHES; k++)
        ck_assert_int_eq(launch_watched(program, k % 3 == 1, k < 4 ? 0 : 64), k % 3 == 1);
    exec_program_destroy(program);
    device_reset();
}
END_TEST

START_TEST(what_was_memory_is_none)
{
    struct exec_program *program = device_program(writes);
    parameters.out = device_buffer(8, &(void *){NULL});
    ck_assert_int_eq(launch(program, 1, 1), EXEC_DONE);
    device_release(parameters.out);
    ck_assert_int_eq(launch(program, 1, 1), EXEC_OUT_OF_BOUNDS);
    exec_program_destroy(program);
    device_reset();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_again");
    TCase *tests = tcase_create("again");
    tcase_add_test(tests, each_launch_is_as_the_first);
    tcase_add_test(tests, what_was_seen_of_another_launch_is_forgotten);
    tcase_add_test(tests, what_was_memory_is_none);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
