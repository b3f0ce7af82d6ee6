#include "emulator/races/set.h"

#include <stdlib.h>
#include <string.h>

enum { MANY_RANGES = 4096 }; /* from here on a bit per byte is smaller and no slower */

static uint64_t bits_base(const struct races_set *set)
{
    return set->bounds.first & ~63ull;
}

/* From the first of `count` words that is not `word` on; a kernel mostly touches all of an array or
 * nothing of it. */
static uint64_t words_skip(const uint64_t *words, uint64_t count, uint64_t word)
{
    enum { AT_ONCE = 16 };
    uint64_t skipped = 0;
    while (count - skipped >= AT_ONCE) {
        uint64_t other = 0;
        for (int i = 0; i < AT_ONCE; i++) other |= words[skipped + i] ^ word;
        if (other != 0) break;
        skipped += AT_ONCE;
    }
    return skipped;
}

/* The first byte at or after `at` whose bit is `wanted`; `end` when there is none before it. */
static uint64_t bits_find(const uint64_t *bits, uint64_t base, uint64_t at, uint64_t end,
                          bool wanted)
{
    while (at < end) {
        const uint64_t bit = at - base;
        if (bit % 64 == 0) {
            const uint64_t skipped =
                words_skip(&bits[bit / 64], (end - at) / 64, wanted ? 0 : UINT64_MAX);
            if (skipped > 0) {
                at += skipped * 64;
                continue;
            }
        }
        uint64_t word = bits[bit / 64];
        if (!wanted) word = ~word;
        word >>= bit % 64;
        if (word != 0) {
            at += (uint64_t)__builtin_ctzll(word);
            return at < end ? at : end;
        }
        at += 64 - bit % 64;
    }
    return end;
}

/* The set's first range that ends after `at`. Returns false when there is none. */
static bool next_range(const struct races_set *set, uint64_t at, struct races_range *range)
{
    if (at < set->bounds.first) at = set->bounds.first;
    if (at >= set->bounds.end) return false;
    if (set->bits != NULL) {
        const uint64_t base = bits_base(set), end = set->bounds.end;
        range->first = bits_find(set->bits, base, at, end, true);
        range->end = bits_find(set->bits, base, range->first, end, false);
        return range->first < end;
    }
    if (set->ranges == NULL) {
        *range = set->bounds;
        return true;
    }
    size_t low = 0, high = set->range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->ranges[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == set->range_count) return false;
    *range = set->ranges[low];
    return true;
}

bool races_set_rows(struct races_set *set, uint64_t first, uint64_t width, uint64_t pitch,
                    uint64_t height, uint64_t slice, uint64_t depth)
{
    *set = (struct races_set){0};
    if (width == 0 || height == 0 || depth == 0) return true;
    if (height > 1 && pitch == width) { /* rows that follow each other are one */
        width *= height;
        height = 1;
    }
    if (height == 1 && depth > 1 && slice == width) {
        width *= depth;
        depth = 1;
    }
    set->bounds.first = first;
    set->bounds.end = first + (depth - 1) * slice + (height - 1) * pitch + width;
    if (height == 1 && depth == 1) return true;
    set->ranges = calloc(height * depth, sizeof *set->ranges);
    if (set->ranges == NULL) return false;
    for (uint64_t z = 0; z < depth; z++)
        for (uint64_t y = 0; y < height; y++) {
            const uint64_t at = first + z * slice + y * pitch;
            set->ranges[set->range_count++] = (struct races_range){at, at + width};
        }
    return true;
}

bool races_set_bits(struct races_set *set, struct races_range within, const uint64_t *bits)
{
    const uint64_t base = within.first;
    struct races_range range = {base, base};
    size_t count = 0;

    *set = (struct races_set){0};
    for (;;) {
        range.first = bits_find(bits, base, range.end, within.end, true);
        if (range.first == within.end) break;
        range.end = bits_find(bits, base, range.first, within.end, false);
        if (count++ == 0) set->bounds.first = range.first;
        set->bounds.end = range.end;
        if (count > MANY_RANGES) break;
    }
    if (count <= 1) return true;
    if (count <= MANY_RANGES) {
        set->ranges = calloc(count, sizeof *set->ranges);
        if (set->ranges == NULL) return false;
        range.end = base;
        while (set->range_count < count) {
            range.first = bits_find(bits, base, range.end, within.end, true);
            range.end = bits_find(bits, base, range.first, within.end, false);
            set->ranges[set->range_count++] = range;
        }
        return true;
    }
    uint64_t last = (within.end - base - 1) / 64;
    while (bits[last] == 0) last--;
    set->bounds.end = base + 64 * last + 64 - (uint64_t)__builtin_clzll(bits[last]);
    const uint64_t skipped = bits_base(set) - base;
    const uint64_t words = (set->bounds.end - bits_base(set) + 63) / 64;
    set->bits = malloc(words * sizeof *set->bits);
    if (set->bits == NULL) return false;
    memcpy(set->bits, bits + skipped / 64, words * sizeof *set->bits);
    return true;
}

void races_set_free(struct races_set *set)
{
    free(set->ranges);
    free(set->bits);
    *set = (struct races_set){0};
}

bool races_set_empty(const struct races_set *set)
{
    return set->bounds.first == set->bounds.end;
}

uint64_t races_set_common(const struct races_set *a, const struct races_set *b, uint64_t *first)
{
    struct races_range x, y;
    uint64_t bytes = 0;
    uint64_t at = a->bounds.first > b->bounds.first ? a->bounds.first : b->bounds.first;
    while (next_range(a, at, &x) && next_range(b, at, &y)) {
        uint64_t from = x.first > y.first ? x.first : y.first;
        if (from < at) from = at;
        const uint64_t end = x.end < y.end ? x.end : y.end;
        if (from < end) {
            if (bytes == 0) *first = from;
            bytes += end - from;
        }
        at = end;
    }
    return bytes;
}

bool races_set_covers(const struct races_set *a, const struct races_set *b)
{
    struct races_range x, y;
    uint64_t at = b->bounds.first;
    if (a->bounds.first > b->bounds.first || a->bounds.end < b->bounds.end)
        return races_set_empty(b);
    while (next_range(b, at, &y)) {
        if (y.first > at) at = y.first;
        if (!next_range(a, at, &x) || x.first > at) return false;
        at = x.end < y.end ? x.end : y.end;
    }
    return true;
}
