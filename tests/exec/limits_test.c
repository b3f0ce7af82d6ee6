/* Programs that exceed a device's limits are refused when they are loaded, with name and limit;
 * those that just fit are not. A resource exhausted at run time gives an error code and a
 * sentence. */
#include "emulator/exec/exec.h"
#include "emulator/ptx/ptx.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char log_text[512];

static struct exec_program *build(const char *version, const char *body)
{
    static char text[4096];
    static struct ptx_diagnostics diagnostics;
    snprintf(text, sizeof text, ".version %s\n.target sm_75\n.address_size 64\n%s", version, body);
    struct ptx_module *module = ptx_parse(text, strlen(text), &diagnostics);
    ck_assert_msg(module != NULL, "%s", diagnostics.entries[0].text);
    struct exec_program *program = exec_program_create(module, log_text, sizeof log_text);
    ptx_module_destroy(module);
    return program;
}

static const struct {
    const char *version, *fits, *does_not, *says;
} rows[] = {
    {"8.0", ".visible .entry k() { .shared .b8 s[1048576]; ret; }",
     ".visible .entry k() { .shared .b8 s[1048577]; ret; }",
     "k: 1048577 bytes of static shared memory"},
    {"8.0", ".visible .entry k() { .shared .b8 s[49152]; ret; }",
     ".visible .entry k() { .shared .b8 s[4294967296]; ret; }", "k: 4294967296 bytes of static"},
    {"8.0", ".shared .b8 m[40000];\n.visible .entry k() { .shared .b8 s[1040000]; ret; }",
     ".shared .b8 m[40000];\n.visible .entry k() { .reg .u32 r; .shared .b8 s[1040000];\n"
     "ld.shared.u32 r, [m]; ret; }",
     "k: 1080000 bytes of static shared memory"},
    {"8.0", ".shared .b8 m[1048577];\n.visible .entry k() { ret; }", /* which nobody names */
     ".shared .b8 m[1048577];\n.visible .entry k() { .reg .u32 r; ld.shared.u32 r, [m]; ret; }",
     "k: 1048577 bytes of static shared memory"},
    {"8.0",
     ".shared .b8 m[1048576];\n.shared .b8 n[1];\n"
     ".func f() { .reg .u32 r; ld.shared.u32 r, [m]; ret; }\n.visible .entry k() { call f; ret; }",
     ".shared .b8 m[1048576];\n.shared .b8 n[1];\n"
     ".func f() { .reg .u32 r; ld.shared.u32 r, [m]; ld.shared.u8 r, [n]; ret; }\n"
     ".visible .entry k() { call f; ret; }",
     "n: 1048577 bytes of static shared memory"},
    {"8.0", ".visible .entry k() { .local .b8 s[16777216]; ret; }",
     ".visible .entry k() { .local .b8 s[16777217]; ret; }", "k: 16777217 bytes of local memory"},
    {"8.0", ".visible .entry k() { .local .b8 s[524288]; ret; }",
     ".visible .entry k() { .local .b8 s[4294967296]; ret; }", "k: 4294967296 bytes of local"},
    {"8.0", ".func f() { .local .b8 s[200000]; ret; }\n.visible .entry k() { call f; ret; }",
     ".func f() { .local .b8 s[9000000]; ret; }\n"
     ".visible .entry k() { .local .b8 s[9000000]; call f; ret; }",
     "of local memory for a thread with what it calls"},
    {"8.0", ".func f(.param .b8 a[524288]) { ret; }\n.visible .entry k() { ret; }",
     ".func f(.param .b8 a[16777217]) { ret; }\n.visible .entry k() { ret; }",
     "f: 16777217 bytes of local memory"},
    {"8.0", ".visible .const .b8 c[65536];\n.visible .entry k() { ret; }",
     ".visible .const .b8 c[65536];\n.visible .const .b8 d[1];\n.visible .entry k() { ret; }",
     "d: 65537 bytes of constant memory"},
    {"8.0", ".visible .entry k(.param .b8 p[4352]) { ret; }",
     ".visible .entry k(.param .b8 p[4353]) { ret; }",
     "k: 4353 bytes of parameters; a device has at most 4352"},
    {"8.1", ".visible .entry k(.param .b8 p[32764]) { ret; }",
     ".visible .entry k(.param .b8 p[32764], .param .b8 q) { ret; }",
     "k: 32765 bytes of parameters"},
    {"8.0", ".global .b8 g[268435456] = {1};\n.visible .entry k() { ret; }",
     ".global .b8 g[268435457] = {1};\n.visible .entry k() { ret; }",
     "g: 268435457 bytes of initialised memory"},
};

