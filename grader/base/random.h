/* random: the numbers from which inputs are drawn (xoshiro256**, seeded through splitmix64; D.
 * Blackman and S. Vigna, https://prng.di.unimi.it). The parent seeds it from getrandom(2), or from
 * --seed to reproduce a run; the seed never reaches the child. Not for cryptography.
 */
#ifndef OVERLAP_GRADER_BASE_RANDOM_H
#define OVERLAP_GRADER_BASE_RANDOM_H

#include <stdint.h>

struct random_source {
    uint64_t state[4];
};

void random_seed(struct random_source *source, uint64_t seed);

/* A source of its own for the part called `label`, so that what one part draws does not shift what
 * the next one gets. */
void random_derive(struct random_source *source, uint64_t seed, const char *label);

/* All 64 bits. */
uint64_t random_bits(struct random_source *source);

/* Uniform in [0, bound); bound > 0. */
uint64_t random_below(struct random_source *source, uint64_t bound);

/* Uniform in [low, high], both ends included. */
int64_t random_between(struct random_source *source, int64_t low, int64_t high);

/* Uniform in [low, high). */
double random_real(struct random_source *source, double low, double high);

/* A seed or a part of a key from the system that nobody can guess. Returns 0, or -1 with errno. */
int random_secret(uint64_t *seed);

#endif
