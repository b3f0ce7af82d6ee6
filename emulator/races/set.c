#include "emulator/races/set.h"

#include "emulator/base/pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY_RANGES = 4096, /* with more ranges, one bit per byte is smaller and no slower */
    AT_ONCE = 16,       /* words that are compared at once */
};

static uint64_t bits_base(const struct races_set *set)
{
    return set->bounds.first & ~63ull;
}

static uint64_t bits_words(const struct races_set *set)
{
    return (set->bounds.end - bits_base(set) + 63) / 64;
}

/* Returns how many of the first `count` words are equal to `word`, in steps of AT_ONCE words. A
 * fast path: a kernel mostly touches all of an array or nothing of it. */
static uint64_t words_skip(const uint64_t *words, uint64_t count, uint64_t word)
{
    uint64_t skipped = 0;
    while (count - skipped >= AT_ONCE) {
        uint64_t other = 0;
        for (int i = 0; i < AT_ONCE; i++) other |= words[skipped + i] ^ word;
        if (other != 0) break;
        skipped += AT_ONCE;
    }
    return skipped;
}

/* Returns how many of the first `count` words of `b` have no bit that the word of `a`, each bit of
 * which is turned where `turned` has one, has as well, in steps of AT_ONCE words. */
static uint64_t words_apart(const uint64_t *a, const uint64_t *b, uint64_t count, uint64_t turned)
{
    uint64_t skipped = 0;
    while (count - skipped >= AT_ONCE) {
        uint64_t both = 0;
        for (int i = 0; i < AT_ONCE; i++) both |= (a[skipped + i] ^ turned) & b[skipped + i];
        if (both != 0) break;
        skipped += AT_ONCE;
    }
    return skipped;
}

/* Returns the first byte at or after `at` whose bit is `wanted`, or `end` when there is none before
 * it. */
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

/* Returns the number of ranges in the bits; counting stops soon after `most`. */
static size_t bits_count_ranges(const uint64_t *bits, uint64_t words, size_t most)
{
    size_t count = 0;
    uint64_t before = 0; /* bit 0: the last bit of the preceding word */
    for (uint64_t k = 0; k < words && count <= most; k++) {
        k += words_skip(&bits[k], words - k, before ? UINT64_MAX : 0);
        if (k == words) break;
        count += (size_t)__builtin_popcountll(bits[k] & ~(bits[k] << 1 | before));
        before = bits[k] >> 63;
    }
    return count;
}

/* Returns the 64-bit word with the bit of byte `at`; bits of bytes outside `within` are cleared. */
static uint64_t bits_word(const struct races_set *set, uint64_t at,
                          const struct races_range *within)
{
    const uint64_t first = at & ~63ull;
    uint64_t word = set->bits[(first - bits_base(set)) / 64];
    if (first < within->first) word &= UINT64_MAX << (within->first - first);
    if (within->end - first < 64) word &= ~(UINT64_MAX << (within->end - first));
    return word;
}

/* As races_set_common, for the bytes of `within`, which lies inside the bounds of both sets.
 * `other` may be NULL and then stands for a set of all bytes. */
static uint64_t bits_common(const struct races_set *set, const struct races_set *other,
                            const struct races_range *within, uint64_t *first)
{
    uint64_t bytes = 0, at = within->first & ~63ull;
    if (other != NULL)
        at += 64 * words_apart(&set->bits[(at - bits_base(set)) / 64],
                               &other->bits[(at - bits_base(other)) / 64], (within->end - at) / 64,
                               0);
    for (; at < within->end; at += 64) {
        uint64_t word = bits_word(set, at, within);
        if (word == 0) continue;
        if (other != NULL) word &= bits_word(other, at, within);
        if (word == 0) continue;
        if (bytes == 0) *first = at + (uint64_t)__builtin_ctzll(word);
        bytes += (uint64_t)__builtin_popcountll(word);
    }
    return bytes;
}

/* Returns true when `a` contains every byte of `b`; the bounds of `a` contain those of `b`, outside
 * of which no bit of `b` is set. */
static bool bits_cover(const struct races_set *a, const struct races_set *b)
{
    const uint64_t base = bits_base(b), count = bits_words(b);
    const uint64_t *of_a = &a->bits[(base - bits_base(a)) / 64];
    uint64_t k = words_apart(of_a, b->bits, count, UINT64_MAX);
    while (k < count && (b->bits[k] & ~of_a[k]) == 0) k++;
    return k == count;
}

