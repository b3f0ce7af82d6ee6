/* hash: hashes of bytes, words and texts (FNV-1a), and multiplicative hashing of keys. For hash
 * tables, checksums and seeds; an adversary can construct collisions.
 *
 * Source: Fowler, Noll, Vo (draft-eastlake-fnv); Steele, Lea, Flood, "Fast Splittable Pseudorandom
 * Number Generators" (2014).
 */
#ifndef OVERLAP_EMULATOR_BASE_HASH_H
#define OVERLAP_EMULATOR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)
/* 2^64 divided by the golden ratio: its multiples are spread evenly over the 64-bit numbers. */
#define HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Mixes one more byte into `hash`. `value` may also be a whole 64-bit word, which is faster, but
 * the word's high bits then reach fewer bits of the hash. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* Returns the hash of `size` bytes, starting from HASH_START. */
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

/* Spreads the low bits of a key over the upper half of the result, also where keys are multiples of
 * some number (addresses, for example). A hash table should take its index from the upper half. */
static inline uint64_t hash_spread(uint64_t key)
{
    return key * HASH_GOLDEN;
}

#endif
