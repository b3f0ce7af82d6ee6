/* hash: numbers made of bytes, words and texts (FNV-1a), and numbers that look drawn (splitmix64).
 * For tables, sums and seeds; never against somebody who looks for two of the same hash.
 *
 * Source: Fowler, Noll, Vo (draft-eastlake-fnv); Steele, Lea, Flood, "Fast Splittable Pseudorandom
 * Number Generators" (2014).
 */
#ifndef OVERLAP_EMULATOR_BASE_HASH_H
#define OVERLAP_EMULATOR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)
/* 2^64 divided by the golden ratio: multiples of it are spread evenly. */
#define HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* `hash` and one more byte; or a whole word at once, which is quicker and mixes its high bits
 * less. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* HASH_START and these bytes. */
static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < size; i++) hash = hash_add(hash, at[i]);
    return hash;
}

static inline uint64_t hash_text(const char *text)
{
    uint64_t hash = HASH_START;
    for (; *text != '\0'; text++) hash = hash_add(hash, (unsigned char)*text);
    return hash;
}

/* A key that may be a multiple of something, an address for example, with its low bits spread over
 * the upper half: for a table, take those. */
static inline uint64_t hash_spread(uint64_t key)
{
    return key * HASH_GOLDEN;
}

#endif
