/* torus: the Game of Life on the host, and explanations of wrong lattices, found by simulating
 * common mistakes. Arithmetic only.
 */
#ifndef OVERLAP_GRADER_LESSONS_08_LIFE_TORUS_H
#define OVERLAP_GRADER_LESSONS_08_LIFE_TORUS_H

#include <stdint.h>

struct torus {
    uint32_t width, height;
    const int32_t *cells; /* generation 0, row by row */
};

/* Returns a new lattice (to be freed): the generation of that number. NULL: no memory. */
int32_t *torus_generation(const struct torus *torus, uint32_t generation);

/* Returns a sentence that explains how the wrong lattice `found` came about; NULL: not known. */
const char *torus_explain(const struct torus *torus, uint32_t generation, const int32_t *found);

#endif
