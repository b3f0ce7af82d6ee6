/* Kernels compiled by nvcc, run from their PTX and compared with the same computed here. */
#include "tests/exec/device.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct exec_program *program;

static void setup(void)
{
    program = device_program_file(KERNELS_PTX);
}

static void teardown(void)
{
    exec_program_destroy(program);
    device_reset();
}

START_TEST(adds_vectors)
{
    enum { N = 1000 };
    float a[N], b[N], *c;
    for (int k = 0; k < N; k++) {
        a[k] = (float)k * 0.5f;
        b[k] = (float)(N - k) * 1.25f;
    }
    struct {
        uint64_t a, b, c;
        int n;
    } parameters = {device_buffer_of(a, sizeof a, NULL), device_buffer_of(b, sizeof b, NULL),
                    device_buffer(sizeof a, (void **)&c), N};
    struct device_run run = {
        .program = program, .name = "add", .blocks = 4, .threads = 256, .parameters = &parameters};
    device_run(&run);
    for (int k = 0; k < N; k++) ck_assert_float_eq(c[k], a[k] + b[k]);
    ck_assert_uint_eq(run.counts.bytes_loaded, 8 * N);
    ck_assert_uint_eq(run.counts.bytes_stored, 4 * N);
    ck_assert_uint_eq(run.counts.transactions, 3 * N * 4 / 32);
}
END_TEST

START_TEST(saxpy_strides_over_the_grid)
{
    enum { N = 3001 };
    static float x[N], y[N], *result;
    for (int k = 0; k < N; k++) {
        x[k] = (float)k / 7;
        y[k] = (float)(k % 13);
    }
    struct {
        float k;
        uint64_t x, y;
        int n;
    } parameters = {2.5f, device_buffer_of(x, sizeof x, NULL),
                    device_buffer_of(y, sizeof y, (void **)&result), N};
    struct device_run run = {
        .program = program, .name = "saxpy", .blocks = 3, .threads = 96, .parameters = &parameters};
    device_run(&run);
    for (int k = 0; k < N; k++) ck_assert_float_eq(result[k], fmaf(2.5f, x[k], y[k]));
}
END_TEST

START_TEST(threads_of_a_warp_loop_differently)
{
    enum { N = 500 };
    int *steps;
    struct {
        uint64_t steps;
        int n;
    } parameters = {device_buffer(N * sizeof *steps, (void **)&steps), N};
    struct device_run run = {.program = program,
                             .name = "collatz",
                             .blocks = 5,
                             .threads = 100,
                             .parameters = &parameters};
    device_run(&run);
    for (unsigned k = 0; k < N; k++) {
        unsigned x = k + 1;
        int count = 0;
        for (; x != 1; count++) x = x & 1 ? 3 * x + 1 : x / 2;
        ck_assert_int_eq(steps[k], count);
    }
}
END_TEST

START_TEST(shared_memory_and_barriers)
{
    enum { BLOCKS = 3, THREADS = 250 };
    int data[BLOCKS * THREADS], *result;
    for (int k = 0; k < BLOCKS * THREADS; k++) data[k] = k * k;
    struct {
        uint64_t data;
    } parameters = {device_buffer_of(data, sizeof data, (void **)&result)};
    struct device_run run = {.program = program,
                             .name = "reverse_in_shared",
                             .blocks = BLOCKS,
                             .threads = THREADS,
                             .shared = THREADS * sizeof(int),
                             .parameters = &parameters};
    device_run(&run);
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t < THREADS; t++)
            ck_assert_int_eq(result[b * THREADS + t],
                             data[b * THREADS + THREADS - 1 - t] + 1000 * b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_kernels");
    TCase *tests = tcase_create("kernels");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, adds_vectors);
    tcase_add_test(tests, saxpy_strides_over_the_grid);
    tcase_add_test(tests, threads_of_a_warp_loop_differently);
    tcase_add_test(tests, shared_memory_and_barriers);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
