/* Runs kernels compiled by nvcc from their PTX and compares them with the same computation here. */
#include "emulator/exec/check/racecheck.h"
#include "tests/exec/device.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct exec_program *program;

static uint32_t line_of(const char *mark)
{
    char text[512];
    uint32_t line = 0;
    FILE *file = fopen(KERNELS_CU, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(text, sizeof text, file)) {
        line++;
        if (strstr(text, mark)) {
            fclose(file);
            return line;
        }
    }
    ck_abort_msg("%s is on no line of kernels.cu", mark);
}

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

/* ---- calls --------------------------------------------------------------------------------------
 */

START_TEST(calls_through_pointers)
{
    int *out;
    const uint64_t parameters[] = {device_buffer(64 * sizeof *out, (void **)&out)};
    struct device_run run = {.program = program,
                             .name = "call_through_table",
                             .blocks = 1,
                             .threads = 64,
                             .parameters = parameters};
    device_run(&run);
    for (int k = 0; k < 64; k++) ck_assert_int_eq(out[k], k % 2 ? 2 * k : k + 1);
}
END_TEST

static int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

START_TEST(recursion_of_different_depth)
{
    int *out;
    const uint64_t parameters[] = {device_buffer(96 * sizeof *out, (void **)&out)};
    struct device_run run = {.program = program,
                             .name = "recurse",
                             .blocks = 1,
                             .threads = 96,
                             .parameters = parameters};
    device_run(&run);
    for (int k = 0; k < 96; k++) ck_assert_int_eq(out[k], ackermann(k % 3, k % 5));
}
END_TEST

START_TEST(recursion_without_end_uses_up_the_stack)
{
    const uint64_t parameters[] = {device_buffer(128, NULL)};
    struct device_run run = {.program = program,
                             .name = "recurse_for_ever",
                             .blocks = 1,
                             .threads = 32,
                             .parameters = parameters};
    ck_assert_int_eq(device_launch(&run), EXEC_STACK);
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "stack"));
    ck_assert_ptr_nonnull(strstr(run.fault.function, "ackermann"));
}
END_TEST

struct pair {
    int count;
    double values[4];
};

START_TEST(structures_by_value)
{
    struct {
        struct pair first;
        uint64_t out;
    } parameters = {.first = {.count = 3, .values = {1, 2, 3, 4}}};
    struct pair *out;
    parameters.out = device_buffer(32 * sizeof *out, (void **)&out);
    struct device_run run = {.program = program,
                             .name = "structures",
                             .blocks = 1,
                             .threads = 32,
                             .parameters = &parameters};
    device_run(&run);
    for (int t = 0; t < 32; t++) {
        ck_assert_int_eq(out[t].count, t + 4);
        for (int k = 0; k < 4; k++) ck_assert_double_eq(out[t].values[k], 0.5 + t * 0.5 + (k + 1));
    }
}
END_TEST

START_TEST(local_arrays)
{
    enum { N = 100 };
    int in[N], *out;
    for (int k = 0; k < N; k++) in[k] = k * k + 3 * k;
    struct {
        uint64_t in, out;
        int n;
    } parameters = {device_buffer_of(in, sizeof in, NULL),
                    device_buffer(64 * sizeof *out, (void **)&out), N};
    struct device_run run = {.program = program,
                             .name = "local_array",
                             .blocks = 1,
                             .threads = 64,
                             .parameters = &parameters};
    device_run(&run);
    for (int t = 0; t < 64; t++) {
        int count = 0;
        for (int k = 0; k < N; k++) count += ((in[k] + t) & 15) == (t & 15);
        ck_assert_int_eq(out[t], count);
    }
}
END_TEST

START_TEST(allocates_on_the_stack)
{
    int *out;
    const uint64_t parameters[] = {device_buffer(64 * sizeof *out, (void **)&out)};
    struct device_run run = {.program = program,
                             .name = "allocate_on_the_stack",
                             .blocks = 1,
                             .threads = 64,
                             .parameters = parameters};
    device_run(&run);
    for (int t = 0; t < 64; t++) ck_assert_int_eq(out[t], 200 * ((t + 20) / 2) * ((t + 20) / 2));
}
END_TEST

/* ---- the device's runtime ---------------------------------------------------------------------
 */

START_TEST(prints_like_c)
{
    const int n = 5;
    char expected[1024] = "";
    struct device_run run = {
        .program = program, .name = "say", .blocks = 1, .threads = 3, .parameters = &n};
    device_run(&run);
    for (int t = 0; t < 3; t++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
                 "thread %d of %u: %s %5.2f %c %llx %%\n", t, 3u, t & 1 ? "odd" : "even", 1.5 * t,
                 'a' + t, 0x123456789abcULL + (unsigned)n);
    ck_assert_str_eq(run.printed, expected);
}
END_TEST

