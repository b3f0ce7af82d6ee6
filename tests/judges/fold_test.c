/* The reductions of lesson 07's judge, and its explanations of wrong results. */
#include "grader/child/drive.h"
#include "grader/lessons/07_reductions/fold.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Each byte is added up by itself, modulo 256. */
#define BYTEWISE                                                                                   \
    {                                                                                              \
        .elements = {{.bytes = {1, 250}},                                                          \
                     {.bytes = {2, 3}},                                                            \
                     {.bytes = {3, 4}},                                                            \
                     {.bytes = {4, 5}}},                                                           \
        .expected = {                                                                              \
            .bytes = {10, 6}                                                                       \
        }                                                                                          \
    }

static const struct {
    union fold_value elements[4], expected;
    uint32_t parameter;
} known[REDUCTION_KINDS] = {
    [REDUCTION_SUM_INT64] =
        {.elements = {{.int64 = -5}, {.int64 = 7}, {.int64 = 11}, {.int64 = 1ll << 40}},
         .expected = {.int64 = 13 + (1ll << 40)}},
    [REDUCTION_SUM_INT32] =
        {.elements = {{.int32 = -5}, {.int32 = 7}, {.int32 = -11}, {.int32 = 4}},
         .expected = {.int32 = -5}},
    [REDUCTION_SUM_FLOAT] =
        {.elements = {{.real = 0.5f}, {.real = 0.25f}, {.real = -4.0f}, {.real = 1.0f}},
         .expected = {.real = -2.25f}},
    [REDUCTION_MAX_FLOAT] =
        {.elements = {{.real = -3.0f}, {.real = -1.5f}, {.real = -4.0f}, {.real = -2.0f}},
         .expected = {.real = -1.5f}},
    [REDUCTION_MIN_INT32] = {.elements = {{.int32 = 9}, {.int32 = 8}, {.int32 = 5}, {.int32 = 6}},
                             .expected = {.int32 = 5}},
    [REDUCTION_PRODUCT] = {.elements = {{.uint64 = 3}, {.uint64 = 5}, {.uint64 = 7}, {.uint64 = 1}},
                           .expected = {.uint64 = 105}},
    [REDUCTION_MODULAR] =
        {.elements = {{.uint32 = 10}, {.uint32 = 10}, {.uint32 = 10}, {.uint32 = 10}},
         .expected = {.uint32 = 10000 % 97},
         .parameter = 97},
    [REDUCTION_RANGE] = {.elements = {{.range = {5, -9, 1}},
                                      {.range = {4, -8, 2}},
                                      {.range = {6, -7, 4}},
                                      {.range = {9, -20, 8}}},
                         .expected = {.range = {4, -7, 15}}},
    [REDUCTION_BYTES_1] = BYTEWISE,
    [REDUCTION_BYTES_2] = BYTEWISE,
    [REDUCTION_BYTES_3] = BYTEWISE,
    [REDUCTION_BYTES_5] = BYTEWISE,
    [REDUCTION_BYTES_8] = BYTEWISE,
    [REDUCTION_BYTES_16] = BYTEWISE,
    [REDUCTION_BYTES_64] = BYTEWISE,
};

static void pack(uint32_t kind, const union fold_value *elements, size_t count,
                 unsigned char *array)
{
    size_t size = fold_element_size(kind);
    for (size_t i = 0; i < count; i++) memcpy(array + i * size, elements[i].bytes, size);
}

START_TEST(every_kind_folds)
{
    uint32_t kind = (uint32_t)_i;
    unsigned char array[4 * REDUCTION_ELEMENT_SIZE];
    struct reduction_case wanted = {.kind = kind, .size = 4, .parameter = known[kind].parameter};

    pack(kind, known[kind].elements, 4, array);
    struct fold_expected expected = fold_case(&wanted, array);
    ck_assert(expected.exists);
    ck_assert(fold_right(&wanted, &expected, known[kind].expected));

    /* The same, with one of the elements as init. */
    wanted.size = 3;
    wanted.with_init = 1;
    memcpy(wanted.init, known[kind].elements[3].bytes, fold_element_size(kind));
    expected = fold_case(&wanted, array);
    ck_assert(fold_right(&wanted, &expected, known[kind].expected));
    ck_assert(!fold_right(&wanted, &expected, known[kind].elements[3]));
}
END_TEST

