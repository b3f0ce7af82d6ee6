/* stencil: the steps of a grid on the host, for comparison, and what a wrong grid looks like. */
#ifndef OVERLAP_GRADER_LESSONS_14_DEVICES_STENCIL_H
#define OVERLAP_GRADER_LESSONS_14_DEVICES_STENCIL_H

#include <stdbool.h>
#include <stdint.h>

struct stencil_grid {
    uint32_t rows, columns;
    uint32_t bands; /* it is cut into so many, or is one if the neighbours' rows are always known */
    const int32_t *cells;
};

/* How bands come to know the rows beside them. */
enum stencil_borders {
    STENCIL_EACH_STEP, /* as it has to be: the grid could as well be one band */
    STENCIL_ONCE,      /* before the first step, and never again */
    STENCIL_NEVER,     /* they take 0 for them */
};

/* Returns the first row of band i; of i = bands the number of rows. */
uint32_t stencil_first_row(const struct stencil_grid *grid, uint32_t i);

/* Returns the grid after `steps` steps, to be freed; NULL: no memory. */
int32_t *stencil_steps(const struct stencil_grid *grid, uint32_t steps,
                       enum stencil_borders borders);

/* Returns a sentence that says which slip would make `found` of the grid, or NULL. */
const char *stencil_explain(const struct stencil_grid *grid, uint32_t steps, const int32_t *found);

#endif