START_TEST(prints_in_order_on_any_number_of_workers)
{
    char expected[1024] = "";
    const uint64_t parameters[] = {device_buffer(64 * 4, NULL)};
    struct device_run run = {.program = program,
                             .name = "say_in_order",
                             .blocks = 64,
                             .threads = 64,
                             .workers = 4,
                             .parameters = parameters};
    device_run(&run);
    for (int b = 0; b < 64; b++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%d\n", b);
    ck_assert_str_eq(run.printed, expected);
}
END_TEST

START_TEST(assertions_name_the_thread)
{
    int values[64];
    for (int k = 0; k < 64; k++) values[k] = k == 37 || k == 50 ? -1 : 1;
    const uint64_t parameters[] = {device_buffer_of(values, sizeof values, NULL)};
    struct device_run run = {
        .program = program, .name = "insist", .blocks = 2, .threads = 64, .parameters = parameters};
    ck_assert_int_eq(device_launch(&run), EXEC_ASSERT);
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "kernels.cu:"));
    ck_assert_ptr_nonnull(
        strstr(device_sentence(&run),
               "block: [0,0,0], thread: [37,0,0] Assertion `values[threadIdx.x] > 0` failed."));
    ck_assert_uint_eq(run.fault.thread[0], 37);
}
END_TEST

/* A fresh heap is zeroed. */
static uint64_t zeroed(size_t size)
{
    void *bytes;
    const uint64_t address = device_buffer(size, &bytes);
    memset(bytes, 0, size);
    return address;
}

START_TEST(allocates_in_kernels)
{
    enum { HEAP = 1 << 16 };
    uint64_t *kept;
    int *ok;
    const uint64_t parameters[] = {device_buffer(64 * 8, (void **)&kept),
                                   device_buffer(64 * 4, (void **)&ok)};
    struct device_run run = {.program = program,
                             .name = "heap",
                             .blocks = 1,
                             .threads = 64,
                             .parameters = parameters,
                             .heap_address = zeroed(HEAP),
                             .heap_bytes = HEAP};
    device_run(&run);
    for (int t = 0; t < 64; t++) {
        ck_assert_int_eq(ok[t], 1);
        if (t % 2 == 0)
            for (int j = 0; j < t; j += 2)
                ck_assert(kept[j] + 4u * (unsigned)(j + 1) <= kept[t] ||
                          kept[t] + 4u * (unsigned)(t + 1) <= kept[j]);
    }
    run.heap_address = 0; /* the kernel handles malloc's NULL */
    memset(ok, 0, 64 * sizeof *ok);
    device_run(&run);
    for (int t = 0; t < 64; t++) ck_assert_int_eq(ok[t], 0);
}
END_TEST

START_TEST(frees_in_kernels)
{
    enum { HEAP = 1 << 14 };
    int *failures;
    const uint64_t parameters[] = {device_buffer(4, (void **)&failures)};
    *failures = 0;
    struct device_run run = {.program = program,
                             .name = "churn",
                             .blocks = 1,
                             .threads = 32,
                             .parameters = parameters,
                             .heap_address = zeroed(HEAP),
                             .heap_bytes = HEAP};
    device_run(&run);
    ck_assert_int_eq(*failures, 0);
    run.name = "free_twice";
    ck_assert_int_eq(device_launch(&run), EXEC_TRAP);
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "free already"));
    ck_assert_uint_eq(run.fault.line, line_of("line FREE_TWICE"));
}
END_TEST

/* ---- threads together
 * ---------------------------------------------------------------------------- */

START_TEST(sums_with_shuffles_and_atomics)
{
    enum { N = 5000 };
    static int in[N];
    int *out, expected = 0;
    for (int k = 0; k < N; k++) expected += in[k] = k * 7919 % 1000 - 300;
    struct {
        uint64_t in, out;
        int n;
    } parameters = {device_buffer_of(in, sizeof in, NULL), device_buffer(4, (void **)&out), N};
    *out = 0;
    struct device_run run = {
        .program = program, .name = "sum", .blocks = 25, .threads = 224, .parameters = &parameters};
    device_run(&run);
    ck_assert_int_eq(*out, expected);
}
END_TEST

/* Machine code that has gone on to a block's next warps may leave one of them to other code, which
 * goes on in turn. */
