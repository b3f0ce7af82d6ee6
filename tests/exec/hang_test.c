/* Kernels whose threads wait for barrier objects, or for the whole grid: a deadlock is reported at
 * once, with the line of the wait and what is lacking; waits that end are not reported. */
#include "emulator/exec/check/racecheck.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/exec/device.h"

enum { BLOCKS = 4, THREADS = 128, OUT = 1024, MOST_LINES = 4 };
enum { SOON = 4000000 }; /* warp instructions */

static size_t lines_of(const char *name, uint32_t lines[MOST_LINES])
{
    char text[512], end[128];
    size_t count = 0;
    FILE *file = fopen(HANGS_CU, "r");
    ck_assert_ptr_nonnull(file);
    snprintf(end, sizeof end, "// %s\n", name);
    for (uint32_t line = 1; fgets(text, sizeof text, file); line++) {
        const size_t length = strlen(text);
        if (length < strlen(end) || strcmp(text + length - strlen(end), end) != 0) continue;
        ck_assert_uint_lt(count, MOST_LINES);
        lines[count++] = line;
    }
    fclose(file);
    return count;
}

/* With `watched`, racecheck checks each access. */
static enum exec_end launch(struct device_run *run, const char *name, bool watched)
{
    static const int zeros[OUT];
    const uint64_t parameters[] = {device_buffer_of(zeros, sizeof zeros, NULL),
                                   device_buffer_of(zeros, sizeof zeros, NULL)};
    *run = (struct device_run){.program = device_program_checked(HANGS_PTX, watched),
                               .name = name,
                               .blocks = BLOCKS,
                               .threads = THREADS,
                               .parameters = parameters,
                               .cooperative = strstr(name, "grid") != NULL,
                               .footprint = watched ? exec_footprint_create(NULL, NULL) : NULL,
                               .watch = watched ? exec_racecheck_create() : NULL,
                               .limit = 400000000};
    const enum exec_end end = device_launch(run);
    if (watched) {
        exec_racecheck_destroy(run->watch);
        exec_footprint_destroy(run->footprint);
    }
    return end;
}

static void finish(const struct device_run *run)
{
    exec_program_destroy((struct exec_program *)(uintptr_t)run->program);
    device_reset();
}

static const struct hang {
    const char *kernel;
    enum trace_finding_id finding;
    const char *says[3];
} hangs[] = {
    {"parity_is_wrong",
     FINDING_OBJECT_LACKS_ALL,
     {"128 of 128 threads wait at the barrier object on line", "the phase of parity 1",
      "none of its 128 arrivals has come"}},
    {"too_many_bytes",
     FINDING_OBJECT_LACKS_BYTES,
     {"the phase of parity 0", "all of its 1 arrivals are there", "512 of the bytes"}},
    {"no_copy", FINDING_OBJECT_LACKS_BYTES, {"512 of the bytes"}},
    {"bytes_not_announced", FINDING_OBJECT_BYTES_UNEXPECTED, {"have brought 512 bytes more"}},
    {"too_few_arrive", FINDING_OBJECT_LACKS_ARRIVALS, {"124 of its 128 arrivals have not come"}},
    {"behind_a_barrier",
     FINDING_OBJECT_LACKS_ALL,
     {"1 of 128 threads wait at the barrier object on line", ", 127 at the barrier on line",
      "thread (70, 0, 0) waits"}},
    {"reader_does_not_arrive",
     FINDING_OBJECT_LACKS_ALL,
     {"32 of 128 threads wait at the barrier object on line", ", 1 at the barrier object on line",
      "; 95 have exited"}},
    {"lanes_of_one_warp",
     FINDING_OBJECT_LACKS_ARRIVALS,
     {"1 of 128 threads wait at the barrier object", "1 of its 31 arrivals have not come"}},
    {"sleeps_meanwhile", FINDING_OBJECT_LACKS_ALL, {"none of its 1 arrivals"}},
    {"asks_in_a_function", FINDING_OBJECT_LACKS_ALL, {"none of its 1 arrivals"}},
    {"library_barrier",
     FINDING_OBJECT_LACKS_ARRIVALS,
     {"127 of 128 threads wait at the barrier object", "; 1 have exited",
      "1 of its 128 arrivals have not come"}},
    {"flag_behind_it", FINDING_OBJECT_LACKS_ALL, {"1 of 128 threads wait at the barrier object"}},
    {"counts_its_rounds",
     FINDING_OBJECT_LACKS_ALL,
     {"128 of 128 threads wait at the barrier object on line", "none of its 1 arrivals"}},
    {"library_pipeline",
     FINDING_OBJECT_LACKS_ALL,
     {"128 of 128 threads wait at the barrier object on line"}},
    {"of_a_cluster",
     FINDING_OBJECT_LACKS_ARRIVALS,
     {"128 of 128 threads wait at the barrier object", "1 of its 2 arrivals have not come"}},
    {"left_grid",
     FINDING_GRID_NOT_REACHED,
     {"thread (0, 0, 0) of block (0, 0, 0)", "1 of the 4 blocks have ended"}},
    {"left_grid_in_a_loop", FINDING_GRID_NOT_REACHED, {"2 of the 4 blocks have ended"}},
};

static const char *const right[] = {
    "right_stages",
    "right_library_barrier",
    "right_bounded_by_count",
    "right_bounded_by_a_place",
    "right_bounded_by_time",
    "right_bounded_by_short_clock",
    "right_bounded_beside_a_clock",
    "right_count_in_shared_memory",
    "right_count_in_local_memory",
    "right_slow_lane",
    "right_late_lane",
    "right_told_by_a_block",
    "right_ended_by_a_block",
    "right_ended_through_a_function",
    "right_ended_by_a_block_atomically",
    "right_slow_cluster",
    "right_late_cluster",
    "right_late_to_the_grid",
};

enum { HANGS = sizeof hangs / sizeof *hangs, RIGHT = sizeof right / sizeof *right };

START_TEST(what_never_goes_on_is_named)
{
    const struct hang *hang = &hangs[_i / 2];
    struct device_run run;
    uint32_t lines[MOST_LINES];
    const size_t count = lines_of(hang->kernel, lines);
    const enum exec_end end = launch(&run, hang->kernel, _i % 2);
    const char *sentence = device_sentence(&run);
    ck_assert_msg(end == EXEC_BARRIER, "%s ends with %d: %s", hang->kernel, (int)end, sentence);
    ck_assert_msg(run.fault.finding.id == hang->finding, "%s: %s", hang->kernel, sentence);
    size_t k = 0;
    while (k < count && lines[k] != run.fault.line) k++;
    ck_assert_msg(k < count, "%s: line %u", hang->kernel, run.fault.line);
    for (k = 0; k < sizeof hang->says / sizeof *hang->says && hang->says[k] != NULL; k++)
        ck_assert_msg(strstr(sentence, hang->says[k]) != NULL, "%s: %s", hang->kernel, sentence);
    ck_assert_uint_lt(run.counts.warp_instructions, SOON);
    finish(&run);
}
END_TEST

START_TEST(nothing_is_said_of_what_does)
{
    struct device_run run;
    const enum exec_end end = launch(&run, right[_i / 2], _i % 2);
    ck_assert_msg(end == EXEC_DONE, "%s ends with %d: %s", right[_i / 2], (int)end,
                  device_sentence(&run));
    finish(&run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_hang");
    TCase *tcase = tcase_create("hang");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, what_never_goes_on_is_named, 0, 2 * HANGS);
    tcase_add_loop_test(tcase, nothing_is_said_of_what_does, 0, 2 * RIGHT);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