START_TEST(what_is_too_large_is_refused)
{
    struct exec_program *program = build(rows[_i].version, rows[_i].fits);
    ck_assert_msg(program != NULL, "%s: %s", rows[_i].fits, log_text);
    exec_program_destroy(program);
    ck_assert_ptr_null(build(rows[_i].version, rows[_i].does_not));
    ck_assert_msg(strstr(log_text, rows[_i].says) != NULL, "it says: %s", log_text);
}
END_TEST

/* ---- what runs out while it runs --------------------------------------------------------------
 */

static struct device_run run_one(const char *body, const void *parameters, uint32_t threads)
{
    struct device_run run = {.program = build("9.0", body),
                             .name = "k",
                             .blocks = 1,
                             .threads = threads,
                             .parameters = parameters,
                             .limit = 20000};
    ck_assert_msg(run.program != NULL, "%s", log_text);
    return run;
}

static void end_one(struct device_run *run)
{
    exec_program_destroy((struct exec_program *)run->program);
    device_reset();
}

START_TEST(a_spin_beside_a_barrier_names_both)
{
    static const char body[] =
        ".visible .entry k(.param .u64 p) { .reg .b64 %d; .reg .b32 %r<3>; .reg .pred %q;\n"
        "ld.param.u64 %d, [p]; mov.u32 %r1, %tid.x;\n" /* line 5 */
        "setp.lt.u32 %q, %r1, 32; @%q bra SPIN;\n"
        "bar.sync 0; ret;\n" /* line 7 */
        "SPIN:\n"
        "ld.volatile.global.u32 %r2, [%d]; setp.ne.u32 %q, %r2, 77; @%q bra SPIN;\n" /* line 9 */
        "bar.sync 0; ret; }";
    const uint64_t parameters[] = {device_buffer(4, NULL)};
    struct device_run run = run_one(body, parameters, 96);
    ck_assert_int_eq(device_launch(&run), EXEC_ENDLESS);
    ck_assert_str_eq(device_sentence(&run),
                     "kernel k has executed 20000 warp instructions, the limit, and does not "
                     "end: it is in a loop around line 9, reading a value that does not change; in "
                     "its block 64 of 96 threads wait at the barrier on line 7");
    ck_assert_uint_eq(run.fault.line, 9);
    end_one(&run);
}
END_TEST

/* A loop that reads what only one lane changes, the first or the last one, is not a wait. */
static const struct {
    const char *type;
    unsigned lane;
} changing[] = {{"u32", 0}, {"u32", 31}, {"u64", 0}, {"u64", 31}};

START_TEST(a_lane_that_reads_its_own_changes_does_not_wait)
{
    char body[1024];
    snprintf(body, sizeof body,
             ".visible .entry k(.param .u64 p) { .reg .b64 %%d, %%d1; .reg .%s %%r, %%s; "
             ".reg .b32 %%t; .reg .pred %%q;\n"
             "ld.param.u64 %%d, [p]; mov.u32 %%t, %%tid.x; mul.wide.u32 %%d1, %%t, 8;\n"
             "add.u64 %%d, %%d, %%d1; setp.eq.u32 %%q, %%t, %u; selp.%s %%s, 1, 0, %%q;\n"
             "SPIN: ld.volatile.global.%s %%r, [%%d]; add.%s %%r, %%r, %%s;\n"
             "st.volatile.global.%s [%%d], %%r; bra SPIN; }", /* line 7 */
             changing[_i].type, changing[_i].lane, changing[_i].type, changing[_i].type,
             changing[_i].type, changing[_i].type);
    const uint64_t parameters[] = {device_buffer(32 * 8, NULL)};
    struct device_run run = run_one(body, parameters, 32);
    ck_assert_int_eq(device_launch(&run), EXEC_ENDLESS);
    ck_assert_str_eq(device_sentence(&run),
                     "kernel k has executed 20000 warp instructions, the limit, and does not "
                     "end: it is in a loop around line 7");
    end_one(&run);
}
END_TEST

