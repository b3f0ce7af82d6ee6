/* random: the random numbers from which inputs are drawn (xoshiro256**, seeded through splitmix64;
 * D. Blackman and S. Vigna, https://prng.di.unimi.it). The parent seeds the generator from
 * getrandom(2), or from --seed to reproduce a run; the seed never reaches the child. Not for
 * cryptography.
 */
#ifndef OVERLAP_GRADER_BASE_RANDOM_H
#define OVERLAP_GRADER_BASE_RANDOM_H

#include <stdint.h>

struct random_source {
    uint64_t state[4];
};

void random_seed(struct random_source *source, uint64_t seed);

/* Makes an independent generator for the part called `label`, so that the draws of one part do not
 * shift those of the next. */
void random_derive(struct random_source *source, uint64_t seed, const char *label);

/* Returns 64 random bits. */
uint64_t random_bits(struct random_source *source);

/* Uniform in [0, bound); bound > 0. */
uint64_t random_below(struct random_source *source, uint64_t bound);

/* Uniform in [low, high], both ends included. */
int64_t random_between(struct random_source *source, int64_t low, int64_t high);

/* Uniform in [low, high). */
double random_real(struct random_source *source, double low, double high);

/* Draws an unpredictable seed or part of a key from the system. Returns 0, or -1 with errno. */
int random_secret(uint64_t *seed);

#endif
