/* values: arrays computed from a secret seed, the same on both sides of an exchange, for inputs
 * that are too large to pass. The parent draws the seeds anew for every run.
 */
#ifndef OVERLAP_GRADER_LESSONS_VALUES_H
#define OVERLAP_GRADER_LESSONS_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* Returns the seed of another array derived from the same seed: "the second call's". */
static inline uint64_t values_seed(uint64_t seed, uint32_t round)
{
    return seed + round * 0xd1b54a32d192ed03ull;
}

/* Returns element `index`: between -1000 and 1000, with 24 random bits. */
static inline float values_at(uint64_t seed, size_t index)
{
    uint64_t x = seed + index * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (float)((int32_t)(x >> 40) - 0x800000) * (1000.0f / 0x800000);
}

#endif
