/* What lesson 10's judge asks of the GPUs that a machine has, and how it tells two equal ones
 * apart. */
#include "grader/evidence/evidence.h"
#include "grader/evidence/verdict.h"
#include "grader/lessons/10_device_query/exchange.h"
#include "trace/large.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL ((int64_t)140 << 30)
#define TAKEN_BY_CONTEXTS ((uint64_t)1 << 30)

extern const struct lesson lesson_10_device_query;

static const struct run_plan *plan_of(const char *name)
{
    const struct run_plan *plan = lesson_10_device_query.runs;
    while (strcmp(plan->name, name) != 0) plan++;
    return plan;
}

static struct device_query_input *drawn(unsigned gpus, uint64_t seed)
{
    struct random_source random;
    struct run_input input = {
        .device = DRIVE_GPU, .gpus = gpus, .run = "devices", .random = &random};
    random_seed(&random, seed);
    ck_assert_int_eq(plan_of("devices")->prepare(&input), 0);
    return input.data;
}

/* Of several GPUs not all have room, and others than the first are asked about; of one, none. */
START_TEST(as_many_gpus_as_there_are)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        for (unsigned gpus = 0; gpus <= 40; gpus += gpus < 4 ? 1 : 12) {
            struct device_query_input *in = drawn(gpus, seed);
            const int32_t there = gpus == 0 ? 1 : gpus > 16 ? 16 : (int32_t)gpus;
            int32_t fewer = 0, others = 0;
            for (uint32_t i = 0; i < in->cases; i++) {
                const struct device_query_case *c = &in->at[i];
                fewer += c->room > 0 && c->room < there;
                others += c->ordinal > 0 && c->ordinal < there;
                ck_assert_int_lt(c->at, there);
                ck_assert(c->held == 0 || c->ordinal < there);
            }
            ck_assert_int_eq(fewer, there > 1 ? 2 : 0);
            ck_assert_int_eq(others, there > 1 ? 4 : 0);
            large_give_back(in);
        }
    }
}
END_TEST

static bool fails(const char *name, const struct evidence *evidence)
{
    const struct check *check = lesson_10_device_query.checks;
    struct verdict *verdict = calloc(1, sizeof *verdict);
    while (strcmp(check->name, name) != 0) check++;
    check->judge(verdict, evidence);
    const bool failed = verdict_failed(verdict);
    free(verdict);
    return failed;
}

/* What two equal GPUs have to tell, with `held` bytes of the drive's on the second. */
static void answer_all(const struct device_query_input *in, struct device_query_output *out)
{
    memset(out, 0, sizeof *out);
    out->reached = in->cases;
    out->asked = 2;
    for (uint32_t d = 0; d < 2; d++) out->truth[d].figures[DEVICE_QUERY_TOTAL] = TOTAL;
    for (uint32_t i = 0; i < in->cases; i++) {
        const struct device_query_case *c = &in->at[i];
        out->answers[i].written = c->room > 1 ? 3 : (uint32_t)c->room;
        out->answers[i].held = c->held;
        out->answers[i].total = (uint64_t)TOTAL;
        out->answers[i].free = (uint64_t)TOTAL - TAKEN_BY_CONTEXTS - c->held;
    }
}

START_TEST(two_equal_gpus_are_told_apart)
{
    const struct device_query_input *in = drawn(2, 7);
    struct device_query_output *out = large_take(sizeof *out);
    struct evidence e = {.lesson = &lesson_10_device_query,
                         .plan = plan_of("devices"),
                         .device = DRIVE_GPU,
                         .input = in,
                         .input_size = sizeof *in,
                         .output = out,
                         .output_size = sizeof *out,
                         .trace_sound = true};
    unsigned held = 0, short_of_room = 0;

    ck_assert_int_eq(evidence_index_build(&e), 0);
    answer_all(in, out);
    ck_assert(!fails("TheFreeMemoryIsThatDevices", &e));
    ck_assert(!fails("NothingIsWrittenBehindTheRoom", &e));
    for (uint32_t i = 0; i < in->cases; i++) {
        struct device_query_answer *a = &out->answers[i];
        const struct device_query_answer right = *a;
        if (in->at[i].held > TAKEN_BY_CONTEXTS) {
            a->free += a->held; /* that of the other one */
            ck_assert(fails("TheFreeMemoryIsThatDevices", &e));
            a->held = 1000; /* there was no room for more: so nobody can tell */
            ck_assert(!fails("TheFreeMemoryIsThatDevices", &e));
            held++;
        }
        *a = right;
        if (in->at[i].room == 1) {
            a->written = 3;
            ck_assert(fails("NothingIsWrittenBehindTheRoom", &e));
            short_of_room++;
        }
        *a = right;
    }
    ck_assert_uint_eq(held, 2);
    ck_assert_uint_eq(short_of_room, 2);
    evidence_release(&e);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device query");
    TCase *tcase = tcase_create("GPUs");
    tcase_add_test(tcase, as_many_gpus_as_there_are);
    tcase_add_test(tcase, two_equal_gpus_are_told_apart);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