START_TEST(empty_is_init_or_nothing)
{
    struct reduction_case wanted = {.kind = REDUCTION_MIN_INT32};
    ck_assert(!fold_case(&wanted, NULL).exists);
    union fold_value init = {.int32 = 42};
    wanted.with_init = 1;
    memcpy(wanted.init, init.bytes, sizeof wanted.init);
    struct fold_expected expected = fold_case(&wanted, NULL);
    ck_assert(expected.exists);
    ck_assert(fold_right(&wanted, &expected, init));
}
END_TEST

/* Random elements of every kind reveal an additional zero, a missing element or a second init. */
START_TEST(drawn_elements_show_slips)
{
    uint32_t kind = (uint32_t)_i, prime = 998244353u;
    struct random_source random;
    random_seed(&random, 7);
    if (kind == REDUCTION_MAX_FLOAT || kind == REDUCTION_MIN_INT32 || kind == REDUCTION_SUM_FLOAT)
        return; /* a maximum hides smaller elements */
    for (int round = 0; round < 50; round++) {
        union fold_value all = fold_draw(&random, kind, prime);
        union fold_value more = fold_combine(kind, prime, all, fold_draw(&random, kind, prime));
        ck_assert(!fold_same(kind, all, more));
    }
}
END_TEST

START_TEST(zeros_show)
{
    static const uint32_t kinds[] = {REDUCTION_MAX_FLOAT, REDUCTION_MIN_INT32, REDUCTION_PRODUCT,
                                     REDUCTION_MODULAR, REDUCTION_RANGE};
    union fold_value zero = {.uint64 = 0};
    struct random_source random;
    random_seed(&random, 11);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        union fold_value value = fold_draw(&random, kinds[i], 998244353u);
        ck_assert(!fold_same(kinds[i], fold_combine(kinds[i], 998244353u, value, zero), value));
    }
}
END_TEST

static const char *explain(const struct reduction_case *wanted, const void *array,
                           union fold_value value)
{
    static char text[FOLD_SENTENCE];
    struct fold_expected expected = fold_case(wanted, array);
    ck_assert(!fold_right(wanted, &expected, value));
    const char *sentence = fold_explain(wanted, array, &expected, value, text);
    return sentence ? sentence : "";
}

START_TEST(slips_are_named)
{
    int64_t array[100], sum = 0;
    struct reduction_case wanted = {.kind = REDUCTION_SUM_INT64, .size = 100};
    for (int64_t i = 0; i < 100; i++) sum += array[i] = 1000 + i * i;

    union fold_value poison;
    memset(poison.bytes, DRIVE_POISON, sizeof poison.bytes);
    ck_assert_ptr_nonnull(strstr(explain(&wanted, array, poison), "nothing has written it"));

    union fold_value value = {.int64 = sum - array[99] - array[98]};
    ck_assert_ptr_nonnull(strstr(explain(&wanted, array, value), "first 98 elements"));
    value.int64 = sum + 3;
    ck_assert_str_eq(explain(&wanted, array, value), "");

    union fold_value init = {.int64 = 1000003};
    wanted.with_init = 1;
    memcpy(wanted.init, init.bytes, sizeof wanted.init);
    value.int64 = sum;
    ck_assert_ptr_nonnull(strstr(explain(&wanted, array, value), "without init"));
    value.int64 = sum + 17 * init.int64;
    ck_assert_ptr_nonnull(strstr(explain(&wanted, array, value), "17 times"));
    value.int64 = sum + init.int64 - array[99];
    ck_assert_ptr_nonnull(strstr(explain(&wanted, array, value), "first 99 elements"));
}
END_TEST