START_TEST(warps_that_are_not_alike)
{
    enum { COLUMNS = 10, ROWS = 37, BLOCKS = 3 };
    int values[ROWS * COLUMNS], *sums;
    struct exec_program *watched = device_program_checked(KERNELS_PTX, true);
    for (int k = 0; k < ROWS * COLUMNS; k++) values[k] = k * 7 % 19;
    struct {
        uint64_t sums, values;
        int rows;
    } parameters = {device_buffer(COLUMNS * sizeof *sums, (void **)&sums),
                    device_buffer_of(values, sizeof values, NULL), ROWS};
    for (unsigned rows = 5; rows <= 100; rows += 15) {
        struct device_run run = {.program = watched,
                                 .name = "sum_columns",
                                 .blocks = BLOCKS,
                                 .block = {COLUMNS, rows, 1},
                                 .parameters = &parameters,
                                 .footprint = exec_footprint_create(NULL, NULL),
                                 .watch = exec_racecheck_create()};
        memset(sums, 0, COLUMNS * sizeof *sums);
        device_run(&run);
        for (int k = 0; k < COLUMNS; k++) {
            int sum = 0;
            for (int row = 0; row < ROWS; row++) sum += values[row * COLUMNS + k];
            ck_assert_int_eq(sums[k], BLOCKS * sum);
        }
        ck_assert_uint_eq(exec_racecheck_count(run.watch), 0);
        exec_racecheck_destroy(run.watch);
        exec_footprint_destroy(run.footprint);
    }
    exec_program_destroy(watched);
}
END_TEST

START_TEST(lanes_take_turns_with_a_lock)
{
    int *counter;
    const uint64_t parameters[] = {device_buffer(4, (void **)&counter)};
    *counter = 0;
    struct device_run run = {.program = program,
                             .name = "count_under_lock",
                             .blocks = 5,
                             .threads = 70,
                             .parameters = parameters,
                             .limit = 10000000};
    device_run(&run);
    ck_assert_int_eq(*counter, 350);
}
END_TEST

START_TEST(blocks_wait_for_each_other)
{
    enum { BLOCKS = 200 };
    static const char *const names[] = {"relay", "relay_backwards"};
    for (int k = 0; k < 2; k++) {
        int *flags, *out;
        const uint64_t parameters[] = {device_buffer(BLOCKS * 4, (void **)&flags),
                                       device_buffer(BLOCKS * 4, (void **)&out)};
        memset(flags, 0, BLOCKS * 4);
        struct device_run run = {.program = program,
                                 .name = names[k],
                                 .blocks = BLOCKS,
                                 .threads = 64,
                                 .parameters = parameters,
                                 .workers = 4,
                                 .limit = 100000000};
        device_run(&run);
        for (int b = 0; b < BLOCKS; b++)
            ck_assert_int_eq(out[b], k ? BLOCKS - b : 1 + b * (b + 1) / 2);
    }
}
END_TEST

START_TEST(grids_synchronise)
{
    enum { BLOCKS = 20, THREADS = 64, N = BLOCKS * THREADS, STEPS = 6 };
    int data[N], *result;
    for (int k = 0; k < N; k++) data[k] = k;
    struct {
        uint64_t data;
        int steps;
    } parameters = {device_buffer_of(data, sizeof data, (void **)&result), STEPS};
    struct device_run run = {.program = program,
                             .name = "grid_steps",
                             .blocks = BLOCKS,
                             .threads = THREADS,
                             .parameters = &parameters,
                             .cooperative = true};
    device_run(&run);
    for (int k = 0; k < N; k++) ck_assert_int_eq(result[k], (k + STEPS) % N + STEPS);
    run.cooperative = false;
    ck_assert_int_eq(device_launch(&run), EXEC_TRAP);
}
END_TEST

START_TEST(tiles_with_their_own_masks)
{
    int *out;
    const uint64_t parameters[] = {device_buffer(64 * 4, (void **)&out)};
    struct device_run run = {
        .program = program, .name = "tiles", .blocks = 1, .threads = 64, .parameters = parameters};
    device_run(&run);
    for (int t = 0; t < 64; t++) {
        const int first = t / 8 * 8;
        const int sum = t / 8 % 2 ? 8 * first + 28 : first;
        ck_assert_int_eq(out[t], sum + 0xaa % 7);
    }
}
END_TEST

/* ---- mistakes -----------------------------------------------------------------------------------
 */

START_TEST(a_wild_store_is_named_with_its_line)
{
    struct {
        uint64_t data;
        int n;
    } parameters = {device_buffer(64 * 4, NULL), 64};
    struct device_run run = {.program = program,
                             .name = "wild_store",
                             .blocks = 1,
                             .threads = 96,
                             .parameters = &parameters};
    ck_assert_int_eq(device_launch(&run), EXEC_OUT_OF_BOUNDS);
    ck_assert_uint_eq(run.fault.thread[0], 64);
    ck_assert_uint_eq(run.fault.line, line_of("line WILD_STORE"));
    ck_assert_ptr_nonnull(strstr(run.fault.file, "kernels.cu"));
    ck_assert_uint_eq(run.fault.address, parameters.data + 4u * 1000064);
    ck_assert_uint_eq(run.fault.size, 4);
    ck_assert(run.fault.is_store);
    ck_assert_str_eq(run.fault.function, "wild_store");
}
END_TEST

