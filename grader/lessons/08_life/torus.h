/* torus: the Game of Life on the host, and what a wrong lattice looks like: it is what comes of one
 * of the usual slips. Arithmetic only.
 */
#ifndef OVERLAP_GRADER_LESSONS_08_LIFE_TORUS_H
#define OVERLAP_GRADER_LESSONS_08_LIFE_TORUS_H

#include <stdint.h>

struct torus {
    uint32_t width, height;
    const int32_t *cells; /* generation 0, row by row */
};

/* A new lattice (free it): the generation of that number. NULL: no memory. */
int32_t *torus_generation(const struct torus *torus, uint32_t generation);

/* A sentence that says how `found`, which is wrong, came to be; NULL: not known. */
const char *torus_explain(const struct torus *torus, uint32_t generation, const int32_t *found);

#endif
