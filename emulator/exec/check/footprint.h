/* exec_footprint: which bytes of which regions a launch loaded, stored and changed atomically, and
 * which source lines did it. Filled by the executor when a launch asks for it. It draws no
 * conclusions.
 */
#ifndef OVERLAP_EXEC_CHECK_FOOTPRINT_H
#define OVERLAP_EXEC_CHECK_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_region;

enum exec_access { EXEC_LOAD, EXEC_STORE, EXEC_ATOMIC, EXEC_ACCESS_COUNT };

struct exec_owners; /* check/owners.h */

struct exec_footprint_region {
    const struct memory_region *region;
    uint64_t *bits[EXEC_ACCESS_COUNT]; /* bit i: byte i was accessed in this way; NULL: none was */
    uint64_t words;                    /* of 64 bits, in each */
    struct exec_owners *owners;        /* NULL: not wanted */
};

/* The accesses to one region by one instruction lie between `first` and `end`. */
struct exec_footprint_site {
    const struct memory_region *region;
    enum exec_access access;
    uint64_t first, end;
    const char *file; /* owned by the program; NULL: unknown */
    uint32_t line;
    uint32_t widest; /* bytes of its largest access */
};

struct exec_footprint;

/* `met` is called before a region is accessed for the first time; may be NULL. Returns NULL without
 * memory. */
struct exec_footprint *
exec_footprint_create(void (*met)(void *user, const struct memory_region *region), void *user);
void exec_footprint_destroy(struct exec_footprint *footprint);

/* Adds the regions and bytes of `other`, but not its sites, to `footprint`. */
void exec_footprint_join(struct exec_footprint *footprint, const struct exec_footprint *other);

/* Forgets all accesses so far, but keeps the owners. */
void exec_footprint_empty(struct exec_footprint *footprint);

size_t exec_footprint_region_count(const struct exec_footprint *footprint);
const struct exec_footprint_region *exec_footprint_region_at(const struct exec_footprint *footprint,
                                                             size_t index);

/* Bytes of a region, both multiples of 64 (or beyond the region's end). */
struct exec_footprint_window {
    uint64_t first, end;
};
enum { EXEC_FOOTPRINT_WINDOWS = 16 };
/* Lists the windows, ascending and apart, that contain every byte whose bit is set in
 * region->bits[access], and returns how many they are: most launches touch little of a large
 * region. */
size_t exec_footprint_windows(const struct exec_footprint *footprint,
                              const struct exec_footprint_region *region, enum exec_access access,
                              struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS]);

size_t exec_footprint_site_count(const struct exec_footprint *footprint);
const struct exec_footprint_site *exec_footprint_site_at(const struct exec_footprint *footprint,
                                                         size_t index);

/* ---- for the executor; from several threads at once ------------------------------------------ */

/* Returns the bitmap for `access` to `region`. NULL without memory: then nothing is recorded. */
uint64_t *exec_footprint_bits(struct exec_footprint *footprint, const struct memory_region *region,
                              enum exec_access access);
/* Returns the owners of the region's bytes, made on first use. `maps` false: without tables per
 * byte; the same for the whole launch. NULL without memory. */
struct exec_owners *exec_footprint_owners(struct exec_footprint *footprint,
                                          const struct memory_region *region, bool maps);
/* The launch pauses: it may end without adding its last sites. */
void exec_footprint_pause(struct exec_footprint *footprint);
/* Adds a site, merged with the same source place's site if there is one. */
void exec_footprint_add_site(struct exec_footprint *footprint,
                             const struct exec_footprint_site *site);

/* Most bits are set already, by another warp or lane: a load is cheaper than an atomic or. */
static inline void exec_footprint_mark_word(uint64_t *word, uint64_t mask)
{
    if (mask == ~0ull)
        __atomic_store_n(word, mask, __ATOMIC_RELAXED);
    else if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) != mask)
        __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
}

/* Returns the bits of `bytes` bytes, at least one, from bit `at` on, all in one word. */
static inline uint64_t exec_footprint_mask(uint64_t at, uint64_t bytes)
{
    return ~0ull >> (64 - bytes) << at;
}

/* Sets the bits of `bytes` bytes from `offset` on. */
static inline void exec_footprint_mark(uint64_t *bits, uint64_t offset, uint64_t bytes)
{
    while (bytes > 0) {
        const uint64_t at = offset % 64;
        const uint64_t here = bytes < 64 - at ? bytes : 64 - at;
        exec_footprint_mark_word(&bits[offset / 64], exec_footprint_mask(at, here));
        offset += here;
        bytes -= here;
    }
}

