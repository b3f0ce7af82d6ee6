/* The products of lesson 12's judge, the tolerance for rounding, and the explanations of wrong
 * products. */
#include "grader/lessons/12_matmul/product.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 19, P = 7, TILE = 16 };

static const struct product shape = {1, M, N, P};
static float a[M * N], b[N * P], c[M * P];

/* Multiplies in float, over [from, to), by `step`: 1 or -1. */
static void multiply(int from, int to, int step)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < P; j++) {
            float sum = 0.0f;
            for (int k = step > 0 ? from : to - 1; k >= from && k < to; k += step)
                sum += a[i * N + k] * b[k * P + j];
            c[i * P + j] = sum;
        }
}

static void fill(void)
{
    srand(12);
    for (int i = 0; i < M * N; i++) a[i] = (float)(rand() % 2001 - 1000) * 0.37f;
    for (int i = 0; i < N * P; i++) b[i] = (float)(rand() % 2001 - 1000) * 1.9e-3f;
}

static size_t wrong(size_t *first, double *must)
{
    double off;
    return product_float(&shape, a, b, c, first, must, &off);
}

START_TEST(any_order_of_summing_is_right)
{
    size_t first;
    double must;
    fill();
    multiply(0, N, 1);
    ck_assert_uint_eq(wrong(&first, &must), 0);
    multiply(0, N, -1);
    ck_assert_uint_eq(wrong(&first, &must), 0);
}
END_TEST

START_TEST(a_wrong_element_is_found_where_it_is)
{
    size_t first = 0;
    double must = 0;
    fill();
    multiply(0, N, 1);
    const float right = c[2 * P + 3];
    c[2 * P + 3] += right * 1e-3f + 1e-3f;
    c[4 * P + 6] = -right;
    ck_assert_uint_eq(wrong(&first, &must), 2);
    ck_assert_uint_eq(first, 2 * P + 3);
    ck_assert_double_eq_tol(must, right, 1e-3);
    memset(&c[0], 0xff, sizeof c[0]); /* a NaN is within no tolerance */
    ck_assert_uint_eq(wrong(&first, &must), 3);
    ck_assert_uint_eq(first, 0);
}
END_TEST

START_TEST(integers_wrap_around)
{
    static const int64_t left[2] = {INT64_MAX, -3}, right[2] = {2, INT64_MIN};
    const struct product small = {1, 1, 2, 1};
    int64_t found, must = 0;
    size_t first = 9;
    found = (int64_t)(2 * (uint64_t)INT64_MAX + (uint64_t)-3 * (uint64_t)INT64_MIN);
    ck_assert_uint_eq(product_integer(&small, left, right, &found, &first, &must), 0);
    const int64_t wrong_one = found + 1;
    ck_assert_uint_eq(product_integer(&small, left, right, &wrong_one, &first, &must), 1);
    ck_assert_uint_eq(first, 0);
    ck_assert_int_eq(must, found);
}
END_TEST

START_TEST(each_product_has_its_own_matrices)
{
    static const int64_t left[4] = {1, 2, 3, 4}, right[4] = {5, 6, 7, 8};
    static const int64_t right_ones[2] = {17, 53}, of_the_first[2] = {17, 39};
    const struct product two = {2, 1, 2, 1};
    size_t first = 9;
    int64_t must = 0;
    ck_assert_uint_eq(product_integer(&two, left, right, right_ones, &first, &must), 0);
    ck_assert_uint_eq(product_integer(&two, left, right, of_the_first, &first, &must), 1);
    ck_assert_uint_eq(first, 1);
    ck_assert_int_eq(must, 53);
}
END_TEST

static void explained(const char *part)
{
    const char *why = product_explain(&shape, a, b, c, TILE);
    ck_assert_msg(why != NULL && strstr(why, part) != NULL, "%s for %s", why ? why : "nothing",
                  part);
}

START_TEST(the_usual_slips_are_known)
{
    fill();
    multiply(0, TILE, 1);
    explained("whole tiles alone");
    multiply(0, N - 1, 1);
    explained("without the last column");
    multiply(N - 1, N, 1);
    explained("last addend alone");
    for (int i = 0; i < M; i++)
        for (int j = 0; j < P; j++) {
            float sum = 0.0f;
            for (int k = 0; k < N; k++) sum += a[i * N + k] * b[j * N + k];
            c[i * P + j] = sum;
        }
    explained("b[j * n + k] for b[k * p + j]");
    c[0] += 1000.0f;
    ck_assert_ptr_null(product_explain(&shape, a, b, c, TILE));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        any_order_of_summing_is_right, a_wrong_element_is_found_where_it_is,
        integers_wrap_around,          each_product_has_its_own_matrices,
        the_usual_slips_are_known,
    };
    Suite *suite = suite_create("product");
    TCase *tcase = tcase_create("all");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
