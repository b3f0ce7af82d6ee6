/* The reference pictures of lesson 05's judge. */
#include "grader/lessons/05_mandelbrot_sync/reference.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 512, COUNT = SIDE * SIDE };

static const struct mandelbrot_exchange_view whole = {.width = SIDE,
                                                      .height = SIDE,
                                                      .real_low = -2.0,
                                                      .real_high = 2.0,
                                                      .imaginary_low = -2.0,
                                                      .imaginary_high = 2.0,
                                                      .iterations = 256,
                                                      .bound = 2.0f};

static size_t members_of(const unsigned char *picture, size_t count)
{
    size_t members = 0;
    for (size_t i = 0; i < count; i++) members += picture[i];
    return members;
}

/* 24,808 members: counted by a second program that contracts as nvcc does (fma on both lines), with
 * abs(z) as hypotf. Without fma 32 pixels differ. */
START_TEST(the_whole_set)
{
    unsigned char *picture = malloc(COUNT);
    ck_assert_ptr_nonnull(picture);
    reference_draw(&whole, REFERENCE_RIGHT, picture);
    ck_assert_uint_eq(members_of(picture, COUNT), 24808);
    /* The corners have escaped; the middle and -1 have not. */
    ck_assert_uint_eq(picture[0], 0);
    ck_assert_uint_eq(picture[SIDE / 2 * SIDE + SIDE / 2], 1);
    ck_assert_uint_eq(picture[SIDE / 2 * SIDE + SIDE / 4], 1);
    free(picture);
}
END_TEST

START_TEST(both_ends_are_included)
{
    /* -2, 0 and 2 on both axes: -2 goes to 2 and stays there, which is not above the bound. */
    struct mandelbrot_exchange_view line = whole;
    unsigned char picture[9];
    line.width = line.height = 3;
    reference_draw(&line, REFERENCE_RIGHT, picture);
    const unsigned char expected[9] = {0, 0, 0, 1, 1, 0, 0, 0, 0};
    ck_assert_mem_eq(picture, expected, sizeof expected);
}
END_TEST

/* Away from the middle, every mistake gives another picture, and each has its sentence. */
START_TEST(slips_differ)
{
    struct mandelbrot_exchange_view view = whole;
    unsigned char right[71 * 53], wrong[71 * 53];
    view.width = 71;
    view.height = 53;
    view.real_low = -1.7;
    view.real_high = 0.5;
    view.imaginary_low = -0.3;
    view.imaginary_high = 1.0;
    reference_draw(&view, REFERENCE_RIGHT, right);
    ck_assert_ptr_null(reference_slip_sentence(REFERENCE_RIGHT));
    for (int slip = REFERENCE_RIGHT + 1; slip < REFERENCE_SLIP_COUNT; slip++) {
        reference_draw(&view, (enum reference_slip)slip, wrong);
        ck_assert_int_ne(memcmp(right, wrong, sizeof right), 0);
        ck_assert_ptr_nonnull(reference_slip_sentence((enum reference_slip)slip));
    }
}
END_TEST

START_TEST(iterations_and_bound_count)
{
    struct mandelbrot_exchange_view view = whole;
    unsigned char *few = malloc(COUNT), *many = malloc(COUNT);
    ck_assert(few && many);
    view.iterations = 10;
    reference_draw(&view, REFERENCE_RIGHT, few);
    view.iterations = 50;
    reference_draw(&view, REFERENCE_RIGHT, many);
    ck_assert_uint_gt(members_of(few, COUNT), members_of(many, COUNT));
    view.iterations = 10;
    view.bound = 3.0f;
    reference_draw(&view, REFERENCE_RIGHT, many);
    ck_assert_uint_gt(members_of(many, COUNT), members_of(few, COUNT));
    free(few);
    free(many);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mandelbrot");
    TCase *tests = tcase_create("mandelbrot");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, the_whole_set);
    tcase_add_test(tests, both_ends_are_included);
    tcase_add_test(tests, slips_differ);
    tcase_add_test(tests, iterations_and_bound_count);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
