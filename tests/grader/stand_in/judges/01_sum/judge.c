#include "grader/evidence/judge.h"
#include "exchange.h"

static int prepare(struct run_input *input)
{
    uint32_t count = (uint32_t)random_between(input->random, 100, 200);
    struct sum_input *data =
        run_input_allocate(input, sizeof *data + count * sizeof data->values[0]);

    if (data == NULL) return -1;
    data->count = count;
    for (uint32_t i = 0; i < count; i++)
        data->values[i] = (int32_t)random_between(input->random, -1000, 1000);
    input->output_size = sizeof(struct sum_output);
    return 0;
}

static void judge_sum(struct verdict *verdict, const struct evidence *evidence)
{
    const struct sum_input *input = evidence->input;
    const struct sum_output *output = evidence->output;
    int32_t sum = 0;

    for (uint32_t i = 0; i < input->count; i++) sum += input->values[i];
    if (output->error == 0 && output->result == sum) return;
    if ((uint32_t)output->result == DRIVE_POISON * 0x01010101u)
        verdict_fail(verdict, evidence, NULL, "Nobody has written the sum.");
    else
        verdict_fail(verdict, evidence, NULL, "The sum is wrong.");
    verdict_why(verdict, "It is what was asked for.");
    verdict_hint(verdict, "Is the result there when the function returns?");
}

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    verdict_leaks(verdict, evidence, NULL);
}

static void judge_calls(struct verdict *verdict, const struct evidence *evidence)
{
    verdict_calls_succeed(verdict, evidence, NULL);
    verdict_findings(verdict, evidence, NULL);
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    /* The first is like the one that IsRight judges. */
    for (size_t i = 1; i < evidence->repeat_count && !verdict_failed(verdict); i++)
        judge_sum(verdict, &evidence->repeats[i]);
    if (verdict_failed(verdict)) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict)) verdict_hint(verdict, "Ask the device for the work once.");
}

static void judge_nothing(struct verdict *verdict, const struct evidence *evidence)
{
    (void)verdict;
    (void)evidence;
}

static const struct threshold threshold = {.ratio = 1.5};

static const struct run_plan runs[] = {
    {.name = "values",
     .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER,
     .prepare = prepare,
     .seconds = 2,
     .memory = 128 << 20},
    {.name = "timed",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare,
     .phase = "sum",
     .threshold = &threshold,
     .seconds = 2,
     .memory = 128 << 20},
    {0},
};

static const struct check checks[] = {
    {.name = "IsRight", .run = "values", .flags = CHECK_ORDER, .judge = judge_sum},
    {.name = "NothingLeaks", .run = "values", .judge = judge_leaks},
    {.name = "CallsSucceed", .run = "values", .flags = CHECK_EMULATOR_ONLY, .judge = judge_calls},
    {.name = "IsFast", .run = "timed", .judge = judge_time},
    {.name = "NeedsAGpu", .run = "values", .flags = CHECK_GPU_ONLY, .judge = judge_nothing},
    {.name = "DISABLED_Later", .run = "values", .judge = judge_nothing},
    {0},
};

static const char *const files[] = {"sum.c", NULL};
static const char *const parts[] = {"stand_in_drive", NULL};

const struct lesson lesson_01_sum = {
    .number = 1,
    .folder = "01_sum",
    .suite = "Sum",
    .function = "sum_array",
    .files = files,
    .parts = parts,
    .runs = runs,
    .checks = checks,
};
