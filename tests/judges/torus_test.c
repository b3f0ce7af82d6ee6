/* The Game of Life of lesson 08's judge, and its explanations of wrong lattices. */
#include "grader/lessons/08_life/torus.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 8
#define CELLS ((size_t)SIDE * SIDE)

/* Draws from a picture, '#' for a living cell. */
static void draw(int32_t cells[CELLS], const char *picture)
{
    for (size_t i = 0; i < CELLS; i++) cells[i] = picture[i] == '#';
}

static const char glider[] = ".#......"
                             "..#....."
                             "###....."
                             "........"
                             "........"
                             "........"
                             "........"
                             "........";

/* A glider moves one step along the diagonal every four generations: after 4 * SIDE it has gone
 * around both ways.
 */
START_TEST(a_glider_goes_around_the_torus)
{
    int32_t cells[CELLS], moved[CELLS];
    const struct torus torus = {SIDE, SIDE, cells};

    draw(cells, glider);
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++)
            moved[(y + 3) % SIDE * SIDE + (x + 3) % SIDE] = cells[y * SIDE + x];
    int32_t *const later = torus_generation(&torus, 12), *const home = torus_generation(&torus, 32),
                   *const first = torus_generation(&torus, 0);
    ck_assert_int_eq(memcmp(later, moved, sizeof moved), 0);
    ck_assert_int_eq(memcmp(home, cells, sizeof cells), 0);
    ck_assert_int_eq(memcmp(first, cells, sizeof cells), 0);
    free(later);
    free(home);
    free(first);
}
END_TEST

START_TEST(a_torus_need_not_be_square)
{
    /* A whole column is alive: in a torus of height three it has no end, and each neighbouring cell
     * has three neighbours. */
    static const int32_t column[5 * 3] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    const struct torus narrow = {5, 3, column};
    int32_t *const next = torus_generation(&narrow, 1);
    for (size_t i = 0; i < 15; i++)
        ck_assert_int_eq(next[i], i % 5 == 0 || i % 5 == 1 || i % 5 == 4);
    free(next);
}
END_TEST

/* Tiles side by side all evolve like one: rows that fit into a word are counted by other code than
 * longer rows. */
START_TEST(wide_and_narrow_rows_are_counted_alike)
{
    const uint32_t width = (uint32_t)_i, height = 1 + width % 7, tiles = 64 / width + 1;
    int32_t *const cells = malloc((size_t)width * height * sizeof *cells);
    int32_t *const tiled = malloc((size_t)width * tiles * height * sizeof *tiled);

    ck_assert(cells != NULL && tiled != NULL);
    srand(width);
    for (size_t i = 0; i < (size_t)width * height; i++) cells[i] = rand() % 3 == 0;
    for (size_t i = 0; i < (size_t)width * tiles * height; i++)
        tiled[i] = cells[i / (width * tiles) * width + i % width];
    const struct torus one = {width, height, cells}, many = {width * tiles, height, tiled};
    for (uint32_t generation = 1; generation < 6; generation++) {
        int32_t *const narrow = torus_generation(&one, generation);
        int32_t *const wide = torus_generation(&many, generation);
        ck_assert(narrow != NULL && wide != NULL);
        for (size_t i = 0; i < (size_t)width * tiles * height; i++)
            ck_assert_int_eq(wide[i], narrow[i / (width * tiles) * width + i % width]);
        free(narrow);
        free(wide);
    }
    free(cells);
    free(tiled);
}
END_TEST

/* Counts the next generation in another way than the judge. */
static void make(const int32_t *now, int32_t *next, int reach, int self, int two, int born)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int count = self ? now[y * SIDE + x] : 0;
            for (int i = 0; i < 8; i++) {
                static const int dx[8] = {0, 0, 1, -1, 1, 1, -1, -1},
                                 dy[8] = {1, -1, 0, 0, 1, -1, 1, -1};
                const int to_x = x + dx[i], to_y = y + dy[i];
                const int out = to_x < 0 || to_y < 0 || to_x >= SIDE || to_y >= SIDE;
                if (i >= reach % 10 || (reach > 10 && out)) continue;
                count += now[(to_y + SIDE) % SIDE * SIDE + (to_x + SIDE) % SIDE];
            }
            const int alive = now[y * SIDE + x];
            next[y * SIDE + x] = count == 3 || (count == 2 && (alive ? two : born));
        }
}

/* `reach`: number of neighbours, plus 10 where the lattice has edges. */
static const struct {
    int reach, self, two, born, generations;
    const char *words;
} slips[] = {
    {8, 0, 1, 0, 2, NULL},
    {18, 0, 1, 0, 2, "edges"},
    {4, 0, 1, 0, 2, "four neighbours"},
    {8, 1, 1, 0, 2, "nine neighbours"},
    {8, 0, 0, 0, 2, "living cell with two neighbours dies"},
    {8, 0, 1, 1, 2, "dead cell with two neighbours"},
    {8, 0, 1, 0, 1, "the generation before"},
    {8, 0, 1, 0, 3, "the generation after"},
};

START_TEST(slips_are_named)
{
    static const char soup[] = "##.#..#."
                               "#..##..#"
                               ".##..#.."
                               "#.#.#..#"
                               "..##..#."
                               "#....##."
                               ".#.#..#."
                               "##..#..#";
    int32_t cells[CELLS], now[CELLS], next[CELLS];
    const struct torus torus = {SIDE, SIDE, cells};

    draw(cells, soup);
    memcpy(now, cells, sizeof now);
    for (int g = 0; g < slips[_i].generations; g++) {
        make(now, next, slips[_i].reach, slips[_i].self, slips[_i].two, slips[_i].born);
        memcpy(now, next, sizeof now);
    }
    int32_t *const right = torus_generation(&torus, 2);
    ck_assert_int_eq(memcmp(right, now, sizeof now) == 0, slips[_i].words == NULL);
    free(right);
    if (slips[_i].words == NULL) return;
    const char *sentence = torus_explain(&torus, 2, now);
    ck_assert_ptr_nonnull(sentence);
    ck_assert_msg(strstr(sentence, slips[_i].words) != NULL, "%s", sentence);
}
END_TEST

START_TEST(what_is_not_known_is_not_explained)
{
    int32_t cells[CELLS], found[CELLS];
    const struct torus torus = {SIDE, SIDE, cells};
    draw(cells, glider);
    draw(found, glider);
    found[9] = 7;
    ck_assert_ptr_null(torus_explain(&torus, 0, found));
    ck_assert_ptr_null(torus_explain(&torus, 5, found));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("torus");
    TCase *tests = tcase_create("torus");
    tcase_add_test(tests, a_glider_goes_around_the_torus);
    tcase_add_test(tests, a_torus_need_not_be_square);
    tcase_add_loop_test(tests, wide_and_narrow_rows_are_counted_alike, 1, 65);
    tcase_add_loop_test(tests, slips_are_named, 0, (int)(sizeof slips / sizeof *slips));
    tcase_add_test(tests, what_is_not_known_is_not_explained);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
