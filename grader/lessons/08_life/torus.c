#include "grader/lessons/08_life/torus.h"
#include "grader/base/messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The rule of the game, and variations that are common mistakes. */
struct rule {
    bool edges;           /* no torus: cells beyond the edges are dead */
    bool four;            /* the corners do not count as neighbours */
    bool itself;          /* the cell counts as its own neighbour */
    bool two_is_death;    /* a living cell dies with two neighbours */
    bool two_is_birth;    /* a dead cell becomes alive with two neighbours */
    int32_t more;         /* additional generations */
    const char *sentence; /* the explanation */
};

static const struct rule right;

static const struct rule slips[] = {
    {.edges = true,
     .sentence =
         N_("It is what comes of a lattice with edges: the cells beyond them count as dead. "
            "On a torus the column left of the first is the last.")},
    {.four = true,
     .sentence = N_("It is what comes of four neighbours: the four at the corners count as well.")},
    {.itself = true,
     .sentence = N_("It is what comes of nine neighbours: the cell itself is counted among them.")},
    {.two_is_death = true,
     .sentence = N_("It is what comes when a living cell with two neighbours dies; it goes on.")},
    {.two_is_birth = true,
     .sentence = N_("It is what comes when a dead cell with two neighbours comes alive; that takes "
                    "three.")},
    {.more = -1, .sentence = N_("It is the generation before.")},
    {.more = 1, .sentence = N_("It is the generation after.")},
};

static bool alive_at(const int32_t *cells, const struct torus *torus, int64_t x, int64_t y,
                     bool edges)
{
    const int64_t width = torus->width, height = torus->height;
    if (edges && (x < 0 || y < 0 || x >= width || y >= height)) return false;
    return cells[(y + height) % height * width + (x + width) % width] != 0;
}

static bool next_at(const int32_t *cells, const struct torus *torus, int64_t x, int64_t y,
                    const struct rule *rule)
{
    const bool self = cells[y * torus->width + x] != 0;
    int count = rule->itself && self;

    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if ((dx != 0 || dy != 0) && !(rule->four && dx != 0 && dy != 0))
                count += alive_at(cells, torus, x + dx, y + dy, rule->edges);
    if (count == 2) return self ? !rule->two_is_death : rule->two_is_birth;
    return count == 3;
}

static int32_t *make(const struct torus *torus, uint32_t generation, const struct rule *rule)
{
    const size_t size = (size_t)torus->width * torus->height * sizeof(int32_t);
    int32_t *now = malloc(size), *next = malloc(size);
    if (now == NULL || next == NULL) goto fail;
    memcpy(now, torus->cells, size);
    for (uint32_t g = 0; g < generation; g++) {
        for (uint32_t y = 0; y < torus->height; y++)
            for (uint32_t x = 0; x < torus->width; x++)
                next[y * torus->width + x] = next_at(now, torus, x, y, rule);
        int32_t *const made = next;
        next = now;
        now = made;
    }
    free(next);
    return now;
fail:
    free(now);
    free(next);
    return NULL;
}

/* ---- one bit per cell --------------------------------------------------------------------------
 */

enum { ROW_MOST = 64 }; /* cells of a row */

/* Computes the next generation of rows[1] from its neighbours: adds eight cells bit by bit; the
 * count saturates at four. */
static uint64_t next_row(const uint64_t rows[3], uint32_t width)
{
    const uint64_t all = width == ROW_MOST ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    uint64_t ones = 0, twos = 0, fours = 0;

    for (int i = 0; i < 3; i++) {
        const uint64_t row = rows[i];
        const uint64_t beside[3] = {(row << 1 | row >> (width - 1)) & all,
                                    (row >> 1 | row << (width - 1)) & all, row};
        for (int k = 0; k < (i == 1 ? 2 : 3); k++) {
            const uint64_t carry = ones & beside[k];
            ones ^= beside[k];
            fours |= twos & carry;
            twos ^= carry;
        }
    }
    return twos & ~fours & (ones | rows[1]);
}

/* As make, with the right rule, for rows that fit into a word; a hundred times as fast. */
static int32_t *make_right(const struct torus *torus, uint32_t generation)
{
    const uint32_t width = torus->width, height = torus->height;
    int32_t *const cells = malloc((size_t)width * height * sizeof *cells);
    uint64_t *now = calloc(height, sizeof *now), *next = calloc(height, sizeof *next);

    if (cells == NULL || now == NULL || next == NULL) {
        free(cells);
        free(now);
        free(next);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)width * height; i++)
        now[i / width] |= (uint64_t)(torus->cells[i] != 0) << i % width;
    for (uint32_t g = 0; g < generation; g++) {
        for (uint32_t y = 0; y < height; y++) {
            const uint64_t rows[3] = {now[(y + height - 1) % height], now[y],
                                      now[(y + 1) % height]};
            next[y] = next_row(rows, width);
        }
        uint64_t *const made = next;
        next = now;
        now = made;
    }
    for (size_t i = 0; i < (size_t)width * height; i++) cells[i] = now[i / width] >> i % width & 1;
    free(now);
    free(next);
    return cells;
}

int32_t *torus_generation(const struct torus *torus, uint32_t generation)
{
    return torus->width <= ROW_MOST ? make_right(torus, generation)
                                    : make(torus, generation, &right);
}

const char *torus_explain(const struct torus *torus, uint32_t generation, const int32_t *found)
{
    const size_t size = (size_t)torus->width * torus->height * sizeof(int32_t);

    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        if (slips[i].more < 0 && generation == 0) continue;
        int32_t *const wrong = make(torus, generation + (uint32_t)slips[i].more, &slips[i]);
        const bool it_is = wrong != NULL && memcmp(wrong, found, size) == 0;
        free(wrong);
        if (it_is) return _(slips[i].sentence);
    }
    return NULL;
}