/* Bits of some words that are not in the bitmaps yet: accesses that lie apart set a few bits of
 * many words, and the next accesses mostly set others of the same words. Owned by one thread. */
enum { EXEC_PENDING_WORDS = 64 };
struct exec_pending {
    struct {
        uint64_t *word;
        uint64_t bits; /* 0: none */
    } places[EXEC_PENDING_WORDS];
};

/* exec_footprint_mark_word, now or later. A word that is complete is set at once. */
static inline void exec_pending_mark(struct exec_pending *pending, uint64_t *word, uint64_t mask)
{
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) == mask) return;
    const uint64_t k = (uint64_t)(uintptr_t)word / sizeof *word;
    const uint64_t place = (k ^ k >> 6 ^ k >> 12) % EXEC_PENDING_WORDS;
    uint64_t bits = pending->places[place].bits;
    if (bits != 0 && pending->places[place].word != word) {
        exec_footprint_mark_word(pending->places[place].word, bits);
        bits = 0;
    }
    bits |= mask;
    if (bits == ~0ull) {
        __atomic_store_n(word, bits, __ATOMIC_RELAXED);
        bits = 0;
    }
    pending->places[place].word = word;
    pending->places[place].bits = bits;
}

/* Sets all bits that are not in the bitmaps yet. */
static inline void exec_pending_settle(struct exec_pending *pending)
{
    for (unsigned k = 0; k < EXEC_PENDING_WORDS; k++) {
        if (pending->places[k].bits != 0)
            exec_footprint_mark_word(pending->places[k].word, pending->places[k].bits);
        pending->places[k].bits = 0;
    }
}

/* exec_footprint_mark_steps for ascending offsets that form the same pattern in every word. */
static inline void exec_footprint_mark_pattern(uint64_t *bits, uint64_t first, uint64_t step,
                                               uint64_t last, uint32_t bytes, bool alone)
{
    const uint64_t end = last + bytes, last_word = (end - 1) / 64;
    uint64_t pattern = 0;
    for (uint64_t at = first % step; at < 64; at += step) pattern |= exec_footprint_mask(at, bytes);
    for (uint64_t word = first / 64; word <= last_word; word++) {
        uint64_t mask = pattern;
        if (word == first / 64) mask &= ~0ull << first % 64;
        if (word == last_word) mask &= ~0ull >> (63 - (end - 1) % 64);
        if (alone)
            bits[word] |= mask;
        else
            exec_footprint_mark_word(&bits[word], mask);
    }
}

/* Sets the bits of `bytes` bytes at every `step`th offset from `first` to `last`, up or down.
 * `alone`: no other thread sets bits at this time, so that no atomics are needed. */
static inline void exec_footprint_mark_steps(uint64_t *bits, uint64_t first, uint64_t step,
                                             uint64_t last, uint32_t bytes, bool alone)
{
    const bool up = first <= last;
    const uint64_t size = up ? step : -step, least = up ? first : last, most = up ? last : first;
    if (size != 0 && size <= 64 && 64 % size == 0 && least % size + bytes <= size) {
        exec_footprint_mark_pattern(bits, least, size, most, bytes, alone);
        return;
    }
    uint64_t word = first / 64, mask = 0;
    for (uint64_t offset = first;; offset += step) {
        const uint64_t at = offset % 64;
        if (at + bytes > 64) exec_footprint_mark(bits, offset, bytes);
        if (offset / 64 != word) {
            exec_footprint_mark_word(&bits[word], mask);
            word = offset / 64;
            mask = 0;
        }
        if (at + bytes <= 64) mask |= exec_footprint_mask(at, bytes);
        if (offset == last) break;
    }
    exec_footprint_mark_word(&bits[word], mask);
}

/* Returns true when all bits from `first` to before `end` are set. */
static inline bool exec_footprint_is_marked(const uint64_t *bits, uint64_t first, uint64_t end)
{
    const uint64_t last = (end - 1) / 64;
    uint64_t missing = 0;
    for (uint64_t k = first / 64; k <= last; k++) {
        uint64_t wanted = ~0ull;
        if (k == first / 64) wanted &= ~0ull << first % 64;
        if (k == last) wanted &= ~0ull >> (63 - (end - 1) % 64);
        missing |= ~__atomic_load_n(&bits[k], __ATOMIC_RELAXED) & wanted;
    }
    return missing == 0;
}

#endif
