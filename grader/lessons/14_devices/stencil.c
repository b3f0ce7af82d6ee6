#include "grader/lessons/14_devices/stencil.h"
#include "grader/base/messages.h"
#include "kernels/stencil.h"

#include <stdlib.h>
#include <string.h>

uint32_t stencil_first_row(const struct stencil_grid *grid, uint32_t i)
{
    const uint32_t more = grid->rows % grid->bands;
    return i * (grid->rows / grid->bands) + (i < more ? i : more);
}

/* All rounds of stirring are one: factor * cell + addend. */
struct stirring {
    uint64_t factor, addend;
};

static struct stirring all_rounds(void)
{
    struct stirring all = {1, 0};
    for (int round = 0; round < STENCIL_ROUNDS; round++) {
        all.addend = STENCIL_STIR(all.addend);
        all.factor = 75 * all.factor % STENCIL_MODULUS;
    }
    return all;
}

/* Makes a step of one row; `above` and `below` NULL: zeros. */
static void make_row(const struct stirring *stirring, const int32_t *above, const int32_t *row,
                     const int32_t *below, int32_t *to, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) {
        const uint64_t left = i > 0 ? (uint64_t)row[i - 1] : 0,
                       right = i + 1 < columns ? (uint64_t)row[i + 1] : 0;
        const uint64_t mixed = STENCIL_MIX((uint64_t)row[i], above != NULL ? (uint64_t)above[i] : 0,
                                           below != NULL ? (uint64_t)below[i] : 0, left, right);
        to[i] = (int32_t)((stirring->factor * mixed + stirring->addend) % STENCIL_MODULUS);
    }
}

/* Makes a step of the rows from `first` to before `end`. Rows beyond them come from `beside`, or
 * are 0 where that is NULL. */
static void make_band(const struct stencil_grid *grid, const struct stirring *stirring,
                      const int32_t *now, const int32_t *beside, int32_t *next, uint32_t first,
                      uint32_t end)
{
    const size_t columns = grid->columns;
    for (uint32_t row = first; row < end; row++) {
        const int32_t *of_above = row > first ? now : row > 0 ? beside : NULL;
        const int32_t *of_below = row + 1 < end ? now : row + 1 < grid->rows ? beside : NULL;
        make_row(stirring, of_above != NULL ? of_above + (row - 1) * columns : NULL,
                 now + row * columns, of_below != NULL ? of_below + (row + 1) * columns : NULL,
                 next + row * columns, grid->columns);
    }
}

int32_t *stencil_steps(const struct stencil_grid *grid, uint32_t steps,
                       enum stencil_borders borders)
{
    const size_t bytes = (size_t)grid->rows * grid->columns * sizeof(int32_t);
    const struct stirring stirring = all_rounds();
    int32_t *now = malloc(bytes), *next = malloc(bytes);

    if (now == NULL || next == NULL) {
        free(now);
        free(next);
        return NULL;
    }
    memcpy(now, grid->cells, bytes);
    for (uint32_t step = 0; step < steps; step++) {
        const int32_t *beside = borders == STENCIL_EACH_STEP ? now
                                : borders == STENCIL_ONCE    ? grid->cells
                                                             : NULL;
        for (uint32_t i = 0; i < grid->bands; i++)
            make_band(grid, &stirring, now, beside, next, stencil_first_row(grid, i),
                      stencil_first_row(grid, i + 1));
        int32_t *const made = next;
        next = now;
        now = made;
    }
    free(next);
    return now;
}

static bool is_made_so(const struct stencil_grid *grid, uint32_t steps,
                       enum stencil_borders borders, const int32_t *found)
{
    const size_t bytes = (size_t)grid->rows * grid->columns * sizeof(int32_t);
    int32_t *made = stencil_steps(grid, steps, borders);
    const bool same = made != NULL && memcmp(made, found, bytes) == 0;
    free(made);
    return same;
}

const char *stencil_explain(const struct stencil_grid *grid, uint32_t steps, const int32_t *found)
{
    if (grid->bands > 1 && is_made_so(grid, steps, STENCIL_ONCE, found))
        return N_("This is what comes out when the bands have their neighbours' rows of the "
                  "beginning, and get no newer ones.");
    if (grid->bands > 1 && is_made_so(grid, steps, STENCIL_NEVER, found))
        return N_("This is what comes out when each band is a grid of its own: beyond its edge it "
                  "finds zeros, and not its neighbours' rows.");
    if (is_made_so(grid, steps + 1, STENCIL_EACH_STEP, found))
        return N_("This is the grid after one step more.");
    if (steps > 0 && is_made_so(grid, steps - 1, STENCIL_EACH_STEP, found))
        return N_("This is the grid after one step less.");
    return NULL;
}
