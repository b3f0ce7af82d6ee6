/* Lesson 14's own idea of a step, the slips that it names, and what it asks of the devices that a
 * machine has. */
#include "grader/evidence/evidence.h"
#include "grader/evidence/verdict.h"
#include "grader/lessons/14_devices/exchange.h"
#include "grader/lessons/14_devices/stencil.h"
#include "kernels/stencil.h"
#include "trace/large.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

extern const struct lesson lesson_14_devices;

enum { ROWS = 7, COLUMNS = 5, CELLS = ROWS * COLUMNS, STEPS = 3 };

static void fill(int32_t cells[CELLS])
{
    for (int i = 0; i < CELLS; i++) cells[i] = (i * 7919 + 13) % STENCIL_MODULUS;
}

static int32_t at(const int32_t cells[CELLS], int row, int column)
{
    return row < 0 || row >= ROWS || column < 0 || column >= COLUMNS
               ? 0
               : cells[row * COLUMNS + column];
}

/* As the kernel does it, round for round. */
static void plain_step(int32_t cells[CELLS])
{
    int32_t made[CELLS];
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int32_t cell = STENCIL_MIX(at(cells, row, column), at(cells, row - 1, column),
                                       at(cells, row + 1, column), at(cells, row, column - 1),
                                       at(cells, row, column + 1));
            for (int round = 0; round < STENCIL_ROUNDS; round++) cell = STENCIL_STIR(cell);
            made[row * COLUMNS + column] = cell;
        }
    memcpy(cells, made, sizeof made);
}

START_TEST(a_step_is_the_kernels)
{
    int32_t cells[CELLS], expected[CELLS];
    fill(cells);
    memcpy(expected, cells, sizeof cells);
    for (uint32_t steps = 0; steps < 5; steps++) {
        for (uint32_t bands = 1; bands <= ROWS; bands++) {
            const struct stencil_grid grid = {ROWS, COLUMNS, bands, cells};
            int32_t *const found = stencil_steps(&grid, steps, STENCIL_EACH_STEP);
            ck_assert_int_eq(memcmp(found, expected, sizeof expected), 0);
            free(found);
        }
        plain_step(expected);
    }
}
END_TEST

START_TEST(bands_are_as_equal_as_they_can_be)
{
    const struct stencil_grid grid = {ROWS, COLUMNS, 3, NULL};
    static const uint32_t first[] = {0, 3, 5, 7};
    for (uint32_t i = 0; i <= 3; i++) ck_assert_uint_eq(stencil_first_row(&grid, i), first[i]);
}
END_TEST

static void explains(uint32_t steps, enum stencil_borders borders, const char *words)
{
    int32_t cells[CELLS];
    fill(cells);
    const struct stencil_grid grid = {ROWS, COLUMNS, 3, cells};
    int32_t *const found = stencil_steps(&grid, steps, borders);
    const char *why = stencil_explain(&grid, STEPS, found);
    ck_assert_ptr_nonnull(why);
    ck_assert_ptr_nonnull(strstr(why, words));
    found[0]++;
    ck_assert_ptr_null(stencil_explain(&grid, STEPS, found));
    free(found);
}

START_TEST(slips_are_named)
{
    explains(STEPS, STENCIL_ONCE, "rows of the beginning");
    explains(STEPS, STENCIL_NEVER, "a grid of its own");
    explains(STEPS + 1, STENCIL_EACH_STEP, "one step more");
    explains(STEPS - 1, STENCIL_EACH_STEP, "one step less");
}
END_TEST

/* ---- devices -------------------------------------------------------------------------------- */

static struct devices_input *drawn(const struct run_plan *plan, enum drive_device device,
                                   unsigned gpus, uint64_t seed)
{
    struct random_source random;
    struct run_input input = {.device = device, .gpus = gpus, .run = plan->name, .random = &random};
    random_seed(&random, seed);
    ck_assert_int_eq(plan->prepare(&input), 0);
    ck_assert_int_eq(input.devices[0] != '\0', device != DRIVE_GPU);
    return input.data;
}

static void call_is_possible(const struct devices_call *call, uint32_t there)
{
    uint32_t seen = 0;
    ck_assert_uint_ge(call->count, 1);
    ck_assert_uint_le(call->count, there);
    ck_assert_uint_lt((uint32_t)call->current, there);
    for (uint32_t i = 0; i < call->count; i++) {
        ck_assert_uint_lt((uint32_t)call->devices[i], there);
        ck_assert_uint_eq(seen >> call->devices[i] & 1, 0);
        seen |= 1u << call->devices[i];
    }
    if (call->what == DEVICES_STEPS) ck_assert_uint_ge(call->rows, call->count);
}

START_TEST(only_devices_that_are_there)
{
    for (const struct run_plan *plan = lesson_14_devices.runs; plan->name != NULL; plan++)
        for (uint64_t seed = 0; seed < 20; seed++)
            for (unsigned gpus = 0; gpus < 10; gpus++) {
                const enum drive_device device = gpus == 9 ? DRIVE_EMULATOR : DRIVE_GPU;
                if ((plan->flags & RUN_ON_GPU) == 0 && device == DRIVE_GPU) continue;
                struct devices_input *in = drawn(plan, device, gpus, seed);
                ck_assert_uint_ge(in->there, 1);
                if (device == DRIVE_GPU) ck_assert_uint_le(in->there, gpus > 0 ? gpus : 1);
                for (uint32_t i = 0; i < in->call_count; i++)
                    call_is_possible(&in->calls[i], in->there);
                large_give_back(in);
            }
}
END_TEST

/* With one GPU nothing can be said of two, and nothing is held against anybody. */
START_TEST(one_gpu_is_passed_over)
{
    static const struct trace_record none[1];
    struct devices_input in = {.there = 1};
    struct devices_output out = {0};
    const struct evidence evidence = {.lesson = &lesson_14_devices,
                                      .device = DRIVE_GPU,
                                      .trace = {.records = none},
                                      .input = &in,
                                      .output = &out};
    size_t passed_over = 0;
    for (const struct check *check = lesson_14_devices.checks; check->name != NULL; check++) {
        struct verdict *verdict = calloc(1, sizeof *verdict);
        if ((check->flags & CHECK_ORDER) != 0 && strcmp(check->run, "values") == 0) {
            check->judge(verdict, &evidence);
            ck_assert(!verdict_failed(verdict));
            passed_over += verdict->passed_over;
        }
        free(verdict);
    }
    ck_assert_uint_eq(passed_over, 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("devices");
    TCase *tests = tcase_create("devices");
    tcase_add_test(tests, a_step_is_the_kernels);
    tcase_add_test(tests, bands_are_as_equal_as_they_can_be);
    tcase_add_test(tests, slips_are_named);
    tcase_add_test(tests, only_devices_that_are_there);
    tcase_add_test(tests, one_gpu_is_passed_over);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
