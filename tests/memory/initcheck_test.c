/* Written and unwritten memory, bit by bit, against an obvious implementation. */
#include "emulator/memory/initcheck.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1000, WORDS = (SIZE + 63) / 64 };

static struct memory_region region = {.size = SIZE, .id = 7};
static struct memory_unwritten found;

/* Fills `found` by looking at two windows, one after the other. */
static bool find(const uint64_t *touched, unsigned unit)
{
    found = (struct memory_unwritten){0};
    memory_initcheck_find(&region, touched, unit, 0, 4 * 64, &found);
    memory_initcheck_find(&region, touched, unit, 4 * 64, WORDS * 64, &found);
    return found.bytes > 0;
}

START_TEST(what_is_not_followed_counts_as_written)
{
    static const uint64_t all[WORDS] = {~0ull, ~0ull};
    ck_assert(memory_initcheck_some(&region));
    ck_assert(!memory_initcheck_never(&region));
    ck_assert(!find(all, 1));
    memory_initcheck_set(&region, 0, 10);
    memory_initcheck_forget(&region);
}
END_TEST

START_TEST(nothing_then_something_then_all)
{
    uint64_t touched[WORDS] = {0};
    memory_initcheck_follow(&region);
    ck_assert(memory_initcheck_never(&region));
    ck_assert(!memory_initcheck_some(&region));
    touched[1] = 0xf0;
    ck_assert(find(touched, 4));
    ck_assert_uint_eq(found.first, 68);
    ck_assert_uint_eq(found.bytes, 4);
    ck_assert_uint_eq(found.end, 72);
    memory_initcheck_set(&region, 68, 1); /* one byte of the four */
    ck_assert(memory_initcheck_some(&region) && !memory_initcheck_never(&region));
    ck_assert(!find(touched, 4));
    ck_assert(find(touched, 1));
    ck_assert_uint_eq(found.bytes, 3);
    memory_initcheck_set(&region, 0, SIZE);
    ck_assert(!find(touched, 1));
    memory_initcheck_forget(&region);
}
END_TEST

START_TEST(given_is_not_written)
{
    uint64_t touched[WORDS] = {1};
    memory_initcheck_follow(&region);
    memory_initcheck_give(&region);
    ck_assert(!memory_initcheck_never(&region));
    ck_assert(!memory_initcheck_some(&region));
    ck_assert(find(touched, 1));
    memory_initcheck_forget(&region);
}
END_TEST

START_TEST(bits_that_cover_everything_are_everything)
{
    uint64_t bits[WORDS], touched[WORDS];
    memory_initcheck_follow(&region);
    memset(bits, 0xff, sizeof bits);
    memset(touched, 0xff, sizeof touched);
    bits[WORDS - 1] = (1ull << SIZE % 64) - 1;
    bits[3] &= ~1ull;
    memory_initcheck_set_bits(&region, bits, 0, WORDS * 64);
    touched[WORDS - 1] = bits[WORDS - 1];
    ck_assert(find(touched, 1));
    ck_assert_uint_eq(found.first, 192);
    ck_assert_uint_eq(found.bytes, 1);
    bits[3] = 1;
    memory_initcheck_set_bits(&region, bits, 0, 3 * 64);
    ck_assert(find(touched, 1));
    memory_initcheck_set_bits(&region, bits, 3 * 64, 4 * 64);
    ck_assert(!find(touched, 1));
    memory_initcheck_forget(&region);
}
END_TEST

/* Random ranges, compared with an array of bytes. */
START_TEST(as_byte_by_byte)
{
    static unsigned char written[SIZE], read[SIZE];
    const unsigned unit = 1u << _i;
    srand((unsigned)_i + 1);
    for (int round = 0; round < 200; round++) {
        uint64_t touched[WORDS] = {0};
        memset(written, 0, sizeof written);
        memset(read, 0, sizeof read);
        memory_initcheck_follow(&region);
        for (int k = 0; k < 6; k++) {
            const uint64_t first = (uint64_t)rand() % SIZE;
            const uint64_t bytes = (uint64_t)rand() % (SIZE - first) / 4 + 1;
            memset(written + first, 1, bytes);
            memory_initcheck_set(&region, first, bytes);
            const uint64_t at = (uint64_t)rand() % (SIZE - 100);
            for (uint64_t i = at; i < at + 100; i++) {
                read[i] = 1;
                touched[i / 64] |= 1ull << i % 64;
            }
        }
        uint64_t bytes = 0, first = 0, end = 0;
        for (uint64_t i = 0; i + unit <= SIZE; i += unit) {
            bool whole = true;
            for (uint64_t j = i; j < i + unit; j++) whole &= read[j] && !written[j];
            if (!whole) continue;
            if (bytes == 0) first = i;
            bytes += unit;
            end = i + unit;
        }
        ck_assert_int_eq(find(touched, unit), bytes > 0);
        ck_assert_uint_eq(found.bytes, bytes);
        ck_assert_uint_eq(found.first, first);
        ck_assert_uint_eq(found.end, end);
        memory_initcheck_forget(&region);
    }
}
END_TEST

START_TEST(regions_are_apart)
{
    /* A region in the same bucket of the table, and one in another. */
    struct memory_region others[] = {{.size = SIZE, .id = 7 + 1024}, {.size = SIZE, .id = 8}};
    memory_initcheck_follow(&region);
    for (int i = 0; i < 2; i++) memory_initcheck_follow(&others[i]);
    memory_initcheck_set(&others[0], 0, 1);
    ck_assert(memory_initcheck_never(&region) && memory_initcheck_never(&others[1]));
    memory_initcheck_forget(&others[0]);
    ck_assert(memory_initcheck_never(&region));
    memory_initcheck_follow(&region);
    memory_initcheck_forget(&region);
    memory_initcheck_forget(&others[1]);
    ck_assert(memory_initcheck_some(&region));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_written");
    TCase *tcase = tcase_create("written");
    tcase_add_test(tcase, what_is_not_followed_counts_as_written);
    tcase_add_test(tcase, nothing_then_something_then_all);
    tcase_add_test(tcase, given_is_not_written);
    tcase_add_test(tcase, bits_that_cover_everything_are_everything);
    tcase_add_loop_test(tcase, as_byte_by_byte, 0, 7);
    tcase_add_test(tcase, regions_are_apart);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