START_TEST(zero_too_many_is_named)
{
    uint64_t array[5] = {3, 5, 7, 9, 11};
    struct reduction_case wanted = {.kind = REDUCTION_PRODUCT, .size = 5};
    union fold_value value = {.uint64 = 0};
    ck_assert_ptr_nonnull(strstr(explain(&wanted, array, value), "a 0 too many"));
}
END_TEST

/* A float sum may be off by rounding errors, not by an element. */
START_TEST(float_tolerance_is_tight)
{
    enum { COUNT = 15000 };
    float *array = malloc(COUNT * sizeof *array);
    struct reduction_case wanted = {.kind = REDUCTION_SUM_FLOAT, .size = COUNT};
    struct random_source random;
    float forwards = 0.0f, pairs[COUNT];
    ck_assert_ptr_nonnull(array);
    random_seed(&random, 3);
    for (int i = 0; i < COUNT; i++) {
        pairs[i] = array[i] = fold_draw(&random, REDUCTION_SUM_FLOAT, 0).real;
        forwards += array[i];
    }
    for (int count = COUNT; count > 1; count = (count + 1) / 2)
        for (int i = 0; i < count / 2; i++) pairs[i] += pairs[i + (count + 1) / 2];

    struct fold_expected expected = fold_case(&wanted, array);
    ck_assert(fold_right(&wanted, &expected, (union fold_value){.real = forwards}));
    ck_assert(fold_right(&wanted, &expected, (union fold_value){.real = pairs[0]}));
    ck_assert(
        !fold_right(&wanted, &expected, (union fold_value){.real = expected.value.real + 500.0f}));
    ck_assert(!fold_right(&wanted, &expected, (union fold_value){.real = 0.0f / 0.0f}));
    free(array);
}
END_TEST

START_TEST(every_kind_is_shown)
{
    static const char *const shown[REDUCTION_KINDS] = {[REDUCTION_SUM_INT64] = "1099511627789",
                                                       [REDUCTION_SUM_INT32] = "-5",
                                                       [REDUCTION_SUM_FLOAT] = "-2.25",
                                                       [REDUCTION_MAX_FLOAT] = "-1.5",
                                                       [REDUCTION_MIN_INT32] = "5",
                                                       [REDUCTION_PRODUCT] = "105",
                                                       [REDUCTION_MODULAR] = "9",
                                                       [REDUCTION_RANGE] = "{4, -7, 15}",
                                                       [REDUCTION_BYTES_1] = "{10}",
                                                       [REDUCTION_BYTES_2] = "{10, 6}",
                                                       [REDUCTION_BYTES_3] = "{10, 6, 0}",
                                                       [REDUCTION_BYTES_5] = "{10, 6, 0, 0, 0}",
                                                       [REDUCTION_BYTES_8] = "{10, 6, 0, ",
                                                       [REDUCTION_BYTES_16] = "{10, 6, 0, ",
                                                       [REDUCTION_BYTES_64] = "{10, 6, 0, "};
    char text[FOLD_TEXT];
    const char *text_shown = fold_show((uint32_t)_i, known[_i].expected, text);
    ck_assert_msg(strncmp(text_shown, shown[_i], strlen(shown[_i])) == 0, "%s", text_shown);
    if (_i <= REDUCTION_BYTES_5) ck_assert_str_eq(text_shown, shown[_i]); /* longer ones are cut */
    ck_assert_uint_gt(strlen(fold_words((uint32_t)_i)), 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fold");
    TCase *tests = tcase_create("fold");
    tcase_add_loop_test(tests, every_kind_folds, 0, REDUCTION_KINDS);
    tcase_add_test(tests, empty_is_init_or_nothing);
    tcase_add_loop_test(tests, drawn_elements_show_slips, 0, REDUCTION_KINDS);
    tcase_add_test(tests, zeros_show);
    tcase_add_test(tests, slips_are_named);
    tcase_add_test(tests, zero_too_many_is_named);
    tcase_add_test(tests, float_tolerance_is_tight);
    tcase_add_loop_test(tests, every_kind_is_shown, 0, REDUCTION_KINDS);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
