/* races_set: a set of bytes, as an operation touches them: one range, some ranges, or, where they
 * are too many, a bit for each byte.
 *
 * It knows nothing of memory or operations; bytes are offsets. A set owns what it points to. */
#ifndef OVERLAP_RACES_SET_H
#define OVERLAP_RACES_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct races_range {
    uint64_t first, end; /* `end` is outside */
};

struct races_set {
    struct races_range bounds;  /* the first byte and one past the last; empty: first == end */
    struct races_range *ranges; /* ascending, apart from each other; NULL: the bounds or the bits */
    size_t range_count;
    uint64_t *bits; /* bit i: byte (bounds.first rounded down to 64) + i; NULL: none */
};

/* Rows of `width` bytes, `pitch` apart, in slices `slice` apart. Returns false without memory. */
bool races_set_rows(struct races_set *set, uint64_t first, uint64_t width, uint64_t pitch,
                    uint64_t height, uint64_t slice, uint64_t depth);
/* From a bit for every byte of `within`, whose first byte is a multiple of 64 and has bit 0 of
 * `bits`; no bit beyond its end is set. */
bool races_set_bits(struct races_set *set, struct races_range within, const uint64_t *bits);
void races_set_free(struct races_set *set);

bool races_set_empty(const struct races_set *set);
/* The bytes that both have: their number, and the first of them. 0: none. */
uint64_t races_set_common(const struct races_set *a, const struct races_set *b, uint64_t *first);
/* Has `a` every byte of `b`? */
bool races_set_covers(const struct races_set *a, const struct races_set *b);

#endif
