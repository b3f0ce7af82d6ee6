/* The emulator's base: arenas and pages, growing arrays, hashing, names of kernels.
 */
#include "emulator/base/arena.h"
#include "emulator/base/array.h"
#include "emulator/base/hash.h"
#include "emulator/base/name.h"
#include "emulator/base/pages.h"
#include "emulator/base/spares.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- arena --------------------------------------------------------------------------------- */

static size_t count_of(const unsigned char *bytes, size_t size, int value)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) count += bytes[i] == value;
    return count;
}

START_TEST(pieces_are_zeroed_aligned_and_apart)
{
    enum { PIECES = 3000 };
    struct arena arena = {.failed = false};
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES;
         i++) { /* some are larger than a quarter of a chunk, some than a chunk */
        const size_t size = i % 100 == 99 ? 100000 : i % 50 == 49 ? 20000 : 1 + i % 97;
        pieces[i] = arena_take(&arena, size, 1);
        ck_assert_ptr_nonnull(pieces[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        ck_assert_uint_eq(count_of(pieces[i], size, 0), size);
        memset(pieces[i], 1 + (int)(i % 250), size);
    }
    for (size_t i = 0; i < PIECES; i++) { /* no piece overlaps another */
        const size_t size = i % 100 == 99 ? 100000 : i % 50 == 49 ? 20000 : 1 + i % 97;
        ck_assert_uint_eq(count_of(pieces[i], size, 1 + (int)(i % 250)), size);
    }
    arena_free(&arena);
    ck_assert_ptr_null(arena.chunks);
}
END_TEST

START_TEST(nothing_is_something_and_text_is_copied)
{
    struct arena arena = {.failed = false};
    char text[] = "kernel";
    ck_assert_ptr_nonnull(arena_take(&arena, 0, 8));
    ck_assert_ptr_nonnull(arena_take(&arena, 8, 0));
    const char *copy = arena_text(&arena, text);
    text[0] = '?';
    ck_assert_str_eq(copy, "kernel");
    arena_free(&arena);
}
END_TEST

START_TEST(an_arena_that_failed_stays_so_until_it_is_freed)
{
    struct arena arena = {.failed = false};
    ck_assert_ptr_null(arena_take(&arena, SIZE_MAX / 8, 16)); /* the product does not fit */
    ck_assert(arena.failed);
    ck_assert_ptr_null(arena_take(&arena, 1, 1));
    ck_assert_ptr_null(arena_text(&arena, "x"));
    arena_free(&arena);
    ck_assert(!arena.failed);
    ck_assert_ptr_nonnull(arena_take(&arena, 1, 1));
    arena_free(&arena);
}
END_TEST

/* ---- array --------------------------------------------------------------------------------- */

START_TEST(an_array_grows_and_keeps_what_it_holds)
{
    uint32_t *numbers = NULL;
    size_t count = 0, room = 0, moves = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const size_t before = room;
        ck_assert(array_grow(&numbers, count, &room, sizeof *numbers));
        ck_assert_uint_gt(room, count);
        moves += room != before;
        numbers[count++] = i * 7;
    }
    for (uint32_t i = 0; i < 10000; i++) ck_assert_uint_eq(numbers[i], i * 7);
    ck_assert_uint_le(moves, 12); /* by doubling */
    free(numbers);
}
END_TEST

START_TEST(what_is_reserved_is_zeroed)
{
    uint64_t *numbers = NULL;
    size_t room = 0;
    ck_assert(array_reserve(&numbers, 3, &room, sizeof *numbers));
    for (size_t i = 0; i < room; i++) {
        ck_assert_uint_eq(numbers[i], 0);
        numbers[i] = i + 1;
    }
    const size_t before = room;
    ck_assert(array_reserve(&numbers, 1000, &room, sizeof *numbers));
    ck_assert_uint_ge(room, 1000);
    for (size_t i = 0; i < room; i++) ck_assert_uint_eq(numbers[i], i < before ? i + 1 : 0);
    ck_assert(array_reserve(&numbers, 10, &room, sizeof *numbers)); /* never smaller */
    ck_assert_uint_ge(room, 1000);
    free(numbers);
}
END_TEST

