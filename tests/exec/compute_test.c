/* Compares every row of the executor's computing tables with an independent reference, over edge
 * values and random ones, with full and partial warps. A row that no reference knows fails: the
 * semantics of a new row must be written down twice. */
#include "tests/exec/compute.h"
#include "tests/exec/device.h"
#include "tests/exec/reference.h"
#include "tests/exec/rows.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct test_row rows[] = {
#include "emulator/exec/ops/convert.def"
#include "emulator/exec/ops/float.def"
#include "emulator/exec/ops/half.def"
#include "emulator/exec/ops/half_lanes.def"
#include "emulator/exec/ops/int.def"
#include "emulator/exec/ops/narrow.def"
};

enum { ROWS = sizeof rows / sizeof *rows, SHARDS = 8 };

/* Returns true for keys that no instruction has: pieces from which lowering builds vector moves and
 * wide registers, which memory_test.c tests. */
static bool is_piece(const struct compute_key *key)
{
    static const char *const pieces[] = {"pack", "low", "high", "widen"};
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++)
        if (!strcmp(key->word[0], pieces[k])) return true;
    return false;
}

static bool agrees(const struct compute_key *key, const struct compute_case *got,
                   const struct reference *reference)
{
    if (got->second != reference->second) return false;
    if (got->out == reference->out) return true;
    const bool wide = !strcmp(key->shape[0], "f64");
    double value;
    if (wide) {
        memcpy(&value, &got->out, 8);
    } else {
        const uint32_t bits = (uint32_t)got->out;
        float single;
        memcpy(&single, &bits, 4);
        value = (double)single;
    }
    if (reference->any_nan) return isnan(value);
    if (reference->relative == 0) {
        /* ex2 and tanh of the 16-bit formats may be one unit off. */
        if (strcmp(key->word[0], "ex2") != 0 && strcmp(key->word[0], "tanh") != 0) return false;
        for (unsigned k = 0; k < 32; k += 16) {
            const int a = (int)(got->out >> k & 0xffff), b = (int)(reference->out >> k & 0xffff);
            if (abs(a - b) > 1) return false;
        }
        return true;
    }
    return fabs(value - reference->value) <=
           reference->absolute + reference->relative * fabs(reference->value);
}

/* Appends the first problem of a row to `log`. */
static void check_key(const char *text, size_t length, const char *shape, char *log, size_t size)
{
    static struct compute_case cases[COMPUTE_CASES];
    const struct compute_key key = compute_key(text, length, shape);
    const size_t used = strlen(log);
    char extra[16] = "";
    if (is_piece(&key)) return;
    if (!strcmp(key.word[0], "lop3")) snprintf(extra, sizeof extra, ", 0x%x", REFERENCE_LOP3);
    compute_inputs(&key, cases);
    compute_run(&key, extra, cases);
    for (unsigned n = 0; n < COMPUTE_CASES; n++) {
        const uint64_t *in = cases[n].in;
        struct reference reference = {.out = 0};
        if (!reference_narrow(&key, in, &reference) && !reference_half(&key, in, &reference) &&
            !reference_float(&key, in, &reference) && !reference_int(&key, in, &reference)) {
            snprintf(log + used, size - used, "\n%s: no reference knows this row", key.text);
            return;
        }
        if (agrees(&key, &cases[n], &reference)) continue;
        snprintf(log + used, size - used,
                 "\n%s of 0x%llx, 0x%llx, 0x%llx, 0x%llx: 0x%llx and %llu, expected 0x%llx and "
                 "%llu",
                 key.text, (unsigned long long)in[0], (unsigned long long)in[1],
                 (unsigned long long)in[2], (unsigned long long)in[3],
                 (unsigned long long)cases[n].out, (unsigned long long)cases[n].second,
                 (unsigned long long)reference.out, (unsigned long long)reference.second);
        return;
    }
}

START_TEST(rows_compute_what_the_isa_says)
{
    static char log[4000];
    log[0] = 0;
    for (int k = _i; k < ROWS; k += SHARDS) {
        for (const char *at = rows[k].keys; *at;) {
            const size_t length = strcspn(at, " ");
            check_key(at, length, rows[k].shape, log, sizeof log);
            at += length + strspn(at + length, " ");
        }
    }
    ck_assert_msg(!log[0], "%s", log);
}
END_TEST

/* The directed roundings, which have no rows, against the same operation in the host's rounding
 * mode. */
START_TEST(directed_roundings)
{
    static const struct {
        const char *key, *shape;
    } keys[] = {{"add.rz.f32", "f32 f32 f32"},     {"add.rm.f32", "f32 f32 f32"},
                {"add.rp.f32", "f32 f32 f32"},     {"mul.rz.f64", "f64 f64 f64"},
                {"mul.rp.f32", "f32 f32 f32"},     {"fma.rm.f32", "f32 f32 f32 f32"},
                {"fma.rp.f64", "f64 f64 f64 f64"}, {"div.rz.f32", "f32 f32 f32"},
                {"sqrt.rm.f64", "f64 f64"},        {"rcp.rp.f32", "f32 f32"},
                {"cvt.rz.f32.f64", "f32 f64"},     {"cvt.rm.f32.s32", "f32 s32"},
                {"cvt.rp.f64.u64", "f64 u64"},     {"cvt.rz.f32.u64", "f32 u64"}};
    static struct compute_case cases[COMPUTE_CASES], nearest[COMPUTE_CASES];
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const struct compute_key key = compute_key(keys[k].key, strlen(keys[k].key), keys[k].shape);
        int moved = 0;
        compute_inputs(&key, cases);
        memcpy(nearest, cases, sizeof cases);
        compute_run(&key, "", cases);
        ck_assert_int_eq(fegetround(), FE_TONEAREST);
        for (unsigned n = 0; n < COMPUTE_CASES; n++) {
            struct reference reference = {.out = 0};
            ck_assert(reference_directed(&key, cases[n].in, &reference));
            ck_assert_msg(cases[n].out == reference.out || reference.any_nan,
                          "%s of 0x%llx, 0x%llx: 0x%llx, expected 0x%llx", key.text,
                          (unsigned long long)cases[n].in[0], (unsigned long long)cases[n].in[1],
                          (unsigned long long)cases[n].out, (unsigned long long)reference.out);
            struct reference even = {.out = 0};
            struct compute_key plain = key;
            strcpy(plain.word[1], "rn");
            if (reference_float(&plain, cases[n].in, &even)) moved += even.out != reference.out;
        }
        ck_assert_msg(moved > 20, "%s: the cases do not tell it from .rn", key.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_compute");
    TCase *tests = tcase_create("compute");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, rows_compute_what_the_isa_says, 0, SHARDS);
    tcase_add_test(tests, directed_roundings);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