static const char taking[] =
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
    ".visible .entry k(.param .u64 p, .param .u32 past) { .reg .b64 %d<4>; .reg .b32 %r; "
    ".reg .pred %q;\nld.param.u64 %d3, [p]; ld.param.u32 %r, [past];\n"
    "AGAIN: { .param .b64 n; .param .b64 r; st.param.b64 [n], 100; call (r), malloc, (n);\n"
    "ld.param.b64 %d1, [r]; }\n"
    "st.global.u64 [%d3], %d1; setp.eq.u64 %q, %d1, 0; @%q ret;\n"
    "cvt.u64.u32 %d2, %r; add.u64 %d1, %d1, %d2; st.u64 [%d1], -1; bra AGAIN; }";

/* 4096 bytes of zeros for malloc. */
static void give_heap(struct device_run *run)
{
    void *bytes;
    run->heap_bytes = 4096;
    run->heap_address = device_buffer(run->heap_bytes, &bytes);
    memset(bytes, 0, run->heap_bytes);
}

/* Runs the kernel, which has a heap and stores 8 bytes where its first parameter says. Returns
 * them. */
static uint64_t stored_by(const char *body)
{
    uint64_t *stored;
    const uint64_t parameters[] = {device_buffer(8, (void **)&stored), 0};
    struct device_run run = run_one(body, parameters, 1);
    give_heap(&run);
    ck_assert_int_eq(device_launch(&run), EXEC_DONE);
    const uint64_t value = *stored;
    end_one(&run);
    return value;
}

START_TEST(a_heap_that_is_used_up_gives_null)
{
    ck_assert_uint_eq(stored_by(taking), 0);
}
END_TEST

START_TEST(a_heap_that_was_written_over_is_named)
{
    /* The size field before the next piece, and the mark after it. */
    for (uint64_t past = 112; past <= 120; past += 8) {
        const uint64_t parameters[] = {device_buffer(8, NULL), past};
        struct device_run run = run_one(taking, parameters, 1);
        give_heap(&run);
        ck_assert_int_eq(device_launch(&run), EXEC_TRAP);
        ck_assert_ptr_nonnull(strstr(device_sentence(&run), "the heap is damaged"));
        end_one(&run);
    }
}
END_TEST

static const char read_late[] =
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"
    ".visible .entry k(.param .u64 p) { .reg .b64 %d<3>;\nld.param.u64 %d2, [p];\n"
    "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call (r), malloc, (n);\n"
    "ld.param.b64 %d1, [r]; }\nst.u64 [%d1], 7;\n"
    "{ .param .b64 p0; st.param.b64 [p0], %d1; call free, (p0); }\n"
    "ld.u64 %d1, [%d1]; st.global.u64 [%d2], %d1; ret; }";

START_TEST(what_was_freed_holds_something_else)
{
    ck_assert_uint_eq(stored_by(read_late), 0xa5a5a5a5a5a5a5a5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_limits");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, what_is_too_large_is_refused, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tests, a_spin_beside_a_barrier_names_both);
    tcase_add_loop_test(tests, a_lane_that_reads_its_own_changes_does_not_wait, 0,
                        sizeof changing / sizeof *changing);
    tcase_add_test(tests, a_heap_that_is_used_up_gives_null);
    tcase_add_test(tests, a_heap_that_was_written_over_is_named);
    tcase_add_test(tests, what_was_freed_holds_something_else);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