START_TEST(exited_threads_are_not_waited_for)
{
    int *data;
    const uint64_t parameters[] = {device_buffer(64 * 4, (void **)&data)};
    struct device_run run = {.program = program,
                             .name = "early_exit",
                             .blocks = 1,
                             .threads = 64,
                             .parameters = parameters};
    device_run(&run);
    for (int k = 0; k < 40; k++) ck_assert_int_eq(data[k], 1);
    ck_assert_int_ne(data[40], 1);
}
END_TEST

START_TEST(a_deadlock_is_named_with_its_line)
{
    const uint64_t parameters[] = {device_buffer(64 * 4, NULL)};
    struct device_run run = {.program = program,
                             .name = "two_barriers",
                             .blocks = 2,
                             .threads = 64,
                             .parameters = parameters};
    ck_assert_int_eq(device_launch(&run), EXEC_BARRIER);
    ck_assert_uint_eq(run.fault.line, line_of("line TWO_BARRIERS"));
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "deadlock in kernel two_barriers"));
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "32 of 64 threads wait at the barrier"));
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), ", 32 at the barrier on line"));
    ck_assert_ptr_nonnull(
        strstr(device_sentence(&run), "The first that waits is thread (0, 0, 0)"));
}
END_TEST

START_TEST(an_endless_loop_meets_the_limit)
{
    int *flag;
    const uint64_t parameters[] = {device_buffer(4, (void **)&flag)};
    *flag = 1;
    struct device_run run = {.program = program,
                             .name = "for_ever",
                             .blocks = 2,
                             .threads = 64,
                             .parameters = parameters,
                             .limit = 1000000};
    ck_assert_int_eq(device_launch(&run), EXEC_ENDLESS);
    const uint32_t line = line_of("line FOR_EVER");
    ck_assert_uint_ge(run.fault.line, line);
    ck_assert_uint_le(run.fault.line, line + 1);
    ck_assert_ptr_nonnull(strstr(device_sentence(&run), "kernel for_ever has executed 1000000"));
}
END_TEST

START_TEST(clocks_advance)
{
    struct {
        long long cycles;
        uint64_t took;
    } parameters = {.cycles = 3000000000};
    long long *took;
    parameters.took = device_buffer(8, (void **)&took);
    struct device_run run = {
        .program = program, .name = "delay", .blocks = 1, .threads = 1, .parameters = &parameters};
    device_run(&run);
    ck_assert_int_ge(*took, 3000000000);
    ck_assert_uint_ge(run.counts.longest_wait, 2000000000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_kernels");
    TCase *tests = tcase_create("kernels");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, adds_vectors);
    tcase_add_test(tests, saxpy_strides_over_the_grid);
    tcase_add_test(tests, threads_of_a_warp_loop_differently);
    tcase_add_test(tests, shared_memory_and_barriers);
    tcase_add_test(tests, calls_through_pointers);
    tcase_add_test(tests, recursion_of_different_depth);
    tcase_add_test(tests, recursion_without_end_uses_up_the_stack);
    tcase_add_test(tests, structures_by_value);
    tcase_add_test(tests, local_arrays);
    tcase_add_test(tests, allocates_on_the_stack);
    tcase_add_test(tests, prints_like_c);
    tcase_add_test(tests, prints_in_order_on_any_number_of_workers);
    tcase_add_test(tests, assertions_name_the_thread);
    tcase_add_test(tests, allocates_in_kernels);
    tcase_add_test(tests, frees_in_kernels);
    tcase_add_test(tests, sums_with_shuffles_and_atomics);
    tcase_add_test(tests, warps_that_are_not_alike);
    tcase_add_test(tests, lanes_take_turns_with_a_lock);
    tcase_add_test(tests, blocks_wait_for_each_other);
    tcase_add_test(tests, grids_synchronise);
    tcase_add_test(tests, tiles_with_their_own_masks);
    tcase_add_test(tests, a_wild_store_is_named_with_its_line);
    tcase_add_test(tests, exited_threads_are_not_waited_for);
    tcase_add_test(tests, a_deadlock_is_named_with_its_line);
    tcase_add_test(tests, an_endless_loop_meets_the_limit);
    tcase_add_test(tests, clocks_advance);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
