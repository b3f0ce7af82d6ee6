#include "grader/evidence/judge.h"

static int prepare(struct run_input *input)
{
    int *x = run_input_allocate(input, sizeof *x);
    if (x == NULL) return -1;
    *x = (int)random_between(input->random, 1, 1000);
    input->output_size = sizeof *x;
    return 0;
}

static void judge_twice(struct verdict *verdict, const struct evidence *evidence)
{
    const int *input = evidence->input, *output = evidence->output;

    if (*output == 2 * *input) return;
    verdict_fail_in(verdict, evidence, "twice", "twice(%d) is %d.", *input, *output);
    verdict_hint(verdict, "Multiply.");
}

static const struct run_plan runs[] = {
    {.name = "values", .flags = RUN_ON_BOTH, .prepare = prepare, .seconds = 2},
    {0},
};

static const struct check checks[] = {
    {.name = "IsRight", .run = "values", .judge = judge_twice},
    {0},
};

static const char *const files[] = {"twice.h", NULL};
static const char *const drive_sources[] = {"drive.c", NULL};

const struct lesson lesson_02_twice = {
    .number = 2,
    .folder = "02_twice",
    .suite = "Twice",
    .function = "twice",
    .files = files,
    .drive_sources = drive_sources,
    .runs = runs,
    .checks = checks,
};