START_TEST(without_memory_an_array_is_as_it_was)
{
    uint64_t *numbers = NULL, *before;
    size_t room = 0;
    ck_assert(array_reserve(&numbers, 1, &room, sizeof *numbers));
    numbers[0] = 5;
    before = numbers;
    size_t huge = SIZE_MAX / 4; /* twice as many elements do not fit */
    ck_assert(!array_grow(&numbers, huge, &huge, sizeof *numbers));
    ck_assert_ptr_eq(numbers, before);
    ck_assert_uint_eq(numbers[0], 5);
    ck_assert_uint_eq(huge, SIZE_MAX / 4);
    free(numbers);
}
END_TEST

/* ---- hash ---------------------------------------------------------------------------------- */

START_TEST(hashes_are_those_of_the_draft)
{
    /* draft-eastlake-fnv, FNV-1a of 64 bits */
    ck_assert_uint_eq(hash_text(""), UINT64_C(0xcbf29ce484222325));
    ck_assert_uint_eq(hash_text("a"), UINT64_C(0xaf63dc4c8601ec8c));
    ck_assert_uint_eq(hash_text("foobar"), UINT64_C(0x85944171f73967e8));
    ck_assert_uint_eq(hash_bytes("foobar", 6), hash_text("foobar"));
    ck_assert_uint_eq(hash_bytes("foobar", 1), hash_text("f"));
    ck_assert_uint_eq(hash_text("\xff"), hash_bytes("\xff", 1)); /* bytes have no sign */
}
END_TEST

START_TEST(multiples_are_spread)
{
    bool used[1024] = {false};
    size_t slots = 0;
    for (uint64_t i = 0; i < 1024; i++) {
        const uint64_t slot = hash_spread(i * 4096) >> 54;
        slots += !used[slot];
        used[slot] = true;
    }
    ck_assert_uint_gt(slots, 512);
}
END_TEST

/* ---- names --------------------------------------------------------------------------------- */

START_TEST(kernels_are_called_as_their_source_does)
{
    static const struct {
        const char *name, *plain;
    } rows[] = {
        {"scale", "scale"},
        {"_Z5scalePff", "scale"},
        {"_ZN4mine5scaleEPf", "scale"},
        {"_ZN4mine5inner5scaleEPf", "scale"},
        {"_Z7reduce6IfEvPT_", "reduce6"}, /* a digit of its own, and a template */
        {"_Z4load6Matrix3Box", "load"},   /* of two structures */
        {"_ZL5scalePf", "scale"},         /* static */
        {"_ZN12_GLOBAL__N_15scaleEPf", "scale"},
        {"_ZNK4mine5scaleEf", "scale"}, /* a method that changes nothing */
        {"_Z", "_Z"},
        {"_Z99scale", "_Z99scale"}, /* shorter than it says */
        {"_Z0", "_Z0"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        name_plain(rows[i].name, text, sizeof text);
        ck_assert_str_eq(text, rows[i].plain);
    }
    char cut[4];
    name_plain("_Z5scalePff", cut, sizeof cut);
    ck_assert_str_eq(cut, "sca");
}
END_TEST

/* ---- pages --------------------------------------------------------------------------------- */

START_TEST(pages_are_zeros_of_any_size)
{
    static const size_t sizes[] = {1, 4096, (1 << 17) - 1, 1 << 17, 10 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *bytes = pages_take(sizes[i]);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_uint_eq((uintptr_t)bytes % _Alignof(max_align_t), 0);
        ck_assert_uint_eq(bytes[0] | bytes[sizes[i] / 2] | bytes[sizes[i] - 1], 0);
        memset(bytes, 0xff, sizes[i]);
        pages_give(bytes, sizes[i]);
    }
    pages_give(NULL, 1);
    pages_give(NULL, 1 << 20);
}
END_TEST

/* Some pages come from earlier users, others from the system. */
START_TEST(pages_given_back_as_zeros_are_taken_as_such)
{
    const size_t sizes[] = {1000, 1 << 17, 1 << 20, (1 << 20) + 8, 4 << 20, 5 << 20};
    unsigned char *taken[16];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int round = 0; round < 3; round++) {
            for (size_t k = 0; k < 16; k++) {
                taken[k] = pages_take(sizes[i]);
                for (size_t b = 0; b < sizes[i]; b += b < 16 ? 1 : 997)
                    ck_assert_uint_eq(taken[k][b], 0);
                memset(taken[k], 0xff, sizes[i]);
            }
            for (size_t k = 0; k < 16; k++) memset(taken[k], 0, sizes[i]);
            for (size_t k = 0; k < 16; k++)
                (k % 5 == 4 ? pages_give : pages_give_zeroed)(taken[k], sizes[i]);
        }
    pages_give_zeroed(NULL, 1 << 20);
}
END_TEST