/* Finds the set's first range that ends after `at`. Returns false when there is none. */
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
    if (height > 1 && pitch == width) { /* consecutive rows are one range */
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

/* Windows of a bitmap, as races_set_bits takes them. */
struct windows {
    const uint64_t *bits;
    const struct races_range *each;
    size_t count;
};

/* Stores the `count` ranges of the windows' bits in the set. */
static bool take_ranges(struct races_set *set, const struct windows *windows, size_t count)
{
    set->ranges = calloc(count, sizeof *set->ranges);
    if (set->ranges == NULL) return false;
    for (size_t k = 0; k < windows->count; k++) {
        const uint64_t end = windows->each[k].end;
        struct races_range range = {0, windows->each[k].first};
        for (;;) {
            range.first = bits_find(windows->bits, 0, range.end, end, true);
            if (range.first == end) break;
            range.end = bits_find(windows->bits, 0, range.first, end, false);
            set->ranges[set->range_count++] = range;
        }
    }
    assert(set->range_count == count);
    return true;
}

/* Copies the windows' bits to the set. */
static bool take_bits(struct races_set *set, const struct windows *windows)
{
    const uint64_t base = bits_base(set), words = bits_words(set);
    set->bits = pages_take(words * sizeof *set->bits);
    if (set->bits == NULL) return false;
    for (size_t k = 0; k < windows->count; k++) {
        struct races_range here = windows->each[k];
        if (here.first < base) here.first = base;
        if (here.end > base + 64 * words) here.end = base + 64 * words;
        if (here.first >= here.end) continue;
        memcpy(&set->bits[(here.first - base) / 64], &windows->bits[here.first / 64],
               (here.end - here.first) / 64 * sizeof *set->bits);
    }
    return true;
}

/* Finds the first byte of the windows' bits and one past the last. There is at least one. */
static struct races_range bounds_of(const struct windows *windows)
{
    struct races_range bounds = {0, 0};
    size_t k = 0;
    for (; k < windows->count; k++) {
        bounds.first =
            bits_find(windows->bits, 0, windows->each[k].first, windows->each[k].end, true);
        if (bounds.first < windows->each[k].end) break;
    }
    for (k = windows->count; k-- > 0;) {
        uint64_t word = windows->each[k].end / 64;
        while (word > windows->each[k].first / 64 && windows->bits[word - 1] == 0) word--;
        if (word == windows->each[k].first / 64) continue;
        bounds.end = 64 * word - (uint64_t)__builtin_clzll(windows->bits[word - 1]);
        break;
    }
    return bounds;
}

bool races_set_bits(struct races_set *set, const uint64_t *bits, const struct races_range *windows,
                    size_t count)
{
    const struct windows all = {bits, windows, count};
    size_t ranges = 0;
    for (size_t k = 0; k < count && ranges <= MANY_RANGES; k++)
        ranges += bits_count_ranges(&bits[windows[k].first / 64],
                                    (windows[k].end - windows[k].first) / 64, MANY_RANGES);
    *set = (struct races_set){0};
    if (ranges == 0) return true;
    set->bounds = bounds_of(&all);
    if (ranges == 1) return true;
    return ranges <= MANY_RANGES ? take_ranges(set, &all, ranges) : take_bits(set, &all);
}

void races_set_free(struct races_set *set)
{
    free(set->ranges);
    pages_give(set->bits, bits_words(set) * sizeof *set->bits);
    *set = (struct races_set){0};
}

bool races_set_empty(const struct races_set *set)
{
    return set->bounds.first == set->bounds.end;
}

/* As races_set_common, for the bytes of `within`: `set` is kept as bits, `ranges` is not. */
static uint64_t bits_in_ranges(const struct races_set *set, const struct races_set *ranges,
                               const struct races_range *within, uint64_t *first)
{
    struct races_range range;
    uint64_t bytes = 0, ignored;
    for (uint64_t at = within->first; next_range(ranges, at, &range); at = range.end) {
        if (range.first < at) range.first = at;
        if (range.end > within->end) range.end = within->end;
        if (range.first >= range.end) break;
        bytes += bits_common(set, NULL, &range, bytes == 0 ? first : &ignored);
    }
    return bytes;
}

/* As races_set_common, for two sets neither of which is kept as bits. */
static uint64_t ranges_common(const struct races_set *a, const struct races_set *b,
                              const struct races_range *within, uint64_t *first)
{
    struct races_range x, y;
    uint64_t bytes = 0, at = within->first;
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

uint64_t races_set_common(const struct races_set *a, const struct races_set *b, uint64_t *first)
{
    const struct races_range *x = &a->bounds, *y = &b->bounds;
    const struct races_range within = {x->first > y->first ? x->first : y->first,
                                       x->end < y->end ? x->end : y->end};
    if (within.first >= within.end) return 0;
    if (a->bits != NULL && b->bits != NULL) return bits_common(a, b, &within, first);
    if (a->bits != NULL) return bits_in_ranges(a, b, &within, first);
    if (b->bits != NULL) return bits_in_ranges(b, a, &within, first);
    return ranges_common(a, b, &within, first);
}

bool races_set_covers(const struct races_set *a, const struct races_set *b)
{
    struct races_range x, y;
    uint64_t at = b->bounds.first;
    if (a->bounds.first > b->bounds.first || a->bounds.end < b->bounds.end)
        return races_set_empty(b);
    if (a->ranges == NULL && a->bits == NULL) return true;
    if (a->bits != NULL && b->bits != NULL) return bits_cover(a, b);
    while (next_range(b, at, &y)) {
        if (y.first > at) at = y.first;
        if (!next_range(a, at, &x) || x.first > at) return false;
        at = x.end < y.end ? x.end : y.end;
    }
    return true;
}
