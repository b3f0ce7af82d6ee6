/* The estimate of a launch's hits in the first-level cache, and of how long its accesses occupy the
 * path to it (machine/probe.h): the same for the interpreter and machine code, and for any number
 * of workers. */
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, WARPS = 4, BYTES = 1 << 20, ROUNDS = 16, REACH = 64 };

/* k(p): %%a is p + 4 * thread, %%w is p + 4 * lane, %%s is 4 * thread in shared memory; `body` is
 * repeated. */
static const char form[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %%a, %%w, %%o, %%p;\n.reg .pred %%q;\n"
    ".reg .b32 %%t, %%s, %%i, %%x, %%y;\n.shared .align 4 .b8 room[16384];\n"
    "ld.param.u64 %%p, [p];\nmov.u32 %%t, %%tid.x;\nmul.wide.u32 %%o, %%t, 4;\n"
    "add.u64 %%a, %%p, %%o;\nmov.u32 %%s, room;\nmad.lo.u32 %%s, %%t, 4, %%s;\n"
    "and.b32 %%t, %%t, 31;\nmul.wide.u32 %%o, %%t, 4;\nadd.u64 %%w, %%p, %%o;\nmov.u32 %%y, 0;\n"
    "mov.u32 %%i, 0;\nNEXT: %s\nadd.u32 %%i, %%i, 1;\nsetp.lt.u32 %%q, %%i, %d;\n"
    "@%%q bra NEXT;\nst.shared.u32 [%%s], %%y;\nret;\n}\n";

struct wanted {
    const char *name, *body;
    int rounds;
    uint32_t blocks, reach;
    /* For the whole launch: */
    uint64_t transactions, found, chain, short_chain, barriers;
};

static struct exec_program *program_of(const struct wanted *wanted)
{
    char text[4096];
    snprintf(text, sizeof text, form, wanted->body, wanted->rounds);
    return device_program(text);
}

static struct device_run launch_of(const struct wanted *wanted, const struct exec_program *program)
{
    static uint64_t p;
    p = device_buffer(BYTES, NULL);
    return (struct device_run){.program = program,
                               .name = "k",
                               .blocks = wanted->blocks,
                               .threads = WARPS * LANES,
                               .parameters = &p,
                               .reach = wanted->reach};
}

static struct exec_counts counts_of(const struct wanted *wanted, enum exec_native_use use,
                                    unsigned workers, unsigned launches)
{
    exec_native_use(use);
    struct exec_program *program = program_of(wanted);
    struct device_run launch = launch_of(wanted, program);
    launch.workers = workers;
    while (launches-- > 0) device_run(&launch);
    exec_program_destroy(program);
    device_reset();
    return launch.counts;
}

enum { ROW = WARPS * LANES * 4 / 32 }; /* sectors of the block's row */

static const struct wanted table[] = {
    {"the same row again and again", "ld.global.u32 %x, [%a]; add.u32 %y, %y, %x;", ROUNDS, 1,
     REACH, ROW *ROUNDS, ROW *(ROUNDS - 1), ROUNDS, ROUNDS - 1, 0},
    {"nobody looks", "ld.global.u32 %x, [%a]; add.u32 %y, %y, %x;", ROUNDS, 1, 0, ROW *ROUNDS, 0,
     ROUNDS, 0, 0},
    {"one row after the other", "ld.global.u32 %x, [%a]; add.u32 %y, %y, %x; add.u64 %a, %a, 512;",
     ROUNDS, 1, REACH, ROW *ROUNDS, 0, ROUNDS, 0, 0},
    /* All warps read the same words at the same time: one misses, the others wait for its line. */
    {"a row for all warps", "ld.global.u32 %x, [%w]; add.u32 %y, %y, %x; add.u64 %w, %w, 128;",
     ROUNDS, 1, REACH, ROW *ROUNDS, ROW *ROUNDS * 3 / 4, ROUNDS, 0, 0},
    /* On a GPU the warp after it fetched the line a round ago. In the model that warp comes later,
     * so the line counts as a hit while several warps wait for it. */
    {"the next warp's row", "ld.global.u32 %x, [%a]; add.u32 %y, %y, %x; add.u64 %a, %a, 128;",
     ROUNDS, 1, REACH, ROW *ROUNDS, 4 * 3 * (ROUNDS - 1), ROUNDS, 0, 0},
    {"what was stored", "st.global.u32 [%a], %i; ld.global.u32 %x, [%a]; add.u32 %y, %y, %x;",
     ROUNDS, 1, REACH, 2 * ROW *ROUNDS, ROW *ROUNDS, ROUNDS, ROUNDS, 0},
    {"a row after 8 others",
     "and.b32 %t, %i, 7; mul.wide.u32 %o, %t, 4096; add.u64 %p, %a, %o; ld.global.u32 %x, [%p];"
     "add.u32 %y, %y, %x;",
     ROUNDS, 1, 8, ROW *ROUNDS, ROW *(ROUNDS - 8), ROUNDS, ROUNDS - 8, 0},
    {"a row after more than there is room for",
     "and.b32 %t, %i, 7; mul.wide.u32 %o, %t, 4096; add.u64 %p, %a, %o; ld.global.u32 %x, [%p];"
     "add.u32 %y, %y, %x;",
     ROUNDS, 1, 7, ROW *ROUNDS, 0, ROUNDS, 0, 0},
    {"atomics", "atom.global.add.u32 %x, [%a], 1; add.u32 %y, %y, %x;", ROUNDS, 1, REACH,
     ROW *ROUNDS, 0, 0, 0, 0},
    {"barriers", "bar.sync 0; bar.sync 0;", ROUNDS, 1, REACH, 0, 0, 0, 0, 2 * ROUNDS},
    /* Only a part of the first of many blocks is examined. */
    {"a long loop of many blocks", "ld.global.u32 %x, [%w]; add.u32 %y, %y, %x;", 2000, 50, REACH,
     50ull * ROW * 2000, 0, 2000, 0, 0},
};

static const struct wanted *row_named(const char *name)
{
    size_t k = 0;
    while (strcmp(table[k].name, name) != 0) k++;
    return &table[k];
}

START_TEST(what_is_found)
{
    const struct wanted *wanted = &table[_i];
    const struct exec_counts counts = counts_of(wanted, EXEC_NATIVE_OFF, 1, 1);
    ck_assert_msg(counts.transactions == wanted->transactions, "%s: %llu sectors", wanted->name,
                  (unsigned long long)counts.transactions);
    ck_assert_uint_eq(counts.barriers, wanted->barriers);
    ck_assert_uint_eq(counts.longest_chain, wanted->chain);
    if (wanted->blocks > 1) return;
    ck_assert_msg(counts.found == wanted->found, "%s: %llu found", wanted->name,
                  (unsigned long long)counts.found);
    ck_assert_msg(counts.short_chain == wanted->short_chain, "%s: %llu short", wanted->name,
                  (unsigned long long)counts.short_chain);
}
END_TEST

START_TEST(a_sample_stands_for_the_rest)
{
    const struct wanted *wanted = row_named("a long loop of many blocks");
    const struct exec_counts counts = counts_of(wanted, EXEC_NATIVE_OFF, 1, 1);
    ck_assert_uint_gt(counts.found, wanted->transactions * 99 / 100);
    ck_assert_uint_lt(counts.found, wanted->transactions);
    ck_assert_uint_gt(counts.short_chain, wanted->chain * 99 / 100);
}
END_TEST

/* The result for the first launch is reused for launches of the same function and shape, and for no
 * others. */
START_TEST(a_launch_like_it_is_not_looked_at)
{
    const struct wanted *wanted = row_named("the same row again and again");
    struct exec_program *program = program_of(wanted);
    struct device_run launch = launch_of(wanted, program);
    device_run(&launch);
    const struct exec_counts first = launch.counts;
    ck_assert_uint_gt(first.found, 0);
    launch.reach = 0;
    device_run(&launch);
    ck_assert_uint_eq(launch.counts.found, first.found);
    ck_assert_uint_eq(launch.counts.short_chain, first.short_chain);
    launch.shared = 64;
    device_run(&launch);
    ck_assert_uint_eq(launch.counts.found, 0);
    launch.shared = 0;
    launch.blocks = 2;
    device_run(&launch);
    ck_assert_uint_eq(launch.counts.found, 0);
    exec_program_destroy(program);
    device_reset();
}
END_TEST

static void same(const struct exec_counts *a, const struct exec_counts *b)
{
    ck_assert_uint_eq(a->found, b->found);
    ck_assert_uint_eq(a->short_chain, b->short_chain);
    ck_assert_uint_eq(a->wavefronts, b->wavefronts);
    ck_assert_uint_eq(a->barriers, b->barriers);
}

START_TEST(it_is_the_same_however_it_is_executed)
{
    const struct wanted *wanted = &table[_i];
    const struct exec_counts counts = counts_of(wanted, EXEC_NATIVE_OFF, 1, 1);
    const struct exec_counts shared = counts_of(wanted, EXEC_NATIVE_OFF, 4, 1);
    const struct exec_counts native = counts_of(wanted, EXEC_NATIVE_ALWAYS, 1, 1);
    const struct exec_counts again = counts_of(wanted, EXEC_NATIVE_ALWAYS, 4, 9);
    same(&counts, &shared);
    same(&counts, &native);
    same(&counts, &again);
}
END_TEST

/* Bank conflicts: returns how many wavefronts the body takes more than an empty one. */
static uint64_t wavefronts_of(const char *body)
{
    const struct wanted wanted = {.body = body, .rounds = ROUNDS, .blocks = 1, .reach = REACH};
    const struct wanted none = {.body = "", .rounds = ROUNDS, .blocks = 1, .reach = REACH};
    return (counts_of(&wanted, EXEC_NATIVE_OFF, 1, 1).wavefronts -
            counts_of(&none, EXEC_NATIVE_OFF, 1, 1).wavefronts) /
           (WARPS * ROUNDS);
}

START_TEST(what_passes_at_a_time)
{
    static const struct {
        const char *body;
        uint64_t wavefronts;
    } rows[] = {
        {"ld.shared.u32 %x, [%s];", 1},
        {"ld.shared.u32 %x, [room];", 1},
        {"shl.b32 %x, %t, 3; mov.u32 %s, room; add.u32 %x, %x, %s; ld.shared.u32 %x, [%x];", 2},
        {"shl.b32 %x, %t, 7; mov.u32 %s, room; add.u32 %x, %x, %s; ld.shared.u32 %x, [%x];", 32},
        {"shl.b32 %x, %t, 3; mov.u32 %s, room; add.u32 %x, %x, %s; ld.shared.u64 %o, [%x];", 2},
        {"ld.global.u32 %x, [%a];", 1},
        {"ld.global.u32 %x, [%p];", 1},
        {"mul.wide.u32 %o, %t, 128; add.u64 %o, %o, %p; ld.global.u32 %x, [%o];", 32},
        {"mul.wide.u32 %o, %t, 8; add.u64 %o, %o, %p; ld.global.u32 %x, [%o];", 2},
        {"add.u32 %x, %x, 1;", 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        ck_assert_msg(wavefronts_of(rows[k].body) == rows[k].wavefronts, "%s: %llu", rows[k].body,
                      (unsigned long long)wavefronts_of(rows[k].body));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec probe");
    TCase *tcase = tcase_create("probe");
    const int rows = sizeof table / sizeof *table;
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, what_is_found, 0, rows);
    tcase_add_test(tcase, a_sample_stands_for_the_rest);
    tcase_add_test(tcase, a_launch_like_it_is_not_looked_at);
    tcase_add_loop_test(tcase, it_is_the_same_however_it_is_executed, 0, rows);
    tcase_add_test(tcase, what_passes_at_a_time);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
