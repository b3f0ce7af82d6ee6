/* Whatever the number of workers: the same bits, the same counts, the same fault. */
#include "emulator/exec/machine/machine.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000, WORDS = N + 64, THREADS = 64, BLOCKS = (N + THREADS - 1) / THREADS };

static const unsigned workers[] = {1, 2, 3, 8};
enum { WORKERS = sizeof workers / sizeof *workers, REPEATS = 3 };

/* How the blocks of a kernel may run. */
enum manner {
    APART,    /* on all workers */
    AT_ONCE,  /* on all workers, with atomics that commute */
    IN_TURNS, /* on one worker */
    FAULTY,   /* on all workers, some with a fault: memory then depends on timing */
};

static const struct row {
    const char *name;
    enum manner manner;
} rows[] = {{"apart", APART},
            {"diverging", APART},
            {"barriers", APART},
            {"uninitialised_shared", APART},
            {"sum_without_result", AT_ONCE},
            {"largest_without_result", AT_ONCE},
            {"bits_without_result", AT_ONCE},
            {"sum_in_a_function", AT_ONCE},
            {"many_sums_without_result", AT_ONCE},
            {"two_kinds", IN_TURNS},
            {"two_kinds_by_a_call", IN_TURNS},
            {"places", IN_TURNS},
            {"sum_of_floats", IN_TURNS},
            {"last_block", IN_TURNS},
            {"wrong_address", FAULTY}};

static struct {
    uint64_t in, out;
    int n;
} parameters;
static int *results;
static struct exec_program *program;

static void set_up(void)
{
    static int input[N];
    for (unsigned i = 0; i < N; i++) input[i] = (int)((i + 1) * 2654435761u >> 9);
    parameters.in = device_buffer_of(input, sizeof input, NULL);
    parameters.out = device_buffer(WORDS * sizeof *results, (void **)&results);
    parameters.n = N;
    program = device_program_file(WORKER_KERNELS_PTX);
}

static void tear_down(void)
{
    exec_program_destroy(program);
    device_reset();
}

static enum exec_end launch(const struct row *row, unsigned count, struct device_run *run)
{
    memset(results, 0, WORDS * sizeof *results);
    *run = (struct device_run){.program = program,
                               .name = row->name,
                               .blocks = BLOCKS,
                               .threads = THREADS,
                               .parameters = &parameters,
                               .workers = count};
    return device_launch(run);
}

START_TEST(same_for_any_number)
{
    const struct row *row = &rows[_i];
    static int first[WORDS];
    struct device_run alone, run;
    const enum exec_end end = launch(row, 1, &alone);
    const struct exec_function *function = exec_function_find(program, row->name);
    ck_assert_int_eq(function->talks, row->manner == IN_TURNS);
    ck_assert_int_eq(function->commutes && !function->talks, row->manner == AT_ONCE);
    ck_assert_int_eq(end, row->manner == FAULTY ? EXEC_MISALIGNED : EXEC_DONE);
    memcpy(first, results, sizeof first);
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int k = 0; k < WORKERS; k++) {
            ck_assert_int_eq(launch(row, workers[k], &run), end);
            if (row->manner == FAULTY) {
                ck_assert_uint_eq(run.fault.block[0], alone.fault.block[0]);
                ck_assert_uint_eq(run.fault.thread[0], alone.fault.thread[0]);
                ck_assert_uint_eq(run.fault.address, alone.fault.address);
                ck_assert_mem_eq(&run.fault.finding, &alone.fault.finding,
                                 sizeof run.fault.finding);
                continue;
            }
            ck_assert_msg(!memcmp(first, results, sizeof first),
                          "%s leaves other results with %u workers than with one", row->name,
                          workers[k]);
            ck_assert_msg(!memcmp(&alone.counts, &run.counts, sizeof run.counts),
                          "%s counts otherwise with %u workers than with one", row->name,
                          workers[k]);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_workers");
    TCase *tests = tcase_create("workers");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, same_for_any_number, 0, (int)(sizeof rows / sizeof *rows));
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