/* Whatever part of them was touched, and where there is swap also if it was paged out since. */
START_TEST(pages_that_were_touched_are_zeros_again)
{
    enum { BYTES = (3 << 20) + 100, PAGE = 4096, PIECES = 4 };
    static const unsigned char zeros[PAGE];
    unsigned char *taken[PIECES];
    for (int round = 1; round <= 20; round++) {
        for (int k = 0; k < PIECES; k++) {
            taken[k] = pages_take(BYTES);
            for (size_t at = 0; at < BYTES; at += PAGE)
                ck_assert_mem_eq(taken[k] + at, zeros, BYTES - at < PAGE ? BYTES - at : PAGE);
            for (size_t at = (size_t)k; at < BYTES; at += (size_t)PAGE * (unsigned)round)
                taken[k][at] = 0xff;
            taken[k][BYTES - 1] = 0xff;
        }
        (void)madvise(taken[0] + 64 * PAGE, 64 * PAGE, MADV_PAGEOUT);
        for (int k = 0; k < PIECES; k++) pages_give(taken[k], BYTES);
    }
}
END_TEST

START_TEST(spares_are_of_one_owner_each)
{
    enum { PIECES = 5000, BYTES = 40 };
    static unsigned char *pieces[PIECES];
    struct spares spares = {NULL, 0};
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < PIECES; k++) {
            pieces[k] = spares_take(&spares, BYTES);
            ck_assert_ptr_nonnull(pieces[k]);
            memset(pieces[k], k % 251, BYTES);
        }
        for (int k = 0; k < PIECES; k++) {
            for (int b = 0; b < BYTES; b++) ck_assert_uint_eq(pieces[k][b], k % 251);
            spares_give(&spares, pieces[k]);
        }
    }
    while (spares.count > 0) free(spares_take(&spares, BYTES));
    ck_assert_ptr_null(spares.first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tests = tcase_create("base");
    tcase_add_test(tests, pieces_are_zeroed_aligned_and_apart);
    tcase_add_test(tests, nothing_is_something_and_text_is_copied);
    tcase_add_test(tests, an_arena_that_failed_stays_so_until_it_is_freed);
    tcase_add_test(tests, an_array_grows_and_keeps_what_it_holds);
    tcase_add_test(tests, what_is_reserved_is_zeroed);
    tcase_add_test(tests, without_memory_an_array_is_as_it_was);
    tcase_add_test(tests, hashes_are_those_of_the_draft);
    tcase_add_test(tests, multiples_are_spread);
    tcase_add_test(tests, kernels_are_called_as_their_source_does);
    tcase_add_test(tests, pages_are_zeros_of_any_size);
    tcase_add_test(tests, pages_given_back_as_zeros_are_taken_as_such);
    tcase_add_test(tests, pages_that_were_touched_are_zeros_again);
    tcase_add_test(tests, spares_are_of_one_owner_each);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
