/* Sets of bytes: however a set is made, it holds exactly its bytes. Random sets are compared with
 * arrays of bools. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/races/set.h"

enum { SIZE = 1 << 17 };

static uint64_t random_state;

static uint64_t random_below(uint64_t bound)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (random_state >> 33) % bound;
}

/* Draws runs of about `length` bytes: few for a list, thousands for a bitmap. */
static void draw(bool *bytes, uint64_t length)
{
    bool in = random_below(2);
    memset(bytes, 0, SIZE * sizeof *bytes);
    for (size_t at = random_below(SIZE / 4); at < SIZE - random_below(SIZE / 4); in = !in)
        for (uint64_t n = 1 + random_below(length); n > 0 && at < SIZE; n--) bytes[at++] = in;
}

/* Makes a set of the bytes, which lie in up to three windows. */
static void from_bytes(struct races_set *set, const bool *bytes)
{
    static uint64_t bits[SIZE / 64];
    struct races_range windows[3];
    size_t count = 0;
    memset(bits, 0, sizeof bits);
    for (size_t i = 0; i < SIZE; i++)
        if (bytes[i]) bits[i / 64] |= 1ull << i % 64;
    for (size_t i = 0; i < SIZE / 64; i++) {
        if (bits[i] == 0 && random_below(2)) continue;
        if (count < 3 && (count == 0 || windows[count - 1].end < i * 64))
            windows[count++] = (struct races_range){i * 64, i * 64};
        windows[count - 1].end = (i + 1) * 64;
    }
    ck_assert(races_set_bits(set, bits, windows, count));
}

START_TEST(rows_that_follow_each_other_are_one_range)
{
    struct races_set set;
    ck_assert(races_set_rows(&set, 10, 8, 8, 4, 32, 3));
    ck_assert_ptr_null(set.ranges);
    ck_assert_uint_eq(set.bounds.first, 10);
    ck_assert_uint_eq(set.bounds.end, 10 + 96);
    races_set_free(&set);
}
END_TEST

START_TEST(rows_with_gaps_leave_the_gaps_out)
{
    struct races_set rows, gap, row;
    uint64_t first;
    ck_assert(races_set_rows(&rows, 100, 8, 16, 4, 100, 2));
    ck_assert_uint_eq(rows.bounds.end, 100 + 100 + 3 * 16 + 8);
    ck_assert(races_set_rows(&gap, 108, 8, 8, 1, 8, 1));
    ck_assert_uint_eq(races_set_common(&rows, &gap, &first), 0);
    ck_assert(races_set_rows(&row, 215, 12, 12, 1, 12, 1));
    ck_assert_uint_eq(races_set_common(&rows, &row, &first), 8);
    ck_assert_uint_eq(first, 216);
    races_set_free(&rows);
    races_set_free(&gap);
    races_set_free(&row);
}
END_TEST

START_TEST(nothing_is_empty_and_covered_by_anything)
{
    struct races_set none, some;
    uint64_t first;
    ck_assert(races_set_rows(&none, 5, 0, 0, 1, 0, 1));
    ck_assert(races_set_rows(&some, 7, 1, 1, 1, 1, 1));
    ck_assert(races_set_empty(&none) && !races_set_empty(&some));
    ck_assert_uint_eq(races_set_common(&none, &some, &first), 0);
    ck_assert(races_set_covers(&some, &none));
    ck_assert(!races_set_covers(&none, &some));
}
END_TEST

/* Makes b a subset of a, but for a stretch, at its begin or anywhere, of bytes that a lacks. */
static void relate(const bool *a, bool *b, bool all)
{
    enum { STRETCH = 2048 };
    size_t first = 0;
    while (first < SIZE && !b[first]) first++;
    first += random_below(2) ? random_below(SIZE) : 0;
    for (size_t i = 0; i < SIZE; i++) b[i] = b[i] && a[i] != (!all && i - first < STRETCH);
}

START_TEST(random_sets_are_what_they_are_made_from)
{
    static const uint64_t lengths[] = {1, 3, 40, 3000};
    static bool a[SIZE], b[SIZE];
    random_state = (uint64_t)_i + 1;
    draw(a, lengths[_i % 4]);
    draw(b, lengths[_i / 4 % 4]);
    if (_i % 3 != 2) relate(a, b, _i % 3 == 0);
    struct races_set x, y;
    from_bytes(&x, a);
    from_bytes(&y, b);
    uint64_t common = 0, expected_first = 0, first = 0;
    bool covers = true;
    for (size_t i = SIZE; i-- > 0;) {
        if (a[i] && b[i]) {
            common++;
            expected_first = i;
        }
        covers = covers && (a[i] || !b[i]);
    }
    ck_assert_uint_eq(races_set_common(&x, &y, &first), common);
    if (common > 0) ck_assert_uint_eq(first, expected_first);
    ck_assert_uint_eq(races_set_common(&y, &x, &first), common);
    ck_assert_int_eq(races_set_covers(&x, &y), covers);
    races_set_free(&x);
    races_set_free(&y);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("races_set");
    TCase *tcase = tcase_create("sets");
    tcase_add_test(tcase, rows_that_follow_each_other_are_one_range);
    tcase_add_test(tcase, rows_with_gaps_leave_the_gaps_out);
    tcase_add_test(tcase, nothing_is_empty_and_covered_by_anything);
    tcase_add_loop_test(tcase, random_sets_are_what_they_are_made_from, 0, 480);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
