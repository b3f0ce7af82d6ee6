/* races_set: a set of bytes that an operation touches. It is kept as one range, as several ranges
 * or, when there are too many of them, as one bit per byte.
 *
 * This module knows nothing of memory or operations; bytes are offsets. A set owns its arrays. */
#ifndef OVERLAP_RACES_SET_H
#define OVERLAP_RACES_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct races_range {
    uint64_t first, end; /* `end` is the first byte outside */
};

static inline bool races_range_overlap(const struct races_range *one,
                                       const struct races_range *other)
{
    return one->first < other->end && other->first < one->end;
}

struct races_set {
    struct races_range bounds;  /* the first byte and one past the last; empty: first == end */
    struct races_range *ranges; /* ascending and disjoint; NULL: one range, the bounds, or bits */
    size_t range_count;
    uint64_t *bits; /* bit i: byte (bounds.first rounded down to 64) + i; NULL: none */
};

/* Makes the set of `height` rows of `width` bytes, `pitch` bytes apart, in each of `depth` slices,
 * which are `slice` bytes apart; `first` is the first byte. Returns false when the host has no
 * memory. */
bool races_set_rows(struct races_set *set, uint64_t first, uint64_t width, uint64_t pitch,
                    uint64_t height, uint64_t slice, uint64_t depth);
/* Makes a set from a bitmap in which bit i stands for byte i. Only the bits in the `count` windows
 * are looked at. These are ascending and apart, and consist of whole words of 64 bits. Returns
 * false when the host has no memory. */
bool races_set_bits(struct races_set *set, const uint64_t *bits, const struct races_range *windows,
                    size_t count);
void races_set_free(struct races_set *set);

bool races_set_empty(const struct races_set *set);
/* Returns the number of bytes that both sets contain, and the first of them in *first. */
uint64_t races_set_common(const struct races_set *a, const struct races_set *b, uint64_t *first);
/* Returns true when `a` contains every byte of `b`. */
bool races_set_covers(const struct races_set *a, const struct races_set *b);

#endif
